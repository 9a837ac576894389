"""The browser tests' own tools: they find what is wrong, and only that."""

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, expect

from tests.support.attacker import CROSS_SITE, SAME_SITE, Attacker
from tests.support.axe import serious_problems
from tests.support.servers import ROOT
from tests.support.visits import DARK, PHONE, PageComplained, Visits

STRICT = {"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:"}
BAD_PAGE = """<!doctype html><html lang="en"><title>Bad</title>
<main><h1>Bad</h1><img src="data:,"><button></button><p style="color:#ccc;background:#fff">pale</p></main>"""
ADD_AN_INLINE_SCRIPT = """() => {
    const script = document.createElement("script");
    script.text = "document.title = 'it ran'";
    document.body.append(script);
}"""
A_FAILING_RUN = """
from collections.abc import Iterator
import pytest
import tests.browser.conftest as real
from tests.browser.conftest import *
from tests.support.attacker import Attacker

real.EVIDENCE = __EVIDENCE__

@pytest.fixture
def server() -> Iterator[Attacker]:
    with Attacker() as site:
        yield site
"""
FAILING_TESTS = """
def test_that_logs(page, server):
    page.goto(server.page("<title>t</title><script>console.error('logged this')</script>"))

def test_that_breaks_its_policy(page, server):
    page.goto(server.page("<title>t</title><p style='color:red'>", {"Content-Security-Policy": "default-src 'none'"}))

def test_that_fails_by_itself(page, server):
    page.goto(server.page("<title>t</title>"))
    assert page.title() == "another"

def test_that_is_fine(page, server):
    page.goto(server.page("<title>t</title><script>console.warn('only a warning')</script>"))
"""


def test_a_page_of_the_server_opens(page: Page) -> None:
    page.goto("/docs")

    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_axe_looks_at_a_page_with_its_policy_in_force(page: Page, visits: Visits) -> None:
    with Attacker() as site:
        page.goto(site.page(BAD_PAGE.replace(' style="color:#ccc;background:#fff"', ""), STRICT))
        problems = serious_problems(page)
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'), {text: 'document.title = 1'}))"
        )
        assert page.title() == "Bad"

    assert [problem.split(":")[0] for problem in problems] == [
        "button-name (critical) at button",
        "image-alt (critical) at img",
    ]
    visits.allow("Executing inline script violates .* 'script-src 'self''")


def test_axe_says_what_is_wrong_where_and_what_mends_it(page: Page) -> None:
    page.set_content(BAD_PAGE)

    problems = serious_problems(page)

    assert len(problems) == 3
    assert problems[0].startswith("button-name (critical) at button: Buttons must have discernible text. Fix any")
    assert any(problem.startswith("color-contrast (serious) at p:") for problem in problems)


@pytest.mark.soak
def test_axe_has_nothing_against_a_good_page(page: Page) -> None:
    page.set_content('<!doctype html><html lang="en"><title>Good</title><main><h1>Good</h1></main>')

    assert serious_problems(page) == []


@pytest.mark.parametrize(
    ("markup", "complaint"),
    [
        ("<script>console.error('logged')</script>", "logged"),
        ("<script>null.thrown</script>", "uncaught TypeError: Cannot read properties of null"),
        ("<script>Promise.reject(new Error('forgotten'))</script>", "uncaught Error: forgotten"),
        ("<link rel=stylesheet href='//elsewhere.example/x.css'>", "elsewhere.example.*ERR_NAME_NOT_RESOLVED"),
    ],
)
def test_what_a_page_complains_about_fails_its_test(page: Page, visits: Visits, markup: str, complaint: str) -> None:
    with Attacker() as site:
        page.goto(site.page(markup))

    with pytest.raises(PageComplained, match=complaint):
        visits.check()
    visits.allow(complaint)


def test_an_answer_that_something_is_missing_is_a_complaint(page: Page, visits: Visits) -> None:
    page.goto("/nowhere")

    with pytest.raises(PageComplained, match=r"/nowhere: Failed to load resource: .* 404"):
        visits.check()
    visits.allow("404")


@pytest.mark.soak
@pytest.mark.usefixtures("chromium")
def test_such_a_test_names_what_is_kept(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(A_FAILING_RUN.replace("__EVIDENCE__", f"real.Path({str(tmp_path)!r})"))
    (tmp_path / "test_failing.py").write_text(FAILING_TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml", str(tmp_path)]

    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)

    assert "3 failed, 1 passed" in run.stdout
    assert "logged this" in run.stdout
    assert "violates the following Content Security Policy directive" in run.stdout
    kept = [Path(line) for line in run.stdout.splitlines() if line.endswith((".png", ".zip"))]
    assert [path.name for path in kept] == ["page-1.png", "trace-1.zip"] * 3
    assert all(path.stat().st_size > 500 for path in kept)


@pytest.mark.soak
def test_windows_are_phones_dark_or_both_and_share_nothing(visits: Visits) -> None:
    phone, dark = visits.page(**PHONE), visits.page(**PHONE, **DARK)
    for page in (phone, dark):
        page.goto("/docs")
        page.evaluate("localStorage.length === 0 || console.error('somebody was here before'); localStorage.a = 1")

    assert phone.evaluate("[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]") == [390, False]
    assert dark.evaluate("[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]") == [390, True]


def test_offline_is_offline_and_ends(page: Page, visits: Visits) -> None:
    page.goto("/docs")
    with visits.offline(page.context):
        assert page.evaluate("navigator.onLine") is False
        with pytest.raises(PlaywrightError, match="ERR_INTERNET_DISCONNECTED"):
            page.goto("/docs")

    page.goto("/docs")
    expect(page.get_by_role("heading", level=1)).to_be_visible()


@pytest.mark.parametrize(("host", "cookie"), [(CROSS_SITE, None), ("127.0.0.2", None), (SAME_SITE, "strict=1")])
def test_an_attacker_elsewhere_is_another_site_and_one_on_the_next_port_is_not(
    page: Page, host: str, cookie: str | None
) -> None:
    with Attacker(host) as evil, Attacker(SAME_SITE) as target:
        page.goto(target.page("", {"Set-Cookie": "strict=1; SameSite=Strict"}))
        decided = target.page("<title>decided</title>")
        form = f"<form method=post action='{decided}'><input name=answer value=approve></form>"
        page.goto(evil.page(f"{form}<script>document.forms[0].submit()</script>"))
        expect(page).to_have_title("decided")

    forged = target.received[-1]
    assert (forged.method, forged.body, forged.headers.get("Cookie")) == ("POST", b"answer=approve", cookie)
    assert forged.headers["Origin"] == evil.url
