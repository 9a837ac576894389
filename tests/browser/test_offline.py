"""An answer given without a connection is kept in the browser; back online it is sent, once, or said to be too late."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.people import House, alone, card, path_of
from tests.browser.watching import Watching, marked, new_project
from tests.scenario.talk import CHOICE, ONE_SECOND, Json, happened
from tests.support.visits import Visits

SENT = "The answer you gave offline was sent. Noor (web) answered “SQLite”"
KEPT = "You are offline. Your answer is kept here and sent when the connection is back."


@pytest.fixture
def opens(house: House, visits: Visits) -> Watching:
    return Watching(house, visits)


def press(page: Page, question: Json, label: str) -> None:
    card(page, question).get_by_role("button", name=label).click()


def kept(page: Page) -> Locator:
    return page.locator(".said", has_text=KEPT)


def tab(beside: Page, path: str) -> Page:
    page = beside.context.new_page()
    page.goto(path)
    return marked(page)


def test_an_answer_given_offline_is_sent_by_itself_once_the_connection_is_back(
    house: House, visits: Visits, opens: Watching
) -> None:
    question = house.ask(CHOICE)
    agent = house.waits(question)
    page = opens("Noor", alone(question))

    with visits.offline(page.context):
        press(page, question, "SQLite")
        expect(kept(page)).to_be_visible()
        assert house.look(question)["status"] == "pending"

    outcome = agent.outcome()
    assert (outcome["response"]["value"], outcome["decidedBy"]["name"]) == ("lite", "Noor")
    expect(page.locator("#toasts")).to_contain_text(
        "The answer you gave offline was sent. Noor (web) answered “SQLite”"
    )
    expect(card(page, question).get_by_role("button")).to_have_count(0)


@pytest.mark.soak
def test_of_several_answers_given_offline_to_one_question_the_last_counts_and_only_it(
    house: House, visits: Visits, opens: Watching
) -> None:
    question = house.ask(CHOICE)
    agent = house.waits(question)
    page = opens("Noor", alone(question))

    with visits.offline(page.context):
        press(page, question, "PostgreSQL")
        expect(kept(page)).to_be_visible()
        press(page, question, "SQLite")
        expect(kept(page)).to_be_visible()

    assert agent.outcome()["response"]["value"] == "lite"
    assert happened(house.agent, question["id"]).count("question.answered") == 1
    expect(page.locator(".toast", has_text="came too late")).to_have_count(0)


@pytest.mark.soak
def test_it_is_sent_once_though_several_tabs_know_of_it(house: House, visits: Visits, opens: Watching) -> None:
    question = house.ask(CHOICE)
    agent = house.waits(question)
    page = opens("Noor", alone(question))
    others = [tab(page, "/jobs"), tab(page, path_of(question))]

    with visits.offline(page.context):
        press(page, question, "SQLite")
        expect(kept(page)).to_be_visible()

    assert agent.outcome()["response"]["value"] == "lite"
    expect(others[1].locator("#outcome")).to_contain_text("Noor (web) answered “SQLite”")
    tab(page, "/history")
    assert happened(house.agent, question["id"]).count("question.answered") == 1
    for each in (page, *others):
        expect(each.locator(".toast", has_text="came too late")).to_have_count(0)


@pytest.mark.soak
def test_it_outlives_its_tab(house: House, visits: Visits, opens: Watching) -> None:
    question = house.ask(CHOICE)
    page = opens("Noor", path_of(question))
    with visits.offline(page.context):
        page.get_by_role("radio", name="SQLite").check()
        page.get_by_role("button", name="Send answer").click()
        expect(kept(page)).to_be_visible()
        page.close()
    assert house.look(question)["status"] == "pending"

    other = page.context.new_page()
    other.goto("/jobs")

    expect(other.locator("#toasts")).to_contain_text(
        "The answer you gave offline was sent. Noor (web) answered “SQLite”"
    )
    assert house.look(question)["outcome"]["response"]["value"] == "lite"


def test_who_was_too_late_is_told_who_won(house: House, visits: Visits, opens: Watching) -> None:
    visits.allow("status of 409")
    question = house.ask(CHOICE)
    page = opens("Noor", path_of(question))

    with visits.offline(page.context):
        page.get_by_role("radio", name="SQLite").check()
        page.get_by_role("button", name="Send answer").click()
        expect(kept(page)).to_be_visible()
        house.answers("Erik", question, "pg")

    told = page.locator("#toasts").get_by_role("link")
    expect(told).to_contain_text("The answer you gave offline came too late")
    expect(told).to_contain_text("Erik (api) answered “PostgreSQL”")
    expect(page.locator("#outcome")).to_contain_text("Erik (api) answered “PostgreSQL”")
    assert house.look(question)["outcome"]["response"]["value"] == "postgresql"
    page.reload()
    expect(page.locator(".toast")).to_have_count(0)


def test_whose_time_was_over_is_told_and_may_send_it_late(house: House, visits: Visits, opens: Watching) -> None:
    visits.allow("status of 409")
    page = opens("Noor", f"/?project={(project := new_project())}")
    question = house.ask(CHOICE, projectId=project, timeoutMinutes=4 * ONE_SECOND)
    expect(card(page, question)).to_be_visible()

    with visits.offline(page.context):
        press(page, question, "SQLite")
        expect(kept(page)).to_be_visible()
        house.waits(question).outcome()

    told = page.locator("#toasts").get_by_role("link", name="The answer you gave offline came too late")
    expect(told).to_contain_text("Nobody answered by")
    told.click()
    page.get_by_role("radio", name="SQLite").check()
    page.get_by_role("button", name="Send as a late answer").click()
    expect(page.locator("#outcome")).to_contain_text("Late answer of Noor")
    assert [late["response"]["value"] for late in house.look(question)["lateAnswers"]] == ["lite"]


def test_what_one_kept_is_never_sent_as_somebody_else_and_waits_for_its_owner(
    house: House, visits: Visits, opens: Watching
) -> None:
    question = house.ask(CHOICE)
    page = opens("Noor", alone(question))
    with visits.offline(page.context):
        press(page, question, "SQLite")
        expect(kept(page)).to_be_visible()
        page.close()
    sent: list[str] = []
    page.context.on("request", lambda request: sent.append(request.url) if request.url.endswith("/answer") else None)

    house.sign_in(page.context, "Erik")
    eriks = tab(page, alone(question))
    expect(card(eriks, question).get_by_role("button", name="SQLite")).to_be_enabled()
    expect(card(eriks, question).locator(".said")).to_be_hidden()
    eriks.close()
    before = (list(sent), house.look(question)["status"])
    house.sign_in(page.context, "Noor")
    noors = tab(page, "/jobs")

    expect(noors.locator("#toasts")).to_contain_text("The answer you gave offline was sent.")
    assert before == ([], "pending")
    assert house.look(question)["outcome"]["decidedBy"]["name"] == "Noor"


@pytest.mark.soak
def test_a_page_that_is_still_open_sends_nothing_as_whoever_has_signed_in_since(
    house: House, visits: Visits, opens: Watching
) -> None:
    visits.allow("status of 403")
    question = house.ask(CHOICE)
    page = opens("Noor", alone(question))
    with page.expect_response("**/answer") as refused, visits.offline(page.context):
        press(page, question, "SQLite")
        expect(kept(page)).to_be_visible()
        house.sign_in(page.context, "Erik")

    assert refused.value.status == 403
    assert house.look(question)["status"] == "pending"
