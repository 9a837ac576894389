"""The two ways Slack reaches an app, Socket Mode and signed HTTP, with its patience and its retries."""

import asyncio
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlencode

import aiohttp
from aiohttp import WSMsgType, web

from sandbox.world import APP, Json

#: Slack waits so long for an acknowledgement; shorter is stricter.
PATIENCE_SECONDS = 3.0
EVENTS, INTERACTIVE, COMMANDS = "events_api", "interactive", "slash_commands"


@dataclass(frozen=True)
class Acknowledged:
    payload: Json | None
    seconds: float


@dataclass(frozen=True)
class Unacknowledged:
    #: Slack's own reasons: timeout, connection_failed, http_error
    why: str


class Wire(Protocol):
    async def send(self, kind: str, payload: Json, *, attempt: int = 0, why: str = "") -> Acknowledged | Unacknowledged:
        """One delivery. `attempt` counts retries."""


@dataclass
class _Waiting:
    kind: str
    payload: Json
    attempt: int
    done: asyncio.Future[Acknowledged]
    sent: float = 0.0


class SocketWire:
    """Socket Mode: any connection may get an envelope; what a lost one had not acknowledged comes again."""

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        self.patience = patience
        self._tickets: set[str] = set()
        self._sockets: list[web.WebSocketResponse] = []
        self._next = 0
        self._waiting: dict[str, _Waiting] = {}
        self._connected = asyncio.Event()
        #: Called when an app has connected.
        self.on_connected: Callable[[], None] = lambda: None
        #: With this set no connection can be opened.
        self.is_closed = False

    def ticket(self) -> str:
        ticket = secrets.token_urlsafe(12)
        self._tickets.add(ticket)
        return ticket

    @property
    def connections(self) -> int:
        return len(self._sockets)

    async def connected(self) -> None:
        await self._connected.wait()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets or self.is_closed:
            return web.Response(status=404)
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json(
            {
                "type": "hello",
                "num_connections": len(self._sockets) + 1,
                "connection_info": {"app_id": APP},
                "debug_info": {"host": "applink-sandbox", "approximate_connection_time": 18060},
            }
        )
        self._sockets.append(socket)
        self._connected.set()
        self.on_connected()
        await self._send_again()
        try:
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    self._heard(json.loads(frame.data))
        finally:
            self._gone(socket)
        return socket

    def _gone(self, socket: web.WebSocketResponse) -> None:
        if socket in self._sockets:
            self._sockets.remove(socket)
        if not self._sockets:
            self._connected.clear()

    def _heard(self, frame: Json) -> None:
        waiting = self._waiting.pop(str(frame.get("envelope_id")), None)
        if waiting is not None and not waiting.done.done():
            waiting.done.set_result(Acknowledged(frame.get("payload"), time.monotonic() - waiting.sent))

    async def _send_again(self) -> None:
        for envelope_id, waiting in list(self._waiting.items()):
            waiting.attempt += 1
            await self._put(envelope_id, waiting, "connection_failed")

    async def send(self, kind: str, payload: Json, *, attempt: int = 0, why: str = "") -> Acknowledged | Unacknowledged:
        envelope_id = secrets.token_hex(16)
        waiting = _Waiting(kind, payload, attempt, asyncio.get_running_loop().create_future())
        self._waiting[envelope_id] = waiting
        try:
            await self._put(envelope_id, waiting, why or "timeout")
            return await asyncio.wait_for(waiting.done, self.patience)
        except TimeoutError:
            return Unacknowledged("timeout")
        finally:
            self._waiting.pop(envelope_id, None)

    async def _put(self, envelope_id: str, waiting: _Waiting, why: str) -> None:
        if not self._sockets:
            return  # it goes out as soon as the app connects
        self._next += 1
        socket = self._sockets[self._next % len(self._sockets)]
        envelope: Json = {
            "envelope_id": envelope_id,
            "type": waiting.kind,
            "payload": waiting.payload,
            "accepts_response_payload": waiting.kind != EVENTS,
        }
        if waiting.attempt:
            envelope |= {"retry_attempt": waiting.attempt, "retry_reason": why}
        waiting.sent = time.monotonic()
        try:
            await socket.send_json(envelope)
        except ConnectionError:
            self._gone(socket)

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Ask the app to connect anew, as Slack does now and then."""
        for socket in list(self._sockets):
            await socket.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-sandbox"}})

    async def drop(self) -> None:
        """The connection is gone, without a word."""
        for socket in list(self._sockets):
            self._gone(socket)
            transport = socket._req.transport if socket._req is not None else None
            if transport is not None:
                transport.abort()


def signature(secret: str, timestamp: str, body: bytes) -> str:
    base = b":".join((b"v0", timestamp.encode(), body))
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


class HttpWire:
    """Requests that Slack signs, to the app's request URL."""

    def __init__(self, url: str, signing_secret: str, patience: float = PATIENCE_SECONDS) -> None:
        self.url, self._secret, self.patience = url, signing_secret, patience
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def signed(self, kind: str, payload: Json) -> tuple[dict[str, str], bytes]:
        """Headers and body as Slack sends them."""
        if kind == EVENTS:
            body, content = json.dumps(payload).encode(), "application/json"
        else:
            fields = payload if kind == COMMANDS else {"payload": json.dumps(payload)}
            body, content = urlencode(fields).encode(), "application/x-www-form-urlencoded"
        timestamp = str(int(time.time()))
        headers = {
            "Content-Type": content,
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": signature(self._secret, timestamp, body),
        }
        return headers, body

    async def send(self, kind: str, payload: Json, *, attempt: int = 0, why: str = "") -> Acknowledged | Unacknowledged:
        headers, body = self.signed(kind, payload)
        if attempt:
            headers |= {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": why or "http_timeout"}
        self._session = self._session or aiohttp.ClientSession()
        began = time.monotonic()
        limit = aiohttp.ClientTimeout(total=self.patience)
        try:
            async with self._session.post(self.url, data=body, headers=headers, timeout=limit) as response:
                text = await response.text()
                if response.status != 200:
                    return Unacknowledged("http_error")
                said = _said(text, response.content_type)
                return Acknowledged(said, time.monotonic() - began)
        except TimeoutError:
            return Unacknowledged("http_timeout")
        except aiohttp.ClientError:
            return Unacknowledged("connection_failed")


def _said(text: str, content_type: str) -> Json | None:
    if not text:
        return None
    if content_type == "application/json":
        found = json.loads(text)
        return found if isinstance(found, dict) and found else None
    return {"text": text}
