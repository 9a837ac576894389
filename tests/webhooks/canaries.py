"""Listeners that nobody may reach: they count who does."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from types import TracebackType
from typing import Self


class Canaries:
    """Listens at every address of this machine, IPv4 and IPv6, at free ports and, where that is allowed, 80 and 443."""

    def __init__(self, low_ports: Iterable[int] = (80, 443), free_ports: int = 3) -> None:
        self._low_ports = tuple(low_ports)
        self._free_ports = free_ports
        self._servers: list[asyncio.Server] = []
        self.ports: list[int] = []
        #: The address at which each connection arrived.
        self.met: list[tuple[str, int]] = []

    async def __aenter__(self) -> Self:
        for _ in range(self._free_ports):
            port = await self._listen("0.0.0.0", 0)
            await self._listen("::", port)
            self.ports.append(port)
        for port in self._low_ports:
            # Not every user may listen there, and not every machine has the port free.
            with contextlib.suppress(OSError):
                await self._listen("0.0.0.0", port)
                await self._listen("::", port)
                self.ports.append(port)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await asyncio.sleep(0.05)  # for those who connected and did not wait
        for server in self._servers:
            server.close()
            await server.wait_closed()

    async def met_by(self, address: str, port: int) -> bool:
        """Whether somebody without a guard arrives here: a canary that hears nobody proves nothing."""
        before = len(self.met)
        async with _connected(address, port):
            return len(self.met) == before + 1

    async def _listen(self, address: str, port: int) -> int:
        server = await asyncio.start_server(self._meet, address, port)
        self._servers.append(server)
        bound: int = server.sockets[0].getsockname()[1]
        return bound

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address, port = writer.get_extra_info("sockname")[:2]
        self.met.append((address, port))
        writer.close()


@contextlib.asynccontextmanager
async def _connected(address: str, port: int) -> AsyncIterator[None]:
    reader, writer = await asyncio.open_connection(address, port)
    await reader.read()
    yield
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
