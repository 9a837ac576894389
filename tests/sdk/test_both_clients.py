"""`Handraise` and `AsyncHandraise` keep the same promises."""

import inspect
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from handraise import (
    Answer,
    AsyncHandraise,
    Conflict,
    Decision,
    Handraise,
    InvalidArgument,
    NotFound,
    Standing,
    StillOpen,
    UnexpectedReply,
    Unreachable,
)
from handraise.async_client import AsyncWebhooks
from handraise.client import Webhooks

from .clients import Client, each_client
from .questions import answering, problem
from .stand_in import DROP, PERSON_KEY, StandIn

SURFACE = {
    "ask", "approve", "create", "get", "wait", "answer", "cancel", "comment", "list", "events", "progress",
    "requires_approval", "pending", "job_questions", "job", "jobs", "readiness", "look", "close", "base_url",
}  # fmt: skip


@pytest.fixture(params=["blocking", "asynchronous"])
def client(request: pytest.FixtureRequest, server: StandIn) -> Iterator[Client]:
    yield from each_client(server, request.param)


@pytest.fixture(params=["blocking", "asynchronous"])
def person(request: pytest.FixtureRequest, server: StandIn) -> Iterator[Client]:
    yield from each_client(server, request.param, PERSON_KEY)


def public(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


def test_the_two_surfaces_are_the_same() -> None:
    assert public(Handraise) == public(AsyncHandraise) == SURFACE
    assert public(Webhooks) == public(AsyncWebhooks) == {"create", "list", "delete", "test", "rotate"}


@pytest.mark.parametrize("name", sorted(SURFACE - {"base_url"}))
def test_every_method_takes_the_same_arguments(name: str) -> None:
    blocking, asynchronous = (inspect.signature(getattr(kind, name)) for kind in (Handraise, AsyncHandraise))

    assert blocking.parameters == asynchronous.parameters


def test_ask_waits_through_an_outage_and_returns_the_answer(server: StandIn, client: Client) -> None:
    server.fail_next("/api/questions", (503, problem(503, "Starting.")))
    server.fail_next("/q_1", DROP, (500, "<html>"))
    server.when_polled(answering("pg", text="we know it"))

    answer = client.call("ask", "Which database?", options=["pg", "SQLite"])

    assert type(answer) is Answer
    assert (answer.status, answer.value, answer.text, answer.is_default) == ("answered", "pg", "we know it", False)
    assert list(server.questions) == ["q_1"]


def test_approve_returns_a_decision(server: StandIn, client: Client) -> None:
    server.when_polled(answering(True, arguments={"env": "staging"}))

    decision = client.call("approve", "Deploy?", tool="deploy", arguments={"env": "prod"}, editable=True)

    assert type(decision) is Decision
    assert (decision.approved, decision.arguments) == (True, {"env": "staging"})
    assert server.questions["q_1"]["action"] == {"tool": "deploy", "arguments": {"env": "prod"}, "editable": True}


@pytest.mark.parametrize("wait", ["0.01s", 0.01, timedelta(milliseconds=10)])
def test_a_wait_that_runs_out_returns_or_raises(server: StandIn, client: Client, wait: Any) -> None:
    answer = client.call("ask", "Which?", wait=wait)

    assert (answer.status, answer.value) == ("open", None)
    with pytest.raises(StillOpen) as caught:
        client.call("ask", "Which?", wait=wait, on_timeout="raise")
    assert caught.value.question.id == "q_2"
    with pytest.raises(StillOpen):
        client.call("wait", "q_1", limit=wait, on_timeout="raise")


@pytest.mark.parametrize(
    "mistake",
    [{"wait": "ten minutes"}, {"wait": -1}, {"wait": True}, {"on_timeout": "explode"}, {"time_limit": "soon"}],
)
def test_a_mistake_about_waiting_asks_nothing(server: StandIn, client: Client, mistake: Any) -> None:
    with pytest.raises(InvalidArgument):
        client.call("ask", "Which?", **mistake)

    assert server.requests == []


def test_get_can_wait(server: StandIn, client: Client) -> None:
    server.add()
    server.when_polled(answering("pg"))

    assert client.call("get", "q_1").is_open
    assert client.call("get", "q_1", wait="10m").value == "pg"


def test_wait_returns_the_answer_of_a_question_asked_before(server: StandIn, client: Client) -> None:
    question = client.call("create", {"question": "Go?", "type": "approval", "responseType": "approval"})
    server.when_polled(answering(True))

    decision = client.call("wait", question.id)

    assert (type(decision), decision.approved) == (Decision, True)


def test_the_agents_name_goes_with_its_questions(server: StandIn, client: Client) -> None:
    client.call("ask", "Which?", agent="builder", to=None, wait=None)

    assert (server.questions["q_1"]["agent"], "to" in server.questions["q_1"]) == ("builder", False)


def test_a_lost_reply_is_asked_for_again_with_the_same_key(server: StandIn, client: Client) -> None:
    server.lose_next_reply("/api/questions")

    client.call("ask", "Which?", wait=None)

    first, again = server.requests
    assert first.headers["idempotency-key"] == again.headers["idempotency-key"]
    assert list(server.questions) == ["q_1"]


def test_refusals_can_be_told_apart(server: StandIn, client: Client, person: Client) -> None:
    server.answer(server.add(), "pg")

    with pytest.raises(NotFound):
        client.call("get", "q_9")
    with pytest.raises(Conflict) as caught:
        person.call("answer", "q_1", {"type": "text", "value": "lite"})
    assert caught.value.problem["outcome"]["decidedBy"]["name"] == "Dana"


def test_a_server_that_stays_away_is_reported(server: StandIn, client: Client) -> None:
    server.stop()

    with pytest.raises(Unreachable) as caught:
        client.call("get", "q_1")

    server.start()
    assert not caught.value.may_have_arrived
    assert len(client.patience.pauses) == 4


def test_cancel_comment_and_answer_return_what_they_led_to(server: StandIn, client: Client, person: Client) -> None:
    server.add()
    server.add()

    assert client.call("comment", "q_1", "the eu region").comments[0].text == "the eu region"
    assert person.call("answer", "q_1", {"type": "text", "value": "pg"}).question.value == "pg"
    assert client.call("cancel", "q_2", reason="found it").standing is Standing.WITHDRAWN


def test_list_walks_all_pages_as_far_as_it_is_read(server: StandIn, client: Client) -> None:
    server.page_size = 2
    for _ in range(5):
        server.add()
    server.answer(server.questions["q_2"], "pg")

    assert [question.id for question in client.listed()] == ["q_1", "q_3", "q_4", "q_5"]
    assert [question.id for question in client.listed(job="build-17", status="answered")] == ["q_2"]
    before = len(server.requests)
    assert [question.id for question in client.listed(limit=1)] == ["q_1"]
    assert len(server.requests) == before + 1


@pytest.mark.parametrize("wrong", [{"status": "answered"}, {"status": "odd"}])
def test_what_the_server_does_not_list_is_refused(server: StandIn, client: Client, wrong: Any) -> None:
    with pytest.raises(InvalidArgument):
        client.listed(**wrong)


def test_progress_is_posted_to_the_job(server: StandIn, client: Client) -> None:
    job = client.call("progress", "build 17/a", "3 of 5 done")

    assert (job.id, job.status) == ("build 17/a", "running")
    assert server.requests[0].path == "/api/jobs/build%2017%2Fa/progress"
    assert server.requests[0].body == {"text": "3 of 5 done"}


def test_webhook_endpoints_are_kept_on_the_server(server: StandIn, client: Client) -> None:
    made = client.webhook("create", "https://agent.example/hook")
    rotated = client.webhook("rotate", made.id)
    tried = client.webhook("test", made.id)
    listed = client.webhook("list")
    client.webhook("delete", made.id)

    assert (made.secret, rotated.secret, tried) == ("whsec_Zmlyc3Q=", "whsec_c2Vjb25k", {"messageId": "msg_1"})
    assert [(each.url, each.events, each.secret) for each in listed] == [
        ("https://agent.example/hook", ("question.*",), None)
    ]
    assert "whsec_" not in repr(made)
    assert server.webhooks == {}


@pytest.mark.parametrize("reply", [(200, []), (200, {"no": "question"}), (302, "")])
def test_what_is_no_reply_of_ours_is_never_an_answer(server: StandIn, client: Client, reply: Any) -> None:
    server.fail_next("/q_1", reply)

    with pytest.raises(UnexpectedReply):
        client.call("get", "q_1")
