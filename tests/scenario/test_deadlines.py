"""Deadlines: the default stands or nothing is decided, each question settles once, and an outage changes nothing."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from tests.scenario.talk import (
    APPROVAL,
    CHOICE,
    DEADLINE,
    DEFAULT,
    ONE_SECOND,
    Json,
    answer,
    ask,
    cancel,
    happened,
    history,
    job_of,
    look,
    pick,
    problem,
    settled,
)
from tests.support.servers import RunningServer, running
from tests.support.waiting import eventually

_SOON: Json = {"timeoutMinutes": ONE_SECOND}


def _at(instant: str) -> datetime:
    return datetime.fromisoformat(instant)


@pytest.mark.parametrize("kind", ["blocking", "error_recovery", "non_blocking", "preference"])
def test_at_the_deadline_the_default_stands(agent: httpx2.Client, kind: str) -> None:
    question = ask(agent, CHOICE | _SOON, type=kind, defaultResponse={"value": "lite", "text": "it is there"})

    ended = settled(agent, question["id"])

    response = {"type": "choice", "value": "lite", "text": "it is there"}
    decided_at = ended["outcome"]["decidedAt"]
    assert pick(ended, "status", "version", "votes", "response", "respondedBy", "respondedAt", "outcome") == {
        "status": "timeout",
        "version": 2,
        "votes": {"have": 0, "need": 1},
        "response": response,
        "respondedBy": None,
        "respondedAt": None,
        "outcome": {
            "kind": "defaulted",
            "response": response,
            "decidedBy": DEFAULT,
            "deciders": [],
            "decidedAt": decided_at,
            "reason": None,
        },
    }
    assert _at(decided_at) >= _at(question["timeoutAt"])
    assert history(agent, question["id"])[1:] == [
        {"sequence": 2, "type": "question.defaulted", "at": decided_at, "response": response}
    ]


@pytest.mark.parametrize("kind", ["blocking", "error_recovery", "approval", "clarifying"])
def test_without_a_default_nothing_is_decided(agent: httpx2.Client, kind: str) -> None:
    question = ask(agent, _SOON, type=kind)

    ended = settled(agent, question["id"])

    decided_at = ended["outcome"]["decidedAt"]
    assert pick(ended, "status", "response", "respondedBy", "outcome") == {
        "status": "timeout",
        "response": None,
        "respondedBy": None,
        "outcome": {
            "kind": "expired",
            "response": None,
            "decidedBy": DEADLINE,
            "deciders": [],
            "decidedAt": decided_at,
            "reason": None,
        },
    }
    assert _at(decided_at) >= _at(question["timeoutAt"])
    assert happened(agent, question["id"]) == ["question.asked", "question.expired"]


def test_silence_never_approves(agent: httpx2.Client) -> None:
    action = {"tool": "shell.run", "arguments": {"command": "rm -rf build"}, "risk": "critical"}
    with_default = agent.post("/api/questions", json=APPROVAL | {"defaultResponse": {"value": True}})
    question = ask(agent, APPROVAL | _SOON | {"action": action})

    outcome = settled(agent, question["id"])["outcome"]

    assert problem(with_default) == (422, "default_forbidden")
    assert pick(outcome, "kind", "response") == {"kind": "expired", "response": None}


def test_an_answer_before_the_deadline_is_not_touched_by_it(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, CHOICE | _SOON, defaultResponse={"value": "lite"})
    answered = answer(admin, question["id"], "pg").json()["question"]
    later = ask(agent, _SOON)

    settled(agent, later["id"])

    assert look(agent, question["id"]) == answered
    assert happened(agent, question["id"]) == ["question.asked", "question.answered"]


def test_a_cancelled_question_has_no_deadline_left(agent: httpx2.Client) -> None:
    question = ask(agent, CHOICE | _SOON, defaultResponse={"value": "lite"})
    cancel(agent, question["id"])
    later = ask(agent, _SOON)

    settled(agent, later["id"])

    assert happened(agent, question["id"]) == ["question.asked", "question.withdrawn"]


def test_an_answer_after_the_deadline_is_told_that_the_default_stands(
    agent: httpx2.Client, admin: httpx2.Client
) -> None:
    question = ask(agent, CHOICE | _SOON, defaultResponse={"value": "lite"})
    ended = settled(agent, question["id"])

    refused = answer(admin, question["id"], "pg")

    decided_at = _at(ended["outcome"]["decidedAt"])
    assert problem(refused) == (409, "question_expired")
    assert refused.json()["outcome"]["decidedBy"] == DEFAULT
    assert refused.json()["detail"] == (
        f"This question is closed. Nobody answered by {decided_at:%Y-%m-%d %H:%M:%S} UTC, so the default “SQLite” "
        "stands. You can still send your answer on as a late answer."
    )


def test_a_timed_out_question_cannot_be_cancelled(agent: httpx2.Client) -> None:
    question = ask(agent, _SOON)
    settled(agent, question["id"])

    assert problem(cancel(agent, question["id"])) == (409, "question_expired")


async def test_two_hundred_deadlines_at_once_each_pass_once(server: RunningServer) -> None:
    async with server.async_client() as agent:

        async def one(number: int) -> list[str]:
            asked = await agent.post("/api/questions", json={"question": f"Question {number}?"} | _SOON)
            question_id = asked.json()["questionId"]
            ended = await agent.get(f"/api/questions/{question_id}", params={"wait": 50})
            assert ended.json()["status"] == "timeout"
            assert _at(ended.json()["outcome"]["decidedAt"]) >= _at(ended.json()["timeoutAt"])
            events = (await agent.get(f"/api/questions/{question_id}/history")).json()["events"]
            return [event["type"] for event in events]

        names = await asyncio.gather(*map(one, range(200)))

    assert names == [["question.asked", "question.expired"]] * 200


async def test_after_an_outage_each_overdue_question_settles_exactly_once(data_dir: Path) -> None:
    before = RunningServer(data_dir)
    with before.client() as agent:
        defaulted = [
            ask(agent, CHOICE | _SOON, job=f"default-{n}", defaultResponse={"value": "lite"}) for n in range(5)
        ]
        expired = [ask(agent, CHOICE | _SOON, job=f"expired-{n}") for n in range(5)]
        approvals = [ask(agent, APPROVAL | _SOON) for _ in range(5)]
        untouched = [ask(agent, CHOICE), ask(agent, CHOICE, type="preference", timeoutMinutes=None)]
    before.kill()
    overdue = [*defaulted, *expired, *approvals]
    last = max(_at(question["timeoutAt"]) for question in overdue)

    async def all_deadlines_have_passed() -> bool:
        return datetime.now(UTC) > last

    await eventually(all_deadlines_have_passed)
    with running(data_dir) as after, after.client() as agent:
        outcomes = {question["id"]: settled(agent, question["id"])["outcome"]["kind"] for question in overdue}
        failed = [job_of(agent, f"expired-{n}")["status"] for n in range(5)]
        went_on = [job_of(agent, f"default-{n}")["status"] for n in range(5)]
    with running(data_dir) as once_more, once_more.client() as agent:
        names = {question["id"]: happened(agent, question["id"]) for question in overdue}
        still_open = [look(agent, question["id"])["status"] for question in untouched]

    assert outcomes == {
        **{question["id"]: "defaulted" for question in defaulted},
        **{question["id"]: "expired" for question in [*expired, *approvals]},
    }
    assert names == {
        **{question["id"]: ["question.asked", "question.defaulted"] for question in defaulted},
        **{question["id"]: ["question.asked", "question.expired"] for question in [*expired, *approvals]},
    }
    assert (failed, went_on) == (["failed"] * 5, ["running"] * 5)
    assert still_open == ["pending", "pending"]


async def test_an_answer_that_was_confirmed_survives_the_power_going_out(data_dir: Path) -> None:
    before = RunningServer(data_dir)
    with before.client() as agent, before.admin() as admin:
        question = ask(agent, CHOICE)
        confirmed = answer(admin, question["id"], "pg").json()["question"]
        before.kill()

    with running(data_dir) as after, after.client() as agent:
        found = look(agent, question["id"])
        names = happened(agent, question["id"])

    assert pick(found, "status", "version", "outcome") == pick(confirmed, "status", "version", "outcome")
    assert names == ["question.asked", "question.answered"]
