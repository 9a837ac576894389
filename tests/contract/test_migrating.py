"""A database of the release before people and policy: what was open stays open, and whoever could answer still can."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text

import adapters.sql
from adapters.memory.surface import MemorySurface
from adapters.sql.database import Database, open_database, revision
from adapters.sql.rows import millis
from bot.household import Household
from core.answers import RawAnswer
from core.commands import Answer
from core.deadlines import TimeLimits
from core.decisions import Accepted, Refused
from core.delivering import delivery_state
from core.delivery import Deliverer
from core.engine import Engine, Handled
from core.ids import JobId, PersonId
from core.kinds import JobStatus
from core.people import Person, Role
from core.places import Target
from core.ports import JobKey, MessageRef
from core.prompt import Tone, prompt_for
from core.question import Status
from core.sweeper import Sweeper
from core.waiters import Waiters
from tests.support.backends import Backend, sql_backend, sqlite_url
from tests.support.builders import WORKSPACE, acting, question_id

ASKED = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=5)
ADMIN = Person(PersonId("p_admin"), "Admin", Role.ADMIN)
EVE = Person(PersonId("p_eve"), "Eve", Role.MEMBER)
TERMINAL = {"surface": "terminal", "address": "here"}


def upgrade(database: Database, to: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(adapters.sql.__file__).parent / "migrations"))
    with database.writing.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, to)


def insert(database: Database, table: str, **row: Any) -> None:
    columns, values = ", ".join(row), ", ".join(f":{name}" for name in row)
    with database.writing.begin() as connection:
        connection.execute(text(f"INSERT INTO {table} ({columns}) VALUES ({values})"), row)


def spec_text(kind: str, shape: dict[str, Any], **more: Any) -> str:
    """A question's spec as that release wrote it, character for character."""
    spec: dict[str, Any] = {
        "workspace_id": "default",
        "asker": {"principal": "agent:builder", "name": "builder"},
        "text": "Which database?",
        "kind": kind,
        "shape": shape,
        "policy": {"responder_roles": ["admin"]},
        "time_limit": "PT30M",
        "urgency": "normal",
        "tags": [],
        "targets": [TERMINAL],
    }
    return json.dumps(spec | more, separators=(",", ":"))


def instant_text(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def old_question(
    database: Database, number: int, kind: str = "blocking", shape: str = "text", job: str | None = None, **spec: Any
) -> None:
    """A question of five minutes ago that a terminal shows."""
    deadline = ASKED + timedelta(minutes=30)
    posted = {"surface": "terminal", "state": "posted", "at": instant_text(ASKED)}
    more = spec | ({"job_id": job} if job is not None else {})
    insert(
        database,
        "questions",
        id=question_id(number),
        workspace_id="default",
        job_id=job,
        asker="agent:builder",
        kind=kind,
        status="open",
        version=2,
        asked_at=millis(ASKED),
        due_at=millis(deadline),
        spec=spec_text(kind, {"type": shape}, **more),
        life=json.dumps({"deadline": instant_text(deadline), "deliveries": [posted]}),
    )
    insert(
        database,
        "notices",
        id=f"{question_id(number)}:terminal:here",
        question_id=question_id(number),
        **TERMINAL,
        wanted_version=2,
        attempt=0,
        ref=f"here/{number}",
        lease_until=0,
        fence=1,
    )
    delivered = json.dumps({"at": instant_text(ASKED), "delivery": posted})
    for sequence, (name, data) in enumerate((("question.asked", ""), ("question.delivered", delivered)), 1):
        insert(
            database,
            "events",
            workspace_id="default",
            question_id=question_id(number),
            job_id=job,
            sequence=sequence,
            name=name,
            at=millis(ASKED),
            data=data,
            owner="agent:builder",
        )


def old_job(database: Database, name: str, number: int) -> None:
    holding = [{"question_id": question_id(number), "status": "waiting_for_approval", "since": instant_text(ASKED)}]
    body = {
        "workspace_id": "default",
        "id": name,
        "owner": "agent:builder",
        "created_at": instant_text(ASKED),
        "updated_at": instant_text(ASKED),
        "status": "waiting_for_approval",
        "version": 1,
        "resume_status": "running",
        "on_timeout": "fail",
        "holding": holding,
    }
    insert(
        database,
        "jobs",
        workspace_id="default",
        id=name,
        owner="agent:builder",
        status="waiting_for_approval",
        version=1,
        closing=False,
        body=json.dumps(body),
    )


@pytest.fixture(params=["sqlite", "postgres"])
def upgraded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """A database that the release before wrote, opened by this one."""
    url = sqlite_url(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()
    database = open_database(url)
    upgrade(database, "0003")
    assert revision(database) == "0003"
    insert(database, "people", id="p_admin", name="Admin", role="admin")
    insert(database, "people", id="p_eve", name="Eve", role="member")
    insert(
        database,
        "api_keys",
        id="k_1",
        name="builder",
        digest="d1",
        hint="hr_abc",
        scopes="ask,read",
        workspace_id="default",
        created_at=millis(ASKED),
    )
    old_question(database, 1)
    old_question(database, 2, "approval", "approval", "nightly")
    old_job(database, "nightly", 2)
    old_question(database, 3, policy={})
    old_question(database, 4, targets=[])
    database.dispose()
    with sql_backend(url) as opened:
        yield opened


def engine_of(backend: Backend) -> Engine:
    household = Household(backend.people, WORKSPACE, TimeLimits())
    return Engine(backend.store, backend.reader, Waiters(), household.roster)


async def test_people_and_keys_are_there_as_before(upgraded: Backend) -> None:
    assert list(await upgraded.people.everybody()) == [ADMIN, EVE]
    key = await upgraded.directory.key("d1")
    assert key is not None
    assert (key.name, key.owner) == ("builder", None)
    assert await upgraded.people.policy() is None


async def test_open_questions_read_as_what_they_were(upgraded: Backend) -> None:
    for number in (1, 2):
        question = await upgraded.reader.question(question_id(number))
        assert question is not None
        assert question.status is Status.OPEN
        assert question.targets == (Target("terminal", "here"),)
        assert question.deliveries[0].address == "here"
        assert question.policy.panels[0].roles == (Role.ADMIN,)
        assert question.deadline == ASKED + timedelta(minutes=30)
        assert delivery_state(question) == "posted"
        history = [stored.name for stored in await upgraded.reader.history(question.id)]
        assert history == ["question.asked", "question.delivered"]


async def test_the_admin_answers_it_and_its_message_is_brought_up_to_date(upgraded: Backend) -> None:
    engine, terminal = engine_of(upgraded), MemorySurface("terminal")
    for number in (1, 2):
        question = await upgraded.reader.question(question_id(number))
        assert question is not None
        terminal.messages[MessageRef(f"here/{number}")] = prompt_for(question)
    deliverer = Deliverer(upgraded.outbox, upgraded.store, upgraded.reader, engine, {"terminal": terminal})
    assert await deliverer.deliver() == 0

    values: dict[int, str | bool] = {1: "PostgreSQL", 2: True}
    for number, value in values.items():
        done = await engine.handle(Answer(question_id(number), acting(ADMIN), RawAnswer(value)))
        assert isinstance(done, Handled)
        assert isinstance(done.decision, Accepted), done.decision
    await deliverer.deliver()

    tones = {ref.value: prompt.tone for ref, prompt in terminal.messages.items()}
    assert tones == {"here/1": Tone.DONE, "here/2": Tone.DONE}
    job = await upgraded.reader.job(JobKey(WORKSPACE, JobId("nightly")))
    assert job is not None
    assert job.status is JobStatus.RUNNING


@pytest.mark.parametrize("number", [1, 2])
async def test_a_member_still_may_not(upgraded: Backend, number: int) -> None:
    done = await engine_of(upgraded).handle(Answer(question_id(number), acting(EVE), RawAnswer(True)))

    assert isinstance(done, Handled)
    assert isinstance(done.decision, Refused)


async def test_what_nobody_could_answer_nobody_can_answer_now(upgraded: Backend) -> None:
    done = await engine_of(upgraded).handle(Answer(question_id(3), acting(ADMIN), RawAnswer("me")))

    assert isinstance(done, Handled)
    assert isinstance(done.decision, Refused)


async def test_a_question_that_was_shown_nowhere_is_answered_too(upgraded: Backend) -> None:
    question = await upgraded.reader.question(question_id(4))
    assert question is not None
    assert question.targets == ()

    done = await engine_of(upgraded).handle(Answer(question_id(4), acting(ADMIN), RawAnswer("yes")))

    assert isinstance(done, Handled)
    assert isinstance(done.decision, Accepted)


async def test_deadlines_hold_as_before(upgraded: Backend) -> None:
    assert await upgraded.store.next_due() == ASKED + timedelta(minutes=30)
    planned = await upgraded.reader.planned(limit=10)
    assert [found.due for found in planned] == [ASKED + timedelta(minutes=30)] * 4
    failures: list[Exception] = []
    sweeper = Sweeper(upgraded.store, engine_of(upgraded), on_failure=lambda claim, failure: failures.append(failure))
    assert await sweeper.sweep() == 0
    assert failures == []


async def test_a_thousand_questions_are_all_brought_over(tmp_path: Path) -> None:
    """More than are read at once."""
    database = open_database(sqlite_url(tmp_path))
    upgrade(database, "0003")
    row = {"kind": "blocking", "spec": spec_text("blocking", {"type": "text"}), "life": "{}", "at": millis(ASKED)}
    insertion = text(
        "INSERT INTO questions (id, workspace_id, asker, kind, status, version, asked_at, spec, life) "
        "VALUES (:id, 'default', 'agent:builder', :kind, 'open', 1, :at, :spec, :life)"
    )
    with database.writing.begin() as connection:
        connection.execute(insertion, [row | {"id": question_id(number)} for number in range(1, 1203)])

    upgrade(database, "0004")

    with database.reading.connect() as connection:
        specs = [json.loads(spec) for spec in connection.execute(text("SELECT spec FROM questions")).scalars()]
    database.dispose()
    assert len(specs) == 1202
    assert {json.dumps(spec["policy"]["panels"][0]["roles"]) for spec in specs} == {'["admin"]'}
