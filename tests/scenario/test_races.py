"""Several people answer at the same moment: one wins, and everybody else is told who."""

import asyncio
from collections.abc import Sequence

import httpx2
import pytest

from tests.scenario.talk import ADMIN, AGENT, Json
from tests.support.servers import RunningServer

_ROUNDS = 20


async def _ask(agent: httpx2.AsyncClient) -> str:
    asked = await agent.post("/api/questions", json={"question": "Who is first?"})
    question_id: str = asked.json()["questionId"]
    return question_id


async def _events(agent: httpx2.AsyncClient, question_id: str) -> list[Json]:
    events: list[Json] = (await agent.get(f"/api/questions/{question_id}/history")).json()["events"]
    return events


async def _answer_at_once(answerers: Sequence[httpx2.AsyncClient], question_id: str) -> dict[str, httpx2.Response]:
    """Each answerer's reply, by the value they sent. The requests leave together, each on its own connection."""
    together = asyncio.Barrier(len(answerers))

    async def one(client: httpx2.AsyncClient, value: str) -> httpx2.Response:
        await together.wait()
        return await client.post(f"/api/questions/{question_id}/answer", json={"response": {"value": value}})

    values = [f"answer {number}" for number in range(len(answerers))]
    replies = await asyncio.gather(*(one(*pair) for pair in zip(answerers, values, strict=True)))
    return dict(zip(values, replies, strict=True))


@pytest.mark.parametrize("count", [2, 8])
async def test_of_simultaneous_answers_exactly_one_wins_and_the_others_are_told_who(
    server: RunningServer, count: int
) -> None:
    agent = server.async_client()
    answerers = [server.async_client(server.admin_key) for _ in range(count)]

    for _ in range(_ROUNDS):
        question_id = await _ask(agent)
        replies = await _answer_at_once(answerers, question_id)

        winners = [value for value, reply in replies.items() if reply.status_code == 200]
        losers = [reply.json() for reply in replies.values() if reply.status_code == 409]
        events = await _events(agent, question_id)
        assert len(winners) == 1
        assert len(losers) == count - 1
        for loser in losers:
            assert loser["code"] == "question_already_answered"
            assert loser["outcome"]["decidedBy"] == ADMIN
            assert loser["outcome"]["response"] == {"type": "text", "value": winners[0]}
            assert loser["question"]["outcome"] == loser["outcome"]
        assert [(event["sequence"], event["type"]) for event in events] == [
            (1, "question.asked"),
            (2, "question.answered"),
        ]
        assert events[1]["response"] == {"type": "text", "value": winners[0]}

    for client in (agent, *answerers):
        await client.aclose()


async def test_an_answer_and_a_cancellation_at_once_end_in_one_of_them(server: RunningServer) -> None:
    agent, admin = server.async_client(), server.async_client(server.admin_key)

    for _ in range(_ROUNDS):
        question_id = await _ask(agent)
        answered, cancelled = await asyncio.gather(
            admin.post(f"/api/questions/{question_id}/answer", json={"response": {"value": "me"}}),
            agent.post(f"/api/questions/{question_id}/cancel"),
        )

        names = [event["type"] for event in await _events(agent, question_id)]
        if answered.status_code == 200:
            assert names == ["question.asked", "question.answered"]
            assert (cancelled.status_code, cancelled.json()["code"]) == (409, "question_already_answered")
            assert cancelled.json()["outcome"]["decidedBy"] == ADMIN
        else:
            assert names == ["question.asked", "question.withdrawn"]
            assert (answered.status_code, answered.json()["code"]) == (409, "question_withdrawn")
            assert answered.json()["outcome"]["decidedBy"] == AGENT

    await agent.aclose()
    await admin.aclose()


async def test_only_one_of_eight_simultaneous_questions_may_hold_a_job_that_allows_one(server: RunningServer) -> None:
    async with server.async_client() as agent:
        for number in range(5):
            job = f"/api/jobs/crowded-{number}"
            await agent.patch(job, json={"maxOpenHolding": 1})
            replies = await asyncio.gather(
                *(agent.post(f"{job}/questions", json={"question": f"Question {n}?"}) for n in range(8))
            )

            codes = sorted(reply.json().get("code", "asked") for reply in replies)
            held = (await agent.get(job)).json()["humanInput"]["openQuestionCount"]
            assert codes == ["asked"] + ["question_conflict_open"] * 7
            assert held == 1


async def test_questions_asked_while_the_job_ends_are_refused_or_withdrawn(server: RunningServer) -> None:
    async with server.async_client() as agent:
        for number in range(5):
            job = f"/api/jobs/ending-{number}"
            await agent.post(f"{job}/questions", json={"question": "Before?"})
            asks = [agent.post(f"{job}/questions", json={"question": f"Question {n}?"}) for n in range(6)]
            await asyncio.gather(*asks[:3], agent.patch(job, json={"status": "completed"}), *asks[3:])

            questions = (await agent.get(f"{job}/questions")).json()["questions"]
            assert {question["status"] for question in questions} == {"cancelled"}
            assert (await agent.get(job)).json()["status"] == "completed"
