"""Every kind of answer, given by mouse and by keyboard alone, reaches the agent as exactly the value that was meant."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.hands import HANDS, Hand, Mouse
from tests.browser.people import House, card, path_of, wait_until_live
from tests.scenario.talk import CHOICE, Json
from tests.support.visits import WITHOUT_SCRIPTS, Visits

#: What somebody does with their hands: a verb of `Mouse` and what it is done to.
Step = tuple[str, ...]
#: What is asked, what somebody does about it, and the response as the agent reads it.
Case = tuple[Json, list[Step], Json]

TEXT: Json = {"question": "What is it called?", "responseType": "text"}
FREE: Json = CHOICE | {"allowFreeText": True}
SEVERAL: Json = CHOICE | {"responseType": "multi_choice"}
SEVERAL_FREE: Json = SEVERAL | {"allowFreeText": True}
WHOLE_NUMBERS: Json = CHOICE | {"options": [{"label": "None", "value": 0}, {"label": "Half", "value": 0.5}]}
PLAIN: Json = {"question": "Is it ready?", "responseType": "boolean"}
OWN_LABELS: Json = PLAIN | {"options": [{"label": "Keep it", "value": False}, {"label": "Drop it", "value": True}]}
NUMBER: Json = {"question": "How many?", "responseType": "number"}
ARGUMENTS: Json = {"region": "eu", "replicas": 3}
APPROVAL: Json = {"question": "Deploy?", "type": "approval", "action": {"tool": "deploy", "arguments": ARGUMENTS}}
EDITABLE: Json = APPROVAL | {"action": {"tool": "deploy", "arguments": ARGUMENTS, "editable": True}}

SEND: Step = ("press", "Send answer")
EDIT: Step = ("unfold", "Edit the arguments")

ON_ITS_PAGE: dict[str, Case] = {
    "text": (
        *(TEXT, [("write", "Your answer", "two lines,\n“one” of <b>them</b>"), SEND]),
        {"value": "two lines,\n“one” of <b>them</b>"},
    ),
    "choice": (CHOICE, [("tick", "SQLite"), SEND], {"value": "lite"}),
    "choice of numbers": (WHOLE_NUMBERS, [("tick", "None"), SEND], {"value": 0}),
    "an option after something else": (
        *(FREE, [("write", "Something else", "DuckDB"), ("tick", "SQLite"), SEND]),
        {"value": "lite"},
    ),
    "something else": (FREE, [("write", "Something else", "DuckDB"), SEND], {"value": "DuckDB"}),
    "several": (
        *(SEVERAL, [("tick", "PostgreSQL"), ("tick", "SQLite"), SEND]),
        {"value": ["postgresql", "lite"]},
    ),
    "one of several": (SEVERAL, [("tick", "SQLite"), SEND], {"value": ["lite"]}),
    "several and something else": (
        *(SEVERAL_FREE, [("tick", "SQLite"), ("write", "Something else", "DuckDB"), SEND]),
        {"value": ["lite", "DuckDB"]},
    ),
    "something else, unticked again": (
        *(SEVERAL_FREE, [("write", "Something else", "DuckDB"), ("tick", "Something else"), ("tick", "SQLite"), SEND]),
        {"value": ["lite"]},
    ),
    "yes": (PLAIN, [("press", "Yes")], {"value": True}),
    "no, with a note": (
        *(PLAIN, [("write", "Note", "not yet"), ("press", "No")]),
        {"value": False, "text": "not yet"},
    ),
    "true under a name of its own": (OWN_LABELS, [("press", "Drop it")], {"value": True}),
    "false under a name of its own": (OWN_LABELS, [("press", "Keep it")], {"value": False}),
    "approve": (APPROVAL, [("press", "Approve")], {"value": True}),
    "reject with a reason": (
        *(APPROVAL, [("write", "Reason", "It is Friday."), ("press", "Reject")]),
        {"value": False, "text": "It is Friday."},
    ),
    "approve with other arguments": (
        *(EDITABLE, [EDIT, ("write", "Arguments", '{"region": "us", "replicas": 3.5}'), ("press", "Approve")]),
        {"value": True, "arguments": {"region": "us", "replicas": 3.5}},
    ),
    "approve as it was, after a look": (EDITABLE, [EDIT, ("press", "Approve")], {"value": True}),
    "reject what was edited": (
        *(EDITABLE, [EDIT, ("write", "Arguments", "{unfinished"), ("press", "Reject")]),
        {"value": False},
    ),
    "whole number": (NUMBER, [("write", "A number", "-42"), SEND], {"value": -42}),
    "fraction": (NUMBER, [("write", "A number", "0.125"), SEND], {"value": 0.125}),
}
ON_ITS_CARD: dict[str, Case] = {
    "text": (TEXT, [("write", "Your answer", "Gustav"), ("press", "Send")], {"value": "Gustav"}),
    "choice": (CHOICE, [("press", "SQLite")], {"value": "lite"}),
    "something else": (
        *(FREE, [("write", "Something else", "DuckDB"), ("press", "Send")]),
        {"value": "DuckDB"},
    ),
    "yes": (PLAIN, [("press", "Yes")], {"value": True}),
    "false under a name of its own": (OWN_LABELS, [("press", "Keep it")], {"value": False}),
    "approve": (APPROVAL, [("press", "Approve")], {"value": True}),
    "reject with a reason": (
        *(APPROVAL, [("write", "Reason", "It is Friday."), ("press", "Reject")]),
        {"value": False, "text": "It is Friday."},
    ),
    "whole number": (NUMBER, [("write", "A number", "7"), ("press", "Send")], {"value": 7}),
    "fraction": (NUMBER, [("write", "A number", "2.5"), ("press", "Send")], {"value": 2.5}),
}
WITHOUT_A_SCRIPT = ["text", "something else", "several and something else", "no, with a note", "reject with a reason"]
WITHOUT_A_SCRIPT += ["approve with other arguments", "approve as it was, after a look", "fraction"]
CARDS_WITHOUT_A_SCRIPT = ["something else", "yes", "approve", "whole number"]


def does(hand: Mouse, steps: list[Step]) -> None:
    for verb, *what in steps:
        getattr(hand, verb)(*what)


def exactly(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


def is_told(house: House, question: Json, response: Json) -> None:
    """The agent that waits hears exactly this, and from whom."""
    outcome = house.waits(question).outcome()
    by = outcome["decidedBy"]
    # as JSON has it: in Python 1, 1.0 and True are equal
    assert exactly(outcome["response"]) == exactly({"type": question["responseType"]} | response)
    assert (outcome["kind"], by["name"], by["surface"]) == ("answered", "Dana", "web")


# Several questions share a window, which saves loading the scripts for each.
@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("shape", ["text", "choice", "multi_choice", "boolean", "approval", "number"])
def test_every_shape_is_answered_on_its_page(house: House, visits: Visits, shape: str, hand: Hand) -> None:
    cases = [case for case in ON_ITS_PAGE.values() if case[0].get("responseType", "approval") == shape]
    page = house.page(visits, "Dana")

    for body, steps, response in cases:
        question = house.ask(body)
        page.goto(path_of(question))
        does(hand(page, page.locator("#answer")), steps)
        is_told(house, question, response)
        expect(page.locator("#outcome")).to_contain_text("Dana (web) answered")
        expect(page.get_by_role("heading", name="Closed")).to_be_visible()

    assert cases


@pytest.mark.parametrize("hand", HANDS)
def test_simple_shapes_are_answered_on_their_cards_one_after_another(house: House, visits: Visits, hand: Hand) -> None:
    project = f"cards for the {hand.__name__}"
    questions = {name: house.ask(body, projectId=project) for name, (body, _, _) in ON_ITS_CARD.items()}
    page = house.page(visits, "Dana", f"/?project={project}")
    wait_until_live(page)

    for name, question in questions.items():
        _, steps, response = ON_ITS_CARD[name]
        does(hand(page, card(page, question)), steps)
        is_told(house, question, response)
        expect(card(page, question)).to_contain_text("Dana (web) answered")
        expect(card(page, question).get_by_role("button")).to_have_count(0)


@pytest.mark.parametrize("hand", HANDS)
def test_every_shape_is_answered_on_its_page_without_scripts(house: House, visits: Visits, hand: Hand) -> None:
    page = house.page(visits, "Dana", **WITHOUT_SCRIPTS)

    for name in WITHOUT_A_SCRIPT:
        body, steps, response = ON_ITS_PAGE[name]
        question = house.ask(body)
        page.goto(path_of(question))
        if name.endswith("something else"):
            # a script would tick the box of what is written
            steps = [("tick", "Something else"), *steps]
        does(hand(page, page.locator("#answer")), steps)
        is_told(house, question, response)
        expect(page.locator("#outcome")).to_contain_text("Dana (web) answered")


def test_simple_shapes_are_answered_on_their_cards_without_scripts(house: House, visits: Visits) -> None:
    questions = {name: house.ask(ON_ITS_CARD[name][0], projectId="plain") for name in CARDS_WITHOUT_A_SCRIPT}
    page = house.page(visits, "Dana", **WITHOUT_SCRIPTS)

    for name, question in questions.items():
        _, steps, response = ON_ITS_CARD[name]
        page.goto("/?project=plain")
        does(Mouse(page, card(page, question)), steps)
        is_told(house, question, response)
        expect(page.locator("#outcome")).to_contain_text("Dana (web) answered")
