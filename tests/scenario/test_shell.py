"""The shell command against the real server, as a newcomer uses it: credentials are found, nothing is set up."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.servers import BIN, RunningServer, clean_environment, running

_HANG_SECONDS = 60


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a server's data in `.handraise`, as `make run` leaves it."""
    folder = tmp_path_factory.mktemp("home")
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
def waiting(home: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A command that asks and waits, and the id of its question as it says it on stderr."""
    process = subprocess.Popen(
        [str(BIN / "handraise"), *words],
        cwd=home,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    name = next(word.strip(",.") for word in process.stderr.readline().split() if word.startswith("q_"))
    try:
        yield process, name
    finally:
        process.kill()
        process.communicate()


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
