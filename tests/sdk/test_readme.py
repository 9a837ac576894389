"""The README keeps its word: all its examples run, and its tables are complete."""

import re
import time
from typing import Any

import pytest
from handraise import Answer, Decision, webhooks
from handraise.cli.exit_codes import ExitCode

from .conftest import Terminal
from .questions import answering
from .readme import PYTHON_SECTIONS, README, code_in, defined_by, section
from .stand_in import StandIn

SECRET = "whsec_c2VjcmV0IG9mIHRoZSBleGFtcGxl"


def test_the_shell_example_runs(server: StandIn, terminal: Terminal) -> None:
    (terminal.folder / "deploy").write_text('#!/bin/sh\necho "deployed to $1"\n')
    (terminal.folder / "deploy").chmod(0o755)
    server.when_polled(answering("SQLite"), answering(True))

    done = terminal.shell(f'{code_in("In the shell")}\necho "on $database"')

    assert done.stdout.splitlines() == ["approved", "deployed to prod", "on SQLite"]


def test_the_python_example_runs(server: StandIn, terminal: Terminal) -> None:
    server.when_polled(answering("SQLite"), answering(True))

    done = terminal.python("-c", code_in("In Python"))

    assert done.stdout.splitlines() == ["SQLite says Dana on slack", "deploying with {'env': 'prod'}"]


def test_a_whole_agent_has_at_most_fifteen_lines() -> None:
    lines = [line for line in code_in("A whole agent").splitlines() if line]

    assert len(lines) <= 15


@pytest.mark.parametrize(
    ("decision", "printed"),
    [
        (answering(True), "dropped prod.orders_2019"),
        (answering(True, arguments={"table": "prod.orders_2018"}), "dropped prod.orders_2018"),
        (
            answering(False, text="audit needs it"),
            'left alone: REJECTED by "Dana" on slack: do not do it. The note with it: "audit needs it".',
        ),
    ],
)
def test_the_agent_asks_reports_and_heeds_the_decision(
    server: StandIn, terminal: Terminal, decision: Any, printed: str
) -> None:
    server.when_polled(answering("prod"), decision)

    done = terminal.python("-c", code_in("A whole agent"))

    assert (done.returncode, done.stdout, done.stderr) == (0, f"{printed}\n", "")
    assert server.bodies("POST", "/api/jobs/cleanup/progress") == [{"text": "looking at prod"}]
    asked = server.questions["q_2"]
    assert (asked["question"], asked["agent"]) == ("May this table go?", "cleaner")
    assert asked["action"] == {"tool": "drop", "arguments": {"table": "prod.orders_2019"}, "editable": True}


def test_the_asynchronous_example_asks_both_questions_at_once(server: StandIn, terminal: Terminal) -> None:
    def answer_when_both_are_asked(question: dict[str, Any]) -> None:
        if len(server.questions) == 2:
            server.answer(question, "us" if "region" in question["question"] else 3)

    server.when_polled(*[answer_when_both_are_asked] * 50)

    done = terminal.python("-c", code_in("In an event loop"))

    assert (done.stdout, done.stderr) == ("us 3\n", "")


def test_the_example_of_events_reads_on_until_the_answer(server: StandIn, terminal: Terminal) -> None:
    question = server.add(jobId="cleanup")
    server.events.emit("question.asked", question)
    server.answer(question, "eu")
    server.events.emit("question.answered", question)

    done = terminal.python("-c", code_in("Events"))

    assert (done.stdout, done.stderr) == ("1 question.asked\n2 question.answered\n", "")


def test_the_receiver_of_webhooks_takes_each_message_once_and_no_forged_one(
    server: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    receive: Any = defined_by("Webhooks")["receive"]
    body = b'{"type": "question.answered", "timestamp": "2026-11-18T09:00:00Z", "data": {"id": "q_1"}}'
    headers = webhooks.sign(body, message_id="msg_1", at=int(time.time()), secret=SECRET)

    statuses = [
        receive(body, headers, SECRET),
        receive(body, headers, SECRET),
        receive(body + b" ", headers, SECRET),
        receive(body, headers, "whsec_b3RoZXI="),
    ]

    assert statuses == [204, 204, 401, 401]
    assert capsys.readouterr().out == "question.answered q_1\n"


def test_the_deployer_believes_no_receipt_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    may_deploy: Any = defined_by("Receipts")["may_deploy"]

    assert may_deploy("hr1.e30.AA", "hrpk_caZd7CFTWA1_AxU8m8RIJYe5PrdMfHOCUl9Bz0wdqjY") is False
    assert capsys.readouterr().out.startswith("no: ")


def test_every_block_of_python_is_run_by_a_test() -> None:
    assert README.count("```python\n") == len(PYTHON_SECTIONS)
    assert all(section(heading).count("```python\n") == 1 for heading in PYTHON_SECTIONS)


def test_what_the_table_says_of_an_answer_is_there() -> None:
    table = section("In Python").split("| of an answer | is |\n")[1].split("\n\n")[0]
    names = re.findall(r"`(\w+)(?:\(\))?`", "".join(line.split(" | ")[0] for line in table.splitlines()))

    assert {"status", "value", "for_model", "approved", "receipt"} <= set(names)
    assert [name for name in names if not hasattr(Decision, name)] == []
    assert not hasattr(Answer, "approved")


def test_every_exit_code_is_in_the_table() -> None:
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}

    assert listed == set(ExitCode)


def test_every_command_is_in_the_table(bare_terminal: Terminal) -> None:
    offered = bare_terminal.run("--help").stdout.split("Commands:\n")[1]
    listed = re.findall(r"^\| `([\w-]+)", section("In the shell"), re.MULTILINE)

    assert listed == re.findall(r"^  ([\w-]+)", offered, re.MULTILINE)


def test_no_command_is_described_by_half_a_sentence(bare_terminal: Terminal) -> None:
    assert "..." not in bare_terminal.run("--help").stdout.split("Commands:\n")[1]
