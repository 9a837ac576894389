"""People, and whoever is acting: a person on a surface or an agent with its key."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.hours import Hours, Window
from core.ids import PersonId, Principal


class Role(StrEnum):
    """What somebody is in the workspace. Each role includes what the ones before it may do."""

    MEMBER = "member"
    APPROVER = "approver"
    LEAD = "lead"
    ADMIN = "admin"

    def includes(self, other: "Role") -> bool:
        return _RANKS.index(self) >= _RANKS.index(other)


_RANKS = tuple(Role)


@dataclass(frozen=True, slots=True)
class Handle:
    """What somebody is called on one surface. The address never changes there, unlike names shown to others."""

    surface: str
    address: str


@dataclass(frozen=True, slots=True)
class Person:
    id: PersonId
    name: str
    role: Role
    #: Where they can be reached, the preferred one first.
    handles: tuple[Handle, ...] = ()
    zone: str = "UTC"
    #: When they work; empty means that no hour is outside.
    working: tuple[Window, ...] = ()
    #: When they want to be left alone.
    quiet: tuple[Window, ...] = ()
    away_until: datetime | None = None
    stand_in: PersonId | None = None
    is_active: bool = True
    #: Somebody who turned out to be another person we knew already.
    merged_into: PersonId | None = None

    @property
    def working_hours(self) -> Hours:
        return Hours(self.zone, self.working)

    @property
    def quiet_hours(self) -> Hours:
        return Hours(self.zone, self.quiet)

    def is_away(self, at: datetime) -> bool:
        return self.away_until is not None and at < self.away_until

    def handle_on(self, surface: str) -> Handle | None:
        return next((handle for handle in self.handles if handle.surface == surface), None)


@dataclass(frozen=True, slots=True)
class Actor:
    """Who gives a command, and where: `person` is None when an agent acts."""

    principal: Principal
    name: str
    surface: str
    person: Person | None = None
    #: May steer and withdraw what others began. Answering is another matter: that is told by the question's policy.
    is_admin: bool = False


def person_principal(person_id: PersonId) -> Principal:
    return Principal(f"person:{person_id}")


def agent_principal(name: str) -> Principal:
    return Principal(f"agent:{name}")
