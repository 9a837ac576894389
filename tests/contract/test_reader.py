"""What a reader promises, whichever it is."""

from core.commands import ReportProgress, SteerJob, Withdraw
from core.ids import JobId, QuestionId, WorkspaceId
from core.kinds import JobStatus, Kind
from core.ports import JobFilter, JobKey, QuestionFilter
from core.question import Asker, Status
from tests.support.backends import Backend
from tests.support.builders import AGENT, OTHER_AGENT, WORKSPACE, answer, ask, question_id, spec


async def _ids(backend: Backend, where: QuestionFilter, after: QuestionId | None = None, limit: int = 10) -> list[str]:
    return [question.id for question in await backend.reader.questions(where, limit=limit, after=after)]


async def _seven_questions(backend: Backend) -> None:
    engine = backend.engine()
    await engine.handle(ask(3, spec(Kind.CLARIFYING, project_id="shop")))
    await engine.handle(ask(1, spec(job="job-1")))
    await engine.handle(ask(2, spec(Kind.CLARIFYING, job="job-1", project_id="shop")))
    await engine.handle(ask(4, spec(job="job-1")))
    await engine.handle(ask(5, spec(asker=Asker(OTHER_AGENT.principal, OTHER_AGENT.name))))
    await engine.handle(ask(6, spec(workspace_id=WorkspaceId("elsewhere"))))
    await engine.handle(ask(7, spec()))
    await engine.handle(answer(4))
    await engine.handle(Withdraw(question_id(7), AGENT))


async def test_questions_come_oldest_first_and_stay_in_their_workspace(backend: Backend) -> None:
    await _seven_questions(backend)

    assert await _ids(backend, QuestionFilter(WORKSPACE)) == [question_id(n) for n in (1, 2, 3, 4, 5, 7)]
    assert await _ids(backend, QuestionFilter(WorkspaceId("elsewhere"))) == [question_id(6)]


async def test_each_filter_narrows_and_they_combine(backend: Backend) -> None:
    await _seven_questions(backend)

    assert await _ids(backend, QuestionFilter(WORKSPACE, Status.OPEN)) == [question_id(n) for n in (1, 2, 3, 5)]
    assert await _ids(backend, QuestionFilter(WORKSPACE, Status.ANSWERED)) == [question_id(4)]
    assert await _ids(backend, QuestionFilter(WORKSPACE, kind=Kind.CLARIFYING)) == [question_id(2), question_id(3)]
    assert await _ids(backend, QuestionFilter(WORKSPACE, project_id="shop")) == [question_id(2), question_id(3)]
    assert await _ids(backend, QuestionFilter(WORKSPACE, job_id=JobId("job-1"))) == [question_id(n) for n in (1, 2, 4)]
    assert await _ids(backend, QuestionFilter(WORKSPACE, asker=OTHER_AGENT.principal)) == [question_id(5)]
    both = QuestionFilter(WORKSPACE, Status.OPEN, Kind.CLARIFYING, "shop", JobId("job-1"), AGENT.principal)
    assert await _ids(backend, both) == [question_id(2)]


async def test_pages_follow_each_other_without_gap_or_overlap(backend: Backend) -> None:
    await _seven_questions(backend)
    everything = QuestionFilter(WORKSPACE)

    first = await _ids(backend, everything, limit=4)
    second = await _ids(backend, everything, QuestionId(first[-1]), limit=4)

    assert (first, second) == ([question_id(n) for n in (1, 2, 3, 4)], [question_id(n) for n in (5, 7)])


async def test_open_questions_are_counted_by_workspace(backend: Backend) -> None:
    await _seven_questions(backend)

    assert await backend.reader.count_open(WORKSPACE) == 4
    assert await backend.reader.count_open(WorkspaceId("nowhere")) == 0


async def test_settled_ones_are_found_among_many(backend: Backend) -> None:
    await _seven_questions(backend)
    names = [question_id(number) for number in range(1, 1201)]

    found = await backend.reader.settled_among(names)

    assert sorted(question.id for question in found) == [question_id(4), question_id(7)]


async def test_what_does_not_exist_is_nothing(backend: Backend) -> None:
    assert await backend.reader.question(question_id(1)) is None
    assert await backend.reader.history(question_id(1)) == []
    assert await backend.reader.job(JobKey(WORKSPACE, JobId("none"))) is None
    assert await backend.reader.settled_among([]) == []


async def _names(backend: Backend, where: JobFilter, after: str | None = None, limit: int = 10) -> list[str]:
    found = await backend.reader.jobs(where, limit=limit, after=JobId(after) if after is not None else None)
    return [job.id for job in found]


async def test_jobs_are_listed_by_owner_readiness_and_page(backend: Backend) -> None:
    engine = backend.engine()
    await engine.handle(ask(1, spec(job="b-waits")))
    await engine.handle(ReportProgress(WORKSPACE, JobId("a-runs"), AGENT, "half way"))
    await engine.handle(SteerJob(WORKSPACE, JobId("c-done"), AGENT, status=JobStatus.COMPLETED))
    await engine.handle(ReportProgress(WORKSPACE, JobId("d-foreign"), OTHER_AGENT, "hello"))

    assert await _names(backend, JobFilter(WORKSPACE)) == ["a-runs", "b-waits", "c-done", "d-foreign"]
    assert await _names(backend, JobFilter(WORKSPACE, AGENT.principal)) == ["a-runs", "b-waits", "c-done"]
    assert await _names(backend, JobFilter(WORKSPACE, ready=True)) == ["a-runs", "d-foreign"]
    assert await _names(backend, JobFilter(WORKSPACE, closing=True)) == []
    assert await _names(backend, JobFilter(WORKSPACE), after="a-runs", limit=2) == ["b-waits", "c-done"]


async def test_a_job_comes_back_with_what_holds_it(backend: Backend) -> None:
    engine = backend.engine()
    await engine.handle(ask(1, spec(Kind.BLOCKING, job="job-1", agent="builder")))

    job = await backend.reader.job(JobKey(WORKSPACE, JobId("job-1")))

    assert job is not None
    assert (job.status, job.resume_status) == (JobStatus.WAITING_FOR_INPUT, JobStatus.RUNNING)
    assert [(entry.question_id, entry.role) for entry in job.holding] == [(question_id(1), "builder")]
