"""What can go wrong between this client and the server, as exceptions a caller can tell apart."""

from collections.abc import Mapping
from typing import Any


class HandraiseError(Exception):
    """Anything this package raises on purpose."""


class InvalidArgument(HandraiseError):
    """What the caller gave cannot be sent at all; the message says why."""


class Unreachable(HandraiseError):
    """The server could not be reached, or the connection broke.

    `may_have_arrived` says that the request was on its way when the connection broke, so it may have taken effect.
    """

    def __init__(self, message: str, *, may_have_arrived: bool = False) -> None:
        super().__init__(message)
        self.may_have_arrived = may_have_arrived


class UnexpectedReply(HandraiseError):
    """Something answered, but not as a handraise server does."""


class APIError(HandraiseError):
    """The server refused; `problem` is its problem+json document, whole."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = dict(problem)
        super().__init__(self.detail)

    @property
    def code(self) -> str:
        return str(self.problem.get("code") or "")

    @property
    def detail(self) -> str:
        spoken = self.problem.get("detail") or self.problem.get("title")
        return str(spoken) if spoken else f"The server answered {self.status}."

    @property
    def errors(self) -> list[tuple[str, str]]:
        """Pointer and sentence for each part of the request that did not pass."""
        listed = self.problem.get("errors")
        if not isinstance(listed, list):
            return []
        return [
            (str(error.get("pointer") or ""), str(error.get("detail") or ""))
            for error in listed
            if isinstance(error, dict)
        ]


class AuthError(APIError):
    """401 or 403: the key is unknown, or may not do this."""


class NotFound(APIError):
    """404: there is no such thing, or this key may not see it."""


class Conflict(APIError):
    """409: the state forbids it; for an answer, somebody else was first."""


class InvalidRequest(APIError):
    """Any other 4xx: the request itself is at fault."""


class PassingFailure(APIError):
    """A refusal that may pass; `retry_after` is the server's advice in seconds, where it gave one.

    `may_have_arrived` says that this request, or one sent before it in the same call, may have taken effect.
    """

    def __init__(
        self,
        status: int,
        problem: Mapping[str, Any],
        *,
        retry_after: float | None = None,
        may_have_arrived: bool = False,
    ) -> None:
        super().__init__(status, problem)
        self.retry_after = retry_after
        self.may_have_arrived = may_have_arrived


class RateLimited(PassingFailure):
    """429: too many requests."""


class ServerFailure(PassingFailure):
    """5xx: the server, or a proxy before it, failed."""
