"""`handraise questions` and `status`."""

import json
from typing import Any

import pytest

from .conftest import Terminal
from .stand_in import StandIn

JOB = {
    "id": "build-17",
    "status": "waiting_for_input",
    "resumeStatus": "running",
    "blockReason": None,
    "onTimeout": "fail",
    "humanInput": {
        "openQuestionId": "q_1",
        "openQuestionCount": 2,
        "awaitingSince": "2026-11-18T08:00:00.000Z",
        "requestedByRole": "builder",
    },
}


def test_open_questions_are_lines_with_tabs(server: StandIn, terminal: Terminal) -> None:
    server.add(question="Which\tdatabase\nplease?")
    server.add(clock={"paused": True})
    server.add(timeoutAt="2020-01-01T00:00:00.000Z")
    server.answer(server.add(), "pg")

    done = terminal.run("questions")

    assert done.returncode == 0
    assert [line.split("\t") for line in done.stdout.splitlines()] == [
        ["q_1", "blocking", "Which database please?", "pending", "no limit", "build-17"],
        ["q_2", "blocking", "Which database?", "pending", "paused", "build-17"],
        ["q_3", "blocking", "Which database?", "pending", "over", "build-17"],
    ]


def test_the_pages_of_a_list_are_joined_even_across_an_empty_one(server: StandIn, terminal: Terminal) -> None:
    first, second = server.add(), server.add()
    server.fail_next(
        "/pending",
        (200, {"questions": [first], "nextCursor": "q_1"}),
        (200, {"questions": [], "nextCursor": "q_x"}),
        (200, {"questions": [second], "nextCursor": None}),
    )

    done = terminal.run("questions", "--json")

    assert json.loads(done.stdout) == {"questions": [first, second], "nextCursor": None}
    assert [seen.query.get("cursor") for seen in server.requests] == [None, "q_1", "q_x"]


def test_a_list_stops_at_its_limit_and_says_so(server: StandIn, terminal: Terminal) -> None:
    for _ in range(3):
        server.add()

    done = terminal.run("questions", "--limit", "2")

    assert len(done.stdout.splitlines()) == 2
    assert "there may be more; --limit 4 shows them" in done.stderr


@pytest.mark.parametrize(("word", "sent"), [("expired", "timeout"), ("cancelled", "cancelled")])
def test_a_jobs_questions_by_status_in_either_vocabulary(
    server: StandIn, terminal: Terminal, word: str, sent: str
) -> None:
    terminal.run("questions", "--feature-id", "build-17", "--status", word)

    assert (server.requests[0].path, server.requests[0].query["status"]) == ("/api/jobs/build-17/questions", sent)


def test_no_questions_leave_stdout_empty(server: StandIn, terminal: Terminal) -> None:
    done = terminal.run("questions")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "no questions are waiting\n")


@pytest.mark.parametrize("words", [["--status", "answered"], ["--job", "j", "--status", "lost"]])
def test_a_status_that_cannot_be_listed_is_refused(server: StandIn, terminal: Terminal, words: list[str]) -> None:
    assert terminal.run("questions", *words).returncode == 2
    assert server.requests == []


def test_a_job_says_what_it_waits_for(server: StandIn, terminal: Terminal) -> None:
    server.jobs["build-17"] = JOB

    done = terminal.run("status", "build-17")

    assert done.stdout.splitlines() == [
        "job      build-17 waiting_for_input (waits for q_1)",
        "waits    for q_1 (2 open) since 2026-11-18 08:00:00 UTC, asked by builder",
        "resumes  as running",
        "expiry   fails the job",
    ]
    assert json.loads(terminal.run("status", "build-17", "--json").stdout) == JOB


def test_the_server_says_how_it_is(server: StandIn, terminal: Terminal) -> None:
    server.add()
    server.jobs["build-17"] = JOB

    done = terminal.run("status")

    assert (done.returncode, done.stdout.splitlines()) == (
        0,
        [
            f"server   {server.url}  ready",
            "pending  1 question(s)",
            "job      build-17 waiting_for_input (waits for q_1)",
        ],
    )


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_server_that_is_not_ready_exits_69(server: StandIn, terminal: Terminal, words: list[str]) -> None:
    server.is_ready = False

    done = terminal.run("status", *words)

    assert done.returncode == 69
    assert "slack is away" in done.stdout
    if words:
        parsed: Any = json.loads(done.stdout)
        assert parsed["server"]["isReady"] is False
