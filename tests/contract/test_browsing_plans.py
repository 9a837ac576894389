"""Looking through ten thousand open questions walks an index and sorts nothing."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from typing import Any

import pytest
from sqlalchemy import event, insert, text

from adapters.sql.rows import question_row
from adapters.sql.tables import questions
from core.browsing import Place, Sieve
from core.ids import JobId
from core.kinds import Kind
from core.question import OutcomeKind, Urgency
from tests.support.backends import Backend, sql_backend, sqlite_url
from tests.support.builders import DANA, EVE, WORKSPACE, answered, opened, question_id, spec

OPEN, SETTLED = 10_000, 2_000
KINDS, URGENCIES = tuple(Kind), tuple(Urgency)
EVERYTHING = Sieve(WORKSPACE)
SIEVES = (
    EVERYTHING,
    Sieve(WORKSPACE, kind=Kind.APPROVAL),
    Sieve(WORKSPACE, project_id="project 3"),
    Sieve(WORKSPACE, agent="builder"),
    Sieve(WORKSPACE, put_to=DANA.id),
    Sieve(WORKSPACE, words="database"),
    Sieve(WORKSPACE, job_id=JobId("job 8")),
)
BEHIND = Place(2, None, question_id(OPEN // 2))


def rows() -> Iterator[dict[str, Any]]:
    for number in range(1, OPEN + SETTLED + 1):
        wanted = spec(
            KINDS[number % len(KINDS)],
            job=f"job {number % 500}",
            project_id=f"project {number % 20}",
            urgency=URGENCIES[number % len(URGENCIES)],
            time_limit=timedelta(seconds=number % 7919 + 1),
            asked=(DANA.id if number % 3 else EVE.id,),
        )
        made = opened(wanted) if number % 6 else answered(wanted)
        yield dict(question_row(replace(made, id=question_id(number)), None))


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def full(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    if request.param == "sqlite":
        url = sqlite_url(tmp_path_factory.mktemp("full"))
    else:
        url = request.getfixturevalue("postgres").new_database()
    with sql_backend(url) as backend:
        assert backend.database is not None
        with backend.database.writing.begin() as connection:
            everything = rows()
            while some := list(islice(everything, 1000)):
                connection.execute(insert(questions), some)
        if request.param == "postgres":
            # Sooner or later the server does so by itself; SQLite never does.
            with backend.database.writing.begin() as connection:
                connection.execute(text("ANALYZE questions"))
        yield backend


class Plans:
    """What the database does for each query, by what it was asked for."""

    def __init__(self, backend: Backend) -> None:
        assert backend.database is not None
        self._database = backend.database
        self._seen: list[tuple[str, Any]] = []
        event.listen(self._database.reading, "before_cursor_execute", self._remember)

    def _remember(self, _: Any, __: Any, statement: str, parameters: Any, ___: Any, ____: bool) -> None:
        if statement.startswith("SELECT"):
            self._seen.append((statement, parameters))

    @property
    def count(self) -> int:
        return len(self._seen)

    def stop(self) -> None:
        event.remove(self._database.reading, "before_cursor_execute", self._remember)

    def steps(self) -> list[str]:
        """Of everything that was read since the last time."""
        explain = "EXPLAIN QUERY PLAN" if self._database.is_sqlite else "EXPLAIN"
        seen, self._seen = self._seen, []
        with self._database.reading.connect() as connection:
            return [row[-1] for query in seen for row in connection.exec_driver_sql(f"{explain} {query[0]}", query[1])]


@pytest.fixture
def plans(full: Backend) -> Iterator[Plans]:
    watching = Plans(full)
    yield watching
    watching.stop()


def is_walk_or_sort(step: str) -> bool:
    return any(word in step for word in ("SCAN questions", "Seq Scan", "TEMP B-TREE", "Sort"))


async def test_nothing_walks_through_all_questions_or_sorts_them(full: Backend, plans: Plans) -> None:
    for after in (None, BEHIND):
        await full.browser.waiting(EVERYTHING, limit=40, after=after)
    for before in (None, question_id(OPEN)):
        await full.browser.settled(EVERYTHING, limit=40, before=before)
        await full.browser.settled(replace(EVERYTHING, ended=OutcomeKind.ANSWERED), limit=40, before=before)

    steps = plans.steps()

    assert len(steps) >= 6
    assert [step for step in steps if is_walk_or_sort(step)] == []


@pytest.mark.parametrize("full", ["sqlite"], indirect=True)
async def test_sqlite_sifts_along_the_index_that_has_the_order(full: Backend, plans: Plans) -> None:
    """PostgreSQL may know of a shorter way, since it counts what it holds."""
    for sieve in SIEVES:
        for after in (None, BEHIND):
            await full.browser.waiting(sieve, limit=40, after=after)
    open_ones = {step.split("INDEX ")[1] for step in plans.steps()}
    for sieve in SIEVES:
        for before in (None, question_id(OPEN)):
            await full.browser.settled(sieve, limit=40, before=before)
    settled_ones = {step.split("INDEX ")[1] for step in plans.steps()}

    assert open_ones == {
        "questions_pressing (workspace_id=?)",
        "questions_pressing (workspace_id=? AND (rank,deadline_at,id)>(?,?,?))",
    }
    assert settled_ones == {
        "questions_settled (workspace_id=?)",
        "questions_settled (workspace_id=? AND id<?)",
        "questions_by_job (workspace_id=? AND job_id=?)",
        "questions_by_job (workspace_id=? AND job_id=? AND id<?)",
    }


@pytest.mark.parametrize("full", ["sqlite"], indirect=True)
async def test_sqlite_counts_along_the_index_of_open_questions(full: Backend, plans: Plans) -> None:
    count = await full.browser.count_put_to(WORKSPACE, DANA.id)

    assert count == 8_000
    assert plans.steps() == ["SEARCH questions USING INDEX questions_pressing (workspace_id=?)"]


@pytest.mark.parametrize("words", ["Straße", "principal"])
async def test_words_that_the_database_cannot_judge_take_few_readings(full: Backend, plans: Plans, words: str) -> None:
    found = await full.browser.waiting(Sieve(WORKSPACE, words=words), limit=40)

    assert (list(found), plans.count < 30) == ([], True)
