"""What people get to see."""

from dataclasses import replace

import pytest

from core.ids import PersonId
from core.people import Person, Role, person_principal
from core.policies import Panel, Policy
from core.question import Asker
from core.roster import Roster
from core.visibility import sees
from tests.support.builders import NOW, opened, spec

_PEOPLE = {role: Person(PersonId(f"p_{role}"), role.title(), role) for role in Role}
_ROSTER = Roster({person.id: person for person in _PEOPLE.values()})
_APPROVERS = Policy((Panel("an approver", roles=(Role.APPROVER,)),))


@pytest.mark.parametrize(
    ("role", "seen"), [(Role.MEMBER, False), (Role.APPROVER, True), (Role.LEAD, True), (Role.ADMIN, True)]
)
def test_whoever_may_answer_sees_it_and_so_do_leads(role: Role, seen: bool) -> None:
    assert sees(_PEOPLE[role], opened(spec(policy=_APPROVERS)), _ROSTER, NOW) is seen


def test_whoever_it_is_put_to_sees_it() -> None:
    member = _PEOPLE[Role.MEMBER]
    assert sees(member, opened(spec(policy=_APPROVERS, asked=(member.id,))), _ROSTER, NOW)


def test_whoever_is_barred_by_four_eyes_may_look() -> None:
    approver = _PEOPLE[Role.APPROVER]
    barred = replace(_APPROVERS, barred=(approver.id,), four_eyes=True)
    assert sees(approver, opened(spec(policy=barred)), _ROSTER, NOW)


def test_a_person_who_asks_sees_their_own_question() -> None:
    member = _PEOPLE[Role.MEMBER]
    own = spec(policy=_APPROVERS, asker=Asker(person_principal(member.id), member.name))
    assert sees(member, opened(own), _ROSTER, NOW)
