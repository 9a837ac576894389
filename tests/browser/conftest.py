"""A real Chromium against a real server: what a person at the inbox sees and does."""

import os
import re
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.people import House, house_at
from tests.support.browsers import (
    Found,
    Machine,
    first_found,
    must_have_a_browser,
    playwrights_own,
    verdict,
    ways_that_change_nothing,
)
from tests.support.servers import ROOT, RunningServer
from tests.support.visits import Visits

EVIDENCE = ROOT / ".testdata" / "browser"
_HANG_MILLISECONDS = 30_000
_VISITS = pytest.StashKey[Visits]()
_ARGUMENTS = (
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-proxy-server",
    # whatever a page wants from elsewhere is not there, with or without a network
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.*",
)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A module stays on one worker, which saves the other a server; modules run beside each other."""
    for item in items:
        if Path(__file__).parent in item.path.parents and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.fixture(scope="session")
def chromium() -> Found:
    """The browser there is; nothing is installed from inside a test."""
    found = first_found(ways_that_change_nothing(Machine.this(), playwrights_own))
    if found is None:
        line, _ = verdict(None, os.environ)
        leave = pytest.fail if must_have_a_browser(os.environ) else pytest.skip
        leave(line)
    return found


@pytest.fixture(scope="package")  # not session: until it ends, an event loop runs, and no async test could
def browser(chromium: Found) -> Iterator[Browser]:
    """One process for the browser tests of a worker."""
    expect.set_options(timeout=_HANG_MILLISECONDS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium.executable, args=_ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def house(server: RunningServer) -> Iterator[House]:
    """The module's server with people who sign in and an agent that asks."""
    with house_at(server) as inhabited:
        yield inhabited


@pytest.fixture
def visits(browser: Browser, server: RunningServer, request: pytest.FixtureRequest) -> Iterator[Visits]:
    """Opens further windows: `visits.page(**PHONE)`. Relative addresses mean the module's server."""
    opened = Visits(browser, server.url)
    request.node.stash[_VISITS] = opened
    yield opened
    opened.close()


@pytest.fixture
def context(visits: Visits) -> BrowserContext:
    return visits.context()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    yield
    visits = item.stash.get(_VISITS, None)
    if visits is not None:
        visits.check()


@pytest.hookimpl(wrapper=True, tryfirst=True)  # outside of xfail, whose failures are none
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    visits = item.stash.get(_VISITS, None)
    if visits is not None and report.failed and report.when != "teardown":
        folder = EVIDENCE / re.sub(r"\W+", "-", item.nodeid).strip("-")[:150]
        shutil.rmtree(folder, ignore_errors=True)
        report.sections.append(("what the browser saw", "\n".join(map(str, visits.keep_evidence(folder)))))
        report.sections.append(("what the pages complained about", "\n".join(visits.complaints())))
    return report
