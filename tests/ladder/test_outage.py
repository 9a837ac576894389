"""Nobody looks for ten minutes, and thousands of questions have steps that fell due: each of them happens once.

Over SQLite, with two sweepers and two deliverers that compete as two processes would, and once more with a process
that dies after claiming and before doing anything.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from core.commands import Tick
from core.events import Escalated, Event, Reminded
from core.ids import QuestionId
from core.places import Target
from core.ports import EventFilter, Notice, StaleClaim
from core.question import Spec
from core.sweeper import LEASE
from tests.ladder.places import Board
from tests.ladder.world import HOUR, MINUTE, Clock, World, approval, escalate, new_sqlite, person, remind, roster, utc
from tests.support.backends import sql_backend
from tests.support.builders import WORKSPACE

AT = utc(2026, 6, 2, 12)
AMY, LIA = person("Amy"), person("Lia")
HERE, THERE = Target("slack", "here"), Target("slack", "there")


def _question() -> Spec:
    """Due within ten minutes: two reminders, of which one is enough, and one rung that goes to another place."""
    steps = (remind(3), escalate(5, "person:p_lia", targets=(THERE,)), remind(7), remind(30))
    return approval(*steps, asked=(AMY,), time_limit=HOUR, route=((HERE,),))


async def _asked(count: int, first: World) -> list[QuestionId]:
    found = await asyncio.gather(*(first.ask(_question()) for _ in range(count)))
    return [question.id for question in found]


async def _happened(world: World) -> list[tuple[QuestionId | None, Event]]:
    found: list[tuple[QuestionId | None, Event]] = []
    position = 0
    while page := await world.backend.log.after(position, EventFilter(WORKSPACE), limit=1000):
        position = page[-1].position
        found += [(logged.stored.question_id, logged.stored.event) for logged in page]
    return found


async def _check(world: World, questions: list[QuestionId]) -> None:
    events = await _happened(world)
    reminded = [(question, event.step) for question, event in events if isinstance(event, Reminded)]
    climbed = [(question, event.step) for question, event in events if isinstance(event, Escalated)]
    assert sorted(reminded) == [(question, 2) for question in sorted(questions)]
    assert sorted(climbed) == [(question, 1) for question in sorted(questions)]


def _check_said(slack: Board, count: int) -> None:
    """One nudge for the rung and one for the reminder where it was shown; the new place shows the whole story."""
    assert len(slack.said) == 2 * count
    assert len({said.key for said in slack.said}) == 2 * count
    assert {said.address for said in slack.said} == {"here"}
    assert Counter(slack.tried) == {"here": count, "there": count}


async def _sweep(worlds: list[World]) -> list[int]:
    return list(await asyncio.gather(*(world.sweeper.sweep() for world in worlds)))


async def _deliver(worlds: list[World], slack: Board) -> None:
    await asyncio.gather(*(world.deliverer(slack).deliver() for world in worlds))


async def _check_outbox(worlds: list[World], count: int) -> None:
    """Everything that is to be sent, claimed by two that compete."""

    async def claimed(world: World) -> list[Notice]:
        mine: list[Notice] = []
        while some := await world.backend.outbox.claim(["slack"], limit=500, lease=MINUTE):
            mine += some
        return mine

    notices = [notice for mine in await asyncio.gather(*map(claimed, worlds)) for notice in mine]
    nudges = [notice for notice in notices if notice.nudge is not None]
    assert len({notice.id for notice in notices}) == len(notices) == 4 * count
    assert Counter((n.question_id, n.target) for n in nudges) == {(n.question_id, HERE): 2 for n in nudges}
    assert len(nudges) == 2 * count


async def _ten_minutes_away(count: int, worlds: list[World]) -> tuple[float, list[int]]:
    questions = await _asked(count, worlds[0])

    worlds[0].clock.now = AT + 10 * MINUTE
    began = time.monotonic()
    ticks = await _sweep(worlds)
    took = time.monotonic() - began

    await _check(worlds[1], questions)
    assert sum(ticks) == count
    assert await _sweep(worlds) == [0, 0]
    return took, ticks


async def _one_dies(count: int, worlds: list[World]) -> None:
    """A third process claims a share of everything, and is not heard of again until it is too late."""
    questions, clock, share = await _asked(count, worlds[0]), worlds[0].clock, count // 3

    clock.now = AT + 10 * MINUTE
    dead = await worlds[0].backend.store.claim_due(limit=share, lease=LEASE)
    first = await _sweep(worlds)
    clock.now += LEASE - timedelta(milliseconds=1)
    too_soon = await _sweep(worlds)
    clock.now += timedelta(milliseconds=1)
    taken_over = await _sweep(worlds)

    for claim in dead[:20]:
        with pytest.raises(StaleClaim):
            await worlds[0].engine.handle(Tick(claim.question_id), fence=claim.fence)
    await _check(worlds[1], questions)
    assert len(dead) == share
    assert (sum(first), sum(too_soon), sum(taken_over)) == (count - share, 0, share)


@pytest.fixture
def worlds(tmp_path: Path) -> Iterator[list[World]]:
    """Two that share nothing but the database and the clock, as two processes do."""
    url, clock = new_sqlite(tmp_path), Clock(AT)
    with ExitStack() as stack:
        opened = [World(stack.enter_context(sql_backend(url, clock)), clock) for _ in range(2)]
        for world in opened:
            world.roster = roster(AMY, LIA)
        yield opened


async def test_after_ten_minutes_each_step_happens_once(worlds: list[World]) -> None:
    await _ten_minutes_away(300, worlds)
    await _check_outbox(worlds, 300)


async def test_a_process_that_dies_between_claiming_and_doing_loses_and_doubles_nothing(worlds: list[World]) -> None:
    await _one_dies(300, worlds)
    await _check_outbox(worlds, 300)


async def test_everything_is_said_once_by_two_that_deliver_and_one_that_dies(worlds: list[World]) -> None:
    slack, clock, count = Board(), worlds[0].clock, 60
    questions = await _asked(count, worlds[0])
    await _deliver(worlds, slack)
    clock.now = AT + 10 * MINUTE
    await _sweep(worlds)

    lost = await worlds[0].backend.outbox.claim(["slack"], limit=2 * count, lease=MINUTE)
    await _deliver(worlds, slack)
    meanwhile = len(slack.said)
    clock.now += MINUTE
    await _deliver(worlds, slack)
    _check_said(slack, count)
    clock.now += MINUTE
    await _sweep(worlds)
    await _deliver(worlds, slack)

    assert len(lost) == 2 * count
    assert meanwhile == 2 * count - sum(notice.nudge is not None for notice in lost) < 2 * count
    _check_said(slack, count)
    await _check(worlds[0], questions)


@pytest.mark.soak
async def test_after_ten_minutes_5000_steps_happen_once_each(
    worlds: list[World], capsys: pytest.CaptureFixture[str]
) -> None:
    took, ticks = await _ten_minutes_away(5000, worlds)
    await _check_outbox(worlds, 5000)

    with capsys.disabled():
        print(f"\n5,000 questions with overdue steps: caught up in {took:.1f} s, ticks {ticks}")  # noqa: T201


@pytest.mark.soak
async def test_a_process_that_dies_loses_and_doubles_nothing_of_5000(worlds: list[World]) -> None:
    await _one_dies(5000, worlds)
    await _check_outbox(worlds, 5000)
