"""The shell around the machine: one way in for every command, one way out for everything it caused."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Protocol

from core.commands import Ask, Command, FinishClosing, ReportProgress, SteerJob, Tick
from core.deadlines import next_due
from core.decisions import Case, Decision
from core.delivering import INBOX, has_failed
from core.events import (
    Delivered,
    DeliveryFailed,
    Escalated,
    Event,
    JobChanged,
    Progressed,
    Reassigned,
    Reminded,
    Undeliverable,
)
from core.ids import QuestionId
from core.job import Job
from core.machine import apply, decide
from core.places import Target
from core.ports import (
    Change,
    CommandKey,
    JobKey,
    Nudge,
    QuestionFilter,
    Reader,
    Scope,
    Snapshot,
    Store,
    StoreUnavailable,
    Verdict,
)
from core.question import Question, Status
from core.roster import Roster
from core.steering import decide_job
from core.waiters import Waiters

_CLOSING_PAGE = 100


@dataclass(frozen=True, slots=True)
class Handled:
    """What became of a command, and the question and job as they are now."""

    decision: Decision
    question: Question | None
    job: Job | None
    #: The job waited before this command and goes on after it.
    job_resumed: bool = False


@dataclass(frozen=True, slots=True)
class Replayed:
    """The command was committed before, under the same key. `same` is False when it was another command then."""

    question_id: QuestionId | None
    same: bool


class Alarm(Protocol):
    def __call__(self, due: datetime) -> None:
        """Something will be due then; make sure that the sweeper looks."""


class Engine:
    def __init__(
        self, store: Store, reader: Reader, waiters: Waiters, everybody: Callable[[], Awaitable[Roster]]
    ) -> None:
        self._store = store
        self._everybody = everybody
        self._reader = reader
        self._waiters = waiters
        self.on_due: Alarm = lambda due: None
        self.on_notices: Callable[[], None] = lambda: None
        self.on_change: Callable[[Change], None] = lambda change: None
        #: Called when time has ended a job, so that somebody closes it soon; without it, it is closed on the spot.
        self.on_closing: Callable[[], None] | None = None

    async def handle(
        self, command: Command, *, key: CommandKey | None = None, fence: int | None = None
    ) -> Handled | Replayed:
        """Read, judge and keep, as one step; then wake whoever waits for what came of it."""
        roster = await self._everybody()
        verdict = await self._store.transact(scope_of(command, key, fence), partial(judge, command, roster))
        if verdict.recorded is not None:
            same = key is not None and verdict.recorded.fingerprint == key.fingerprint
            return Replayed(verdict.recorded.question_id, same)
        change = verdict.change
        if verdict.decision is None or change is None:
            raise AssertionError("a verdict without a record has a decision and a change")
        self._announce(change)
        before, after = change.before.job, change.after.job
        if after is not None and after.closing and not (before is not None and before.closing):
            await self._begin_closing(command, after)
        was_waiting = before is not None and before.is_waiting
        goes_on = after is not None and not after.is_waiting and not after.has_ended
        return Handled(verdict.decision, change.after.question, after, was_waiting and goes_on)

    def _announce(self, change: Change) -> None:
        if not change.events:
            return
        self.on_change(change)
        question = change.after.question
        if question is None:
            return
        if not question.is_open:
            self._waiters.settled(question)
        due = next_due(question)
        if due is not None:
            self.on_due(due)
        if change.targets or change.nudges:
            self.on_notices()

    async def _begin_closing(self, command: Command, job: Job) -> None:
        if isinstance(command, Tick) and self.on_closing is not None:
            self.on_closing()  # other deadlines must not wait until a long list is withdrawn
            return
        # The command itself is kept, whatever happens now; housekeeping finishes what cannot be finished here.
        with suppress(StoreUnavailable):
            await self.close_job(job)

    async def revisit(self, question_id: QuestionId) -> None:
        """See to a question that was forgotten: put it back on the agenda, and do at once what is overdue."""
        question = await self._reader.question(question_id)
        if question is not None and question.is_open:
            await self._store.replan(question)
            await self.handle(Tick(question_id))

    async def close_job(self, job: Job) -> None:
        """Withdraw what an ended job left open. Safe to repeat, also on a job that goes on again by now."""
        open_ones = QuestionFilter(job.workspace_id, status=Status.OPEN, job_id=job.id)
        after: QuestionId | None = None
        while questions := await self._reader.questions(open_ones, limit=_CLOSING_PAGE, after=after):
            after = questions[-1].id
            # A tick lets time and the job's end speak: it withdraws exactly when the job has ended.
            await asyncio.gather(*(self.handle(Tick(question.id)) for question in questions))
        await self.handle(FinishClosing(job.workspace_id, job.id))


def scope_of(command: Command, key: CommandKey | None, fence: int | None) -> Scope:
    match command:
        case Ask():
            job_id = command.spec.job_id
            job = None if job_id is None else JobKey(command.spec.workspace_id, job_id)
            return Scope(job=job, command=key)
        case SteerJob() | ReportProgress() | FinishClosing():
            return Scope(job=JobKey(command.workspace_id, command.job_id), command=key)
        case _:
            return Scope(question_id=command.question_id, command=key, fence=fence)


def judge(command: Command, roster: Roster, snapshot: Snapshot) -> Verdict:
    """Pure: what this command does to what the store holds."""
    if snapshot.recorded is not None:
        return Verdict(None, recorded=snapshot.recorded)
    case, now = snapshot.case, snapshot.now
    decision = _decide(case, command, now, roster)
    after = apply(case, decision.events)
    targets, nudges = _stale_targets(case, after, decision.events), _nudges(case, after, decision.events)
    return Verdict(decision, Change(case, after, decision.events, targets, nudges))


def _decide(case: Case, command: Command, now: datetime, roster: Roster) -> Decision:
    if isinstance(command, SteerJob | ReportProgress | FinishClosing):
        return decide_job(case.job, command, now)
    return decide(case, command, now, roster)


def _stale_targets(before: Case, after: Case, events: tuple[Event, ...]) -> tuple[Target, ...]:
    """The places whose message no longer tells the truth; a delivery is about a message, so it changes none."""
    question = after.question
    if question is None or not question.targets:
        return ()
    unseen = (Delivered, Undeliverable, DeliveryFailed, JobChanged, Progressed)
    is_news = any(not isinstance(event, unseen) for event in events)
    known = before.question.targets if before.question is not None else ()
    # What could not be reached once is not tried again with every change.
    reachable = (t for t in question.targets if t != INBOX and not has_failed(t, question.deliveries))
    return tuple(target for target in reachable if is_news or target not in known)


def _nudges(before: Case, after: Case, events: tuple[Event, ...]) -> tuple[Nudge, ...]:
    """What to say where the question is shown already. Where it is new, its message tells the whole story."""
    if before.question is None or after.question is None or not after.question.is_open:
        return ()
    known = [target for target in before.question.targets if target != INBOX]
    about_question = [event for event in events if not isinstance(event, JobChanged | Progressed)]
    return tuple(
        Nudge(target, before.question.version + place, event.sentence)
        for place, event in enumerate(about_question, start=1)
        if isinstance(event, Reminded | Escalated | Reassigned)
        for target in known
    )
