"""Waiting for something to become true, with a limit against hanging only."""

import asyncio
from collections.abc import Awaitable, Callable

HANG_SECONDS = 30.0


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(HANG_SECONDS):
        while not await holds():  # noqa: ASYNC110  # what is waited for lives in another process
            await asyncio.sleep(0.01)
