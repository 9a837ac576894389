"""Receivers of webhooks, on the wire: one that behaves, and one that says and does exactly what a test wants."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from ssl import SSLContext

from aiohttp import web

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Received:
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class Receiver:
    """An HTTP server that keeps what it gets and answers as told."""

    def __init__(self) -> None:
        self.got: list[Received] = []
        self.status = 200
        self.headers: dict[str, str] = {}
        self.address = ""

    def url(self, path: str = "/hook") -> str:
        return f"{self.address}{path}"

    async def handle(self, request: web.BaseRequest) -> web.Response:
        self.got.append(Received(request.method, request.raw_path, dict(request.headers), await request.read()))
        return web.Response(status=self.status, headers=self.headers, text="thank you")


@contextlib.asynccontextmanager
async def receiving(tls: SSLContext | None = None) -> AsyncIterator[Receiver]:
    receiver = Receiver()
    server = web.Server(receiver.handle)
    runner = web.ServerRunner(server)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    receiver.address = f"{'https' if tls else 'http'}://localhost:{runner.addresses[0][1]}"
    yield receiver
    await runner.cleanup()


@contextlib.asynccontextmanager
async def talking(talk: Talk) -> AsyncIterator[str]:
    """The URL of a server that reads the whole request and then talks as it likes."""
    talks: set[asyncio.Task[None]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talks.add(task)
        try:
            await reader.readuntil(b"\r\n\r\n{}")
            await talk(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the sender has left
        finally:
            writer.close()

    server = await asyncio.start_server(converse, "127.0.0.1", 0)
    yield f"http://localhost:{server.sockets[0].getsockname()[1]}/hook"
    server.close()
    for task in talks:
        task.cancel()
    await asyncio.gather(*talks, return_exceptions=True)
    await server.wait_closed()
