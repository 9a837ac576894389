"""Whoever has the inbox before their eyes is spared the first reminder for a while, once, and nothing else changes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from core.answers import RawAnswer
from core.auditing import GRACE, Auditor, Neglected
from core.commands import Acknowledge, Answer, Reassign, Remark, Remind, Snooze, Tick
from core.engine import Handled
from core.events import Escalated, Expired, Held, Reminded, Resumed
from core.ids import PersonId
from core.kinds import Kind
from core.ladder import LONGEST_SPARING, next_step_at
from core.people import Person, Role
from core.places import Target
from core.policies import Panel, Policy
from core.question import Urgency
from core.steps import Step
from tests.ladder.places import Board
from tests.ladder.world import (
    BERLIN,
    HOUR,
    MINUTE,
    OFFICE,
    World,
    approval,
    escalate,
    local,
    person,
    remind,
    roster,
    utc,
)
from tests.support.builders import AGENT, acting, question_id, spec

AT = utc(2026, 6, 2, 12)
AMY, BEN, LIA = person("Amy"), person("Ben"), person("Lia", Role.LEAD)
ONE = question_id(1)


@pytest.fixture(autouse=True)
def _a_room(world: World) -> None:
    world.clock.now, world.roster = AT, roster(AMY, BEN, LIA)


def looks(world: World, *people: Person) -> None:
    """From now on these have the inbox before their eyes, and nobody else."""
    world.roster = replace(world.roster, looking=frozenset(each.id for each in people))


async def asked(world: World, *steps: Step, by: Sequence[Person] = (AMY,), limit: timedelta | None = HOUR) -> None:
    kind = {} if limit is None else {"time_limit": limit}
    if limit is None:
        await world.ask(spec(Kind.NON_BLOCKING, time_limit=None, ladder=steps, asked=tuple(p.id for p in by)))
    else:
        await world.ask(approval(*steps, asked=by, **kind))


async def reminders(world: World) -> list[tuple[int | None, datetime]]:
    return [(event.step, event.at) for event in await world.events(Reminded)]


async def test_whoever_looks_is_reminded_later_though_they_still_look(world: World) -> None:
    looks(world, AMY, LIA)
    await asked(world, remind(5))

    await world.until(AT + 9 * MINUTE)
    waiting = await world.question()
    await world.until(AT + 2 * HOUR)

    (held,) = await world.events(Held)
    assert (held.at, held.step, held.until) == (AT + 5 * MINUTE, 0, AT + 10 * MINUTE)
    assert (held.looking, held.extended) == ((AMY.id,), timedelta(0))
    assert held.sentence == "The first reminder waits until 2026-06-02 12:10:00 UTC: Amy has the inbox open."
    assert [milestone.sentence for milestone in waiting.story] == [held.sentence]
    assert (next_step_at(waiting), waiting.deadline) == (AT + 10 * MINUTE, AT + HOUR)
    assert await reminders(world) == [(0, AT + 10 * MINUTE)]
    assert await world.times(Expired) == [AT + HOUR]


async def test_whoever_closes_the_page_meanwhile_is_reminded_at_the_same_time(world: World) -> None:
    looks(world, AMY)
    await asked(world, remind(5))

    await world.until(AT + 6 * MINUTE)
    looks(world)
    await world.until(AT + 2 * HOUR)

    assert await reminders(world) == [(0, AT + 10 * MINUTE)]


async def test_whoever_has_closed_the_page_before_is_reminded_at_once(world: World) -> None:
    looks(world, AMY)
    await asked(world, remind(5))

    await world.until(AT + 4 * MINUTE)
    looks(world)
    await world.until(AT + 2 * HOUR)

    assert await world.events(Held) == []
    assert await reminders(world) == [(0, AT + 5 * MINUTE)]


async def test_whoever_answers_meanwhile_is_not_reminded(world: World) -> None:
    looks(world, AMY)
    await asked(world, remind(5))

    await world.until(AT + 6 * MINUTE)
    settled = await world.do(Answer(ONE, acting(AMY), RawAnswer(True)))
    await world.until(AT + 2 * HOUR)

    assert not settled.is_open
    assert await reminders(world) == []


async def test_all_of_them_have_to_look(world: World) -> None:
    looks(world, AMY, LIA)
    await asked(world, remind(5), by=(AMY, BEN))
    await world.until(AT + 6 * MINUTE)
    one_looked = await reminders(world)

    looks(world, AMY, BEN)
    await world.ask(approval(remind(5), asked=(AMY, BEN), time_limit=HOUR))
    await world.until(AT + 12 * MINUTE)

    assert one_looked == [(0, AT + 5 * MINUTE)]
    (held,) = await world.events(Held, 2)
    assert held.looking == (AMY.id, BEN.id)
    assert held.sentence == "The first reminder waits until 2026-06-02 12:16:00 UTC: Amy and Ben have the inbox open."


async def test_whoever_has_voted_need_not_look(world: World) -> None:
    looks(world, BEN)
    policy = Policy((Panel("both", 2, people=(AMY.id, BEN.id)),))
    await world.ask(approval(remind(5), asked=(AMY, BEN), policy=policy, time_limit=HOUR))

    await world.do(Answer(ONE, acting(AMY), RawAnswer(True)))
    await world.until(AT + 2 * HOUR)

    assert [held.looking for held in await world.events(Held)] == [(BEN.id,)]
    assert await reminders(world) == [(0, AT + 10 * MINUTE)]


async def test_where_nobody_is_reminded_by_name_nothing_waits(world: World) -> None:
    looks(world, AMY, BEN, LIA)
    await asked(world, remind(5), by=())

    await world.until(AT + 6 * MINUTE)

    assert await reminders(world) == [(0, AT + 5 * MINUTE)]


async def test_an_urgent_question_is_before_their_eyes_too(world: World) -> None:
    looks(world, AMY)
    await world.ask(approval(remind(5), asked=(AMY,), time_limit=HOUR, urgency=Urgency.URGENT))

    await world.until(AT + 2 * HOUR)

    assert await reminders(world) == [(0, AT + 10 * MINUTE)]


async def test_a_step_that_is_not_to_wait_does_not(world: World) -> None:
    looks(world, AMY)
    await asked(world, remind(5, holds=False), remind(20))

    await world.until(AT + 2 * HOUR)

    assert await reminders(world) == [(0, AT + 5 * MINUTE), (1, AT + 20 * MINUTE)]


async def test_later_reminders_and_rungs_come_as_they_would(world: World) -> None:
    looks(world, AMY, BEN, LIA)
    await asked(world, escalate(2, "person:p_ben"), remind(5), escalate(15, "role:lead"), remind(20), remind(40))

    await world.until(AT + 2 * HOUR)

    assert [held.step for held in await world.events(Held)] == [1]
    assert await reminders(world) == [(1, AT + 10 * MINUTE), (3, AT + 20 * MINUTE), (4, AT + 40 * MINUTE)]
    assert await world.times(Escalated) == [AT + 2 * MINUTE, AT + 15 * MINUTE]
    assert await world.times(Expired) == [AT + HOUR]


@pytest.mark.parametrize(
    ("minutes", "limit", "reminded"),
    [
        pytest.param(2, 60, 4, id="as long again as it took to fall due"),
        pytest.param(20, 60, 25, id="five minutes at most"),
        pytest.param(300, None, 305, id="five minutes at most without a deadline"),
        pytest.param(7.5, 15, 11.25, id="half of the time that is left"),
        pytest.param(14, 15, 14.5, id="half of the last minute"),
    ],
)
async def test_it_waits_no_longer_than_it_may(world: World, minutes: float, limit: int | None, reminded: float) -> None:
    looks(world, AMY)
    await asked(world, remind(minutes), limit=None if limit is None else limit * MINUTE)

    await world.until(AT + 10 * HOUR)

    assert await reminders(world) == [(0, AT + reminded * MINUTE)]


async def test_a_reminder_a_moment_before_the_deadline_is_not_lost(world: World) -> None:
    looks(world, AMY)
    moment = timedelta(milliseconds=1)
    await asked(world, Step(remind(5).kind, HOUR - moment))

    await world.until(AT + 2 * HOUR)

    assert await reminders(world) == [(0, AT + HOUR - moment)]


async def test_nobody_else_hears_of_it_before_those_who_look_are_reminded(world: World) -> None:
    looks(world, AMY)
    await asked(world, remind(5), escalate(7, "role:lead"))

    await world.until(AT + 2 * HOUR)

    assert [held.until for held in await world.events(Held)] == [AT + 7 * MINUTE]
    assert await reminders(world) == [(0, AT + 7 * MINUTE)]
    assert await world.times(Escalated) == [AT + 7 * MINUTE]
    history = await world.backend.reader.history(ONE)
    assert [stored.name for stored in history][2:4] == ["question.reminded", "question.escalated"]


async def test_where_the_next_reminder_is_due_before_one_is_enough(world: World) -> None:
    looks(world, AMY)
    await asked(world, remind(5), remind(6), remind(20))

    await world.until(AT + 2 * HOUR)

    assert await reminders(world) == [(1, AT + 6 * MINUTE), (2, AT + 20 * MINUTE)]


async def test_it_is_not_foretold_when_the_question_is_asked(world: World) -> None:
    looks(world, AMY)
    await asked(world, remind(5))

    assert await world.events(Held) == []


ANNA = person("Anna", zone=BERLIN, working=OFFICE)
NINE = local(BERLIN, 2026, 6, 3, 9, 0)
FIVE = local(BERLIN, 2026, 6, 2, 17, 0)


async def test_in_the_morning_whoever_looks_already_is_spared_and_the_deadline_stays(world: World) -> None:
    world.roster = roster(ANNA)
    looks(world, ANNA)

    put_off = await world.ask(approval(remind(7.5), asked=(ANNA,)), at=local(BERLIN, 2026, 6, 2, 22, 0))
    await world.until(NINE + HOUR)

    assert put_off.deadline == NINE + 7.5 * MINUTE
    assert await world.times(Held) == [put_off.asked_at, NINE]
    assert await reminders(world) == [(0, NINE + 3.75 * MINUTE)]
    assert await world.times(Expired) == [NINE + 7.5 * MINUTE]


async def test_nobody_is_spared_into_their_evening(world: World) -> None:
    """Otherwise the reminder would come in the morning, and the deadline would wait for it."""
    world.roster = roster(ANNA)
    looks(world, ANNA)

    await world.ask(approval(remind(7.5), asked=(ANNA,)), at=FIVE - 10 * MINUTE)
    await world.until(NINE)

    assert await world.events(Held) == []
    assert await reminders(world) == [(0, FIVE - 2.5 * MINUTE)]
    assert await world.times(Expired) == [FIVE + 5 * MINUTE]


async def test_an_urgent_question_knows_no_evening(world: World) -> None:
    world.roster = roster(ANNA)
    looks(world, ANNA)

    await world.ask(approval(remind(7.5), asked=(ANNA,), urgency=Urgency.URGENT), at=FIVE - 10 * MINUTE)
    await world.until(NINE)

    assert await reminders(world) == [(0, FIVE - 10 * MINUTE + 11.25 * MINUTE)]


async def test_whoever_leaves_early_is_reminded_in_the_morning_and_the_deadline_waits_no_longer_than_for_that(
    world: World,
) -> None:
    """Her hours change while the reminder waits, so that it waits again; the sparing itself moves no deadline."""
    world.roster = roster(ANNA)
    looks(world, ANNA)
    begin = FIVE - 2 * HOUR
    await world.ask(approval(remind(7.5), asked=(ANNA,)), at=begin)
    await world.until(begin + 8 * MINUTE)

    world.roster = roster(person("Anna", zone=BERLIN, working="mon-fri 09:00-14:00"))
    await world.until(NINE + HOUR)

    waited = NINE - (begin + 11.25 * MINUTE)
    assert await world.times(Held) == [begin + 7.5 * MINUTE, begin + 11.25 * MINUTE]
    assert await reminders(world) == [(0, NINE)]
    assert await world.times(Expired) == [begin + 15 * MINUTE + waited]


@pytest.mark.parametrize("acknowledges", [True, False])
async def test_what_was_put_off_by_hand_is_spared_once_all_the_same(world: World, acknowledges: bool) -> None:
    looks(world, AMY)
    await asked(world, remind(5), limit=10 * HOUR)
    await world.until(AT + 6 * MINUTE)
    until = AT + 21 * MINUTE

    await world.do(Acknowledge(ONE, acting(AMY)) if acknowledges else Snooze(ONE, acting(AMY), until))
    await world.until(AT + HOUR)

    assert await world.times(Held) == [AT + 5 * MINUTE]
    assert await reminders(world) == [(0, until)]


async def test_what_was_put_off_before_it_was_due_is_spared_when_it_is(world: World) -> None:
    looks(world, AMY)
    await asked(world, remind(5), limit=10 * HOUR)

    await world.do(Snooze(ONE, acting(AMY), AT + 20 * MINUTE))
    await world.until(AT + HOUR)

    assert await reminders(world) == [(0, AT + 25 * MINUTE)]


async def test_handing_over_to_somebody_who_looks_spares_nobody_again(world: World) -> None:
    looks(world, AMY, BEN)
    await asked(world, remind(5))
    await world.until(AT + 6 * MINUTE)

    await world.do(Reassign(ONE, acting(AMY), "Ben"))
    await world.until(AT + HOUR / 2)

    assert len(await world.events(Held)) == 1
    assert [(event.people, event.at) for event in await world.events(Reminded)] == [((BEN.id,), AT + 10 * MINUTE)]


async def test_a_reminder_that_waits_stands_still_with_the_clock(world: World) -> None:
    looks(world, AMY)
    await asked(world, remind(5))
    await world.until(AT + 6 * MINUTE)
    await world.do(Remark(ONE, acting(AMY), "Which one?"))
    await world.until(AT + HOUR)
    await world.do(Remark(ONE, AGENT, "The big one."))
    await world.until(AT + 5 * HOUR)

    assert await world.events(Resumed) == []
    assert await reminders(world) == [(0, AT + HOUR + 4 * MINUTE)]


async def test_somebodys_own_nudge_goes_out_at_once(world: World) -> None:
    looks(world, AMY)
    await asked(world, remind(5))
    await world.until(AT + 6 * MINUTE)

    await world.do(Remind(ONE, acting(LIA)))
    await world.until(AT + HOUR)

    assert await reminders(world) == [(None, AT + 6 * MINUTE), (0, AT + 10 * MINUTE)]


@pytest.mark.parametrize(("swept", "reminded"), [(7, 10), (10, 10), (20, 20)])
async def test_after_an_outage_it_comes_no_later_than_it_would_have(world: World, swept: int, reminded: int) -> None:
    looks(world, AMY)
    await asked(world, remind(5))

    await world.outage(AT + swept * MINUTE)
    await world.until(AT + 2 * HOUR)

    assert await reminders(world) == [(0, AT + reminded * MINUTE)]


async def test_after_an_outage_the_last_of_several_reminders_is_not_the_first(world: World) -> None:
    looks(world, AMY)
    await asked(world, remind(5), remind(10))

    await world.outage(AT + 11 * MINUTE)
    await world.until(AT + 2 * HOUR)

    assert await reminders(world) == [(1, AT + 11 * MINUTE)]


async def test_a_stand_in_who_looks_is_spared(world: World) -> None:
    away = person("Amy", away_until=AT + 24 * HOUR, stand_in=BEN.id)
    world.roster = roster(away, BEN)
    looks(world, BEN)
    await asked(world, remind(5))

    await world.until(AT + HOUR / 2)

    assert [event.people for event in await world.events(Reminded)] == [(BEN.id,)]
    assert await reminders(world) == [(0, AT + 10 * MINUTE)]


async def test_somebody_who_signed_in_under_an_older_id_looks_as_well(world: World) -> None:
    older = replace(AMY, id=PersonId("p_older"), merged_into=AMY.id)
    world.roster = roster(AMY, older)
    looks(world, older)
    await asked(world, remind(5))

    await world.until(AT + HOUR / 2)

    assert await reminders(world) == [(0, AT + 10 * MINUTE)]


async def test_however_often_somebody_looks_at_it_meanwhile_it_waits_once(world: World) -> None:
    looks(world, AMY)
    await asked(world, remind(5))
    await world.until(AT + 5 * MINUTE)

    for _ in range(20):
        world.clock.now += 14 * timedelta(seconds=1)
        done = await world.engine.handle(Tick(ONE))
        assert isinstance(done, Handled)
        assert done.question is not None
        assert done.question.version == 2
    await world.until(AT + HOUR / 2)

    assert await reminders(world) == [(0, AT + 10 * MINUTE)]


async def test_other_surfaces_say_nothing_until_then_and_then_once(world: World) -> None:
    board = Board()
    deliverer = world.deliverer(board)
    looks(world, AMY)
    await world.ask(approval(remind(5), asked=(AMY,), time_limit=HOUR, route=((Target("slack", "here"),),)))
    await deliverer.deliver()

    await world.until(AT + 9 * MINUTE)
    await deliverer.deliver()
    silent = list(board.said)
    await world.until(AT + HOUR / 2)
    await deliverer.deliver()

    assert silent == []
    assert [(said.address, said.sentence) for said in board.said] == [
        ("here", "Reminder: nobody has answered for 10 min. It waits for Amy.")
    ]


async def test_the_auditor_agrees_that_it_waits_and_for_how_long(world: World) -> None:
    looks(world, AMY)
    auditor = Auditor(world.backend.reader, world.backend.store)
    await asked(world, remind(5))
    await world.until(AT + 5 * MINUTE)

    world.clock.now = AT + 5 * MINUTE + LONGEST_SPARING + GRACE
    in_time = await auditor.examine()
    world.clock.now += timedelta(milliseconds=1)
    late = await auditor.examine()
    await world.sweeper.sweep()

    assert in_time == []
    assert late == [Neglected(ONE, "its next step is overdue by 1 min")]
    assert await auditor.examine() == []
    assert len(await reminders(world)) == 1
