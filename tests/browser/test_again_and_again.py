"""A page that stays open takes a second word as it took the first, and the same form sent twice counts once."""

import pytest
from playwright.sync_api import expect

from tests.browser.people import House, path_of, wait_until_live
from tests.scenario.talk import APPROVAL, Json, happened, ok
from tests.support.visits import Visits

TWO_OF_THEM = """
[[answer]]
name = "two of them"
project = "votes"
kind = "approval"
by = [{ role = "approver", need = 2 }]
rejections = 2
"""


def comments(house: House, question: Json) -> list[str]:
    return [comment["text"] for comment in house.look(question)["comments"]]


def test_a_second_comment_arrives_like_the_first(house: House, visits: Visits) -> None:
    question = house.ask()
    page = house.page(visits, "Dana", path_of(question))
    wait_until_live(page)

    for text in ("I look into it.", "It takes a while."):
        page.get_by_label("Ask the agent back").fill(text)
        page.get_by_role("button", name="Only comment").click()
        expect(page.locator("#thread")).to_contain_text(text)

    assert comments(house, question) == ["I look into it.", "It takes a while."]


@pytest.mark.soak
def test_a_second_snooze_counts_too(house: House, visits: Visits) -> None:
    question = house.ask(APPROVAL)
    page = house.page(visits, "Dana", path_of(question))
    wait_until_live(page)
    snoozed = page.locator("#history").get_by_text("wants no reminders before")

    for number, length in enumerate(("15 min", "1 h"), start=1):
        page.get_by_label("Snooze for").select_option(label=length)
        page.get_by_role("button", name="Snooze reminders").click()
        expect(snoozed).to_have_count(number)

    assert happened(house.agent, question["id"]).count("question.snoozed") == 2


@pytest.mark.soak
def test_only_a_question_back_says_that_the_clock_stands_still(house: House, visits: Visits) -> None:
    question = house.ask()
    page = house.page(visits, "Dana", path_of(question))
    wait_until_live(page)
    toasts = page.locator("#toasts")

    page.get_by_label("Ask the agent back").fill("I look into it.")
    page.get_by_role("button", name="Only comment").click()
    expect(toasts).to_contain_text("Sent.")
    expect(toasts.get_by_text("The clock stands still")).to_have_count(0)
    page.get_by_label("Ask the agent back").fill("Which one?")
    page.get_by_role("button", name="Ask back").click()

    expect(toasts.get_by_text("Sent. The clock stands still until the agent replies.")).to_be_visible()
    expect(page.locator(".left.paused")).to_be_visible()


def test_a_vote_is_changed_as_often_as_somebody_changes_their_mind(house: House, visits: Visits) -> None:
    policy = ok(house.admin.get("/api/policy"))
    votes = policy["text"].replace("[[answer]]", f"{TWO_OF_THEM}\n[[answer]]", 1)
    ok(house.admin.put("/api/policy", json={"text": votes, "version": policy["version"]}))
    question = house.ask(APPROVAL, projectId="votes")
    page = house.page(visits, "Dana", path_of(question))
    wait_until_live(page)

    for press, said in (("Approve", "approve"), ("Reject", "reject"), ("Approve", "approve")):
        page.get_by_role("button", name=press).click()
        expect(page.get_by_text(f"You said {said}; sending again replaces that.")).to_be_visible()
    house.answers("Erik", question, True)

    outcome = house.waits(question).outcome()
    assert outcome["response"]["value"] is True
    assert [decider["name"] for decider in outcome["deciders"]] == ["Dana", "Erik"]
    expect(page.locator("#outcome")).to_contain_text("Dana (web) and Erik (api) answered “approved”")
