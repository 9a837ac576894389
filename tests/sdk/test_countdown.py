"""The line that counts down while somebody waits at a terminal."""

from datetime import UTC, datetime, timedelta

import pytest
from handraise.cli.countdown import waiting_line
from handraise.question import Question

from .conftest import Terminal
from .questions import asking_back
from .screens import CTRL_C, Screen
from .stand_in import StandIn

NOW = datetime(2026, 11, 18, 8, 0, tzinfo=UTC)
STEERING = "\x1b]0;owned\x07[bold]\u202e\x1b[2Jrelease"


def in_minutes(minutes: float) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()


@pytest.mark.parametrize(
    ("members", "line"),
    [
        ({}, "waiting for somebody to answer q_1: no time limit"),
        ({"to": "dana", "timeoutAt": "2026-11-18T08:29:30Z"}, "waiting for dana to answer q_1: 29m 30s left"),
        ({"to": "dana", "timeoutAt": "2026-11-18T08:00:00Z"}, "waiting for dana to answer q_1: its time is over"),
        (
            {"clock": {"paused": True}},
            "waiting for somebody to answer q_1: the clock is paused until the asker replies",
        ),
        ({"to": "a\nb\x1b[2J"}, "waiting for a b␛[2J to answer q_1: no time limit"),
    ],
)
def test_it_says_who_is_waited_for_and_how_long(members: dict[str, object], line: str) -> None:
    assert waiting_line(Question("q_1", {"id": "q_1", "status": "pending", **members}), now=NOW) == line


def test_it_is_shown_while_waiting_and_leaves_nothing_behind(server: StandIn, terminal: Terminal) -> None:
    server.longest_hold = 60.0
    question = server.add(to="release-managers", timeoutAt=in_minutes(90))

    with Screen(terminal, "check", "q_1", "--wait") as screen:
        screen.until("waiting for release-managers to answer q_1: 1h 29m left")
        server.settle(question, "pg")
        exit_code = screen.to_the_end()

    assert exit_code == 0
    assert screen.lines() == ["pg", "answered by Dana on slack at 2026-11-18 09:00:00 UTC", ""]


def test_what_is_said_meanwhile_stays_above_it(server: StandIn, terminal: Terminal) -> None:
    question = server.add()
    server.when_polled(asking_back("which region?"))

    with Screen(terminal, "check", "q_1", "--wait") as screen:
        screen.until("reply with")
        server.settle(question, "pg")
        screen.to_the_end()

    assert screen.lines()[:3] == [
        "Dana asks back about q_1:",
        "    which region?",
        '  reply with: handraise comment q_1 "…"',
    ]
    assert not any(line.startswith("waiting for") for line in screen.lines())


def test_the_text_of_an_agent_cannot_steer_the_terminal(server: StandIn, terminal: Terminal) -> None:
    server.longest_hold = 60.0
    question = server.add(to=STEERING, question=STEERING, jobId=STEERING)

    with Screen(terminal, "check", "q_1", "--wait") as screen:
        screen.until("waiting for ␛]0;owned␇[bold]<U+202E>␛[2Jrelease to answer q_1")
        server.settle(question, STEERING)
        screen.to_the_end()

    assert screen.lines()[0] == "␛]0;owned␇[bold]<U+202E>␛[2Jrelease"


def test_ctrl_c_wipes_it_and_says_how_to_come_back(server: StandIn, terminal: Terminal) -> None:
    server.longest_hold = 60.0
    server.add()

    with Screen(terminal, "check", "q_1", "--wait") as screen:
        screen.until("no time limit")
        screen.press(CTRL_C)
        exit_code = screen.to_the_end()

    assert exit_code == 130
    assert [line for line in screen.lines() if line not in ("", "^C")] == [
        "interrupted: q_1 stays open",
        "  to wait for it again: handraise check q_1 --wait",
    ]
    assert screen.received.count("\x1b[?25h") == screen.received.count("\x1b[?25l")
    assert server.questions["q_1"]["status"] == "pending"


def test_a_dumb_terminal_gets_no_line(server: StandIn, terminal: Terminal) -> None:
    server.longest_hold = 60.0
    question = server.add()
    terminal.settings["TERM"] = "dumb"

    with Screen(terminal, "check", "q_1", "--wait") as screen:
        assert server.polled.wait(20)
        server.settle(question, "pg")
        screen.to_the_end()

    assert "\x1b" not in screen.received
    assert screen.lines()[0] == "pg"


def test_off_a_terminal_there_is_no_line(server: StandIn, terminal: Terminal) -> None:
    server.add(timeoutAt=in_minutes(90))

    assert "waiting for" not in terminal.run("check", "q_1", "--wait", "0.1s").stderr
