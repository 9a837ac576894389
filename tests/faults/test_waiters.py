"""Many agents wait by long poll and by event stream while sockets are cut and servers restart: each gets its answer."""

import asyncio
import json
import random
import time
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from tests.support.servers import RunningServer

AGENTS = 5


@dataclass
class Waiter:
    agent: str
    key: str
    streams: bool
    question: str = ""
    position: str = "0"
    answer: str | None = None
    foreign: int = 0
    connected_at: float = 0.0
    answered_at: float = 0.0
    got_it_at: float = 0.0
    connections: int = 0
    attempt: asyncio.Task[None] | None = None


@dataclass
class Place:
    """Where the server is just now; it moves with every restart."""

    server: RunningServer
    session: aiohttp.ClientSession
    cuts: int = 0
    restarts: int = 0


async def _ask(place: Place, waiter: Waiter) -> None:
    body = {"question": f"For {waiter.agent}?", "type": "blocking"}
    headers = {"Authorization": f"Bearer {waiter.key}"}
    async with place.session.post(f"{place.server.url}/api/questions", json=body, headers=headers) as reply:
        waiter.question = (await reply.json())["questionId"]


async def _poll(place: Place, waiter: Waiter) -> None:
    headers = {"Authorization": f"Bearer {waiter.key}"}
    url = f"{place.server.url}/api/questions/{waiter.question}?wait=20"
    waiter.connected_at = time.monotonic()
    async with place.session.get(url, headers=headers) as reply:
        question = await reply.json()
        if reply.status == 200 and question["status"] == "answered":
            waiter.answer = question["response"]["value"]


async def _listen(place: Place, waiter: Waiter) -> None:
    headers = {"Authorization": f"Bearer {waiter.key}", "Last-Event-ID": waiter.position}
    waiter.connected_at = time.monotonic()
    async with place.session.get(f"{place.server.url}/api/events", headers=headers) as reply:
        async for raw in reply.content:
            line = raw.decode().rstrip("\n")
            if line.startswith("id: "):
                waiter.position = line[4:]
            elif line.startswith("data: "):
                event = json.loads(line[6:])
                if event["data"].get("askedBy") not in (None, waiter.agent):
                    waiter.foreign += 1
                if event["type"] == "question.answered" and event["data"]["id"] == waiter.question:
                    waiter.answer = event["data"]["outcome"]["response"]["value"]
                    return


async def _wait(place: Place, waiter: Waiter) -> None:
    while waiter.answer is None:
        waiter.connections += 1
        waiter.attempt = asyncio.create_task((_listen if waiter.streams else _poll)(place, waiter))
        await asyncio.wait({waiter.attempt})
        failed = waiter.attempt.cancelled() or waiter.attempt.exception() is not None
        if failed:
            await asyncio.sleep(0.05)
    waiter.got_it_at = time.monotonic()


async def _disturb(place: Place, waiters: list[Waiter], cuts: int, restarts: int, chance: random.Random) -> None:
    for turn in range(cuts):
        waiter = chance.choice(waiters)
        if waiter.attempt is not None and not waiter.attempt.done():
            waiter.attempt.cancel()
            place.cuts += 1
        await asyncio.sleep(0.02)
        if turn % max(1, cuts // restarts) == 0 and place.restarts < restarts:
            old = place.server
            await asyncio.to_thread(old.kill if place.restarts % 2 else old.stop)
            place.server = await asyncio.to_thread(lambda o=old: RunningServer(o.data_dir, port=o.port))  # type: ignore[misc]
            place.restarts += 1


async def _answer_all(place: Place, waiters: list[Waiter]) -> None:
    headers = {"Authorization": f"Bearer {place.server.admin_key}"}
    for waiter in waiters:
        url = f"{place.server.url}/api/questions/{waiter.question}/answer"
        body = {"response": {"value": f"answer to {waiter.question}"}}
        waiter.answered_at = time.monotonic()
        async with place.session.post(url, json=body, headers=headers) as reply:
            assert reply.status == 200, await reply.text()


async def _run(folder: Path, count: int, cuts: int, restarts: int) -> tuple[Place, list[Waiter]]:
    server = await asyncio.to_thread(RunningServer, folder)
    keys = [await asyncio.to_thread(server.new_key, f"agent {n}", "ask,read") for n in range(AGENTS)]
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session:
        place = Place(server, session)
        waiters = [Waiter(f"agent {n % AGENTS}", keys[n % AGENTS], streams=n % 2 == 0) for n in range(count)]
        for waiter in waiters:
            await _ask(place, waiter)
        waiting = asyncio.gather(*(_wait(place, waiter) for waiter in waiters))
        await _disturb(place, waiters, cuts, restarts, random.Random(5))
        answering = asyncio.create_task(_answer_all(place, waiters))
        async with asyncio.timeout(120):
            await asyncio.gather(waiting, answering)
    await asyncio.to_thread(place.server.stop)
    return place, waiters


def _check(waiters: list[Waiter]) -> None:
    assert [waiter.answer for waiter in waiters] == [f"answer to {waiter.question}" for waiter in waiters]
    assert sum(waiter.foreign for waiter in waiters) == 0


async def test_cut_sockets_and_restarts_keep_no_agent_from_its_answer(tmp_path: Path) -> None:
    place, waiters = await _run(tmp_path, count=60, cuts=30, restarts=2)

    assert (place.restarts, place.cuts > 0) == (2, True)
    _check(waiters)


@pytest.mark.soak
async def test_five_hundred_agents_get_their_answers_through_cuts_and_restarts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, waiters = await _run(tmp_path, count=500, cuts=220, restarts=5)

    _check(waiters)
    with capsys.disabled():
        reconnected = sum(waiter.connections > 1 for waiter in waiters)
        slowest = max(waiter.got_it_at - max(waiter.connected_at, waiter.answered_at) for waiter in waiters)
        print(  # noqa: T201
            f"\n500 waiters, {place.cuts} cuts, {place.restarts} restarts: all answered, 0 foreign events; "
            f"{reconnected} reconnected; slowest {slowest:.2f} s after it was both connected and answered"
        )
