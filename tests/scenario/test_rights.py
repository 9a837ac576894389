"""What a key may do is told by its scopes alone: an admin's person does not make an admin's key."""

from collections.abc import Iterator

import httpx2
import pytest

from tests.scenario.talk import ask, cancel, job_of, ok, problem
from tests.support.servers import RunningServer


@pytest.fixture
def narrow(server: RunningServer) -> Iterator[httpx2.Client]:
    """A key of the admin person that may only ask."""
    with server.client(server.new_key("dana's script", "ask", "Admin")) as client:
        yield client


@pytest.fixture
def robot(server: RunningServer) -> Iterator[httpx2.Client]:
    """A key that may do everything and belongs to nobody."""
    with server.client(server.new_key("robot", "admin")) as client:
        yield client


def test_an_admins_key_without_the_scope_steers_nobody_elses_job(agent: httpx2.Client, narrow: httpx2.Client) -> None:
    ask(agent, job="agents-own")

    steered = narrow.patch("/api/jobs/agents-own", json={"status": "cancelled"})
    reported = narrow.post("/api/jobs/agents-own/progress", json={"text": "done"})

    assert [problem(steered), problem(reported)] == [(404, "job_not_found")] * 2
    assert job_of(agent, "agents-own")["status"] == "waiting_for_input"


def test_a_key_with_the_admin_scope_steers_and_cancels_everything(agent: httpx2.Client, robot: httpx2.Client) -> None:
    question = ask(agent, job="any-job")

    cancelled = cancel(robot, question["id"])
    steered = ok(robot.patch("/api/jobs/any-job", json={"status": "blocked", "reason": "hands off"}))

    assert cancelled.status_code == 200
    assert (steered["status"], steered["blockReason"]) == ("blocked", "hands off")


def test_a_key_that_belongs_to_nobody_answers_nothing(agent: httpx2.Client, robot: httpx2.Client) -> None:
    question = ask(agent)

    refused = robot.post(f"/api/questions/{question['id']}/answer", json={"response": {"value": "me"}})

    assert problem(refused) == (403, "not_a_responder")


def test_whoever_may_answer_nothing_learns_of_no_foreign_question(agent: httpx2.Client, member: httpx2.Client) -> None:
    for _ in range(3):
        ask(agent, type="approval")

    page = ok(member.get("/api/questions/pending", params={"limit": 1, "type": "approval"}))

    assert page == {"questions": [], "nextCursor": None}


@pytest.mark.parametrize("name", ["x/questions", "x/progress", "x/events"])
def test_a_job_cannot_be_called_like_a_call(agent: httpx2.Client, name: str) -> None:
    refused = agent.post("/api/questions", json={"question": "?", "jobId": name})

    assert problem(refused) == (422, "job_id_invalid")
