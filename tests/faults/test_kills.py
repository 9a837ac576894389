"""kill -9 while agents ask and people answer: what was acknowledged is there afterwards, and nothing is there twice."""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest

from tests.support.servers import RunningServer

CLIENTS = 8


@dataclass
class Ledger:
    """What clients sent and what they were told."""

    asked: dict[str, str] = field(default_factory=dict)  # operation -> question id, acknowledged
    answered: dict[str, str] = field(default_factory=dict)  # question id -> value, acknowledged
    kills: int = 0


class Gone(Exception):
    """The server died during the call; the client does not know what became of it."""


async def _client(number: int, server: RunningServer, ledger: Ledger, unknown: list[tuple[str, str]]) -> None:
    """Asks and answers until the server dies, then leaves what it does not know in `unknown`."""
    async with server.async_client() as agent, server.async_client(server.admin_key) as person:
        while True:
            operation = uuid4().hex
            try:
                await _cycle(agent, person, operation, ledger)
            except (httpx2.TransportError, Gone):
                unknown.append((operation, f"value of {operation}"))
                return


async def _cycle(agent: httpx2.AsyncClient, person: httpx2.AsyncClient, operation: str, ledger: Ledger) -> None:
    body = {"question": f"Question {operation}?", "operationId": operation}
    asked = await agent.post("/api/jobs/kills/questions", json=body)
    assert asked.status_code in (200, 201), asked.text
    name = asked.json()["questionId"]
    assert ledger.asked.setdefault(operation, name) == name
    value = f"value of {operation}"
    headers = {"Idempotency-Key": f"answer-{operation}"}
    said = await person.post(f"/api/questions/{name}/answer", json={"response": {"value": value}}, headers=headers)
    assert said.status_code == 200, said.text
    ledger.answered[name] = value


async def _live_and_die(server: RunningServer, ledger: Ledger, unknown: list[tuple[str, str]], after: float) -> None:
    """Finish what the last life left open, under the same keys; then work until the power goes out."""
    async with server.async_client() as agent, server.async_client(server.admin_key) as person:
        for operation, _ in unknown:
            await _cycle(agent, person, operation, ledger)
    unknown.clear()
    clients = [asyncio.create_task(_client(number, server, ledger, unknown)) for number in range(CLIENTS)]
    await asyncio.sleep(after)
    await asyncio.to_thread(server.kill)
    ledger.kills += 1
    await asyncio.gather(*clients)


async def _check(server: RunningServer, ledger: Ledger) -> None:
    found: dict[str, dict[str, object]] = {}
    operations: Counter[object] = Counter()
    async with server.async_client(server.admin_key) as admin:
        cursor: str | None = None
        while True:
            params = {"cursor": cursor} if cursor is not None else {}
            page = (await admin.get("/api/jobs/kills/questions", params=params)).json()
            for question in page["questions"]:
                found[question["id"]] = question
                operations[question["operationId"]] += 1
            cursor = page["nextCursor"]
            if cursor is None:
                break
        assert operations.most_common(1)[0][1] == 1, "an operation made two questions"
        assert set(ledger.asked.values()) <= set(found), "an acknowledged question is gone"
        for name, value in ledger.answered.items():
            assert found[name]["status"] == "answered"
            response = found[name]["response"]
            assert isinstance(response, dict)
            assert response["value"] == value
        sample = random.Random(7).sample(sorted(found), min(200, len(found)))
        for name in sample:
            events = (await admin.get(f"/api/questions/{name}/history")).json()["events"]
            assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
            assert [event["type"] for event in events] in (
                ["question.asked"],
                ["question.asked", "question.answered"],
            )


async def _run(data_dir: Path, kills: int, settings: dict[str, str]) -> Ledger:
    chance, ledger, unknown = random.Random(20), Ledger(), list[tuple[str, str]]()
    for _ in range(kills):
        server = await asyncio.to_thread(lambda: RunningServer(data_dir, port=0, **settings))
        await _live_and_die(server, ledger, unknown, after=chance.uniform(0.05, 0.8))
    server = await asyncio.to_thread(lambda: RunningServer(data_dir, port=0, **settings))
    try:
        await _check(server, ledger)
    finally:
        await asyncio.to_thread(server.stop)
    return ledger


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> dict[str, str]:
    if request.param == "sqlite":
        return {}
    return {"database_url": request.getfixturevalue("postgres").new_database()}


async def test_a_kill_loses_nothing_acknowledged_and_repeats_nothing(data_dir: Path, database: dict[str, str]) -> None:
    ledger = await _run(data_dir, 4, database)

    assert ledger.kills == 4
    assert len(ledger.answered) > 10


@pytest.mark.soak
async def test_many_kills_lose_nothing_acknowledged_and_repeat_nothing(
    data_dir: Path, database: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = await _run(data_dir, 25, database)

    with capsys.disabled():
        name = "PostgreSQL" if database else "SQLite"
        print(  # noqa: T201
            f"\n{name}: {ledger.kills} kills, {len(ledger.asked)} acknowledged questions and "
            f"{len(ledger.answered)} acknowledged answers, none lost, none twice"
        )
