"""What a log of events promises, whichever it is."""

import asyncio

from core.commands import ReportProgress, Withdraw
from core.ids import JobId, WorkspaceId
from core.ports import EventFilter
from core.question import Asker
from tests.support.backends import Backend
from tests.support.builders import AGENT, OTHER_AGENT, WORKSPACE, answer, ask, question_id, spec

EVERYTHING = EventFilter(WORKSPACE)
THEIRS = Asker(OTHER_AGENT.principal, OTHER_AGENT.name)


async def _names(backend: Backend, where: EventFilter, after: int = 0, limit: int = 100) -> list[str]:
    return [event.stored.name for event in await backend.log.after(after, where, limit=limit)]


async def _some_happenings(backend: Backend) -> None:
    engine = backend.engine()
    await engine.handle(ask(1, spec(job="job-1")))
    await engine.handle(ask(2, spec(asker=THEIRS)))
    await engine.handle(answer(1))
    await engine.handle(ReportProgress(WORKSPACE, JobId("job-1"), AGENT, "half way"))
    await engine.handle(Withdraw(question_id(2), OTHER_AGENT))
    await engine.handle(ask(3, spec(workspace_id=WorkspaceId("elsewhere"))))


async def test_everything_is_told_in_one_order(backend: Backend) -> None:
    await _some_happenings(backend)

    events = await backend.log.after(0, EVERYTHING, limit=100)

    assert [event.stored.name for event in events] == [
        "question.asked",
        "job.status",
        "question.asked",
        "question.answered",
        "job.status",
        "job.progress",
        "question.withdrawn",
    ]
    positions = [event.position for event in events]
    assert positions == sorted(set(positions))


async def test_an_owner_hears_of_their_own_and_a_job_of_itself_and_its_questions(backend: Backend) -> None:
    await _some_happenings(backend)

    assert await _names(backend, EventFilter(WORKSPACE, OTHER_AGENT.principal)) == [
        "question.asked",
        "question.withdrawn",
    ]
    assert await _names(backend, EventFilter(WORKSPACE, job_id=JobId("job-1"))) == [
        "question.asked",
        "job.status",
        "question.answered",
        "job.status",
        "job.progress",
    ]
    assert await _names(backend, EventFilter(WorkspaceId("elsewhere"))) == ["question.asked"]


async def test_an_event_brings_the_question_as_it_is_by_now_or_the_job_as_it_became(backend: Backend) -> None:
    await _some_happenings(backend)

    asked, waiting, *_ = await backend.log.after(0, EVERYTHING, limit=100)

    assert asked.question == await backend.reader.question(question_id(1))
    assert asked.owner == AGENT.principal
    assert waiting.job is not None
    assert waiting.job.status == "waiting_for_input"


async def test_a_page_ends_where_the_next_one_begins(backend: Backend) -> None:
    await _some_happenings(backend)

    first = await backend.log.after(0, EVERYTHING, limit=4)
    rest = await backend.log.after(first[-1].position, EVERYTHING, limit=4)

    assert [len(first), len(rest)] == [4, 3]
    assert await backend.log.after(rest[-1].position, EVERYTHING, limit=4) == []


async def test_the_newest_position_is_behind_everything_told(backend: Backend) -> None:
    assert await backend.log.newest() == 0
    await _some_happenings(backend)

    newest = await backend.log.newest()

    assert await backend.log.after(newest, EVERYTHING, limit=10) == []
    await backend.engine().handle(ask(9))
    assert await _names(backend, EVERYTHING, after=newest) == ["question.asked"]


async def test_a_reader_that_follows_many_writers_misses_nothing(backend: Backend) -> None:
    engines, seen = [backend.engine() for _ in range(8)], list[str]()
    writing = asyncio.gather(*(engines[number % 8].handle(ask(number)) for number in range(1, 401)))

    position = 0
    while len(seen) < 400:
        events = await backend.log.after(position, EVERYTHING, limit=50)
        seen += [str(event.stored.question_id) for event in events]
        position = events[-1].position if events else position
        await asyncio.sleep(0)
    await writing

    assert sorted(seen) == [question_id(number) for number in range(1, 401)]
