"""The shell command against the real server, as a newcomer uses it: credentials are found, nothing is set up."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.sdk.conftest import Terminal
from tests.sdk.receivers import Receiver
from tests.sdk.screens import CTRL_C, Screen
from tests.support.servers import BIN, RunningServer, clean_environment, running

_HANG_SECONDS = 60


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a server's data in `.handraise`, as `make run` leaves it."""
    folder = tmp_path_factory.mktemp("home")
    (folder / ".handraise").mkdir(mode=0o700)
    with running(folder / ".handraise"):
        yield folder


def shell(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BIN / "handraise"), *words],
        cwd=home,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=_HANG_SECONDS,
        check=False,
    )


@contextmanager
def started(home: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [str(BIN / "handraise"), *words],
        cwd=home,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def waiting(home: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A command that asks and waits, and the id of its question as it says it on stderr."""
    with started(home, *words) as process:
        assert process.stderr is not None
        yield process, next(word.strip(",.") for word in process.stderr.readline().split() if word.startswith("q_"))


def asked(home: Path, text: str, *words: str) -> str:
    """The id of a question that nobody waits for."""
    return shell(home, "ask", text, "--wait", "none", *words).stdout.strip()


def lines(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline().rstrip("\n") for _ in range(count)]


def test_a_waiting_ask_ends_with_the_answer_and_prints_it(home: Path) -> None:
    with waiting(home, "ask", "Which database?", "-o", "PostgreSQL", "-o", "SQLite") as (ask, name):
        answered = shell(home, "answer", name, "SQLite")
        stdout, stderr = ask.communicate(timeout=_HANG_SECONDS)

    assert (answered.returncode, ask.returncode) == (0, 0)
    assert stdout == "SQLite\n"
    assert "Admin" in stderr


def test_a_rejected_approval_ends_with_1(home: Path) -> None:
    with waiting(home, "approve", "Deploy?", "--tool", "deploy", "--args", '{"version": "1.4"}') as (ask, name):
        shell(home, "answer", name, "reject", "--reason", "not on a Friday")
        stdout, stderr = ask.communicate(timeout=_HANG_SECONDS)

    assert ask.returncode == 1
    assert "not on a Friday" in stdout + stderr


def test_an_approval_that_is_granted_ends_with_0(home: Path) -> None:
    with waiting(home, "approve", "Deploy?") as (ask, name):
        shell(home, "answer", name, "approve")
        ask.communicate(timeout=_HANG_SECONDS)

    assert ask.returncode == 0


def test_a_withdrawn_question_ends_with_3(home: Path) -> None:
    with waiting(home, "ask", "Which region?") as (ask, name):
        cancelled = shell(home, "cancel", name)
        ask.communicate(timeout=_HANG_SECONDS)

    assert (cancelled.returncode, ask.returncode) == (0, 3)


def test_an_expired_question_ends_with_4(home: Path) -> None:
    assert shell(home, "ask", "Quick?", "--time-limit", "1s").returncode == 4


def test_a_default_that_stands_ends_with_0_and_says_so(home: Path) -> None:
    done = shell(home, "ask", "Quick?", "-o", "yes", "-o", "no", "--default", "no", "--time-limit", "1s")

    assert (done.returncode, done.stdout) == (0, "no\n")
    assert "default" in done.stderr


def test_a_question_left_open_ends_with_75_and_can_be_waited_for_again(home: Path) -> None:
    left = shell(home, "ask", "Later?", "--wait", "none")
    name = left.stdout.strip()
    shell(home, "answer", name, "now")

    again = shell(home, "check", name, "--wait")

    assert left.returncode == 75
    assert (again.returncode, again.stdout) == (0, "now\n")


def test_a_second_answer_is_told_who_won(home: Path) -> None:
    name = shell(home, "ask", "Once?", "--wait", "none").stdout.strip()
    shell(home, "answer", name, "first")

    second = shell(home, "answer", name, "second")

    assert second.returncode == 1
    assert "Admin" in second.stderr
    assert "first" in second.stderr


def test_json_is_one_value_that_tells_everything(home: Path) -> None:
    name = shell(home, "ask", "As JSON?", "--wait", "none").stdout.strip()
    shell(home, "answer", name, "fine", "--answered-by", "night shift")

    told = json.loads(shell(home, "check", name, "--json").stdout)

    assert (told["id"], told["status"], told["response"]["value"]) == (name, "answered", "fine")
    assert told["outcome"]["decidedBy"]["name"] == "Admin"
    assert told["outcome"]["answeredBy"] == "night shift"


def test_a_wait_survives_a_restart_of_the_server(tmp_path: Path) -> None:
    first = RunningServer(tmp_path / ".handraise")
    with waiting(tmp_path, "ask", "Still there?") as (ask, name):
        first.stop()
        with running(tmp_path / ".handraise", port=first.port):
            shell(tmp_path, "answer", name, "yes")
            stdout, _ = ask.communicate(timeout=_HANG_SECONDS)

    assert (ask.returncode, stdout) == (0, "yes\n")


def test_ctrl_c_at_a_terminal_leaves_the_question_open_and_it_can_be_waited_for_again(home: Path) -> None:
    with Screen(Terminal(home), "ask", "Still open?", "--to", "night-shift", "--time-limit", "2h") as screen:
        screen.until("waiting for night-shift to answer q_")
        screen.until("1h 59m left")
        screen.press(CTRL_C)
        exit_code = screen.to_the_end()

    said = [line for line in screen.lines() if line not in ("", "^C")]
    name = said[0].split()[1].strip(",")
    assert exit_code == 130
    assert said[-2:] == [f"interrupted: {name} stays open", f"  to wait for it again: handraise check {name} --wait"]
    assert not any(line.startswith("waiting for") for line in said)

    with started(home, *said[-1].split()[6:]) as again:
        shell(home, "answer", name, "yes")
        stdout, _ = again.communicate(timeout=_HANG_SECONDS)
    assert (again.returncode, stdout) == (0, "yes\n")


def test_somebody_who_asks_back_is_heard_while_the_command_waits(home: Path) -> None:
    with waiting(home, "ask", "Which region?") as (ask, name):
        shell(home, "comment", name, "for whom?", "--as", "person")
        assert ask.stderr is not None
        said = ""
        while "reply with" not in said:
            said += ask.stderr.readline()
        shell(home, "comment", name, "for Austria")
        shell(home, "answer", name, "eu")
        stdout, _ = ask.communicate(timeout=_HANG_SECONDS)

    assert f"Admin on api asks back about {name}:\n    for whom?\n" in said
    assert stdout == "eu\n"


def test_watch_tells_what_happens_and_goes_on_where_it_was_stopped(home: Path) -> None:
    shell(home, "progress", "watched", "begun")
    name = asked(home, "Which database?", "--job", "watched")
    with started(home, "watch", "--job", "watched", "--after", "0") as watch:
        told = lines(watch, 1)
        while f"question.asked      {name} Which database?" not in told[-1]:
            told += lines(watch, 1)
        watch.send_signal(signal.SIGINT)
        _, stderr = watch.communicate(timeout=_HANG_SECONDS)
    assert watch.returncode == 130
    assert "job.progress" in told[0]
    assert "watched begun" in told[0]

    shell(home, "answer", name, "pg")
    way_back = stderr.split("to go on from here: handraise ")[1].split()
    with started(home, *way_back) as watch:
        told = lines(watch, 1)
        while "question.answered" not in told[-1]:
            told += lines(watch, 1)

    assert told[-1].endswith(f"question.answered   {name} Admin on api: pg")
    # At most the line that was on its way when it was stopped comes again.
    assert len([line for line in told if "question.asked " in line]) <= 1
    assert not any("job.progress" in line for line in told)


def test_watch_survives_a_restart_and_loses_nothing(tmp_path: Path) -> None:
    first = RunningServer(tmp_path / ".handraise")
    names = [asked(tmp_path, "Before?")]
    with started(tmp_path, "watch", "--after", "0", "--json") as watch:
        told = [json.loads(line) for line in lines(watch, 1)]
        first.stop()
        with running(tmp_path / ".handraise", port=first.port):
            names += [asked(tmp_path, "After?")]
            while told[-1]["data"]["id"] != names[-1]:
                told += [json.loads(line) for line in lines(watch, 1)]

    positions = [int(each["id"]) for each in told]
    assert [each["data"]["id"] for each in told if each["type"] == "question.asked"] == names
    assert positions == sorted(set(positions))


def test_watch_into_head_ends_quietly(home: Path) -> None:
    name = asked(home, "Which database?", "--job", "piped")
    shell(home, "answer", name, "pg")
    command = f"{BIN}/handraise watch --job piped --after 0 | head -1"

    done = subprocess.run(
        ["sh", "-c", command], cwd=home, env=clean_environment(), capture_output=True, text=True, timeout=_HANG_SECONDS
    )

    assert (len(done.stdout.splitlines()), done.stderr) == (1, "")


def test_progress_shows_in_the_status_of_the_job(home: Path) -> None:
    done = shell(home, "progress", "build 17/a", "3 of 5 done")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "told the progress of build 17/a\n")
    assert json.loads(shell(home, "status", "build 17/a", "--json").stdout)["progress"]["text"] == "3 of 5 done"


@pytest.mark.parametrize(
    "words", [["progress", "job", ""], ["progress", "job", "x" * 100_000], ["watch", "--job", "no"]]
)
def test_what_the_server_refuses_exits_2_with_a_sentence(home: Path, words: list[str]) -> None:
    done = shell(home, *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("handraise: ")
    assert "Traceback" not in done.stderr


def test_listen_brings_the_events_signed_to_a_receiver_that_fails_first(home: Path) -> None:
    name = asked(home, "Which database?", "--job", "forwarded")
    shell(home, "answer", name, "pg")
    with Receiver(statuses=[500]).running() as receiver:
        words = ["listen", "--forward", receiver.url, "--job", "forwarded", "--after", "0"]
        with started(home, *words) as listen:
            told = lines(listen, 1)
            while not ("question.answered" in told[-1] and told[-1].endswith("-> 204")):
                told += lines(listen, 1)
            assert listen.stderr is not None
            secret = listen.stderr.readline().split()[-1]

    messages: list[Any] = [Webhook(secret).verify(body, headers) for headers, body in receiver.messages]
    assert told[0].endswith("-> 500, trying again")
    assert receiver.messages[0][0]["webhook-id"] == receiver.messages[1][0]["webhook-id"]
    assert messages[-1]["type"] == "question.answered"
    assert messages[-1]["data"]["outcome"]["response"]["value"] == "pg"


def test_the_doctor_finds_a_fresh_server_healthy(home: Path) -> None:
    done = shell(home, "doctor")

    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["ok"] * 8
    assert json.loads(shell(home, "doctor", "--json").stdout)["isWell"] is True


def test_the_doctor_names_a_key_that_is_not_known_and_a_server_that_is_away(home: Path) -> None:
    url = json.loads((home / ".handraise" / "credentials.json").read_text())["url"]

    unknown = shell(home, "--url", url, "--api-key", "hr_unknown", "doctor")
    away = shell(home, "--url", "http://127.0.0.1:9", "--api-key", "hr_unknown", "doctor")

    assert (unknown.returncode, away.returncode) == (1, 1)
    assert "PROBLEM  agent key   the server does not know it\n         -> make a new one" in unknown.stdout
    assert "PROBLEM  server      http://127.0.0.1:9 cannot be reached" in away.stdout


def test_a_receipt_is_checked_with_the_key_that_the_server_prints(home: Path, tmp_path: Path) -> None:
    shown = subprocess.run(
        [str(BIN / "handraise-bot"), "receipts", "key", "--data-dir", str(home / ".handraise")],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=_HANG_SECONDS,
    )
    key, same, other = tmp_path / "key", tmp_path / "same.json", tmp_path / "other.json"
    key.write_text(shown.stdout)
    same.write_text('{"tool": "deploy", "arguments": {"env": "prod"}}')
    other.write_text('{"tool": "deploy", "arguments": {"env": "staging"}}')

    def receipt(decision: str) -> str:
        words = ["approve", "Deploy?", "--tool", "deploy", "--args", '{"env": "prod"}', "--wait", "none"]
        name = shell(home, *words).stdout.strip()
        shell(home, "answer", name, decision)
        outcome = json.loads(shell(home, "check", name, "--json").stdout)["outcome"]
        return str(outcome["receipt"])

    def checked(given: str, *words: str) -> tuple[int, str]:
        done = shell(tmp_path, "verify-receipt", given, "--key", f"@{key}", *words)
        return done.returncode, done.stdout

    approved, rejected = receipt("approve"), receipt("reject")
    assert checked(approved) == checked(approved, "--action", str(same)) == (0, "approved\n")
    assert checked(rejected) == checked(rejected, "--action", str(same)) == (1, "rejected\n")
    assert checked(approved, "--action", str(other)) == (1, "")
    assert checked(approved[:-4] + ("AAAA" if not approved.endswith("AAAA") else "BBBB")) == (1, "")
    assert json.loads(checked(approved, "--json")[1])["deciders"][0]["name"] == "Admin"
