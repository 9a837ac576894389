"""What goes wrong, where it is said, and with which exit code."""

import json
import signal
import socket

import pytest

from .conftest import PATIENCE, Terminal, write_credentials
from .questions import problem
from .stand_in import StandIn


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def test_a_key_that_is_not_known_exits_77_and_names_its_source(server: StandIn, bare_terminal: Terminal) -> None:
    bare_terminal.settings = {"HANDRAISE_URL": server.url, "HANDRAISE_API_KEY": "hr_wrong"}

    done = bare_terminal.run("ask", "Which?", "--json")

    assert done.returncode == 77
    assert "not authorised with the key from HANDRAISE_API_KEY: This key is not known." in done.stderr
    assert json.loads(done.stdout)["code"] == "unauthorized"


def test_an_agents_key_may_not_answer(server: StandIn, bare_terminal: Terminal) -> None:
    server.add()
    bare_terminal.settings = {"HANDRAISE_URL": server.url, "HANDRAISE_API_KEY": "hr_agent"}

    done = bare_terminal.run("answer", "q_1", "pg")

    assert done.returncode == 77
    assert server.questions["q_1"]["status"] == "pending"


def test_a_server_that_is_away_exits_69(bare_terminal: Terminal) -> None:
    bare_terminal.settings = {"HANDRAISE_URL": f"http://127.0.0.1:{free_port()}", "HANDRAISE_API_KEY": "hr_x"}

    done = bare_terminal.run("status", "--json")

    assert done.returncode == 69
    assert "cannot be reached" in done.stderr
    assert json.loads(done.stdout)["code"] == "server_unreachable"


def test_no_server_known_exits_2_and_says_how_to_begin(bare_terminal: Terminal) -> None:
    done = bare_terminal.run("ask", "Which?", "--json")

    assert done.returncode == 2
    assert "handraise-bot serve" in done.stderr
    assert json.loads(done.stdout)["code"] == "usage"


def test_what_the_server_refuses_is_told_part_by_part(server: StandIn, terminal: Terminal) -> None:
    done = terminal.run("ask", "Which?", "--time-limit", "0", "--json")

    assert done.returncode == 2
    assert "The time limit is out of range.\n  /timeoutMinutes: must be at least 5 minutes\n" in done.stderr
    assert json.loads(done.stdout)["code"] == "time_limit_out_of_range"


@pytest.mark.parametrize(
    "reply", [(200, "<html>hello</html>"), (200, []), (200, {"id": "q_1", "status": "odd"}), (302, "")]
)
def test_something_that_is_not_a_handraise_server_exits_69(
    server: StandIn, terminal: Terminal, reply: tuple[int, object]
) -> None:
    server.fail_next("/q_1", reply)

    done = terminal.run("check", "q_1")

    assert (done.returncode, done.stdout) == (69, "")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["ask", "x", "--no-such-option", "--json"], ["no-such-command", "--json"]])
def test_misspelt_commands_under_json_print_one_problem(bare_terminal: Terminal, words: list[str]) -> None:
    done = bare_terminal.run(*words)

    assert done.returncode == 2
    assert json.loads(done.stdout)["code"] == "usage"
    assert "no-such" in done.stderr


def test_help_needs_no_server_and_lists_every_command(bare_terminal: Terminal) -> None:
    done = bare_terminal.run()

    assert done.returncode == 0
    for name in ("ask", "approve", "check", "questions", "answer", "cancel", "status", "comment"):
        assert f"  {name} " in done.stdout


def test_the_module_is_the_command(bare_terminal: Terminal) -> None:
    done = bare_terminal.python("-m", "handraise", "--version")

    assert (done.returncode, done.stdout.split()[0]) == (0, "handraise")


def test_a_credentials_file_of_a_folder_above_is_found(server: StandIn, bare_terminal: Terminal) -> None:
    write_credentials(bare_terminal.folder / ".handraise" / "credentials.json", server.url)
    bare_terminal.folder = bare_terminal.folder / "deep" / "down"
    bare_terminal.folder.mkdir(parents=True)

    assert bare_terminal.run("ask", "Which?", "--wait", "none").returncode == 75


def test_no_escape_sequence_of_the_server_reaches_stderr(server: StandIn, terminal: Terminal) -> None:
    server.fail_next("/q_1", (409, problem(409, "\x1b[2Jgone\u202e")))

    done = terminal.run("check", "q_1")

    assert "␛[2Jgone<U+202E>" in done.stderr
    assert "\x1b" not in done.stderr


def test_output_that_cannot_be_written_is_said_and_is_no_success(server: StandIn, terminal: Terminal) -> None:
    server.answer(server.add(responseType="approval"), True)

    done = terminal.shell("handraise check q_1 > /dev/full")

    assert done.returncode == 2
    assert done.stderr == "handraise: stdout or stderr cannot be written: No space left on device.\n"


@pytest.mark.parametrize(
    "words", [["status"], ["questions"], ["doctor"], ["progress", "build-17", "x"], ["answer", "q_1", "pg"]]
)
def test_ctrl_c_while_the_server_does_not_answer_is_no_traceback(bare_terminal: Terminal, words: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        command = bare_terminal.start("--url", address, "--api-key", "hr_x", *words)
        connection, _ = silent.accept()
        with connection:
            connection.recv(1)
            command.send_signal(signal.SIGINT)
            _, stderr = command.communicate(timeout=PATIENCE)

    assert command.returncode == 130
    assert "Traceback" not in stderr
