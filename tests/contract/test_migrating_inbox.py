"""A database of the release before the inbox: its questions stand in the inbox as if they had been asked today."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from adapters.sql.database import open_database
from adapters.sql.rows import millis
from adapters.sql.tables import NEVER
from core.browsing import Sieve
from core.ids import PersonId
from core.question import OutcomeKind, Urgency
from tests.contract.test_migrating import ASKED, insert, instant_text, upgrade
from tests.support.backends import Backend, sql_backend, sqlite_url
from tests.support.builders import DANA, EVE, WORKSPACE, question_id
from tests.support.inboxes import EVERYTHING, asked, pages_of_waiting, settled, waiting

SOON, LATER = ASKED + timedelta(minutes=30), ASKED + timedelta(minutes=90, milliseconds=123)
PAUSED = {"since": instant_text(ASKED), "until": instant_text(LATER), "remaining": "PT30M"}
ANSWERED = {
    "kind": "answered",
    "decided_by": {"type": "person", "id": "p_dana", "name": "Dana", "surface": "api"},
    "decided_at": instant_text(ASKED),
    "answer": {"value": "PostgreSQL"},
}


def row(number: int, life: dict[str, Any], status: str = "open", **spec: Any) -> dict[str, Any]:
    """A question as revision 0004 kept it."""
    whole: dict[str, Any] = {
        "workspace_id": "default",
        "asker": {"principal": "agent:builder", "name": "builder"},
        "text": "Which database?",
        "kind": "blocking",
        "shape": {"type": "text", "max_length": 4000},
        "policy": {"panels": [{"name": "an admin", "need": 1, "roles": ["admin"]}]},
        "time_limit": "PT30M",
        "urgency": "normal",
    }
    return {
        "id": question_id(number),
        "workspace_id": "default",
        "asker": "agent:builder",
        "kind": "blocking",
        "status": status,
        "version": 1,
        "asked_at": millis(ASKED),
        # With other letters written as JSON may write them, as revision 0004 itself did.
        "spec": json.dumps(whole | spec),
        "life": json.dumps(life),
    }


ROWS = (
    row(1, {"deadline": instant_text(SOON), "asked": ["p_dana", "p_eve"]}),
    row(2, {"deadline": instant_text(LATER)}, urgency="urgent", agent="planner"),
    row(3, {}, urgency="high", text="Welche Straße in Zürich?", agent=""),
    row(4, {"deadline": instant_text(LATER), "asked": ["p_eve"]}, urgency="low"),
    row(5, {"pause": PAUSED}),
    row(6, {"deadline": instant_text(SOON), "outcome": ANSWERED}, "answered", text="Straße?", agent="planner"),
)


@pytest.fixture(params=["sqlite", "postgres"])
def upgraded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    url = sqlite_url(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()
    database = open_database(url)
    upgrade(database, "0004")
    for each in ROWS:
        insert(database, "questions", **each)
    database.dispose()
    with sql_backend(url) as opened:
        yield opened


async def test_what_the_inbox_sorts_and_sifts_by_is_filled_in(upgraded: Backend) -> None:
    assert upgraded.database is not None
    columns = text("SELECT rank, deadline_at, agent, asked FROM questions ORDER BY id")

    with upgraded.database.reading.connect() as connection:
        found = [tuple(each) for each in connection.execute(columns)]

    assert found == [
        (2, millis(SOON), "builder", "|p_dana||p_eve|"),
        (0, millis(LATER), "planner", ""),
        (1, NEVER, "builder", ""),
        (3, millis(LATER), "builder", "|p_eve|"),
        (2, NEVER, "builder", ""),
        (2, millis(SOON), "planner", ""),
    ]


async def test_old_questions_stand_in_the_inbox_in_order(upgraded: Backend) -> None:
    assert await waiting(upgraded) == [2, 3, 1, 5, 4]
    assert await pages_of_waiting(upgraded, 2) == [[2, 3], [1, 5], [4]]
    assert await settled(upgraded) == [6]


async def test_new_questions_take_their_place_among_the_old(upgraded: Backend) -> None:
    await asked(upgraded, 7, urgency=Urgency.HIGH, time_limit=timedelta(hours=1), asked=(DANA.id,))

    assert await waiting(upgraded) == [2, 7, 3, 1, 5, 4]
    assert await upgraded.browser.count_put_to(WORKSPACE, DANA.id) == 2


async def test_old_questions_are_found_by_whatever_people_look_for(upgraded: Backend) -> None:
    planners, builders = Sieve(WORKSPACE, agent="planner"), Sieve(WORKSPACE, agent="builder")

    assert (await waiting(upgraded, planners), await settled(upgraded, planners)) == ([2], [6])
    assert (await waiting(upgraded, builders), await settled(upgraded, builders)) == ([3, 1, 5, 4], [])
    for person, numbers in ((DANA.id, [1]), (EVE.id, [1, 4]), (PersonId("p_zoe"), [])):
        assert await waiting(upgraded, Sieve(WORKSPACE, put_to=person)) == numbers
        assert await upgraded.browser.count_put_to(WORKSPACE, person) == len(numbers)
    for words in ("Straße", "strasse", "STRASSE"):
        sieve = Sieve(WORKSPACE, words=words)
        assert (await waiting(upgraded, sieve), await settled(upgraded, sieve)) == ([3], [6])
    assert await settled(upgraded, Sieve(WORKSPACE, ended=OutcomeKind.ANSWERED)) == [6]


async def test_more_questions_than_are_read_at_once_are_all_filled_in(tmp_path: Path) -> None:
    database = open_database(sqlite_url(tmp_path))
    upgrade(database, "0004")
    rows = [row(number, {"asked": ["p_dana"]}, urgency="high") for number in range(1, 1203)]
    names = ", ".join(rows[0])
    values = ", ".join(f":{name}" for name in rows[0])
    with database.writing.begin() as connection:
        connection.execute(text(f"INSERT INTO questions ({names}) VALUES ({values})"), rows)
    database.dispose()

    with sql_backend(sqlite_url(tmp_path)) as opened:
        count = await opened.browser.count_put_to(WORKSPACE, DANA.id)
        last = await opened.browser.waiting(EVERYTHING, limit=2000)
        assert opened.database is not None
        with opened.database.reading.connect() as connection:
            ranks = set(connection.execute(text("SELECT DISTINCT rank FROM questions")).scalars())

    assert (count, len(last), ranks) == (1202, 1202, {1})
