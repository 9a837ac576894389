"""What a page looks like, as far as a number can tell."""

from playwright.sync_api import Page

_TOO_WIDE = """() => {
    const wide = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= wide) return [];
    const beyond = (element) => element.getBoundingClientRect().right > wide + 1;
    const inner = [...document.body.querySelectorAll("*")].filter((element) =>
        beyond(element) && ![...element.children].some(beyond) && !element.closest(".diff, dialog:not([open])"));
    return inner.map((element) => element.outerHTML.slice(0, 120));
}"""
_TOO_SMALL = """least => [...document.querySelectorAll("button, .button, summary, select")]
    .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest(".no-default"))
    .map((element) => [element.getBoundingClientRect().height, element.outerHTML.slice(0, 120)])
    .filter(([height]) => height < least)"""


def too_wide(page: Page) -> list[str]:
    """What makes the page scroll sideways."""
    found: list[str] = page.evaluate(_TOO_WIDE)
    return found


def too_small(page: Page, least: int) -> list[tuple[float, str]]:
    """What is to be pressed and is lower than this."""
    found: list[tuple[float, str]] = page.evaluate(_TOO_SMALL, least)
    return found
