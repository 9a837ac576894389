"""What is planned is told, what was forgotten is found, and the plan can be put right."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from adapters.sql.rows import maybe_instant, millis
from adapters.sql.tables import questions
from core.engine import Handled
from core.kinds import Kind
from core.question import Question
from tests.support.backends import Backend, sql_backend, sqlite_url
from tests.support.builders import answer, ask, question_id, spec

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


async def asked(backend: Backend, number: int, limit: timedelta | None) -> Question:
    done = await backend.engine().handle(ask(number, spec(Kind.CLARIFYING, time_limit=limit)))
    assert isinstance(done, Handled)
    assert done.question is not None
    return done.question


async def test_open_questions_are_told_by_id_with_their_due_time(backend: Backend) -> None:
    third = await asked(backend, 3, None)
    first = await asked(backend, 1, HOUR)
    second = await asked(backend, 2, 2 * HOUR)
    await backend.engine().handle(answer(2))

    planned = await backend.reader.planned(limit=10)

    assert [(found.question, found.due) for found in planned] == [(first, first.deadline), (third, None)]
    assert second.id not in [found.question.id for found in planned]


async def test_what_is_planned_is_read_page_by_page(backend: Backend) -> None:
    for number in range(1, 6):
        await asked(backend, number, HOUR)

    pages, after = list[list[str]](), None
    while page := await backend.reader.planned(limit=2, after=after):
        after = page[-1].question.id
        pages.append([found.question.id for found in page])

    assert pages == [[question_id(n) for n in numbers] for numbers in ((1, 2), (3, 4), (5,))]


async def test_overdue_is_what_is_due_before_an_instant_earliest_first(backend: Backend) -> None:
    late = await asked(backend, 1, 3 * HOUR)
    soon = await asked(backend, 2, HOUR)
    later = await asked(backend, 3, 2 * HOUR)
    never = await asked(backend, 4, None)
    closed = await asked(backend, 5, HOUR)
    await backend.engine().handle(answer(5))
    assert soon.deadline is not None
    assert late.deadline is not None

    async def overdue(before: datetime, limit: int = 10) -> list[str]:
        return [found.question.id for found in await backend.reader.overdue(before, limit=limit)]

    assert await overdue(soon.deadline) == []
    assert await overdue(soon.deadline + timedelta(milliseconds=1)) == [soon.id]
    assert await overdue(late.deadline + MINUTE) == [soon.id, later.id, late.id]
    assert await overdue(late.deadline + MINUTE, limit=2) == [soon.id, later.id]
    assert never.id not in await overdue(late.deadline + 1000 * HOUR)
    assert closed.id not in await overdue(late.deadline + 1000 * HOUR)


async def test_replanning_what_is_planned_right_changes_nothing(backend: Backend) -> None:
    question = await asked(backend, 1, HOUR)
    before = await backend.reader.planned(limit=10)

    await backend.store.replan(question)

    assert await backend.reader.planned(limit=10) == before
    assert await backend.store.next_due() == question.deadline


def set_due(backend: Backend, due: int | None) -> None:
    """Damage, as by a hand on the database."""
    assert backend.database is not None
    with backend.database.writing.begin() as connection:
        connection.execute(update(questions).values(due_at=due))


def due_of(backend: Backend, number: int = 1) -> datetime | None:
    assert backend.database is not None
    query = select(questions.c.due_at).where(questions.c.id == question_id(number))
    with backend.database.reading.connect() as connection:
        return maybe_instant(connection.execute(query).scalar_one())


@pytest.fixture(params=["sqlite", "postgres"])
def sql(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """Only where a plan is kept beside the questions can it be wrong."""
    url = sqlite_url(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()
    with sql_backend(url) as opened:
        yield opened


@pytest.mark.parametrize("damage", ["forgotten", "far too late", "too early"])
async def test_replanning_repairs_a_wrong_due_time(sql: Backend, damage: str) -> None:
    question = await asked(sql, 1, HOUR)
    assert question.deadline is not None
    wrong = {
        "forgotten": None,
        "far too late": millis(question.deadline + 900 * HOUR),
        "too early": millis(question.asked_at),
    }
    set_due(sql, wrong[damage])
    (found,) = await sql.reader.planned(limit=10)
    assert found.due == maybe_instant(wrong[damage])
    assert found.question == question

    await sql.store.replan(found.question)

    assert due_of(sql) == question.deadline
    assert await sql.store.next_due() == question.deadline


async def test_replanning_takes_away_what_is_due_without_a_reason(sql: Backend) -> None:
    question = await asked(sql, 1, None)
    set_due(sql, millis(question.asked_at))

    await sql.store.replan(question)

    assert due_of(sql) is None
    assert await sql.store.next_due() is None


async def test_a_question_that_changed_since_it_was_read_is_not_replanned(sql: Backend) -> None:
    question = await asked(sql, 1, HOUR)
    set_due(sql, None)

    await sql.store.replan(replace(question, version=question.version - 1))
    stale = due_of(sql)
    await sql.store.replan(question)

    assert stale is None
    assert due_of(sql) == question.deadline


async def test_a_settled_question_is_not_brought_up_again(sql: Backend) -> None:
    question = await asked(sql, 1, HOUR)
    await sql.engine().handle(answer(1))

    await sql.store.replan(question)
    (settled,) = [await sql.reader.question(question.id)]
    assert settled is not None
    await sql.store.replan(replace(question, version=settled.version))

    assert due_of(sql) is None
    assert await sql.store.next_due() is None
