"""Coming in and going out: one-time links and sessions."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.people import House, login_path, path_of
from tests.support.browsing import Visit
from tests.support.visits import WITHOUT_SCRIPTS, Visits


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def is_signed_in_as(page: Page, name: str) -> None:
    expect(page.locator(".menu summary")).to_have_text(name)


def is_refused(page: Page, sentence: str | re.Pattern[str]) -> None:
    expect(page.get_by_role("alert")).to_have_text(sentence)
    expect(page.get_by_role("heading", name="Sign in", exact=True)).to_be_visible()


class Office:
    """An admin who makes links for others and ends their sessions."""

    def __init__(self, admin: Visit) -> None:
        self._admin = admin

    def link(self, name: str) -> str:
        made = self._admin.submit(f"/settings/people/{name}/sign_in_link", {})
        found = re.search(r"/login/[\w-]{43}", made.text)
        assert found is not None, made.text
        return found[0]

    def ends_sessions(self, name: str) -> None:
        assert self._admin.submit(f"/settings/people/{name}/end_sessions", {}).status_code == 303


@pytest.fixture(scope="module")
def office(house: House) -> Iterator[Office]:
    with Visit(house.server) as admin:
        yield Office(admin)


# One-time links


def test_a_link_signs_in_once_and_only_by_its_button(house: House, visits: Visits) -> None:
    visits.allow("410")
    path = login_path(house.server, "Dana")
    page, other = visits.page(), visits.page()
    for _ in range(3):
        other.goto(path)
        expect(other.get_by_role("heading", name="Sign in as Dana")).to_be_visible()

    page.goto(path)
    press(page, "Sign in")
    is_signed_in_as(page, "Dana")
    press(other, "Sign in")

    is_refused(other, re.compile("This link was used before"))
    other.goto(path)
    is_refused(other, re.compile("This link was used before"))


def test_what_the_browser_holds_is_out_of_reach_for_scripts_and_for_other_sites(
    office: Office, context: BrowserContext, page: Page
) -> None:
    page.goto(office.link("Dana"))
    press(page, "Sign in")
    is_signed_in_as(page, "Dana")

    (cookie,) = context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Lax", "/")
    assert page.evaluate("document.cookie") == ""
    stored = page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
    assert cookie["value"] not in stored + page.content()


def test_after_signing_in_one_is_where_one_wanted_to_be(house: House, office: Office, page: Page) -> None:
    page.goto("/history?words=a%26b&ended=answered")
    expect(page).to_have_url(re.compile("/login"))
    wanted = page.url.partition("?")[2]

    page.goto(f"{login_path(house.server, 'Dana')}?{wanted}")
    press(page, "Sign in")

    expect(page).to_have_url(f"{house.server.url}/history?words=a%26b&ended=answered")


@pytest.mark.soak
def test_a_job_of_any_name_is_found_again_after_signing_in(house: House, office: Office, page: Page) -> None:
    house.ask(jobId="release?50% für Ä")
    page.goto("/jobs/release%3F50%25%20f%C3%BCr%20%C3%84")
    wanted = page.url.partition("?")[2]

    page.goto(f"{login_path(house.server, 'Mia')}?{wanted}")
    press(page, "Sign in")

    expect(page.get_by_role("heading", level=1)).to_have_text("release?50% für Ä")


@pytest.mark.soak
def test_without_scripts_one_signs_in_and_out_all_the_same(house: House, office: Office, visits: Visits) -> None:
    page = visits.page(**WITHOUT_SCRIPTS)
    page.goto(office.link("Dana"))
    press(page, "Sign in")
    page.locator(".menu summary").click()

    press(page, "Sign out")

    expect(page.get_by_text("You are signed out.")).to_be_visible()


# Going out


@pytest.mark.soak
def test_whoever_signs_out_is_out_in_every_window_of_this_browser_only(
    house: House, office: Office, visits: Visits
) -> None:
    visits.allow("401|MIME type")  # the page of before, before it is loaded again
    here, elsewhere = visits.context(), visits.page()
    page = here.new_page()
    for each in (page, elsewhere):
        each.goto(office.link("Erik"))
        press(each, "Sign in")
        is_signed_in_as(each, "Erik")

    page.locator(".menu summary").click()
    press(page, "Sign out")

    expect(page.get_by_text("You are signed out.")).to_be_visible()
    page.go_back()
    page.reload()
    expect(page).to_have_url(re.compile("/login"))
    assert here.cookies() == []
    elsewhere.reload()
    is_signed_in_as(elsewhere, "Erik")


def test_signing_out_everywhere_ends_every_session_and_every_unused_link(
    house: House, office: Office, visits: Visits
) -> None:
    visits.allow("410|401|MIME type")  # the other window, before it is loaded again
    page, elsewhere = visits.page(), visits.page()
    for each in (page, elsewhere):
        each.goto(office.link("Erik"))
        press(each, "Sign in")
        is_signed_in_as(each, "Erik")
    unused = office.link("Erik")

    page.locator(".menu summary").click()
    press(page, "Sign out everywhere")

    expect(page.get_by_text("You are signed out.")).to_be_visible()
    elsewhere.reload()
    expect(elsewhere).to_have_url(re.compile("/login"))
    elsewhere.goto(unused)
    is_refused(elsewhere, re.compile("This link was used before"))


def test_what_was_typed_survives_a_session_that_ended(house: House, office: Office, visits: Visits) -> None:
    visits.allow("401|403|MIME type")
    question = house.ask(responseType="text")
    page = visits.page()
    page.goto(office.link("Noor"))
    press(page, "Sign in")
    page.goto(path_of(question))
    page.get_by_role("textbox", name="Your answer").fill("A long answer that took an hour")
    office.ends_sessions("Noor")

    press(page, "Send answer")

    expect(page.get_by_text("You are signed out. Sign in again; what you typed is still here.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Your answer")).to_have_value("A long answer that took an hour")
    assert house.look(question)["status"] == "pending"
    elsewhere = page.context.new_page()
    elsewhere.goto(office.link("Noor"))
    press(elsewhere, "Sign in")
    page.bring_to_front()
    press(page, "Send answer")
    expect(page.locator("#outcome")).to_contain_text("Noor")
    assert house.look(question)["outcome"]["response"]["value"] == "A long answer that took an hour"


@pytest.mark.soak
def test_a_form_without_scripts_says_that_the_session_ended(house: House, office: Office, visits: Visits) -> None:
    question = house.ask(responseType="text")
    page = visits.page(**WITHOUT_SCRIPTS)
    page.goto(office.link("Noor"))
    press(page, "Sign in")
    page.goto(path_of(question))
    page.get_by_role("textbox", name="Your answer").fill("A long answer that took an hour")
    office.ends_sessions("Noor")

    press(page, "Send answer")

    expect(page.get_by_role("alert")).to_contain_text("You are signed out, so nothing was done.")
    assert house.look(question)["status"] == "pending"
    visits.allow("401")
