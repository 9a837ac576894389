"""A sender of webhooks as a process of its own, under a clock that a test sets.

`python -m tests.support.postal URL FILE`: FILE holds by how many seconds the clock is ahead. It runs until killed.
"""

import asyncio
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from adapters.webhooks.guard import Guard
from adapters.webhooks.sender import WebhookSender
from bot.api.wire import View
from bot.messages import MessageWords
from core.posting import Postman
from tests.support.backends import Backend, sql_backend
from tests.support.builders import WORKSPACE

#: Receivers that hang are given up on this soon; the product waits for fifteen seconds.
PATIENCE = timedelta(milliseconds=400)


class ShiftedClock:
    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=float(self._file.read_text()))

    def advance(self, by: timedelta) -> None:
        ahead = float(self._file.read_text()) if self._file.exists() else 0.0
        fresh = self._file.with_suffix(".new")
        fresh.write_text(str(ahead + by.total_seconds()))
        fresh.replace(self._file)  # whoever reads meanwhile sees the one or the other


def postman_for(backend: Backend, sender: WebhookSender) -> Postman:
    words = MessageWords(backend.log, backend.store, View("http://here", lambda question: None))
    return Postman(backend.webhooks, sender, words.compose, WORKSPACE, random.random)


async def _run(url: str, file: Path) -> None:
    with sql_backend(url, ShiftedClock(file)) as backend:
        async with WebhookSender(Guard(["127.0.0.1"]), timeout=PATIENCE) as sender:
            postman = postman_for(backend, sender)
            while True:
                await postman.deliver()
                await asyncio.sleep(0.01)


if __name__ == "__main__":
    asyncio.run(_run(sys.argv[1], Path(sys.argv[2])))
