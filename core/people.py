"""People, and whoever is acting: a person on a surface or an agent with its key."""

from dataclasses import dataclass
from enum import StrEnum

from core.ids import PersonId, Principal


class Role(StrEnum):
    ADMIN = "admin"
    MEMBER = "member"


@dataclass(frozen=True, slots=True)
class Person:
    id: PersonId
    name: str
    role: Role


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
