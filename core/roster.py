"""Everybody as they are now: people, groups and on-call schedules, looked up when something is decided or due.

What a question's policy froze says who was allowed then. The roster says who is still there.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from core.hours import next_outside, next_within
from core.ids import PersonId
from core.people import Person, Role
from core.places import Target
from core.schedules import Schedule, next_on_call, on_call

#: Somebody who stands in may be away as well; chains longer than this are mistakes.
_LONGEST_CHAIN = 5
#: Working hours and quiet hours that never meet must not send us round for ever.
_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Roster:
    people: Mapping[PersonId, Person] = field(default_factory=dict)
    groups: Mapping[str, tuple[PersonId, ...]] = field(default_factory=dict)
    schedules: Mapping[str, Schedule] = field(default_factory=dict)
    #: The surfaces that messages can be sent on.
    connected: frozenset[str] = frozenset()
    #: Whom names mean where that was settled earlier; nobody else takes over a name.
    meant: Mapping[str, PersonId] = field(default_factory=dict)
    #: Whoever has the inbox before their eyes.
    looking: frozenset[PersonId] = frozenset()
    #: Whoever named somebody to stand in; few, and looked for with every answer.
    replaced: tuple[Person, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        replaced = (
            p for p in self.people.values() if p.is_active and p.away_until is not None and p.stand_in is not None
        )
        object.__setattr__(self, "replaced", tuple(replaced))

    def canonical(self, person_id: PersonId) -> PersonId:
        """Who that is: somebody known under two ids is one person."""
        seen = {person_id}
        while (person := self.people.get(person_id)) is not None and person.merged_into is not None:
            person_id = person.merged_into
            if person_id in seen:
                break  # merged in a ring: none of them is active
            seen.add(person_id)
        return person_id

    def active(self, person_id: PersonId) -> Person | None:
        person = self.people.get(self.canonical(person_id))
        return person if person is not None and person.is_active else None

    def members(self, group: str) -> tuple[Person, ...]:
        return self._present(self.groups.get(group, ()))

    def holders(self, *roles: Role) -> tuple[Person, ...]:
        """Everybody whose role is, or includes, one of these."""
        found = (p for p in self.people.values() if p.is_active and any(p.role.includes(role) for role in roles))
        return tuple(sorted(found, key=lambda person: person.id))

    def find(self, name: str) -> Person | None:
        """By id, by a handle's address or by name, if only one active person is called that."""
        if name in self.meant:
            return self.active(self.meant[name])
        known = self.active(PersonId(name))
        if known is not None:
            return known
        folded = name.casefold()
        called = [
            person
            for person in self.people.values()
            if person.is_active
            and (person.name.casefold() == folded or any(h.address.casefold() == folded for h in person.handles))
        ]
        return called[0] if len(called) == 1 else None

    def present(self, person: Person, at: datetime) -> Person:
        """The person, or whoever stands in while they are away."""
        seen = {person.id}
        while person.is_away(at) and person.stand_in is not None and len(seen) <= _LONGEST_CHAIN:
            stand_in = self.active(person.stand_in)
            if stand_in is None or stand_in.id in seen or not stand_in.role.includes(person.role):
                break
            seen.add(stand_in.id)
            person = stand_in
        return person

    def stands_in_for(self, person: Person, at: datetime) -> frozenset[PersonId]:
        """Whose place this person takes now. Nobody hands on more than they could be given: roles must suffice."""
        return frozenset(
            other.id
            for other in self.replaced
            if other.id != person.id
            and other.is_away(at)
            and self.present(other, at).id == person.id
            and person.role.includes(other.role)
        )

    def audience(self, names: Iterable[str], asked: Collection[PersonId], at: datetime) -> tuple[Person, ...]:
        """The people behind `asked`, `person:…`, `group:…`, `schedule:…` and `role:…`, with stand-ins for the away."""
        found: dict[PersonId, Person] = {}
        for name in names:
            for person in self._behind(name, asked, at):
                reached = self.present(person, at)
                found.setdefault(reached.id, reached)
        return tuple(found.values())

    def _behind(self, name: str, asked: Collection[PersonId], at: datetime) -> tuple[Person, ...]:
        kind, _, rest = name.partition(":")
        match kind:
            case "asked":
                return self._present(asked)
            case "person":
                return self._present((PersonId(rest),))
            case "group":
                return self.members(rest)
            case "schedule":
                schedule = self.schedules.get(rest)
                return self._present(on_call(schedule, at)) if schedule is not None else ()
            case _:
                return self.holders(Role(rest))

    def all_look(self, people: Collection[Person]) -> bool:
        """Whether each of them has the inbox before their eyes; of nobody that cannot be said."""
        looking = {self.canonical(person_id) for person_id in self.looking}
        return bool(people) and all(person.id in looking for person in people)

    def reachable_at(self, names: Iterable[str], asked: Collection[PersonId], at: datetime) -> datetime:
        """The first instant from `at` on at which somebody of the audience is at work; `at` itself if there is none."""
        people = self.audience(names, asked, at)
        waits = [available_at(person, at) for person in people]
        if not people:
            schedules = [self.schedules[n.partition(":")[2]] for n in names if self._is_schedule(n)]
            waits = [begin for schedule in schedules if (begin := next_on_call(schedule, at)) is not None]
        return min(waits, default=at)

    def _is_schedule(self, name: str) -> bool:
        kind, _, rest = name.partition(":")
        return kind == "schedule" and rest in self.schedules

    def direct_target(self, person: Person) -> Target | None:
        """Where a message reaches this person alone, on the surface they like best of those that are connected."""
        for handle in person.handles:
            if handle.surface in self.connected:
                address = handle.address if handle.surface == "email" else f"@{handle.address}"
                return Target(handle.surface, address)
        return None

    def email_target(self, person: Person) -> Target | None:
        handle = person.handle_on("email")
        return Target("email", handle.address) if handle is not None and "email" in self.connected else None

    def _present(self, ids: Iterable[PersonId]) -> tuple[Person, ...]:
        return tuple(person for person_id in ids if (person := self.active(person_id)) is not None)


def available_at(person: Person, at: datetime) -> datetime:
    """The first instant from `at` on at which the person works and wants to be disturbed. Being away is not asked
    about here: whoever stands in was looked up before, and without a stand-in there is nobody better to wait for."""
    if not person.working and not person.quiet:
        return at
    moment = at
    for _ in range(_ROUNDS):
        moment = next_within(person.working_hours, moment)
        later = next_outside(person.quiet_hours, moment)
        if later == moment:
            return moment
        moment = later
    return at
