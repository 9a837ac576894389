"""A client that costs next to nothing, so that what is measured is the server. One request at a time per connection."""

import asyncio
import json
from typing import Any, cast


class Connection(asyncio.Protocol):
    def __init__(self, host: str, key: str) -> None:
        self._head = (
            f" HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n".encode()
        )
        self._received = bytearray()
        self._done: asyncio.Future[tuple[int, bytes]] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head = self._received.find(b"\r\n\r\n")
        if head < 0:
            return
        lower = bytes(self._received[:head]).lower()
        begin = lower.index(b"content-length:") + 15
        end = lower.find(b"\r\n", begin)
        length = int(lower[begin : end if end >= 0 else head])
        if len(self._received) < head + 4 + length:
            return
        status, body = int(self._received[9:12]), bytes(self._received[head + 4 : head + 4 + length])
        self._received.clear()
        if self._done is not None:
            self._done.set_result((status, body))

    def connection_lost(self, failure: Exception | None) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(failure or ConnectionResetError("the server closed the connection"))

    def send(self, method: str, path: str, body: object = None) -> asyncio.Future[tuple[int, bytes]]:
        assert self._transport is not None
        content = b"" if body is None else json.dumps(body).encode()
        line = f"{method} {path}".encode()
        self._done = asyncio.get_running_loop().create_future()
        length = b"Content-Length: %d\r\n\r\n" % len(content)
        self._transport.write(line + self._head + length + content)
        return self._done

    async def call(self, method: str, path: str, body: object = None) -> Any:
        status, content = await self.send(method, path, body)
        if status >= 400:
            raise AssertionError(f"{method} {path}: {status} {content.decode()}")
        return json.loads(content)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


async def connect(host: str, port: int, key: str) -> Connection:
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(lambda: Connection(f"{host}:{port}", key), host, port)
    return connection
