"""A value that is fetched when it is first wanted and kept for a while."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """However many want it at once, one request is under way, and they share what comes of it; no failure is kept."""

    def __init__(self, fetch: Callable[[], Awaitable[Value]], *, lasts: timedelta, clock: Callable[[], float]) -> None:
        self._fetch = fetch
        self._lasts = lasts.total_seconds()
        self._clock = clock
        self._known: tuple[Value, float] | None = None
        self._under_way: asyncio.Task[Value] | None = None

    async def get(self) -> Value:
        if self._known is not None:
            value, fetched_at = self._known
            if self._clock() - fetched_at < self._lasts:
                return value
        return await self.renew()

    async def renew(self) -> Value:
        if self._under_way is None:
            self._under_way = asyncio.create_task(self._fetch_once())
        # Whoever gives up waiting does not take it from the others.
        return await asyncio.shield(self._under_way)

    async def close(self) -> None:
        if self._under_way is not None:
            self._under_way.cancel()
            await asyncio.wait([self._under_way])

    async def _fetch_once(self) -> Value:
        try:
            value = await self._fetch()
            self._known = value, self._clock()
            return value
        finally:
            self._under_way = None
