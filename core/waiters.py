"""Whoever waits for a question, woken in this process the moment it settles. Nobody polls the database to wait."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from core.ids import QuestionId
from core.question import Question


class Watch:
    """One waiting place. It is open from the start of the watch, so nothing is missed between look and wait."""

    def __init__(self) -> None:
        self._future: asyncio.Future[Question | None] = asyncio.get_running_loop().create_future()

    async def settled(self, seconds: float) -> Question | None:
        """The settled question, or None when the time ran out or the program is stopping."""
        done, _ = await asyncio.wait({self._future}, timeout=seconds)
        return self._future.result() if done else None

    def end(self, question: Question | None) -> None:
        if not self._future.done():
            self._future.set_result(question)


class Waiters:
    def __init__(self) -> None:
        self._watches: dict[QuestionId, set[Watch]] = {}
        self._stopping = False

    @property
    def is_stopping(self) -> bool:
        return self._stopping

    @contextmanager
    def watch(self, question_id: QuestionId) -> Iterator[Watch]:
        watch = Watch()
        if self._stopping:
            watch.end(None)
        self._watches.setdefault(question_id, set()).add(watch)
        try:
            yield watch
        finally:
            watches = self._watches.get(question_id, set())
            watches.discard(watch)
            if not watches:
                self._watches.pop(question_id, None)

    def watched(self) -> Sequence[QuestionId]:
        return list(self._watches)

    def settled(self, question: Question) -> None:
        for watch in self._watches.get(question.id, ()):
            watch.end(question)

    def stop(self) -> None:
        """Let everyone go: the program is stopping and they have to come back to another one."""
        self._stopping = True
        for watches in self._watches.values():
            for watch in watches:
                watch.end(None)
