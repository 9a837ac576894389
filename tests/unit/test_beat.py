"""The loops behind the server: each wakes, survives what fails, and says when it is in trouble."""

import asyncio
from datetime import timedelta

from bot.metrics import Metrics
from bot.scheduler import Beat


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def _nothing() -> None:
    return None


def test_a_loop_that_rests_between_its_beats_is_in_no_trouble() -> None:
    clock = Clock()
    beat = Beat("housekeeping", _nothing, Metrics(), timedelta(seconds=30), clock)

    clock.now = 40

    assert beat.trouble() is None


def test_a_loop_that_is_long_overdue_says_so() -> None:
    clock = Clock()
    beat = Beat("housekeeping", _nothing, Metrics(), timedelta(seconds=30), clock)

    clock.now = 50

    assert beat.trouble() == "The loop housekeeping has not finished for 50 s."


async def test_a_pass_that_fails_is_told_and_the_next_one_makes_it_good() -> None:
    passes: list[str | None] = []

    async def work() -> None:
        passes.append(beat.trouble())
        if len(passes) == 1:
            raise RuntimeError("no database")

    beat = Beat("deadlines", work, Metrics(), timedelta(seconds=1))
    task = asyncio.create_task(beat.run())
    for wanted in (1, 2, 3):
        beat.wake()
        while len(passes) < wanted:  # noqa: ASYNC110  # the loop under test runs in between
            await asyncio.sleep(0)
    task.cancel()

    assert passes == [None, "The loop deadlines fails; the log says why.", None]
