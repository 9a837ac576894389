"""SQLite reads what it needs by an index, however many questions there are."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from core.ids import JobId
from core.kinds import Kind
from core.ports import JobFilter, JobKey, QuestionFilter
from core.question import Status
from tests.support.backends import Backend, sql_backend, sqlite_url
from tests.support.builders import AGENT, WORKSPACE, answer, ask, question_id, spec


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Backend]:
    with sql_backend(sqlite_url(tmp_path)) as backend:
        yield backend


async def test_nothing_walks_through_all_questions_or_sorts_them(sqlite: Backend) -> None:
    assert sqlite.database is not None
    seen: list[tuple[str, Any]] = []

    def remember(_: Any, __: Any, statement: str, parameters: Any, ___: Any, many: bool) -> None:
        if statement.startswith(("SELECT", "UPDATE")) and not many:
            seen.append((statement, parameters))

    for way in (sqlite.database.reading, sqlite.database.writing):
        event.listen(way, "before_cursor_execute", remember)
    engine, reader, opened = sqlite.engine(), sqlite.reader, Status.OPEN
    await engine.handle(ask(1, spec(job="job-1", project_id="shop")))
    await engine.handle(answer(1))
    await reader.question(question_id(1))
    for where in (
        QuestionFilter(WORKSPACE, opened),
        QuestionFilter(WORKSPACE, opened, Kind.BLOCKING),
        QuestionFilter(WORKSPACE, opened, project_id="shop"),
        QuestionFilter(WORKSPACE, opened, asker=AGENT.principal),
        QuestionFilter(WORKSPACE, job_id=JobId("job-1")),
    ):
        await reader.questions(where, limit=10, after=question_id(1))
    await reader.count_open(WORKSPACE)
    await reader.settled_among([question_id(1)])
    await reader.history(question_id(1))
    await reader.job(JobKey(WORKSPACE, JobId("job-1")))
    await reader.jobs(JobFilter(WORKSPACE, closing=True), limit=10)
    await sqlite.store.next_due()
    await sqlite.store.claim_due(limit=10, lease=timedelta(seconds=1))

    assert len(seen) > 12
    with sqlite.database.reading.connect() as connection:
        for statement, parameters in seen:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            steps = [row.detail for row in plan]
            walks = [step for step in steps if step.startswith("SCAN") and "USING" not in step]
            sorts = [step for step in steps if "TEMP B-TREE" in step]
            assert (walks, sorts) == ([], []), statement


async def test_open_questions_are_found_by_the_index_of_open_ones(sqlite: Backend) -> None:
    assert sqlite.database is not None
    seen: list[tuple[str, Any]] = []
    event.listen(
        sqlite.database.reading,
        "before_cursor_execute",
        lambda _c, _k, statement, parameters, _x, _m: seen.append((statement, parameters)),
    )
    await sqlite.reader.questions(QuestionFilter(WORKSPACE, Status.OPEN), limit=10)
    await sqlite.store.next_due()

    queries = [entry for entry in seen if entry[0].startswith("SELECT")]
    with sqlite.database.reading.connect() as connection:
        plans = [
            row.detail
            for query in queries
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query[0]}", query[1])
        ]
    assert [plan.split("INDEX ")[1].split(" ")[0] for plan in plans] == [
        "questions_open",
        "questions_due",
        "questions_leased",
    ]
