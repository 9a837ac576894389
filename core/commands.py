"""What somebody wants. Imperative, and carrying everything a decision needs but the time."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from core.answers import RawAnswer
from core.ids import JobId, QuestionId, WorkspaceId
from core.job import OnTimeout
from core.kinds import JobStatus
from core.people import Actor
from core.question import DeliveryRecord, Spec


@dataclass(frozen=True, slots=True)
class Ask:
    question_id: QuestionId
    spec: Spec
    #: An admin may ask in anybody's job.
    by_admin: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    question_id: QuestionId
    actor: Actor
    raw: RawAnswer
    #: The responder knows that the question has closed and sends the answer on all the same.
    late: bool = False
    #: Who the sender says has answered. It is kept as a claim; who decided is told by the key.
    claimed_by: str | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment in the question's thread. A responder's remark asks back unless it says otherwise."""

    question_id: QuestionId
    actor: Actor
    text: str
    asks_back: bool | None = None


@dataclass(frozen=True, slots=True)
class Withdraw:
    question_id: QuestionId
    actor: Actor
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """Somebody is looking at it; the next step of the ladder waits for them a while."""

    question_id: QuestionId
    actor: Actor


@dataclass(frozen=True, slots=True)
class Snooze:
    """No reminder and no rung before this instant. The deadline stays where it is."""

    question_id: QuestionId
    actor: Actor
    until: datetime


@dataclass(frozen=True, slots=True)
class Remind:
    """Nudge those it is put to, now."""

    question_id: QuestionId
    actor: Actor


@dataclass(frozen=True, slots=True)
class Reassign:
    """Put the question to other people. It never gives anybody the right to answer."""

    question_id: QuestionId
    actor: Actor
    #: A person or a group, as it was typed.
    to: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed; see what that means."""

    question_id: QuestionId


@dataclass(frozen=True, slots=True)
class RecordDelivery:
    question_id: QuestionId
    delivery: DeliveryRecord


@dataclass(frozen=True, slots=True)
class SteerJob:
    workspace_id: WorkspaceId
    job_id: JobId
    actor: Actor
    status: JobStatus | None = None
    reason: str | None = None
    on_timeout: OnTimeout | None = None
    max_open_holding: int | None = None
    sets_max_open_holding: bool = False


@dataclass(frozen=True, slots=True)
class ReportProgress:
    workspace_id: WorkspaceId
    job_id: JobId
    actor: Actor
    text: str


@dataclass(frozen=True, slots=True)
class FinishClosing:
    """The open questions of an ended job have all been withdrawn."""

    workspace_id: WorkspaceId
    job_id: JobId


Steering: TypeAlias = Acknowledge | Snooze | Remind | Reassign
QuestionCommand: TypeAlias = Ask | Answer | Remark | Withdraw | Tick | RecordDelivery | Steering
JobCommand: TypeAlias = SteerJob | ReportProgress | FinishClosing
Command: TypeAlias = QuestionCommand | JobCommand
