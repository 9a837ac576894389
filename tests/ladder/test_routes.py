"""Where a question goes, what happens when it cannot be shown there, and what is said beside it later."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from core.answers import RawAnswer
from core.asking import Draft, DraftAction, House, compose
from core.commands import Answer, Reassign, Remind, Withdraw
from core.deadlines import TimeLimits
from core.delivering import INBOX, delivery_state
from core.delivery import Deliverer
from core.engine import Engine
from core.events import Delivered, DeliveryFailed, Escalated, Undeliverable
from core.freezing import Ground
from core.kinds import Kind
from core.people import Person, Role
from core.places import NAMEABLE, Target
from core.ports import Deferred, Scope, Store, StoreUnavailable, Verdict, Work
from core.question import Asker, Spec, Urgency
from core.roster import Roster
from core.rulebook import AnswerRule, LadderRule, Match, Place, PlaceKind, RouteRule, Rulebook, Seats, StepRule
from core.steps import StepKind
from core.waiters import Waiters
from tests.ladder.places import Board
from tests.ladder.world import (
    HOUR,
    MINUTE,
    World,
    approval,
    escalate,
    handles,
    person,
    remind,
    roster,
    utc,
)
from tests.support.builders import AGENT, ASKER, WORKSPACE, acting, everybody, question_id

AT = utc(2026, 6, 2, 12)
AMY = person("Amy", handles=handles(slack="U1", email="amy@example.org"))
LEA = person("Lea", Role.LEAD, handles=handles(discord="7", email="lea@example.org"))
OPS, DEV, DISCORD = Target("slack", "ops"), Target("slack", "dev"), Target("discord", "42")
ONE = question_id(1)


@pytest.fixture(autouse=True)
def people(world: World) -> None:
    world.roster = roster(AMY, LEA, connected=("slack", "discord", "email"))
    world.clock.now = AT


async def _failures(world: World) -> list[tuple[str | None, str | None, int | None]]:
    found = await world.events(DeliveryFailed)
    return [(event.delivery.address, event.delivery.why, event.next_step) for event in found]


async def test_the_places_of_one_step_are_shown_together_and_no_other(world: World) -> None:
    slack = Board()
    asked = await world.ask(approval(route=((OPS, DEV), (DISCORD,))))

    await world.deliverer(slack, Board("discord")).deliver()

    assert slack.addresses == {"ops", "dev"}
    assert len(await world.events(Delivered)) == 2
    assert (asked.targets, delivery_state(await world.question())) == ((OPS, DEV), "posted")


async def test_one_failed_place_is_told_and_the_other_is_enough(world: World) -> None:
    slack, discord = Board(), Board("discord")
    slack.closed["ops"] = "archived"
    await world.ask(approval(route=((OPS, DEV), (DISCORD,))))

    await world.deliverer(slack, discord).deliver()

    assert await _failures(world) == [("ops", "archived", None)]
    assert (slack.addresses, discord.addresses) == ({"dev"}, set())
    assert delivery_state(await world.question()) == "posted"


async def test_when_all_places_of_a_step_fail_the_next_step_is_tried_at_once(world: World) -> None:
    slack, discord = Board(), Board("discord")
    slack.closed |= {"ops": "archived", "dev": "not in channel"}
    await world.ask(approval(route=((OPS, DEV), (DISCORD,))))

    await world.deliverer(slack, discord).deliver()

    first, second = await _failures(world)
    assert (first[2], second[2]) == (None, 1)
    assert discord.addresses == {"42"}
    assert (await world.question()).route_step == 1
    assert await world.events(Undeliverable) == []
    assert discord.tried == ["42"]
    assert sorted(slack.tried) == ["dev", "ops"]


async def test_when_nothing_is_left_that_is_told_at_once(world: World) -> None:
    slack, discord = Board(), Board("discord")
    slack.closed["ops"], discord.closed["42"] = "archived", "missing access"
    await world.ask(approval(route=((OPS,), (DISCORD,))))

    await world.deliverer(slack, discord).deliver()

    (told,) = await world.events(Undeliverable)
    question = await world.question()
    assert (told.at, told.delivery.surface, told.delivery.why) == (AT, "discord", "missing access")
    assert question.is_open
    assert delivery_state(question) == "undeliverable"


async def test_the_inbox_is_always_reached(world: World) -> None:
    slack = Board()
    slack.closed["ops"] = "archived"
    await world.ask(approval(route=((OPS,), (INBOX,))))

    before = delivery_state(await world.question())
    await world.deliverer(slack).deliver()

    assert (before, delivery_state(await world.question())) == ("pending", "posted")
    assert await world.events(Undeliverable) == []


async def test_a_surface_that_is_not_connected_fails_at_once(world: World) -> None:
    slack = Board()
    await world.ask(approval(route=((DISCORD,), (OPS,))))

    await world.deliverer(slack, absent=NAMEABLE).deliver()

    assert await _failures(world) == [("42", "discord is not connected here", 1)]
    assert slack.addresses == {"ops"}


async def test_what_nobody_here_serves_is_left_for_a_process_that_does(world: World) -> None:
    await world.ask(approval(route=((DISCORD,), (OPS,))))

    handled = await world.deliverer(Board()).deliver()

    assert (handled, await _failures(world)) == (0, [])


async def test_a_surface_that_keeps_breaking_is_given_up_and_the_route_goes_on(world: World) -> None:
    slack, discord = Board(), Board("discord")
    slack.instead = [*[RuntimeError("the wire is cut")] * 11, Deferred(timedelta(seconds=1), "busy")]
    await world.ask(approval(route=((OPS,), (DISCORD,)), time_limit=24 * HOUR))
    deliverer = world.deliverer(slack, discord)

    for _ in range(12):
        await deliverer.deliver()
        world.clock.now += 5 * MINUTE
    await deliverer.deliver()

    assert await _failures(world) == [("ops", "gave up after 12 attempts: busy", 1)]
    assert (len(slack.tried), discord.addresses) == (12, {"42"})


async def test_a_place_that_two_steps_name_is_not_waited_for_twice(world: World) -> None:
    """A person with nothing but a mail address is written to by mail in both steps."""
    mail = Board("email")
    mail.closed["amy@example.org"] = "mailbox full"
    amy_by_mail = Target("email", "amy@example.org")
    await world.ask(approval(route=((amy_by_mail,), (amy_by_mail,))))

    await world.deliverer(mail).deliver()

    assert len(await world.events(Undeliverable)) == 1
    assert delivery_state(await world.question()) == "undeliverable"


async def test_a_step_of_places_that_have_failed_before_is_passed_over(world: World) -> None:
    slack, discord = Board(), Board("discord")
    slack.closed["ops"] = "archived"
    await world.ask(approval(route=((OPS,), (OPS,), (DISCORD,))))

    await world.deliverer(slack, discord).deliver()

    assert await _failures(world) == [("ops", "archived", 2)]
    assert discord.addresses == {"42"}


class FailsOnce:
    """The store, but its first command finds the database gone."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._fails = True
        self.claim_due, self.next_due = store.claim_due, store.next_due
        self.now, self.forget_commands, self.replan = store.now, store.forget_commands, store.replan

    async def transact(self, scope: Scope, work: Work) -> Verdict:
        if self._fails:
            self._fails = False
            raise StoreUnavailable("gone for a moment")
        return await self._store.transact(scope, work)


async def test_a_failure_that_could_not_be_recorded_is_found_again(world: World) -> None:
    """Otherwise nobody would ever try the next step, and nobody would know."""
    slack, discord, backend = Board(), Board("discord"), world.backend
    slack.closed["ops"] = "archived"
    await world.ask(approval(route=((OPS,), (DISCORD,)), time_limit=HOUR))
    engine = Engine(FailsOnce(backend.store), backend.reader, Waiters(), everybody)
    surfaces = {"slack": slack, "discord": discord}
    deliverer = Deliverer(backend.outbox, backend.store, backend.reader, engine, surfaces)

    with pytest.raises(StoreUnavailable):
        await deliverer.deliver()
    world.clock.now += 2 * MINUTE
    await deliverer.deliver()

    assert await _failures(world) == [("ops", "archived", 1)]
    assert discord.addresses == {"42"}


async def test_escalation_goes_to_another_channel_and_tells_the_whole_story(world: World) -> None:
    slack, discord = Board(), Board("discord")
    steps = (remind(5, direct=True), escalate(10, "role:lead", targets=(DISCORD,), direct=True, email=True))
    mail = Board("email")
    await world.ask(approval(*steps, asked=(AMY,), route=((OPS,),)))
    deliverer = world.deliverer(slack, discord, mail)

    for at in (AT, AT + 5 * MINUTE, AT + 10 * MINUTE):
        await world.until(at)
        await deliverer.deliver()

    (rung,) = await world.events(Escalated)
    reminder = "Reminder: nobody has answered for 5 min. It waits for Amy."
    climbed = "Nobody has answered for 10 min, so this goes to Lea as well."
    assert rung.targets == (DISCORD, Target("discord", "@7"), Target("email", "lea@example.org"))
    assert (slack.addresses, discord.addresses) == ({"ops", "@U1"}, {"42", "@7"})
    assert mail.addresses == {"lea@example.org"}
    for prompt in (slack.at("ops"), slack.at("@U1"), discord.at("42"), discord.at("@7"), mail.at("lea@example.org")):
        assert [milestone.sentence for milestone in prompt.story] == [reminder, climbed]
    # where it was shown already, people hear of it; where it is new, the message is the news
    said = [(said.address, said.sentence) for said in slack.said]
    assert said[0] == ("ops", reminder)
    assert sorted(said[1:]) == [("@U1", climbed), ("ops", climbed)]
    assert (discord.said, mail.said) == ([], [])
    assert (await world.question()).asked == (AMY.id, LEA.id)


async def test_a_nudge_stands_beside_its_message_and_comes_once(world: World) -> None:
    slack = Board()
    await world.ask(approval(asked=(AMY,), route=((OPS,),)))
    deliverer = world.deliverer(slack)
    await deliverer.deliver()
    await world.do(Remind(ONE, acting(LEA)))

    for _ in range(3):
        await deliverer.deliver()
        world.clock.now += 2 * MINUTE

    (said,) = slack.said
    assert (said.address, said.sentence) == ("ops", "Lea sent a reminder to Amy.")
    assert said.ref is not None
    assert said.ref.value == "ops"


async def test_a_nudge_that_has_to_wait_is_said_later_and_once(world: World) -> None:
    slack = Board()
    await world.ask(approval(asked=(AMY,), route=((OPS,),)))
    deliverer = world.deliverer(slack)
    await deliverer.deliver()
    await world.do(Remind(ONE, acting(LEA)))
    slack.instead = [Deferred(MINUTE, "busy"), Deferred(MINUTE, "busy")]

    for _ in range(5):
        await deliverer.deliver()
        world.clock.now += 2 * MINUTE

    assert [said.address for said in slack.said] == ["ops"]


@pytest.mark.parametrize("answers", [True, False])
async def test_nothing_is_said_once_it_is_settled(world: World, answers: bool) -> None:
    slack = Board()
    await world.ask(approval(remind(5), asked=(AMY,), route=((OPS,),)))
    deliverer = world.deliverer(slack)
    await deliverer.deliver()
    await world.until(AT + 5 * MINUTE)
    await world.do(Answer(ONE, acting(AMY), RawAnswer(True)) if answers else Withdraw(ONE, AGENT))

    await deliverer.deliver()
    await world.until(AT + HOUR)
    await deliverer.deliver()

    assert slack.said == []
    assert not slack.at("ops").controls


async def test_handing_over_writes_to_the_new_person_and_tells_the_others(world: World) -> None:
    slack, discord = Board(), Board("discord")
    await world.ask(approval(asked=(AMY,), route=((OPS,),)))
    deliverer = world.deliverer(slack, discord)
    await deliverer.deliver()

    await world.do(Reassign(ONE, acting(AMY), "Lea"))
    await deliverer.deliver()

    assert [(said.address, said.sentence) for said in slack.said] == [("ops", "Amy put this to Lea.")]
    assert discord.addresses == {"@7"}
    assert [milestone.sentence for milestone in discord.at("@7").story] == ["Amy put this to Lea."]


async def test_an_escalation_place_that_fails_does_not_make_the_question_undeliverable(world: World) -> None:
    slack = Board()
    await world.ask(approval(escalate(5, "role:lead", targets=(DISCORD,)), route=((OPS,), (DEV,))))
    deliverer = world.deliverer(slack, absent=NAMEABLE)
    await deliverer.deliver()
    await world.until(AT + 5 * MINUTE)
    await deliverer.deliver()

    assert await _failures(world) == [("42", "discord is not connected here", None)]
    assert await world.events(Undeliverable) == []
    assert slack.addresses == {"ops"}


# How a question's route and ladder are frozen.

CHANNELS = {"slack": "C-main", "discord": "9"}


def channel(address: str) -> Place:
    return Place(PlaceKind.CHANNEL, "slack", address)


def freeze(
    routes: Sequence[RouteRule],
    draft: Draft,
    *people: Person,
    ladders: Sequence[LadderRule] = (),
    connected: Sequence[str] = ("slack", "email"),
    asker: Asker = ASKER,
    panel: Sequence[Person] = (),
) -> Spec:
    everybody: Roster = roster(*(people or (AMY, LEA)), connected=connected)
    seats = Seats(people=tuple(p.id for p in panel)) if panel else Seats(role=Role.APPROVER)
    rules = Rulebook(
        answers=(AnswerRule("everything", Match(), (seats,)),), routes=tuple(routes), ladders=tuple(ladders)
    )
    made = compose(draft, asker, House(WORKSPACE, TimeLimits(), Ground(rules, everybody, AT, CHANNELS)))
    assert isinstance(made, Spec), made
    return made


ROUTES = (
    RouteRule("billing", Match(projects=("billing-*",)), ((channel("billing"),),)),
    RouteRule("approvals", Match(kinds=(Kind.APPROVAL,)), ((channel("approvals"),),)),
    RouteRule("urgent", Match(urgencies=(Urgency.URGENT, Urgency.HIGH)), ((channel("alarms"),),)),
    RouteRule("database", Match(tags=("db", "sql*")), ((channel("database"),),)),
    RouteRule("nightly", Match(agents=("nightly-*",)), ((channel("nights"),),)),
    RouteRule("for Lea", Match(to=("Lea", "p_lea")), ((channel("leads"),),)),
    RouteRule("the rest", Match(), ((channel("general"),),)),
)


@pytest.mark.parametrize(
    ("draft", "address"),
    [
        (Draft("?", project_id="billing-eu"), "billing"),
        (Draft("?", project_id="billing-eu", action=DraftAction("pay")), "billing"),
        (Draft("?", project_id="shop", action=DraftAction("pay")), "approvals"),
        (Draft("?", urgency=Urgency.HIGH), "alarms"),
        (Draft("?", urgency=Urgency.LOW), "general"),
        (Draft("?", tags=("web", "sqlite")), "database"),
        (Draft("?", tags=("DB",)), "general"),
        (Draft("?", to="Lea"), "leads"),
        (Draft("?", to="Amy"), "general"),
        (Draft("?", agent="nightly-build"), "general"),  # what an agent says of itself routes nothing
        (Draft("?"), "general"),
    ],
)
def test_the_first_route_that_fits_is_taken(draft: Draft, address: str) -> None:
    assert freeze(ROUTES, draft).route == ((Target("slack", address),),)


def test_a_route_by_agent_looks_at_the_name_of_its_key() -> None:
    nightly = Asker(ASKER.principal, "nightly-build")

    assert freeze(ROUTES, Draft("?", agent="other"), asker=nightly).route == ((Target("slack", "nights"),),)


def test_without_a_route_the_inbox_is_left() -> None:
    assert freeze((), Draft("?")).route == ((INBOX,),)


DM, MAIL, CHAT, INBOX_PLACE = (
    Place(kind) for kind in (PlaceKind.DIRECT, PlaceKind.EMAIL, PlaceKind.CHAT, PlaceKind.INBOX)
)


def _to(*steps: tuple[Place, ...]) -> list[RouteRule]:
    return [RouteRule("everything", Match(), steps)]


def test_places_of_a_step_stay_together_and_steps_in_order() -> None:
    found = freeze(_to((CHAT, DM), (MAIL,), (INBOX_PLACE,)), Draft("?", to="Amy")).route

    assert found == (
        (Target("slack", "C-main"), Target("discord", "9"), Target("slack", "@U1")),
        (Target("email", "amy@example.org"),),
        (INBOX,),
    )


@pytest.mark.parametrize(
    ("connected", "to", "direct", "mail"),
    [
        (("slack", "email"), "Amy", ("slack", "@U1"), ("email", "amy@example.org")),
        (("email",), "Amy", ("email", "amy@example.org"), ("email", "amy@example.org")),
        (("slack",), "Lea", None, None),
        (("slack", "email"), "Lea", ("email", "lea@example.org"), ("email", "lea@example.org")),
        (("slack", "discord"), "Lea", ("discord", "@7"), None),
        ((), "Amy", None, None),
    ],
)
def test_people_are_written_to_where_they_like_it_best_of_what_is_connected(
    connected: Sequence[str], to: str, direct: tuple[str, str] | None, mail: tuple[str, str] | None
) -> None:
    by_dm = freeze(_to((DM,)), Draft("?", to=to), connected=connected).route
    by_mail = freeze(_to((MAIL,)), Draft("?", to=to), connected=connected).route

    assert by_dm == (((Target(*direct),) if direct else (INBOX,)),)
    assert by_mail == (((Target(*mail),) if mail else (INBOX,)),)


def test_a_direct_message_to_somebody_away_goes_to_the_stand_in() -> None:
    away = person("Zoe", handles=handles(slack="U9"), away_until=AT + HOUR, stand_in=AMY.id)

    made = freeze(_to((DM,)), Draft("?", to="Zoe"), away, AMY)

    assert (made.asked, made.route) == ((AMY.id,), ((Target("slack", "@U1"),),))


def test_without_a_recipient_the_people_of_the_panel_are_written_to() -> None:
    made = freeze(_to((DM,)), Draft("?"), panel=(AMY, LEA))

    assert made.asked == (AMY.id, LEA.id)
    assert made.route == ((Target("slack", "@U1"), Target("email", "lea@example.org")),)


def test_a_ladder_freezes_parts_of_the_limit_repetitions_and_places() -> None:
    steps = (
        StepRule(StepKind.ESCALATE, 0.8, ("role:lead",), (CHAT, DM, MAIL), holds=False, joins="an approver"),
        StepRule(StepKind.REMIND, 5 * MINUTE, times=3, every=2 * MINUTE),
    )
    ladder = LadderRule("all", Match(), steps, acknowledgement=7 * MINUTE)

    made = freeze((), Draft("?", action=DraftAction("x")), ladders=(ladder,))

    assert [(step.kind, step.after) for step in made.ladder] == [
        (StepKind.REMIND, 5 * MINUTE),
        (StepKind.REMIND, 7 * MINUTE),
        (StepKind.REMIND, 9 * MINUTE),
        (StepKind.ESCALATE, 12 * MINUTE),
    ]
    rung = made.ladder[-1]
    assert rung.targets == (Target("slack", "C-main"), Target("discord", "9"))
    assert (rung.direct, rung.email, rung.holds, rung.joins, rung.label) == (
        True,
        True,
        False,
        "an approver",
        "every lead",
    )
    assert (made.acknowledgement, made.limit_is_default) == (7 * MINUTE, True)


def test_a_part_of_no_limit_is_no_step_and_a_chosen_limit_is_not_the_kinds_own() -> None:
    ladder = LadderRule("all", Match(), (StepRule(StepKind.REMIND, 0.5), StepRule(StepKind.REMIND, 5 * MINUTE)))

    endless = freeze((), Draft("?", kind="preference", time_limit=None), ladders=(ladder,))
    chosen = freeze((), Draft("?", time_limit=timedelta(minutes=40)), ladders=(ladder,))

    assert [step.after for step in endless.ladder] == [5 * MINUTE]
    assert [step.after for step in chosen.ladder] == [5 * MINUTE, 20 * MINUTE]
    assert (endless.limit_is_default, chosen.limit_is_default) == (False, False)


def test_the_askers_own_reminders_replace_those_of_the_ladder_and_no_rung() -> None:
    steps = (StepRule(StepKind.REMIND, 0.5), StepRule(StepKind.ESCALATE, 0.8, ("role:lead",)))

    made = freeze((), Draft("?", reminder=6 * MINUTE), ladders=(LadderRule("all", Match(), steps),))

    assert [(step.kind, step.after) for step in made.ladder] == [
        (StepKind.REMIND, 6 * MINUTE),
        (StepKind.REMIND, 12 * MINUTE),
        (StepKind.REMIND, 18 * MINUTE),
        (StepKind.ESCALATE, 24 * MINUTE),
    ]
