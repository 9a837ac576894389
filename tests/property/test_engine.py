"""Any order of commands and any passage of time, on the memory store and on SQLite side by side.

Both run the same commands under the same clock, so they have to agree on everything; and after every step the laws of
the engine hold for each question and job.
"""

import asyncio
import tempfile
from collections.abc import Coroutine
from contextlib import ExitStack
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from adapters.sql.database import migrate, open_database
from core.answers import (
    AnswerShape,
    AnswerValue,
    ApprovalShape,
    BooleanShape,
    ChoiceShape,
    NumberShape,
    Option,
    RawAnswer,
    TextShape,
)
from core.commands import Answer, Ask, Command, FinishClosing, Remark, ReportProgress, SteerJob, Tick, Withdraw
from core.deadlines import next_due
from core.decisions import Accepted
from core.engine import Engine, Handled
from core.events import Answered, Asked, Defaulted, Delivered, Expired, LateAnswered, Undeliverable, Withdrawn
from core.evolving import evolve
from core.ids import JobId, QuestionId
from core.job import Job, OnTimeout
from core.kinds import ENDED, KINDS, WAITING, DefaultRule, JobStatus, Kind
from core.machine import TRANSITIONS
from core.places import Target
from core.ports import JobFilter, QuestionFilter, StoredEvent
from core.question import OutcomeKind, Question, Spec
from core.sweeper import Sweeper
from core.waiters import Waiters
from tests.support.backends import Backend, memory_backend, sql_backend, sqlite_url
from tests.support.builders import AGENT, DANA, EVE, NOW, OTHER_AGENT, WORKSPACE, acting, everybody, question_id, spec

T = TypeVar("T")

ENDINGS = (Answered, Defaulted, Expired, Withdrawn)
AFTERWARDS = (LateAnswered, Delivered, Undeliverable)

SHAPES: tuple[tuple[AnswerShape, Any], ...] = (
    (TextShape(), "PostgreSQL"),
    (ChoiceShape((Option("PostgreSQL", "pg"), Option("SQLite", 3))), "pg"),
    (BooleanShape(), True),
    (NumberShape(), 2.5),
)
ACTORS = (acting(DANA), acting(EVE), AGENT, OTHER_AGENT)
JOBS = (None, "job-1", "job-2")


@cache
def _empty_database() -> bytes:
    """A migrated SQLite file, made once: every run starts from a copy."""
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(sqlite_url(Path(folder)))
        migrate(database)
        with database.writing.connect() as connection:
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.exec_driver_sql("BEGIN")
        database.dispose()
        return (Path(folder) / "handraise.db").read_bytes()


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


class Side:
    """One store with an engine and a sweeper on it."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.engine = Engine(backend.store, backend.reader, Waiters(), everybody)
        self.sweeper = Sweeper(backend.store, self.engine, on_failure=self._failed)

    @staticmethod
    def _failed(claim: object, failure: Exception) -> None:
        raise failure

    async def state(self) -> tuple[list[Question], list[Job]]:
        questions = await self.backend.reader.questions(QuestionFilter(WORKSPACE), limit=1000)
        jobs = await self.backend.reader.jobs(JobFilter(WORKSPACE), limit=1000)
        return list(questions), list(jobs)


class EngineUnderAnyOrder(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.asked: list[QuestionId] = []
        self._stack = ExitStack()
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "handraise.db").write_bytes(_empty_database())
        self._runner = self._stack.enter_context(asyncio.Runner())
        sqlite = self._stack.enter_context(sql_backend(sqlite_url(folder), self.clock))
        self.memory, self.sqlite = Side(memory_backend(self.clock)), Side(sqlite)

    def teardown(self) -> None:
        self._stack.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def both(self, command: Command) -> Handled:
        """The same command on both sides; they have to come to the same decision."""
        before = self._status_of(command)
        first = self.run(self.memory.engine.handle(command))
        second = self.run(self.sqlite.engine.handle(command))
        assert first == second
        assert isinstance(first, Handled)
        if isinstance(first.decision, Accepted) and not isinstance(command, SteerJob | ReportProgress):
            assert first.question is not None
            assert before == "due" or first.question.status in TRANSITIONS[before][type(command)]
        return first

    def _status_of(self, command: Command) -> Any:
        """The status the command finds, or `due` when time settles the question before it is looked at."""
        if isinstance(command, SteerJob | ReportProgress | FinishClosing):
            return None
        question = self.run(self.memory.backend.reader.question(command.question_id))
        if question is None:
            return None
        due = next_due(question)
        return "due" if due is not None and due <= self.clock.now else question.status

    def some(self, place: int) -> QuestionId:
        return self.asked[place % len(self.asked)] if self.asked else question_id(999)

    @initialize()
    def begin(self) -> None:
        self.both(SteerJob(WORKSPACE, JobId("job-2"), AGENT, max_open_holding=1, sets_max_open_holding=True))

    @rule(
        kind=st.sampled_from(Kind),
        shaped=st.sampled_from(SHAPES),
        job=st.sampled_from(JOBS),
        minutes=st.none() | st.integers(5, 60),
        with_default=st.booleans(),
        asker=st.sampled_from((AGENT, OTHER_AGENT, acting(DANA))),
    )
    def ask(
        self,
        kind: Kind,
        shaped: tuple[AnswerShape, Any],
        job: str | None,
        minutes: int | None,
        with_default: bool,
        asker: Any,
    ) -> None:
        shape, value = (ApprovalShape(), True) if kind is Kind.APPROVAL else shaped
        has_default = KINDS[kind].default is DefaultRule.REQUIRED or (with_default and kind is not Kind.APPROVAL)
        wanted: Spec = spec(
            kind,
            shape,
            job=job,
            time_limit="of the kind" if minutes is None else timedelta(minutes=minutes),
            default=AnswerValue(value) if has_default else None,
            targets=(Target("memory", "here"),),
            asker=spec().asker.__class__(asker.principal, asker.name),
        )
        name = question_id(len(self.asked) + 1)
        before = {job.id: job for job in self.run(self.memory.state())[1]}
        done = self.both(Ask(name, wanted))
        if isinstance(done.decision, Accepted):
            self.asked.append(name)
            held = before.get(JobId(job)) if job is not None else None
            limit = held.max_open_holding if held is not None else None
            if held is not None and limit is not None and KINDS[kind].holds_job_as is not None:
                assert len(held.holding) < limit

    @rule(
        place=st.integers(0, 20),
        actor=st.sampled_from(ACTORS),
        value=st.sampled_from(["PostgreSQL", "pg", True, False, 3, 2.5, "", None]),
        late=st.booleans(),
    )
    def answer(self, place: int, actor: Any, value: Any, late: bool) -> None:
        done = self.both(Answer(self.some(place), actor, RawAnswer(value), late))
        if isinstance(done.decision, Accepted):
            assert actor.person == DANA
            assert done.question is not None
            assert done.question.spec.asker.principal != actor.principal

    @rule(place=st.integers(0, 20), actor=st.sampled_from(ACTORS), asks_back=st.none() | st.booleans())
    def remark(self, place: int, actor: Any, asks_back: bool | None) -> None:
        self.both(Remark(self.some(place), actor, "which version?", asks_back))

    @rule(place=st.integers(0, 20), actor=st.sampled_from(ACTORS))
    def withdraw(self, place: int, actor: Any) -> None:
        self.both(Withdraw(self.some(place), actor, "never mind"))

    @rule(
        job=st.sampled_from(JOBS[1:]),
        actor=st.sampled_from((AGENT, OTHER_AGENT)),
        status=st.none() | st.sampled_from(JobStatus),
        on_timeout=st.none() | st.sampled_from(OnTimeout),
    )
    def steer(self, job: str, actor: Any, status: JobStatus | None, on_timeout: OnTimeout | None) -> None:
        self.both(SteerJob(WORKSPACE, JobId(job), actor, status, "because", on_timeout))

    @rule(job=st.sampled_from(JOBS[1:]))
    def progress(self, job: str) -> None:
        self.both(ReportProgress(WORKSPACE, JobId(job), AGENT, "half way"))

    @rule(place=st.integers(0, 20))
    def tick(self, place: int) -> None:
        self.both(Tick(self.some(place)))

    @rule(seconds=st.sampled_from([0.001, 1, 60, 299, 300, 900, 1800, 3600, 86_400]) | st.integers(1, 100_000))
    def time_passes(self, seconds: float) -> None:
        self.clock.now += timedelta(seconds=seconds)

    @rule()
    def sweep(self) -> None:
        """Ticking always settles: afterwards nothing open is due."""
        self.run(self.memory.sweeper.sweep())
        self.run(self.sqlite.sweeper.sweep())
        for question in self.run(self.memory.state())[0]:
            due = next_due(question)
            assert due is None or due > self.clock.now

    @invariant()
    def both_sides_hold_the_same(self) -> None:
        assert self.run(self.memory.state()) == self.run(self.sqlite.state())

    @invariant()
    def every_history_tells_the_truth(self) -> None:
        for question in self.run(self.memory.state())[0]:
            mine = self.run(self.memory.backend.reader.history(question.id))
            theirs = self.run(self.sqlite.backend.reader.history(question.id))
            assert [event.event for event in mine] == [event.event for event in theirs]
            _holds(question, list(theirs))

    @invariant()
    def every_job_waits_for_exactly_what_holds_it(self) -> None:
        questions, jobs = self.run(self.memory.state())
        for job in jobs:
            mine = [question for question in questions if question.spec.job_id == job.id and question.is_open]
            holding = {question.id for question in mine if question.spec.rule.holds_job_as is not None}
            assert {entry.question_id for entry in job.holding} == holding
            assert (job.status in WAITING) == bool(holding)
            if job.status in ENDED:
                assert mine == []
                assert not job.closing

    @invariant()
    def both_outboxes_want_the_same(self) -> None:
        sides = [self.run(_wanted(side.backend)) for side in (self.memory, self.sqlite)]
        assert sides[0] == sides[1]


async def _wanted(backend: Backend) -> list[tuple[str, int]]:
    """What is to be shown, looked at under a lease of no length, so that nothing is taken."""
    notices = await backend.outbox.claim(["memory"], limit=1000, lease=timedelta(0))
    return sorted((notice.id, notice.version) for notice in notices)


def _holds(question: Question, history: list[StoredEvent]) -> None:
    """The laws of one question's life."""
    state: Question | None = None
    ended = False
    for number, stored in enumerate(history, start=1):
        event = stored.event
        assert stored.sequence == number
        if ended:
            assert isinstance(event, AFTERWARDS)
        if isinstance(event, Answered):
            assert state is not None
            assert state.deadline is None or event.at < state.deadline
            assert event.by.type == "person"
            assert event.by.id == DANA.id
        if isinstance(event, Defaulted):
            assert not isinstance(question.spec.shape, ApprovalShape)
        ended = ended or isinstance(event, ENDINGS)
        assert not isinstance(event, Asked) or number == 1
        state = evolve(state, event)  # type: ignore[arg-type]  # a question's history has no job events
    assert state == question
    assert question.version == len(history)
    assert question.is_open is not ended
    if question.outcome is not None and question.outcome.kind is not OutcomeKind.ANSWERED:
        assert question.outcome.deciders == ()


def _run(examples: int, steps: int) -> None:
    run_state_machine_as_test(
        EngineUnderAnyOrder,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=examples < 100,
        ),
    )


def test_any_order_of_commands_keeps_every_law() -> None:
    _run(examples=20, steps=25)


@pytest.mark.soak
def test_many_orders_of_commands_keep_every_law() -> None:
    _run(examples=500, steps=50)
