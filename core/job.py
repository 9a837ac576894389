"""The job: an agent's piece of work that questions may hold. Rules for holding, releasing, blocking and ending it."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from core.ids import JobId, Principal, QuestionId, WorkspaceId
from core.kinds import ENDED, WAITING, JobStatus
from core.question import Question


class OnTimeout(StrEnum):
    """What becomes of the job when a question that holds it expires undecided."""

    FAIL = "fail"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Holding:
    """An open question that holds the job. `slot` is set where the number of such questions is limited."""

    question_id: QuestionId
    status: JobStatus
    since: datetime
    role: str | None = None
    slot: int | None = None


#: More than anybody looks at, few enough to be rewritten with every question.
LISTED = 50


@dataclass(frozen=True, slots=True)
class Progress:
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Job:
    workspace_id: WorkspaceId
    id: JobId
    owner: Principal
    created_at: datetime
    updated_at: datetime
    status: JobStatus = JobStatus.RUNNING
    version: int = 0
    resume_status: JobStatus | None = None
    block_reason: str | None = None
    on_timeout: OnTimeout = OnTimeout.FAIL
    max_open_holding: int | None = None
    #: The questions that hold the job, the first LISTED of them one by one and the others only counted, so that a
    #: job costs the same however much it asks.
    holding: tuple[Holding, ...] = ()
    unlisted_inputs: int = 0
    unlisted_approvals: int = 0
    progress: Progress | None = None
    #: Ended, but questions of it may still be open and wait to be withdrawn.
    closing: bool = False

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED

    @property
    def is_waiting(self) -> bool:
        return self.status in WAITING

    @property
    def held_by(self) -> int:
        """How many open questions hold the job."""
        return len(self.holding) + self.unlisted_inputs + self.unlisted_approvals


def begin(workspace_id: WorkspaceId, job_id: JobId, owner: Principal, now: datetime) -> Job:
    return Job(workspace_id, job_id, owner, created_at=now, updated_at=now)


def is_full(job: Job) -> bool:
    return job.max_open_holding is not None and job.held_by >= job.max_open_holding


def hold(job: Job, question: Question, status: JobStatus, now: datetime) -> Job:
    """The job with this question holding it; what it goes back to afterwards is remembered once."""
    taken = {entry.slot for entry in job.holding}
    slot = None
    if job.max_open_holding is not None:
        slot = next(number for number in range(1, job.max_open_holding + 1) if number not in taken)
    held = replace(job, resume_status=job.resume_status if job.is_waiting else job.status)
    if slot is None and len(job.holding) >= LISTED:
        return _settled(_count(held, status, 1), now)
    role = question.spec.agent or question.spec.phase
    entry = Holding(question.id, status, now, role, slot)
    return _settled(replace(held, holding=(*job.holding, entry)), now)


def _count(job: Job, status: JobStatus, step: int) -> Job:
    if status is JobStatus.WAITING_FOR_APPROVAL:
        return replace(job, unlisted_approvals=job.unlisted_approvals + step)
    return replace(job, unlisted_inputs=job.unlisted_inputs + step)


def release(job: Job, question_id: QuestionId, held_as: JobStatus, now: datetime) -> Job:
    """The job without this question; it goes on where it stood once nothing holds it any more."""
    rest = tuple(entry for entry in job.holding if entry.question_id != question_id)
    if rest != job.holding:
        return _settled(replace(job, holding=rest), now)
    unlisted = job.unlisted_approvals if held_as is JobStatus.WAITING_FOR_APPROVAL else job.unlisted_inputs
    return _settled(_count(job, held_as, -1), now) if unlisted else job


def _settled(job: Job, now: datetime) -> Job:
    """Bring the status in line with what holds the job."""
    if job.has_ended:
        return replace(job, updated_at=now)
    if not job.held_by:
        resume = job.resume_status or job.status
        return replace(job, status=resume, resume_status=None, updated_at=now)
    listed = any(entry.status is JobStatus.WAITING_FOR_APPROVAL for entry in job.holding)
    for_approval = listed or job.unlisted_approvals > 0
    status = JobStatus.WAITING_FOR_APPROVAL if for_approval else JobStatus.WAITING_FOR_INPUT
    return replace(job, status=status, updated_at=now)


def expire(job: Job, question_id: QuestionId, held_as: JobStatus, reason: str, now: datetime) -> Job:
    """The job after a question that held it expired undecided."""
    released = release(job, question_id, held_as, now)
    if job.on_timeout is OnTimeout.FAIL:
        return end(released, JobStatus.FAILED, reason, now)
    blocked = replace(released, block_reason=reason, updated_at=now)
    if blocked.held_by:
        return replace(blocked, resume_status=JobStatus.BLOCKED)
    return replace(blocked, status=JobStatus.BLOCKED)


def end(job: Job, status: JobStatus, reason: str | None, now: datetime) -> Job:
    return replace(
        job,
        status=status,
        resume_status=None,
        block_reason=reason,
        holding=(),
        unlisted_inputs=0,
        unlisted_approvals=0,
        closing=True,
        updated_at=now,
    )


def move(job: Job, status: JobStatus, reason: str | None, now: datetime) -> Job:
    """The job as its owner wants it. While questions hold it, the wish takes effect when the last one settles."""
    if status in ENDED:
        return end(job, status, reason, now)
    block_reason = reason if status is JobStatus.BLOCKED else None
    if job.held_by:
        return replace(job, resume_status=status, block_reason=block_reason, updated_at=now)
    return replace(job, status=status, block_reason=block_reason, closing=False, updated_at=now)
