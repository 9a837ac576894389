"""Deciding several at once: what is selected is read once more, and then each of them is decided, or told why not."""

import re
from itertools import count

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.people import House, card, wait_until_live
from tests.scenario.talk import APPROVAL, CHOICE, Json, ask, happened
from tests.support.thoroughness import shortly
from tests.support.visits import WITHOUT_SCRIPTS, Visits

YES_OR_NO: Json = {
    "question": "Drop the table?",
    "responseType": "boolean",
    "options": [{"label": "Drop it", "value": True}, {"label": "Keep it", "value": False}],
}
_numbers = count(1)


def new_project() -> str:
    """Questions of one test only, so that the list shows nothing else."""
    return f"batch-{next(_numbers)}"


def approvals(house: House, number: int) -> list[Json]:
    project = new_project()
    titles = [f"Create ticket {place} of {project}?" for place in range(number)]
    return [house.ask(APPROVAL, question=title, projectId=project) for title in titles]


def risky(house: House, project: str, risk: str) -> Json:
    action = {"tool": "deploy", "arguments": {}, "risk": risk}
    return house.ask(question=f"Deploy at {risk} risk?", type="approval", projectId=project, action=action)


def inbox(house: House, visits: Visits, questions: list[Json]) -> Page:
    return house.page(visits, "Dana", f"/?project={questions[0]['projectId']}")


def select(page: Page, questions: list[Json]) -> None:
    for question in questions:
        card(page, question).get_by_role("checkbox", name="Select this question").check()


def preflight(house: House, visits: Visits, questions: list[Json]) -> Page:
    """Dana has selected these and reads what would be decided."""
    page = inbox(house, visits, questions)
    select(page, questions)
    page.get_by_role("button", name="Decide together").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"Decide \d+ together"))
    return page


def listed(page: Page) -> list[str]:
    return page.locator(".preflight .text").all_inner_texts()


def texts(questions: list[Json]) -> list[str]:
    return [question["question"] for question in questions]


def result(page: Page, question: Json) -> Locator:
    return page.get_by_role("listitem").filter(has_text=question["question"])


def statuses(house: House, questions: list[Json]) -> list[str]:
    return [house.look(question)["status"] for question in questions]


@pytest.mark.soak
def test_the_bar_counts_what_is_selected_and_clears_it(house: House, visits: Visits) -> None:
    questions = approvals(house, 3)
    page = inbox(house, visits, questions)
    bar = page.locator("#batch-bar")
    expect(bar).to_be_hidden()

    select(page, questions[:2])
    expect(bar).to_contain_text("2 selected")
    bar.get_by_role("button", name="Clear").click()

    expect(bar).to_be_hidden()
    assert page.get_by_role("checkbox", checked=True).count() == 0


def test_what_is_selected_is_listed_exactly_and_nothing_is_decided_by_looking(house: House, visits: Visits) -> None:
    questions = approvals(house, 4)

    page = preflight(house, visits, questions[1:])

    assert listed(page) == texts(questions[1:])
    expect(page.get_by_role("heading", name="Decide 3 together")).to_be_visible()
    expect(page.get_by_text("Left out")).to_have_count(0)
    page.get_by_role("link", name="Back", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("wait")
    assert statuses(house, questions) == ["pending"] * 4


@pytest.mark.parametrize(("verdict", "value"), shortly([("Approve", True), ("Reject", False)], keep=[0]))
def test_one_decision_and_its_reason_reach_every_agent(house: House, visits: Visits, verdict: str, value: bool) -> None:
    questions = approvals(house, 3)
    agents = [house.waits(question) for question in questions]
    page = preflight(house, visits, questions)
    page.get_by_label("Reason").fill("as agreed on Monday")

    page.get_by_role("button", name=f"{verdict} the selected").click()

    expect(page.get_by_role("heading", name=f"{verdict}: 3 of 3 done")).to_be_visible()
    for agent in agents:
        outcome = agent.outcome()
        assert outcome["response"] == {"type": "approval", "value": value, "text": "as agreed on Monday"}
        assert outcome["decidedBy"]["name"] == "Dana"
    for question in questions:
        expect(result(page, question)).to_contain_text("Dana (web) answered")


@pytest.mark.soak
@pytest.mark.parametrize(
    ("body", "button", "value"),
    [(YES_OR_NO, "Keep it the selected", False), (CHOICE, "PostgreSQL the selected", "postgresql")],
)
def test_questions_with_the_same_answers_are_decided_together(
    house: House, visits: Visits, body: Json, button: str, value: object
) -> None:
    project = new_project()
    questions = [house.ask(body, projectId=project) for _ in range(2)]
    page = preflight(house, visits, questions)

    page.get_by_role("button", name=button).click()

    assert [house.waits(question).outcome()["response"]["value"] for question in questions] == [value, value]


def test_high_risk_is_left_out_and_said_to_be(house: House, visits: Visits) -> None:
    plain = approvals(house, 2)
    left_out = [risky(house, plain[0]["projectId"], risk) for risk in ("high", "critical")]

    page = preflight(house, visits, [*plain, *left_out])

    assert listed(page) == texts(plain)
    excluded = page.locator(".excluded li")
    for question, risk in zip(left_out, ("high", "critical"), strict=True):
        said = f"Its risk is {risk}; it is decided by itself, on its own page."
        expect(excluded.filter(has_text=question["question"])).to_contain_text(said)
    page.get_by_role("button", name="Approve the selected").click()
    expect(page.get_by_role("heading", name="Approve: 2 of 2 done")).to_be_visible()
    assert statuses(house, [*plain, *left_out]) == ["answered", "answered", "pending", "pending"]


@pytest.mark.soak
def test_only_what_is_risky_leaves_nothing_to_decide(house: House, visits: Visits) -> None:
    question = risky(house, new_project(), "high")

    page = preflight(house, visits, [question])

    expect(page.get_by_text("None of the selected questions can be decided together")).to_be_visible()
    expect(page.get_by_role("button", name="the selected")).to_have_count(0)


@pytest.mark.soak
def test_another_kind_of_answer_is_left_out_and_said_to_be(house: House, visits: Visits) -> None:
    questions = approvals(house, 2)
    others = [
        house.ask(CHOICE, question="Which one?", projectId=questions[0]["projectId"]),
        house.ask(question="What name?", projectId=questions[0]["projectId"]),
    ]

    page = preflight(house, visits, [*questions, *others])

    assert listed(page) == texts(questions)
    excluded = page.locator(".excluded li")
    expect(excluded.filter(has_text="Which one?")).to_contain_text("another kind of answer than the rest")
    expect(excluded.filter(has_text="What name?")).to_contain_text("An answer of type text is given by itself")


def test_what_somebody_else_answered_meanwhile_is_told_and_the_others_are_done(house: House, visits: Visits) -> None:
    questions = approvals(house, 3)
    page = preflight(house, visits, questions)
    house.answers("Erik", questions[1], False, text="not this one")

    page.get_by_role("button", name="Approve the selected").click()

    expect(page.get_by_role("heading", name="Approve: 2 of 3 done")).to_be_visible()
    expect(result(page, questions[1])).to_contain_text("Erik (api) answered “rejected”")
    told = [house.waits(question).outcome() for question in questions]
    assert [outcome["response"]["value"] for outcome in told] == [True, False, True]
    assert [outcome["decidedBy"]["name"] for outcome in told] == ["Dana", "Erik", "Dana"]


def test_sending_the_form_twice_counts_once(house: House, visits: Visits) -> None:
    questions = approvals(house, 2)
    page = preflight(house, visits, questions)
    page.get_by_role("button", name="Reject the selected").click()
    expect(page.get_by_role("heading", name="Reject: 2 of 2 done")).to_be_visible()

    page.reload()

    for question in questions:
        expect(result(page, question)).to_contain_text("This was sent before and counts once.")
        assert happened(house.agent, question["id"]).count("question.answered") == 1


@pytest.mark.soak
def test_the_same_form_with_another_decision_changes_nothing_and_says_so(house: House, visits: Visits) -> None:
    questions = approvals(house, 2)
    page = preflight(house, visits, questions)
    sent = page.locator("form.batch").evaluate("form => [...new FormData(form)]")
    page.get_by_role("button", name="Reject the selected").click()
    expect(page.get_by_role("heading", name="Reject: 2 of 2 done")).to_be_visible()

    page.evaluate(
        """sent => {
            const form = Object.assign(document.createElement("form"), { method: "post", action: "/batch" });
            for (const [name, value] of [...sent, ["verdict", "approve"]])
                form.append(Object.assign(document.createElement("input"), { name, value }));
            document.body.append(form);
            form.submit();
        }""",
        sent,
    )

    expect(page.get_by_role("heading", name="Approve: 0 of 2 done")).to_be_visible()
    expect(result(page, questions[0])).to_contain_text("sent before with another decision, and that one counts")
    assert [house.waits(question).outcome()["response"]["value"] for question in questions] == [False, False]


def test_unselecting_one_of_them_leaves_it_open(house: House, visits: Visits) -> None:
    questions = approvals(house, 3)
    page = preflight(house, visits, questions)

    page.locator(".preflight > li").nth(1).get_by_role("checkbox").uncheck()
    page.get_by_role("button", name="Approve the selected").click()

    expect(page.get_by_role("heading", name="Approve: 2 of 2 done")).to_be_visible()
    assert statuses(house, questions) == ["answered", "pending", "answered"]


@pytest.mark.soak
def test_enter_in_the_reason_decides_nothing(house: House, visits: Visits) -> None:
    questions = approvals(house, 2)
    page = preflight(house, visits, questions)
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.method) if request.url.endswith("/batch") else None)

    page.get_by_label("Reason").press_sequentially("fine")
    page.keyboard.press("Enter")
    page.keyboard.type(" by me")

    expect(page.get_by_label("Reason")).to_have_value("fine by me")
    assert posts == []
    assert statuses(house, questions) == ["pending", "pending"]


@pytest.mark.soak
def test_what_somebody_may_not_answer_cannot_be_selected_nor_smuggled_in(house: House, visits: Visits) -> None:
    question = approvals(house, 1)[0]
    with house.server.client(house.server.new_key("Dana's script", "ask", "Dana")) as script:
        own = ask(script, APPROVAL, projectId=question["projectId"])
    page = inbox(house, visits, [question])
    expect(card(page, question).get_by_role("checkbox")).to_have_count(1)
    expect(card(page, own).get_by_role("checkbox")).to_have_count(0)

    page.goto(f"/batch?id={question['id']}&id={own['id']}")

    assert listed(page) == [question["question"]]
    expect(page.locator(".excluded")).to_contain_text("You may not answer this one.")


@pytest.mark.soak
def test_several_are_decided_without_scripts(house: House, visits: Visits) -> None:
    visits.allow("status of 422")
    questions = approvals(house, 3)
    page = house.page(visits, "Dana", f"/?project={questions[0]['projectId']}", **WITHOUT_SCRIPTS)
    decide = page.get_by_role("button", name="Decide the selected ones together")

    decide.click()
    expect(page.get_by_text("Select some questions first.")).to_be_visible()
    page.go_back()
    select(page, questions[:2])
    decide.click()
    page.get_by_role("button", name="Approve the selected").click()

    expect(page.get_by_role("heading", name="Approve: 2 of 2 done")).to_be_visible()
    assert statuses(house, questions) == ["answered", "answered", "pending"]


@pytest.mark.soak
def test_a_selection_stays_while_other_cards_change(house: House, visits: Visits) -> None:
    questions = approvals(house, 3)
    page = inbox(house, visits, questions)
    select(page, questions[:2])

    house.answers("Erik", questions[1], True)

    expect(card(page, questions[1])).to_contain_text("Erik (api) answered")
    expect(page.locator("#batch-bar")).to_contain_text("1 selected")
    expect(card(page, questions[0]).get_by_role("checkbox")).to_be_checked()


def test_the_results_are_not_asked_for_again_whatever_happens_meanwhile(house: House, visits: Visits) -> None:
    page = preflight(house, visits, approvals(house, 2))
    asked_for: list[str] = []
    page.on("request", lambda request: asked_for.append(f"{request.method} {request.url}"))

    page.get_by_role("button", name="Approve the selected").click()
    expect(page.get_by_role("heading", name="Approve: 2 of 2 done")).to_be_visible()
    wait_until_live(page)
    with page.expect_response("**/count"):
        house.approval()
    with page.expect_response("**/count"):
        house.approval()

    assert [each for each in asked_for if each.startswith("GET") and each.endswith("/batch")] == []
