"""What the engine needs of the outside, as specifications. Stores store; they do not judge."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias

from core.decisions import Case, Decision
from core.events import Event
from core.ids import CommandId, JobId, NoticeId, Principal, QuestionId, WorkspaceId
from core.job import Job
from core.kinds import Kind
from core.places import Target
from core.prompt import Prompt
from core.question import Question, Status
from core.webhooks import Endpoint, Fate, Message, MessageState, Sent


@dataclass(frozen=True, slots=True, order=True)
class JobKey:
    workspace_id: WorkspaceId
    job_id: JobId


@dataclass(frozen=True, slots=True)
class CommandKey:
    """A durable name for one command. The same name with another `fingerprint` is another command in disguise."""

    id: CommandId
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Scope:
    """What one command reads and may write. A question brings its job along."""

    question_id: QuestionId | None = None
    job: JobKey | None = None
    command: CommandKey | None = None
    #: The number of the claim this command acts under; a newer claim makes it void.
    fence: int | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """A command that was committed before."""

    fingerprint: str
    question_id: QuestionId | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the store holds for a scope, and the instant by the database's clock."""

    case: Case
    now: datetime
    recorded: Recorded | None = None


@dataclass(frozen=True, slots=True)
class Nudge:
    """Something new to say where the question is shown already. `sequence` tells nudges of one question apart."""

    target: Target
    sequence: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Change:
    """What one command does to the store: all of it or nothing."""

    before: Case
    after: Case
    events: tuple[Event, ...]
    #: Where the question is to be shown at its new version.
    targets: tuple[Target, ...] = ()
    #: What is to be said where it is shown already.
    nudges: tuple[Nudge, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a command. No change means that nothing is written."""

    decision: Decision | None
    change: Change | None = None
    recorded: Recorded | None = None


Work: TypeAlias = Callable[[Snapshot], Verdict]


@dataclass(frozen=True, slots=True)
class Claim:
    question_id: QuestionId
    fence: int


class StaleClaim(Exception):
    """The claim a command acted under has run out and somebody else holds a newer one."""


class StoreUnavailable(Exception):
    """The database failed. If it failed during the commit, nobody knows whether the command was kept."""


class Store(Protocol):
    async def transact(self, scope: Scope, work: Work) -> Verdict:
        """Read what `scope` names, let `work` judge it and keep the change, all as one step.

        The change, its events, its notices and the command's key are one transaction, and the write is conditional
        on the versions that were read: two commands never both build on the same version. When somebody else was
        first, `work` is called again on what they left, so it must be pure. Raises StaleClaim when `scope.fence` is
        no longer the newest, and then nothing has changed; StoreUnavailable when the database fails.
        """

    async def claim_due(self, *, limit: int, lease: timedelta) -> Sequence[Claim]:
        """Lease open questions that are due and unclaimed, or whose lease has run out, earliest first.

        Claims never overlap while their leases last. Each has a higher fencing number than any before it.
        """

    async def next_due(self) -> datetime | None:
        """The earliest instant at which there is something to claim; None when there never is."""

    async def replan(self, question: Question) -> None:
        """Bring the question up when it is due by its own account, unless it has changed since it was read."""

    async def now(self) -> datetime:
        """The instant by the database's clock, which alone decides deadlines and leases."""

    async def forget_commands(self, *, before: datetime) -> int:
        """Drop the keys of commands committed before this instant; how many there were."""


@dataclass(frozen=True, slots=True)
class QuestionFilter:
    workspace_id: WorkspaceId
    status: Status | None = None
    kind: Kind | None = None
    project_id: str | None = None
    job_id: JobId | None = None
    asker: Principal | None = None


@dataclass(frozen=True, slots=True)
class JobFilter:
    workspace_id: WorkspaceId
    owner: Principal | None = None
    ready: bool = False
    closing: bool = False


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """`position` orders all events, `sequence` those of one question or job."""

    position: int
    sequence: int
    name: str
    event: Event
    question_id: QuestionId | None = None
    job_id: JobId | None = None


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events: of a workspace, and there perhaps only one owner's, or one job's and its questions'."""

    workspace_id: WorkspaceId
    owner: Principal | None = None
    job_id: JobId | None = None


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event and what it is about: the question as it is by now, or the job as it became."""

    stored: StoredEvent
    workspace_id: WorkspaceId
    owner: Principal
    question: Question | None = None
    job: Job | None = None

    @property
    def position(self) -> int:
        return self.stored.position


class EventLog(Protocol):
    async def after(self, position: int, where: EventFilter, *, limit: int) -> Sequence[LoggedEvent]:
        """In the order of their positions. What comes later never has a position that was passed by here."""

    async def of_message(self, message: Message) -> LoggedEvent | None:
        """The event that a message tells of."""

    async def newest(self) -> int:
        """A position that no event has passed yet which `after` does not show; 0 when nothing has happened."""


@dataclass(frozen=True, slots=True)
class Planning:
    """An open question, and when the store is going to bring it up."""

    question: Question
    due: datetime | None


class Reader(Protocol):
    async def planned(self, *, limit: int, after: QuestionId | None = None) -> Sequence[Planning]:
        """Open questions of every workspace by id, starting behind `after`."""

    async def overdue(self, before: datetime, *, limit: int) -> Sequence[Planning]:
        """Open questions that should have been brought up before this instant, earliest first."""

    async def question(self, question_id: QuestionId) -> Question | None: ...

    async def questions(
        self, where: QuestionFilter, *, limit: int, after: QuestionId | None = None
    ) -> Sequence[Question]:
        """Oldest first, starting behind `after`."""

    async def count_open(self, workspace_id: WorkspaceId) -> int: ...

    async def settled_among(self, question_ids: Sequence[QuestionId]) -> Sequence[Question]:
        """Those of the given questions that are no longer open."""

    async def job(self, key: JobKey) -> Job | None: ...

    async def jobs(self, where: JobFilter, *, limit: int, after: JobId | None = None) -> Sequence[Job]:
        """By id, starting behind `after`."""

    async def history(self, question_id: QuestionId) -> Sequence[StoredEvent]:
        """Everything that ever happened to the question, in order."""


@dataclass(frozen=True, slots=True)
class MessageRef:
    """The handle of a posted message, meaningful to its surface alone."""

    value: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Bring this target to this version of the question, or say something there. `ref` is the message already there."""

    id: NoticeId
    question_id: QuestionId
    target: Target
    version: int
    attempt: int
    fence: int
    ref: MessageRef | None = None
    nudge: str | None = None


def notice_id(question_id: QuestionId, target: Target) -> NoticeId:
    """One notice for each question and target: a newer version replaces what an older one wanted."""
    return NoticeId(f"{question_id}:{target.surface}:{target.address}")


def nudge_id(question_id: QuestionId, nudge: Nudge) -> NoticeId:
    """One for each nudge: it is sent once, however often somebody tries."""
    return NoticeId(f"{notice_id(question_id, nudge.target)}#{nudge.sequence}")


@dataclass(frozen=True, slots=True)
class Posted:
    ref: MessageRef
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Deferred:
    retry_after: timedelta
    why: str


@dataclass(frozen=True, slots=True)
class NotDeliverable:
    why: str


Delivery: TypeAlias = Posted | Deferred | NotDeliverable


class Outbox(Protocol):
    async def claim(self, surfaces: Collection[str], *, limit: int, lease: timedelta) -> Sequence[Notice]:
        """Lease notices for these surfaces that are ready and unclaimed, or whose lease has run out, oldest first."""

    async def settle(self, notice: Notice, delivery: Delivery) -> bool:
        """Record what became of a notice; False when its claim is no longer the newest and nothing was recorded.

        A notice that was delivered at an older version than is wanted by now becomes ready again.
        """


class Surface(Protocol):
    @property
    def name(self) -> str: ...

    async def post(self, target: Target, prompt: Prompt, *, key: NoticeId) -> Delivery:
        """Show the prompt. Calling twice with one key shows one message, as far as the medium can."""

    async def revise(self, ref: MessageRef, prompt: Prompt) -> Delivery:
        """Bring a message that was posted before to what the prompt says now."""

    async def nudge(
        self, target: Target, ref: MessageRef | None, prompt: Prompt, sentence: str, *, key: NoticeId
    ) -> Delivery:
        """Say the sentence beside the message, so that people notice. `ref` is None where there is no message yet."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """A message that is leased for one attempt, with the address and the secrets it goes under."""

    message: Message
    attempt: int
    fence: int
    url: str
    secrets: tuple[str, ...]
    #: What was sent before; empty on the first attempt.
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    number: int
    at: datetime
    status: int | None
    failure: str | None
    duration: timedelta


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """A message as its log tells it."""

    message: Message
    state: MessageState
    created_at: datetime
    due_at: datetime | None
    failure: str | None
    attempts: tuple[Attempt, ...]


class Webhooks(Protocol):
    """Endpoints, and messages on their way. Messages come into being in the transaction of their event."""

    async def add_endpoint(self, endpoint: Endpoint) -> None: ...

    async def endpoints(self, workspace_id: WorkspaceId, owner: Principal | None = None) -> Sequence[Endpoint]:
        """Oldest first."""

    async def remove_endpoint(self, endpoint_id: str) -> bool:
        """Its waiting messages are refused with it."""

    async def rotate(self, endpoint_id: str, secret: str, *, overlap: timedelta) -> datetime | None:
        """A new secret; until the returned instant the old one signs as well. None when there is no such endpoint."""

    async def queue(self, message: Message) -> None:
        """A message that no event caused."""

    async def claim(self, *, limit: int, lease: timedelta) -> Sequence[Parcel]:
        """Lease messages that are due and unclaimed, or whose lease has run out, earliest first."""

    async def settle(self, parcel: Parcel, body: bytes, sent: Sent, fate: Fate) -> bool:
        """Record an attempt and what follows from it; False when the claim is no longer the newest."""

    async def next_due(self) -> datetime | None:
        """The earliest instant at which there is something to claim."""

    async def log(
        self,
        workspace_id: WorkspaceId,
        *,
        limit: int,
        owner: Principal | None = None,
        endpoint_id: str | None = None,
        state: MessageState | None = None,
    ) -> Sequence[MessageRecord]:
        """Newest first."""


class Redemptions(Protocol):
    async def redeem(self, nonce: str, question_id: QuestionId, by: Principal) -> bool:
        """True for exactly one caller per nonce."""
