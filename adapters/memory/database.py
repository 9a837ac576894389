"""Everything in dictionaries: the state that the in-process store, reader, outbox and directory share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from core.ids import NoticeId, PersonId, Principal, QuestionId
from core.job import Job
from core.people import Person
from core.places import Target
from core.ports import Attempt, JobKey, MessageRef, Recorded, StoredEvent
from core.question import Question
from core.registry import ApiKey, AuditEntry, StoredPolicy
from core.webhooks import Endpoint, Message, MessageState


@dataclass
class Lease:
    until: datetime | None = None
    fence: int = 0

    def is_free(self, now: datetime) -> bool:
        return self.until is None or self.until <= now


@dataclass
class Wanted:
    """A notice: what the target should show, and what it shows."""

    question_id: QuestionId
    target: Target
    version: int
    ready_at: datetime | None
    lease: Lease = field(default_factory=Lease)
    attempt: int = 0
    ref: MessageRef | None = None
    nudge: str | None = None


@dataclass
class Posting:
    """A message on its way."""

    message: Message
    created_at: datetime
    due_at: datetime | None
    state: MessageState = MessageState.WAITING
    lease: Lease = field(default_factory=Lease)
    attempt: int = 0
    body: bytes | None = None
    failure: str | None = None
    attempts: list[Attempt] = field(default_factory=list)


@dataclass
class KeptSession:
    person_id: PersonId
    idle_until: datetime
    ends_at: datetime
    looks_until: datetime


class MemoryDatabase:
    def __init__(self, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._clock = clock
        self.questions: dict[QuestionId, Question] = {}
        self.sessions: dict[str, KeptSession] = {}
        self.login_links: dict[str, tuple[PersonId, datetime]] = {}
        self.leases: dict[QuestionId, Lease] = {}
        self.jobs: dict[JobKey, Job] = {}
        self.events: list[StoredEvent] = []
        self.commands: dict[str, tuple[Recorded, datetime]] = {}
        self.notices: dict[NoticeId, Wanted] = {}
        self.people: dict[PersonId, Person] = {}
        self.keys: dict[str, ApiKey] = {}
        self.policies: list[StoredPolicy] = []
        self.audit: list[AuditEntry] = []
        self.link_codes: dict[str, tuple[PersonId, datetime]] = {}
        self.endpoints: dict[str, Endpoint] = {}
        self.postings: dict[str, Posting] = {}
        self.redeemed: dict[str, tuple[QuestionId, Principal]] = {}

    def post(self, message: Message) -> None:
        now = self.now()
        self.postings[message.id] = Posting(message, now, now)

    def now(self) -> datetime:
        """Whole milliseconds, as everywhere on the wire."""
        now = self._clock()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)
