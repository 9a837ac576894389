"""A few people around one question, for cases told by name."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from core.answers import AnswerShape, ApprovalShape, RawAnswer
from core.commands import Answer
from core.decisions import Accepted, Case, Decision, Refused
from core.digests import action_digest
from core.events import Event, VoteVoided
from core.ids import JsonObject, PersonId
from core.kinds import Kind
from core.machine import apply, decide
from core.people import Actor, Person, Role
from core.policies import Panel, Policy
from core.question import Action, Asker, Question
from core.roster import Roster
from tests.support.builders import AGENT, acting, after, opened, question_id, spec


def person(name: str, role: Role = Role.APPROVER, **fields: Any) -> Person:
    return Person(PersonId(f"p_{name.lower()}"), name, role, **fields)


ANA, BEN, CLEO, DAN = person("Ana"), person("Ben"), person("Cleo"), person("Dan")
MIA, LEE, ADA = person("Mia", Role.MEMBER), person("Lee", Role.LEAD), person("Ada", Role.ADMIN)
EVERYBODY = (ANA, BEN, CLEO, DAN, MIA, LEE, ADA)

SHOWN: JsonObject = {"count": 5}
ACTION = Action("deploy", SHOWN, action_digest("deploy", SHOWN, None, None), editable=True)


def panel(*people: Person, need: int = 1, group: str | None = None, name: str = "release") -> Panel:
    return Panel(name, need, tuple(each.id for each in people), group=group)


class Room:
    """One question and the people as they are now."""

    def __init__(
        self,
        *panels: Panel,
        groups: Mapping[str, tuple[Person, ...]] | None = None,
        kind: Kind = Kind.APPROVAL,
        shape: AnswerShape | None = None,
        asker: Asker | None = None,
        **fields: Any,
    ) -> None:
        self.people = {each.id: each for each in EVERYBODY}
        self.groups = {name: tuple(p.id for p in people) for name, people in (groups or {}).items()}
        self.minute = 0
        self.events: list[Event] = []
        of = spec(
            kind,
            shape or ApprovalShape(editable=True),
            time_limit=None,
            policy=Policy(panels, **fields),
            action=ACTION if kind is Kind.APPROVAL else None,
            asker=asker or Asker(AGENT.principal, AGENT.name),
        )
        self.case = Case(opened(of))

    @property
    def roster(self) -> Roster:
        return Roster(self.people, self.groups)

    @property
    def now(self) -> datetime:
        return after(self.minute)

    @property
    def question(self) -> Question:
        assert self.case.question is not None
        return self.case.question

    @property
    def have(self) -> int:
        return self.question.tally.have

    @property
    def deciders(self) -> set[str]:
        assert self.question.outcome is not None
        return {decider.name or "" for decider in self.question.outcome.deciders}

    @property
    def decided(self) -> bool | None:
        """What it came to; None while it is open."""
        outcome = self.question.outcome
        if outcome is None or outcome.answer is None:
            return None
        assert isinstance(outcome.answer.value, bool)
        return outcome.answer.value

    @property
    def voided(self) -> list[str]:
        return [event.name for event in self.events if isinstance(event, VoteVoided)]

    def change(self, who: Person, **fields: Any) -> None:
        self.people[who.id] = replace(self.people[who.id], **fields)

    def merge(self, one: Person, into: Person) -> None:
        self.change(one, is_active=False, merged_into=into.id)

    def away(self, who: Person, stand_in: Person, minutes: float = 60) -> None:
        self.change(who, away_until=after(self.minute + minutes), stand_in=stand_in.id)

    def tries(self, actor: Actor, value: Any = True, arguments: JsonObject | None = None) -> Decision:
        self.minute += 1
        command = Answer(question_id(1), actor, RawAnswer(value, None, arguments))
        decision = decide(self.case, command, self.now, self.roster)
        self.case = apply(self.case, decision.events)
        self.events.extend(decision.events)
        return decision

    def says(
        self, who: Person, value: Any = True, arguments: JsonObject | None = None, *, on: str = "web"
    ) -> tuple[Event, ...]:
        decision = self.tries(acting(who, on), value, arguments)
        assert isinstance(decision, Accepted), decision
        return decision.events

    def refuses(self, who: Person | Actor, value: Any = True) -> Refused:
        decision = self.tries(who if isinstance(who, Actor) else acting(who), value)
        assert isinstance(decision, Refused), decision
        assert not decision.events
        return decision
