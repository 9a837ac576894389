"""Who may answer, and how many it takes. The policy is frozen into the question when it is asked; it fails closed.

Law 1. Empty means nobody: a policy without panels, or a panel without people and roles, lets nobody answer.
Law 2. One person fills one seat, however many surfaces, ids and panels they are in.
Law 3. Whoever asked, owns the asking key or is worked for is barred where four eyes are wanted; the asker always is.
Law 4. Who left since is gone: their vote no longer counts and they cannot cast another.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from core.ids import PersonId, Principal
from core.people import Actor, Person, Role, person_principal
from core.roster import Roster


@dataclass(frozen=True, slots=True)
class Panel:
    """Some of whom `need` people have to agree: people by name as they were when it was asked, or by role."""

    name: str
    need: int = 1
    people: tuple[PersonId, ...] = ()
    #: Whoever holds one of these roles, or a higher one, when they answer.
    roles: tuple[Role, ...] = ()
    #: The group the people were taken from; who leaves it leaves the panel.
    group: str | None = None
    #: Whom a rung of the ladder brought in.
    joined: tuple[PersonId, ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one question. Every panel has to be satisfied; with none of them nobody may answer."""

    panels: tuple[Panel, ...] = ()
    #: Who must not decide: the owner of the asking key and the person the agent works for, under four eyes.
    barred: tuple[PersonId, ...] = ()
    #: How many rejections end it.
    rejections: int = 1
    four_eyes: bool = False
    #: Quorum and four eyes are waived because the workspace has a single person and its policy allows that.
    solo: bool = False
    #: The rule of the workspace's policy that this comes from, and that policy's version.
    rule: str = ""
    version: int = 0

    @property
    def need(self) -> int:
        return sum(panel.need for panel in self.panels)


def objection(policy: Policy, asker: Principal, actor: Actor, roster: Roster, now: datetime) -> str | None:
    """Why this actor may not answer, or None when they may."""
    if actor.person is None:
        if actor.principal == asker:
            return "You asked this question; somebody else has to answer it."
        return "Agents do not answer questions; use a key that belongs to a person."
    person = roster.active(actor.person.id)
    if person is None:
        return f"{actor.person.name} is no longer among the people of this workspace."
    if actor.principal == asker or _is_person(asker, person, roster):
        return "You asked this question; somebody else has to answer it."
    if person.id in map(roster.canonical, policy.barred):
        return f"Four eyes: the agent works for {person.name}, so somebody else has to decide."
    left_empty = _undeputised(policy, asker, roster)
    if not any(sits_on(panel, person, roster, now, left_empty=left_empty) for panel in policy.panels):
        return f"{person.name} is not among the people who may answer this question."
    return None


def _is_person(asker: Principal, person: Person, roster: Roster) -> bool:
    """Whether it was this person who asked, under whichever of their ids."""
    kind, _, rest = asker.partition(":")
    return kind == "person" and roster.canonical(PersonId(rest)) == person.id


def _undeputised(policy: Policy, asker: Principal, roster: Roster) -> frozenset[PersonId]:
    """Who must not decide does not choose who does it instead, by going away and naming somebody."""
    kind, _, rest = asker.partition(":")
    barred = (*policy.barred, PersonId(rest)) if kind == "person" else policy.barred
    return frozenset(map(roster.canonical, barred))


def sits_on(
    panel: Panel, person: Person, roster: Roster, now: datetime, *, left_empty: Collection[PersonId] = ()
) -> bool:
    """Whether this person may fill a seat of the panel now, by themselves or for somebody who is away.

    Nobody takes the place of those in `left_empty`: they are barred, or fill it themselves.
    """
    if any(person.role.includes(role) for role in panel.roles):
        return True
    named = frozenset(map(roster.canonical, panel.people))
    if panel.group is not None and panel.group in roster.groups:
        named &= frozenset(map(roster.canonical, roster.groups[panel.group]))
    named |= frozenset(map(roster.canonical, panel.joined))
    return person.id in named or not named.isdisjoint(roster.stands_in_for(person, now).difference(left_empty))


def voter(policy: Policy, asker: Principal, person_id: PersonId, roster: Roster, now: datetime) -> Person | None:
    """The person behind an earlier vote if it still counts."""
    person = roster.active(person_id)
    if person is None:
        return None
    acting = Actor(person_principal(person.id), person.name, "", person)
    return person if objection(policy, asker, acting, roster, now) is None else None


@dataclass(frozen=True, slots=True)
class Tally:
    have: int
    need: int
    #: What each panel still lacks, in order; panels that have enough are left out.
    missing: tuple[tuple[str, int], ...]

    @property
    def is_complete(self) -> bool:
        return self.need > 0 and self.have >= self.need


def empty_tally(policy: Policy) -> Tally:
    return Tally(0, policy.need, tuple((panel.name, panel.need) for panel in policy.panels))


def tally(policy: Policy, asker: Principal, people: Iterable[Person], roster: Roster, now: datetime) -> Tally:
    """How far these people, each filling one seat, satisfy the panels."""
    filled = _seated(policy, asker, list(people), roster, now)
    short = [(panel.name, panel.need - filled[place]) for place, panel in enumerate(policy.panels)]
    missing = tuple((name, count) for name, count in short if count > 0)
    return Tally(sum(filled), policy.need, missing)


def _seated(policy: Policy, asker: Principal, people: Sequence[Person], roster: Roster, now: datetime) -> list[int]:
    """How many seats of each panel are filled when as many as possible are: people move over to make room."""
    panels = policy.panels
    # Somebody who is away and votes all the same fills their place; it is not there twice.
    left_empty = _undeputised(policy, asker, roster) | {person.id for person in people}
    fits = {
        p.id: [n for n, panel in enumerate(panels) if sits_on(panel, p, roster, now, left_empty=left_empty)]
        for p in people
    }
    seat_of: dict[PersonId, int] = {}

    def find_seat(person_id: PersonId, tried: set[int]) -> bool:
        for place in fits[person_id]:
            if place in tried:
                continue
            tried.add(place)
            sitting = [other for other, seat in seat_of.items() if seat == place]
            if len(sitting) < panels[place].need or any(find_seat(other, tried) for other in sitting):
                seat_of[person_id] = place
                return True
        return False

    for person_id in fits:
        find_seat(person_id, set())
    return [sum(seat == place for seat in seat_of.values()) for place in range(len(panels))]


def candidates(
    policy: Policy, asker: Principal, roster: Roster, now: datetime, *, most: int | None = None
) -> tuple[Person, ...]:
    """Everybody who could answer now, or the first `most` of them."""
    known = (person for person in roster.people.values() if person.is_active)
    able = (person for person in known if voter(policy, asker, person.id, roster, now) is not None)
    return tuple(islice(able, most))


def is_answerable(policy: Policy, asker: Principal, people: Collection[Person], roster: Roster, now: datetime) -> bool:
    return tally(policy, asker, people, roster, now).is_complete
