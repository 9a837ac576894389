"""`handraise answer`: a person answers from the terminal."""

import json
from typing import Any

import pytest

from .conftest import Terminal
from .stand_in import StandIn


def test_an_answer_uses_the_persons_key(server: StandIn, terminal: Terminal) -> None:
    server.add()

    done = terminal.run("answer", "q_1", "PostgreSQL", "--reason", "we know it")

    assert (done.returncode, done.stdout) == (0, "")
    assert "answered q_1 with PostgreSQL; job build-17 resumed" in done.stderr
    assert server.requests[-1].headers["authorization"] == "Bearer hr_person"
    assert server.requests[-1].body == {"response": {"type": "text", "value": "PostgreSQL", "text": "we know it"}}


def test_every_flag_of_the_third_seed_is_understood(server: StandIn, terminal: Terminal) -> None:
    server.add()
    words = "--feature-id build-17 --question-id q_1 --answer pg --answered-by dana --json"

    done = terminal.run("answer", *words.split())

    assert done.returncode == 0
    assert json.loads(done.stdout) == {"success": True, "jobResumed": True, "question": server.questions["q_1"]}
    assert server.requests[-1].body == {"response": {"type": "text", "value": "pg"}, "answeredBy": "dana"}


@pytest.mark.parametrize(
    ("shape", "typed", "value"),
    [
        ("approval", "approve", True),
        ("multi_choice", "a,b", ["a", "b"]),
        ("form", "@form.json", {"b": 2}),
        ("text", "@dana", "@dana"),
    ],
)
def test_the_answer_takes_the_questions_shape(
    server: StandIn, terminal: Terminal, shape: str, typed: str, value: Any
) -> None:
    (terminal.folder / "form.json").write_text('{"b": 2}')
    server.add(responseType=shape)

    terminal.run("answer", "q_1", typed)

    assert server.requests[-1].body == {"response": {"type": shape, "value": value}}


def test_an_approval_may_change_the_arguments(server: StandIn, terminal: Terminal) -> None:
    server.add(responseType="approval")

    terminal.run("answer", "q_1", "approve", "--args", '{"count": 3}')

    assert server.requests[-1].body["response"]["arguments"] == {"count": 3}


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["q_1", "perhaps"], "neither approves nor rejects"),
        (["q_1"], "needs the question's id and a value"),
        (["q_1", "yes", "--answer", "no"], "one word too many"),
        (["q_1", "yes", "--feature-id", "other"], "q_1 does not belong to other"),
    ],
)
def test_what_is_no_answer_is_not_sent(server: StandIn, terminal: Terminal, words: list[str], advice: str) -> None:
    server.add(responseType="approval")

    done = terminal.run("answer", *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert advice in done.stderr
    assert all(seen.method == "GET" for seen in server.requests)


def test_the_second_answer_is_told_who_won(server: StandIn, terminal: Terminal) -> None:
    server.answer(server.add(responseType="approval"), False)

    done = terminal.run("answer", "q_1", "approve", "--json")

    assert done.returncode == 1
    assert "q_1 was already answered by Dana on slack with rejection at 2026-11-18 09:00:00 UTC." in done.stderr
    assert json.loads(done.stdout)["outcome"]["decidedBy"]["name"] == "Dana"


def test_an_answer_to_a_withdrawn_question_exits_3(server: StandIn, terminal: Terminal) -> None:
    server.withdraw(server.add())

    done = terminal.run("answer", "q_1", "pg")

    assert done.returncode == 3
    assert "q_1 was withdrawn by builder" in done.stderr


def test_an_answer_after_the_deadline_exits_4_and_may_be_sent_on(server: StandIn, terminal: Terminal) -> None:
    server.expire(server.add())

    refused = terminal.run("answer", "q_1", "pg")
    sent_on = terminal.run("answer", "q_1", "pg", "--late")

    assert refused.returncode == 4
    assert "add --late to send your answer on all the same" in refused.stderr
    assert sent_on.returncode == 0
    assert "sent pg on as a late answer to q_1" in sent_on.stderr


def test_one_of_several_votes_says_how_many_are_needed(server: StandIn, terminal: Terminal) -> None:
    question = server.add(votes={"have": 1, "need": 2})
    server.fail_next("/answer", (200, {"success": True, "jobResumed": False, "question": question}))

    done = terminal.run("answer", "q_1", "pg")

    assert done.returncode == 0
    assert "recorded pg for q_1: 1 of 2 needed" in done.stderr
