"""Forms and edited arguments: what was typed arrives with the types that were asked for, or is told not to fit."""

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.hands import Hand, Keyboard, Mouse
from tests.browser.people import House, path_of
from tests.scenario.talk import Json
from tests.support.thoroughness import shortly
from tests.support.visits import WITHOUT_SCRIPTS, Visits

REGIONS: Json = {"type": "string", "title": "Region", "enum": ["eu", "us", "ap", "af", "me", "sa"]}
TEAMS: Json = {"type": "array", "title": "Teams", "items": {"enum": ["red", "green", "blue"]}, "minItems": 1}
FORM: Json = {
    "question": "What about the customer?",
    "responseType": "form",
    "schema": {
        "type": "object",
        "required": ["name", "mail", "teams"],
        "properties": {
            "name": {"type": "string", "title": "Full name"},
            "mail": {"type": "string", "title": "Mail", "format": "email"},
            "start": {"type": "string", "title": "First day", "format": "date"},
            "call": {"type": "string", "title": "Call them at", "format": "date-time"},
            "seats": {"type": "integer", "title": "Seats", "minimum": 1, "maximum": 500},
            "share": {"type": "number", "title": "Share"},
            "trial": {"type": "boolean", "title": "On trial"},
            "plan": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
            "region": REGIONS,
            "teams": TEAMS,
            "note": {"type": "string", "title": "Remarks", "maxLength": 2000},
        },
    },
}
EVERYTHING: Json = {
    "name": "Zoë “Z” <b>",
    "mail": "zoe@example.org",
    "start": "2026-08-31",
    "call": "2026-08-31T09:00:00Z",
    "seats": 25,
    "share": 0.5,
    "trial": False,
    "plan": "l",
    "region": "ap",
    "teams": ["red", "blue"],
    "note": "one\ntwo",
}
ARGUMENTS: Json = {"region": "eu", "replicas": 3}


def editable(house: House, arguments: Json) -> Json:
    return house.approval(arguments=arguments, editable=True)


def told(house: House, question: Json) -> Json:
    response: Json = house.waits(question).outcome()["response"]
    return response


def exactly(value: Json) -> str:
    """As JSON has it: in Python 1, 1.0 and True are equal."""
    return json.dumps(value, sort_keys=True)


def fill_in(hand: Mouse) -> None:
    hand.write("Full name", "Zoë “Z” <b>")
    hand.write("Mail", "zoe@example.org")
    hand.write("First day", "2026-08-31")
    hand.write("Call them at", "2026-08-31T09:00:00Z")
    hand.write("Seats", "25")
    hand.write("Share", "0.5")
    hand.tick("On trial: No")
    hand.tick("plan: Large")
    hand.choose("Region", "ap")
    hand.tick("Teams: red")
    hand.tick("Teams: blue")
    hand.write("Remarks", "one\ntwo")


@pytest.mark.parametrize(
    ("hand", "options"),
    shortly([(Mouse, {}), (Keyboard, {}), (Keyboard, WITHOUT_SCRIPTS)], keep=[0, 1]),
    ids=["mouse", "keyboard", "plain"],
)
def test_each_field_of_a_form_arrives_with_its_type(
    house: House, visits: Visits, hand: Hand, options: dict[str, Any]
) -> None:
    question = house.ask(FORM)
    page = house.page(visits, "Dana", path_of(question), **options)

    fill_in(hand(page, page.locator("#answer")))
    hand(page, page.locator("#answer")).press("Send answer")

    assert exactly(told(house, question)) == exactly({"type": "form", "value": EVERYTHING})


@pytest.mark.soak
def test_what_is_left_empty_is_left_out_and_defaults_are_there_already(house: House, visits: Visits) -> None:
    fields: Json = {
        "name": {"type": "string"},
        "seats": {"type": "integer", "default": 3},
        "trial": {"type": "boolean", "default": False},
        "size": {"type": "string", "enum": ["s", "l"], "default": "l"},
        "teams": TEAMS | {"minItems": 0, "default": ["green"]},
        "plan": {"type": "string", "enum": ["a", "b"]},
    }
    question = house.ask(FORM | {"schema": {"type": "object", "properties": fields}})
    page = house.page(visits, "Dana", path_of(question))

    page.get_by_role("button", name="Send answer").click()

    told_value = told(house, question)["value"]
    assert exactly(told_value) == exactly({"seats": 3, "trial": False, "size": "l", "teams": ["green"]})


@pytest.mark.soak
@pytest.mark.parametrize(
    ("label", "wrong", "right", "said"),
    [
        ("Mail", "zoe", "zoe@example.org", "'@'"),
        ("Seats", "501", "25", "less than or equal to 500"),
        ("Seats", "2.5", "25", "valid value"),
        ("Full name", "", "Zoë “Z” <b>", "fill out this field"),
    ],
)
def test_the_browser_says_what_does_not_fit_before_anything_is_sent(
    house: House, visits: Visits, label: str, wrong: str, right: str, said: str
) -> None:
    question = house.ask(FORM)
    page = house.page(visits, "Dana", path_of(question))
    hand = Mouse(page, page.locator("#answer"))
    fill_in(hand)
    hand.write(label, wrong)

    hand.press("Send answer")

    field = page.get_by_label(label)
    expect(field).to_be_focused()
    assert said in field.evaluate("field => field.validationMessage")
    assert house.look(question)["status"] == "pending"
    hand.write(label, right)
    hand.press("Send answer")
    assert told(house, question)["value"] == EVERYTHING


@pytest.mark.parametrize("options", shortly([{}, WITHOUT_SCRIPTS], keep=[0]), ids=["with scripts", "without scripts"])
def test_what_only_the_server_finds_is_said_and_everything_typed_stays(
    house: House, visits: Visits, options: dict[str, Any]
) -> None:
    visits.allow("status of 422")
    question = house.ask(FORM)
    page = house.page(visits, "Dana", path_of(question), **options)
    hand = Keyboard(page, page.locator("#answer"))
    fill_in(hand)
    hand.write("Call them at", "tomorrow")

    hand.press("Send answer")
    expect(page.get_by_role("alert")).to_have_text("“call” must be a valid date-time.")
    expect(page.get_by_label("Call them at")).to_have_value("tomorrow")
    hand.write("Call them at", "2026-08-31T09:00:00Z")
    hand.tick("Teams: red")
    hand.tick("Teams: blue")
    hand.press("Send answer")
    expect(page.get_by_role("alert")).to_have_text("“teams” must have at least 1 entries.")
    hand.tick("Teams: red")
    hand.tick("Teams: blue")
    hand.press("Send answer")

    assert told(house, question)["value"] == EVERYTHING


@pytest.mark.soak
def test_unticking_what_was_ticked_by_default_stays_when_something_else_does_not_fit(
    house: House, visits: Visits
) -> None:
    visits.allow("status of 422")
    fields: Json = {
        "teams": TEAMS | {"minItems": 0, "default": ["green"]},
        "call": {"type": "string", "format": "date-time"},
    }
    question = house.ask(FORM | {"schema": {"type": "object", "properties": fields}})
    page = house.page(visits, "Dana", path_of(question), **WITHOUT_SCRIPTS)
    page.get_by_label("green").uncheck()
    page.get_by_label("call").fill("soon")

    page.get_by_role("button", name="Send answer").click()

    expect(page.get_by_role("alert")).to_have_text("“call” must be a valid date-time.")
    expect(page.get_by_label("green")).not_to_be_checked()


@pytest.mark.parametrize(
    ("typed", "said", "options"),
    shortly(
        [
            ('{"region": "us",', "The edited arguments are not JSON: ", {}),
            ('{"region": "us",', "The edited arguments are not JSON: ", WITHOUT_SCRIPTS),
            ('["us"]', "The edited arguments are a JSON object, as the ones shown are.", {}),
            ('{"replicas": 1e999}', "The arguments hold a number beyond ±(2^53 - 1) or a broken character.", {}),
            (
                '{"region": "\\u0000"}',
                "A text in the edited arguments contains the character U+0000. Leave it out.",
                {},
            ),
            ('{"a": ' + "[" * 900 + "]" * 900 + "}", "The edited arguments nest deeper than 20 levels.", {}),
        ],
        keep=[0, 4],
    ),
    ids=["unfinished", "unfinished, without scripts", "no object", "too large", "invisible", "deep"],
)
def test_arguments_that_cannot_be_are_told_so_and_nothing_typed_is_lost(
    house: House, visits: Visits, typed: str, said: str, options: dict[str, Any]
) -> None:
    visits.allow("status of 422")
    question = editable(house, ARGUMENTS)
    page = house.page(visits, "Dana", path_of(question), **options)
    page.get_by_text("Edit the arguments").click()
    page.get_by_label("Arguments").fill(typed)
    page.get_by_label("Reason").fill("The other one is full.")

    page.get_by_role("button", name="Approve").click()

    expect(page.get_by_role("alert").filter(has_text=said)).to_be_visible()
    expect(page.get_by_label("Arguments")).to_have_value(typed)
    expect(page.get_by_label("Reason")).to_have_value("The other one is full.")
    assert house.look(question)["status"] == "pending"
    page.get_by_label("Arguments").fill('{"region": "us"}')
    page.get_by_role("button", name="Approve").click()
    reason = {"text": "The other one is full."}
    assert told(house, question) == {"type": "approval", "value": True, "arguments": {"region": "us"}} | reason


@pytest.mark.soak
def test_while_arguments_are_no_json_yet_the_page_says_so(house: House, visits: Visits) -> None:
    page = house.page(visits, "Dana", path_of(editable(house, ARGUMENTS)))
    page.get_by_text("Edit the arguments").click()
    warning = page.get_by_role("alert").filter(has_text="This is not JSON yet")

    page.get_by_label("Arguments").fill('{"region"')
    expect(warning).to_be_visible()
    page.get_by_label("Arguments").fill('{"region": "us"}')

    expect(warning).to_have_count(0)


@pytest.mark.parametrize(
    "arguments",
    shortly(
        [
            {"path": "a\u200bb\u202ec", "tab": "\t\n"},
            {"share": 1.0, "on": True},
            {"name": "Zoë 👩‍💻 </textarea><b>"},
            {},
        ],
        keep=[0],
    ),
    ids=["hidden", "numbers", "markup", "none"],
)
def test_arguments_that_were_looked_at_and_left_alone_are_approved_as_they_were(
    house: House, visits: Visits, arguments: Json
) -> None:
    question = editable(house, arguments)
    page = house.page(visits, "Dana", path_of(question))

    page.get_by_text("Edit the arguments").click()
    page.get_by_role("button", name="Approve").click()

    outcome = house.waits(question).outcome()
    assert outcome["response"] == {"type": "approval", "value": True}
    assert "decidedDigest" not in outcome


def test_an_edit_that_only_changes_a_type_counts(house: House, visits: Visits) -> None:
    question = editable(house, {"dry_run": 1})
    page = house.page(visits, "Dana", path_of(question))
    page.get_by_text("Edit the arguments").click()
    page.get_by_label("Arguments").fill('{"dry_run": true}')

    page.get_by_role("button", name="Approve").click()

    arguments = told(house, question)["arguments"]
    assert arguments["dry_run"] is True
