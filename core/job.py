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
    holding: tuple[Holding, ...] = ()
    progress: Progress | None = None
    #: Ended, but questions of it may still be open and wait to be withdrawn.
    closing: bool = False

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED

    @property
    def is_waiting(self) -> bool:
        return self.status in WAITING


def begin(workspace_id: WorkspaceId, job_id: JobId, owner: Principal, now: datetime) -> Job:
    return Job(workspace_id, job_id, owner, created_at=now, updated_at=now)


def is_full(job: Job) -> bool:
    return job.max_open_holding is not None and len(job.holding) >= job.max_open_holding


def hold(job: Job, question: Question, status: JobStatus, now: datetime) -> Job:
    """The job with this question holding it; what it goes back to afterwards is remembered once."""
    taken = {entry.slot for entry in job.holding}
    slot = None
    if job.max_open_holding is not None:
        slot = next(number for number in range(1, job.max_open_holding + 1) if number not in taken)
    role = question.spec.agent or question.spec.phase
    entry = Holding(question.id, status, now, role, slot)
    resume = job.resume_status if job.is_waiting else job.status
    return _settled(replace(job, holding=(*job.holding, entry), resume_status=resume), now)


def release(job: Job, question_id: QuestionId, now: datetime) -> Job:
    """The job without this question; it goes on where it stood once nothing holds it any more."""
    rest = tuple(entry for entry in job.holding if entry.question_id != question_id)
    return _settled(replace(job, holding=rest), now) if rest != job.holding else job


def _settled(job: Job, now: datetime) -> Job:
    """Bring the status in line with what holds the job."""
    if job.has_ended:
        return replace(job, updated_at=now)
    if not job.holding:
        resume = job.resume_status or job.status
        return replace(job, status=resume, resume_status=None, updated_at=now)
    held_as = {entry.status for entry in job.holding}
    status = (
        JobStatus.WAITING_FOR_APPROVAL if JobStatus.WAITING_FOR_APPROVAL in held_as else JobStatus.WAITING_FOR_INPUT
    )
    return replace(job, status=status, updated_at=now)


def expire(job: Job, question_id: QuestionId, reason: str, now: datetime) -> Job:
    """The job after a question that held it expired undecided."""
    released = release(job, question_id, now)
    if job.on_timeout is OnTimeout.FAIL:
        return end(released, JobStatus.FAILED, reason, now)
    blocked = replace(released, block_reason=reason, updated_at=now)
    if blocked.holding:
        return replace(blocked, resume_status=JobStatus.BLOCKED)
    return replace(blocked, status=JobStatus.BLOCKED)


def end(job: Job, status: JobStatus, reason: str | None, now: datetime) -> Job:
    return replace(
        job,
        status=status,
        resume_status=None,
        block_reason=reason,
        holding=(),
        closing=True,
        updated_at=now,
    )


def move(job: Job, status: JobStatus, reason: str | None, now: datetime) -> Job:
    """The job as its owner wants it. While questions hold it, the wish takes effect when the last one settles."""
    if status in ENDED:
        return end(job, status, reason, now)
    block_reason = reason if status is JobStatus.BLOCKED else None
    if job.holding:
        return replace(job, resume_status=status, block_reason=block_reason, updated_at=now)
    return replace(job, status=status, block_reason=block_reason, closing=False, updated_at=now)
