"""Hypothesis: any ladder, anybody's hours, any commands at any time. What a question's history tells has to hold."""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.answers import RawAnswer
from core.commands import Acknowledge, Answer, QuestionCommand, Reassign, Remark, Remind, Snooze, Tick, Withdraw
from core.deadlines import next_due
from core.events import (
    Acknowledged,
    Answered,
    AskedBack,
    Commented,
    Defaulted,
    Delivered,
    DeliveryFailed,
    Escalated,
    Expired,
    Held,
    LateAnswered,
    Reminded,
    Resumed,
    Snoozed,
    Undeliverable,
    Withdrawn,
)
from core.evolving import evolve
from core.hours import parse_windows
from core.ids import PersonId
from core.ladder import LONGEST_EXTENSION, SOONEST
from core.people import Person, Role
from core.places import Target
from core.ports import StoredEvent
from core.question import Question, Spec, Urgency
from core.roster import Roster, available_at
from core.schedules import Rotation, Schedule
from core.steps import Step, StepKind
from tests.ladder.places import Board
from tests.ladder.world import World, approval, handles, open_world, roster, utc
from tests.support.builders import AGENT, acting, question_id

NAMES = ("amy", "ben", "cat", "dan")
ENDINGS = (Answered, Defaulted, Expired, Withdrawn)
AFTERWARDS = (LateAnswered, Delivered, DeliveryFailed, Undeliverable)
ONE = question_id(1)

HOURS = st.sampled_from(["", "", "mon-fri 09:00-17:00", "daily 20:00-04:00", "wed 10:00-11:00", "daily 02:30-03:30"])
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"])
#: Around the days on which clocks change, on whole milliseconds as stores have them.
STARTS = st.builds(
    lambda day, minutes, millis: day + timedelta(minutes=minutes, milliseconds=millis),
    st.sampled_from([utc(2026, 3, 7), utc(2026, 3, 27), utc(2026, 10, 24), utc(2026, 6, 5)]),
    st.integers(0, 3 * 24 * 60),
    st.integers(0, 999),
)
AUDIENCES = st.lists(
    st.sampled_from(["asked", "person:p_cat", "group:team", "schedule:rota", "role:lead", "person:p_nobody"]),
    min_size=1,
    max_size=2,
    unique=True,
).map(tuple)
STEPS = st.builds(
    Step,
    kind=st.sampled_from(StepKind),
    after=st.sampled_from([timedelta(seconds=30), SOONEST, timedelta(minutes=5), timedelta(minutes=10, microseconds=7)])
    | st.timedeltas(timedelta(minutes=1), timedelta(hours=30)),
    audience=AUDIENCES,
    targets=st.sampled_from([(), (Target("slack", "there"),)]),
    direct=st.booleans(),
    joins=st.sampled_from([None, "an approver"]),
    holds=st.booleans() | st.just(True),
)


@st.composite
def people(draw: st.DrawFn) -> Roster:
    made = [
        Person(
            PersonId(f"p_{name}"),
            name,
            draw(st.sampled_from([Role.APPROVER, Role.LEAD, Role.MEMBER])) if number else Role.APPROVER,
            handles(slack=f"U{number}"),
            draw(ZONES),
            parse_windows(draw(HOURS)),
            parse_windows(draw(HOURS)) if draw(st.booleans()) else (),
            draw(STARTS) if draw(st.booleans()) else None,
            PersonId(f"p_{draw(st.sampled_from(NAMES))}") if draw(st.booleans()) else None,
        )
        for number, name in enumerate(NAMES)
    ]
    rota = Rotation((made[1].id, made[2].id), datetime(2026, 3, 1, 2, 30), 1, parse_windows(draw(HOURS)))  # noqa: DTZ001
    schedule = Schedule("rota", draw(ZONES), (rota,))
    return roster(*made, groups={"team": made[1:3]}, schedules=[schedule], connected=("slack",))


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    steps = tuple(sorted(draw(st.lists(STEPS, max_size=6)), key=lambda step: step.after))
    limit = draw(st.sampled_from([15, 60, 24 * 60]) | st.none())
    fields: dict[str, Any] = {} if limit is None else {"time_limit": timedelta(minutes=limit)}
    return approval(
        *steps,
        **fields,
        urgency=draw(st.sampled_from([Urgency.NORMAL, Urgency.NORMAL, Urgency.URGENT])),
        route=((Target("slack", "here"),), (Target("discord", "gone"),)),
        acknowledgement=timedelta(minutes=draw(st.sampled_from([1, 15, 120]))),
    )


@dataclass
class Move:
    """Some time passes, watched by the sweeper or not, and somebody does something."""

    later: timedelta
    watched: bool
    what: str
    who: int
    delivers: bool
    span: timedelta = field(default=timedelta(minutes=30))

    def command(self, everybody: Roster, now: datetime) -> QuestionCommand | None:
        actor = acting(everybody.people[PersonId(f"p_{NAMES[self.who]}")])
        commands: dict[str, QuestionCommand] = {
            "acknowledge": Acknowledge(ONE, actor),
            "snooze": Snooze(ONE, actor, now + self.span),
            "remind": Remind(ONE, actor),
            "reassign": Reassign(ONE, actor, NAMES[(self.who + 1) % len(NAMES)]),
            "ask back": Remark(ONE, actor, "which one?"),
            "reply": Remark(ONE, AGENT, "the big one"),
            "tick": Tick(ONE),
            "answer": Answer(ONE, actor, RawAnswer(True)),
            "withdraw": Withdraw(ONE, AGENT),
        }
        return commands.get(self.what)


WHAT = ["nothing", "acknowledge", "snooze", "remind", "reassign", "ask back", "reply", "tick"]
MOVES = st.lists(
    st.builds(
        Move,
        st.sampled_from([timedelta(0), timedelta(milliseconds=1), timedelta(minutes=5), timedelta(hours=25)])
        | st.timedeltas(timedelta(0), timedelta(hours=20)).map(lambda t: t - t % timedelta(milliseconds=1)),
        st.booleans(),
        st.sampled_from(WHAT * 4 + ["answer", "withdraw"]),
        st.integers(0, len(NAMES) - 1),
        st.booleans(),
        st.timedeltas(timedelta(0), timedelta(hours=25)),
    ),
    max_size=8,
)


async def _live(
    world: World, everybody: Roster, spec: Spec, start: datetime, moves: Sequence[Move], *, delivers: bool
) -> Question:
    world.roster, board = everybody, Board()
    board.closed["there"] = "archived"
    deliverer = world.deliverer(board, absent=("discord",))
    await world.ask(spec, at=start)
    for move in moves:
        at = world.clock.now + move.later
        if move.watched:
            await world.until(at)
        else:
            await world.outage(at)
        command = move.command(everybody, world.clock.now)
        if command is not None:
            await world.engine.handle(command)
        await world.sweeper.sweep()
        due = next_due(await world.question())
        assert due is None or due > world.clock.now
        assert await world.backend.store.next_due() == due
        if move.delivers and delivers:
            await deliverer.deliver()
    await world.until(world.clock.now + timedelta(days=9))
    if delivers:
        await deliverer.deliver()
    keys = [said.key for said in board.said]
    assert len(keys) == len(set(keys))
    return await world.question()


def _holds(question: Question, history: Sequence[StoredEvent], everybody: Roster) -> None:
    """The laws of the ladder, checked against the history alone, event by event."""
    state: Question | None = None
    done: set[int] = set()
    kept_back: datetime | None = None
    moved = timedelta(0)
    ended = False
    for stored in history:
        event = stored.event
        assert not ended or isinstance(event, AFTERWARDS), event
        if isinstance(event, Reminded | Escalated) and event.step is not None:
            assert state is not None
            assert event.step not in done
            done.add(event.step)
            _is_right(state, event, event.step, everybody)
            assert kept_back is None or event.at >= kept_back
        if isinstance(event, Acknowledged | Snoozed):
            assert state is not None
            assert event.until > event.at
            kept_back = max(kept_back or event.until, event.until)
        before, state = state, evolve(state, event)  # type: ignore[arg-type]  # a question's history has no job events
        if before is not None and before.deadline != state.deadline:
            assert isinstance(event, Held | AskedBack | Resumed | Commented)
        if isinstance(event, Held):
            assert before is not None
            assert event.until > event.at
            if before.deadline is not None:
                assert state.deadline is not None
                assert state.deadline >= before.deadline
                assert question.spec.limit_is_default or state.deadline == before.deadline
                moved += state.deadline - before.deadline
            assert question.spec.urgency is not Urgency.URGENT
            assert question.spec.ladder[event.step].holds
        assert moved <= LONGEST_EXTENSION
        ended = ended or isinstance(event, ENDINGS)
    assert state == question
    assert question.version == len(history)
    assert question.is_open is not ended


def _is_right(state: Question, event: Reminded | Escalated, number: int, everybody: Roster) -> None:
    """A step happens on an open question whose clock runs, not before its time, and only to people who are at work."""
    step = state.spec.ladder[number]
    due = {planned.step: planned.due for planned in state.agenda}
    assert state.is_open
    assert state.pause is None
    assert step.after >= SOONEST
    assert event.at >= state.asked_at + step.after
    assert event.at >= due[number]
    assert state.deadline is None or due[number] <= event.at < state.deadline
    reached = everybody.audience(step.audience, state.asked, event.at)
    assert event.people == tuple(person.id for person in reached)
    if not reached and "asked" in step.audience:
        joined = (f"person:{person}" for _, person in state.joined)
        reached = everybody.audience(("role:approver", *joined), (), event.at)
    if step.holds and state.spec.urgency is not Urgency.URGENT and reached:
        assert any(available_at(person, event.at) == event.at for person in reached)


def _run(
    kind: str, everybody: Roster, spec: Spec, start: datetime, moves: Sequence[Move], *, delivers: bool = True
) -> list[Any]:
    async def run(world: World) -> list[Any]:
        question = await _live(world, everybody, spec, start, moves, delivers=delivers)
        history = await world.backend.reader.history(ONE)
        _holds(question, history, everybody)
        return [question, *(stored.event for stored in history)]

    with tempfile.TemporaryDirectory() as folder, open_world(kind, Path(folder)) as world:
        return asyncio.run(run(world))


ASKED = st.lists(st.sampled_from(NAMES), max_size=2, unique=True)
EXAMPLES = settings(deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def _put_to(spec: Spec, asked: Sequence[str]) -> Spec:
    return Spec(**{name: getattr(spec, name) for name in Spec.__slots__} | {"asked": tuple(f"p_{n}" for n in asked)})


@settings(EXAMPLES, max_examples=300)
@given(people(), specs(), ASKED, STARTS, MOVES)
def test_every_history_keeps_the_laws_of_the_ladder(
    everybody: Roster, spec: Spec, asked: list[str], start: datetime, moves: list[Move]
) -> None:
    _run("memory", everybody, _put_to(spec, asked), start, moves)


@settings(EXAMPLES, max_examples=25)
@given(people(), specs(), ASKED, STARTS, MOVES)
def test_memory_and_sqlite_tell_the_same_history(
    everybody: Roster, spec: Spec, asked: list[str], start: datetime, moves: list[Move]
) -> None:
    """Without deliveries: what is ready at the same instant is delivered in no certain order."""
    made = _put_to(spec, asked)
    first, second = (_run(kind, everybody, made, start, moves, delivers=False) for kind in ("memory", "sqlite"))

    assert first == second


@pytest.mark.soak
@settings(EXAMPLES, max_examples=10_000, derandomize=False)
@given(people(), specs(), ASKED, STARTS, MOVES)
def test_very_many_histories_keep_the_laws_of_the_ladder(
    everybody: Roster, spec: Spec, asked: list[str], start: datetime, moves: list[Move]
) -> None:
    _run("memory", everybody, _put_to(spec, asked), start, moves)
