"""Pages of others, opened in the browser of somebody who is signed in: nothing changes and nothing gets out."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Response, expect

from tests.browser.attacks import ABOUT_SIGNING_IN, ATTACKS, FORMS, Attack, forged, page_of
from tests.browser.people import House, login_path, path_of
from tests.browser.untouched import Kept, kept
from tests.scenario.talk import Json
from tests.support.attacker import CROSS_SITE, SAME_SITE, Attacker
from tests.support.thoroughness import shortly
from tests.support.visits import Visits

#: It is in every question that the victim may see.
TREASURE = "the-launch-code-is-4711"
_TOKEN = re.compile(r'data-token="([^"]+)"')


@pytest.fixture(scope="module")
def evils(house: House) -> Iterator[list[Attacker]]:
    """Another site, and another origin of the same site."""
    with Attacker(CROSS_SITE) as cross, Attacker(SAME_SITE) as same:
        yield [cross, same]


@pytest.fixture(scope="module")
def link(house: House) -> str:
    """One that the attacker got for themselves: whoever presses it would work in the attacker's account unawares."""
    return login_path(house.server, "Noor").rsplit("/", 1)[1]


@pytest.fixture(scope="module")
def session(browser: Browser, house: House) -> Any:
    """Admin's cookies, with all that the server said about them."""
    context = browser.new_context(base_url=house.server.url)
    press_link(context.new_page(), house, "Admin")
    state = context.storage_state()
    context.close()
    return state


def press_link(page: Page, house: House, name: str, next: str = "") -> None:
    page.goto(login_path(house.server, name) + next)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/login" not in url)


@dataclass
class Victim:
    """Admin, lured to somebody else's page."""

    house: House
    context: BrowserContext
    page: Page
    question: Json
    token: str
    before: Kept
    #: Which of our addresses were asked for, and what we said.
    asked: list[str]
    heard: list[Response]

    def lured_to(self, evil: Attacker, attack: Attack, link: str) -> None:
        about = {"question": self.question["id"], "digest": self.question["action"]["digest"]}
        text = page_of(attack, self.house.server.url, **about, link=link, token="0" * 64)
        self.page.goto(evil.page(text), wait_until="commit")
        if attack.leaves:
            self.page.wait_for_url(f"{self.house.server.url}/**", wait_until="commit")
        else:
            expect(self.page).to_have_title("done")

    def is_told(self) -> int:
        """With which status we answered what the page last went to."""
        return [each.status for each in self.heard if each.request.is_navigation_request()][-1]

    def has_lost_nothing(self, evils: Sequence[Attacker]) -> None:
        assert kept(self.house.server) == self.before
        assert self.house.look(self.question)["status"] == "pending"
        assert self.context.request.get("/count").status == 200
        secrets = [TREASURE, self.token, *(cookie["value"] for cookie in self.context.cookies(self.house.server.url))]
        # Ports of one machine share their cookies, so on this site the header itself proves nothing.
        got = [f"{each.path} {each.body.decode(errors='replace')}" for evil in evils for each in evil.received]
        assert [each for each in got if any(secret in each for secret in secrets)] == []


@pytest.fixture
def victim(house: House, session: Any, visits: Visits) -> Victim:
    visits.allow("")  # attackers' pages complain of what they may not do
    question = house.approval(arguments={"note": TREASURE})
    context = visits.context(storage_state=session)
    inbox = context.request.get(path_of(question)).text()
    token = _TOKEN.search(inbox)
    assert token is not None
    assert TREASURE in inbox
    page = context.new_page()
    asked: list[str] = []
    heard: list[Response] = []
    context.on("request", lambda each: asked.append(each.url))
    page.on("websocket", lambda each: asked.append(each.url))
    context.on("response", lambda each: heard.append(each) if each.url.startswith(house.server.url) else None)
    return Victim(house, context, page, question, token[1], kept(house.server), asked, heard)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_a_page_of_somebody_else_changes_nothing_and_learns_nothing(
    victim: Victim, evils: list[Attacker], attack: Attack, link: str
) -> None:
    for evil in evils:
        victim.lured_to(evil, attack, link)

    assert any(urlsplit(url).port == victim.house.server.port for url in victim.asked)
    assert not attack.leaves or victim.is_told() in (401, 403, 405)
    victim.has_lost_nothing(evils)


def test_no_form_of_somebody_else_is_taken(victim: Victim, evils: list[Attacker], link: str) -> None:
    told: dict[tuple[str, str], int] = {}
    for evil, site in zip(evils, ("another site", "same site"), strict=True):
        for name in FORMS:
            victim.lured_to(evil, forged(name), link)
            told[site, name] = victim.is_told()

    # From another site the session does not even come along; from the same site it does, and is not enough.
    assert told == {
        (site, name): 401 if site == "another site" and name not in ABOUT_SIGNING_IN else 403
        for site in ("another site", "same site")
        for name in FORMS
    }
    victim.has_lost_nothing(evils)


@pytest.mark.parametrize("name", shortly(["answer", "comment", "own settings", "new admin", "new key"], keep=[0]))
def test_the_same_form_is_taken_from_a_page_of_ours(victim: Victim, name: str) -> None:
    victim.page.goto("/docs")

    sent = send(victim, name, victim.token)

    assert sent in (200, 303)
    assert kept(victim.house.server) != victim.before


@pytest.fixture
def strangers_token(house: House, visits: Visits) -> str:
    return str(house.page(visits, "Noor", "/jobs").evaluate("document.body.dataset.token"))


def test_the_token_of_another_session_is_worth_nothing(strangers_token: str, victim: Victim) -> None:
    victim.page.goto("/docs")

    told = {name: send(victim, name, strangers_token) for name in FORMS if name not in ABOUT_SIGNING_IN}

    assert set(told.values()) == {403}
    victim.has_lost_nothing([])


def send(victim: Victim, name: str, token: str) -> int:
    """The form as a page of ours sends it; with which status it is answered."""
    path, fields = FORMS[name]
    question, digest = victim.question["id"], victim.question["action"]["digest"]
    told = {key: value.replace("QUESTION", question).replace("DIGEST", digest) for key, value in fields.items()}
    given = [path.replace("QUESTION", question), {**told, "token": token}]
    status: int = victim.page.evaluate(
        """async ([path, fields]) =>
        (await fetch(path, { method: "POST", body: new URLSearchParams(fields) })).status""",
        given,
    )
    return status


@pytest.mark.parametrize("path", shortly(["QUESTION", "/", "/settings/people/p_admin", "/login"], keep=[0]))
def test_no_page_of_ours_shows_in_a_frame(victim: Victim, evils: list[Attacker], path: str) -> None:
    address = victim.house.server.url + path.replace("QUESTION", path_of(victim.question))

    for evil in evils:
        style = "position:fixed;inset:0;width:100%;height:100%;opacity:.01"
        victim.page.goto(evil.page(f"<title>Win</title><iframe src='{address}' style='{style}'></iframe>"))
        frame = victim.page.frames[1]
        assert frame.url == "chrome-error://chromewebdata/"
        assert frame.get_by_role("button").count() == 0

    victim.has_lost_nothing(evils)


@pytest.mark.soak
def test_who_opens_our_page_in_a_window_cannot_reach_into_it(victim: Victim, evils: list[Attacker]) -> None:
    for evil in evils:
        victim.page.goto(evil.page("<title>evil</title>"))
        address = victim.house.server.url + path_of(victim.question)
        with victim.page.expect_popup() as opened:
            victim.page.evaluate("address => { window.theirs = window.open(address, 'theirs'); }", address)
        expect(opened.value.get_by_text(TREASURE)).to_be_visible()

        assert victim.page.evaluate("[theirs.closed, theirs.length]") == [True, 0]
        assert opened.value.evaluate("[window.opener, window.name]") == [None, ""]
        opened.value.close()

    victim.has_lost_nothing(evils)


@pytest.mark.soak
def test_nobody_is_sent_elsewhere_by_signing_in(house: House, page: Page) -> None:
    path = login_path(house.server, "Noor")
    wanted = page.locator("[name=next]")
    for elsewhere in (
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "/\t/evil.example",
        "javascript:alert(1)",
    ):
        page.goto(f"{path}?next={quote(elsewhere, safe='')}")
        expect(wanted).to_have_value("/")

    wanted.evaluate("field => { field.value = '//evil.example'; }")
    page.get_by_role("button", name="Sign in").click()

    page.wait_for_url(f"{house.server.url}/")


def test_reading_every_link_on_every_page_changes_nothing(victim: Victim, link: str) -> None:
    fetch = victim.context.request.fetch
    todo = ["/", path_of(victim.question), f"/batch?id={victim.question['id']}", f"/login/{link}"]
    todo += [path.replace("QUESTION", victim.question["id"]) for path, _ in FORMS.values()]
    seen: set[str] = set()
    while todo:
        path = todo.pop()
        seen.add(path)
        got = [fetch(path, method=method) for method in ("HEAD", "OPTIONS", "GET")]
        assert [each.status for each in got if each.status >= 500] == [], path
        if got[-1].headers["content-type"].startswith("text/html"):
            found = re.findall(r'(?:href|src|action|formaction)="([^"#]*)"', got[-1].text())
            links = {urljoin(path, html.unescape(each)) for each in found}
            todo += sorted(each for each in links - seen - {*todo} if each.startswith("/"))

    for place in ("/history.csv", "/settings/policy", "/jobs", "/logout", "/settings/people/p_admin/remove"):
        assert place in seen
    victim.has_lost_nothing([])
