"""Closing an ended job: everything it left open is withdrawn, nothing else is, and it always comes to an end."""

from dataclasses import replace
from datetime import timedelta

from core.commands import SteerJob
from core.ids import JobId
from core.job import Job
from core.kinds import JobStatus, Kind
from core.ports import JobKey
from core.question import Status
from tests.support.backends import Backend
from tests.support.builders import AGENT, WORKSPACE, ask, question_id, spec

JOB = JobId("job-1")


async def _job(backend: Backend) -> Job:
    job = await backend.reader.job(JobKey(WORKSPACE, JOB))
    assert job is not None
    return job


async def test_an_ended_job_withdraws_more_than_a_page(backend: Backend) -> None:
    engine = backend.engine()
    for number in range(1, 231):
        await engine.handle(ask(number, spec(job=JOB)))

    await engine.handle(SteerJob(WORKSPACE, JOB, AGENT, status=JobStatus.COMPLETED))

    assert await backend.reader.count_open(WORKSPACE) == 0
    first = await backend.reader.question(question_id(1))
    assert first is not None
    assert first.outcome is not None
    assert first.outcome.reason == "job “job-1” ended (completed)"
    assert not (await _job(backend)).closing


async def test_closing_a_job_that_goes_on_again_touches_nothing_of_it(backend: Backend) -> None:
    engine = backend.engine()
    await engine.handle(SteerJob(WORKSPACE, JOB, AGENT, status=JobStatus.COMPLETED))
    seen_earlier = replace(await _job(backend), closing=True)
    await engine.handle(SteerJob(WORKSPACE, JOB, AGENT, status=JobStatus.RUNNING))
    await engine.handle(ask(1, spec(job=JOB)))

    await engine.close_job(seen_earlier)

    question = await backend.reader.question(question_id(1))
    assert question is not None
    assert question.status is Status.OPEN


async def test_a_question_asked_by_an_admin_is_withdrawn_with_its_job(backend: Backend) -> None:
    engine = backend.engine()
    await engine.handle(ask(1, spec(Kind.CLARIFYING, job=JOB)))
    foreign = replace(ask(2, spec(Kind.CLARIFYING, job=JOB)), by_admin=True)
    await engine.handle(replace(foreign, spec=replace(foreign.spec, asker=replace(foreign.spec.asker, name="Dana"))))

    await engine.handle(SteerJob(WORKSPACE, JOB, AGENT, status=JobStatus.CANCELLED))

    assert await backend.reader.count_open(WORKSPACE) == 0


async def test_a_leased_question_is_next_due_when_its_lease_ends(backend: Backend) -> None:
    engine = backend.engine()
    await engine.handle(ask(1, spec(time_limit=timedelta(milliseconds=1))))
    await engine.handle(ask(2, spec(time_limit=timedelta(hours=1))))
    second = await backend.reader.question(question_id(2))
    assert second is not None
    while not (claimed := await backend.store.claim_due(limit=10, lease=timedelta(hours=2))):
        pass

    due = await backend.store.next_due()

    assert [claim.question_id for claim in claimed] == [question_id(1)]
    assert due == second.deadline
