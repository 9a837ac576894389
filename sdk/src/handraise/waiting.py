"""Waiting for a question to settle: long polls in slices, through restarts and outages of the server."""

import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from handraise.errors import HandraiseError, RateLimited, ServerFailure, Unreachable
from handraise.question import Question
from handraise.retry import Jitter, pause_before
from handraise.steps import Pause, Steps

SLICE = 50.0
# The server answers a poll when the question settles, not when somebody asks back: whoever wants to hear of that too
# looks more often.
WATCHED_SLICE = 10.0
OUTAGE_LIMIT = 300.0
# A server that answers at once though the question is open (it is stopping, say) is not asked in a tight loop.
SHORTEST_ROUND = 0.5
# What passes by itself, however long it takes; every other failure ends a wait or a stream.
OUTAGES = (Unreachable, ServerFailure, RateLimited)


class Watcher(Protocol):
    """Hears what happens while the wait goes on."""

    def saw(self, question: Question) -> None: ...

    def lost_server(self, failure: HandraiseError) -> None:
        """Called once for each outage."""
        ...


class Unmoved:
    """A watcher that does nothing."""

    def saw(self, question: Question) -> None:
        return

    def lost_server(self, failure: HandraiseError) -> None:
        return


class Ticking(Protocol):
    """What deciding needs of time; the pauses are made by whoever carries the steps out."""

    @property
    def now(self) -> Callable[[], float]: ...

    @property
    def jitter(self) -> Jitter: ...


@dataclass(frozen=True, slots=True)
class Clock:
    """Time as the client sees it, so that tests need not live through it."""

    now: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep
    jitter: Jitter = random.uniform


async def _sleep(seconds: float) -> None:
    # Most programs that import this package never wait in an event loop.
    import asyncio

    await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class AsyncClock:
    """The same for an event loop."""

    now: Callable[[], float] = time.monotonic
    pause: Callable[[float], Awaitable[None]] = _sleep
    jitter: Jitter = random.uniform


def wait_until_settled(
    poll: Callable[[int], Steps[Question]],
    watcher: Watcher,
    *,
    limit: timedelta | None,
    clock: Ticking,
    longest_poll: float = SLICE,
) -> Steps[Question]:
    """The question, settled, or still open when the limit is over.

    Raises the last failure when the server stayed away: to the end of a limited wait, and for OUTAGE_LIMIT seconds
    of one without limit.
    """
    ends_at = math.inf if limit is None else clock.now() + limit.total_seconds()
    outage_limit = OUTAGE_LIMIT if limit is None else math.inf
    lost_at: float | None = None
    failures = 0
    while True:
        round_began_at = clock.now()
        left = ends_at - round_began_at
        try:
            question = yield from poll(max(1, math.ceil(min(longest_poll, left))))
        except OUTAGES as failure:
            failures += 1
            if lost_at is None:
                lost_at = round_began_at
                watcher.lost_server(failure)
            now = clock.now()
            if now >= ends_at or now - lost_at >= outage_limit:
                raise
            yield Pause(min(pause_before(failures, failure, clock.jitter), ends_at - now))
            continue
        lost_at, failures = None, 0
        watcher.saw(question)
        now = clock.now()
        if not question.is_open or now >= ends_at:
            return question
        if now - round_began_at < SHORTEST_ROUND:
            yield Pause(min(SHORTEST_ROUND, ends_at - now))
