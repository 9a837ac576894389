"""The README keeps its word: its examples run, and its tables are complete."""

import re
from pathlib import Path

from handraise.cli.exit_codes import ExitCode

from .conftest import Terminal
from .questions import answering
from .stand_in import StandIn

README = (Path(__file__).parents[2] / "sdk" / "README.md").read_text(encoding="utf-8")


def block_after(heading: str) -> str:
    match = re.search(r"```\w*\n(.*?)```", README.split(f"## {heading}\n")[1], re.DOTALL)
    assert match is not None
    return match[1]


def test_the_shell_example_runs(server: StandIn, terminal: Terminal) -> None:
    (terminal.folder / "deploy").write_text('#!/bin/sh\necho "deployed to $1"\n')
    (terminal.folder / "deploy").chmod(0o755)
    server.when_polled(answering("SQLite"), answering(True))

    done = terminal.shell(f'{block_after("In the shell")}\necho "on $database"')

    assert done.stdout.splitlines() == ["approved", "deployed to prod", "on SQLite"]


def test_the_python_example_runs(server: StandIn, terminal: Terminal) -> None:
    server.when_polled(answering("SQLite"), answering(True))

    done = terminal.python("-c", block_after("In Python"))

    assert done.stdout.splitlines() == ["SQLite says Dana on slack", "deploying with {'env': 'prod'}"]


def test_every_exit_code_is_in_the_table() -> None:
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}

    assert listed == set(ExitCode)


def test_every_command_is_in_the_table(bare_terminal: Terminal) -> None:
    offered = bare_terminal.run("--help").stdout.split("Commands:\n")[1]

    assert set(re.findall(r"^\| `(\w+)", README, re.MULTILINE)) == set(re.findall(r"^  (\w+)", offered, re.MULTILINE))
