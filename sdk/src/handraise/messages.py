"""Requests and replies as values, and what a reply means: the JSON it holds, or the failure it stands for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from handraise.errors import (
    APIError,
    AuthError,
    Conflict,
    HandraiseError,
    InvalidArgument,
    InvalidRequest,
    NotFound,
    RateLimited,
    ServerFailure,
    UnexpectedReply,
)
from handraise.retry import advised_pause
from handraise.wire import Json

NO_CONTENT = 204
SERVICE_UNAVAILABLE = 503

_REFUSALS: dict[int, type[APIError]] = {401: AuthError, 403: AuthError, 404: NotFound, 409: Conflict}


@dataclass(frozen=True, slots=True)
class Call:
    """One request, which the server treats as the same however often it comes."""

    method: str
    path: str
    body: Json | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, read to its end; header names are found in any case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def json(self) -> object:
        """The JSON in it, or None where it holds none."""
        try:
            content: object = json.loads(self.content)
        except (ValueError, RecursionError):
            return None
        return content


def encoded(body: Json) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as failure:
        raise InvalidArgument(f"This cannot be sent as JSON: {failure}.") from None


def content_of(reply: Reply, base_url: str) -> object:
    """The JSON of a success; everything else is raised as the failure it is."""
    if not reply.is_success:
        raise failure_in(reply)
    if reply.status == NO_CONTENT:
        return {}
    if reply.json is None:
        raise UnexpectedReply(f"{base_url} answers, but not like a handraise server: it sent no JSON.")
    return reply.json


def failure_in(reply: Reply) -> HandraiseError:
    content, status = reply.json, reply.status
    problem = content if isinstance(content, dict) else {"title": f"The server answered {status}."}
    retry_after = advised_pause(reply.headers.get("Retry-After"))
    if status == 429:
        return RateLimited(status, problem, retry_after=retry_after)
    if status >= 500:
        # Only 503 says that nothing was done; behind the others the server may have failed half way or too late.
        may_have_arrived = status != SERVICE_UNAVAILABLE
        return ServerFailure(status, problem, retry_after=retry_after, may_have_arrived=may_have_arrived)
    if status >= 400:
        return _REFUSALS.get(status, InvalidRequest)(status, problem)
    return UnexpectedReply(f"The server answered {status}, which this client does not follow; is the address right?")
