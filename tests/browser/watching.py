"""Windows that stay open while things happen elsewhere, marked so that loading them again would show."""

from itertools import count
from typing import Any

from playwright.sync_api import Page

from tests.browser.people import House, wait_until_live
from tests.support.visits import Visits

_numbers = count(1)


class Watching:
    """Opens windows that hear what happens."""

    def __init__(self, house: House, visits: Visits) -> None:
        self._house, self._visits = house, visits

    def __call__(self, name: str, path: str, **options: Any) -> Page:
        return marked(self._house.page(self._visits, name, path, **options))


def marked(page: Page) -> Page:
    wait_until_live(page)
    page.evaluate("window.stayed = true")
    return page


def stayed(page: Page) -> bool:
    return page.evaluate("window.stayed") is True


def new_project() -> str:
    """For the questions of one test only, so that a list shows nothing else."""
    return f"project-{next(_numbers)}"
