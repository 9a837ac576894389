"""Steering jobs: setting their status and policy, saying how far they have come, closing them when they have ended."""

from dataclasses import replace
from datetime import datetime
from typing import assert_never

from core import job as jobs
from core.commands import FinishClosing, JobCommand, ReportProgress, SteerJob
from core.decisions import Accepted, Decision, Refused
from core.events import Progressed
from core.ids import JobId
from core.job import Job
from core.kinds import WAITING
from core.machine import job_changed
from core.refusals import Reason
from core.wording import closing_sentence, ended_sentence, no_job


def decide_job(job: Job | None, command: JobCommand, now: datetime) -> Decision:
    match command:
        case SteerJob():
            return _steer(job, command, now)
        case ReportProgress():
            return _progress(job, command, now)
        case FinishClosing():
            if job is None or not job.closing:
                return Accepted(())
            return Accepted((job_changed(job, replace(job, closing=False), now),))
        case _:
            assert_never(command)


def _owned(job: Job | None, command: SteerJob | ReportProgress, now: datetime) -> Job | Refused:
    actor = command.actor
    if job is None:
        return jobs.begin(command.workspace_id, command.job_id, actor.principal, now)
    if job.owner != actor.principal and not actor.is_admin:
        return Refused(Reason.JOB_NOT_FOUND, no_job(JobId(command.job_id)))
    return job


def _steer(job: Job | None, command: SteerJob, now: datetime) -> Decision:
    current = _owned(job, command, now)
    if isinstance(current, Refused):
        return current
    if command.status in WAITING:
        return Refused(
            Reason.JOB_STATUS_NOT_SETTABLE,
            "A job waits while a question of it is open; ask the question instead of setting the status.",
            pointer="/status",
        )
    if command.status is not None and current.closing:
        # Its open questions are about to be withdrawn; if it went on now, so would be the ones it asks next.
        return Refused(Reason.JOB_ENDED, closing_sentence(current))
    after = current
    if command.on_timeout is not None:
        after = replace(after, on_timeout=command.on_timeout)
    if command.sets_max_open_holding:
        after = replace(after, max_open_holding=command.max_open_holding)
    if command.status is not None:
        after = jobs.move(after, command.status, command.reason, now)
    if after == job:
        return Accepted(())
    return Accepted((job_changed(job, replace(after, updated_at=now), now),))


def _progress(job: Job | None, command: ReportProgress, now: datetime) -> Decision:
    current = _owned(job, command, now)
    if isinstance(current, Refused):
        return current
    if current.has_ended:
        return Refused(Reason.JOB_ENDED, ended_sentence(current))
    after = replace(current, progress=jobs.Progress(command.text, now), updated_at=now)
    return Accepted((Progressed(now, job, replace(after, version=after.version + 1), command.text),))
