"""Values for tests, with everything filled in that a test does not care about."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from core import machine
from core.answers import AnswerShape, AnswerValue, RawAnswer, TextShape
from core.asking import Draft, House, compose
from core.commands import Answer, Ask, QuestionCommand, RecordDelivery, Remark, SteerJob, Tick, Withdraw
from core.deadlines import TimeLimits
from core.decisions import Case, Decision
from core.freezing import Ground
from core.ids import JobId, PersonId, QuestionId, WorkspaceId
from core.job import Holding, Job
from core.kinds import KINDS, JobStatus, Kind
from core.machine import apply
from core.people import Actor, Person, Role, agent_principal, person_principal
from core.policies import Panel, Policy
from core.question import (
    Asker,
    Decider,
    DeliveryRecord,
    DeliveryState,
    Outcome,
    OutcomeKind,
    Question,
    Spec,
    Status,
)
from core.refusals import Unacceptable
from core.roster import Roster
from core.rulebook import AnswerRule, Match, Rulebook, Seats

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WORKSPACE = WorkspaceId("default")

DANA = Person(PersonId("p_dana"), "Dana", Role.ADMIN)
EVE = Person(PersonId("p_eve"), "Eve", Role.MEMBER)

ADMIN_ANSWERS = Policy((Panel("an admin", roles=(Role.ADMIN,)),), rule="admins")
ROSTER = Roster({person.id: person for person in (DANA, EVE)})
RULES = Rulebook(answers=(AnswerRule("admins", Match(), (Seats(role=Role.ADMIN),)),))

AGENT = Actor(agent_principal("builder"), "builder", "api")
OTHER_AGENT = Actor(agent_principal("stranger"), "stranger", "api")


def acting(person: Person, surface: str = "api") -> Actor:
    return Actor(person_principal(person.id), person.name, surface, person, is_admin=person.role is Role.ADMIN)


def decide(case: Case, command: QuestionCommand, now: datetime, roster: Roster = ROSTER) -> Decision:
    """The machine's judgement among Dana, who is an admin, and Eve, who is a member."""
    return machine.decide(case, command, now, roster)


async def everybody() -> Roster:
    return ROSTER


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


ASKER = Asker(AGENT.principal, AGENT.name)
HOUSE = House(WORKSPACE, TimeLimits(), Ground(RULES, ROSTER, NOW))
BY_DANA = Decider("person", "p_dana", "Dana", "api")
BY_ASKER = Decider("asker", "agent:builder", "builder", "api")
POSTGRES = AnswerValue("PostgreSQL")


def after(minutes: float = 0, *, hours: float = 0) -> datetime:
    """So long after NOW, which is when every question of these tests is asked."""
    return NOW + timedelta(minutes=minutes, hours=hours)


def draft(text: str = "Which database?", **fields: Any) -> Draft:
    return replace(Draft(text), **fields)


def opened(of: Spec | None = None, number: int = 1) -> Question:
    """A question as it stands right after it was asked at NOW."""
    made = of if of is not None else spec()
    deadline = None if made.time_limit is None else NOW + made.time_limit
    shown, asked = made.targets, made.asked
    return Question(question_id(number), made, NOW, 1, Status.OPEN, deadline=deadline, targets=shown, asked=asked)


def answered(of: Spec | None = None, value: Any = "PostgreSQL") -> Question:
    """Dana answered it a minute after it was asked."""
    outcome = Outcome(OutcomeKind.ANSWERED, BY_DANA, after(1), answer=AnswerValue(value), deciders=(BY_DANA,))
    return replace(opened(of), version=2, status=Status.ANSWERED, outcome=outcome)


def expired(of: Spec | None = None) -> Question:
    """Nobody answered it within half an hour."""
    outcome = Outcome(OutcomeKind.EXPIRED, Decider("deadline"), after(30))
    return replace(opened(of), version=2, status=Status.EXPIRED, outcome=outcome)


def withdrawn(of: Spec | None = None, reason: str | None = None) -> Question:
    """Its asker took it back a minute after asking."""
    by = Decider("asker", "agent:builder", "builder", "api")
    outcome = Outcome(OutcomeKind.WITHDRAWN, by, after(1), reason=reason)
    return replace(opened(of), version=2, status=Status.WITHDRAWN, outcome=outcome)


def a_job(name: str = "nightly", **fields: Any) -> Job:
    return replace(Job(WORKSPACE, JobId(name), AGENT.principal, NOW, NOW), **fields)


def remark(text: str = "Which size?", by: Actor | None = None, *, asks_back: bool | None = None) -> Remark:
    return Remark(question_id(1), by if by is not None else acting(DANA), text, asks_back)


def withdraw(by: Actor = AGENT, reason: str | None = None) -> Withdraw:
    return Withdraw(question_id(1), by, reason)


def tick(number: int = 1) -> Tick:
    return Tick(question_id(number))


def record_delivery(state: DeliveryState = DeliveryState.POSTED) -> RecordDelivery:
    return RecordDelivery(question_id(1), DeliveryRecord("slack", state, NOW, address="C1"))


def steer(by: Actor = AGENT, **fields: Any) -> SteerJob:
    return replace(SteerJob(WORKSPACE, JobId("nightly"), by), **fields)


def happened(case: Case, *steps: tuple[QuestionCommand, datetime]) -> Case:
    """The case after these commands, each at its time."""
    for command, at in steps:
        case = apply(case, decide(case, command, at).events)
    return case


#: A job that waits for question 1, which was asked in it at NOW.
HELD = a_job(
    status=JobStatus.WAITING_FOR_INPUT,
    resume_status=JobStatus.RUNNING,
    holding=(Holding(question_id(1), JobStatus.WAITING_FOR_INPUT, NOW),),
    version=1,
)
IN_JOB = spec(job="nightly")


def question_of(case: Case) -> Question:
    assert case.question is not None
    return case.question


def job_of(case: Case) -> Job:
    assert case.job is not None
    return case.job


def composed(of: Draft, house: House = HOUSE) -> Spec:
    """The question of a draft that has to be acceptable."""
    made = compose(of, ASKER, house)
    assert isinstance(made, Spec), made
    return made


def refused(of: Draft, house: House = HOUSE) -> Unacceptable:
    """Why a draft that has to be refused is."""
    made = compose(of, ASKER, house)
    assert isinstance(made, Unacceptable), made
    return made
