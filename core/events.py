"""What happened. Past tense, final, in one order per question."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from core.answers import AnswerValue
from core.ids import PersonId, QuestionId
from core.job import Job
from core.places import Target
from core.policies import Tally
from core.question import Comment, Decider, DeliveryRecord, Spec, Vote


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
    #: Everybody whose word it took, where it took several.
    deciders: tuple[Decider, ...] = ()
    counted: Tally | None = None


@dataclass(frozen=True, slots=True)
class Voted:
    """One more word, and not yet enough of them."""

    at: datetime
    vote: Vote
    counted: Tally


@dataclass(frozen=True, slots=True)
class VoteVoided:
    """Whoever gave this word may no longer give it."""

    at: datetime
    person_id: str
    name: str
    counted: Tally


@dataclass(frozen=True, slots=True)
class Reminded:
    """Those it is put to were nudged: by a step of its ladder, or by somebody."""

    at: datetime
    sentence: str
    people: tuple[PersonId, ...] = ()
    targets: tuple[Target, ...] = ()
    step: int | None = None
    by: Decider | None = None


@dataclass(frozen=True, slots=True)
class Escalated:
    """A rung of the ladder put it to more people."""

    at: datetime
    step: int
    sentence: str
    people: tuple[PersonId, ...] = ()
    targets: tuple[Target, ...] = ()
    joins: str | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A step waits: for the working hours of its people, and the deadline with it where the limit allows that; or
    because they have the inbox before their eyes."""

    at: datetime
    step: int
    until: datetime
    sentence: str
    extended: timedelta = timedelta(0)
    #: Those who look at the inbox, where that is why it waits.
    looking: tuple[PersonId, ...] = ()


@dataclass(frozen=True, slots=True)
class Acknowledged:
    at: datetime
    by: Decider
    until: datetime
    sentence: str


@dataclass(frozen=True, slots=True)
class Snoozed:
    at: datetime
    by: Decider
    until: datetime
    sentence: str


@dataclass(frozen=True, slots=True)
class Reassigned:
    at: datetime
    by: Decider
    to: str
    sentence: str
    people: tuple[PersonId, ...] = ()
    targets: tuple[Target, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class DeliveryFailed:
    """One place could not be reached; others show the question, or are tried next."""

    at: datetime
    delivery: DeliveryRecord
    #: The step of the route that is tried next.
    next_step: int | None = None


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
    | Voted
    | VoteVoided
    | Reminded
    | Escalated
    | Held
    | Acknowledged
    | Snoozed
    | Reassigned
    | DeliveryFailed
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
    Voted: "question.voted",
    VoteVoided: "question.vote_voided",
    Reminded: "question.reminded",
    Escalated: "question.escalated",
    Held: "question.held",
    Acknowledged: "question.acknowledged",
    Snoozed: "question.snoozed",
    Reassigned: "question.reassigned",
    DeliveryFailed: "question.delivery_failed",
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
