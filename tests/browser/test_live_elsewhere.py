"""Live beyond the inbox: history, jobs, several tabs, sessions that end, and a server that goes away and comes back."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import House, card, house_at, login_path, path_of
from tests.browser.watching import Watching, marked, new_project, stayed
from tests.scenario.talk import CHOICE, ONE_SECOND, answer
from tests.support.servers import running
from tests.support.visits import Visits


@pytest.fixture
def opens(house: House, visits: Visits) -> Watching:
    return Watching(house, visits)


def test_what_is_settled_joins_the_history_by_itself(house: House, opens: Watching) -> None:
    project = new_project()
    page = opens("Noor", f"/history?project={project}")
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
    older, newer = (house.ask(CHOICE, projectId=project, question=text) for text in ("Older?", "Newer?"))
    elsewhere = house.ask(CHOICE, projectId=new_project())

    house.answers("Erik", newer, "lite")
    expect(page.locator(".settled")).to_have_text(re.compile(r"Newer\?.*Erik \(api\) answered “SQLite”", re.DOTALL))
    house.answers("Erik", elsewhere, "lite")
    house.answers("Erik", older, "pg", text="We know it well.")

    expect(page.locator(".settled h2")).to_have_text(["Newer?", "Older?"])
    expect(page.locator(".settled").last).to_contain_text("answered “PostgreSQL”")
    expect(page.locator(".settled").last).to_contain_text("We know it well.")
    expect(page.get_by_role("heading", name="Nothing fits")).to_have_count(0)
    assert stayed(page)


def test_a_job_shows_its_state_its_questions_and_its_progress_as_they_come(house: House, opens: Watching) -> None:
    first = house.ask(CHOICE, job="nightly-run", question="First?")
    page = opens("Mia", "/jobs/nightly-run")
    state = page.locator("#job .badge")
    expect(state).to_have_text("waiting for input")

    house.answers("Erik", first, "pg")
    expect(state).to_have_text("running")
    expect(card(page, first)).to_contain_text("Erik (api) answered")
    house.agent.post("/api/jobs/nightly-run/progress", json={"text": "12 of 40 done"})
    expect(page.locator("#job")).to_contain_text("12 of 40 done")
    second = house.ask(CHOICE, job="nightly-run", question="Second?")
    expect(card(page, second).get_by_role("button", name="SQLite")).to_be_enabled()
    house.answers("Erik", second, "lite")
    house.agent.patch("/api/jobs/nightly-run", json={"status": "completed"})

    expect(state).to_have_text("completed")
    expect(page.locator(".question h2")).to_have_text(["First?", "Second?"])
    expect(page.locator("#timeline")).to_contain_text("12 of 40 done")
    expect(page.locator("#timeline")).to_contain_text("The job is completed")
    assert stayed(page)


@pytest.mark.soak
def test_the_list_of_jobs_follows_them(house: House, opens: Watching) -> None:
    page = opens("Mia", "/jobs?words=weekly")
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()

    question = house.ask(CHOICE, job="weekly-run")
    expect(page.locator(".badge")).to_have_text("waiting for input")
    house.answers("Erik", question, "pg")
    expect(page.locator(".badge")).to_have_text("running")
    house.agent.post("/api/jobs/weekly-run/progress", json={"text": "half of it"})

    expect(page.locator("main")).to_contain_text("half of it")
    assert stayed(page)


@pytest.mark.soak
def test_of_several_tabs_one_listens_for_all_and_the_next_takes_over(house: House, opens: Watching) -> None:
    project = new_project()
    first = opens("Noor", f"/?project={project}")
    listening: list[str] = []
    first.context.on("request", lambda request: listening.append(request.url) if "/live?" in request.url else None)
    second = marked(_tab(first, f"/?project={project}"))
    shared = house.ask(CHOICE, projectId=project)
    for page in (first, second):
        expect(card(page, shared)).to_be_visible()
    alone = list(listening)

    first.close()
    house.answers("Erik", shared, "pg")

    expect(card(second, shared)).to_contain_text("Erik (api) answered")
    assert (alone, len(listening)) == ([], 1)
    assert stayed(second)


@pytest.mark.soak
def test_a_session_that_ends_elsewhere_says_so_and_goes_on_after_signing_in_again(
    house: House, visits: Visits, opens: Watching
) -> None:
    visits.allow("status of 401")
    name, project = house.newcomer("member"), new_project()
    page = opens(name, f"/?project={project}")
    elsewhere = opens(name, "/")
    elsewhere.get_by_text(name).click()
    elsewhere.get_by_role("button", name="Sign out everywhere").click()
    expect(elsewhere.get_by_text("You are signed out.")).to_be_visible()

    question = house.ask(CHOICE, projectId=project)
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    expect(page.locator("#connection")).to_contain_text("Signed out.")
    expect(card(page, question)).to_have_count(0)
    _tab(page, login_path(house.server, name)).get_by_role("button", name="Sign in").click()

    expect(card(page, question)).to_be_visible()
    expect(page.locator("#connection")).to_have_text("")
    assert stayed(page)


def test_pages_whose_server_was_away_say_so_and_catch_up(visits: Visits, tmp_path: Path) -> None:
    visits.allow("ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET")
    with running(tmp_path / "data") as server, house_at(server) as house:
        answered, kept = house.ask(CHOICE), house.ask(CHOICE)
        inbox = Watching(house, visits)("Noor", "/", base_url=server.url)
        detail = marked(_tab(inbox, path_of(answered)))
        expiring = house.ask(CHOICE, timeoutMinutes=4 * ONE_SECOND)
        expect(card(inbox, expiring)).to_be_visible()
        taken_over = Watching(house, visits)("Noor", "/", base_url=server.url)
        house.sign_in(taken_over.context, "Erik")
        server.kill()
        for page in (inbox, detail, taken_over):
            expect(page.locator("#connection")).to_have_text("reconnecting…")
        card(inbox, kept).get_by_role("button", name="PostgreSQL").click()
        expect(card(inbox, kept)).to_contain_text("Your answer is kept here")

        with running(server.data_dir, port=server.port):
            answer(house.admin, answered["id"], "lite")
            asked = house.ask(CHOICE)

            expect(card(inbox, asked).get_by_role("button", name="SQLite")).to_be_enabled()
            expect(card(inbox, answered)).to_contain_text("Admin (api) answered “SQLite”")
            expect(card(inbox, expiring)).to_contain_text("nothing was decided")
            expect(card(inbox, kept)).to_contain_text("Noor (web) answered “PostgreSQL”")
            expect(detail.locator("#outcome")).to_contain_text("Admin (api) answered “SQLite”")
            for page in (inbox, detail):
                expect(page.locator("#connection")).to_have_text("")
                assert stayed(page)
            # The browser has somebody else's session by now, so what is on the page may not be theirs to see.
            expect(taken_over.get_by_role("banner").get_by_text("Erik")).to_be_visible()
            assert not stayed(taken_over)


def _tab(beside: Page, path: str) -> Page:
    page = beside.context.new_page()
    page.goto(path)
    return page
