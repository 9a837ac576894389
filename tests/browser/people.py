"""People with sessions of their own, and an agent that asks them and waits."""

import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import httpx2
from playwright.sync_api import BrowserContext, Locator, Page

from tests.scenario.talk import Json, ask, look, ok, settled
from tests.support.servers import BIN, RunningServer, clean_environment
from tests.support.visits import Visits

#: Whom the tests know, and what they are; Admin is there from the start.
PEOPLE = {"Dana": "approver", "Erik": "approver", "Mia": "lead", "Noor": "member"}
_numbers = count(1)


def login_path(server: RunningServer, name: str) -> str:
    """The path of a link made as an operator makes it, with `handraise-bot people login`."""
    done = subprocess.run(
        [str(BIN / "handraise-bot"), "people", "login", name, "--data-dir", str(server.data_dir)],
        cwd=server.data_dir,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return urlsplit(done.stdout.strip()).path


class Waiting:
    """An agent in a long poll."""

    def __init__(self, future: Future[Json]) -> None:
        self._future = future

    def outcome(self) -> Json:
        got: Json = self._future.result(60)["outcome"]
        return got


class House:
    """The module's server with people in it."""

    def __init__(self, server: RunningServer, agent: httpx2.Client, admin: httpx2.Client) -> None:
        self.server, self.agent, self.admin = server, agent, admin
        self._pool = ThreadPoolExecutor(8)
        self._stack = ExitStack()
        self._stack.callback(self._pool.shutdown)
        self._cookies: dict[str, dict[str, str]] = {}
        self._clients: dict[str, httpx2.Client] = {}

    def close(self) -> None:
        self._stack.close()

    def add(self, name: str, role: str = "approver") -> None:
        added = self.admin.post("/api/people", json={"name": name, "role": role})
        assert added.status_code == 201, added.text

    def newcomer(self, role: str = "approver") -> str:
        """Somebody to whom nothing has been put yet."""
        name = f"Person {next(_numbers)}"
        self.add(name, role)
        return name

    def ask(self, body: Json | None = None, *, job: str | None = None, **fields: Any) -> Json:
        return ask(self.agent, body, job=job, **fields)

    def approval(self, **action: Any) -> Json:
        about = {"tool": "deploy", "arguments": {"version": "1.4"}} | action
        return self.ask(question="Deploy 1.4?", type="approval", action=about)

    def look(self, question: Json) -> Json:
        return look(self.agent, question["id"])

    def waits(self, question: Json) -> Waiting:
        return Waiting(self._pool.submit(settled, self.agent, question["id"]))

    def api(self, name: str) -> httpx2.Client:
        """This person over the API, with a key of their own."""
        if name not in self._clients:
            key = self.server.new_key(f"{name}'s phone", "answer", name)
            self._clients[name] = self._stack.enter_context(self.server.client(key))
        return self._clients[name]

    def answers(self, name: str, question: Json, value: object, **inside: Any) -> Json:
        response = {"value": value} | inside
        said = ok(self.api(name).post(f"/api/questions/{question['id']}/answer", json={"response": response}))
        assert said["success"], said
        return said

    def sign_in(self, context: BrowserContext, name: str) -> None:
        """As the button of a one-time link does; the link itself is pressed in a test of its own."""
        if name not in self._cookies:
            secret = login_path(self.server, name).rsplit("/", 1)[1]
            with httpx2.Client(base_url=self.server.url) as client:
                entered = client.post("/login", data={"link": secret}, headers={"Origin": self.server.url})
                assert entered.status_code == 303, entered.text
                self._cookies[name] = dict(client.cookies)
        context.add_cookies(
            [{"name": key, "value": value, "url": self.server.url} for key, value in self._cookies[name].items()]
        )

    def page(self, visits: Visits, name: str, path: str | None = None, **options: Any) -> Page:
        """A window of this person, alone in its browser."""
        context = visits.context(**options)
        self.sign_in(context, name)
        page = context.new_page()
        if path is not None:
            page.goto(path)
        return page


@contextmanager
def house_at(server: RunningServer) -> Iterator[House]:
    with server.client() as agent, server.admin() as admin:
        house = House(server, agent, admin)
        for name, role in PEOPLE.items():
            house.add(name, role)
        yield house
        house.close()


def card(page: Page, question: Json) -> Locator:
    return page.locator(f"#card-{question['id']}")


def path_of(question: Json) -> str:
    return f"/q/{question['id']}"


def alone(question: Json) -> str:
    """The inbox with this question only."""
    return f"/?words={question['id']}"


def wait_until_live(page: Page) -> None:
    """Until the page hears what happens."""
    # Not a function to wait for: Playwright asks again with eval, which our policy forbids.
    page.locator("body[data-live=yes]").wait_for(state="attached")
