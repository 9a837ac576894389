"""What axe-core finds wrong with a page for people who see, hear, point or read differently."""

from functools import cache
from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

_GRAVE = ("serious", "critical")
_OPTIONS = {"resultTypes": ["violations"], "preload": False}


def serious_problems(page: Page) -> list[str]:
    """One sentence for each element: the rule, where, and what would mend it.

    The script goes in through the debugger, which a content security policy does not bind; a script element would need
    `bypass_csp`, and then the page under test would no longer be the page that people get.
    """
    page.evaluate(_script())
    found: dict[str, Any] = page.evaluate("options => axe.run(document, options)", _OPTIONS)
    return [
        _sentence(violation, node)
        for violation in found["violations"]
        for node in violation["nodes"]
        if node["impact"] in _GRAVE
    ]


@cache
def _script() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def _sentence(violation: dict[str, Any], node: dict[str, Any]) -> str:
    where = " ".join(str(part) for part in node["target"])
    mend = " ".join(node["failureSummary"].split())
    return f"{violation['id']} ({node['impact']}) at {where}: {violation['help']}. {mend}"
