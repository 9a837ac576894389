"""What people get to see. Whoever may answer sees a question, and so does whoever it is put to, leads and admins."""

from dataclasses import replace
from datetime import datetime

from core.people import Actor, Person, Role, person_principal
from core.policies import objection
from core.question import Question
from core.roster import Roster


def sees(person: Person, question: Question, roster: Roster, now: datetime) -> bool:
    if person.role.includes(Role.LEAD) or person.id in question.asked:
        return True
    # Whoever is kept from deciding because the agent works for them may look all the same.
    policy = replace(question.policy, barred=())
    asker = question.spec.asker.principal
    acting = Actor(person_principal(person.id), person.name, "", person)
    return acting.principal == asker or objection(policy, asker, acting, roster, now) is None
