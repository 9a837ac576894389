"""What happened. Past tense, final, in one order per question."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from core.answers import AnswerValue
from core.ids import QuestionId
from core.job import Job
from core.question import Comment, Decider, DeliveryRecord, Spec


@dataclass(frozen=True, slots=True)
class Asked:
    at: datetime
    question_id: QuestionId
    spec: Spec


@dataclass(frozen=True, slots=True)
class Answered:
    at: datetime
    answer: AnswerValue
    by: Decider
    decided_digest: str | None = None
    claimed_by: str | None = None


@dataclass(frozen=True, slots=True)
class Defaulted:
    at: datetime
    answer: AnswerValue


@dataclass(frozen=True, slots=True)
class Expired:
    at: datetime


@dataclass(frozen=True, slots=True)
class Withdrawn:
    at: datetime
    by: Decider
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class AskedBack:
    at: datetime
    comment: Comment


@dataclass(frozen=True, slots=True)
class Commented:
    at: datetime
    comment: Comment
    #: The asker replied, so the clock runs again.
    resumes: bool = False


@dataclass(frozen=True, slots=True)
class Resumed:
    """Nobody replied to an ask-back within its bound; the clock runs again."""

    at: datetime


@dataclass(frozen=True, slots=True)
class LateAnswered:
    at: datetime
    answer: AnswerValue
    by: Decider


@dataclass(frozen=True, slots=True)
class Delivered:
    at: datetime
    delivery: DeliveryRecord


@dataclass(frozen=True, slots=True)
class Undeliverable:
    at: datetime
    delivery: DeliveryRecord


@dataclass(frozen=True, slots=True)
class JobChanged:
    """The job became `after`."""

    at: datetime
    before: Job | None
    after: Job

    @property
    def moved(self) -> bool:
        return self.before is None or self.before.status is not self.after.status


@dataclass(frozen=True, slots=True)
class Progressed:
    at: datetime
    before: Job | None
    after: Job
    text: str


QuestionEvent: TypeAlias = (
    Asked
    | Answered
    | Defaulted
    | Expired
    | Withdrawn
    | AskedBack
    | Commented
    | Resumed
    | LateAnswered
    | Delivered
    | Undeliverable
)
JobEvent: TypeAlias = JobChanged | Progressed
Event: TypeAlias = QuestionEvent | JobEvent


def is_told(event: Event) -> bool:
    """Whether the event is kept for readers; a job that was written without moving is nobody's news."""
    return not isinstance(event, JobChanged) or event.moved


#: The name of every event as streams, webhooks and the history call it.
EVENT_NAMES: Mapping[type[Event], str] = {
    Asked: "question.asked",
    Answered: "question.answered",
    Defaulted: "question.defaulted",
    Expired: "question.expired",
    Withdrawn: "question.withdrawn",
    AskedBack: "question.asked_back",
    Commented: "question.commented",
    Resumed: "question.resumed",
    LateAnswered: "question.late_answer",
    Delivered: "question.delivered",
    Undeliverable: "question.undeliverable",
    JobChanged: "job.status",
    Progressed: "job.progress",
}
