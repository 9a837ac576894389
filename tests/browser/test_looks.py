"""How pages look: to people who see, hear, press or read differently, on a phone, in the dark, without scripts."""

from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looks import too_small, too_wide
from tests.browser.people import House, login_path, path_of
from tests.scenario.talk import CHOICE, ONE_SECOND, Json, answer, comment, ok, settled
from tests.support.axe import serious_problems
from tests.support.thoroughness import shortly
from tests.support.visits import DARK, PHONE, WITHOUT_SCRIPTS, Visits

#: WCAG 2.2, success criterion 2.5.8
_LEAST_HIGH = 24
_DIFF = "--- a/shop.yml\n+++ b/shop.yml\n@@ -1,3 +1,3 @@\n api:\n-  replicas: 3\n+  replicas: 5\n   image: shop\n"
_FORM: Json = {
    "type": "object",
    "required": ["company", "plan"],
    "properties": {
        "company": {"type": "string", "title": "Company", "description": "As on the invoice"},
        "mail": {"type": "string", "format": "email"},
        "about": {"type": "string", "maxLength": 1000},
        "seats": {"type": "integer", "minimum": 1, "default": 25},
        "plan": {"type": "string", "enum": ["team", "business"]},
        "size": {"type": "string", "enum": ["a", "b", "c", "d", "e", "f"]},
        "regions": {"type": "array", "items": {"enum": ["eu", "us"]}},
        "trial": {"type": "boolean", "title": "Start with a trial?"},
    },
}
_SIDES: Json = {
    "options": [
        {"label": "PostgreSQL", "description": "A server", "pros": ["fast"], "cons": ["to run"], "recommended": True},
        {"label": "SQLite", "implications": "One writer", "pros": ["nothing to run"]},
    ],
    "allowFreeText": True,
}


@dataclass
class Scene:
    """A server with something of everything on it, and where each page is."""

    pages: dict[str, str]


@pytest.fixture(scope="module")
def scene(house: House) -> Scene:
    ask = house.ask
    risky = {"tool": "deploy", "arguments": {"to": {"region": "eu", "steps": [5, 100]}}, "risk": "high"}
    approval = ask(
        question="Deploy?", type="approval", action=risky | {"diff": _DIFF, "editable": True}, urgency="high", job="r"
    )
    sides, form = ask(question="Which?", **_SIDES, projectId="shop"), ask(question="Set up Acme", schema=_FORM)
    several = ask(CHOICE, responseType="multi_choice")
    plain, number, yes = ask(responseType="text"), ask(responseType="number"), ask(responseType="boolean")
    error = ask(question="Retry?", type="error_recovery", options=["Retry", "Skip"], context={"errorDetails": "E: no"})
    ok(comment(house.admin, plain["id"], "For which service?"))
    done = ask(CHOICE, question="Settled?")
    answer(house.admin, done["id"], "pg", text="because")
    over = ask(question="Too late?", timeoutMinutes=ONE_SECOND)
    settled(house.agent, over["id"])
    simple = [ask(question=f"Delete {n}?", type="approval", action={"tool": "rm", "arguments": {}}) for n in (1, 2)]
    picks = "&".join(f"id={each['id']}" for each in (*simple, approval))
    asked = {"approval": approval, "choice": sides, "form": form, "several": several, "asked back": plain}
    asked |= {"number": number, "yes or no": yes, "error": error, "settled": done, "expired": over}
    return Scene(
        {name: path_of(question) for name, question in asked.items()}
        | {"inbox": "/", "nothing found": "/?words=nothing+at+all", "together": f"/batch?{picks}"}
        | {"history": "/history", "jobs": "/jobs", "job": "/jobs/r", "reference": "/docs", "missing": "/q/q_nothing"}
        | {"refused": "/batch", "settings": "/settings", "people": "/settings/people", "rules": "/settings/rules"}
        | {"person": "/settings/people/p_admin", "policy": "/settings/policy", "agents": "/settings/agents"}
        | {"webhooks": "/settings/webhooks"}
    )


SIGNED_IN = (
    *("approval", "choice", "form", "several", "asked back", "number", "yes or no", "error", "settled", "expired"),
    *("inbox", "nothing found", "together", "history", "jobs", "job", "reference", "missing", "refused"),
    *("settings", "people", "rules", "person", "policy", "agents", "webhooks"),
)

_IN_EVERY_RUN = [
    SIGNED_IN.index(name) for name in ("approval", "form", "settled", "inbox", "together", "job", "policy")
]


def is_in_order(page: Page) -> None:
    assert serious_problems(page) == []
    assert too_wide(page) == []
    assert too_small(page, _LEAST_HIGH) == []


# First, as long as nobody has asked anything.
@pytest.mark.parametrize("options", shortly([{}, DARK, PHONE], keep=[0]), ids=["light", "dark", "phone"])
def test_an_empty_inbox_is_in_order(house: House, visits: Visits, options: dict[str, Any]) -> None:
    page = house.page(visits, "Admin", "/", **options)

    expect(page.get_by_role("heading", name="No agent is waiting for you")).to_be_visible()
    is_in_order(page)


@pytest.mark.parametrize("name", shortly(SIGNED_IN, keep=_IN_EVERY_RUN))
def test_everybody_can_use_every_page_in_light_in_the_dark_and_on_a_phone(
    house: House, visits: Visits, scene: Scene, name: str
) -> None:
    visits.allow("404|422")
    wide = house.page(visits, "Admin", scene.pages[name])
    phone = house.page(visits, "Admin", scene.pages[name], **PHONE, **DARK)

    is_in_order(wide)
    wide.emulate_media(color_scheme="dark")
    assert serious_problems(wide) == []
    is_in_order(phone)


@pytest.mark.parametrize("path", shortly(["/login", "LINK", "/login?left=1", "/login/cut-short", "/docs"], keep=[0, 1]))
def test_so_can_whoever_is_not_signed_in(house: House, visits: Visits, path: str) -> None:
    visits.allow("410")
    address = login_path(house.server, "Dana") if path == "LINK" else path
    for options in ({}, DARK, PHONE):
        page = visits.page(**options)
        page.goto(address)
        is_in_order(page)


def test_the_menu_the_list_of_keys_and_the_bar_are_in_order_when_they_are_open(
    house: House, visits: Visits, scene: Scene
) -> None:
    page = house.page(visits, "Admin", scene.pages["inbox"])
    page.get_by_label("Select this question").first.check()
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.locator(".menu summary").click()
    is_in_order(page)

    page.get_by_role("button", name="Keys").click()

    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    is_in_order(page)


def test_without_scripts_pages_are_there_and_answers_are_taken(house: House, visits: Visits, scene: Scene) -> None:
    page = house.page(visits, "Admin", **WITHOUT_SCRIPTS)
    for name in ("inbox", "together", "history", "job", "settings", "people", "policy", "agents", "webhooks"):
        page.goto(scene.pages[name])
        expect(page.locator("h1")).to_be_visible()

    question = house.ask(_SIDES, question="Without scripts?")
    page.goto(path_of(question))
    page.get_by_label("SQLite").check()
    page.get_by_role("button", name="Send answer").click()

    expect(page.locator("#outcome")).to_contain_text("answered “SQLite”")
