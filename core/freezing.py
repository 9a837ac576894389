"""From the workspace's rules to the policy of one question: who may answer, where it goes, how it climbs, and why.

Everything that asks the rules comes through `freeze`: asking a question and explaining what would happen if one did.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from core.delivering import INBOX
from core.ids import PersonId
from core.people import Person, Role
from core.phrasing import names_of, shown
from core.places import Target
from core.policies import Panel, Policy, candidates, is_answerable, voter
from core.question import Asker
from core.refusals import Reason, Unacceptable
from core.roster import Roster
from core.rulebook import AnswerRule, Circumstances, LadderRule, Place, PlaceKind, RouteRule, Rulebook, Seats, StepRule
from core.steps import Step, StepKind

#: A reminder that the asker wishes for is repeated this often.
_OWN_REMINDERS = 3
#: More people than this are not written to one by one; they see the question where all see it.
_CROWD = 10
_ACKNOWLEDGEMENT = timedelta(minutes=15)
#: Somebody's agent, when it does not matter whose.
SOMEBODY = PersonId("somebody")
_NOBODYS = (
    "Four eyes are wanted here, and nobody knows whose agent asks. An admin can say so with "
    "handraise-bot keys owner KEY PERSON, or the agent with onBehalfOf."
)


@dataclass(frozen=True, slots=True)
class Frozen:
    policy: Policy
    route: tuple[tuple[Target, ...], ...]
    ladder: tuple[Step, ...]
    asked: tuple[PersonId, ...]
    acknowledgement: timedelta
    #: Which rules decided, for whoever wants it explained.
    answer_rule: str
    route_rule: str
    ladder_rule: str
    #: What the rules wanted and could not have, such as a surface that is not connected.
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ground:
    """What the rules are applied on: the people as they are now, and where chat is."""

    rulebook: Rulebook
    roster: Roster
    now: datetime
    #: The channel of each connected chat surface that its settings name.
    channels: Mapping[str, str] = field(default_factory=dict)


def freeze(
    case: Circumstances, asker: Asker, ground: Ground, *, limit: timedelta | None, reminder: timedelta | None = None
) -> Frozen | Unacceptable:
    notes: list[str] = []
    rule = next((rule for rule in ground.rulebook.answers if rule.match.fits(case)), None)
    if rule is not None and rule.four_eyes and not rule.solo and _is_nobodys(asker):
        return Unacceptable(Reason.NO_RESPONDER, _NOBODYS)
    policy = _policy(rule, case, asker, ground)
    # In a large workspace nearly everybody may answer; a few are enough to know that somebody can.
    able = candidates(policy, asker.principal, ground.roster, ground.now, most=policy.need + _CROWD)
    asked = _addressed(case, policy, able, asker, ground, notes)
    if isinstance(asked, Unacceptable):
        return asked
    if not _could_be_answered(policy, able, asker, ground):
        able = candidates(policy, asker.principal, ground.roster, ground.now)
        if not _could_be_answered(policy, able, asker, ground):
            return _nobody(rule, policy, able)
    route = next((route for route in ground.rulebook.routes if route.match.fits(case)), None)
    ladder = next((ladder for ladder in ground.rulebook.ladders if ladder.match.fits(case)), None)
    return Frozen(
        policy,
        _route(route, asked, ground, notes),
        _ladder(ladder, ground, limit, reminder),
        tuple(person.id for person in asked),
        ladder.acknowledgement if ladder is not None else _ACKNOWLEDGEMENT,
        rule.name if rule is not None else "",
        route.name if route is not None else "",
        ladder.name if ladder is not None else "",
        tuple(notes),
    )


def _is_nobodys(asker: Asker) -> bool:
    """Whether nobody knows whose agent this is, so that four eyes could not be told apart from two."""
    return asker.owner is None and asker.on_behalf_of is None and not asker.principal.startswith("person:")


def _policy(rule: AnswerRule | None, case: Circumstances, asker: Asker, ground: Ground) -> Policy:
    version = ground.rulebook.version
    if rule is None:
        return Policy(version=version)  # no rule means nobody
    panels = tuple(_panel(seats, ground) for seats in rule.seats)
    barred = tuple(p for p in (asker.owner, asker.on_behalf_of) if p is not None) if rule.four_eyes else ()
    policy = Policy(panels, barred, rule.rejections, rule.four_eyes, False, rule.name, version)
    return _alone(policy, asker, ground) if rule.solo else policy


def _alone(policy: Policy, asker: Asker, ground: Ground) -> Policy:
    """The policy for a workspace of one, where that one could not decide otherwise; it says what it is."""
    roster, now = ground.roster, ground.now
    everybody = [person for person in roster.people.values() if person.is_active]
    able = candidates(policy, asker.principal, roster, now)
    if len(everybody) == 1 and not is_answerable(policy, asker.principal, able, roster, now):
        only = everybody[0]
        alone = Panel(only.name, 1, (only.id,))
        return replace(policy, panels=(alone,), barred=(), rejections=1, solo=True)
    return policy


def _panel(seats: Seats, ground: Ground) -> Panel:
    roster = ground.roster
    if seats.role is not None:
        return Panel(_role_words(seats.role), seats.need, roles=(seats.role,))
    if seats.group is not None:
        return Panel(seats.group, seats.need, roster.groups.get(seats.group, ()), group=seats.group)
    names = [person.name for p in seats.people if (person := roster.active(p)) is not None]
    return Panel(names_of(names) or "nobody", seats.need, seats.people)


def _role_words(role: Role) -> str:
    return {Role.MEMBER: "any member", Role.APPROVER: "an approver", Role.LEAD: "a lead", Role.ADMIN: "an admin"}[role]


def _addressed(
    case: Circumstances, policy: Policy, able: Sequence[Person], asker: Asker, ground: Ground, notes: list[str]
) -> tuple[Person, ...] | Unacceptable:
    """Whom the question is put to: those it names, else all who may answer it, if they are not a crowd."""
    roster, now = ground.roster, ground.now
    if case.to is None:
        return _present(able, ground) if len(able) <= _CROWD else ()
    people = _called(case.to, roster, now)
    if people is None:
        if ground.rulebook.refuses_unknown:
            sentence = f"There is no person, group or schedule called {shown(case.to)}."
            return Unacceptable(Reason.RECIPIENT_UNKNOWN, sentence, "/to")
        notes.append(f"Nobody is called {shown(case.to)}; the question goes where others like it go.")
        return ()
    present = _present(people, ground)
    if not any(voter(policy, asker.principal, person.id, roster, now) is not None for person in present):
        sentence = f"Nobody of {shown(case.to)} may answer this; address it to somebody who may, or leave `to` out."
        return Unacceptable(Reason.NO_RESPONDER, sentence, "/to")
    return present


def _called(name: str, roster: Roster, now: datetime) -> tuple[Person, ...] | None:
    person = roster.find(name)
    if person is not None:
        return (person,)
    if name in roster.groups:
        return roster.members(name)
    if name in roster.schedules:
        return roster.audience((f"schedule:{name}",), (), now)
    return None


def _present(people: Sequence[Person], ground: Ground) -> tuple[Person, ...]:
    reached = [ground.roster.present(person, ground.now) for person in people]
    return tuple({person.id: person for person in reached}.values())


def _could_be_answered(policy: Policy, able: Sequence[Person], asker: Asker, ground: Ground) -> bool:
    """Whether these people suffice. A person who asks leaves a seat by role to whoever gets that role later: roles,
    unlike names, are open."""
    roster, now = ground.roster, ground.now
    kind, _, rest = asker.principal.partition(":")
    person = roster.active(PersonId(rest)) if kind == "person" else None
    if person is None or person.id in map(roster.canonical, policy.barred):
        return is_answerable(policy, asker.principal, able, roster, now)
    named = [tuple(p for p in panel.people if roster.canonical(p) != person.id) for panel in policy.panels]
    panels = tuple(replace(panel, people=others) for panel, others in zip(policy.panels, named, strict=True))
    return is_answerable(replace(policy, panels=panels), asker.principal, (*able, person), roster, now)


def _nobody(rule: AnswerRule | None, policy: Policy, able: Sequence[Person]) -> Unacceptable:
    if rule is None:
        why = "no rule of the policy says who may answer it"
    elif not able:
        why = f"the rule {shown(rule.name)} leaves nobody who could"
    else:
        have = names_of([person.name for person in able])
        why = f"the rule {shown(rule.name)} needs {policy.need} people and only {have} could answer"
    eyes = " The people the agent works for do not count." if policy.barred else ""
    sentence = f"Nobody could ever answer this: {why}.{eyes} An admin can change that with handraise-bot policy."
    return Unacceptable(Reason.NO_RESPONDER, sentence)


def _route(
    rule: RouteRule | None, asked: Sequence[Person], ground: Ground, notes: list[str]
) -> tuple[tuple[Target, ...], ...]:
    if rule is None:
        return ((INBOX,),)
    steps = [_places(step, asked, ground, notes) for step in rule.steps]
    return tuple(step for step in steps if step) or ((INBOX,),)


def _places(places: Sequence[Place], people: Sequence[Person], ground: Ground, notes: list[str]) -> tuple[Target, ...]:
    found: dict[Target, None] = {}
    for place in places:
        targets = _targets(place, people, ground)
        if not targets and place.kind in (PlaceKind.DIRECT, PlaceKind.EMAIL):
            way = "direct message" if place.kind is PlaceKind.DIRECT else "email"
            notes.append(f"Nobody it is put to can be reached by {way}.")
        found |= dict.fromkeys(targets)
    return tuple(found)


def _targets(place: Place, people: Sequence[Person], ground: Ground) -> list[Target]:
    roster = ground.roster
    match place.kind:
        case PlaceKind.INBOX:
            return [INBOX]
        case PlaceKind.CHANNEL:
            return [Target(place.surface, place.address)]
        case PlaceKind.CHAT:
            return [Target(surface, channel) for surface, channel in ground.channels.items()]
        case PlaceKind.DIRECT:
            return [target for person in people if (target := roster.direct_target(person)) is not None]
        case PlaceKind.EMAIL:
            return [target for person in people if (target := roster.email_target(person)) is not None]


def _ladder(
    rule: LadderRule | None, ground: Ground, limit: timedelta | None, reminder: timedelta | None
) -> tuple[Step, ...]:
    steps = [step for each in rule.steps for step in _steps(each, ground, limit)] if rule is not None else []
    if reminder is not None:
        # The asker knows better when its people should be reminded; escalation stays as the workspace wants it.
        steps = [step for step in steps if step.kind is StepKind.ESCALATE]
        steps += [Step(StepKind.REMIND, reminder * n, direct=True) for n in range(1, _OWN_REMINDERS + 1)]
    return tuple(sorted(steps, key=lambda step: step.after))


def _steps(rule: StepRule, ground: Ground, limit: timedelta | None) -> list[Step]:
    if isinstance(rule.at, timedelta):
        first = rule.at
    elif limit is not None:
        first = limit * rule.at
    else:
        return []  # a part of no limit is nothing
    channels = [place for place in rule.places if place.kind in (PlaceKind.CHANNEL, PlaceKind.CHAT)]
    targets = tuple(target for place in channels for target in _targets(place, (), ground))
    kinds = {place.kind for place in rule.places}
    step = Step(
        rule.kind,
        first,
        rule.audience,
        targets,
        PlaceKind.DIRECT in kinds,
        PlaceKind.EMAIL in kinds,
        rule.joins,
        rule.holds,
        audience_words(rule.audience),
    )
    pause = rule.every or timedelta(0)
    return [replace(step, after=first + pause * n) for n in range(rule.times if rule.every else 1)]


def audience_words(names: Sequence[str]) -> str:
    words = []
    for name in names:
        kind, _, rest = name.partition(":")
        words.append({"schedule": f"on call {rest}", "role": f"every {rest}", "group": rest}.get(kind, ""))
    return names_of([word for word in words if word])
