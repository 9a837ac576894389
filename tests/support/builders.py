"""Values for tests, with everything filled in that a test does not care about."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from core.answers import AnswerShape, RawAnswer, TextShape
from core.commands import Answer, Ask
from core.ids import JobId, PersonId, QuestionId, WorkspaceId
from core.kinds import KINDS, Kind
from core.people import Actor, Person, Role, agent_principal, person_principal
from core.policies import ADMIN_ANSWERS
from core.question import Asker, Spec

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WORKSPACE = WorkspaceId("default")

DANA = Person(PersonId("p_dana"), "Dana", Role.ADMIN)
EVE = Person(PersonId("p_eve"), "Eve", Role.MEMBER)

AGENT = Actor(agent_principal("builder"), "builder", "api")
OTHER_AGENT = Actor(agent_principal("stranger"), "stranger", "api")


def acting(person: Person, surface: str = "api") -> Actor:
    return Actor(person_principal(person.id), person.name, surface, person)


def question_id(number: int) -> QuestionId:
    return QuestionId(f"q_{number:026d}")


def spec(
    kind: Kind = Kind.BLOCKING,
    shape: AnswerShape | None = None,
    *,
    job: str | None = None,
    time_limit: timedelta | str | None = "of the kind",
    **fields: Any,
) -> Spec:
    limit = KINDS[kind].time_limit if isinstance(time_limit, str) else time_limit
    made = Spec(
        workspace_id=WORKSPACE,
        asker=Asker(AGENT.principal, AGENT.name),
        text="Which database?",
        kind=kind,
        shape=shape if shape is not None else TextShape(),
        policy=ADMIN_ANSWERS,
        time_limit=limit,
        job_id=JobId(job) if job is not None else None,
    )
    return replace(made, **fields)


def ask(number: int = 1, of: Spec | None = None) -> Ask:
    return Ask(question_id(number), of if of is not None else spec())


def answer(number: int = 1, value: Any = "PostgreSQL", by: Actor | None = None, *, late: bool = False) -> Answer:
    return Answer(question_id(number), by if by is not None else acting(DANA), RawAnswer(value), late)
