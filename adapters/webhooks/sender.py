"""One attempt to deliver one message. What to do about a failure, and when to try again, is not decided here."""

import asyncio
import os
import re
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from adapters.webhooks.guard import Guard, RefusedAddressError
from adapters.webhooks.signing import signature_headers

LIMIT = timedelta(seconds=15)

_LONGEST_RETRY_AFTER = timedelta(hours=24)
_SECONDS = re.compile(r"[0-9]{1,9}")
# Enough to let an ordinary answer end by itself; of a longer one the rest is not fetched.
_MOST_READ = 16 * 1024


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of an attempt. It is delivered when there is no failure, and only then.

    A status beside a failure is what the receiver said: 410 that it wants no more, 200 that it broke off later.
    """

    status: int | None
    retry_after: timedelta | None
    failure: str | None
    duration: timedelta


def _machine_clock() -> datetime:
    return datetime.now(UTC)


class WebhookSender:
    """Each message has a connection of its own: its address is checked for this message, and none is lost on
    a kept connection that the receiver is just closing. How many are sent at once is the caller's choice."""

    def __init__(
        self,
        guard: Guard,
        *,
        timeout: timedelta = LIMIT,
        clock: Callable[[], datetime] = _machine_clock,
        tls: ssl.SSLContext | None = None,
        resolver: AbstractResolver | None = None,
    ) -> None:
        self._guard = guard
        self._timeout = timeout
        self._clock = clock
        self._tls = tls
        self._resolver = resolver
        self._sessions: dict[bool, aiohttp.ClientSession] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()

    async def send(self, url: str, message_id: str, body: bytes, secrets: Sequence[str]) -> Sent:
        began = time.perf_counter()
        # Once more: the operator may have changed what is allowed since the URL was registered.
        objection = self._guard.objection(url)
        if objection is not None:
            return Sent(None, None, objection, timedelta())
        headers = signature_headers(message_id, int(self._clock().timestamp()), body, secrets)
        answer = _Answer()
        try:
            async with asyncio.timeout(self._timeout.total_seconds()):
                await self._post(url, headers, body, answer)
            failure = _objection_to_status(answer.status)
        except (TimeoutError, aiohttp.ClientError) as error:
            failure = self._explain(error)
        return Sent(
            status=answer.status,
            retry_after=None if failure is None else retry_after(answer.retry_after, self._clock()),
            failure=failure,
            duration=timedelta(seconds=time.perf_counter() - began),
        )

    async def _post(self, url: str, headers: dict[str, str], body: bytes, answer: "_Answer") -> None:
        session = self._session(self._guard.is_named(url))
        headers |= {"content-type": "application/json", "user-agent": "handraise", "accept-encoding": "identity"}
        # As it was given: receivers may have signed their own query, and another spelling is not what they signed.
        target = URL(url, encoded=True)
        async with session.post(target, data=body, headers=headers, allow_redirects=False) as response:
            answer.status = response.status
            answer.retry_after = response.headers.get("retry-after")
            read = 0
            while read < _MOST_READ and (chunk := await response.content.read(_MOST_READ)):
                read += len(chunk)
            response.close()

    def _session(self, named: bool) -> aiohttp.ClientSession:
        """Two sessions, so that a connection to a host of the operator's is never at a stranger's disposal."""
        if named not in self._sessions:
            connector = aiohttp.TCPConnector(
                socket_factory=self._guard.socket_factory(named=named),
                ssl=True if self._tls is None else self._tls,
                resolver=self._resolver,
                use_dns_cache=False,
                force_close=True,
                limit=0,
            )
            self._sessions[named] = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),  # the limit in `send` holds for all of it
                auto_decompress=False,
                trust_env=False,
            )
        return self._sessions[named]

    def _explain(self, error: Exception) -> str:
        """A sentence of ours: what libraries say may hold the URL, and with it the receiver's secrets."""
        match error:
            case TimeoutError():
                return f"There was no complete answer within {self._timeout.total_seconds():g} s."
            case aiohttp.ClientConnectorDNSError():
                return "The host name could not be looked up."
            case aiohttp.ClientConnectorCertificateError(certificate_error=ssl.SSLCertVerificationError() as reason):
                return f"The receiver's certificate is not accepted: {reason.verify_message}."
            case aiohttp.ClientConnectorSSLError() | aiohttp.ClientConnectorCertificateError():
                return "The TLS handshake failed."
            case aiohttp.ClientConnectorError(os_error=RefusedAddressError() as refused):
                return str(refused)
            case aiohttp.ClientConnectorError(os_error=OSError(errno=int(number))):
                return f"There is no connection: {os.strerror(number)}."
            case aiohttp.ClientConnectorError():
                return "There is no connection."
            case aiohttp.ClientResponseError():
                return "What the receiver answered is not HTTP."
        return "The receiver broke the connection off."


@dataclass(slots=True)
class _Answer:
    """What is known of the answer so far, also when the rest of it never comes."""

    status: int | None = None
    retry_after: str | None = None


def retry_after(text: str | None, now: datetime) -> timedelta | None:
    """How long the receiver asks to be left alone: seconds or a date; None when it says neither."""
    if text is None:
        return None
    if _SECONDS.fullmatch(text.strip()):
        return min(timedelta(seconds=int(text)), _LONGEST_RETRY_AFTER)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    # HTTP dates are in UTC, whether or not they say so.
    return min(max(until.replace(tzinfo=until.tzinfo or UTC) - now, timedelta()), _LONGEST_RETRY_AFTER)


def _objection_to_status(status: int | None) -> str | None:
    if status is None or 200 <= status < 300:
        return None
    if 300 <= status < 400:
        return f"The receiver answered {status}; redirects are not followed."
    return f"The receiver answered {status}."
