"""The background loops. APScheduler beats time; what is due is asked of the store, which alone knows.

A beat only sets an event. The loop that waits for it does the work, so a pass never overlaps itself and a beat during
a pass is not lost.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.date import DateTrigger
from apscheduler.triggers.interval import IntervalTrigger

from bot.metrics import Metrics
from core.auditing import Auditor, Neglected
from core.delivery import Deliverer
from core.engine import Engine
from core.ids import WorkspaceId
from core.ports import JobFilter, Reader, Store, Webhooks
from core.posting import Postman
from core.stream import EventHub
from core.sweeper import Sweeper
from core.waiters import Waiters

_log = structlog.get_logger("handraise")

#: Whatever wakes nobody (another process, a lost beat) is found this soon all the same.
FALLBACK = timedelta(seconds=1)
_HOUSEKEEPING = timedelta(seconds=30)
_AUDIT = timedelta(seconds=60)
#: Within this time a client may repeat a request under its key.
_COMMANDS_KEPT = timedelta(days=7)
#: A loop whose pass is late by this much is in trouble.
_OVERDUE_SECONDS = 15.0
_JOBS_AT_ONCE = 100


class Beat:
    """One loop and the event that wakes it."""

    def __init__(
        self,
        name: str,
        work: Callable[[], Awaitable[None]],
        metrics: Metrics,
        every: timedelta,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.every = every
        self._work = work
        self._clock = clock
        self._wanted = asyncio.Event()
        self._failures = metrics.failures.labels(name)
        self._last_pass = clock()
        self._failure: str | None = None
        self.on_recovery: Callable[[], None] = lambda: None

    def wake(self) -> None:
        self._wanted.set()

    async def beat(self) -> None:
        """`wake` for the metronome, which runs what is not a coroutine in a thread."""
        self.wake()

    async def run(self) -> None:
        while True:
            # The metronome follows the wall clock, which may be set back; this does not.
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wanted.wait(), 2 * self.every.total_seconds())
            self._wanted.clear()
            try:
                await self._work()
                if self._failure is not None:
                    self._failure = None
                    self.on_recovery()
            except Exception as failure:
                # The next beat tries again; a loop that died would leave questions unseen.
                self._failure = str(failure) or type(failure).__name__
                self._failures.inc()
                _log.error("a background pass failed", loop=self.name, why=self._failure)
            self._last_pass = self._clock()

    def trouble(self) -> str | None:
        if self._failure is not None:
            return f"The loop {self.name} fails; the log says why."
        silent = self._clock() - self._last_pass
        if silent <= self.every.total_seconds() + _OVERDUE_SECONDS:
            return None
        return f"The loop {self.name} has not finished for {silent:.0f} s."


@dataclass(frozen=True)
class Chores:
    """What the loops work on."""

    store: Store
    reader: Reader
    engine: Engine
    waiters: Waiters
    sweeper: Sweeper
    deliverer: Deliverer
    hub: EventHub
    postman: Postman
    webhooks: Webhooks
    note_used: Callable[[], Awaitable[None]]
    workspace_id: WorkspaceId
    auditor: Auditor
    #: Tells the outside that all is well; None where nobody is told.
    heartbeat: Callable[[], Awaitable[str | None]] | None = None


class Scheduler:
    def __init__(self, chores: Chores, metrics: Metrics) -> None:
        self._chores = chores
        self._metrics = metrics
        self._metronome = AsyncIOScheduler(
            timezone=UTC, job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
        )
        self._sweep = Beat("deadlines", self._sweep_pass, metrics, FALLBACK)
        self._deliver = Beat("deliveries", self._deliver_pass, metrics, FALLBACK)
        self._notice = Beat("waiters", self._notice_pass, metrics, FALLBACK)
        self._tidy = Beat("housekeeping", self._tidy_pass, metrics, _HOUSEKEEPING)
        self._stream = Beat("events", chores.hub.pump, metrics, FALLBACK)
        self._post = Beat("webhooks", self._post_pass, metrics, FALLBACK)
        self._audit = Beat("auditor", self._audit_pass, metrics, _AUDIT)
        self._neglected: list[Neglected] = []
        self._has_audited = False
        self._beats = (self._sweep, self._deliver, self._notice, self._stream, self._post, self._tidy, self._audit)
        self._tasks: list[asyncio.Task[None]] = []
        self._planned: datetime | None = None

    def start(self) -> None:
        engine = self._chores.engine
        engine.on_due = self._plan
        engine.on_notices = self._deliver.wake
        engine.on_closing = self._tidy.wake
        self._chores.hub.wake = self._stream.wake
        self._chores.postman.wake = self._post.wake
        self._metronome.start()
        for beat in self._beats:
            seconds = int(beat.every.total_seconds())
            self._metronome.add_job(beat.beat, IntervalTrigger(seconds=seconds), id=beat.name)
            beat.on_recovery = self._wake_all
            self._tasks.append(asyncio.create_task(beat.run(), name=beat.name))
            beat.wake()

    def _wake_all(self) -> None:
        for beat in self._beats:
            beat.wake()

    async def stop(self) -> None:
        self._metronome.shutdown(wait=False)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def troubles(self) -> list[str]:
        troubles = [trouble for beat in self._beats if (trouble := beat.trouble()) is not None]
        if self._neglected:
            first = self._neglected[0]
            troubles.append(f"{len(self._neglected)} open questions are neglected; {first.question_id}: {first.why}.")
        return troubles

    def _plan(self, due: datetime) -> None:
        """Have the sweep run at this instant, unless it runs before anyway."""
        now = datetime.now(UTC)
        # The fallback beat comes before any later instant and plans again; planning each ask would be waste.
        if due - now > FALLBACK or (self._planned is not None and now < self._planned <= due):
            return
        self._planned = due
        self._metronome.add_job(self._sweep.beat, DateTrigger(max(due, now)), id="next deadline", replace_existing=True)

    async def _sweep_pass(self) -> None:
        store = self._chores.store
        while True:
            due = await store.next_due()
            if due is None:
                return
            now = await store.now()
            if due > now:
                # The database's clock decides; ours only measures how long that is from here.
                self._planned = None
                self._plan(datetime.now(UTC) + (due - now) + timedelta(milliseconds=1))
                return
            self._metrics.lag.observe((now - due).total_seconds())
            if await self._chores.sweeper.sweep() == 0:
                return  # what is due is in somebody else's hands; the fallback beat looks again

    async def _deliver_pass(self) -> None:
        await self._chores.deliverer.deliver()

    async def _post_pass(self) -> None:
        chores = self._chores
        await chores.postman.refresh()
        due = await chores.webhooks.next_due()
        if due is not None and due <= await chores.store.now():
            await chores.postman.deliver()

    async def _notice_pass(self) -> None:
        """Wake those who wait for questions that another process settled."""
        watched = self._chores.waiters.watched()
        self._metrics.waiting.set(len(watched))
        if watched:
            for question in await self._chores.reader.settled_among(watched):
                self._chores.waiters.settled(question)

    async def _audit_pass(self) -> None:
        """Say loudly what nobody looks after, look after it, and let the outside know when there is no such thing."""
        chores = self._chores
        if not self._has_audited:
            # What fell due while nobody was running is not neglected; it has only just come to our notice.
            await self._sweep_pass()
            self._has_audited = True
        self._neglected = await chores.auditor.examine()
        self._metrics.overdue.set(len(self._neglected))
        for found in self._neglected:
            _log.error("an open question is neglected", question=found.question_id, why=found.why)
            await self._revisit(found)
        if chores.heartbeat is not None and not self.troubles():
            failure = await chores.heartbeat()
            if failure is not None:
                _log.warning("the heartbeat was not taken", why=failure)

    async def _revisit(self, found: Neglected) -> None:
        try:
            await self._chores.engine.revisit(found.question_id)
        except Exception as failure:
            # One that cannot be helped must not keep the others from being looked after.
            _log.error("a neglected question could not be seen to", question=found.question_id, why=str(failure))

    async def _tidy_pass(self) -> None:
        chores = self._chores
        unfinished = JobFilter(chores.workspace_id, closing=True)
        while jobs := await chores.reader.jobs(unfinished, limit=_JOBS_AT_ONCE):
            for job in jobs:
                await chores.engine.close_job(job)
        await chores.note_used()
        await chores.store.forget_commands(before=await chores.store.now() - _COMMANDS_KEPT)
