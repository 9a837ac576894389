"""The second pair of eyes: what it finds, what it leaves alone, and what it does about it."""

import asyncio
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update
from structlog.testing import capture_logs

from adapters.sql.rows import millis
from adapters.sql.tables import questions
from adapters.webhooks.heartbeat import beat
from bot.metrics import Metrics
from bot.scheduler import Chores, Scheduler
from core.auditing import AT_ONCE, GRACE, Auditor, Neglected
from core.commands import Remark
from core.delivery import Deliverer
from core.engine import Engine, Handled
from core.ids import QuestionId
from core.kinds import Kind
from core.posting import Postman
from core.question import Question, Status
from core.stream import EventHub
from core.sweeper import Sweeper
from core.waiters import Waiters
from core.webhooks import Message
from tests.support.backends import Backend, memory_backend, sql_backend, sqlite_url
from tests.support.builders import DANA, NOW, WORKSPACE, acting, answer, ask, everybody, question_id, spec
from tests.support.couriers import AlwaysFails
from tests.webhooks.receivers import receiving

HOUR, MINUTE, TICK = timedelta(hours=1), timedelta(minutes=1), timedelta(milliseconds=1)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
def backend(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Backend]:
    if request.param == "memory":
        yield memory_backend(clock)
        return
    with sql_backend(sqlite_url(tmp_path), clock) as opened:
        yield opened


@pytest.fixture
def sql(tmp_path: Path, clock: Clock) -> Iterator[Backend]:
    with sql_backend(sqlite_url(tmp_path), clock) as opened:
        yield opened


async def asked(backend: Backend, number: int = 1, limit: timedelta | None = HOUR) -> Question:
    done = await backend.engine().handle(ask(number, spec(Kind.CLARIFYING, time_limit=limit)))
    assert isinstance(done, Handled)
    assert done.question is not None
    return done.question


def damage(backend: Backend, due: datetime | None, *numbers: int) -> None:
    """Somebody's hand on the database."""
    assert backend.database is not None
    change = update(questions).where(questions.c.id.in_([question_id(number) for number in numbers]))
    with backend.database.writing.begin() as connection:
        connection.execute(change.values(due_at=None if due is None else millis(due)))


async def found(backend: Backend) -> list[Neglected]:
    return await Auditor(backend.reader, backend.store).examine()


async def test_where_all_is_well_nothing_is_found(backend: Backend, clock: Clock) -> None:
    await asked(backend, 1)
    await asked(backend, 2, None)
    await asked(backend, 3)
    await backend.engine().handle(answer(3))
    clock.now += 59 * MINUTE

    assert await found(backend) == []


async def test_the_sweeper_has_a_minute_and_not_a_moment_more(backend: Backend, clock: Clock) -> None:
    question = await asked(backend)
    assert question.deadline is not None

    clock.now = question.deadline + GRACE
    in_time = await found(backend)
    clock.now += TICK
    late = await found(backend)
    clock.now += 2 * HOUR
    later = await found(backend)

    assert in_time == []
    assert late == [Neglected(question.id, "its next step is overdue by 1 min")]
    assert later == [Neglected(question.id, "its next step is overdue by 2 h 1 min")]


async def test_a_question_without_a_limit_waits_for_ever(backend: Backend, clock: Clock) -> None:
    await asked(backend, 1, None)
    clock.now += timedelta(days=400)

    assert await found(backend) == []


async def test_a_paused_question_is_due_when_its_pause_is_over(backend: Backend, clock: Clock) -> None:
    question = await asked(backend)
    await backend.engine().handle(Remark(question.id, acting(DANA), "Which size?"))
    clock.now += 24 * HOUR + GRACE
    paused = await found(backend)
    clock.now += TICK

    assert paused == []
    assert [neglected.question_id for neglected in await found(backend)] == [question.id]


async def test_a_question_that_nobody_is_going_to_look_at_is_found_before_it_is_late(sql: Backend) -> None:
    question = await asked(sql)
    damage(sql, None, 1)

    (neglected,) = await found(sql)

    assert neglected == Neglected(question.id, "nobody is going to look at it: the store has no due time for it")


async def test_a_question_that_comes_up_too_late_is_found_before_it_is_late(sql: Backend) -> None:
    question = await asked(sql)
    assert question.deadline is not None
    damage(sql, question.deadline + GRACE, 1)
    bearable = await found(sql)
    damage(sql, question.deadline + GRACE + TICK, 1)

    (neglected,) = await found(sql)

    assert bearable == []
    assert neglected.why == "the store brings it up 1 min too late"


async def test_a_question_that_comes_up_too_early_harms_nobody(sql: Backend, clock: Clock) -> None:
    await asked(sql)
    damage(sql, NOW, 1)
    clock.now += 5 * MINUTE

    assert await found(sql) == []


async def test_however_many_are_open_each_has_its_turn(sql: Backend, clock: Clock) -> None:
    """A few at a time, round and round; what is overdue by the store's own account is found at once."""
    many = 2 * AT_ONCE + 50
    engine = sql.engine()
    of = spec(Kind.CLARIFYING, time_limit=HOUR)
    for start in range(1, many + 1, 500):
        numbers = range(start, min(start + 500, many + 1))
        await asyncio.gather(*(engine.handle(ask(number, of)) for number in numbers))
    auditor = Auditor(sql.reader, sql.store)
    damage(sql, None, 1, AT_ONCE, AT_ONCE + 1, 2 * AT_ONCE, many)

    async def turn() -> list[QuestionId]:
        return [neglected.question_id for neglected in await auditor.examine()]

    turns = [await turn() for _ in range(4)]

    assert turns[0] == [question_id(1), question_id(AT_ONCE)]
    assert turns[1] == [question_id(AT_ONCE + 1), question_id(2 * AT_ONCE)]
    assert turns[2] == [question_id(many)]
    assert turns[3] == turns[0]

    damage(sql, NOW + HOUR, 1, AT_ONCE, AT_ONCE + 1, 2 * AT_ONCE)
    damage(sql, NOW - HOUR, *range(1, many))
    clock.now = NOW + HOUR + GRACE + TICK
    assert len(await turn()) >= AT_ONCE


async def test_exactly_a_full_turn_is_followed_by_the_rest_and_then_the_beginning(sql: Backend) -> None:
    engine, of = sql.engine(), spec(Kind.CLARIFYING, time_limit=HOUR)
    for start in range(1, AT_ONCE + 1, 500):
        await asyncio.gather(*(engine.handle(ask(number, of)) for number in range(start, start + 500)))
    damage(sql, None, AT_ONCE)
    auditor = Auditor(sql.reader, sql.store)

    turns = [len(await auditor.examine()) for _ in range(4)]

    assert turns == [1, 0, 1, 0]


# The pass of the server's loop


class Stubborn(Engine):
    """An engine that cannot help one of the questions."""

    hopeless: QuestionId | None = None

    async def revisit(self, question_id: QuestionId) -> None:
        if question_id == self.hopeless:
            raise RuntimeError("it is stuck")
        await super().revisit(question_id)


async def _no_body(message: Message) -> bytes | None:
    raise AssertionError("nothing is sent here")


async def _nothing() -> None:
    return None


class Office:
    """The server's loops, of which only the auditor's pass is called, and a heartbeat that is counted."""

    def __init__(self, backend: Backend) -> None:
        self.beats = 0
        self.failure: str | None = None
        self.metrics = Metrics()
        waiters = Waiters()
        self.engine = Stubborn(backend.store, backend.reader, waiters, everybody)
        chores = Chores(
            backend.store,
            backend.reader,
            self.engine,
            waiters,
            Sweeper(backend.store, self.engine, on_failure=lambda claim, failure: None),
            Deliverer(backend.outbox, backend.store, backend.reader, self.engine, {}),
            EventHub(backend.log, WORKSPACE),
            Postman(backend.webhooks, AlwaysFails(), _no_body, WORKSPACE, random.random),
            backend.webhooks,
            _nothing,
            WORKSPACE,
            Auditor(backend.reader, backend.store),
            self._beat,
        )
        self.scheduler = Scheduler(chores, self.metrics)

    async def _beat(self) -> str | None:
        self.beats += 1
        return self.failure

    async def audit(self) -> None:
        await self.scheduler._audit_pass()

    @property
    def overdue(self) -> float:
        lines = self.metrics.exposition().decode().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("handraise_overdue "))


async def test_while_all_is_well_the_outside_is_told(sql: Backend) -> None:
    await asked(sql)
    office = Office(sql)

    with capture_logs() as logs:
        await office.audit()

    assert (office.beats, office.overdue, office.scheduler.troubles(), logs) == (1, 0.0, [], [])


async def test_a_forgotten_question_is_told_loudly_and_put_back_and_the_heart_stops(sql: Backend) -> None:
    question = await asked(sql)
    damage(sql, None, 1)
    office = Office(sql)

    with capture_logs() as logs:
        await office.audit()

    assert [(entry["log_level"], entry["event"], entry["question"]) for entry in logs] == [
        ("error", "an open question is neglected", question.id)
    ]
    assert (office.beats, office.overdue) == (0, 1.0)
    assert question.id in office.scheduler.troubles()[0]
    assert await sql.store.next_due() == question.deadline

    await office.audit()

    assert (office.beats, office.overdue, office.scheduler.troubles()) == (1, 0.0, [])


async def test_an_overdue_question_is_settled_by_the_pass_itself(backend: Backend, clock: Clock) -> None:
    question = await asked(backend)
    office = Office(backend)
    await office.audit()
    clock.now += HOUR + GRACE + TICK

    await office.audit()

    settled = await backend.reader.question(question.id)
    assert settled is not None
    assert settled.status is Status.EXPIRED
    assert (office.beats, office.overdue) == (1, 1.0)


async def test_what_fell_due_while_no_server_ran_is_done_and_no_alarm(backend: Backend, clock: Clock) -> None:
    question = await asked(backend)
    clock.now += 3 * HOUR
    office = Office(backend)

    await office.audit()

    settled = await backend.reader.question(question.id)
    assert settled is not None
    assert settled.status is Status.EXPIRED
    assert (office.beats, office.overdue) == (1, 0.0)


async def test_one_that_cannot_be_helped_does_not_keep_the_others_from_help(sql: Backend) -> None:
    for number in (1, 2, 3):
        await asked(sql, number)
    damage(sql, None, 1, 2, 3)
    office = Office(sql)
    office.engine.hopeless = question_id(1)

    with capture_logs() as logs:
        await office.audit()
    planned = await sql.reader.planned(limit=10)

    assert [entry.due is None for entry in planned] == [True, False, False]
    assert "it is stuck" in [entry["why"] for entry in logs]
    await office.audit()
    assert (office.beats, office.overdue) == (0, 1.0)


async def test_a_heartbeat_that_nobody_takes_is_told(sql: Backend) -> None:
    office = Office(sql)
    office.failure = "it answered 503"

    with capture_logs() as logs:
        await office.audit()

    assert [(entry["event"], entry["why"]) for entry in logs] == [("the heartbeat was not taken", "it answered 503")]


async def test_a_heartbeat_is_one_get() -> None:
    async with receiving() as receiver:
        failure = await beat(receiver.url("/ping/abc?x=1"))

    assert failure is None
    assert [(got.method, got.target) for got in receiver.got] == [("GET", "/ping/abc?x=1")]


@pytest.mark.parametrize("status", [302, 404, 500])
async def test_what_is_no_success_is_no_heartbeat(status: int) -> None:
    async with receiving() as receiver:
        receiver.status = status
        receiver.headers = {"Location": receiver.url("/elsewhere")}

        assert await beat(receiver.url()) == f"it answered {status}"
        assert len(receiver.got) == 1


async def test_a_heartbeat_that_reaches_nobody_says_why() -> None:
    async with receiving() as receiver:
        gone = receiver.url()

    for url in (gone, "http://", "nonsense"):
        assert await beat(url)
