"""Browser windows for one test: opened as wanted, listened to, and looked at when the test fails."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, WebError
from playwright.sync_api import Error as PlaywrightError

#: Options for `Visits.page` and `Visits.context`; they combine: `visits.page(**PHONE, **DARK)`.
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
DARK: dict[str, Any] = {"color_scheme": "dark"}
WITHOUT_SCRIPTS: dict[str, Any] = {"java_script_enabled": False}

_HANG_MILLISECONDS = 30_000
_EVERYWHERE_THE_SAME: dict[str, Any] = {"locale": "en-US", "timezone_id": "UTC"}
#: Chromium asks for it unasked, at its own time.
_WANTED_BY_NO_PAGE = "/favicon.ico"


class PageComplained(AssertionError):
    """A page logged an error, threw one, or did what its content security policy forbids."""


class Visits:
    """Every context is a person of their own: no cookie, no storage is shared."""

    def __init__(self, browser: Browser, base_url: str) -> None:
        self._browser = browser
        self._base_url = base_url
        self._contexts: list[BrowserContext] = []
        self._heard: list[str] = []
        self._allowed: list[re.Pattern[str]] = []

    def context(self, **options: Any) -> BrowserContext:
        context = self._browser.new_context(**({"base_url": self._base_url} | _EVERYWHERE_THE_SAME | options))
        context.set_default_timeout(_HANG_MILLISECONDS)
        context.on("console", self._hear_console)
        context.on("weberror", self._hear_error)
        context.tracing.start(snapshots=True)
        self._contexts.append(context)
        return context

    def page(self, **options: Any) -> Page:
        """A page in a context of its own."""
        return self.context(**options).new_page()

    def allow(self, pattern: str) -> None:
        """For complaints that belong to the test, such as Chromium's about every response with status 4xx."""
        self._allowed.append(re.compile(pattern))

    def complaints(self) -> list[str]:
        for page in self._open_pages():
            self._let_it_finish_talking(page)
        return [line for line in self._heard if not any(pattern.search(line) for pattern in self._allowed)]

    def check(self) -> None:
        complaints = self.complaints()
        if complaints:
            raise PageComplained("the page complained:\n" + "\n".join(complaints))

    @contextmanager
    def offline(self, context: BrowserContext) -> Iterator[None]:
        """No new request gets through; what the browser itself says about that is no complaint.

        Chromium leaves an event stream that is already open alone: to cut one, kill the server.
        """
        self.allow(r"net::ERR_INTERNET_DISCONNECTED")
        context.set_offline(True)
        try:
            yield
        finally:
            context.set_offline(False)

    def keep_evidence(self, folder: Path) -> list[Path]:
        """A screenshot of every page and a trace of every context, as far as the browser still gives them."""
        folder.mkdir(parents=True, exist_ok=True)
        for number, page in enumerate(self._open_pages(), start=1):
            with suppress(PlaywrightError):
                page.screenshot(path=folder / f"page-{number}.png")
        for number, context in enumerate(self._contexts, start=1):
            with suppress(PlaywrightError):
                context.tracing.stop(path=folder / f"trace-{number}.zip")
        return sorted(folder.iterdir())

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def _open_pages(self) -> list[Page]:
        return [page for context in self._contexts for page in context.pages]

    def _let_it_finish_talking(self, page: Page) -> None:
        """Events come in order, so whatever the page said before it answers has been heard by then."""
        with suppress(PlaywrightError):  # closing or between two documents: nothing more will come
            page.title()

    def _hear_console(self, message: ConsoleMessage) -> None:
        where = message.location.get("url", "")
        if message.type == "error" and not where.endswith(_WANTED_BY_NO_PAGE):
            self._heard.append(f"{where}: {message.text}")

    def _hear_error(self, error: WebError) -> None:
        where = error.page.url if error.page is not None else ""
        self._heard.append(f"{where}: uncaught {error.error.name}: {error.error.message}")
