"""`make demo` as people see it: example agents ask a real server, and what they print follows from the answers."""

import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.scenario.talk import answer, comment, job_of, look, ok, settled
from tests.support.servers import ROOT, RunningServer, clean_environment

_HANG_SECONDS = 60
_RELEASE = "Release shop 2.4.0 to 25 % of eu-central?"
_NAME = "What shall customers see as the name of the new search?"
_WAY = "How shall we build search for the shop?"
_DETAILS = "When does the team start, and with how many people?"
_RECOVERY = "Batch 3 of 4 failed. How do I go on?"


class RunningDemo:
    """One demo whose output is read as it comes. It ends, whatever happens, when the test has lost patience."""

    def __init__(self, folder: Path, data_dir: Path, words: tuple[str, ...], terminal: int | None) -> None:
        self.lines: list[str] = []
        self._errors = folder / "errors"
        environment = _environment(data_dir=str(data_dir), port="0")
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "demo", "--pace", "0", *words],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if terminal is None else terminal,
                stderr=errors,
            )
        self._watchdog = threading.Timer(_HANG_SECONDS, self.process.terminate)
        self._watchdog.start()

    def read_from(self, descriptor: int) -> None:
        self._coming = _lines_from(descriptor)

    def until(self, *patterns: str) -> re.Match[str]:
        """The first lines that match the patterns, one after the other; what matched last."""
        wanted, place = list(patterns), 0
        while True:
            while place < len(self.lines):
                found = re.search(wanted[0], self.lines[place])
                place += 1
                if found is not None and len(wanted) == 1:
                    return found
                if found is not None:
                    wanted.pop(0)
            self.lines.append(self._next_line(wanted[0]))

    def asked(self, agent: str, text: str) -> str:
        """The id of the question, once the agent says that it has asked."""
        name = f"^{agent} +│ "
        return self.until(f"{name}✋ {re.escape(text)}$", rf"{name}http\S+/q/(q_\w+)")[1]

    def end(self) -> int:
        """The exit code, after reading all that was still said."""
        self.lines.extend(self._coming)
        return self.process.wait(_HANG_SECONDS)

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.end()

    def said_by(self, agent: str) -> list[str]:
        return [line.split(" │ ", 1)[1] for line in self.lines if line.startswith(agent)]

    @property
    def errors(self) -> str:
        return self._errors.read_text()

    def close(self) -> None:
        self._watchdog.cancel()
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(_HANG_SECONDS)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _next_line(self, pattern: str) -> str:
        for line in self._coming:
            return line
        everything = "\n".join(self.lines)
        raise AssertionError(f"the demo ended without saying {pattern}:\n{everything}\n{self.errors}")


def _environment(**settings: str) -> dict[str, str]:
    """Ours, with the demo importable, and with no say in whether there is colour."""
    inherited = clean_environment(**settings)
    kept = {name: value for name, value in inherited.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    return kept | {"PYTHONPATH": str(ROOT), "TERM": "xterm"}


def _lines_from(descriptor: int) -> Iterator[str]:
    rest = b""
    while chunk := _read(descriptor):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (line.decode().rstrip("\r") for line in whole)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # a terminal that everybody else has closed
        return b""


@contextmanager
def demo(folder: Path, data_dir: Path, *words: str) -> Iterator[RunningDemo]:
    running = RunningDemo(folder, data_dir, words, None)
    assert running.process.stdout is not None
    running.read_from(running.process.stdout.fileno())
    try:
        yield running
    finally:
        running.close()


@contextmanager
def demo_at_a_terminal(folder: Path, data_dir: Path, *words: str) -> Iterator[RunningDemo]:
    ours, theirs = pty.openpty()
    running = RunningDemo(folder, data_dir, words, theirs)
    os.close(theirs)
    running.read_from(ours)
    try:
        yield running
    finally:
        running.close()
        os.close(ours)


def _is_served(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/healthz").status_code == 200
    except httpx2.TransportError:
        return False


def _action(client: httpx2.Client, question_id: str) -> dict[str, Any]:
    action: dict[str, Any] = look(client, question_id)["action"]
    return action


# the deployer


def test_the_deployer_shows_and_asks_with_the_difference_of_two_real_files(
    tmp_path: Path, server: RunningServer, admin: httpx2.Client
) -> None:
    with demo(tmp_path, server.data_dir, "deployer") as running:
        action = _action(admin, running.asked("deployer", _RELEASE))

    shown = [line.removeprefix("  ") for line in running.said_by("deployer") if line.startswith("  ")]
    head, lines = shown[:3], shown[3:]
    assert (action["tool"], action["risk"], action["editable"]) == ("deploy.release", "medium", True)
    assert action["diff"] == "\n".join(shown) + "\n"
    assert head == ["--- a/checkout.toml", "+++ b/checkout.toml", "@@ -1,8 +1,10 @@"]
    assert [line[1:] for line in lines if line[0] in " -"] == _shipped("2.3.0")
    assert [line[1:] for line in lines if line[0] in " +"] == _shipped("2.4.0")


def _shipped(version: str) -> list[str]:
    return (ROOT / "demo" / "files" / f"shop-{version}" / "checkout.toml").read_text().splitlines()


def test_the_deployer_releases_what_the_person_made_of_it(
    tmp_path: Path, server: RunningServer, admin: httpx2.Client
) -> None:
    with demo(tmp_path, server.data_dir, "deployer") as running:
        question_id = running.asked("deployer", _RELEASE)
        changed = _action(admin, question_id)["arguments"] | {"region": "us-east", "percent": 20}
        decided = ok(answer(admin, question_id, True, text="start small", arguments=changed))
        code = running.end()

    said = running.said_by("deployer")
    assert code == 0
    assert said[said.index("Approved by Admin on api: “start small”") :] == [
        "Approved by Admin on api: “start small”",
        "You changed what I asked for, so now it is 20 % of us-east.",
        "shop-us-east-1 runs 2.4.0 (1 of 2)",
        "shop-us-east-2 runs 2.4.0 (2 of 2)",
        "shop 2.4.0 is live on 20 % of us-east.",
        "Done.",
    ]
    progress = job_of(admin, decided["question"]["jobId"])["progress"]
    assert progress["text"] == "shop 2.4.0 is live on 20 % of us-east."


def test_the_deployer_releases_nothing_that_makes_no_sense(
    tmp_path: Path, server: RunningServer, admin: httpx2.Client
) -> None:
    with demo(tmp_path, server.data_dir, "deployer") as running:
        question_id = running.asked("deployer", _RELEASE)
        changed = _action(admin, question_id)["arguments"] | {"region": "the moon"}
        ok(answer(admin, question_id, True, arguments=changed))
        running.end()

    assert running.said_by("deployer")[-1] == (
        "I know no region the moon, only eu-central, us-east, ap-south. Nothing was deployed; 2.3.0 keeps running."
    )


def test_the_deployer_takes_a_no_with_its_reason(tmp_path: Path, server: RunningServer, admin: httpx2.Client) -> None:
    with demo(tmp_path, server.data_dir, "deployer") as running:
        ok(answer(admin, running.asked("deployer", _RELEASE), False, text="not on a\x1b[31m Friday"))
        code = running.end()

    assert code == 0
    assert running.said_by("deployer")[-3:] == [
        "Rejected by Admin on api: “not on a\ufffd[31m Friday”",
        "2.4.0 is put aside: “not on a\ufffd[31m Friday”",
        "Nothing was deployed; 2.3.0 keeps running. I come back with the next version.",
    ]


def test_whoever_asks_back_gets_a_reply_and_the_clock_goes_on(
    tmp_path: Path, server: RunningServer, admin: httpx2.Client
) -> None:
    with demo(tmp_path, server.data_dir, "deployer") as running:
        question_id = running.asked("deployer", _RELEASE)
        ok(comment(admin, question_id, "Why now?", askBack=True))
        running.until("^deployer │ Admin on api asks back: “Why now\\?”", "^deployer │ replies: Payments hung")
        question = look(admin, question_id)

    assert question["clock"]["paused"] is False
    assert [each["text"][:13] for each in question["comments"]] == ["Why now?", "Payments hung"]


# the planner


@pytest.mark.parametrize(
    ("value", "chosen", "plan"),
    [
        (
            "postgres",
            "PostgreSQL full text",
            [
                "  Mon 07 Dec – Tue 08 Dec  Index names and descriptions",
                "  Wed 09 Dec – Fri 11 Dec  Search page on top of it",
                "  Mon 14 Dec – Mon 14 Dec  Measure with 1,000 frequent searches",
            ],
        ),
        (
            "cluster",
            "A search cluster of our own",
            [
                "  Mon 07 Dec – Fri 11 Dec  OpenSearch on three machines, with alarms",
                "  Mon 14 Dec – Thu 17 Dec  Feed it from events, compare it nightly",
                "  Fri 18 Dec – Thu 24 Dec  Search page with filters, suggestions",
                "  Fri 25 Dec – Fri 25 Dec  Write the on-call guide",
            ],
        ),
        (
            "hosted",
            "A hosted service",
            [
                "  Mon 07 Dec – Wed 09 Dec  Data protection review and contract",
                "  Thu 10 Dec – Fri 11 Dec  Send the articles, without key accounts",
                "  Mon 14 Dec – Tue 15 Dec  Search page, with a budget alarm",
            ],
        ),
        (
            "ask the librarians",
            "“ask the librarians”",
            [
                "  Mon 07 Dec – Tue 08 Dec  Work out what “ask the librarians” would take",
                "  Wed 09 Dec – Fri 11 Dec  Try it with 1,000 frequent searches",
                "  Mon 14 Dec – Mon 14 Dec  Come back with the result and ask again",
            ],
        ),
    ],
)
def test_the_planner_makes_another_plan_for_each_way(
    tmp_path: Path, server: RunningServer, admin: httpx2.Client, value: str, chosen: str, plan: list[str]
) -> None:
    with demo(tmp_path, server.data_dir, "planner") as running:
        name = running.asked("planner", _NAME)
        ok(answer(admin, running.asked("planner", _WAY), value))
        # A Saturday, so the work begins on Monday.
        ok(answer(admin, running.asked("planner", _DETAILS), {"start": "2026-12-05", "people": 2, "beta": False}))
        code = running.end()

    said = running.said_by("planner")
    assert code == 0
    assert f"Admin on api chose {chosen}." in said
    assert said[said.index("The plan for 2 people:") + 1 :] == [*plan, "The plan for “Find” is finished."]
    assert look(admin, name)["status"] == "cancelled"


def test_the_planner_goes_on_without_a_name_and_takes_the_one_that_comes(
    tmp_path: Path, server: RunningServer, admin: httpx2.Client
) -> None:
    with demo(tmp_path, server.data_dir, "planner") as running:
        name, way = running.asked("planner", _NAME), running.asked("planner", _WAY)
        running.until("^planner  │ I do not wait for that: until somebody has a better idea it is called “Find”.")
        ok(answer(admin, name, "Lens"))
        running.until("^planner  │ Admin on api named it “Lens”.")
        ok(answer(admin, way, "hosted"))
        ok(answer(admin, running.asked("planner", _DETAILS), {"start": "2026-12-07", "people": 1, "beta": True}))
        running.end()

    said = running.said_by("planner")
    assert "The plan for one person:" in said
    assert said[-2:] == [
        "  Wed 23 Dec – Fri 25 Dec  Beta with a tenth of the customers",
        "The plan for “Lens” is finished.",
    ]


# the migrator


@pytest.mark.parametrize(
    ("value", "reaction"),
    [
        (
            "retry",
            [
                "Admin on api says retry.",
                "The lock is gone. Batch 3 of 4 is done: orders 501 to 750.",
                "Batch 4 of 4 is done: orders 751 to 1000.",
                "1000 of 1000 orders are migrated.",
                "Done.",
            ],
        ),
        (
            "skip",
            [
                "Admin on api says skip.",
                "Batch 3 of 4 is left for tonight: orders 501 to 750.",
                "Batch 4 of 4 is done: orders 751 to 1000.",
                "750 of 1000 orders are migrated.",
                "Orders 501 to 750 are on tonight's list.",
                "Done.",
            ],
        ),
        ("abort", ["Admin on api says abort.", "Undone: 1000 orders are as they were before."]),
    ],
)
def test_the_migrator_recovers_as_it_is_told(
    tmp_path: Path, server: RunningServer, admin: httpx2.Client, value: str, reaction: list[str]
) -> None:
    with demo(tmp_path, server.data_dir, "migrator") as running:
        question_id = running.asked("migrator", _RECOVERY)
        question = look(admin, question_id)
        ok(answer(admin, question_id, value))
        code = running.end()

    assert code == 0
    assert question["type"] == "error_recovery"
    assert question["context"]["errorDetails"] == "sqlite3.OperationalError: database is locked"
    assert running.said_by("migrator")[-len(reaction) :] == reaction


def test_where_short_limits_are_not_allowed_the_migrator_takes_the_limit_of_its_kind(tmp_path: Path) -> None:
    strict = RunningServer(tmp_path / "data", min_time_limit="5m")
    try:
        with demo(tmp_path, strict.data_dir, "migrator") as running, strict.admin() as admin:
            question = look(admin, running.asked("migrator", _RECOVERY))
    finally:
        strict.stop()

    assert question["timeoutMinutes"] == 10


# all of it


def test_nobody_answers_so_nothing_is_deployed_and_the_default_stands(tmp_path: Path) -> None:
    with demo(tmp_path, tmp_path / "data", "--time-limit", "1s") as running:
        url = running.until(r"^handraise ready at (http://\S+)$")[1]
        code = running.end()

    assert code == 0
    assert running.said_by("deployer")[-2:] == [
        "Nobody decided in time, and silence is not a yes.",
        "Nothing was deployed; 2.3.0 keeps running.",
    ]
    assert running.said_by("planner")[-1] == (
        "Nobody decided. How we build it is not mine to choose, so there is no plan yet."
    )
    assert "Nobody answered in time, so the default stands: skip." in running.said_by("migrator")
    assert "750 of 1000 orders are migrated." in running.said_by("migrator")
    assert [line.strip() for line in running.lines[-3:]] == ["All agents are done.", "The server stops.", ""]
    assert "\x1b" not in "".join(running.lines)
    assert running.errors == ""
    assert not _is_served(url)


def test_ctrl_c_stops_the_agents_and_the_server(tmp_path: Path) -> None:
    with demo(tmp_path, tmp_path / "data") as running:
        url = running.until(r"^handraise ready at (http://\S+)$")[1]
        running.asked("migrator", _RECOVERY)
        code = running.interrupt()

    assert code == 130
    assert running.errors == ""
    assert not _is_served(url)


def test_ctrl_c_leaves_a_server_that_was_there_before_and_no_question_behind(
    tmp_path: Path, server: RunningServer, admin: httpx2.Client
) -> None:
    with demo(tmp_path, server.data_dir) as running:
        asked = [running.asked("deployer", _RELEASE), running.asked("planner", _NAME), running.asked("planner", _WAY)]
        running.until("A server runs here already, so they ask there.")
        code = running.interrupt()

    ends = [settled(admin, question_id)["outcome"] for question_id in asked]
    assert code == 130
    assert [(end["kind"], end["reason"]) for end in ends] == [("withdrawn", "the demo was stopped")] * 3
    assert running.errors == ""


def test_at_a_terminal_the_server_shows_its_first_screen_and_outlives_the_agents(tmp_path: Path) -> None:
    with demo_at_a_terminal(tmp_path, tmp_path / "data", "deployer", "--time-limit", "1s") as running:
        running.until("Ask a first question from another terminal", r"handraise ready at http://\S+")
        url = running.until(r"All agents are done", r"The server keeps running at (http://\S+) until you press Ctrl-C")[
            1
        ]
        served = _is_served(url)
        code = running.interrupt()

    assert served
    assert not _is_served(url)
    assert code == 130
    assert "\x1b[36mdeployer │ \x1b[0m" in "".join(running.lines)
    assert running.errors == ""


def test_where_the_server_cannot_start_there_is_no_demo(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        (tmp_path / "handraise.toml").write_text(f'data_dir = "here"\nport = {taken.getsockname()[1]}\n')
        done = subprocess.run(
            [sys.executable, "-m", "demo"],
            cwd=tmp_path,
            env=_environment(),
            capture_output=True,
            text=True,
            timeout=_HANG_SECONDS,
            check=False,
        )

    assert (done.returncode, done.stdout) == (1, "The server did not start, so there is no demo.\n")
    assert done.stderr.startswith("Cannot listen on 127.0.0.1:")
    assert (tmp_path / "here").is_dir()


def test_an_agent_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "demo", "painter"],
        cwd=tmp_path,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=_HANG_SECONDS,
        check=False,
    )

    assert done.returncode == 2
    assert "there is no painter; the agents are deployer, planner, migrator" in done.stderr
