"""What people do about a question that climbs: look at it, put it off, nudge, hand it over, ask back."""

from datetime import timedelta

import pytest

from core.answers import RawAnswer
from core.commands import Acknowledge, Answer, Reassign, Remark, Remind, Snooze, Withdraw
from core.events import Acknowledged, Escalated, Expired, Held, Reassigned, Reminded, Resumed, Snoozed
from core.ladder import next_step_at
from core.people import Role
from core.policies import Panel, Policy
from core.refusals import Reason
from tests.ladder.world import (
    BERLIN,
    HOUR,
    MINUTE,
    OFFICE,
    World,
    approval,
    escalate,
    handles,
    local,
    person,
    remind,
    roster,
    utc,
)
from tests.support.builders import AGENT, acting, question_id

AT = utc(2026, 6, 2, 12)
AMY, BEN = person("Amy"), person("Ben")
LEA, MAX = person("Lea", Role.LEAD), person("Max", Role.MEMBER)
EVERYBODY = roster(AMY, BEN, LEA, MAX, groups={"approvers": (AMY, BEN), "visitors": (MAX,), "mixed": (MAX, BEN)})
ONE = question_id(1)


@pytest.fixture(autouse=True)
async def asked(world: World) -> None:
    """Asked at noon for an hour: reminders after 20 and 40 minutes, the leads after 30."""
    world.roster = EVERYBODY
    steps = (remind(20), escalate(30, "role:lead"), remind(40))
    await world.ask(approval(*steps, asked=(AMY,), time_limit=HOUR), at=AT)


async def test_acknowledging_keeps_all_steps_back_and_says_so(world: World) -> None:
    await world.until(AT + 19 * MINUTE)

    seen = await world.do(Acknowledge(ONE, acting(AMY, "slack")))
    await world.until(AT + 2 * HOUR)

    (event,) = await world.events(Acknowledged)
    assert event.until == AT + 34 * MINUTE
    assert event.sentence == "Amy is looking at it. Reminders and escalation wait until 2026-06-02 12:34:00 UTC."
    assert seen.acknowledged is not None
    assert (seen.acknowledged.by.name, seen.acknowledged.by.surface) == ("Amy", "slack")
    assert next_step_at(seen) == AT + 34 * MINUTE
    assert seen.deadline == AT + HOUR
    # the whole ladder moved by 14 minutes, so nothing comes all at once
    assert await world.times(Reminded) == [AT + 34 * MINUTE, AT + 54 * MINUTE]
    assert await world.times(Escalated) == [AT + 44 * MINUTE]


async def test_acknowledging_long_before_the_first_step_moves_nothing(world: World) -> None:
    before = await world.question()

    after = await world.do(Acknowledge(ONE, acting(AMY)))

    assert after.agenda == before.agenda


async def test_acknowledging_twice_never_brings_a_step_forward(world: World) -> None:
    await world.until(AT + 19 * MINUTE)
    first = await world.do(Acknowledge(ONE, acting(AMY)))
    await world.until(AT + 20 * MINUTE)
    second = await world.do(Acknowledge(ONE, acting(BEN)))

    assert next_step_at(first) == AT + 34 * MINUTE
    assert next_step_at(second) == AT + 35 * MINUTE


async def test_whoever_looks_at_it_and_forgets_is_reminded_while_half_the_time_is_left(world: World) -> None:
    await world.until(AT + 39 * MINUTE)

    seen = await world.do(Acknowledge(ONE, acting(AMY)))
    await world.until(AT + 3 * HOUR)

    assert next_step_at(seen) == AT + 49.5 * MINUTE
    assert await world.times(Reminded) == [AT + 20 * MINUTE, AT + 49.5 * MINUTE]
    assert await world.times(Expired) == [AT + HOUR]


async def test_somebody_who_may_not_answer_does_not_keep_steps_back_and_a_lead_no_more_than_others(
    world: World,
) -> None:
    policy = Policy((Panel("Amy", people=(AMY.id,)),))
    await world.ask(approval(remind(20), asked=(AMY,), policy=policy))

    member = await world.refusal(Acknowledge(question_id(2), acting(MAX)))
    lead = await world.refusal(Acknowledge(question_id(2), acting(LEA)))

    assert (member.reason, lead.reason) == (Reason.NOT_A_RESPONDER,) * 2
    assert member.sentence == "Max is not among the people who may answer this question."
    assert lead.sentence == "Lea is not among the people who may answer this question."


@pytest.mark.parametrize(
    "command", [Acknowledge(ONE, AGENT), Snooze(ONE, AGENT, AT + HOUR), Remind(ONE, AGENT), Reassign(ONE, AGENT, "Ben")]
)
async def test_agents_do_none_of_it(world: World, command: Acknowledge | Snooze | Remind | Reassign) -> None:
    refused = await world.refusal(command)

    assert refused.reason is Reason.NOT_ALLOWED
    assert refused.sentence == "Only people do this; use a key that belongs to a person."


async def test_snoozing_moves_the_steps_and_never_the_deadline(world: World) -> None:
    snoozed = await world.do(Snooze(ONE, acting(AMY), AT + 35 * MINUTE))
    await world.until(AT + 2 * HOUR)

    (event,) = await world.events(Snoozed)
    assert event.sentence == "Amy wants no reminders before 2026-06-02 12:35:00 UTC. The deadline stays."
    assert snoozed.deadline == AT + HOUR
    assert await world.times(Reminded) == [AT + 35 * MINUTE, AT + 55 * MINUTE]
    assert await world.times(Escalated) == [AT + 45 * MINUTE]
    assert await world.times(Expired) == [AT + HOUR]


async def test_a_snooze_leaves_a_quarter_of_the_time_to_be_told(world: World) -> None:
    await world.do(Snooze(ONE, acting(AMY), AT + 3 * HOUR))
    await world.until(AT + 3 * HOUR)

    assert await world.times(Reminded) == [AT + 45 * MINUTE]
    assert await world.times(Escalated) == [AT + 55 * MINUTE]


@pytest.mark.parametrize("until", [AT, AT - MINUTE, AT + 24 * HOUR + timedelta(milliseconds=1)])
async def test_a_snooze_reaches_no_further_than_a_day_and_never_back(world: World, until: object) -> None:
    refused = await world.refusal(Snooze(ONE, acting(AMY), until))  # type: ignore[arg-type]

    assert (refused.reason, refused.pointer) == (Reason.SNOOZE_OUT_OF_RANGE, "/until")
    assert refused.sentence == "Snooze until an instant within the next 24 h."


async def test_a_lead_may_snooze_what_somebody_else_has_to_answer_and_a_member_may_not(world: World) -> None:
    policy = Policy((Panel("Amy", people=(AMY.id,)),))
    await world.ask(approval(remind(20), asked=(AMY,), policy=policy))

    refused = await world.refusal(Snooze(question_id(2), acting(MAX), AT + HOUR))
    await world.do(Snooze(question_id(2), acting(LEA), AT + 24 * HOUR))

    assert refused.reason is Reason.NOT_A_RESPONDER


async def test_a_snooze_to_a_fraction_of_a_millisecond_is_kept_at_the_next_whole_one(world: World) -> None:
    """Stores keep no finer instants: a step between two of them would be looked for too soon, and come a lease late."""
    snoozed = await world.do(Snooze(ONE, acting(AMY), AT + 35 * MINUTE + timedelta(microseconds=123_456)))
    await world.until(AT + 36 * MINUTE)

    due = AT + 35 * MINUTE + timedelta(milliseconds=124)
    assert next_step_at(snoozed) == due
    assert await world.times(Reminded) == [due]


async def test_a_snooze_into_the_night_holds_the_step_there_until_the_morning(world: World) -> None:
    kim = person("Kim", zone=BERLIN, working=OFFICE)
    world.roster = roster(kim)
    afternoon, nine = local(BERLIN, 2026, 6, 2, 16, 0), local(BERLIN, 2026, 6, 3, 9, 0)
    await world.ask(approval(remind(5), asked=(kim,), time_limit=24 * HOUR), at=afternoon)

    await world.do(Snooze(question_id(2), acting(kim), afternoon + 2 * HOUR))
    await world.until(nine + HOUR)

    assert [(held.at, held.until) for held in await world.events(Held, 2)] == [(afternoon + 2 * HOUR, nine)]
    assert await world.times(Reminded, 2) == [nine]


async def test_a_nudge_by_hand_goes_to_those_who_are_asked_and_not_twice_in_a_minute(world: World) -> None:
    nudged = await world.do(Remind(ONE, acting(LEA)))
    refused = await world.refusal(Remind(ONE, acting(BEN)))
    await world.until(AT + MINUTE - timedelta(milliseconds=1))
    still = await world.refusal(Remind(ONE, acting(BEN)))
    await world.until(AT + MINUTE)
    await world.do(Remind(ONE, acting(BEN)))

    first, second = await world.events(Reminded)
    assert (first.sentence, first.people, first.step) == ("Lea sent a reminder to Amy.", (AMY.id,), None)
    assert first.by is not None
    assert first.by.id == LEA.id
    assert second.sentence == "Ben sent a reminder to Amy."
    assert (refused.reason, refused.sentence) == (Reason.TOO_SOON, "They were nudged less than 1 min ago.")
    assert still.reason is Reason.TOO_SOON
    assert len(nudged.agenda) == 3


async def test_a_nudge_by_hand_right_after_a_reminder_is_one_too_many(world: World) -> None:
    await world.until(AT + 20 * MINUTE)

    refused = await world.refusal(Remind(ONE, acting(LEA)))

    assert refused.reason is Reason.TOO_SOON


async def test_a_nudge_by_hand_takes_no_step_away(world: World) -> None:
    await world.until(AT + 19 * MINUTE)
    await world.do(Remind(ONE, acting(LEA)))

    await world.until(AT + HOUR)

    assert await world.times(Reminded) == [AT + 19 * MINUTE, AT + 20 * MINUTE, AT + 40 * MINUTE]


async def test_a_nudge_by_hand_while_the_clock_stands_still_takes_no_step_away(world: World) -> None:
    """While it stands, steps are not due, though their instants pass."""
    await world.do(Remark(ONE, acting(AMY), "Which one?"))
    await world.until(AT + 50 * MINUTE)

    nudged = await world.do(Remind(ONE, acting(LEA)))

    assert [planned.step for planned in nudged.agenda] == [0, 1, 2]


async def test_handing_over_puts_it_to_others_and_forgets_who_was_looking(world: World) -> None:
    await world.do(Acknowledge(ONE, acting(AMY)))

    after = await world.do(Reassign(ONE, acting(AMY), "Ben", "she knows the database"))
    await world.until(AT + 25 * MINUTE)

    (event,) = await world.events(Reassigned)
    assert event.sentence == "Amy put this to Ben: she knows the database"
    assert (after.asked, after.acknowledged) == ((BEN.id,), None)
    assert [event.people for event in await world.events(Reminded)] == [(BEN.id,)]


async def test_handing_over_never_gives_authority(world: World) -> None:
    policy = world.roster.people[MAX.id], await world.question()

    alone = await world.refusal(Reassign(ONE, acting(LEA), "Max"))
    group = await world.refusal(Reassign(ONE, acting(LEA), "visitors"))
    mixed = await world.do(Reassign(ONE, acting(LEA), "mixed"))
    answer = await world.refusal(Answer(ONE, acting(MAX), RawAnswer(True)))

    assert (alone.reason, alone.pointer) == (Reason.NOT_A_RESPONDER, "/to")
    assert alone.sentence == "Max may not answer this question, and handing it over does not change that."
    assert group.sentence == "visitors may not answer this question, and handing it over does not change that."
    assert mixed.asked == (BEN.id,)
    assert mixed.policy == policy[1].policy
    assert answer.reason is Reason.NOT_A_RESPONDER


async def test_handing_over_to_nobody_is_refused_and_to_the_away_reaches_their_stand_in(world: World) -> None:
    zoe = person("Zoe", away_until=AT + 24 * HOUR, stand_in=BEN.id)
    world.roster = roster(AMY, BEN, zoe, groups={"empty": ()})

    nobody = await world.refusal(Reassign(ONE, acting(AMY), "Nobody"))
    empty = await world.refusal(Reassign(ONE, acting(AMY), "empty"))
    away = await world.do(Reassign(ONE, acting(AMY), "Zoe"))

    assert (nobody.reason, nobody.pointer) == (Reason.NOBODY_CALLED_THAT, "/to")
    assert nobody.sentence == "There is no person and no group with people called “Nobody”."
    assert empty.reason is Reason.NOBODY_CALLED_THAT
    assert away.asked == (BEN.id,)


async def test_somebody_who_may_not_answer_and_leads_nobody_hands_nothing_over(world: World) -> None:
    refused = await world.refusal(Reassign(ONE, acting(MAX), "Ben"))

    assert (refused.reason, refused.sentence) == (
        Reason.NOT_A_RESPONDER,
        "Max is not among the people who may answer this question.",
    )


async def test_asking_back_pauses_the_steps_with_the_clock(world: World) -> None:
    await world.until(AT + 10 * MINUTE)
    paused = await world.do(Remark(ONE, acting(AMY), "Which one?"))
    await world.until(AT + 3 * HOUR)
    meanwhile = await world.events(Reminded)
    assert next_step_at(paused) is None

    resumed = await world.do(Remark(ONE, AGENT, "The big one."))
    stood = 3 * HOUR - 10 * MINUTE
    await world.until(AT + 6 * HOUR)

    assert meanwhile == []
    assert (next_step_at(resumed), resumed.deadline) == (AT + 20 * MINUTE + stood, AT + HOUR + stood)
    assert await world.times(Reminded) == [AT + 20 * MINUTE + stood, AT + 40 * MINUTE + stood]
    assert await world.times(Escalated) == [AT + 30 * MINUTE + stood]
    assert await world.times(Expired) == [AT + HOUR + stood]


async def test_a_pause_that_nobody_ends_is_over_after_a_day_and_the_steps_go_on(world: World) -> None:
    await world.until(AT + 10 * MINUTE)
    await world.do(Remark(ONE, acting(AMY), "Which one?"))
    await world.until(AT + 48 * HOUR)

    assert await world.times(Resumed) == [AT + 24 * HOUR + 10 * MINUTE]
    assert await world.times(Reminded) == [AT + 24 * HOUR + 20 * MINUTE, AT + 24 * HOUR + 40 * MINUTE]
    assert await world.times(Expired) == [AT + 25 * HOUR]


@pytest.mark.parametrize("acknowledges", [True, False])
async def test_keeping_steps_back_while_the_clock_stands_still_does_not_lose_them(
    world: World, acknowledges: bool
) -> None:
    await world.until(AT + 10 * MINUTE)
    await world.do(Remark(ONE, acting(AMY), "Which one?"))
    await world.until(AT + 3 * HOUR)
    until = AT + 3 * HOUR + 15 * MINUTE
    await world.do(Acknowledge(ONE, acting(AMY)) if acknowledges else Snooze(ONE, acting(AMY), until))

    resumed = await world.do(Remark(ONE, AGENT, "The big one."))
    await world.until(AT + 6 * HOUR)

    # ten minutes were left until the first reminder; it comes five minutes later, and the others after it
    assert resumed.deadline == AT + 3 * HOUR + 50 * MINUTE
    assert await world.times(Reminded) == [until, until + 20 * MINUTE]
    assert await world.times(Escalated) == [until + 10 * MINUTE]


async def test_after_an_outage_reminders_collapse_into_one_and_each_rung_happens_once(world: World) -> None:
    leads = person("Lia", Role.LEAD)
    world.roster = roster(AMY, LEA, leads)
    steps = (remind(5), escalate(6, "role:lead"), remind(10), escalate(12, "person:p_lia"), remind(15), remind(50))
    await world.ask(approval(*steps, asked=(AMY,), time_limit=HOUR))

    await world.outage(AT + 18 * MINUTE)
    await world.until(AT + 49 * MINUTE)

    assert await world.times(Reminded, 2) == [AT + 18 * MINUTE]
    assert [event.step for event in await world.events(Reminded, 2)] == [4]
    assert [(event.step, event.at) for event in await world.events(Escalated, 2)] == [
        (1, AT + 18 * MINUTE),
        (3, AT + 18 * MINUTE),
    ]


async def test_an_outage_over_the_deadline_leaves_no_step(world: World) -> None:
    await world.outage(AT + 2 * HOUR)

    assert await world.times(Expired) == [AT + 2 * HOUR]
    assert await world.events(Reminded) == []
    assert await world.events(Escalated) == []


async def test_of_reminders_that_collapse_the_last_may_wait_while_an_earlier_one_is_done(world: World) -> None:
    kim = person("Kim", zone=BERLIN, working="daily 09:00-12:00")
    world.roster = roster(AMY, kim, groups={"kims": (kim,)})
    steps = (remind(5), remind(10, audience=("group:kims",)))
    await world.ask(approval(*steps, asked=(AMY,), time_limit=24 * HOUR))

    await world.outage(AT + 20 * MINUTE)
    await world.until(AT + 23 * HOUR)

    nine = local(BERLIN, 2026, 6, 3, 9, 0)
    assert [(e.step, e.at) for e in await world.events(Reminded, 2)] == [(0, AT + 20 * MINUTE), (1, nine)]


async def test_nothing_is_steered_once_it_is_settled(world: World) -> None:
    await world.do(Withdraw(ONE, AGENT))

    refused = [
        await world.refusal(command)
        for command in (
            Acknowledge(ONE, acting(AMY)),
            Snooze(ONE, acting(AMY), AT + HOUR),
            Remind(ONE, acting(AMY)),
            Reassign(ONE, acting(AMY), "Ben"),
        )
    ]
    await world.until(AT + 3 * HOUR)

    assert {each.reason for each in refused} == {Reason.WITHDRAWN}
    assert {each.sentence for each in refused} == {
        "This question is closed. builder (api) withdrew it at 2026-06-02 12:00:00 UTC."
    }
    assert await world.events(Reminded) == []


async def test_a_rung_adds_people_who_may_decide_only_where_it_says_that_they_join(world: World) -> None:
    policy = Policy((Panel("owners", people=(AMY.id,)),))
    steps = (escalate(5, "person:p_ben"), escalate(10, "person:p_ben", joins="owners"))
    await world.ask(approval(*steps, asked=(AMY,), policy=policy))

    await world.until(AT + 6 * MINUTE)
    told = await world.question(2)
    refused = await world.refusal(Answer(question_id(2), acting(BEN), RawAnswer(True)))
    await world.until(AT + 11 * MINUTE)
    answered = await world.do(Answer(question_id(2), acting(BEN), RawAnswer(True)))

    assert told.asked == (AMY.id, BEN.id)
    assert refused.reason is Reason.NOT_A_RESPONDER
    assert answered.status == "answered"


async def test_a_reminder_is_written_where_its_people_like_it(world: World) -> None:
    kim = person("Kim", handles=handles(discord="D1", slack="U1", email="kim@example.org"))
    world.roster = roster(kim, connected=("slack", "email"))
    await world.ask(approval(remind(5, direct=True, email=True), asked=(kim,)))

    await world.until(AT + 5 * MINUTE)

    (event,) = await world.events(Reminded, 2)
    assert [(target.surface, target.address) for target in event.targets] == [
        ("slack", "@U1"),
        ("email", "kim@example.org"),
    ]
    assert (await world.question(2)).targets == event.targets


async def test_whoever_has_voted_is_reminded_no_more(world: World) -> None:
    policy = Policy((Panel("both", 2, people=(AMY.id, MAX.id)),))
    await world.ask(approval(remind(5), asked=(AMY, MAX), policy=policy))

    await world.do(Answer(question_id(2), acting(AMY), RawAnswer(True)))
    await world.until(AT + 6 * MINUTE)

    assert [event.people for event in await world.events(Reminded, number=2)] == [(MAX.id,)]
