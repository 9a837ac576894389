"""`handraise doctor`: each thing that can be wrong is named, with what to do about it."""

import json
from typing import Any

import pytest

from .conftest import Terminal, write_credentials
from .questions import problem
from .stand_in import StandIn
from .test_failures import free_port


@pytest.fixture
def healthy(terminal: Terminal) -> Terminal:
    """A terminal whose data dir is as private as a server makes it."""
    (terminal.folder / ".handraise").chmod(0o700)
    return terminal


def problems(terminal: Terminal) -> dict[str, tuple[str, str]]:
    """What is wrong, by subject, as --json tells it; the exit code has to agree."""
    done = terminal.run("doctor", "--json")
    told: dict[str, Any] = json.loads(done.stdout)
    found = {each["subject"]: (each["what"], each["advice"]) for each in told["findings"] if each["advice"]}
    assert told["isWell"] is (not found)
    assert done.returncode == (1 if found else 0)
    return found


def test_where_all_is_well_every_line_says_ok(server: StandIn, healthy: Terminal) -> None:
    done = healthy.run("doctor")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"ok       address     {server.url}",
        f"ok       keys        from {healthy.folder}/.handraise/credentials.json",
        f"ok       data dir    {healthy.folder}/.handraise is private",
        "ok       server      ready",
        "ok       clock       agrees with the server's",
        "ok       version     client 0.1.0, server 0.1.0",
        "ok       agent key   works, may ask and read",
        "ok       person key  works, may read",
    ]


def test_a_problem_stands_out_with_its_remedy_below(server: StandIn, healthy: Terminal) -> None:
    (healthy.folder / ".handraise").chmod(0o755)

    done = healthy.run("doctor")

    assert done.returncode == 1
    folder = f"{healthy.folder}/.handraise"
    assert (
        f"PROBLEM  data dir    {folder} is open to other users (mode 755)\n         -> chmod 700 {folder}\n"
        in done.stdout
    )
    assert done.stdout.count("PROBLEM") == 1


def test_all_is_well_is_told_in_json_too(server: StandIn, healthy: Terminal) -> None:
    assert problems(healthy) == {}


def test_without_a_server_to_be_found_it_says_how_to_begin(bare_terminal: Terminal) -> None:
    assert "handraise-bot serve" in problems(bare_terminal)["keys"][1]


def test_a_server_that_is_away(bare_terminal: Terminal) -> None:
    bare_terminal.settings = {"HANDRAISE_URL": f"http://127.0.0.1:{free_port()}", "HANDRAISE_API_KEY": "hr_agent"}

    [(subject, (what, advice))] = problems(bare_terminal).items()

    assert subject == "server"
    assert "cannot be reached" in what
    assert "start it with handraise-bot serve, or correct HANDRAISE_URL" in advice


def test_a_server_that_is_not_ready_says_why(server: StandIn, healthy: Terminal) -> None:
    server.is_ready = False

    assert problems(healthy) == {"server": ("not ready: slack is away", "run handraise-bot check on its machine")}


@pytest.mark.parametrize("reply", [(404, "<html>"), (503, "<html>"), (302, "")])
def test_something_that_is_no_handraise_server(server: StandIn, healthy: Terminal, reply: tuple[int, object]) -> None:
    server.fail_next("/readyz", reply)

    assert problems(healthy)["server"] == (f"answers {reply[0]}", "is this the address of a handraise server?")


def test_a_key_that_the_server_does_not_know(server: StandIn, bare_terminal: Terminal) -> None:
    bare_terminal.settings = {"HANDRAISE_URL": server.url, "HANDRAISE_API_KEY": "hr_wrong"}

    [(subject, (what, advice))] = problems(bare_terminal).items()

    assert (subject, what) == ("agent key", "the server does not know it")
    assert "handraise-bot keys create" in advice


def test_a_key_that_may_not_ask(server: StandIn, bare_terminal: Terminal) -> None:
    bare_terminal.settings = {"HANDRAISE_URL": server.url, "HANDRAISE_API_KEY": "hr_person"}

    what, advice = problems(bare_terminal)["agent key"]

    assert what == "lacks the scope ask"
    assert "--scope ask,read" in advice


def test_a_key_is_not_said_to_work_where_the_server_fails(server: StandIn, healthy: Terminal) -> None:
    server.fail_next("/api/webhooks", (500, problem(500, "Broken.")))

    assert problems(healthy) == {
        "agent key": ("cannot be checked: the server answers 500", "look at the server's log"),
    }


@pytest.mark.parametrize(("offset", "direction"), [(-3600.0, "ahead of"), (3600.0, "behind")])
def test_clocks_that_differ(server: StandIn, healthy: Terminal, offset: float, direction: str) -> None:
    server.clock_offset = offset

    what, advice = problems(healthy)["clock"]

    assert what.endswith(f"s {direction} the server's")
    assert 3500 < int(what.split()[0]) < 3700
    assert "NTP" in advice


@pytest.mark.parametrize(("version", "is_well"), [("0.1.9", True), ("0.2.0", False), ("1.1.0", False)])
def test_versions_that_do_not_belong_together(server: StandIn, healthy: Terminal, version: str, is_well: bool) -> None:
    server.version = version

    found = problems(healthy)

    assert found == {} if is_well else found["version"][0] == f"client 0.1.0, server {version}"


def test_a_credentials_file_that_others_can_read_is_no_source_of_keys(server: StandIn, bare_terminal: Terminal) -> None:
    write_credentials(bare_terminal.folder / ".handraise" / "credentials.json", server.url, mode=0o644)

    what, advice = problems(bare_terminal)["keys"]

    assert what == "none that can be used"
    assert "chmod 600" in advice
    assert server.requests == []


def test_no_escape_sequence_of_the_server_reaches_the_terminal(server: StandIn, healthy: Terminal) -> None:
    server.version = "\x1b[2J9.9"

    assert "\x1b" not in healthy.run("doctor").stdout
