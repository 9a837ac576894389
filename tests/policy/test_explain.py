"""`policy explain` tells what happens: worked out by hand for four policies, and then let happen."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from adapters.policy import DEFAULT_TEXT, read_policy
from core.answers import RawAnswer
from core.asking import UNSET, Draft, DraftAction, House, compose
from core.commands import Answer
from core.deadlines import TimeLimits, kind_limit
from core.decisions import Accepted
from core.engine import Handled
from core.events import Defaulted, Escalated, Expired, Held, Reminded
from core.explaining import Explanation, Happening, explain, explanation_json, explanation_text
from core.freezing import SOMEBODY, Ground
from core.hours import parse_windows
from core.ids import PersonId, Principal
from core.kinds import KINDS, Kind
from core.people import Handle, Person, Role
from core.places import Target
from core.question import Asker, Risk, Spec, Status, Urgency
from core.refusals import Unacceptable
from core.roster import Roster
from core.rulebook import UNSTATED, Circumstances
from tests.ladder.world import BERLIN, OFFICE, Clock, World, utc
from tests.support.backends import memory_backend
from tests.support.builders import WORKSPACE, acting, question_id
from tests.support.servers import ROOT

DOCS = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^## Example: ([^\n]+)\n[^#]*?```toml\n(.*?)```", DOCS, re.MULTILINE | re.DOTALL))
DEFAULT, SMALL, PLATFORM, REGULATED = "default", "small team", "platform team with on-call", "regulated approvals"
TEXTS = {DEFAULT: DEFAULT_TEXT, **EXAMPLES}

ROLES = {"Dana": Role.ADMIN, "Erik": Role.LEAD, "Mia": Role.APPROVER, "Noor": Role.APPROVER, "Olu": Role.MEMBER}
ALL = tuple(ROLES)
APPROVERS, LEADS = ALL[:4], ALL[:2]
PLATFORM_TEAM = ("Erik", "Mia", "Noor")
#: A Wednesday: Mia is on call for the platform, Olu in the office.
NOON, NIGHT = utc(2026, 1, 7, 12), utc(2026, 1, 7, 2)

OVER_OR_DEFAULT = "the time is over: the default stands if there is one, else nothing is decided"
OVER = "the time is over: nothing is decided"
CHAT: tuple[tuple[str, ...], ...] = (("the Slack channel C0TEAM",), ("the inbox",))


def person(name: str, working: str = "") -> Person:
    handles = (Handle("slack", f"U0{name.upper()}"), Handle("email", f"{name.lower()}@example.com"))
    zone, hours = (BERLIN, parse_windows(working)) if working else ("UTC", ())
    return Person(PersonId(f"p_{name.lower()}"), name, ROLES[name], handles, zone, hours)


def ground_of(policy: str, at: datetime, working: str = "") -> Ground:
    people = {each.id: each for each in (person(name, working) for name in ALL)}
    connected = frozenset({"slack", "email"})
    book = read_policy(TEXTS[policy], Roster(people, connected=connected), version=0 if policy == DEFAULT else 1)
    groups = {name: group.members for name, group in book.groups.items()}
    return Ground(book, Roster(people, groups, book.schedules, connected), at, {"slack": "C0TEAM"})


def dm(*names: str) -> tuple[str, ...]:
    return tuple(f"direct message on Slack to {name}" for name in names)


def mail(*names: str) -> tuple[str, ...]:
    return tuple(f"email to {name.lower()}@example.com" for name in names)


def both(*names: str) -> tuple[str, ...]:
    return (*dm(*names), *mail(*names))


def remind(at: datetime, names: Sequence[str], where: Sequence[str]) -> Happening:
    return Happening(at, "remind", tuple(names), tuple(where))


def escalate(at: datetime, names: Sequence[str], where: Sequence[str]) -> Happening:
    return Happening(at, "escalate to", tuple(names), tuple(where))


def after(start: datetime, minutes: int, seconds: int = 0) -> datetime:
    return start + timedelta(minutes=minutes, seconds=seconds)


@dataclass(frozen=True)
class Told:
    """A question, and everything that the explanation has to say about it."""

    label: str
    policy: str
    rules: tuple[str, str, str]
    who: str
    responders: tuple[str, ...]
    timeline: tuple[Happening, ...]
    kind: Kind = Kind.BLOCKING
    at: datetime = NOON
    #: All who may answer, unless said otherwise.
    asked: tuple[str, ...] | None = None
    barred: tuple[str, ...] = ()
    route: tuple[tuple[str, ...], ...] = CHAT
    notes: tuple[str, ...] = ()
    urgency: Urgency = Urgency.NORMAL
    risk: Risk | None = None
    tool: str | None = None
    to: str | None = None
    owner: str | None = None
    on_behalf_of: str | None = None
    limit: timedelta | None = None
    working: str = ""

    def ground(self) -> Ground:
        return ground_of(self.policy, self.at, self.working)


ANY_MEMBER, ANY_APPROVER = "May answer: any member.", "May approve: an approver."


def approval(label: str, policy: str, *told: Any, **more: Any) -> Told:
    return replace(Told(label, policy, *told, **more), kind=Kind.APPROVAL)


DEFAULT_LADDER = "blocking questions and approvals"
DEFAULT_RULES = ("everything else", "everything", DEFAULT_LADDER)
APPROVAL_RULES = ("approvals", "everything", DEFAULT_LADDER)


def default_approval(start: datetime) -> tuple[Happening, ...]:
    return (
        remind(after(start, 7, 30), APPROVERS, both(*APPROVERS)),
        escalate(after(start, 12), LEADS, both(*LEADS)),
        Happening(after(start, 15), OVER),
    )


def waits(at: datetime, what: str, until: str, *, deadline: bool = False, before: str = "") -> Happening:
    also = " The deadline waits with it." if deadline else ""
    also = f" The deadline, {before} UTC, comes before it." if before else also
    return Happening(at, f"The {what} waits for working hours, until {until} UTC.{also}")


SATURDAY = utc(2026, 1, 10, 12)

BY_DEFAULT = [
    Told(
        "an ordinary question",
        DEFAULT,
        DEFAULT_RULES,
        ANY_MEMBER,
        ALL,
        (
            remind(after(NOON, 15), ALL, both(*ALL)),
            escalate(after(NOON, 24), LEADS, both(*LEADS)),
            Happening(after(NOON, 30), OVER_OR_DEFAULT),
        ),
    ),
    approval("low risk", DEFAULT, APPROVAL_RULES, ANY_APPROVER, APPROVERS, default_approval(NOON), risk=Risk.LOW),
    approval(
        "high risk",
        DEFAULT,
        APPROVAL_RULES,
        ANY_APPROVER,
        APPROVERS,
        default_approval(NOON),
        risk=Risk.HIGH,
        tool="deploy_web",
    ),
    approval(
        "urgent at night",
        DEFAULT,
        APPROVAL_RULES,
        ANY_APPROVER,
        APPROVERS,
        default_approval(NIGHT),
        at=NIGHT,
        urgency=Urgency.URGENT,
        working=OFFICE,
    ),
    approval(
        "at night",
        DEFAULT,
        APPROVAL_RULES,
        ANY_APPROVER,
        APPROVERS,
        # They begin at 08:00 UTC; the escalation keeps its four and a half minutes behind the reminder.
        (
            waits(NIGHT, "reminder", "2026-01-07 08:00:00", deadline=True),
            waits(NIGHT, "escalation", "2026-01-07 08:04:30"),
            remind(utc(2026, 1, 7, 8), APPROVERS, both(*APPROVERS)),
            escalate(utc(2026, 1, 7, 8, 4, 30), LEADS, both(*LEADS)),
            Happening(utc(2026, 1, 7, 8, 7, 30), OVER),
        ),
        at=NIGHT,
        working=OFFICE,
    ),
    Told(
        "at the weekend",
        DEFAULT,
        DEFAULT_RULES,
        ANY_MEMBER,
        ALL,
        # The deadline waits for a day at most, so it is over before anybody is back.
        (
            waits(SATURDAY, "reminder", "2026-01-12 08:00:00", before="2026-01-11 12:30:00"),
            waits(SATURDAY, "escalation", "2026-01-12 08:09:00", before="2026-01-11 12:30:00"),
            Happening(utc(2026, 1, 11, 12, 30), OVER_OR_DEFAULT),
        ),
        at=SATURDAY,
        working=OFFICE,
    ),
    Told(
        "at the weekend, with a limit of its own",
        DEFAULT,
        DEFAULT_RULES,
        ANY_MEMBER,
        ALL,
        (
            waits(SATURDAY, "reminder", "2026-01-12 08:00:00", before="2026-01-10 14:00:00"),
            waits(SATURDAY, "escalation", "2026-01-12 08:36:00", before="2026-01-10 14:00:00"),
            Happening(utc(2026, 1, 10, 14), OVER_OR_DEFAULT),
        ),
        at=SATURDAY,
        working=OFFICE,
        limit=timedelta(hours=2),
    ),
    Told(
        "to a person",
        DEFAULT,
        DEFAULT_RULES,
        ANY_MEMBER,
        ALL,
        (
            remind(after(NOON, 15), ("Mia",), both("Mia")),
            escalate(after(NOON, 24), LEADS, both(*LEADS)),
            Happening(after(NOON, 30), OVER_OR_DEFAULT),
        ),
        to="mia@example.com",
        asked=("Mia",),
    ),
    Told(
        "to nobody we know",
        DEFAULT,
        DEFAULT_RULES,
        ANY_MEMBER,
        ALL,
        (
            remind(after(NOON, 15), (), ()),
            escalate(after(NOON, 24), LEADS, both(*LEADS)),
            Happening(after(NOON, 30), OVER_OR_DEFAULT),
        ),
        to="Zoe",
        asked=(),
        notes=("Nobody is called “Zoe”; the question goes where others like it go.",),
    ),
    Told(
        "error recovery",
        DEFAULT,
        ("everything else", "everything", "error recovery"),
        ANY_MEMBER,
        ALL,
        (remind(after(NOON, 5), ALL, dm(*ALL)), Happening(after(NOON, 10), OVER_OR_DEFAULT)),
        kind=Kind.ERROR_RECOVERY,
    ),
    Told(
        "a preference",
        DEFAULT,
        ("everything else", "everything", ""),
        ANY_MEMBER,
        ALL,
        (Happening(utc(2026, 1, 8, 12), OVER_OR_DEFAULT),),
        kind=Kind.PREFERENCE,
    ),
    Told(
        "no time limit",
        DEFAULT,
        ("everything else", "everything", ""),
        ANY_MEMBER,
        ALL,
        (),
        kind=Kind.NON_BLOCKING,
    ),
]


def small_approval(start: datetime) -> tuple[Happening, ...]:
    return (
        remind(after(start, 7, 30), APPROVERS, dm(*APPROVERS)),
        escalate(after(start, 12), ("Dana",), both("Dana")),
        Happening(after(start, 15), OVER),
    )


BY_SMALL_TEAM = [
    Told(
        "an ordinary question",
        SMALL,
        ("everything else", "everything", "somebody is waiting"),
        ANY_MEMBER,
        ALL,
        (
            remind(after(NOON, 15), APPROVERS, dm(*APPROVERS)),
            escalate(after(NOON, 24), ("Dana",), both("Dana")),
            Happening(after(NOON, 30), OVER_OR_DEFAULT),
        ),
    ),
    approval(
        "low risk",
        SMALL,
        ("other approvals", "everything", "somebody is waiting"),
        ANY_APPROVER,
        APPROVERS,
        small_approval(NOON),
        risk=Risk.LOW,
    ),
    approval(
        "critical",
        SMALL,
        ("risky approvals", "everything", "somebody is waiting"),
        "May approve: a lead.",
        LEADS,
        small_approval(NOON),
        risk=Risk.CRITICAL,
        tool="deploy_web",
    ),
    approval(
        "urgent at night, to Erik",
        SMALL,
        ("risky approvals", "everything", "somebody is waiting"),
        "May approve: a lead.",
        LEADS,
        small_approval(NIGHT),
        risk=Risk.HIGH,
        at=NIGHT,
        urgency=Urgency.URGENT,
        working=OFFICE,
        to="Erik",
        asked=("Erik",),
    ),
    Told(
        "clarifying",
        SMALL,
        ("everything else", "everything", ""),
        ANY_MEMBER,
        ALL,
        (Happening(after(NOON, 30), OVER_OR_DEFAULT),),
        kind=Kind.CLARIFYING,
    ),
]

TO_PLATFORM = "waiting for the platform team"
WAITING = "somebody is waiting"
URGENTLY = ("production", TO_PLATFORM, "broken right now")
CLIMBED = (*PLATFORM_TEAM, "Dana")


def via_platform(*names: str) -> tuple[tuple[str, ...], ...]:
    return (("the Slack channel C0PLATFORM",), both(*names), ("the inbox",))


def urgent_deploy(label: str, at: datetime, *timeline: Happening, **more: Any) -> Told:
    return approval(
        label,
        PLATFORM,
        URGENTLY,
        "May approve: platform.",
        PLATFORM_TEAM,
        timeline,
        at=at,
        risk=Risk.HIGH,
        tool="deploy_web",
        urgency=Urgency.URGENT,
        working=OFFICE,
        route=via_platform(*PLATFORM_TEAM),
        **more,
    )


#: Eight o'clock UTC is nine in Berlin: the handover.
HANDOVER, OVERRIDDEN = utc(2026, 1, 12, 7, 55), utc(2026, 2, 23, 7, 55)
EVENING, FRIDAY = utc(2026, 1, 7, 20), utc(2026, 1, 9, 15, 55)

BY_PLATFORM_TEAM = [
    Told(
        "an ordinary question",
        PLATFORM,
        ("everything else", "everything else", WAITING),
        ANY_MEMBER,
        ALL,
        (
            remind(after(NOON, 9), ALL, dm(*ALL)),
            escalate(after(NOON, 15), ("Mia", "Olu"), dm("Mia", "Olu")),
            escalate(after(NOON, 24), CLIMBED, both(*CLIMBED)),
            Happening(after(NOON, 30), OVER_OR_DEFAULT),
        ),
    ),
    approval(
        "low risk",
        PLATFORM,
        ("other approvals", TO_PLATFORM, WAITING),
        ANY_APPROVER,
        APPROVERS,
        (
            remind(after(NOON, 4, 30), APPROVERS, dm(*APPROVERS)),
            escalate(after(NOON, 7, 30), ("Mia", "Olu"), dm("Mia", "Olu")),
            escalate(after(NOON, 12), CLIMBED, both(*CLIMBED)),
            Happening(after(NOON, 15), OVER),
        ),
        risk=Risk.LOW,
        route=via_platform(*APPROVERS),
    ),
    approval(
        "a deploy",
        PLATFORM,
        ("production", TO_PLATFORM, WAITING),
        "May approve: platform.",
        PLATFORM_TEAM,
        (
            remind(after(NOON, 4, 30), PLATFORM_TEAM, dm(*PLATFORM_TEAM)),
            escalate(after(NOON, 7, 30), ("Mia", "Olu"), dm("Mia", "Olu")),
            escalate(after(NOON, 12), CLIMBED, both(*CLIMBED)),
            Happening(after(NOON, 15), OVER),
        ),
        risk=Risk.HIGH,
        tool="deploy_web",
        route=via_platform(*PLATFORM_TEAM),
    ),
    urgent_deploy(
        "an urgent deploy at night that has half an hour",
        NIGHT,
        *(escalate(after(NIGHT, minutes), ("Mia",), both("Mia")) for minutes in (2, 7, 12)),
        escalate(after(NIGHT, 20), LEADS, ("the Slack channel C0PLATFORM", *dm(*LEADS))),
        Happening(after(NIGHT, 30), OVER),
        limit=timedelta(minutes=30),
    ),
    urgent_deploy(
        "an urgent deploy at night",
        NIGHT,
        *(escalate(after(NIGHT, minutes), ("Mia",), both("Mia")) for minutes in (2, 7, 12)),
        Happening(after(NIGHT, 15), OVER),
    ),
    urgent_deploy(
        "the on-call handover",
        HANDOVER,
        escalate(after(HANDOVER, 2), ("Mia",), both("Mia")),
        escalate(after(HANDOVER, 7), ("Noor",), both("Noor")),
        escalate(after(HANDOVER, 12), ("Noor",), both("Noor")),
        Happening(after(HANDOVER, 15), OVER),
    ),
    urgent_deploy(
        "the handover with an override",
        OVERRIDDEN,
        escalate(after(OVERRIDDEN, 2), ("Mia",), both("Mia")),
        escalate(after(OVERRIDDEN, 7), ("Erik",), both("Erik")),
        escalate(after(OVERRIDDEN, 12), ("Erik",), both("Erik")),
        Happening(after(OVERRIDDEN, 15), OVER),
    ),
    Told(
        "to a group",
        PLATFORM,
        ("everything else", "everything else", WAITING),
        ANY_MEMBER,
        ALL,
        (
            remind(after(NOON, 9), PLATFORM_TEAM, dm(*PLATFORM_TEAM)),
            escalate(after(NOON, 15), ("Mia", "Olu"), dm("Mia", "Olu")),
            escalate(after(NOON, 24), CLIMBED, both(*CLIMBED)),
            Happening(after(NOON, 30), OVER_OR_DEFAULT),
        ),
        to="platform",
        asked=PLATFORM_TEAM,
    ),
    Told(
        "to a schedule",
        PLATFORM,
        ("everything else", "everything else", WAITING),
        ANY_MEMBER,
        ALL,
        (
            remind(after(NOON, 9), ("Olu",), dm("Olu")),
            escalate(after(NOON, 15), ("Mia", "Olu"), dm("Mia", "Olu")),
            escalate(after(NOON, 24), CLIMBED, both(*CLIMBED)),
            Happening(after(NOON, 30), OVER_OR_DEFAULT),
        ),
        to="office",
        asked=("Olu",),
    ),
    Told(
        "in the evening, when the office is closed",
        PLATFORM,
        ("everything else", "everything else", WAITING),
        ANY_MEMBER,
        ALL,
        (
            remind(after(EVENING, 9), ALL, dm(*ALL)),
            escalate(after(EVENING, 15), ("Mia",), dm("Mia")),
            escalate(after(EVENING, 24), CLIMBED, both(*CLIMBED)),
            Happening(after(EVENING, 30), OVER_OR_DEFAULT),
        ),
        at=EVENING,
    ),
    Told(
        "five minutes before the weekend",
        PLATFORM,
        ("everything else", "everything else", WAITING),
        ANY_MEMBER,
        ALL,
        (
            waits(FRIDAY, "reminder", "2026-01-12 08:00:00", before="2026-01-10 16:25:00"),
            waits(FRIDAY, "escalation", "2026-01-12 08:06:00", before="2026-01-10 16:25:00"),
            waits(FRIDAY, "escalation", "2026-01-12 08:15:00", before="2026-01-10 16:25:00"),
            Happening(utc(2026, 1, 10, 16, 25), OVER_OR_DEFAULT),
        ),
        at=FRIDAY,
        working=OFFICE,
    ),
]

APART = "approvals stay out of public channels"
THREE = "Needed: 2 of release and 1 of control. Whoever the agent works for may not."


def regulated(*names: str) -> tuple[Happening, ...]:
    """The reminders go to those asked, and after the escalation to the leads as well."""
    later = (*names, *(name for name in LEADS if name not in names))
    return (
        remind(after(NOON, 4, 30), names, both(*names)),
        escalate(after(NOON, 11, 15), LEADS, mail(*LEADS)),
        remind(after(NOON, 14, 30), later, both(*later)),
        Happening(after(NOON, 15), OVER),
    )


def in_private(*names: str) -> tuple[tuple[str, ...], ...]:
    return (both(*names), ("the inbox",))


BY_REGULATED = [
    approval(
        "a risk that is kept quiet",
        REGULATED,
        ("production changes", APART, "approvals"),
        THREE,
        APPROVERS,
        regulated(*APPROVERS),
        tool="deploy_web",
        route=in_private(*APPROVERS),
    ),
    approval(
        "of Mia's key",
        REGULATED,
        ("production changes", APART, "approvals"),
        THREE,
        ("Dana", "Erik", "Noor"),
        regulated("Dana", "Erik", "Noor"),
        risk=Risk.HIGH,
        tool="deploy_web",
        owner="Mia",
        barred=("Mia",),
        route=in_private("Dana", "Erik", "Noor"),
    ),
    approval(
        "to the group release",
        REGULATED,
        ("production changes", APART, "approvals"),
        THREE,
        APPROVERS,
        regulated("Mia", "Noor", "Erik"),
        risk=Risk.CRITICAL,
        to="release",
        asked=("Mia", "Noor", "Erik"),
        route=in_private("Mia", "Noor", "Erik"),
    ),
    approval(
        "a payment",
        REGULATED,
        ("payments", APART, "approvals"),
        "Needed: 2 of Erik and Dana. Whoever the agent works for may not.",
        LEADS,
        regulated(*LEADS),
        risk=Risk.LOW,
        tool="payment_run",
        route=in_private(*LEADS),
    ),
    approval(
        "low risk, for Erik",
        REGULATED,
        ("other approvals", APART, "approvals"),
        "May approve: an approver. Whoever the agent works for may not.",
        ("Dana", "Mia", "Noor"),
        regulated("Dana", "Mia", "Noor"),
        risk=Risk.LOW,
        on_behalf_of="Erik",
        barred=("Erik",),
        route=in_private("Dana", "Mia", "Noor"),
    ),
    Told(
        "an ordinary question",
        REGULATED,
        ("everything else", "everything else", ""),
        ANY_MEMBER,
        ALL,
        (Happening(after(NOON, 30), OVER_OR_DEFAULT),),
    ),
]

CASES = [
    pytest.param(told, id=f"{told.policy}: {told.label}")
    for told in (*BY_DEFAULT, *BY_SMALL_TEAM, *BY_PLATFORM_TEAM, *BY_REGULATED)
]


def asker_of(told: Told) -> Asker:
    owner, worked_for = (PersonId(f"p_{name.lower()}") if name else None for name in (told.owner, told.on_behalf_of))
    return Asker(Principal("agent:ci"), "ci", owner=owner or SOMEBODY, on_behalf_of=worked_for)


def circumstances_of(told: Told) -> Circumstances:
    tool = told.tool or ("other" if told.risk is not None else None)
    risk = told.risk.value if told.risk is not None else UNSTATED
    return Circumstances(told.kind, told.urgency, risk, tool, None, "ci", (), told.to)


def explained(told: Told) -> Explanation:
    own = kind_limit(KINDS[told.kind], TimeLimits())
    limit = told.limit if told.limit is not None else own
    return explain(circumstances_of(told), asker_of(told), told.ground(), limit, own=told.limit is None)


def composed(told: Told) -> Spec | Unacceptable:
    """The same question as an agent would ask it."""
    case = circumstances_of(told)
    draft = Draft(
        "May I?",
        told.kind.value,
        action=DraftAction(case.tool, risk=told.risk) if case.tool is not None else None,
        time_limit=told.limit if told.limit is not None else UNSET,
        default=RawAnswer("yes") if told.kind is Kind.NON_BLOCKING else None,
        to=told.to,
        urgency=told.urgency,
        on_behalf_of=told.on_behalf_of,
    )
    asker = replace(asker_of(told), on_behalf_of=None)
    return compose(draft, asker, House(WORKSPACE, TimeLimits(), told.ground()))


async def asked(told: Told) -> World:
    """A workspace on a clock in which that question has just been asked."""
    clock = Clock(told.at)
    world = World(memory_backend(clock), clock)
    world.roster = told.ground().roster
    spec = composed(told)
    assert isinstance(spec, Spec), spec
    await world.ask(spec)
    return world


async def came_to_pass(world: World, told: Told) -> tuple[Happening, ...]:
    """Nobody answers and the sweeper looks whenever something is due; what happened, in the words explained."""
    await world.until(told.at + timedelta(days=40))
    history = await world.backend.reader.history(question_id(1))
    found: list[Happening] = []
    for stored in history:
        match stored.event:
            case Reminded() | Escalated() as step:
                verb = "remind" if isinstance(step, Reminded) else "escalate to"
                people = tuple(world.roster.people[each].name for each in step.people)
                found.append(Happening(step.at, verb, people, tuple(map(_place, step.targets))))
            case Held() as held:
                found.append(Happening(held.at, held.sentence))
            case (Expired() | Defaulted()) as end:
                found.append(Happening(end.at, OVER if told.kind is Kind.APPROVAL else OVER_OR_DEFAULT))
            case _:
                pass
    return tuple(found)


def _place(target: Target) -> str:
    if target.surface == "email":
        return f"email to {target.address}"
    if target.address.startswith("@U0"):
        return f"direct message on Slack to {target.address[3:].title()}"
    return f"the Slack channel {target.address}"


def test_the_policies_are_those_that_are_shipped_and_documented() -> None:
    assert list(TEXTS) == [DEFAULT, SMALL, PLATFORM, REGULATED]


@pytest.mark.parametrize("told", CASES)
def test_it_is_explained_as_worked_out_by_hand(told: Told) -> None:
    found = explained(told)

    assert found == Explanation(
        None,
        *told.rules,
        told.who,
        told.responders,
        told.barred,
        told.asked if told.asked is not None else told.responders,
        told.route,
        told.timeline,
        told.notes,
        0 if told.policy == DEFAULT else 1,
    )


@pytest.mark.parametrize("told", CASES)
async def test_what_is_explained_comes_to_pass(told: Told) -> None:
    world = await asked(told)
    question = await world.question()
    names = {each.id: each.name for each in world.roster.people.values()}

    happened = await came_to_pass(world, told)

    found = explained(told)
    assert happened == found.timeline
    assert tuple(names[each] for each in question.spec.asked) == found.asked
    assert tuple(names[each] for each in question.spec.policy.barred if each != SOMEBODY) == found.barred
    assert question.spec.policy.rule == found.answer_rule
    places = [
        [_place(target) if target.surface != "web" else "the inbox" for target in step] for step in question.spec.route
    ]
    assert tuple(map(tuple, places)) == found.route


@pytest.mark.parametrize("told", CASES)
async def test_those_it_names_may_answer_and_nobody_else(told: Told) -> None:
    taken = []
    for name in ALL:
        world = await asked(told)
        value: Any = True if told.kind is Kind.APPROVAL else "yes"
        who = acting(world.roster.people[PersonId(f"p_{name.lower()}")])
        done = await world.engine.handle(Answer(question_id(1), who, RawAnswer(value)))
        assert isinstance(done, Handled)
        taken += [name] if isinstance(done.decision, Accepted) else []

    assert tuple(taken) == explained(told).responders


REFUSED = [
    (
        approval("to a member", DEFAULT, APPROVAL_RULES, "", (), (), to="Olu"),
        "Nobody of “Olu” may answer this; address it to somebody who may, or leave `to` out.",
    ),
    (
        Told("to a stranger", PLATFORM, URGENTLY, "", (), (), to="Zoe"),
        "There is no person, group or schedule called “Zoe”.",
    ),
    (
        approval("a payment for Erik", REGULATED, URGENTLY, "", (), (), risk=Risk.LOW, tool="payment", owner="Erik"),
        "Nobody could ever answer this: the rule “payments” needs 2 people and only Dana could answer. "
        "The people the agent works for do not count. An admin can change that with handraise-bot policy.",
    ),
]


@pytest.mark.parametrize(("told", "sentence"), REFUSED, ids=[told.label for told, _ in REFUSED])
def test_what_would_be_refused_is_said_in_the_same_words(told: Told, sentence: str) -> None:
    found, made = explained(told), composed(told)

    assert found == Explanation(sentence, version=0 if told.policy == DEFAULT else 1)
    assert isinstance(made, Unacceptable)
    assert made.sentence == sentence
    assert explanation_json(found) == {"refused": sentence, "policyVersion": found.version}
    assert sentence in explanation_text(found, NOON)


def case(policy: str, label: str) -> Told:
    every = (*BY_DEFAULT, *BY_SMALL_TEAM, *BY_PLATFORM_TEAM, *BY_REGULATED)
    return next(told for told in every if (told.policy, told.label) == (policy, label))


def test_the_screen_of_an_ordinary_question() -> None:
    told = case(PLATFORM, "a deploy")

    assert explanation_text(explained(told), told.at).splitlines() == [
        "By policy version 1, asked Wed 2026-01-07 12:00 UTC:",
        "  May approve: platform.   (rule “production”)",
        "  That is Erik, Mia and Noor now.",
        "  It is put to Erik, Mia and Noor.",
        "  It goes out via the Slack channel C0PLATFORM, and if that fails via direct message on Slack to Erik, Mia "
        "and Noor and email to erik@example.com, mia@example.com and noor@example.com, and if that fails via the inbox."
        "   (route “waiting for the platform team”)",
        "  If nobody answers   (ladder “somebody is waiting”):",
        "    +4 min 30 s  Wed 2026-01-07 12:04:30 UTC  remind Erik, Mia and Noor, "
        "via direct message on Slack to Erik, Mia and Noor",
        "    +7 min 30 s  Wed 2026-01-07 12:07:30 UTC  escalate to Mia and Olu, "
        "via direct message on Slack to Mia and Olu",
        "        +12 min  Wed 2026-01-07 12:12:00 UTC  escalate to Erik, Mia, Noor and Dana, "
        "via direct message on Slack to Erik, Mia, Noor and Dana and email to erik@example.com, mia@example.com, "
        "noor@example.com and dana@example.com",
        "        +15 min  Wed 2026-01-07 12:15:00 UTC  the time is over: nothing is decided",
    ]


def test_the_screen_says_whom_it_reaches_when_it_is_put_to_nobody() -> None:
    told = case(DEFAULT, "to nobody we know")

    text = explanation_text(explained(told), told.at)

    assert "By the shipped policy, asked Wed 2026-01-07 12:00 UTC:" in text
    assert "  It is put to nobody by name.\n" in text
    assert "    +15 min  Wed 2026-01-07 12:15 UTC  remind whoever looks, on its page only\n" in text
    assert text.endswith("  Note: Nobody is called “Zoe”; the question goes where others like it go.")


def test_the_screen_says_at_once_what_waits_for_working_hours() -> None:
    told = case(DEFAULT, "at night")

    rows = explanation_text(explained(told), told.at).splitlines()[6:]

    assert [row[:43] for row in rows] == [
        "       at once  Wed 2026-01-07 02:00:00 UTC",
        "       at once  Wed 2026-01-07 02:00:00 UTC",
        "          +6 h  Wed 2026-01-07 08:00:00 UTC",
        "    +6 h 4 min  Wed 2026-01-07 08:04:30 UTC",
        "    +6 h 7 min  Wed 2026-01-07 08:07:30 UTC",
    ]


def test_the_screen_says_when_a_question_stays_open() -> None:
    told = case(DEFAULT, "no time limit")

    assert explanation_text(explained(told), told.at).endswith(
        "  If nobody answers   (no ladder fits):\n    it stays open: there is no time limit and nobody is reminded"
    )


LATE = """
[[answer]]
name = "all"
by = [{ role = "member" }]

[[ladder]]
name = "late"
steps = [{ escalate = "30d", to = ["Dana"] }, { remind = "1d", times = 20, every = "1d" }]
"""


def test_steps_weeks_away_are_told_as_well() -> None:
    ground = ground_of(DEFAULT, NOON)
    late = replace(ground, rulebook=read_policy(LATE, ground.roster, version=1))

    found = explain(Circumstances(Kind.NON_BLOCKING), Asker(Principal("agent:ci"), "ci"), late, None, own=True)

    assert [(step.what, step.at) for step in found.timeline] == [
        *(("remind", NOON + timedelta(days=day)) for day in range(1, 21)),
        ("escalate to", NOON + timedelta(days=30)),
    ]
    assert explanation_text(found, NOON).endswith("\n    then it stays open: there is no time limit")


def test_the_explanation_as_json() -> None:
    told = case(REGULATED, "of Mia's key")

    assert explanation_json(explained(told)) == {
        "refused": None,
        "policyVersion": 1,
        "rules": {"answer": "production changes", "route": APART, "ladder": "approvals"},
        "whoMayAnswer": THREE,
        "responders": ["Dana", "Erik", "Noor"],
        "barred": ["Mia"],
        "asked": ["Dana", "Erik", "Noor"],
        "route": [list(both("Dana", "Erik", "Noor")), ["the inbox"]],
        "timeline": [
            {
                "at": "2026-01-07T12:04:30.000Z",
                "what": "remind",
                "people": ["Dana", "Erik", "Noor"],
                "where": list(both("Dana", "Erik", "Noor")),
            },
            {
                "at": "2026-01-07T12:11:15.000Z",
                "what": "escalate to",
                "people": ["Dana", "Erik"],
                "where": list(mail("Dana", "Erik")),
            },
            {
                "at": "2026-01-07T12:14:30.000Z",
                "what": "remind",
                "people": ["Dana", "Erik", "Noor"],
                "where": list(both("Dana", "Erik", "Noor")),
            },
            {"at": "2026-01-07T12:15:00.000Z", "what": OVER, "people": [], "where": []},
        ],
        "notes": [],
    }


# what the sentences below the examples say beyond that


async def says(world: World, name: str, value: bool) -> bool:
    """Whether this person's word is taken."""
    who = acting(world.roster.people[PersonId(f"p_{name.lower()}")])
    done = await world.engine.handle(Answer(question_id(1), who, RawAnswer(value)))
    assert isinstance(done, Handled)
    return isinstance(done.decision, Accepted)


async def test_dana_may_decide_once_the_urgent_deploy_has_climbed_to_the_leads() -> None:
    told = case(PLATFORM, "an urgent deploy at night that has half an hour")
    world = await asked(told)

    await world.until(after(NIGHT, 19))
    before = await says(world, "Dana", True)
    await world.until(after(NIGHT, 20))
    then = await says(world, "Dana", True)

    assert (before, then) == (False, True)
    assert (await world.question()).status is Status.ANSWERED


@pytest.mark.parametrize(
    ("label", "voters", "enough"),
    [
        ("a risk that is kept quiet", ("Mia", "Noor", "Erik"), False),
        ("a risk that is kept quiet", ("Mia", "Noor", "Dana"), True),
        ("a risk that is kept quiet", ("Erik", "Dana"), False),
        ("of Mia's key", ("Noor", "Erik", "Dana"), True),
        ("a payment", ("Erik", "Dana"), True),
    ],
)
async def test_it_takes_as_many_as_the_regulated_team_says(label: str, voters: Sequence[str], enough: bool) -> None:
    world = await asked(case(REGULATED, label))

    for name in voters:
        assert await says(world, name, True)

    assert ((await world.question()).status is Status.ANSWERED) is enough


async def test_one_rejection_ends_it_for_the_regulated_team() -> None:
    world = await asked(case(REGULATED, "a risk that is kept quiet"))

    assert await says(world, "Noor", False)

    assert (await world.question()).status is Status.ANSWERED
