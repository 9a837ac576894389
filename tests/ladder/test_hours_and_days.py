"""Steps that wait for people: nights, weekends, the days on which clocks change, absences and handovers."""

from datetime import datetime, timedelta

import pytest

from core.answers import RawAnswer
from core.asking import Draft, DraftAction, House, compose
from core.commands import Answer
from core.deadlines import TimeLimits
from core.events import Escalated, Expired, Held, Reminded
from core.freezing import Ground
from core.kinds import Kind
from core.people import Person, Role
from core.question import Spec, Status, Urgency
from core.rulebook import AnswerRule, LadderRule, Match, Rulebook, Seats, StepRule
from core.schedules import Override, Rotation, Schedule
from core.steps import Step, StepKind
from tests.ladder.world import (
    BERLIN,
    HOUR,
    MINUTE,
    NEW_YORK,
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
from tests.support.builders import ASKER, WORKSPACE, acting, question_id, spec

ANNA = person("Anna", zone=BERLIN, working=OFFICE)
NICK = person("Nick", zone=NEW_YORK, working=OFFICE)
DAILY = "daily 09:00-17:00"


def unlimited(*steps: Step, asked: tuple[Person, ...]) -> Spec:
    return spec(Kind.NON_BLOCKING, time_limit=None, ladder=steps, asked=tuple(p.id for p in asked))


CHANGES = [
    pytest.param(BERLIN, (2026, 3, 28), 12, id="spring in Berlin"),
    pytest.param(BERLIN, (2026, 10, 24), 14, id="autumn in Berlin"),
    pytest.param(NEW_YORK, (2026, 3, 7), 12, id="spring in New York"),
    pytest.param(NEW_YORK, (2026, 10, 31), 14, id="autumn in New York"),
]


@pytest.mark.parametrize(("zone", "saturday", "hours"), CHANGES)
async def test_over_the_night_the_clocks_change_a_step_waits_until_nine_by_the_clock_on_the_wall(
    world: World, zone: str, saturday: tuple[int, int, int], hours: int
) -> None:
    kim = person("Kim", zone=zone, working=DAILY)
    world.roster = roster(kim)
    evening, morning = local(zone, *saturday, 20, 0), local(zone, *_next_day(saturday), 9, 0)
    assert morning - evening == hours * HOUR

    asked = await world.ask(approval(remind(5), asked=(kim,)), at=evening)
    await world.until(morning + HOUR)

    assert asked.deadline == evening + 15 * MINUTE + (morning - evening - 5 * MINUTE) == morning + 10 * MINUTE
    assert await world.times(Reminded) == [morning]
    assert await world.times(Expired) == [morning + 10 * MINUTE]


def _next_day(day: tuple[int, int, int]) -> tuple[int, int, int]:
    after = datetime(*day) + timedelta(days=1)  # noqa: DTZ001  # a date on the wall
    return after.year, after.month, after.day


@pytest.mark.parametrize(
    ("zone", "friday", "monday", "hours"),
    [
        (BERLIN, (2026, 3, 27), (2026, 3, 30), 63),
        (BERLIN, (2026, 10, 23), (2026, 10, 26), 65),
        (NEW_YORK, (2026, 3, 6), (2026, 3, 9), 63),
        (NEW_YORK, (2026, 10, 30), (2026, 11, 2), 65),
        (BERLIN, (2026, 6, 5), (2026, 6, 8), 64),
    ],
)
async def test_over_a_weekend_with_and_without_a_clock_change(
    world: World, zone: str, friday: tuple[int, int, int], monday: tuple[int, int, int], hours: int
) -> None:
    kim = person("Kim", zone=zone, working=OFFICE)
    world.roster = roster(kim)
    closing = local(zone, *friday, 17, 0)

    await world.ask(unlimited(remind(5), asked=(kim,)), at=closing - 5 * MINUTE)
    await world.until(closing + 80 * HOUR)

    (held,) = await world.events(Held)
    assert held.until == local(zone, *monday, 9, 0) == closing + hours * HOUR
    assert await world.times(Reminded) == [held.until]


async def test_a_window_that_starts_in_the_missing_hour_starts_when_that_hour_is_over(world: World) -> None:
    kim = person("Kim", zone=BERLIN, working="daily 02:30-10:00")
    world.roster = roster(kim)

    await world.ask(unlimited(remind(5), asked=(kim,)), at=local(BERLIN, 2026, 3, 28, 20, 0))
    await world.until(utc(2026, 3, 29, 12))

    assert await world.times(Reminded) == [utc(2026, 3, 29, 1)]


async def test_quiet_hours_end_at_the_first_reading_of_an_hour_that_comes_twice(world: World) -> None:
    kim = person("Kim", zone=BERLIN, quiet="daily 22:00-02:30")
    world.roster = roster(kim)

    await world.ask(unlimited(remind(5), asked=(kim,)), at=local(BERLIN, 2026, 10, 24, 23, 0))
    await world.until(utc(2026, 10, 25, 12))

    assert await world.times(Reminded) == [utc(2026, 10, 25, 0, 30)]


async def test_asked_on_friday_at_five_to_five_what_fits_is_done_and_the_rest_comes_on_monday(world: World) -> None:
    world.roster = roster(ANNA)
    at, monday = local(BERLIN, 2026, 6, 5, 16, 55), local(BERLIN, 2026, 6, 8, 9, 0)
    steps = (remind(3), remind(7), escalate(12, "role:lead"), remind(20))

    await world.ask(unlimited(*steps, asked=(ANNA,)), at=at)
    foreseen = [(held.at, held.step, held.until) for held in await world.events(Held)]
    await world.until(monday + HOUR)

    # nobody is a lead, so the rung waits for nobody; the reminders that waited keep their distance
    assert foreseen == [(at, 1, monday), (at, 3, monday + 13 * MINUTE)]
    assert await world.times(Reminded) == [at + 3 * MINUTE, monday, monday + 13 * MINUTE]
    assert await world.times(Escalated) == [at + 12 * MINUTE]


async def test_an_approval_asked_on_friday_evening_waits_24_hours_and_no_longer(world: World) -> None:
    world.roster = roster(ANNA)
    at = local(BERLIN, 2026, 6, 5, 16, 55)

    asked = await world.ask(approval(remind(7.5), asked=(ANNA,)), at=at)
    await world.until(at + 80 * HOUR)

    assert (asked.deadline, asked.extended) == (at + 15 * MINUTE + 24 * HOUR, 24 * HOUR)
    assert await world.times(Expired) == [at + 15 * MINUTE + 24 * HOUR]
    assert await world.events(Reminded) == []


LATE = local(BERLIN, 2026, 6, 2, 22, 0)  # a Tuesday
NINE = local(BERLIN, 2026, 6, 3, 9, 0)


async def test_an_approval_asked_at_night_does_not_expire_overnight_unseen(world: World) -> None:
    world.roster = roster(ANNA)

    asked = await world.ask(approval(remind(7.5), asked=(ANNA,)), at=LATE)
    (held,) = await world.events(Held)
    await world.until(NINE + 7 * MINUTE)
    before = await world.question()
    await world.until(NINE + 8 * MINUTE)

    assert (held.at, held.until) == (LATE, NINE)
    assert held.sentence == (
        "The reminder waits for working hours, until 2026-06-03 07:00:00 UTC. The deadline waits with it."
    )
    assert asked.deadline == NINE + 7.5 * MINUTE
    assert [milestone.sentence for milestone in asked.story] == [held.sentence]
    assert before.is_open
    assert await world.times(Reminded) == [NINE]
    assert await world.times(Expired) == [NINE + 7.5 * MINUTE]


async def test_she_can_answer_in_the_morning(world: World) -> None:
    world.roster = roster(ANNA)
    await world.ask(approval(remind(7.5), asked=(ANNA,)), at=LATE)

    await world.until(NINE + 7 * MINUTE)
    settled = await world.do(Answer(question_id(1), acting(ANNA), RawAnswer(True)))

    assert settled.status is Status.ANSWERED


@pytest.mark.parametrize("minutes_before_nine", [24 * 60 + 7.5, 24 * 60 + 8, 24 * 60 + 7])
async def test_the_deadline_waits_for_24_hours_exactly_where_the_hold_is_as_long_or_longer(
    world: World, minutes_before_nine: float
) -> None:
    """A person who works on Wednesdays only, asked around 24 hours and a step before she comes."""
    wendy = person("Wendy", zone=BERLIN, working="wed 09:00-17:00")
    world.roster = roster(wendy)
    at = NINE - minutes_before_nine * MINUTE
    hold = minutes_before_nine * MINUTE - 7.5 * MINUTE

    asked = await world.ask(approval(remind(7.5), asked=(wendy,)), at=at)
    await world.until(NINE + HOUR)

    extended = min(hold, 24 * HOUR)
    assert asked.deadline == at + 15 * MINUTE + extended
    assert await world.times(Expired) == [at + 15 * MINUTE + extended]
    assert await world.times(Reminded) == [NINE]


async def test_a_limit_the_asker_chose_does_not_move(world: World) -> None:
    world.roster = roster(ANNA)

    asked = await world.ask(approval(remind(7.5), asked=(ANNA,), time_limit=15 * MINUTE), at=LATE)
    (held,) = await world.events(Held)
    await world.until(NINE + HOUR)

    assert asked.deadline == LATE + 15 * MINUTE
    assert held.sentence == (
        "The reminder waits for working hours, until 2026-06-03 07:00:00 UTC. "
        "The deadline, 2026-06-02 20:15:00 UTC, comes before it."
    )
    assert await world.times(Expired) == [LATE + 15 * MINUTE]
    assert await world.events(Reminded) == []


async def test_an_urgent_question_does_not_wait(world: World) -> None:
    world.roster = roster(ANNA)

    asked = await world.ask(approval(remind(7.5), asked=(ANNA,), urgency=Urgency.URGENT), at=LATE)
    await world.until(NINE)

    assert asked.deadline == LATE + 15 * MINUTE
    assert await world.events(Held) == []
    assert await world.times(Reminded) == [LATE + 7.5 * MINUTE]


async def test_a_step_that_does_not_hold_does_not_wait(world: World) -> None:
    world.roster = roster(ANNA)

    await world.ask(approval(remind(5, holds=False), remind(7.5), asked=(ANNA,)), at=LATE)
    await world.until(NINE)

    assert [event.step for event in await world.events(Held)] == [1]
    assert await world.times(Reminded) == [LATE + 5 * MINUTE, NINE]


async def test_quiet_hours_hold_as_working_hours_do(world: World) -> None:
    kim = person("Kim", zone=BERLIN, quiet="daily 21:00-07:30")
    world.roster = roster(kim)
    seven = local(BERLIN, 2026, 6, 3, 7, 30)

    asked = await world.ask(approval(remind(7.5), asked=(kim,)), at=LATE)
    await world.until(NINE)

    assert asked.deadline == seven + 7.5 * MINUTE
    assert await world.times(Reminded) == [seven]


async def test_quiet_hours_inside_working_hours_hold_until_both_allow(world: World) -> None:
    kim = person("Kim", zone=BERLIN, working=OFFICE, quiet="daily 08:00-10:15")
    world.roster = roster(kim)

    await world.ask(unlimited(remind(5), asked=(kim,)), at=LATE)
    await world.until(NINE + 5 * HOUR)

    assert await world.times(Reminded) == [NINE + 75 * MINUTE]


async def test_hours_that_never_come_hold_nothing(world: World) -> None:
    kim = person("Kim", zone=BERLIN, working=OFFICE, quiet=OFFICE)
    world.roster = roster(kim)

    await world.ask(approval(remind(5), asked=(kim,)), at=LATE)
    await world.until(NINE)

    assert await world.times(Reminded) == [LATE + 5 * MINUTE]


async def test_one_of_several_at_work_is_enough(world: World) -> None:
    world.roster = roster(ANNA, NICK)

    await world.ask(approval(remind(5), asked=(ANNA, NICK)), at=LATE)  # 16:00 in New York
    await world.until(LATE + HOUR)

    assert await world.times(Reminded) == [LATE + 5 * MINUTE]


async def test_a_rung_whose_people_are_at_work_does_not_wait_for_one_whose_people_are_not(world: World) -> None:
    world.roster = roster(ANNA, NICK, groups={"new york": (NICK,)})

    asked = await world.ask(approval(remind(5), escalate(10, "group:new york"), asked=(ANNA,)), at=LATE)
    await world.until(NINE + HOUR)

    assert asked.deadline == NINE + 10 * MINUTE
    assert [(event.at, event.people) for event in await world.events(Escalated)] == [(LATE + 10 * MINUTE, (NICK.id,))]
    # whom it climbed to is asked from then on, so the reminder reaches both
    (reminded,) = await world.events(Reminded)
    assert (reminded.at, reminded.people) == (NINE, (ANNA.id, NICK.id))


@pytest.mark.parametrize("approvers", [1, 200])
async def test_where_roles_may_answer_the_reminder_and_the_deadline_wait_for_their_holders(
    world: World, approvers: int
) -> None:
    """As with the shipped policy, which names no people. A crowd is not asked one by one, and waited for as well."""
    crowd = [person(f"Anna{number}", zone=BERLIN, working=OFFICE) for number in range(approvers)]
    world.roster = roster(*crowd)
    steps = (StepRule(StepKind.REMIND, 0.5), StepRule(StepKind.ESCALATE, 0.8, ("role:lead",)))
    rules = Rulebook(
        answers=(AnswerRule("approvals", Match(), (Seats(role=Role.APPROVER),)),),
        ladders=(LadderRule("approvals", Match(), steps),),
    )
    house = House(WORKSPACE, TimeLimits(), Ground(rules, world.roster, LATE))
    made = compose(Draft("Deploy?", action=DraftAction("deploy")), ASKER, house)
    assert isinstance(made, Spec)

    asked = await world.ask(made, at=LATE)
    await world.until(NINE + HOUR)

    assert len(made.asked) == (1 if approvers == 1 else 0)
    assert asked.deadline == NINE + 7.5 * MINUTE
    assert await world.times(Reminded) == [NINE]
    assert await world.times(Expired) == [NINE + 7.5 * MINUTE]


NOON = local(BERLIN, 2026, 6, 2, 12, 0)
AWAY = NOON + 48 * HOUR


async def _reminded(world: World, *people: Person) -> list[str]:
    world.roster = roster(*people)
    await world.ask(approval(remind(5), asked=people[:1]), at=NOON)
    await world.until(NOON + 10 * MINUTE)
    (event,) = await world.events(Reminded)
    return list(event.people)


async def test_an_away_approver_is_replaced_by_the_stand_in(world: World) -> None:
    ben, amy = person("Ben"), person("Amy", away_until=AWAY, stand_in="p_ben")

    assert await _reminded(world, amy, ben) == ["p_ben"]


async def test_a_stand_in_who_is_away_too_is_replaced_in_turn(world: World) -> None:
    cat = person("Cat")
    ben = person("Ben", away_until=AWAY, stand_in="p_cat")
    amy = person("Amy", away_until=AWAY, stand_in="p_ben")

    assert await _reminded(world, amy, ben, cat) == ["p_cat"]


async def test_people_who_stand_in_for_each_other_while_both_are_away_do_not_go_round_for_ever(world: World) -> None:
    ben = person("Ben", away_until=AWAY, stand_in="p_amy")
    amy = person("Amy", away_until=AWAY, stand_in="p_ben")

    assert await _reminded(world, amy, ben) == ["p_ben"]


async def test_somebody_away_without_a_stand_in_is_reminded_all_the_same(world: World) -> None:
    assert await _reminded(world, person("Amy", away_until=AWAY)) == ["p_amy"]


async def test_a_stand_in_who_has_left_is_nobody(world: World) -> None:
    amy = person("Amy", away_until=AWAY, stand_in="p_ben")

    assert await _reminded(world, amy, person("Ben", is_active=False)) == ["p_amy"]


async def test_the_hours_that_count_are_those_of_the_stand_in(world: World) -> None:
    ben = person("Ben", zone=NEW_YORK, working=OFFICE)
    amy = person("Amy", zone=BERLIN, working=OFFICE, away_until=AWAY, stand_in="p_ben")
    world.roster = roster(amy, ben)
    opening = local(NEW_YORK, 2026, 6, 2, 9, 0)

    await world.ask(approval(remind(5), asked=(amy,)), at=NOON)  # six in the morning in New York
    await world.until(opening + HOUR)

    assert [(event.at, event.people) for event in await world.events(Reminded)] == [(opening, (ben.id,))]


async def test_whoever_comes_back_before_the_step_is_due_is_reminded_in_person(world: World) -> None:
    ben, amy = person("Ben"), person("Amy", away_until=NOON + 4 * MINUTE, stand_in="p_ben")
    world.roster = roster(amy, ben)

    await world.ask(approval(remind(5), asked=(amy,)), at=NOON)
    await world.until(NOON + 10 * MINUTE)

    assert [event.people for event in await world.events(Reminded)] == [(amy.id,)]


def _rota(*people: Person, overrides: tuple[Override, ...] = ()) -> Schedule:
    turns = Rotation(tuple(p.id for p in people), datetime(2026, 6, 1, 12, 5), 1)  # noqa: DTZ001  # local time
    return Schedule("first line", BERLIN, (turns,), overrides)


async def test_a_handover_between_asking_and_the_rung_counts(world: World) -> None:
    amy, ben = person("Amy"), person("Ben")
    world.roster = roster(amy, ben, schedules=[_rota(amy, ben)])

    await world.ask(approval(escalate(4, "schedule:first line"), escalate(5, "schedule:first line")), at=NOON)
    await world.until(NOON + 10 * MINUTE)

    assert [event.people for event in await world.events(Escalated)] == [(amy.id,), (ben.id,)]


async def test_an_override_made_after_asking_counts(world: World) -> None:
    amy, ben, cat = person("Amy"), person("Ben"), person("Cat")
    world.roster = roster(amy, ben, cat, schedules=[_rota(amy, ben)])
    await world.ask(approval(escalate(4, "schedule:first line")), at=NOON)

    override = Override(cat.id, NOON, NOON + HOUR)
    world.roster = roster(amy, ben, cat, schedules=[_rota(amy, ben, overrides=(override,))])
    await world.until(NOON + 10 * MINUTE)

    assert [event.people for event in await world.events(Escalated)] == [(cat.id,)]


async def test_a_rung_for_a_schedule_that_has_nobody_yet_waits_for_the_first_turn(world: World) -> None:
    amy = person("Amy")
    begins = Rotation((amy.id,), datetime(2026, 6, 2, 18, 0), 7)  # noqa: DTZ001  # local time
    world.roster = roster(amy, schedules=[Schedule("first line", BERLIN, (begins,))])

    asked = await world.ask(approval(escalate(5, "schedule:first line")), at=NOON)
    await world.until(NOON + 12 * HOUR)

    six = local(BERLIN, 2026, 6, 2, 18, 0)
    assert asked.deadline == six + 10 * MINUTE
    assert [(event.at, event.people) for event in await world.events(Escalated)] == [(six, (amy.id,))]


async def test_hours_that_people_change_after_asking_count_when_the_step_is_due(world: World) -> None:
    world.roster = roster(person("Amy"))
    asked = await world.ask(approval(remind(5), asked=(person("Amy"),)), at=LATE)
    world.roster = roster(person("Amy", zone=BERLIN, working=OFFICE))

    await world.until(NINE + HOUR)

    assert asked.deadline == LATE + 15 * MINUTE
    (held,) = await world.events(Held)
    assert (held.at, held.until, held.extended) == (LATE + 5 * MINUTE, NINE, NINE - LATE - 5 * MINUTE)
    assert await world.times(Reminded) == [NINE]
    assert await world.times(Expired) == [NINE + 10 * MINUTE]


async def test_steps_at_once_and_steps_with_the_deadline_are_left_out(world: World) -> None:
    amy = person("Amy")
    world.roster = roster(amy)
    steps = (remind(0.9), remind(1), remind(14.99), escalate(15, "role:lead"), remind(16))

    asked = await world.ask(approval(*steps, asked=(amy,)), at=NOON)
    await world.until(NOON + HOUR)

    assert [planned.step for planned in asked.agenda] == [1, 2]
    assert [event.step for event in await world.events(Reminded)] == [1, 2]
    assert await world.events(Escalated) == []
