"""What `import handraise` costs and brings along."""

import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from .conftest import Terminal

SDK = Path(__file__).parents[2] / "sdk"

# What only the command, a receipt, an event loop or the server needs; how long the import takes is for bench/imports.
_NOT_NEEDED = (
    "rich", "typer", "cryptography", "pydantic", "asyncio", "anyio", "concurrent.futures", "sqlite3",
    "handraise.cli", "handraise.receipts", "bot", "core", "adapters",
)  # fmt: skip


@pytest.mark.parametrize("module", ["handraise", "handraise.webhooks"])
def test_importing_it_imports_nothing_that_is_not_needed_yet(bare_terminal: Terminal, module: str) -> None:
    program = f"import sys, {module}; print(*(name for name in {_NOT_NEEDED} if name in sys.modules))"

    done = bare_terminal.python("-c", program)

    assert (done.stdout, done.stderr) == ("\n", "")


def test_the_command_starts_without_what_only_terminals_and_receipts_need(bare_terminal: Terminal) -> None:
    program = (
        "import sys, handraise.cli; "
        "print(*(name for name in ('rich', 'cryptography', 'handraise.receipts') if name in sys.modules))"
    )

    assert bare_terminal.python("-c", program).stdout == "\n"


def test_its_types_ship_with_it() -> None:
    settings = tomllib.loads((SDK / "pyproject.toml").read_text())

    assert (files("handraise") / "py.typed").is_file()
    assert "py.typed" in settings["tool"]["setuptools"]["package-data"]["handraise"]
