"""`handraise listen --forward`: events as webhooks for a receiver on the developer's own machine."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import Popen
from typing import Any

import pytest
from handraise.webhooks import Deduper
from standardwebhooks import Webhook

from .conftest import PATIENCE, Terminal
from .receivers import Receiver
from .stand_in import StandIn

SECRET = "whsec_c2VjcmV0IG9mIHRoZSBleGFtcGxl"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver().running() as started:
        yield started


def emit(server: StandIn, count: int = 1) -> None:
    for _ in range(count):
        server.events.emit("question.asked", server.add())


@contextmanager
def listening(terminal: Terminal, *words: str) -> Iterator[Popen[str]]:
    command = terminal.start("listen", *words)
    try:
        yield command
    finally:
        command.kill()
        command.communicate()


def lines(command: Popen[str], count: int) -> list[str]:
    assert command.stdout is not None
    return [command.stdout.readline().rstrip("\n") for _ in range(count)]


def stopped(command: Popen[str]) -> tuple[int, str]:
    command.send_signal(signal.SIGINT)
    _, stderr = command.communicate(timeout=PATIENCE)
    return command.returncode, stderr


def test_each_event_arrives_in_order_with_a_signature_that_others_verify(
    server: StandIn, terminal: Terminal, receiver: Receiver
) -> None:
    emit(server, 3)

    with listening(terminal, "--forward", receiver.url, "--secret", SECRET, "--after", "0") as command:
        told = lines(command, 3)

    messages: list[Any] = [Webhook(SECRET).verify(body, headers) for headers, body in receiver.messages]
    assert [message["data"]["id"] for message in messages] == ["q_1", "q_2", "q_3"]
    assert {message["type"] for message in messages} == {"question.asked"}
    assert receiver.messages[0][0]["content-type"] == "application/json"
    assert told == [f"evt_{number} question.asked q_{number} -> 204" for number in (1, 2, 3)]


def test_without_a_secret_it_makes_one_and_says_it(server: StandIn, terminal: Terminal, receiver: Receiver) -> None:
    emit(server)

    with listening(terminal, "--forward", receiver.url, "--after", "0") as command:
        lines(command, 1)
        assert command.stderr is not None
        secret = command.stderr.readline().split()[-1]

    headers, body = receiver.messages[0]
    message: Any = Webhook(secret).verify(body, headers)
    assert message["data"]["id"] == "q_1"


def test_a_receiver_that_fails_gets_the_same_message_again(
    server: StandIn, terminal: Terminal, receiver: Receiver
) -> None:
    emit(server)
    receiver.statuses = [500, 302]

    with listening(terminal, "--forward", receiver.url, "--secret", SECRET, "--after", "0") as command:
        told = lines(command, 3)

    seen = Deduper()
    assert [seen.is_new(headers["webhook-id"]) for headers, _ in receiver.messages] == [True, False, False]
    assert told == [
        "evt_1 question.asked q_1 -> 500, trying again",
        "evt_1 question.asked q_1 -> 302, trying again",
        "evt_1 question.asked q_1 -> 204",
    ]


def test_after_four_attempts_the_next_event_has_its_turn(
    server: StandIn, terminal: Terminal, receiver: Receiver
) -> None:
    emit(server, 2)
    receiver.statuses = [500] * 4

    with listening(terminal, "--forward", receiver.url, "--secret", SECRET, "--after", "0") as command:
        told = lines(command, 5)

    assert told[3:] == ["evt_1 question.asked q_1 -> 500, given up", "evt_2 question.asked q_2 -> 204"]


def test_a_receiver_that_is_not_there_is_said(server: StandIn, terminal: Terminal) -> None:
    emit(server)

    with listening(terminal, "--forward", "http://127.0.0.1:9/", "--after", "0") as command:
        [told] = lines(command, 1)

    assert told.startswith("evt_1 question.asked q_1 -> no answer (")
    assert told.endswith(", trying again")


def test_ctrl_c_says_how_to_go_on_behind_what_was_brought(
    server: StandIn, terminal: Terminal, receiver: Receiver
) -> None:
    emit(server, 2)

    words = ["--forward", receiver.url, "--secret", SECRET, "--job", "build-17"]
    with listening(terminal, *words, "--after", "0") as command:
        lines(command, 2)
        exit_code, stderr = stopped(command)

    way_back = f"handraise listen --forward '{receiver.url}' --secret {SECRET} --job build-17 --after "
    assert exit_code == 130
    # Stopped just after a message, it would rather bring that one twice than never: receivers know its id.
    assert stderr.splitlines()[-1] in (f"  to go on from here: {way_back}1", f"  to go on from here: {way_back}2")


def test_only_the_agents_own_events_are_forwarded(server: StandIn, terminal: Terminal, receiver: Receiver) -> None:
    emit(server)

    with listening(terminal, "--forward", receiver.url, "--after", "0") as command:
        lines(command, 1)

    assert server.requests[0].headers["authorization"] == "Bearer hr_agent"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "Missing option '--forward'"),
        (["--forward", "nowhere"], "--forward: 'nowhere' is not a URL: write it as http://HOST:PORT/PATH."),
        (["--forward", "http://exa mple/"], "is not a URL"),
        (["--forward", "http://a..b/"], "is not a URL"),
        (["--forward", "ftp://127.0.0.1/"], "is not a URL"),
        (["--forward", "http://127.0.0.1:9/", "--secret", "word"], "--secret: a webhook secret is whsec_ and base64."),
        (
            ["--forward", "http://127.0.0.1:9/", "--secret", "whsec_!"],
            "--secret: a webhook secret is whsec_ and base64.",
        ),
        (["--forward", "http://127.0.0.1:9/", "--after", "a b"], "'a b' is not a position in the stream"),
    ],
)
def test_what_cannot_be_forwarded_is_a_usage_error(
    server: StandIn, terminal: Terminal, words: list[str], told: str
) -> None:
    done = terminal.run("listen", *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert server.requests == []
