"""What happens to people: they join, are linked to handles, turn out to be the same, are away, leave."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime

from core.ids import PersonId
from core.people import Handle, Person, Role
from core.phrasing import shown
from core.roster import Roster

LONGEST_NAME = 100
_LONGEST_ADDRESS = 200
#: Where somebody is known by a handle. With `oidc` they sign in; nothing is ever sent there.
SURFACES = ("slack", "discord", "web", "email", "oidc")


class NotPossible(Exception):
    """Why something cannot be done to a person, as a sentence."""


def new_person(name: str, role: Role, taken: Collection[str]) -> Person:
    problem = name_problem(name)
    if problem is not None:
        raise NotPossible(problem)
    base = "p_" + ("".join(letter for letter in name.lower() if letter.isalnum() and letter.isascii())[:30] or "person")
    free = next(i for i in (base, *(f"{base}{n}" for n in range(2, len(taken) + 3))) if i not in taken)
    return Person(PersonId(free), name.strip(), role)


def name_problem(name: str) -> str | None:
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        return f"A name has 1 to {LONGEST_NAME} printable characters."
    return None


def handle_from(text: str) -> Handle:
    """`slack:U012AB3CD` and the like."""
    surface, _, address = text.partition(":")
    address = address.strip()
    if surface not in SURFACES or not address or len(address) > _LONGEST_ADDRESS or not address.isprintable():
        named = ", ".join(f"{name}:…" for name in SURFACES)
        raise NotPossible(f"{shown(text)} is no handle. Write it as one of {named}.")
    if surface == "email" and ("@" not in address or " " in address):
        raise NotPossible(f"{shown(address)} is no mail address.")
    return Handle(surface, address.lower() if surface == "email" else address)


def linked(roster: Roster, person: Person, handle: Handle) -> tuple[Person, ...]:
    """The people to save so that the handle is this person's; whoever had it turns out to be the same person.

    Not so somebody who left: they hand over the handle alone, or what they voted would count again.
    """
    before = next((p for p in roster.people.values() if handle in p.handles and p.id != person.id), None)
    if handle in person.handles:
        return ()
    if before is None or not before.is_active:
        gaining = replace(person, handles=(*person.handles, handle))
        return (gaining, *released(roster, gaining))
    if before.role.includes(Role.APPROVER) and not person.role.includes(before.role):
        raise NotPossible(f"{handle.surface}:{handle.address} belongs to {before.name}, who is {before.role}.")
    merged = replace(before, handles=(), is_active=False, merged_into=person.id)
    gained = tuple(h for h in before.handles if h not in person.handles)
    return merged, replace(person, handles=(*person.handles, *gained))


def released(roster: Roster, person: Person) -> tuple[Person, ...]:
    """Those who left with a handle that this person has now, without it."""
    return tuple(
        replace(other, handles=tuple(handle for handle in other.handles if handle not in person.handles))
        for other in roster.people.values()
        if other.id != person.id and not other.is_active and not set(other.handles).isdisjoint(person.handles)
    )


def gone(person: Person, everybody: Iterable[Person]) -> Person:
    admins = [p for p in everybody if p.is_active and p.role is Role.ADMIN and p.id != person.id]
    if person.role is Role.ADMIN and not admins:
        raise NotPossible(f"{person.name} is the only admin; make somebody else an admin first.")
    return replace(person, is_active=False)


def away(person: Person, until: datetime | None, stand_in: Person | None, now: datetime) -> Person:
    if until is None:
        return replace(person, away_until=None, stand_in=None)
    if until <= now:
        raise NotPossible("Away until when? That instant has passed.")
    if stand_in is not None and stand_in.id == person.id:
        raise NotPossible("Nobody stands in for themselves.")
    if stand_in is not None and not stand_in.role.includes(person.role):
        raise NotPossible(
            f"{stand_in.name} is {stand_in.role} and cannot stand in for {person.name}, who is {person.role}."
        )
    return replace(person, away_until=until, stand_in=stand_in.id if stand_in is not None else None)
