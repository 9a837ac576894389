"""Requests over httpx2, blocking and asynchronous: sent once, and whatever goes wrong told in our own words."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import urlsplit

import httpx2

from handraise.credentials import LOOPBACK_HOSTS
from handraise.errors import HandraiseError, UnexpectedReply, Unreachable
from handraise.messages import NO_CONTENT, Call, Reply, encoded, failure_in

CONNECT_TIMEOUT = 5.0
EVENT_STREAM = "text/event-stream"

_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)


class _Address:
    """One server and one key: what both transports know."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self.base_url = base_url.rstrip("/")
        self._authorization = f"Bearer {api_key}"
        parts = urlsplit(self.base_url)
        # For this machine's own servers no proxy from the environment, which could not reach them. Reading the
        # certificates takes longer than asking a local server, and plain HTTP has no use for them.
        self._is_local = parts.hostname in LOOPBACK_HOSTS
        self._needs_certificates = not (self._is_local and parts.scheme == "http")

    def request(
        self, http: httpx2.Client | httpx2.AsyncClient, call: Call, timeout: float, accept: str = "application/json"
    ) -> httpx2.Request:
        if http.is_closed:
            raise HandraiseError("This client was closed; make a new one.")
        content = None if call.body is None else encoded(call.body)
        headers = {"Authorization": self._authorization, "Accept": accept, **call.headers}
        if content is not None:
            headers["Content-Type"] = "application/json"
        return http.build_request(
            call.method,
            self.base_url + call.path,
            params=dict(call.query),
            content=content,
            headers=headers,
            timeout=httpx2.Timeout(timeout, connect=CONNECT_TIMEOUT),
        )

    def failure(self, failure: httpx2.RequestError) -> HandraiseError:
        if isinstance(failure, httpx2.TransportError):
            return Unreachable(
                f"{self.base_url} cannot be reached: {str(failure) or type(failure).__name__}.",
                may_have_arrived=not isinstance(failure, _NEVER_SENT),
            )
        return UnexpectedReply(f"{self.base_url} sent a reply that cannot be read: {failure}.")

    def is_stream(self, reply: httpx2.Response) -> bool:
        """Whether events follow; False where the server says that there will be none, and a refusal is for later."""
        kind = reply.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if reply.is_success and reply.status_code != NO_CONTENT and kind != EVENT_STREAM:
            raise UnexpectedReply(f"{self.base_url} sent {kind or 'nothing'} where a stream of events belongs.")
        return reply.is_success and reply.status_code != NO_CONTENT


class Transport(_Address):
    """Sends calls to one server with one key."""

    def __init__(self, base_url: str, api_key: str, http_client: httpx2.Client | None) -> None:
        super().__init__(base_url, api_key)
        self._http = http_client or httpx2.Client(trust_env=not self._is_local, verify=self._needs_certificates)

    def close(self) -> None:
        self._http.close()

    def send(self, call: Call, timeout: float) -> Reply:
        try:
            return _reply(self._http.send(self.request(self._http, call, timeout)))
        except httpx2.RequestError as failure:
            raise self.failure(failure) from failure

    @contextmanager
    def stream(self, call: Call, quiet_limit: float) -> Iterator[Iterator[bytes] | None]:
        """The reply's bytes as they come, or None where the server has nothing more to say."""
        try:
            reply = self._http.send(self.request(self._http, call, quiet_limit, EVENT_STREAM), stream=True)
            try:
                if self.is_stream(reply):
                    yield reply.iter_bytes()
                elif reply.is_success:
                    yield None
                else:
                    reply.read()
                    raise failure_in(_reply(reply))
            finally:
                reply.close()
        except httpx2.RequestError as failure:
            raise self.failure(failure) from failure


class AsyncTransport(_Address):
    """The same without blocking."""

    def __init__(self, base_url: str, api_key: str, http_client: httpx2.AsyncClient | None) -> None:
        super().__init__(base_url, api_key)
        self._http = http_client or httpx2.AsyncClient(trust_env=not self._is_local, verify=self._needs_certificates)

    async def close(self) -> None:
        await self._http.aclose()

    async def send(self, call: Call, timeout: float) -> Reply:  # noqa: ASYNC109 -- it is the socket's
        try:
            return _reply(await self._http.send(self.request(self._http, call, timeout)))
        except httpx2.RequestError as failure:
            raise self.failure(failure) from failure

    @asynccontextmanager
    async def stream(self, call: Call, quiet_limit: float) -> AsyncIterator[AsyncIterator[bytes] | None]:
        try:
            reply = await self._http.send(self.request(self._http, call, quiet_limit, EVENT_STREAM), stream=True)
            try:
                if self.is_stream(reply):
                    yield reply.aiter_bytes()
                elif reply.is_success:
                    yield None
                else:
                    await reply.aread()
                    raise failure_in(_reply(reply))
            finally:
                await reply.aclose()
        except httpx2.RequestError as failure:
            raise self.failure(failure) from failure


def _reply(reply: httpx2.Response) -> Reply:
    return Reply(reply.status_code, reply.headers, reply.content)
