"""How late deadlines are: many of them inside a few seconds, in one process with full durability.

`python -m bench.timers [COUNT]`. Lag is from the deadline to the moment the waiting agent has the outcome. Beside the
product, in the same run: a bare asyncio heap, which keeps nothing and is the floor, and APScheduler with one job for
each deadline and its own defaults, which is what people write first.
"""

import asyncio
import logging
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import uvloop
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bench.figures import milliseconds, percentile, show
from bench.fill import ANYBODY
from bot.settings import load_settings
from bot.wiring import WORKSPACE, open_program
from core.answers import TextShape
from core.commands import Ask
from core.engine import Handled
from core.ids import QuestionId
from core.kinds import Kind
from core.people import agent_principal
from core.question import Asker, Spec, Status

_LEAD_SECONDS = 1.0
_ASKS_AT_ONCE = 250


@dataclass(frozen=True)
class Outcome:
    """What became of `count` deadlines."""

    count: int
    lags: Sequence[float]
    early: int
    lost: int
    twice: int


async def product(count: int, seconds: float, database_url: str = "") -> Outcome:
    """Ask `count` questions whose deadlines fall evenly into `seconds`, and wait for each as an agent does."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(data_dir=Path(folder), database_url=database_url)
        async with open_program(settings, "http://bench", "http://bench", "handraise", {}) as program:
            # Asking takes a while; the first deadline comes after the last question is asked.
            begin = datetime.now(UTC) + timedelta(seconds=_LEAD_SECONDS + count / 1500)
            waiting: list[asyncio.Task[tuple[Status, float]]] = []

            async def one(number: int) -> None:
                name = QuestionId(f"q_{number:026d}")
                at = begin + timedelta(seconds=seconds * number / count)
                waiting.append(asyncio.create_task(wait(name)))
                await asyncio.sleep(0)  # the watch is open before the question is asked, so nothing can be missed
                done = await program.engine.handle(Ask(name, _spec(at - datetime.now(UTC))))
                assert isinstance(done, Handled)
                assert done.question is not None
                assert done.question.deadline is not None
                deadlines[name] = done.question.deadline.timestamp()

            async def wait(name: QuestionId) -> tuple[Status, float]:
                with program.waiters.watch(name) as watch:
                    settled = await watch.settled(60 + 2 * seconds)
                    now = time.time()
                    if settled is None:
                        return Status.OPEN, now
                    return settled.status, now - deadlines[name]

            deadlines: dict[QuestionId, float] = {}
            for start in range(0, count, _ASKS_AT_ONCE):
                await asyncio.gather(*(one(n) for n in range(start, min(start + _ASKS_AT_ONCE, count))))
            results = await asyncio.gather(*waiting)
            twice = early = 0
            for name, deadline in deadlines.items():
                endings = [e for e in await program.reader.history(name) if e.name == "question.expired"]
                twice += len(endings) != 1
                early += endings[0].event.at.timestamp() < deadline - 0.0005
            lags = [lag for status, lag in results if status is Status.EXPIRED]
            return Outcome(count, lags, early + sum(lag < 0 for lag in lags), count - len(lags), twice)


def _spec(limit: timedelta) -> Spec:
    asker = Asker(agent_principal("bench"), "bench")
    return Spec(WORKSPACE, asker, "Which database?", Kind.BLOCKING, TextShape(), ANYBODY, time_limit=limit)


async def heap(count: int, seconds: float) -> Outcome:
    loop, lags = asyncio.get_running_loop(), list[float]()

    def fire(at: float) -> None:
        lags.append(loop.time() - at)

    begin = loop.time() + _LEAD_SECONDS
    for number in range(count):
        at = begin + seconds * number / count
        loop.call_at(at, fire, at)
    await asyncio.sleep(_LEAD_SECONDS + seconds + 1)
    return Outcome(count, lags, sum(lag < -0.001 for lag in lags), count - len(lags), 0)


async def one_job_each(count: int, seconds: float, folder: Path) -> Outcome:
    """A job in APScheduler's memory for each deadline, which marks its row when it fires."""
    lags: list[float] = []
    database = sqlite3.connect(folder / "peer.db", check_same_thread=False, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE questions (id INTEGER PRIMARY KEY, status TEXT)")
    database.executemany("INSERT INTO questions VALUES (?, 'open')", [(number,) for number in range(count)])
    scheduler = AsyncIOScheduler(timezone=UTC)
    scheduler.start()

    async def fire(number: int, at: float) -> None:
        database.execute("UPDATE questions SET status = 'expired' WHERE id = ? AND status = 'open'", (number,))
        lags.append(time.time() - at)

    begin = datetime.now(UTC) + timedelta(seconds=_LEAD_SECONDS + count / 500)
    for number in range(count):
        at = begin + timedelta(seconds=seconds * number / count)
        scheduler.add_job(fire, "date", run_date=at, args=[number, at.timestamp()])
        if number % 100 == 0:
            await asyncio.sleep(0)
    end = begin + timedelta(seconds=seconds + 10)
    await asyncio.sleep((end - datetime.now(UTC)).total_seconds())
    scheduler.shutdown(wait=False)
    database.close()
    return Outcome(count, lags, sum(lag < 0 for lag in lags), count - len(lags), 0)


def _row(name: str, found: Outcome) -> list[str]:
    lags = found.lags or [float("nan")]
    figures = [milliseconds(percentile(lags, 0.5)), milliseconds(percentile(lags, 0.99)), milliseconds(max(lags))]
    return [name, f"{found.count:,}", *figures, *(f"{n:,}" for n in (found.early, found.lost, found.twice))]


def main() -> None:
    logging.getLogger("apscheduler").setLevel(logging.CRITICAL)
    count, seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, 5.0
    with tempfile.TemporaryDirectory() as folder:
        peer = uvloop.run(one_job_each(count, seconds, Path(folder)))
    rows = [
        _row("handraise, SQLite FULL", uvloop.run(product(count, seconds))),
        _row("bare asyncio heap (keeps nothing)", uvloop.run(heap(count, seconds))),
        _row("APScheduler in memory, a job for each", peer),
    ]
    columns = ["", "deadlines", "lag p50", "lag p99", "lag max", "early", "lost", "twice"]
    show(f"{count:,} deadlines inside {seconds:g} s", columns, rows)


if __name__ == "__main__":
    main()
