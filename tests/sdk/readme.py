"""The code in sdk/README.md, for the tests that run it."""

import re
from pathlib import Path

README = (Path(__file__).parents[2] / "sdk" / "README.md").read_text(encoding="utf-8")

# The sections that hold a block of Python each; a test runs every one of them.
PYTHON_SECTIONS = ("In Python", "A whole agent", "In an event loop", "Events", "Webhooks", "Receipts")


def section(heading: str) -> str:
    found = re.search(rf"^##+ {heading}\n(.*?)(?=^##|\Z)", README, re.DOTALL | re.MULTILINE)
    assert found is not None, heading
    return found[1]


def code_in(heading: str) -> str:
    """The first block of code in the section."""
    found = re.search(r"^```\w*\n(.*?)^```$", section(heading), re.DOTALL | re.MULTILINE)
    assert found is not None, heading
    return found[1]


def defined_by(heading: str) -> dict[str, object]:
    """The names that the section's block defines, once it has run."""
    names: dict[str, object] = {}
    exec(compile(code_in(heading), f"README: {heading}", "exec"), names)  # noqa: S102 -- it is our own
    return names
