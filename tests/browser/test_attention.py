"""What calls for attention: the count, a dialog for what is urgent, notifications; and that an open inbox is known."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.people import House, card, path_of
from tests.browser.watching import Watching
from tests.scenario.talk import CHOICE, Json
from tests.support.visits import Visits

#: Writes down what the page asks the browser to show, and then has the browser show it.
LISTEN = """
window.shown = [];
const show = ServiceWorkerRegistration.prototype.showNotification;
ServiceWorkerRegistration.prototype.showNotification = function (title, options) {
    window.shown.push({ title, body: options.body, path: options.data.path, tag: options.tag });
    return show.call(this, title, options);
};
"""


@pytest.fixture
def opens(house: House, visits: Visits) -> Watching:
    return Watching(house, visits)


@pytest.fixture(scope="module")
def me(house: House) -> str:
    """Somebody to whom only these tests put anything."""
    return house.newcomer()


def urgent(house: House, to: str, **fields: Any) -> Json:
    return house.ask(CHOICE, to=to, urgency="urgent", **fields)


def dialog_of(page: Page, question: Json) -> Locator:
    return page.locator(f"dialog.urgent[data-id='{question['id']}']")


def to_the_background(page: Page) -> None:
    """Behind another tab. Playwright makes every page believe that it has the focus until it is told not to."""
    page.context.new_cdp_session(page).send("Emulation.setFocusEmulationEnabled", {"enabled": False})
    page.context.new_page().bring_to_front()
    assert page.evaluate("document.hasFocus()") is False


def test_title_and_badge_count_what_is_put_to_me_up_and_down(house: House, opens: Watching) -> None:
    name = house.newcomer()
    page = opens(name, "/?mine=1")
    expect(page).to_have_title("Inbox · handraise")
    expect(page.locator("#mine-count")).to_be_hidden()

    first = house.ask(CHOICE, to=name)
    other = house.ask(CHOICE, to="Erik")
    second = house.ask(CHOICE, to=name)
    for question in (first, second):
        expect(card(page, question).locator(".badge.mine")).to_have_text("for you")
    expect(page).to_have_title("(2) Inbox · handraise")
    for count in (page.locator("#mine-count"), page.locator(".tabs .count")):
        expect(count).to_have_text("2")
    expect(card(page, other)).to_have_count(0)
    page.get_by_role("link", name="Jobs").click()
    expect(page).to_have_title("(2) Jobs · handraise")
    house.answers("Erik", first, "pg")
    expect(page).to_have_title("(1) Jobs · handraise")
    expect(page.locator("#mine-count")).to_have_text("1")
    house.answers("Erik", second, "pg")

    expect(page).to_have_title("Jobs · handraise")
    expect(page.locator("#mine-count")).to_be_hidden()


def test_an_urgent_question_to_me_opens_a_dialog_and_is_answered_in_it(house: House, opens: Watching, me: str) -> None:
    page = opens(me, "/history")

    question = urgent(house, me)
    agent = house.waits(question)
    dialog = dialog_of(page, question)
    expect(dialog).to_contain_text("agent asks you now")
    expect(dialog.get_by_role("heading", name="Which database?")).to_be_focused()
    dialog.get_by_role("button", name="SQLite").click()

    outcome = agent.outcome()
    assert (outcome["decidedBy"]["name"], outcome["response"]["value"]) == (me, "lite")
    expect(page.locator("dialog.urgent")).to_have_count(0)
    expect(page.locator("#toasts")).to_contain_text(f"{me} (web) answered “SQLite”")


@pytest.mark.soak
def test_a_key_meant_for_the_page_decides_nothing_in_the_dialog(house: House, opens: Watching, me: str) -> None:
    page = opens(me, "/history")
    question = urgent(house, me)
    expect(dialog_of(page, question)).to_be_visible()

    for key in ("Enter", "Space", "a", "r", "j"):
        page.keyboard.press(key)
    page.keyboard.press("Escape")

    expect(page.locator("dialog.urgent")).to_have_count(0)
    assert house.look(question)["status"] == "pending"


def test_the_dialog_closes_when_somebody_else_answers_and_says_who(house: House, opens: Watching, me: str) -> None:
    page = opens(me, "/")
    question = urgent(house, me)
    expect(dialog_of(page, question)).to_be_visible()

    house.answers("Erik", question, "lite")

    expect(page.locator("dialog.urgent")).to_have_count(0)
    expect(page.locator("#toasts").get_by_role("link")).to_have_text(re.compile(r"^Erik \(api\) answered “SQLite” at"))


def test_no_dialog_opens_under_the_fingers_of_somebody_who_writes(house: House, opens: Watching, me: str) -> None:
    page = opens(me, "/?words=which")
    page.get_by_placeholder("Search questions").fill("data")

    question = urgent(house, me)
    called = page.locator("#toasts").get_by_role("link", name="agent asks you now: Which database?")
    expect(called).to_be_visible()
    page.keyboard.type("base")

    expect(page.get_by_placeholder("Search questions")).to_have_value("database")
    expect(page.locator("dialog.urgent")).to_have_count(0)
    called.click()
    expect(page).to_have_url(re.compile(path_of(question)))


@pytest.mark.soak
def test_a_call_that_somebody_else_has_answered_goes_away(house: House, opens: Watching, me: str) -> None:
    page = opens(me, "/?words=which")
    page.get_by_placeholder("Search questions").fill("data")
    question = urgent(house, me)
    called = page.locator("#toasts").get_by_role("link", name="agent asks you now")
    expect(called).to_be_visible()

    house.answers("Erik", question, "lite")

    expect(called).to_have_count(0)


@pytest.mark.soak
def test_a_second_urgent_question_does_not_push_the_first_away(house: House, opens: Watching, me: str) -> None:
    page = opens(me, "/jobs")
    first = urgent(house, me)
    expect(dialog_of(page, first)).to_be_visible()

    second = urgent(house, me, question="Which region?")

    expect(page.locator("#toasts")).to_contain_text("agent asks you now: Which region?")
    expect(dialog_of(page, first)).to_be_visible()
    expect(dialog_of(page, second)).to_have_count(0)


@pytest.mark.soak
def test_what_is_not_urgent_or_not_mine_opens_no_dialog(house: House, opens: Watching, me: str) -> None:
    page = opens(me, "/")
    page.evaluate(
        """() => {
            window.opened = [];
            new MutationObserver((changes) => {
                for (const node of changes.flatMap((change) => [...change.addedNodes]))
                    if (node.matches?.("dialog")) window.opened.push(node.dataset.id);
            }).observe(document.body, { childList: true });
        }"""
    )

    calm = house.ask(CHOICE, to=me, urgency="high")
    urgent(house, "Erik")
    expect(card(page, calm)).to_be_visible()
    last = urgent(house, me)

    expect(dialog_of(page, last)).to_be_visible()
    assert page.evaluate("window.opened") == [last["id"]]
    expect(page.locator(".toast")).to_have_count(0)


@pytest.mark.soak
def test_an_urgent_question_that_is_handed_to_me_opens_the_dialog(house: House, opens: Watching, me: str) -> None:
    page = opens(me, "/")
    question = urgent(house, "Erik")
    expect(card(page, question)).to_be_visible()

    handed = house.api("Erik").post(f"/api/questions/{question['id']}/reassign", json={"to": me})

    assert handed.status_code == 200, handed.text
    expect(dialog_of(page, question)).to_be_visible()


@pytest.mark.soak
def test_no_dialog_covers_the_page_of_the_question_itself(house: House, opens: Watching, me: str) -> None:
    question = urgent(house, "Erik")
    page = opens(me, path_of(question))

    house.api("Erik").post(f"/api/questions/{question['id']}/reassign", json={"to": me})

    expect(page.locator("#toasts")).to_contain_text("agent asks you now")
    expect(page.locator("#who")).to_contain_text(me)
    expect(page.locator("dialog.urgent")).to_have_count(0)


def test_notifications_are_up_to_each_and_come_while_the_page_is_in_the_background(
    house: House, opens: Watching, me: str
) -> None:
    page = opens(me, "/")
    page.context.grant_permissions(["notifications"])
    page.add_init_script(LISTEN)
    page.reload()
    button = page.locator("#notify")
    expect(button).to_have_text("Notify me")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    expect(button).to_have_text("Notifications on")
    expect(button).to_have_attribute("aria-pressed", "true")

    seen = house.ask(CHOICE, to=me, question="Before my eyes?")
    expect(card(page, seen)).to_be_visible()
    to_the_background(page)
    unseen = house.ask(CHOICE, to=me, question="Behind my back?")
    expect(card(page, unseen)).to_be_visible()

    assert page.evaluate("window.shown") == [
        {"title": "agent asks", "body": "Behind my back?", "path": path_of(unseen), "tag": unseen["id"]}
    ]


@pytest.mark.soak
def test_notifications_that_are_turned_off_do_not_come(house: House, opens: Watching, me: str) -> None:
    page = opens(me, "/", permissions=["notifications"])
    page.add_init_script(LISTEN)
    page.reload()
    button = page.locator("#notify")
    button.click()
    expect(button).to_have_text("Notifications on")
    button.click()
    expect(button).to_have_text("Notify me")

    to_the_background(page)
    question = house.ask(CHOICE, to=me)
    expect(card(page, question)).to_be_visible()

    assert page.evaluate("window.shown") == []
    page.reload()
    expect(button).to_have_text("Notify me")


@pytest.mark.soak
def test_where_the_browser_forbids_notifications_none_are_offered(opens: Watching, me: str) -> None:
    page = opens(me, "/")
    forbidden = {"permission": {"name": "notifications"}, "setting": "denied"}
    expect(page.locator("#notify")).to_have_text("Notify me")
    page.context.new_cdp_session(page).send("Browser.setPermission", forbidden)

    page.locator("#notify").click()

    expect(page.locator("#notify")).to_be_hidden()
    page.reload()
    expect(page.locator("#show-keys")).to_be_visible()
    expect(page.locator("#notify")).to_be_hidden()


def test_whoever_answered_for_a_job_hears_when_it_ends(house: House, opens: Watching, me: str) -> None:
    helped, other = opens("Erik", "/history"), opens(me, "/jobs")
    question = house.ask(CHOICE, job="release/1.4")
    house.answers("Erik", question, "pg")

    house.agent.patch("/api/jobs/release/1.4", json={"status": "completed"})

    notice = helped.locator("#toasts").get_by_role("link", name="Job release/1.4 is completed. You answered for it.")
    expect(notice).to_be_visible()
    assert other.locator(".toast").count() == 0
    notice.click()
    expect(helped.get_by_role("heading", name="release/1.4")).to_be_visible()


def test_an_inbox_before_somebodys_eyes_is_reported_again_and_again(house: House, visits: Visits, me: str) -> None:
    page = house.page(visits, me)
    page.clock.install()

    with page.expect_response("**/looking") as opened:
        page.goto("/")
    with page.expect_response("**/looking") as later:
        page.clock.run_for(26_000)

    assert (opened.value.status, later.value.status) == (200, 200)
