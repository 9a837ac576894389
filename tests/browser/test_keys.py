"""The keys do what their list says, and none of them decides anything by itself."""

import string
from collections.abc import Callable
from itertools import count

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import House, alone, card, path_of, wait_until_live
from tests.scenario.talk import CHOICE, Json
from tests.support.thoroughness import shortly
from tests.support.visits import Visits

TEXT: Json = {"question": "What is it called?", "responseType": "text"}
PLAIN: Json = {"question": "Is it ready?", "responseType": "boolean"}
APPROVAL: Json = {"question": "Deploy?", "type": "approval", "action": {"tool": "deploy", "arguments": {"to": "eu"}}}
EVERY_KEY = [*string.ascii_letters, *string.digits, *string.punctuation, "Enter", "Space", "Delete", "Backspace"]
EVERY_KEY += ["Home", "End", "PageDown", "ArrowDown", "ArrowRight", "Control+a", "Control+Enter", "Shift+Enter"]
_numbers = count(1)

Opens = Callable[..., Page]


@pytest.fixture
def opens(house: House, visits: Visits) -> Opens:
    """Dana's window, which follows what happens."""

    def open_it(path: str) -> Page:
        page = house.page(visits, "Dana", path)
        wait_until_live(page)
        return page

    return open_it


def three(house: House) -> tuple[str, list[Json]]:
    """An inbox with these only, in this order."""
    project = f"keys-{next(_numbers)}"
    return f"/?project={project}", [house.ask(APPROVAL, projectId=project, timeoutMinutes=n) for n in (10, 20, 30)]


def current(page: Page) -> str | None:
    """The question that the keys are about, which is the one that has the focus."""
    return page.locator(".question.current:focus").get_attribute("data-id")


def told(house: House, question: Json) -> Json:
    response: Json = house.waits(question).outcome()["response"]
    return response


def is_pending(house: House, question: Json) -> bool:
    return bool(house.look(question)["status"] == "pending")


def sent(page: Page) -> list[str]:
    """Everything that this page is about to send, from now on; reports of looking at it aside."""
    posts: list[str] = []
    page.on("request", lambda r: posts.append(r.url) if r.method != "GET" and not r.url.endswith("/looking") else None)
    return posts


def test_j_and_k_walk_the_cards_and_stop_at_the_ends(house: House, opens: Opens) -> None:
    path, questions = three(house)
    page = opens(path)

    walked = []
    for key in "kjjjkkk":
        page.keyboard.press(key)
        walked.append(current(page))

    assert walked == [questions[place]["id"] for place in (0, 1, 2, 2, 1, 0, 0)]


def test_enter_opens_the_card_and_u_goes_back_to_the_inbox(house: House, opens: Opens) -> None:
    path, questions = three(house)
    page = opens(path)

    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{house.server.url}{path_of(questions[1])}")
    page.keyboard.press("u")

    expect(page).to_have_url(f"{house.server.url}/")


@pytest.mark.parametrize(
    ("body", "value"), [(APPROVAL, True), (PLAIN, True), (CHOICE, "postgresql")], ids=["approval", "boolean", "choice"]
)
def test_a_goes_to_the_first_button_and_enter_presses_it(house: House, opens: Opens, body: Json, value: object) -> None:
    question = house.ask(body)
    page = opens(alone(question))
    posts = sent(page)

    page.keyboard.press("j")
    page.keyboard.press("a")
    first = card(page, question).get_by_role("button").first
    expect(first).to_be_focused()
    assert posts == []
    assert is_pending(house, question)
    page.keyboard.press("Enter")

    assert told(house, question)["value"] == value


@pytest.mark.soak
def test_a_goes_to_the_field_where_something_is_to_be_written(house: House, opens: Opens) -> None:
    question = house.ask(TEXT)
    page = opens(alone(question))

    page.keyboard.press("j")
    page.keyboard.press("a")
    page.keyboard.type("Ajax")
    page.keyboard.press("Enter")

    assert told(house, question)["value"] == "Ajax"


@pytest.mark.parametrize("on_its_page", shortly([False, True], keep=[0]))
def test_r_asks_why_and_enter_rejects(house: House, opens: Opens, on_its_page: bool) -> None:
    question = house.ask(APPROVAL)
    page = opens(path_of(question) if on_its_page else alone(question))
    posts = sent(page)

    page.keyboard.press("j")
    page.keyboard.press("r")
    expect(page.get_by_label("Reason")).to_be_focused()
    expect(page.get_by_label("Reason")).to_have_attribute("placeholder", "Why? Enter rejects")
    page.keyboard.type("not on a Friday, ask x/j")
    assert posts == []
    page.keyboard.press("Enter")

    assert told(house, question) == {"type": "approval", "value": False, "text": "not on a Friday, ask x/j"}


@pytest.mark.soak
def test_r_rejects_without_a_reason_too(house: House, opens: Opens) -> None:
    question = house.ask(APPROVAL)
    page = opens(alone(question))

    page.keyboard.press("j")
    page.keyboard.press("r")
    page.keyboard.press("Enter")

    assert told(house, question) == {"type": "approval", "value": False}


@pytest.mark.soak
def test_r_goes_to_no_where_there_is_no_reason_to_give(house: House, opens: Opens) -> None:
    question = house.ask(PLAIN)
    page = opens(alone(question))

    page.keyboard.press("j")
    page.keyboard.press("r")
    expect(card(page, question).get_by_role("button", name="No")).to_be_focused()
    assert is_pending(house, question)
    page.keyboard.press("Enter")

    assert told(house, question)["value"] is False


@pytest.mark.soak
def test_shift_enter_makes_a_new_line_in_the_reason(house: House, opens: Opens) -> None:
    question = house.ask(APPROVAL)
    page = opens(path_of(question))

    page.keyboard.press("r")
    page.keyboard.type("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    page.keyboard.press("Enter")

    assert told(house, question)["text"] == "one\ntwo"


@pytest.mark.parametrize("on_its_page", shortly([False, True], keep=[0]))
def test_enter_in_a_reason_decides_nothing_unless_r_was_pressed(house: House, opens: Opens, on_its_page: bool) -> None:
    question = house.ask(APPROVAL)
    page = opens(path_of(question) if on_its_page else alone(question))
    posts = sent(page)
    reason = page.get_by_label("Reason")

    reason.click()
    page.keyboard.type("fine")
    page.keyboard.press("Enter")
    page.locator("h1").click()
    page.keyboard.press("j")
    page.keyboard.press("r")
    page.keyboard.press("Escape")
    reason.click()
    page.keyboard.press("Control+End")
    page.keyboard.press("Enter")
    page.keyboard.type("by me")

    expect(reason).to_have_value("fine\n\nby me" if on_its_page else "fineby me")
    assert posts == []
    assert is_pending(house, question)


@pytest.mark.soak
def test_enter_that_ends_a_composed_word_does_not_reject(house: House, opens: Opens) -> None:
    question = house.ask(APPROVAL)
    page = opens(alone(question))
    posts = sent(page)
    page.keyboard.press("j")
    page.keyboard.press("r")

    page.get_by_label("Reason").dispatch_event("keydown", {"key": "Enter", "isComposing": True})

    page.keyboard.type("だめ")
    expect(page.get_by_label("Reason")).to_have_value("だめ")
    assert posts == []


def test_x_selects_and_unselects(house: House, opens: Opens) -> None:
    path, questions = three(house)
    page = opens(path)

    for key in "jxjx":
        page.keyboard.press(key)
    expect(page.locator("#batch-bar")).to_contain_text("2 selected")
    page.keyboard.press("x")

    expect(page.locator("#batch-bar")).to_contain_text("1 selected")
    expect(card(page, questions[0]).get_by_role("checkbox")).to_be_checked()


@pytest.mark.soak
def test_the_keys_go_on_after_a_box_was_ticked_by_hand(house: House, opens: Opens) -> None:
    path, questions = three(house)
    page = opens(path)

    card(page, questions[0]).get_by_role("checkbox").click()
    page.keyboard.press("j")
    page.keyboard.press("x")

    expect(page.locator("#batch-bar")).to_contain_text("2 selected")
    assert current(page) == questions[1]["id"]


def test_slash_goes_to_the_search(house: House, opens: Opens) -> None:
    path, questions = three(house)
    page = opens(path)

    page.keyboard.press("/")
    page.keyboard.type(questions[2]["id"])
    page.keyboard.press("Enter")

    expect(page.locator("#questions > .question")).to_have_count(1)
    expect(card(page, questions[2])).to_be_visible()


def test_a_question_mark_lists_every_key_and_no_key_works_behind_the_list(house: House, opens: Opens) -> None:
    path, questions = three(house)
    page = opens(path)
    page.keyboard.press("j")

    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    assert keys.locator("kbd").all_inner_texts() == ["j", "k", "Enter", "a", "r", "x", "/", "u", "?"]
    for key in ("j", "x", "a"):
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    expect(page.locator("#batch-bar")).to_be_hidden()
    assert current(page) == questions[0]["id"]
    page.get_by_role("button", name="? Keys").click()
    keys.get_by_role("button", name="Close").click()

    expect(keys).to_be_hidden()


@pytest.mark.parametrize("body", shortly([APPROVAL, PLAIN, CHOICE], keep=[0]), ids=["approval", "boolean", "choice"])
@pytest.mark.parametrize("on_its_page", [False, True])
def test_no_key_alone_decides_anything(house: House, opens: Opens, body: Json, on_its_page: bool) -> None:
    question = house.ask(body)
    page = opens(path_of(question) if on_its_page else alone(question))
    posts = sent(page)
    leaving = {"u"} if on_its_page else {"Enter", "Shift+Enter"}

    for key in EVERY_KEY:
        if key not in leaving:
            page.keyboard.press("j")
            page.keyboard.press(key)
            page.evaluate("document.querySelector('dialog[open]')?.close(), document.activeElement.blur()")

    assert posts == []
    assert is_pending(house, question)


def test_in_a_field_the_keys_are_letters(house: House, opens: Opens) -> None:
    path, questions = three(house)
    page = opens(path)
    reason = card(page, questions[1]).get_by_label("Reason")

    reason.click()
    page.keyboard.type("jkarxu/?jj")

    expect(reason).to_have_value("jkarxu/?jj")
    expect(reason).to_be_focused()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("#batch-bar")).to_be_hidden()
    page.keyboard.press("Escape")
    assert current(page) == questions[1]["id"]


@pytest.mark.soak
def test_with_control_held_the_keys_are_the_browsers(house: House, opens: Opens) -> None:
    path, _ = three(house)
    page = opens(path)
    page.keyboard.press("j")

    page.keyboard.press("Control+a")
    page.keyboard.press("Alt+x")
    page.keyboard.press("Meta+x")

    expect(page.locator("#batch-bar")).to_be_hidden()
    expect(page.locator("[data-first]:focus")).to_have_count(0)


@pytest.mark.soak
def test_the_current_card_stays_current_when_it_changes(house: House, opens: Opens) -> None:
    path, questions = three(house)
    page = opens(path)
    page.keyboard.press("j")
    page.keyboard.press("j")

    house.answers("Erik", questions[1], True)
    expect(card(page, questions[1])).to_contain_text("Erik (api) answered")
    assert current(page) == questions[1]["id"]
    page.keyboard.press("j")

    assert current(page) == questions[2]["id"]
