"""Waiting for an answer over HTTP: woken when it settles, told to come back when the server stops."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.scenario.talk import ADMIN, LONG, ONE_SECOND, ask, look, problem
from tests.support.servers import RunningServer, running
from tests.support.waiting import eventually

#: Far above what a waiter needs to be woken, far below what it would wait unwoken.
_PROMPTLY = 10


async def _ask(agent: httpx2.AsyncClient, **fields: object) -> str:
    asked = await agent.post("/api/questions", json={"question": "Ready?"} | fields)
    question_id: str = asked.json()["questionId"]
    return question_id


async def _wait(agent: httpx2.AsyncClient, question_id: str) -> httpx2.Response:
    return await agent.get(f"/api/questions/{question_id}", params={"wait": LONG})


async def _somebody_waits(server: RunningServer, agent: httpx2.AsyncClient) -> None:
    """The server says itself for how many questions somebody waits."""

    async def waiting() -> bool:
        metrics = (await agent.get("/metrics")).text
        found = re.search(r"^handraise_waiting (\d+)", metrics, re.MULTILINE)
        return found is not None and int(found[1]) > 0

    await eventually(waiting)


@pytest.fixture(scope="module")
def second(server: RunningServer) -> Iterator[RunningServer]:
    """Another server process on the same database."""
    with running(server.data_dir) as started:
        yield started


async def test_a_waiter_is_woken_by_the_answer(server: RunningServer) -> None:
    async with server.async_client() as agent, server.async_client(server.admin_key) as admin:
        question_id = await _ask(agent)
        waiter = asyncio.create_task(_wait(agent, question_id))
        await _somebody_waits(server, agent)

        async with asyncio.timeout(_PROMPTLY):
            await admin.post(f"/api/questions/{question_id}/answer", json={"response": {"value": "yes"}})
            woken = await waiter

    question = woken.json()
    assert woken.status_code == 200
    assert "retry-after" not in woken.headers
    assert question["response"] == {"type": "text", "value": "yes"}
    assert question["outcome"]["decidedBy"] == ADMIN


async def test_twenty_waiters_one_after_another_are_each_woken_at_once(server: RunningServer) -> None:
    async with server.async_client() as agent, server.async_client(server.admin_key) as admin:
        # Unwoken waiters would be found by the one-second fallback; twenty of those do not fit into the limit.
        async with asyncio.timeout(_PROMPTLY):
            for number in range(20):
                question_id = await _ask(agent)
                waiter = asyncio.create_task(_wait(agent, question_id))
                await agent.get("/healthz")
                await admin.post(f"/api/questions/{question_id}/answer", json={"response": {"value": f"{number}"}})
                assert (await waiter).json()["response"]["value"] == f"{number}"


async def test_a_waiter_is_woken_by_the_cancellation(server: RunningServer) -> None:
    async with server.async_client() as agent:
        question_id = await _ask(agent)
        waiter = asyncio.create_task(_wait(agent, question_id))
        await _somebody_waits(server, agent)

        async with asyncio.timeout(_PROMPTLY):
            await agent.post(f"/api/questions/{question_id}/cancel")
            woken = await waiter

    assert woken.json()["status"] == "cancelled"


async def test_a_waiter_is_woken_by_the_deadline(server: RunningServer) -> None:
    async with server.async_client() as agent:
        question_id = await _ask(agent, timeoutMinutes=ONE_SECOND)

        async with asyncio.timeout(_PROMPTLY):
            woken = await _wait(agent, question_id)

    assert woken.json()["status"] == "timeout"


async def test_a_waiter_is_woken_by_the_end_of_the_job(server: RunningServer) -> None:
    async with server.async_client() as agent:
        question_id = await _ask(agent, jobId="ends")
        waiter = asyncio.create_task(_wait(agent, question_id))
        await _somebody_waits(server, agent)

        async with asyncio.timeout(_PROMPTLY):
            await agent.patch("/api/jobs/ends", json={"status": "completed"})
            woken = await waiter

    assert woken.json()["status"] == "cancelled"


async def test_a_hundred_waiters_on_one_question_all_hear_the_answer(server: RunningServer) -> None:
    async with server.async_client() as agent, server.async_client(server.admin_key) as admin:
        question_id = await _ask(agent)
        waiters = [asyncio.create_task(_wait(agent, question_id)) for _ in range(100)]
        await _somebody_waits(server, agent)

        async with asyncio.timeout(_PROMPTLY):
            await admin.post(f"/api/questions/{question_id}/answer", json={"response": {"value": "yes"}})
            woken = await asyncio.gather(*waiters)

    assert {(reply.status_code, reply.json()["status"]) for reply in woken} == {(200, "answered")}
    assert len({reply.text for reply in woken}) == 1


async def test_an_asker_who_leaves_does_not_disturb_the_others(server: RunningServer) -> None:
    async with server.async_client() as agent, server.async_client(server.admin_key) as admin:
        question_id = await _ask(agent)
        stays = asyncio.create_task(_wait(agent, question_id))
        leaves = asyncio.create_task(_wait(agent, question_id))
        await _somebody_waits(server, agent)
        leaves.cancel()

        async with asyncio.timeout(_PROMPTLY):
            await admin.post(f"/api/questions/{question_id}/answer", json={"response": {"value": "yes"}})
            woken = await stays

    assert woken.json()["status"] == "answered"


def test_waiting_for_what_has_settled_returns_at_once(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent)
    admin.post(f"/api/questions/{question['id']}/answer", json={"response": {"value": "yes"}})

    found = agent.get(f"/api/questions/{question['id']}", params={"wait": LONG})

    assert found.json() == look(agent, question["id"])
    assert "retry-after" not in found.headers


def test_a_waiter_whose_time_is_up_gets_the_open_question(agent: httpx2.Client) -> None:
    question = ask(agent)

    found = agent.get(f"/api/questions/{question['id']}", params={"wait": 0.2})

    assert found.status_code == 200
    assert found.headers["retry-after"] == "0"
    assert found.json() == question


@pytest.mark.parametrize(
    ("prefer", "applied"),
    [
        ("wait=1", "wait=1"),
        ('respond-async, wait="1"', "wait=1"),
        ("Wait = 1; foo=bar", "wait=1"),
        ("wait=0", "wait=0"),
    ],
)
def test_a_preferred_wait_is_applied(agent: httpx2.Client, prefer: str, applied: str) -> None:
    question = ask(agent)

    found = agent.get(f"/api/questions/{question['id']}", headers={"Prefer": prefer})

    assert found.headers["preference-applied"] == applied
    assert found.json() == question


@pytest.mark.parametrize("prefer", ["respond-async", "wait=soon", "wait=-1", "handling=lenient; waited=1"])
def test_other_preferences_are_not_applied(agent: httpx2.Client, prefer: str) -> None:
    question = ask(agent)

    found = agent.get(f"/api/questions/{question['id']}", headers={"Prefer": prefer})

    assert found.status_code == 200
    assert "preference-applied" not in found.headers


def test_a_preferred_wait_beyond_the_longest_is_shortened(agent: httpx2.Client) -> None:
    question = ask(agent)
    agent.post(f"/api/questions/{question['id']}/cancel")

    found = agent.get(f"/api/questions/{question['id']}", headers={"Prefer": "wait=3600"})

    assert found.headers["preference-applied"] == "wait=55"


@pytest.mark.parametrize("wait", ["55.1", "56", "-1", "nan", "inf", "soon", ""])
def test_a_wait_outside_the_limits_is_refused(agent: httpx2.Client, wait: str) -> None:
    question = ask(agent)

    refused = agent.get(f"/api/questions/{question['id']}", params={"wait": wait})

    assert problem(refused) == (422, "invalid_request")


async def test_a_waiter_hears_of_an_answer_given_to_another_server(
    server: RunningServer, second: RunningServer
) -> None:
    async with server.async_client() as agent, second.async_client(second.admin_key) as admin:
        question_id = await _ask(agent)
        waiter = asyncio.create_task(_wait(agent, question_id))
        await _somebody_waits(server, agent)

        async with asyncio.timeout(_PROMPTLY):
            answered = await admin.post(f"/api/questions/{question_id}/answer", json={"response": {"value": "yes"}})
            woken = await waiter

    assert answered.status_code == 200
    assert woken.json()["response"] == {"type": "text", "value": "yes"}


async def test_a_deadline_beside_two_servers_passes_once(server: RunningServer, second: RunningServer) -> None:
    async with server.async_client() as agent, second.async_client() as same_agent:
        ids = [await _ask(agent, timeoutMinutes=ONE_SECOND) for _ in range(20)]

        async with asyncio.timeout(_PROMPTLY):
            await asyncio.gather(*(_wait(client, each) for each in ids for client in (agent, same_agent)))
        events = [(await agent.get(f"/api/questions/{each}/history")).json()["events"] for each in ids]

    assert [[event["type"] for event in one] for one in events] == [["question.asked", "question.expired"]] * 20


async def test_a_stopping_server_sends_waiters_away_and_keeps_the_question(data_dir: Path) -> None:
    server = RunningServer(data_dir)
    async with server.async_client() as agent:
        question_id = await _ask(agent)
        waiter = asyncio.create_task(_wait(agent, question_id))
        await _somebody_waits(server, agent)

        async with asyncio.timeout(_PROMPTLY):
            exit_code = await asyncio.to_thread(server.stop)
            told = await waiter

    assert exit_code == 0
    assert (told.status_code, told.json()["status"]) == (200, "pending")
    assert (told.headers["retry-after"], told.headers["connection"]) == ("1", "close")
    with running(data_dir) as again, again.client() as agent_again:
        assert look(agent_again, question_id) == told.json() | {
            "url": f"{again.url}/q/{question_id}",
            "deliveries": [told.json()["deliveries"][0] | {"link": f"{again.url}/q/{question_id}"}],
        }
