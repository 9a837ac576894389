"""Webhooks against receivers that fail in every way, with the sender killed again and again."""

import asyncio
import hashlib
import random
import subprocess
import sys
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web

from adapters.webhooks.signing import new_secret
from core.ids import Principal
from core.people import agent_principal
from core.ports import Attempt, MessageRecord
from core.posting import Postman
from core.question import Asker
from core.webhooks import JITTER, SCHEDULE, Endpoint, MessageState
from tests.support.backends import Backend, memory_backend, sql_backend, sqlite_url
from tests.support.builders import NOW, WORKSPACE, answer, ask, spec
from tests.support.couriers import AlwaysFails
from tests.support.foreign import Message, verdict_of_python, verdicts_of_node
from tests.support.postal import ShiftedClock
from tests.support.servers import ROOT

AGENTS = 10
GONE_AGENTS = (3, 7)
#: From this attempt on every receiver behaves, so that the test comes to an end.
GOOD_FROM = 4


class Receivers:
    """One address for each agent. What it does with an attempt is settled by a throw that the message decides."""

    def __init__(self) -> None:
        self.got: list[tuple[int, dict[str, str], bytes]] = []
        self.misdeeds: Counter[str] = Counter()
        self._tries: Counter[str] = Counter()
        self.moved_to = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        agent = int(request.match_info["agent"])
        body = await request.read()
        name = request.headers["webhook-id"]
        self._tries[name] += 1
        throw = int(hashlib.sha256(f"{name}{self._tries[name]}".encode()).hexdigest(), 16) % 100
        if self._tries[name] >= GOOD_FROM:
            throw = 99
        if agent in GONE_AGENTS and throw < 20:
            return self._did("410", web.Response(status=410))
        if throw < 30:
            return self._did("500", web.Response(status=500))
        if throw < 35:
            self.misdeeds["hang"] += 1
            await asyncio.sleep(30)
        if throw < 45:
            self.misdeeds["reset"] += 1
            if request.transport is not None:  # else the sender is gone already
                request.transport.abort()
            return web.Response()
        if throw < 50:
            return self._did("429", web.Response(status=429, headers={"Retry-After": "90"}))
        if throw < 55:
            return self._did("301", web.Response(status=301, headers={"Location": "/moved"}))
        self.got.append((agent, {key.lower(): value for key, value in request.headers.items()}, body))
        return web.Response(status=204)

    async def moved(self, request: web.Request) -> web.Response:
        self.moved_to += 1
        return web.Response()

    def _did(self, what: str, response: web.Response) -> web.Response:
        self.misdeeds[what] += 1
        return response


def _agent(number: int) -> Principal:
    return agent_principal(f"agent {number}")


async def _happenings(backend: Backend, port: int, events: int) -> dict[int, str]:
    """Endpoints for all agents, and `events` events on their questions; the secrets by agent."""
    secrets = {number: new_secret() for number in range(AGENTS)}
    for number, secret in secrets.items():
        url = f"http://127.0.0.1:{port}/hook/{number}"
        await backend.webhooks.add_endpoint(
            Endpoint(f"wh_{number}", WORKSPACE, _agent(number), url, ("question.*",), secret, NOW)
        )
    engine = backend.engine()
    for question in range(1, events // 2 + 1):
        owner = question % AGENTS
        await engine.handle(ask(question, spec(asker=Asker(_agent(owner), str(owner)), time_limit=None)))
        await engine.handle(answer(question))
    return secrets


async def _records(backend: Backend) -> list[MessageRecord]:
    return list(await backend.webhooks.log(WORKSPACE, limit=100_000))


async def _run(folder: Path, events: int, kills: int) -> tuple[Receivers, list[MessageRecord], dict[int, str], int]:
    receivers, ahead, chance = Receivers(), folder / "ahead", random.Random(11)
    clock = ShiftedClock(ahead)
    clock.advance(timedelta(0))
    application = web.Application()
    application.router.add_post("/hook/{agent}", receivers.handle)
    application.router.add_route("*", "/moved", receivers.moved)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port: int = runner.addresses[0][1]
    url, killed = sqlite_url(folder), 0
    with sql_backend(url, clock) as backend:
        secrets = await _happenings(backend, port, events)
        async with asyncio.timeout(600):
            while True:
                sender = _sender(url, ahead)
                for _ in range(chance.randint(25, 60)):
                    await asyncio.sleep(0.05)
                    # Virtual time runs about two hundred times as fast as ours, so leases and pauses end soon.
                    clock.advance(timedelta(seconds=10))
                sender.kill()
                sender.wait()
                killed += 1
                records = await _records(backend)
                if killed >= kills and not any(record.state is MessageState.WAITING for record in records):
                    break
    await runner.cleanup()
    return receivers, records, secrets, killed


def _sender(url: str, ahead: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "tests.support.postal", url, str(ahead)], cwd=ROOT)


def _pauses(attempts: tuple[Attempt, ...]) -> list[timedelta]:
    instants: list[datetime] = [attempt.at for attempt in attempts]
    return [later - earlier for earlier, later in pairwise(instants)]


def _check(
    receivers: Receivers, records: list[MessageRecord], secrets: dict[int, str], events: int, node: Path
) -> None:
    assert len(records) == events
    by_state = Counter(record.state for record in records)
    assert set(by_state) <= {MessageState.DELIVERED, MessageState.REFUSED}
    refused_owners = {record.message.owner for record in records if record.state is MessageState.REFUSED}
    assert refused_owners <= {_agent(number) for number in GONE_AGENTS}
    arrived = {headers["webhook-id"] for _, headers, _ in receivers.got}
    delivered = {record.message.id for record in records if record.state is MessageState.DELIVERED}
    assert delivered <= arrived
    assert arrived <= {record.message.id for record in records}
    bodies: dict[str, set[bytes]] = {}
    for _, headers, body in receivers.got:
        bodies.setdefault(headers["webhook-id"], set()).add(body)
    assert all(len(said) == 1 for said in bodies.values()), "a message said two things"
    messages: list[Message] = [
        (secrets[agent], {name: headers[name] for name in headers if name.startswith("webhook-")}, body)
        for agent, headers, body in receivers.got
    ]
    assert Counter(map(verdict_of_python, messages)) == {"accepted": len(messages)}
    assert Counter(verdicts_of_node(node, messages)) == {"accepted": len(messages)}
    for record in records:
        for place, pause in enumerate(_pauses(record.attempts)):
            assert pause >= SCHEDULE[place] * (1 - JITTER) - timedelta(milliseconds=5), "tried again too early"
    assert receivers.moved_to == 0
    assert {"500", "reset", "429", "301", "410"} <= set(receivers.misdeeds)


async def test_every_message_arrives_though_receivers_fail_and_the_sender_is_killed(
    tmp_path: Path, node_package: Path
) -> None:
    receivers, records, secrets, killed = await _run(tmp_path, events=300, kills=3)

    assert killed >= 3
    _check(receivers, records, secrets, 300, node_package)


@pytest.mark.soak
async def test_two_thousand_messages_arrive_through_twenty_kills(
    tmp_path: Path, node_package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    receivers, records, secrets, killed = await _run(tmp_path, events=2000, kills=20)

    _check(receivers, records, secrets, 2000, node_package)
    with capsys.disabled():
        states = dict(Counter(record.state.value for record in records))
        twice = len(receivers.got) - len({headers["webhook-id"] for _, headers, _ in receivers.got})
        print(  # noqa: T201
            f"\n2,000 messages, {killed} kills: {states}, {twice} arrived more than once (same id), "
            f"receivers failed {dict(receivers.misdeeds)}; every signature accepted by both foreign verifiers"
        )


async def test_attempts_follow_the_schedule_and_end_as_a_dead_letter() -> None:
    clock = [NOW]
    backend = memory_backend(lambda: clock[0])
    await backend.webhooks.add_endpoint(
        Endpoint("wh_1", WORKSPACE, _agent(1), "https://a.example/", ("*",), new_secret(), NOW)
    )
    await backend.engine().handle(ask(1, spec(asker=Asker(_agent(1), "1"), time_limit=None)))

    async def compose(_: object) -> bytes:
        return b"{}"

    postman = Postman(backend.webhooks, AlwaysFails(), compose, WORKSPACE, chance=lambda: 0.5)
    while (due := await backend.webhooks.next_due()) is not None:
        clock[0] = max(clock[0], due)
        await postman.deliver()

    (record,) = await _records(backend)
    assert record.state is MessageState.DEAD
    assert [attempt.at - NOW for attempt in record.attempts] == [
        timedelta(0),
        timedelta(seconds=5),
        timedelta(seconds=35),
        timedelta(minutes=2, seconds=35),
        timedelta(minutes=12, seconds=35),
        timedelta(hours=1, minutes=12, seconds=35),
        timedelta(hours=7, minutes=12, seconds=35),
        timedelta(hours=31, minutes=12, seconds=35),
    ]
