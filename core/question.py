"""The question: what was asked, which never changes, and what has become of it so far."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

from core.answers import AnswerShape, AnswerValue
from core.ids import JobId, JsonObject, PersonId, Principal, QuestionId, WorkspaceId
from core.kinds import KINDS, Kind, KindRule
from core.policies import Policy


class Status(StrEnum):
    OPEN = "open"
    ANSWERED = "answered"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class Urgency(StrEnum):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    URGENT = "urgent"


class Risk(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Action:
    """What an approval approves. `digest` binds the decision to exactly these bytes."""

    tool: str
    arguments: JsonObject
    digest: str
    diff: str | None = None
    risk: Risk | None = None
    editable: bool = False


@dataclass(frozen=True, slots=True)
class Asker:
    principal: Principal
    name: str
    #: The key it asked with; its secret signs what goes to the question's own callback.
    key_id: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """A place on a surface where the question is shown."""

    surface: str
    address: str


@dataclass(frozen=True, slots=True)
class Spec:
    """Everything that was settled when the question was asked."""

    workspace_id: WorkspaceId
    asker: Asker
    text: str
    kind: Kind
    shape: AnswerShape
    policy: Policy
    time_limit: timedelta | None = None
    default: AnswerValue | None = None
    job_id: JobId | None = None
    project_id: str | None = None
    context: JsonObject | None = None
    action: Action | None = None
    to: str | None = None
    urgency: Urgency = Urgency.NORMAL
    reminder: timedelta | None = None
    tags: tuple[str, ...] = ()
    metadata: JsonObject | None = None
    callback_url: str | None = None
    agent: str | None = None
    phase: str | None = None
    category: str | None = None
    operation_id: str | None = None
    targets: tuple[Target, ...] = ()

    @property
    def rule(self) -> KindRule:
        return KINDS[self.kind]


@dataclass(frozen=True, slots=True)
class Decider:
    """Who or what decided. Time and silence have their own words here, so they never pass for a person."""

    type: Literal["person", "default", "deadline", "rule", "asker"]
    id: str | None = None
    name: str | None = None
    surface: str | None = None


class OutcomeKind(StrEnum):
    ANSWERED = "answered"
    DEFAULTED = "defaulted"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Outcome:
    kind: OutcomeKind
    decided_by: Decider
    decided_at: datetime
    answer: AnswerValue | None = None
    deciders: tuple[Decider, ...] = ()
    reason: str | None = None
    decided_digest: str | None = None
    claimed_by: str | None = None


@dataclass(frozen=True, slots=True)
class Comment:
    author: Decider
    text: str
    at: datetime
    asks_back: bool


@dataclass(frozen=True, slots=True)
class LateAnswer:
    answer: AnswerValue
    by: Decider
    at: datetime


@dataclass(frozen=True, slots=True)
class Pause:
    """The clock stands still while a responder waits for the asker, but never beyond `until`."""

    since: datetime
    until: datetime
    remaining: timedelta | None


class DeliveryState(StrEnum):
    POSTED = "posted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class DeliveryRecord:
    surface: str
    state: DeliveryState
    at: datetime
    link: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    id: QuestionId
    spec: Spec
    asked_at: datetime
    version: int
    status: Status
    deadline: datetime | None = None
    pause: Pause | None = None
    comments: tuple[Comment, ...] = field(default=())
    outcome: Outcome | None = None
    late_answers: tuple[LateAnswer, ...] = field(default=())
    deliveries: tuple[DeliveryRecord, ...] = field(default=())

    @property
    def is_open(self) -> bool:
        return self.status is Status.OPEN

    @property
    def votes(self) -> int:
        answered = self.outcome is not None and self.outcome.kind is OutcomeKind.ANSWERED
        return len(self.outcome.deciders) if answered and self.outcome is not None else 0


def person_decider(person_id: PersonId, name: str, surface: str) -> Decider:
    return Decider("person", person_id, name, surface)
