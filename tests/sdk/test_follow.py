"""`handraise check`, `cancel` and `comment`: going on with a question that is already out."""

import json

import pytest

from .conftest import Terminal
from .questions import answering
from .stand_in import StandIn


def test_check_prints_the_answer(server: StandIn, terminal: Terminal) -> None:
    server.answer(server.add(), "pg")

    done = terminal.run("check", "q_1")

    assert (done.returncode, done.stdout) == (0, "pg\n")


def test_check_of_an_open_question_does_not_wait_unless_told(server: StandIn, terminal: Terminal) -> None:
    server.add()

    done = terminal.run("check", "q_1")

    assert (done.returncode, done.stdout) == (75, "")
    assert [seen.query for seen in server.requests] == [{}]


@pytest.mark.parametrize(
    "words", [["q_1", "--wait"], ["--wait", "q_1"], ["q_1", "--wait", "10m"], ["--wait", "1h", "q_1"]]
)
def test_check_waits_with_and_without_a_duration(server: StandIn, terminal: Terminal, words: list[str]) -> None:
    server.add()
    server.when_polled(answering("pg"))

    done = terminal.run("check", *words)

    assert (done.returncode, done.stdout) == (0, "pg\n")


def test_check_takes_the_id_and_the_job_as_options(server: StandIn, terminal: Terminal) -> None:
    server.answer(server.add(), "pg")

    done = terminal.run("check", "--feature-id", "build-17", "--question-id", "q_1", "--json")

    assert done.returncode == 0
    assert json.loads(done.stdout) == server.questions["q_1"]


def test_check_refuses_a_question_of_another_job(server: StandIn, terminal: Terminal) -> None:
    server.answer(server.add(), "pg")

    done = terminal.run("check", "q_1", "--feature-id", "other")

    assert (done.returncode, done.stdout) == (2, "")
    assert "q_1 does not belong to other" in done.stderr


def test_what_the_agent_may_not_see_the_person_at_this_machine_may(server: StandIn, terminal: Terminal) -> None:
    server.answer(server.add(isOfAnotherAgent=True), "pg")

    done = terminal.run("check", "q_1")

    assert (done.returncode, done.stdout) == (0, "pg\n")
    assert [seen.headers["authorization"] for seen in server.requests] == ["Bearer hr_agent", "Bearer hr_person"]


def test_a_question_that_does_not_exist_is_a_usage_error(server: StandIn, terminal: Terminal) -> None:
    done = terminal.run("check", "q_9", "--json")

    assert done.returncode == 2
    assert json.loads(done.stdout)["code"] == "not_found"


def test_an_id_cannot_leave_its_place_in_the_path(server: StandIn, terminal: Terminal) -> None:
    terminal.run("check", "../jobs?x=1#y")

    assert {seen.path for seen in server.requests} == {"/api/questions/..%2Fjobs%3Fx%3D1%23y"}


def test_cancel_withdraws_with_a_reason(server: StandIn, terminal: Terminal) -> None:
    server.add()

    done = terminal.run("cancel", "q_1", "--reason", "found it", "--json")

    assert done.returncode == 0
    assert json.loads(done.stdout) == server.questions["q_1"]
    assert server.questions["q_1"]["outcome"]["reason"] == "found it"


def test_cancel_twice_is_fine(server: StandIn, terminal: Terminal) -> None:
    server.withdraw(server.add())

    assert terminal.run("cancel", "q_1").returncode == 0


def test_cancel_of_an_answered_question_says_who_answered(server: StandIn, terminal: Terminal) -> None:
    server.answer(server.add(), "pg")

    done = terminal.run("cancel", "q_1")

    assert (done.returncode, done.stdout) == (1, "")
    assert "q_1 was already answered by Dana on slack with pg at 2026-11-18 09:00:00 UTC." in done.stderr


def test_a_comment_replies_as_the_agent(server: StandIn, terminal: Terminal) -> None:
    server.add()

    done = terminal.run("comment", "q_1", "the eu region", "--json")

    assert done.returncode == 0
    assert json.loads(done.stdout)["comments"][0]["by"]["type"] == "asker"
    assert server.bodies("POST", "/api/questions/q_1/comments") == [{"text": "the eu region"}]


def test_a_comment_as_a_person_asks_back(server: StandIn, terminal: Terminal) -> None:
    server.add()

    terminal.run("comment", "q_1", "which region?", "--as", "person")

    assert server.questions["q_1"]["comments"][0]["askBack"] is True
