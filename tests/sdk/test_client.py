"""The Python client: typed values, waiting, and what a program can tell apart."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from handraise import Conflict, Handraise, InvalidArgument, NotFound, Standing, Unreachable
from handraise.waiting import Clock

from .conftest import write_credentials
from .questions import answering
from .stand_in import AGENT_KEY, DROP, PERSON_KEY, StandIn

MOST_PAUSES = 20


def impatient(server: StandIn, key: str = AGENT_KEY) -> Handraise:
    """A client that does not sleep, and fails instead of waiting for an answer that nobody will give."""
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        assert len(pauses) < MOST_PAUSES, "the client waits though nothing can come"

    return Handraise(key, base_url=server.url, clock=Clock(pause=pause))


@pytest.fixture
def agent(server: StandIn) -> Iterator[Handraise]:
    with impatient(server) as client:
        yield client


@pytest.fixture
def person(server: StandIn) -> Iterator[Handraise]:
    with impatient(server, PERSON_KEY) as client:
        yield client


def test_ask_waits_and_returns_the_answer_as_a_value(server: StandIn, agent: Handraise) -> None:
    server.when_polled(lambda question: None, answering("pg", text="we know it"))

    answer = agent.ask("Which database?", options=["pg", {"label": "SQLite", "value": "lite"}], job="build-17")

    assert (answer.id, answer.status, answer.value) == ("q_1", "answered", "pg")
    assert (answer.text, str(answer.answered_by), answer.question.job_id) == ("we know it", "Dana on slack", "build-17")
    assert answer.decided_at == datetime(2026, 11, 18, 9, tzinfo=UTC)
    assert server.questions["q_1"]["options"] == [{"label": "pg"}, {"label": "SQLite", "value": "lite"}]


def test_only_an_approval_is_a_yes(server: StandIn, agent: Handraise) -> None:
    server.when_polled(answering(False), answering(True, arguments={"count": 3}))

    rejected = agent.approve("Create tickets?", tool="linear.create", arguments={"count": 5})
    approved = agent.approve("Create fewer?", tool="linear.create", arguments={"count": 5})

    assert (rejected.approved, approved.approved, approved.arguments) == (False, True, {"count": 3})


def test_a_question_that_holds_nothing_returns_at_once_marked_as_default(server: StandIn, agent: Handraise) -> None:
    answer = agent.ask("Which branch?", kind="non_blocking", default="main")

    assert (answer.value, answer.is_default, answer.status, answer.answered_by) == ("main", True, "open", None)
    assert len(server.requests) == 1


@pytest.mark.parametrize("wait", [None, 0, "0", timedelta(0)])
def test_no_wait_means_no_poll(server: StandIn, agent: Handraise, wait: Any) -> None:
    answer = agent.ask("Which?", wait=wait, time_limit="45m", reminder=timedelta(seconds=90))

    assert (answer.status, answer.value) == ("open", None)
    assert [seen.method for seen in server.requests] == ["POST"]
    assert (server.questions["q_1"]["timeoutMinutes"], server.questions["q_1"]["reminderMinutes"]) == (45, 1.5)


def test_a_person_answers_and_the_job_resumes(server: StandIn, person: Handraise) -> None:
    server.add()

    recorded = person.answer("q_1", {"type": "text", "value": "pg"})

    assert (recorded.job_resumed, recorded.question.value) == (True, "pg")


def test_the_loser_learns_who_won(server: StandIn, person: Handraise) -> None:
    server.answer(server.add(), "pg")

    with pytest.raises(Conflict) as caught:
        person.answer("q_1", {"type": "text", "value": "lite"})

    assert caught.value.problem["outcome"]["decidedBy"]["name"] == "Dana"


def test_what_is_not_there_can_be_told_apart(agent: Handraise) -> None:
    with pytest.raises(NotFound) as caught:
        agent.get("q_9")

    assert (caught.value.status, caught.value.code) == (404, "not_found")


def test_a_connection_that_keeps_breaking_is_reported_after_every_retry(server: StandIn, agent: Handraise) -> None:
    server.fail_next("/q_1", *[DROP] * 9)

    with pytest.raises(Unreachable) as caught:
        agent.get("q_1")

    assert caught.value.may_have_arrived
    assert len(server.requests) == 5


def test_cancel_and_comment_return_the_question(server: StandIn, agent: Handraise) -> None:
    server.add()

    assert agent.comment("q_1", "the eu region").comments[0].text == "the eu region"
    assert agent.cancel("q_1").standing is Standing.WITHDRAWN


def test_lists_are_pages_of_values(server: StandIn, agent: Handraise) -> None:
    for _ in range(3):
        server.add()
    server.jobs["build-17"] = {"id": "build-17", "status": "blocked", "blockReason": "expired"}

    pending = agent.pending(limit=2)

    assert [question.id for question in pending.items] == ["q_1", "q_2"]
    assert pending.next_cursor is not None
    assert [job.block_reason for job in agent.jobs().items] == ["expired"]
    assert [question.id for question in agent.job_questions("build-17").items] == ["q_1", "q_2", "q_3"]


def test_without_arguments_the_server_started_here_is_used(
    server: StandIn, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_credentials(tmp_path / ".handraise" / "credentials.json", server.url)
    for name in ("HANDRAISE_URL", "HANDRAISE_API_KEY", "HANDRAISE_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    with Handraise() as client:
        client.ask("Which?", wait=timedelta(0))

    assert server.requests[0].headers["authorization"] == f"Bearer {AGENT_KEY}"


@pytest.mark.parametrize(
    "details",
    [
        {"multiple": True},
        {"response_type": "choice"},
        {"response_type": "form"},
        {"colour": "red"},
        {"default": object()},
    ],
)
def test_what_cannot_be_asked_is_not_sent(server: StandIn, agent: Handraise, details: Any) -> None:
    with pytest.raises(InvalidArgument):
        agent.ask("Which?", **details)

    assert server.requests == []


@pytest.mark.parametrize("action", [{"arguments": {}}, {"risk": "high"}])
def test_an_approval_without_a_tool_or_diff_shows_no_action(server: StandIn, agent: Handraise, action: Any) -> None:
    with pytest.raises(InvalidArgument, match="tool"):
        agent.approve("Deploy?", **action)

    assert server.requests == []
