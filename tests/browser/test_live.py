"""An open page follows what happens elsewhere, without being loaded again and without disturbing whoever reads it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import House, card, path_of
from tests.browser.watching import Watching, marked, new_project, stayed
from tests.scenario.talk import APPROVAL, CHOICE, ONE_SECOND, Json, comment, happened
from tests.support.visits import Visits

SOON: Json = {"timeoutMinutes": 4 * ONE_SECOND}
TEXT: Json = {"question": "Who is the contact?", "responseType": "text"}


@pytest.fixture
def opens(house: House, visits: Visits) -> Watching:
    return Watching(house, visits)


def listed(page: Page) -> list[str]:
    shown: list[str] = page.locator("#questions > .question").evaluate_all(
        "cards => cards.map(card => card.dataset.id)"
    )
    return shown


def answer_form(page: Page, question: Json) -> str:
    return f"form[data-answer='{question['id']}'] button"


def test_a_question_appears_by_itself_at_its_place_by_urgency_then_deadline(house: House, opens: Watching) -> None:
    project = new_project()
    middle = house.ask(projectId=project, timeoutMinutes=30)
    page = opens("Noor", f"/?project={project}")

    sooner = house.ask(projectId=project, timeoutMinutes=20)
    calm = house.ask(projectId=project, timeoutMinutes=10, urgency="low")
    unlimited = house.ask(projectId=project, type="non_blocking", defaultResponse={"value": "yes"})
    pressing = house.ask(projectId=project, timeoutMinutes=60, urgency="high")

    for question in (sooner, calm, unlimited, pressing):
        expect(card(page, question)).to_be_visible()
    assert listed(page) == [each["id"] for each in (pressing, sooner, middle, unlimited, calm)]
    assert stayed(page)


@pytest.mark.soak
def test_the_first_question_takes_the_place_of_the_empty_inbox(house: House, opens: Watching) -> None:
    project = new_project()
    page = opens("Noor", f"/?project={project}")
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()

    question = house.ask(CHOICE, projectId=project)

    expect(card(page, question).get_by_role("button", name="PostgreSQL")).to_be_enabled()
    expect(page.get_by_role("heading", name="Nothing fits")).to_have_count(0)
    assert stayed(page)


@pytest.mark.soak
def test_a_question_that_does_not_fit_the_filters_does_not_appear(house: House, opens: Watching) -> None:
    project = new_project()
    page = opens("Dana", f"/?project={project}&type=approval")

    other_kind = house.ask(CHOICE, projectId=project)
    elsewhere = house.ask(APPROVAL, projectId=new_project())
    fitting = house.ask(APPROVAL, projectId=project)

    expect(card(page, fitting)).to_be_visible()
    assert listed(page) == [fitting["id"]]
    expect(card(page, other_kind)).to_have_count(0)
    expect(card(page, elsewhere)).to_have_count(0)


def test_a_card_that_somebody_else_answers_says_who_what_and_when_and_loses_its_buttons(
    house: House, opens: Watching
) -> None:
    question = house.ask(CHOICE, projectId=new_project())
    page = opens("Noor", f"/?project={question['projectId']}")
    expect(card(page, question).get_by_role("button", name="PostgreSQL")).to_be_enabled()

    house.answers("Erik", question, "lite")

    said = re.compile(r"Erik \(api\) answered “SQLite” at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\.")
    expect(card(page, question).locator(".footer")).to_have_text(said)
    expect(card(page, question).get_by_role("button")).to_have_count(0)
    expect(card(page, question).get_by_role("checkbox")).to_have_count(0)
    assert stayed(page)


@pytest.mark.soak
def test_the_page_of_a_question_answered_in_another_window_says_so(house: House, opens: Watching) -> None:
    question = house.ask(CHOICE)
    reader, other = opens("Noor", path_of(question)), opens("Erik", path_of(question))
    expect(reader.get_by_role("button", name="Send answer")).to_be_enabled()

    other.get_by_role("radio", name="PostgreSQL").check()
    other.get_by_role("button", name="Send answer").click()

    for page in (reader, other):
        expect(page.locator("#outcome")).to_contain_text("Erik (web) answered “PostgreSQL” at 20")
        expect(page.get_by_role("heading", name="Closed")).to_be_visible()
        expect(page.locator(answer_form(page, question))).to_have_count(0)
        expect(page.get_by_role("button", name="Ask back")).to_have_count(0)
        expect(page.locator("#history")).to_contain_text("Erik (web) answered")
        assert stayed(page)


@pytest.mark.soak
def test_a_withdrawn_question_says_who_took_it_back_and_why(house: House, opens: Watching) -> None:
    question = house.ask(CHOICE, projectId=new_project())
    page = opens("Noor", f"/?project={question['projectId']}")

    house.agent.post(f"/api/questions/{question['id']}/cancel", json={"reason": "done by hand"})

    expect(card(page, question)).to_contain_text("withdrew it at")
    expect(card(page, question)).to_contain_text("done by hand")
    expect(card(page, question).get_by_role("button")).to_have_count(0)


def test_what_somebody_types_in_a_card_stays_with_the_cursor(house: House, opens: Watching) -> None:
    project = new_project()
    question, other = house.ask(TEXT, projectId=project), house.ask(CHOICE, projectId=project)
    page = opens("Noor", f"/?project={project}")
    page.get_by_placeholder("Your answer").press_sequentially("Fat")

    house.answers("Erik", other, "pg")
    comment(house.agent, question["id"], "It is about billing.")
    later = house.ask(CHOICE, projectId=project, urgency="high")
    expect(card(page, later)).to_be_visible()
    expect(card(page, other)).to_contain_text("Erik (api) answered")
    page.keyboard.type("ima")

    expect(page.get_by_placeholder("Your answer")).to_have_value("Fatima")
    page.keyboard.press("Enter")
    assert house.waits(question).outcome()["response"]["value"] == "Fatima"
    assert stayed(page)


@pytest.mark.soak
def test_what_somebody_writes_on_the_page_of_a_question_stays_while_its_thread_grows(
    house: House, opens: Watching
) -> None:
    question = house.ask(TEXT)
    page = opens("Noor", path_of(question))
    page.get_by_label("Ask the agent back").fill("Which bill?")
    page.locator("#value").press_sequentially("Fat")

    comment(house.agent, question["id"], "It is about billing.")
    expect(page.locator("#thread")).to_contain_text("It is about billing.")
    page.keyboard.type("ima")

    expect(page.locator("#value")).to_have_value("Fatima")
    expect(page.get_by_label("Ask the agent back")).to_have_value("Which bill?")
    assert stayed(page)


def test_of_two_who_press_at_the_same_moment_one_wins_and_the_other_is_told_who(
    house: House, visits: Visits, opens: Watching
) -> None:
    visits.allow("status of 409")
    project = new_project()
    pages = {name: opens(name, f"/?project={project}") for name in ("Dana", "Erik")}
    choices = {"Dana": ("PostgreSQL", "postgresql"), "Erik": ("SQLite", "lite")}

    for _ in range(4):
        question = house.ask(CHOICE, projectId=project)
        agent = house.waits(question)
        buttons = {name: card(pages[name], question).get_by_role("button", name=choices[name][0]) for name in pages}
        for button in buttons.values():
            expect(button).to_be_enabled()
        moment = pages["Dana"].evaluate("Date.now() + 300")
        for button in buttons.values():
            button.evaluate("(button, at) => void setTimeout(() => button.click(), at - Date.now())", moment)

        outcome = agent.outcome()
        winner = outcome["decidedBy"]["name"]
        assert outcome["response"]["value"] == choices[winner][1]
        assert happened(house.agent, question["id"]).count("question.answered") == 1
        for name, page in pages.items():
            expect(card(page, question)).to_contain_text(f"{winner} (web) answered “{choices[winner][0]}”")
            expect(card(page, question).get_by_role("button")).to_have_count(0)
            told = page.locator("#toasts").get_by_text(f"{winner} (web) answered “{choices[winner][0]}”").last
            expect(told).to_be_visible()
            assert stayed(page), name


def test_the_countdown_runs(house: House, opens: Watching) -> None:
    question = house.ask(CHOICE, projectId=new_project(), timeoutMinutes=1)
    page = opens("Noor", f"/?project={question['projectId']}")
    left = card(page, question).locator("time[data-deadline]")

    before = left.inner_text()

    expect(left).not_to_have_text(before)
    assert int(left.inner_text().removesuffix(" s left")) < 60


def test_at_zero_a_card_says_that_nothing_was_decided_or_that_the_default_stands(house: House, opens: Watching) -> None:
    project = new_project()
    lasting = house.ask(CHOICE, projectId=project)
    page = opens("Noor", f"/?project={project}")

    expiring = house.ask(CHOICE | SOON, projectId=project)
    defaulting = house.ask(CHOICE | SOON, projectId=project, defaultResponse={"value": "lite"})

    nothing = re.compile(r"^Nobody answered by [-\d]+ [:\d]+ UTC; nothing was decided\.$")
    default = re.compile(r"^Nobody answered by [-\d]+ [:\d]+ UTC, so the default “SQLite” stands\.$")
    expect(card(page, expiring).locator(".footer")).to_have_text(nothing)
    expect(card(page, defaulting).locator(".footer")).to_have_text(default)
    for question in (expiring, defaulting):
        expect(card(page, question).locator(".left")).to_have_count(0)
        expect(card(page, question).get_by_role("button")).to_have_count(0)
        expect(card(page, question).get_by_role("link", name="Send a late answer")).to_be_visible()
    expect(card(page, lasting).get_by_role("button", name="PostgreSQL")).to_be_enabled()
    assert stayed(page)


def test_a_question_that_expires_under_somebodys_eyes_takes_what_they_wrote_as_a_late_answer(
    house: House, opens: Watching
) -> None:
    page = opens("Noor", "/jobs")
    question = house.ask(TEXT | SOON)
    page.goto(path_of(question))
    marked(page)
    page.locator("#value").fill("Fatima")

    expect(page.locator("#outcome")).to_contain_text("nothing was decided")
    expect(page.locator("#value")).to_have_value("Fatima")
    page.get_by_role("button", name="Send as a late answer").click()

    expect(page.locator("#outcome")).to_contain_text("Late answer of Noor")
    (late,) = house.look(question)["lateAnswers"]
    assert (late["response"]["value"], late["by"]["name"]) == ("Fatima", "Noor")
    assert house.look(question)["outcome"]["kind"] == "expired"
    assert stayed(page)


@pytest.mark.soak
def test_who_presses_without_having_heard_of_the_deadline_may_send_it_late(
    house: House, visits: Visits, opens: Watching
) -> None:
    visits.allow("status of 409")
    visits.allow("ERR_FAILED")
    project = new_project()
    page = opens("Noor", f"/?project={project}")
    question = house.ask(CHOICE | SOON, projectId=project)
    expect(card(page, question)).to_be_visible()
    page.context.route(re.compile(r"/card$|\?project="), lambda route: route.abort())
    house.waits(question).outcome()

    card(page, question).get_by_role("button", name="SQLite").click()
    card(page, question).get_by_role("button", name="Send as a late answer").click()

    expect(page.locator("#toasts")).to_contain_text("Your answer was sent on as a late answer.")
    (late,) = house.look(question)["lateAnswers"]
    assert late["response"]["value"] == "lite"


def test_asking_back_and_the_reply_show_everywhere_with_the_clock(house: House, opens: Watching) -> None:
    question = house.ask(CHOICE, projectId=new_project())
    asker, reader = opens("Noor", path_of(question)), opens("Erik", path_of(question))
    inbox = opens("Dana", f"/?project={question['projectId']}")
    expect(inbox.locator(".left")).to_have_text(re.compile("min left"))

    asker.get_by_label("Ask the agent back").fill("For how many rows?")
    asker.get_by_role("button", name="Ask back").click()
    for page in (asker, reader):
        expect(page.locator("#thread")).to_contain_text("For how many rows?")
        expect(page.locator("#head .left")).to_have_text("clock paused")
    expect(inbox.locator(".left")).to_have_text("clock paused")
    expect(asker.get_by_label("Ask the agent back")).to_have_value("")
    comment(house.agent, question["id"], "About two million.")

    for page in (asker, reader):
        expect(page.locator("#thread li")).to_have_text([re.compile("many rows"), re.compile("two million")])
        expect(page.locator("#head .left")).to_have_text(re.compile("min left"))
        assert stayed(page)
    expect(inbox.locator(".left")).to_have_text(re.compile("min left"))
