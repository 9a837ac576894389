"""The question: what was asked, which never changes, and what has become of it so far."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

from core.answers import AnswerShape, AnswerValue
from core.ids import JobId, JsonObject, PersonId, Principal, QuestionId, WorkspaceId
from core.kinds import KINDS, Kind, KindRule
from core.places import Target
from core.policies import Policy, Tally, empty_tally
from core.steps import Step


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
    #: Whose key it is, and for whom the agent says it works; neither approves where four eyes are wanted.
    owner: PersonId | None = None
    on_behalf_of: PersonId | None = None


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
    #: Places that show it whatever happens, such as the terminal of the server.
    targets: tuple[Target, ...] = ()
    #: Where it goes, in order: the places of one step together, the next step when all of them fail.
    route: tuple[tuple[Target, ...], ...] = ()
    ladder: tuple[Step, ...] = ()
    #: Whom it is put to at first.
    asked: tuple[PersonId, ...] = ()
    #: The time limit is the kind's own, so a rung that waits for working hours takes the deadline with it.
    limit_is_default: bool = False
    #: How long "looking at it" keeps the next step back.
    acknowledgement: timedelta = timedelta(minutes=15)

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
class Vote:
    """One person's word where it takes several. A later vote of the same person replaces it."""

    by: Decider
    answer: AnswerValue
    at: datetime
    #: What the vote is about: the digest of the arguments as this person left them, if they changed them.
    digest: str | None = None
    claimed_by: str | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """A step of the ladder that is still to come, and how long it has been waiting for working hours."""

    step: int
    due: datetime
    held: timedelta = timedelta(0)
    #: How long it has been waiting because its people look at the inbox; that happens once.
    spared: timedelta = timedelta(0)

    @property
    def by_itself(self) -> datetime:
        """When it would come if it waited for nobody."""
        return self.due - self.held - self.spared


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    by: Decider
    at: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Milestone:
    """Something that was done to get an answer, as the story of the question tells it."""

    at: datetime
    sentence: str


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
    address: str | None = None


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
    votes: tuple[Vote, ...] = field(default=())
    #: How far the votes have come, as it was counted at the last of them.
    counted: Tally | None = None
    #: Where it is shown by now, and how far along its route it has got.
    targets: tuple[Target, ...] = field(default=())
    route_step: int = 0
    #: Whom it is put to by now.
    asked: tuple[PersonId, ...] = field(default=())
    agenda: tuple[Planned, ...] = field(default=())
    #: How much later the deadline is because steps waited for working hours.
    extended: timedelta = timedelta(0)
    acknowledged: Acknowledgement | None = None
    nudged_at: datetime | None = None
    #: People whom rungs of the ladder added to a panel.
    joined: tuple[tuple[str, PersonId], ...] = field(default=())
    story: tuple[Milestone, ...] = field(default=())

    @property
    def is_open(self) -> bool:
        return self.status is Status.OPEN

    @property
    def is_approval(self) -> bool:
        return self.spec.shape.type == "approval"

    @property
    def awaited(self) -> tuple[PersonId, ...]:
        """Those it is put to who have not said a word yet."""
        voted = {vote.by.id for vote in self.votes}
        return tuple(person for person in self.asked if person not in voted)

    @property
    def tally(self) -> Tally:
        return self.counted or empty_tally(self.policy)

    @property
    def policy(self) -> Policy:
        """The frozen policy, with the people that rungs of its ladder brought in."""
        if not self.joined:
            return self.spec.policy
        panels = tuple(
            replace(panel, joined=tuple(person for name, person in self.joined if name == panel.name))
            for panel in self.spec.policy.panels
        )
        return replace(self.spec.policy, panels=panels)


def person_decider(person_id: PersonId, name: str, surface: str) -> Decider:
    return Decider("person", person_id, name, surface)
