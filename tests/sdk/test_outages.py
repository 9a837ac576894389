"""Restarts, outages, lost replies and Ctrl-C: nothing is asked twice, and nothing is given up silently."""

import json
import signal
import subprocess

import pytest

from .conftest import PATIENCE, Terminal
from .questions import answering, problem
from .stand_in import DROP, StandIn

LONG_HOLD = 60.0


def finish(command: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        stdout, stderr = command.communicate(timeout=PATIENCE)
    finally:
        command.kill()
    return command.returncode, stdout, stderr


def test_a_wait_survives_a_restart_of_the_server(server: StandIn, terminal: Terminal) -> None:
    server.longest_hold = LONG_HOLD
    command = terminal.start("ask", "Which database?")
    assert server.polled.wait(PATIENCE)

    server.stop()
    server.when_polled(answering("pg"))
    server.start()

    exit_code, stdout, stderr = finish(command)
    assert (exit_code, stdout) == (0, "pg\n")
    assert stderr.count("server unreachable, trying again") == 1
    assert list(server.questions) == ["q_1"]


def test_a_wait_survives_failing_replies(server: StandIn, terminal: Terminal) -> None:
    server.add()
    refusal = problem(503, "The database is not available.")
    server.fail_next("/q_1", (200, server.questions["q_1"]))
    server.fail_next("/q_1", (503, refusal), headers={"Retry-After": "0"})
    server.fail_next("/q_1", (500, "<html>"), (429, problem(429, "Slow down.")))
    server.when_polled(answering("pg"))

    done = terminal.run("check", "q_1", "--wait")

    assert (done.returncode, done.stdout) == (0, "pg\n")
    assert len(server.requests) == 5


def test_a_lost_reply_is_asked_for_again_with_the_same_key(server: StandIn, terminal: Terminal) -> None:
    server.lose_next_reply("/api/questions")
    server.when_polled(answering("pg"))

    done = terminal.run("ask", "Which database?")

    first, again = (seen for seen in server.requests if seen.method == "POST")
    assert (done.returncode, done.stdout) == (0, "pg\n")
    assert first.headers["idempotency-key"] == again.headers["idempotency-key"]
    assert list(server.questions) == ["q_1"]


def test_a_lost_reply_to_an_answer_answers_once(server: StandIn, terminal: Terminal) -> None:
    server.add()
    server.lose_next_reply("/answer")

    done = terminal.run("answer", "q_1", "pg")

    assert done.returncode == 0
    assert "answered q_1 with pg" in done.stderr


def test_an_ask_heeds_a_server_that_asks_for_patience(server: StandIn, terminal: Terminal) -> None:
    server.fail_next("/api/questions", (503, problem(503, "Starting.")), headers={"Retry-After": "0"})
    server.fail_next("/api/questions", (429, problem(429, "Slow down.")), headers={"Retry-After": "0"})

    done = terminal.run("ask", "Which?", "--wait", "none")

    assert (done.returncode, done.stdout) == (75, "q_1\n")


def test_when_it_stays_unknown_whether_it_was_asked_the_key_is_told(server: StandIn, terminal: Terminal) -> None:
    server.fail_next("/api/questions", *[DROP] * 5)

    done = terminal.run("ask", "Which?", "--idempotency-key", "k1")

    assert (done.returncode, done.stdout) == (69, "")
    assert "with --idempotency-key k1 asks it only once" in done.stderr


@pytest.mark.parametrize(
    "replies",
    [[(500, problem(500, "Broken."))], [(504, "<html>")] * 5, [DROP, *[(503, problem(503, "Starting."))] * 4]],
)
def test_a_server_that_fails_half_way_leaves_the_same_doubt(
    server: StandIn, terminal: Terminal, replies: list[tuple[int, object]]
) -> None:
    server.fail_next("/api/questions", *replies, headers={"Retry-After": "0"})

    done = terminal.run("ask", "Which?", "--idempotency-key", "k1", "--json")

    assert done.returncode == 69
    assert "with --idempotency-key k1 asks it only once" in done.stderr
    assert json.loads(done.stdout)["detail"] in done.stderr


def test_a_server_that_refused_for_certain_leaves_none(server: StandIn, terminal: Terminal) -> None:
    server.fail_next("/api/questions", *[(503, problem(503, "Starting."))] * 5, headers={"Retry-After": "0"})

    done = terminal.run("ask", "Which?", "--json")

    assert (done.returncode, done.stderr) == (69, "handraise: Starting.\n")
    assert json.loads(done.stdout)["status"] == 503


def test_an_answer_in_doubt_says_where_to_look(server: StandIn, terminal: Terminal) -> None:
    server.add()
    server.fail_next("/answer", (500, problem(500, "Broken.")))

    done = terminal.run("answer", "q_1", "pg")

    assert done.returncode == 69
    assert "Whether the answer was recorded is not known; see: handraise check q_1" in done.stderr


def test_ctrl_c_leaves_the_question_open_and_says_how_to_go_on(server: StandIn, terminal: Terminal) -> None:
    server.longest_hold = LONG_HOLD
    command = terminal.start("ask", "Which database?")
    assert server.polled.wait(PATIENCE)

    command.send_signal(signal.SIGINT)

    exit_code, stdout, stderr = finish(command)
    assert (exit_code, stdout) == (130, "")
    assert "q_1 stays open\n  to wait for it again: handraise check q_1 --wait\n" in stderr
    assert "Traceback" not in stderr
    assert server.questions["q_1"]["status"] == "pending"


def test_ctrl_c_under_json_still_prints_one_value(server: StandIn, terminal: Terminal) -> None:
    server.longest_hold = LONG_HOLD
    server.add()
    command = terminal.start("check", "q_1", "--wait", "--json")
    assert server.polled.wait(PATIENCE)

    command.send_signal(signal.SIGINT)

    exit_code, stdout, _ = finish(command)
    assert exit_code == 130
    assert json.loads(stdout) == server.questions["q_1"]


def test_a_limited_wait_gives_up_on_a_server_that_stays_away(server: StandIn, terminal: Terminal) -> None:
    server.longest_hold = LONG_HOLD
    command = terminal.start("ask", "Which database?", "--wait", "0.5s", "--json")
    assert server.polled.wait(PATIENCE)

    server.stop()
    exit_code, stdout, stderr = finish(command)
    server.start()

    assert exit_code == 69
    assert json.loads(stdout)["code"] == "server_unreachable"
    assert "handraise check q_1 --wait" in stderr
