"""Who may answer. The policy is frozen into the question when it is asked, and it fails closed."""

from dataclasses import dataclass

from core.ids import Principal
from core.people import Actor, Role


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one question. An empty set of roles means that nobody may answer it."""

    responder_roles: tuple[Role, ...] = ()


#: Until people get roles of their own, the admin answers everything and nobody else answers anything.
ADMIN_ANSWERS = Policy(responder_roles=(Role.ADMIN,))


def objection(policy: Policy, asker: Principal, actor: Actor) -> str | None:
    """Why this actor may not answer, or None when they may."""
    if actor.principal == asker:
        return "You asked this question; somebody else has to answer it."
    if actor.person is None:
        return "Agents do not answer questions; use a key that belongs to a person."
    if actor.person.role not in policy.responder_roles:
        return f"{actor.person.name} is not among the people who may answer this question."
    return None
