"""The five people whom docs/policy.md and these tests speak of."""

from core.ids import PersonId
from core.people import Handle, Person, Role
from core.roster import Roster


def person(name: str, role: Role = Role.MEMBER, *, is_active: bool = True, id: str | None = None) -> Person:
    handles = (Handle("email", f"{name.lower()}@example.com"), Handle("slack", f"U{name.upper()}"))
    return Person(PersonId(id or f"p_{name.lower()}"), name, role, handles, is_active=is_active)


def roster_of(*people: Person) -> Roster:
    return Roster({each.id: each for each in people}, connected=frozenset({"slack", "email"}))


DANA = person("Dana", Role.ADMIN)
ERIK = person("Erik", Role.LEAD)
MIA = person("Mia", Role.APPROVER)
NOOR = person("Noor", Role.APPROVER)
OLU = person("Olu")
TEAM = roster_of(DANA, ERIK, MIA, NOOR, OLU)
