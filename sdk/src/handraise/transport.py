"""Requests and replies over httpx2: what was sent, what came back, and again where that may help."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx2

from handraise.credentials import LOOPBACK_HOSTS
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
    Unreachable,
)
from handraise.retry import advised_pause, is_worth_repeating, pause_before
from handraise.wire import Json

CONNECT_TIMEOUT = 5.0

_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
_REFUSALS: dict[int, type[APIError]] = {401: AuthError, 403: AuthError, 404: NotFound, 409: Conflict}


@dataclass(frozen=True, slots=True)
class Call:
    """One request, which the server treats as the same however often it comes."""

    method: str
    path: str
    body: Json | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


class Transport:
    """Sends calls to one server with one key."""

    def __init__(
        self, base_url: str, api_key: str, http_client: httpx2.Client | None, pause: Callable[[float], None]
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._authorization = {"Authorization": f"Bearer {api_key}", "Accept": "application/json"}
        self._http = http_client or _http_client(self.base_url)
        self._pause = pause

    def close(self) -> None:
        self._http.close()

    def call(self, call: Call, *, timeout: float, max_retries: int) -> object:
        """The reply's JSON; a failure is raised once trying again is of no use."""
        failures = 0
        may_have_arrived = False
        while True:
            try:
                return self._settled(self.send(call, timeout=timeout))
            except HandraiseError as failure:
                failures += 1
                if isinstance(failure, Unreachable):
                    may_have_arrived = failure.may_have_arrived = may_have_arrived or failure.may_have_arrived
                if failures > max_retries or not is_worth_repeating(failure):
                    raise
                self._pause(pause_before(failures, failure))

    def send(self, call: Call, *, timeout: float) -> httpx2.Response:
        content = None if call.body is None else _encoded(call.body)
        headers = {**self._authorization, **call.headers}
        if content is not None:
            headers["Content-Type"] = "application/json"
        try:
            return self._http.request(
                call.method,
                self.base_url + call.path,
                params=dict(call.query),
                content=content,
                headers=headers,
                timeout=httpx2.Timeout(timeout, connect=CONNECT_TIMEOUT),
            )
        except httpx2.TransportError as failure:
            raise Unreachable(
                f"{self.base_url} cannot be reached: {str(failure) or type(failure).__name__}.",
                may_have_arrived=not isinstance(failure, _NEVER_SENT),
            ) from failure
        except httpx2.RequestError as failure:
            raise UnexpectedReply(f"{self.base_url} sent a reply that cannot be read: {failure}.") from failure

    def _settled(self, reply: httpx2.Response) -> object:
        content = json_in(reply)
        if reply.is_success:
            if content is None:
                raise UnexpectedReply(f"{self.base_url} answers, but not like a handraise server: it sent no JSON.")
            return content
        problem = content if isinstance(content, dict) else {"title": f"The server answered {reply.status_code}."}
        raise _failure(reply.status_code, problem, advised_pause(reply.headers.get("Retry-After")))


def _http_client(base_url: str) -> httpx2.Client:
    """For this machine's own servers no proxy from the environment, which could not reach them."""
    parts = urlsplit(base_url)
    is_local = parts.hostname in LOOPBACK_HOSTS
    # Reading the certificates takes longer than asking a local server, and plain HTTP has no use for them.
    return httpx2.Client(trust_env=not is_local, verify=not (is_local and parts.scheme == "http"))


def _encoded(body: Json) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError) as failure:
        raise InvalidArgument(f"This cannot be sent as JSON: {failure}.") from None


def json_in(reply: httpx2.Response) -> object:
    """The reply's JSON, or None where it holds none."""
    try:
        content: object = json.loads(reply.content)
    except (ValueError, RecursionError):
        return None
    return content


def _failure(status: int, problem: Json, retry_after: float | None) -> HandraiseError:
    if status == 429:
        return RateLimited(status, problem, retry_after=retry_after)
    if status >= 500:
        return ServerFailure(status, problem, retry_after=retry_after)
    if status >= 400:
        return _REFUSALS.get(status, InvalidRequest)(status, problem)
    return UnexpectedReply(f"The server answered {status}, which this client does not follow; is the address right?")
