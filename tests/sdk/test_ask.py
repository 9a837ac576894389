"""`handraise ask` and `approve`: what is sent, what the shell gets, and how it ends."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Terminal
from .questions import PersonActs, answering, asking_back
from .stand_in import StandIn

ACTS = PersonActs()


def test_the_shell_gets_the_answer_and_nothing_else(server: StandIn, terminal: Terminal) -> None:
    server.when_polled(answering("PostgreSQL", text="we know it"))

    done = terminal.run("ask", "Which database?", "-o", "PostgreSQL", "-o", "SQLite", "--job", "build-17")

    assert (done.returncode, done.stdout) == (0, "PostgreSQL\n")
    assert "answered by Dana on slack at 2026-11-18 09:00:00 UTC\n    we know it\n" in done.stderr
    assert server.bodies("POST", "/api/jobs/build-17/questions") == [
        {
            "question": "Which database?",
            "type": "blocking",
            "responseType": "choice",
            "options": [{"label": "PostgreSQL"}, {"label": "SQLite"}],
        }
    ]


def test_asking_uses_the_agents_key_and_long_polls(server: StandIn, terminal: Terminal) -> None:
    server.when_polled(answering("yes"))

    terminal.run("ask", "Go on?")

    asked, polled = server.requests
    assert asked.headers["authorization"] == "Bearer hr_agent"
    assert asked.headers["idempotency-key"]
    # Not 50, as the library does: whoever asks back is to be heard soon.
    assert (polled.path, polled.query) == ("/api/questions/q_1", {"wait": "10"})


def test_json_is_the_whole_question_and_alone_on_stdout(server: StandIn, terminal: Terminal) -> None:
    server.when_polled(answering("pg", text="we know it"))

    done = terminal.run("ask", "Which database?", "--json")

    assert done.returncode == 0
    assert json.loads(done.stdout) == server.questions["q_1"]
    assert done.stdout.count("\n") == 1


def test_every_detail_that_was_typed_is_sent(server: StandIn, terminal: Terminal) -> None:
    words = "--kind preference --to leads --default b --time-limit 1h30m --urgency high --agent builder --project web"
    more = "--tag x --tag y --context step=deploy --context env=a=b --allow-free-text --multiple --wait none"

    terminal.run("ask", "Which?", "-o", "a", "-o", "b", *words.split(), *more.split())

    assert server.bodies("POST", "/api/questions") == [
        {
            "question": "Which?",
            "type": "preference",
            "responseType": "multi_choice",
            "options": [{"label": "a"}, {"label": "b"}],
            "defaultResponse": {"type": "multi_choice", "value": ["b"]},
            "allowFreeText": True,
            "to": "leads",
            "timeoutMinutes": 90,
            "urgency": "high",
            "agent": "builder",
            "projectId": "web",
            "tags": ["x", "y"],
            "context": {"step": "deploy", "env": "a=b"},
        }
    ]


def test_a_form_is_asked_from_a_schema_and_answered_as_json(server: StandIn, terminal: Terminal) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    (terminal.folder / "form.json").write_text(json.dumps(schema))
    server.when_polled(answering({"name": "Größe"}))

    done = terminal.run("ask", "Fill in", "--schema", "form.json", "--time-limit", "none")

    body = server.bodies("POST", "/api/questions")[0]
    assert (body["responseType"], body["schema"], body["timeoutMinutes"]) == ("form", schema, None)
    assert done.stdout == '{"name":"Größe"}\n'


@pytest.mark.parametrize(
    ("ending", "exit_code", "stdout", "said"),
    [
        (ACTS.withdraw, 3, "", "q_1 was withdrawn by builder at"),
        (ACTS.expire, 4, "", "q_1 expired at"),
        (ACTS.let_default_stand, 0, "main\n", "nobody answered q_1 in time: the default stands"),
    ],
)
def test_an_ending_without_an_answer(
    server: StandIn, terminal: Terminal, ending: Callable[[Any], None], exit_code: int, stdout: str, said: str
) -> None:
    server.when_polled(ending)

    done = terminal.run("ask", "Which branch?", "--default", "main")

    assert (done.returncode, done.stdout) == (exit_code, stdout)
    assert said in done.stderr


@pytest.mark.parametrize(("value", "exit_code", "word"), [(True, 0, "approved"), (False, 1, "rejected")])
def test_an_approval_is_a_word_and_an_exit_code(
    server: StandIn, terminal: Terminal, value: bool, exit_code: int, word: str
) -> None:
    server.when_polled(answering(value, text="after 18:00"))

    done = terminal.run("approve", "Deploy?", "--tool", "deploy", "--args", '{"env": "prod"}', "--risk", "high")

    assert (done.returncode, done.stdout) == (exit_code, f"{word}\n")
    assert "    after 18:00\n" in done.stderr
    assert server.bodies("POST", "/api/questions") == [
        {
            "question": "Deploy?",
            "type": "approval",
            "responseType": "approval",
            "action": {"tool": "deploy", "arguments": {"env": "prod"}, "risk": "high"},
        }
    ]


def test_changed_arguments_are_told(server: StandIn, terminal: Terminal) -> None:
    server.when_polled(answering(True, arguments={"count": 3}))

    done = terminal.run("approve", "Create tickets?", "--tool", "linear.create", "--args", '{"count": 5}')

    assert done.returncode == 0
    assert 'the arguments were changed, use these: {"count":3}' in done.stderr


def test_a_diff_alone_can_be_approved(server: StandIn, terminal: Terminal) -> None:
    (terminal.folder / "fix.diff").write_text("-a\n+b\n")
    server.when_polled(answering(True))

    terminal.run("approve", "Apply?", "--diff", "fix.diff")

    action = server.bodies("POST", "/api/questions")[0]["action"]
    assert action == {"tool": "apply_diff", "diff": "-a\n+b\n"}


def test_a_diff_may_come_from_stdin(server: StandIn, terminal: Terminal) -> None:
    server.when_polled(answering(True))

    terminal.run("approve", "Apply?", "--diff", "-", stdin="-a\n+b\n")

    assert server.bodies("POST", "/api/questions")[0]["action"]["diff"] == "-a\n+b\n"


def test_without_waiting_the_shell_gets_the_id(server: StandIn, terminal: Terminal) -> None:
    done = terminal.run("ask", "Which?", "--wait", "none")

    assert (done.returncode, done.stdout) == (75, "q_1\n")
    assert "handraise check q_1 --wait" in done.stderr
    assert len(server.requests) == 1


def test_a_wait_that_ends_leaves_the_question_open(server: StandIn, terminal: Terminal) -> None:
    done = terminal.run("ask", "Which?", "--wait", "0.1s")

    assert (done.returncode, done.stdout) == (75, "")
    assert "q_1 is still open\n  to wait for it: handraise check q_1 --wait\n" in done.stderr
    assert server.questions["q_1"]["status"] == "pending"


def test_a_question_that_holds_nothing_goes_on_with_its_default(server: StandIn, terminal: Terminal) -> None:
    done = terminal.run("ask", "Which branch?", "--kind", "non-blocking", "--default", "main")

    assert (done.returncode, done.stdout) == (0, "main\n")
    assert "going on with the default, main: nobody has answered q_1 yet" in done.stderr
    assert [seen.method for seen in server.requests] == ["POST"]


def test_whoever_asks_back_is_heard_once(server: StandIn, terminal: Terminal) -> None:
    server.when_polled(asking_back("which\nregion?"), answering("eu"))

    done = terminal.run("ask", "Deploy where?")

    assert done.stderr.count("Dana asks back about q_1:\n    which\n    region?\n") == 1
    assert 'handraise comment q_1 "…"' in done.stderr


def test_the_same_key_asks_once(server: StandIn, terminal: Terminal) -> None:
    first = terminal.run("ask", "Which?", "--wait", "none", "--idempotency-key", "k1")
    again = terminal.run("ask", "Which?", "--wait", "none", "--idempotency-key", "k1")

    assert (first.stdout, again.stdout) == ("q_1\n", "q_1\n")
    assert list(server.questions) == ["q_1"]


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["ask"], "Missing argument"),
        (["ask", "x", "--time-limit", "30"], "is not a duration"),
        (["ask", "x", "--schema", "absent.json"], "cannot be read"),
        (["ask", "x", "--response-type", "number", "--default", "many"], "--default: 'many' is not a number"),
        (["ask", "x", "--context", "novalue"], "takes KEY=VALUE"),
        (["ask", "x", "--idempotency-key", "ключ"], "printable ASCII"),
        (["ask", "x", "--job", ".."], "cannot be the id of anything"),
        (["approve", "x", "--tool", "t", "--args", "[1]"], "--args needs a JSON object"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_sent(
    server: StandIn, terminal: Terminal, words: list[str], advice: str
) -> None:
    done = terminal.run(*words)

    assert (done.returncode, done.stdout) == (2, "")
    assert advice in done.stderr
    assert server.requests == []
