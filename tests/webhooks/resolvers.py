"""Look-ups with the answers of a test."""

import asyncio
import socket
from collections.abc import Sequence

from aiohttp.abc import AbstractResolver, ResolveResult


def _found(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        proto=socket.IPPROTO_TCP,
        flags=socket.AI_NUMERICHOST,
    )


class Answers(AbstractResolver):
    """Gives one list of addresses after the other, and from the end begins again. `at` leads to another port."""

    def __init__(self, *answers: Sequence[str], at: int | None = None) -> None:
        self._answers = answers
        self._at = at
        self.asked: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        answer = self._answers[len(self.asked) % len(self._answers)]
        self.asked.append(host)
        return [_found(host, address, self._at or port) for address in answer]

    async def close(self) -> None:
        pass


class LeadsInside(AbstractResolver):
    """The worst that look-ups can do: numbers as the machine reads them, and every name is the machine itself."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        loop = asyncio.get_running_loop()
        try:
            infos = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        except (socket.gaierror, UnicodeError):
            return [_found(host, address, port) for address in ("127.0.0.1", "::1")]
        return [_found(host, str(info[4][0]), port) for info in infos]

    async def close(self) -> None:
        pass
