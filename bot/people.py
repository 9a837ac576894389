"""Changing people: what the HTTP API, the commands and later the surfaces do to them, each change written down."""

import asyncio
import hashlib
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from bot.household import Household
from core.hours import Window, parse_windows, windows_text, zone_problem
from core.ids import PersonId
from core.membership import NotPossible, away, gone, handle_from, linked, name_problem, new_person, released
from core.people import Handle, Person, Role
from core.phrasing import listing, moment, names_of, shown
from core.registry import HandleTaken, Outdated
from core.roster import Roster

CODE_LASTS = timedelta(minutes=10)
#: So many wrong codes from one handle, and it has to wait.
_WRONG_CODES = 5
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
_CODE_LENGTH = 8
_TRIES = 20

T = TypeVar("T")

#: What people may change about themselves; everything else is an admin's business.
OWN_FIELDS = ("zone", "working", "quiet")


@dataclass(frozen=True, slots=True)
class PersonChange:
    """What is to be different; None leaves a thing as it is, and an empty text takes it away."""

    name: str | None = None
    role: str | None = None
    handles: tuple[str, ...] | None = None
    zone: str | None = None
    working: str | None = None
    quiet: str | None = None


class PeopleOffice:
    def __init__(self, household: Household) -> None:
        self._household = household
        self._wrong: dict[Handle, list[datetime]] = {}
        #: One change at a time: each is judged on what the one before has left, such as the last admin.
        self._changing = asyncio.Lock()

    async def roster(self) -> Roster:
        self._household.changed()  # whoever changes people wants to see them as they are, not as they were
        return await self._household.roster()

    async def find(self, name: str) -> Person:
        return person_called(await self.roster(), name)

    async def add(self, change: PersonChange, *, by: str) -> Person:
        async def attempt() -> Person:
            roster = await self.roster()
            person = changed(new_person(change.name or "", Role.MEMBER, roster.people), change)
            _check_apart(person, roster)
            await self._save((person, *released(roster, person)), by, "person.added", described(None, person))
            return person

        return await self._judged(attempt)

    async def change(self, person: Person, change: PersonChange, *, by: str) -> Person:
        async def attempt() -> Person:
            roster = await self.roster()
            before = person_called(roster, person.id)
            after = changed(before, change)
            if before.role is Role.ADMIN and after.role is not Role.ADMIN:
                gone(before, roster.people.values())  # the last admin cannot step down
            if after.name.casefold() != before.name.casefold():
                _check_apart(after, roster)
            if after != before:
                await self._save((after, *released(roster, after)), by, "person.changed", described(before, after))
            return after

        return await self._judged(attempt)

    async def remove(self, person: Person, *, by: str) -> Person:
        async def attempt() -> Person:
            roster = await self.roster()
            before = person_called(roster, person.id)
            after = gone(before, roster.people.values())
            await self._save((after,), by, "person.removed", f"role: {before.role} -> none")
            return after

        return await self._judged(attempt)

    async def set_away(self, person: Person, until: datetime | None, stand_in: Person | None, *, by: str) -> Person:
        whole = until.replace(microsecond=0) if until is not None else None

        async def attempt() -> Person:
            roster = await self.roster()
            before = person_called(roster, person.id)
            after = away(before, whole, stand_in, datetime.now(UTC))
            if after != before:
                names = {p.id: p.name for p in roster.people.values()}
                await self._save((after,), by, "person.away", described(before, after, names))
            return after

        return await self._judged(attempt)

    async def link_code(self, person: Person) -> str:
        """A code that this person types on another surface within ten minutes to be known there."""
        code = "".join(secrets.choice(_ALPHABET) for _ in range(_CODE_LENGTH))
        await self._household.people.add_link_code(_digest(code), person.id, lasts=CODE_LASTS)
        return f"{code[:4]}-{code[4:]}"

    async def link(self, code: str, handle: Handle) -> Person:
        """The code was typed by whoever has this handle; from now on they are that person."""
        self._slow_down(handle)
        person_id = await self._household.people.take_link_code(_digest(code))
        roster = await self.roster()
        person = roster.active(person_id) if person_id is not None else None
        if person is None:
            self._wrong.setdefault(handle, []).append(datetime.now(UTC))
            raise NotPossible(
                "This code is not known, was used before or is older than ten minutes. Ask for a new one."
            )
        await self.connect(person, handle, by=f"{person.name} ({handle.surface})")
        return await self.find(person.id)

    async def connect(self, person: Person, handle: Handle, *, by: str) -> None:
        async def attempt() -> None:
            roster = await self.roster()
            people = linked(roster, person_called(roster, person.id), handle)
            if people:
                detail = f"{handle.surface}:{handle.address} is {person.name}"
                await self._save(people, by, "person.linked", detail)

        await self._judged(attempt)

    async def _judged(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """A change that was judged on people as they are: when somebody else was first, it is judged again."""
        async with self._changing:
            for _ in range(_TRIES):
                try:
                    return await attempt()
                except Outdated:
                    continue
        raise NotPossible("Others are changing people at the same time. Try again.")

    def _slow_down(self, handle: Handle) -> None:
        since = datetime.now(UTC) - CODE_LASTS
        recent = [at for at in self._wrong.get(handle, []) if at > since]
        self._wrong = {other: times for other, times in self._wrong.items() if times[-1] > since}
        if len(recent) >= _WRONG_CODES:
            raise NotPossible("Too many wrong codes. Wait ten minutes and ask for a new one.")

    async def _save(self, people: Sequence[Person], by: str, what: str, detail: str) -> None:
        try:
            seen = self._household.revision
            await self._household.people.save(people, by=by, what=what, detail=detail, seen=seen)
        except HandleTaken as taken:
            whose = (await self.roster()).people.get(taken.person_id)
            name = whose.name if whose is not None else taken.person_id
            raise NotPossible(f"{taken.handle.surface}:{taken.handle.address} belongs to {name}.") from None
        finally:
            self._household.changed()


def person_called(roster: Roster, name: str) -> Person:
    person = roster.find(name)
    if person is None:
        raise NotPossible(_not_found(roster, name))
    return person


def _not_found(roster: Roster, name: str) -> str:
    folded, here = name.casefold(), [person for person in roster.people.values() if person.is_active]
    called = [p for p in here if p.name.casefold() == folded or any(h.address.casefold() == folded for h in p.handles)]
    if called:
        return f"More than one is called {shown(name)}; say which by id: {names_of([p.id for p in called])}."
    left = [p for p in roster.people.values() if p.merged_into is None and folded in (p.id, p.name.casefold())]
    if left:
        return f"{left[0].name} was removed."
    if not here:
        return f"There is nobody called {shown(name)}; there is nobody at all yet."
    are = "are" if len(here) > 1 else "is only"
    return f"There is nobody called {shown(name)}. There {are} {listing([person.name for person in here])}."


def _check_apart(person: Person, roster: Roster) -> None:
    """Names stand for people in the policy and in commands, so nobody is called like anybody or anything else."""
    folded = person.name.casefold()
    others = [other for other in roster.people.values() if other.is_active and other.id != person.id]
    taken = {other.name.casefold() for other in others} | {other.id for other in others}
    if folded in taken:
        raise NotPossible(f"There is somebody called {shown(person.name)} already; name them apart.")
    if folded in {name.casefold() for name in (*roster.groups, *roster.schedules)}:
        raise NotPossible(f"There is a group or a schedule called {shown(person.name)}; name them apart.")


def changed(person: Person, change: PersonChange) -> Person:
    problem = name_problem(change.name) if change.name is not None else None
    problem = problem or (zone_problem(change.zone) if change.zone else None)
    if problem is not None:
        raise NotPossible(problem)
    return replace(
        person,
        name=change.name.strip() if change.name is not None else person.name,
        role=_role(change.role) if change.role is not None else person.role,
        handles=tuple(dict.fromkeys(map(handle_from, change.handles)))
        if change.handles is not None
        else person.handles,
        zone=change.zone or person.zone,
        working=_windows(change.working, person.working),
        quiet=_windows(change.quiet, person.quiet),
    )


def _windows(text: str | None, before: tuple[Window, ...]) -> tuple[Window, ...]:
    if text is None:
        return before
    try:
        return parse_windows(text)
    except ValueError as problem:
        raise NotPossible(str(problem)) from None


def _role(name: str) -> Role:
    try:
        return Role(name)
    except ValueError:
        raise NotPossible(f"There is no role {shown(name)}. Use one of {listing(list(Role))}.") from None


#: What the audit calls the things that change about people.
_WORDS = {
    "name": "name",
    "role": "role",
    "handles": "handles",
    "zone": "zone",
    "working": "works",
    "quiet": "quiet",
    "away_until": "away until",
    "stand_in": "stand-in",
}


def described(before: Person | None, after: Person, names: Mapping[PersonId, str] | None = None) -> str:
    """What is different, one line each."""
    lines = []
    for field, word in _WORDS.items():
        old, new = (getattr(person, field) if person is not None else None for person in (before, after))
        if before is None and new not in ((), None):
            lines.append(f"{word}: {_told(new, names)}")
        elif before is not None and old != new:
            lines.append(f"{word}: {_told(old, names)} -> {_told(new, names)}")
    return "\n".join(lines)


def _told(value: object, names: Mapping[PersonId, str] | None) -> str:
    match value:
        case None | ():
            return "none"
        case datetime():
            return moment(value)
        case tuple():
            handles = [f"{each.surface}:{each.address}" for each in value if isinstance(each, Handle)]
            return ", ".join(handles) or windows_text(value)
        case str() if names is not None and value in names:
            return names[PersonId(value)]
        case _:
            return str(value)


def _digest(code: str) -> str:
    plain = "".join(letter for letter in code.upper() if letter.isalnum())
    return hashlib.sha256(plain.encode()).hexdigest()
