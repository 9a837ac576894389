"""Signing in with the account of an identity provider, in a real browser that is sent there and back."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.support.attacker import SAME_SITE, Attacker
from tests.support.provider import DANA, Account, Provider
from tests.support.servers import RunningServer, running
from tests.support.thoroughness import shortly
from tests.support.visits import WITHOUT_SCRIPTS, Visits

ZOE = Account("Zoe-9", "Zoe")
TWIN = Account("zoe-9", "Twin")
STRANGER = Account("x-1", "Mallory", "mallory@example.com")
UNPROVEN = Account("x-2", "Dan", "dana@example.com", is_verified=False)
_CONTINUE = "Continue with your account"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider(DANA, ZOE, TWIN, STRANGER, UNPROVEN) as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[RunningServer]:
    with running(tmp_path_factory.mktemp("oidc"), **settings_for(provider)) as started:
        provider.redirect_uri = f"{started.url}/login/oidc/callback"
        with started.admin() as admin:
            for name, handle in (("Dana", "email:dana@example.com"), ("Zoe", "oidc:Zoe-9")):
                added = admin.post("/api/people", json={"name": name, "role": "approver", "handles": [handle]})
                assert added.status_code == 201, added.text
        yield started


def settings_for(provider: Provider) -> dict[str, str]:
    return {
        "oidc_issuer": provider.issuer,
        "oidc_client_id": provider.client_id,
        "oidc_client_secret": provider.client_secret,
    }


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def is_refused(page: Page, sentence: str) -> None:
    expect(page.get_by_role("alert")).to_contain_text(sentence)
    expect(page.get_by_role("heading", name="Sign in", exact=True)).to_be_visible()
    assert page.context.request.get("/count", headers={"X-Handraise": "1"}).status == 401


@pytest.mark.parametrize("options", shortly([{}, WITHOUT_SCRIPTS], keep=[0]), ids=["with scripts", "without scripts"])
@pytest.mark.parametrize("account", [DANA, ZOE], ids=["by verified address", "by subject"])
def test_whoever_is_known_comes_in_and_lands_where_they_wanted(
    visits: Visits, account: Account, options: dict[str, bool]
) -> None:
    page = visits.page(**options)
    page.goto("/history?words=a%26b")
    press(page, _CONTINUE)
    page.get_by_role("button", name=f"Continue as {account.name}").click()
    if options:
        press(page, "Continue")

    expect(page.get_by_role("heading", name="History")).to_be_visible()
    expect(page.locator(".menu summary")).to_have_text(account.name)
    assert page.url.endswith("/history?words=a%26b")
    assert [cookie["name"].rpartition("_")[0] for cookie in page.context.cookies()] == ["handraise_session"]


@pytest.mark.parametrize(
    ("account", "sentence"),
    [
        (STRANGER, "Nobody here is known as mallory@example.com."),
        (UNPROVEN, "Nobody here is known as Dan."),
        (TWIN, "Nobody here is known as Twin."),
    ],
    ids=["unknown", "an address that is not verified", "a subject that differs in case"],
)
def test_whoever_is_not_known_stays_outside(page: Page, visits: Visits, account: Account, sentence: str) -> None:
    visits.allow("403")
    page.goto("/login?next=/history")
    press(page, _CONTINUE)

    page.get_by_role("button", name=f"Continue as {account.name}", exact=True).click()

    is_refused(page, sentence)
    expect(page.locator("[name=next]")).to_have_value("/history")


@pytest.mark.soak
def test_whoever_changes_their_mind_may_try_again(page: Page, visits: Visits) -> None:
    visits.allow("403")
    page.goto("/login?next=/jobs")
    press(page, _CONTINUE)
    press(page, "Cancel")
    is_refused(page, "The identity provider did not let you in.")

    press(page, _CONTINUE)
    page.get_by_role("button", name="Continue as Dana").click()

    expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()


def test_a_return_that_began_elsewhere_is_refused(page: Page, visits: Visits, provider: Provider) -> None:
    """Otherwise a page of somebody else could sign a victim in to their own account."""
    visits.allow("403")
    attacker, coming_back = visits.page(), f"**{urlsplit(provider.redirect_uri).path}?**"
    attacker.route(coming_back, lambda route: route.abort())
    attacker.goto("/login")
    press(attacker, _CONTINUE)
    with attacker.expect_request(coming_back) as stopped:
        attacker.get_by_role("button", name="Continue as Zoe", exact=True).click(no_wait_after=True)
    visits.allow("ERR_FAILED")

    page.goto(stopped.value.url)

    is_refused(page, "Signing in took too long or began in another browser. Try again.")


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [("state", "began in another browser"), ("code", "This sign-in was used before or took too long.")],
)
def test_a_return_with_something_else_in_it_is_refused(page: Page, visits: Visits, changed: str, sentence: str) -> None:
    visits.allow("403")
    page.goto("/login")
    press(page, _CONTINUE)
    page.route("**/callback?*", lambda route: route.fulfill(status=204))
    with page.expect_request("**/callback?*") as stopped:
        page.get_by_role("button", name="Continue as Dana").click(no_wait_after=True)
    page.unroute("**/callback?*")
    came = {name: values[0] for name, values in parse_qs(urlsplit(stopped.value.url).query).items()}
    came[changed] = "x" * 43

    page.goto(f"/login/oidc/callback?{urlencode(came)}")

    is_refused(page, sentence)


@pytest.mark.soak
def test_going_back_does_not_sign_in_twice(page: Page, visits: Visits) -> None:
    visits.allow("403")
    page.goto("/login")
    press(page, _CONTINUE)
    with page.expect_request("**/callback?**") as returned:
        page.get_by_role("button", name="Continue as Dana").click()
    expect(page.locator(".menu summary")).to_have_text("Dana")
    page.locator(".menu summary").click()
    press(page, "Sign out")

    page.goto(returned.value.url)

    is_refused(page, "Signing in took too long or began in another browser.")


def test_a_provider_that_is_down_is_told_and_used_once_it_is_back(
    page: Page, visits: Visits, provider: Provider
) -> None:
    visits.allow("403")
    page.goto("/login?next=/jobs")
    press(page, _CONTINUE)
    with page.expect_request("**/callback?**"):
        provider.knobs.statuses = {"/token": 503}
        page.get_by_role("button", name="Continue as Dana").click()
    is_refused(page, "The identity provider answered with status 503. Try again in a moment")

    provider.knobs.statuses = {}
    press(page, _CONTINUE)
    page.get_by_role("button", name="Continue as Dana").click()

    expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()


@pytest.mark.soak
def test_a_server_whose_provider_is_down_from_the_start_says_so_and_needs_no_restart(
    visits: Visits, provider: Provider, tmp_path: Path
) -> None:
    visits.allow("502")
    provider.stop()
    with running(tmp_path, **settings_for(provider)) as server:
        page = visits.page(base_url=server.url)
        page.goto("/login")
        expect(page.get_by_text("Open a one-time link.")).to_be_visible()
        press(page, _CONTINUE)
        is_refused(page, "The identity provider cannot be reached. Try again in a moment")
        provider.start()
        provider.redirect_uri = ""

        press(page, _CONTINUE)

        expect(page.get_by_role("button", name="Continue as Dana")).to_be_visible()


@pytest.mark.soak
def test_a_provider_may_send_people_on_to_another_site(page: Page) -> None:
    """Browsers hold what a form is redirected to against the page's policy, and providers do redirect."""
    with Attacker(SAME_SITE) as elsewhere:
        there = elsewhere.page("<title>The company's own page</title>")
        page.route("**/authorize?**", lambda route: route.fulfill(status=302, headers={"Location": there}))
        page.goto("/login")

        press(page, _CONTINUE)

        expect(page).to_have_title("The company's own page")
