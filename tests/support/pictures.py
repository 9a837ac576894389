"""The pictures of the README: a real server, lifelike questions, a real browser. `make images` writes docs/images."""

import difflib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx2
from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.browsers import Machine, first_found, playwrights_own, verdict, ways_that_change_nothing
from tests.support.servers import BIN, ROOT, RunningServer, clean_environment, running
from tests.support.visits import DARK, PHONE

IMAGES = ROOT / "docs" / "images"
_WIDE: dict[str, Any] = {"viewport": {"width": 1180, "height": 820}}
_PHONE: dict[str, Any] = PHONE

_BEFORE = """\
api:
  image: shop/api:1.3.9
  replicas: 3
  resources:
    memory: 512Mi
    cpu: 250m
  env:
    CHECKOUT_V2: "off"
    CACHE_TTL: 300
"""
_CHANGES = (('"off"', '"on"'), ("1.3.9", "1.4.0"), ("replicas: 3", "replicas: 5"), ("512Mi", "768Mi"))
_CUSTOMER: dict[str, Any] = {
    "type": "object",
    "required": ["company", "contact", "plan", "trial"],
    "properties": {
        "company": {"type": "string", "title": "Company", "minLength": 2},
        "contact": {"type": "string", "format": "email", "title": "Contact address"},
        "plan": {"type": "string", "enum": ["team", "business", "enterprise"], "title": "Plan"},
        "seats": {"type": "integer", "minimum": 1, "maximum": 500, "title": "Seats", "default": 25},
        "regions": {"type": "array", "title": "Regions", "items": {"enum": ["eu", "us", "apac"]}},
        "trial": {"type": "boolean", "title": "Start with a trial?", "description": "14 days without an invoice."},
    },
}
_QUEUES: list[dict[str, Any]] = [
    {
        "label": "PostgreSQL with SKIP LOCKED",
        "description": "A table and a worker loop beside the orders.",
        "recommended": True,
        "implications": "No new system to run.",
        "pros": ["Commits together with the order", "Nothing new to operate"],
        "cons": ["About 5,000 jobs a second at most"],
    },
    {"label": "Redis Streams", "pros": ["Fast"], "cons": ["May lose the last second in a crash"]},
    {"label": "Kafka", "pros": ["Scales far"], "cons": ["Three brokers for 200 jobs a minute"]},
]


def _diff() -> str:
    after = _BEFORE
    for old, new in _CHANGES:
        after = after.replace(old, new)
    lines = difflib.unified_diff(
        _BEFORE.splitlines(True), after.splitlines(True), "a/production.yml", "b/production.yml"
    )
    return "".join(lines)


class Scene:
    """Agents at work: what they ask, and what was decided before anybody looks."""

    def __init__(self, server: RunningServer) -> None:
        self._agents = server.client()
        self._people = server.admin()
        self.asked: dict[str, str] = {}

    def set(self) -> None:
        self._settled()
        self._waiting()

    def _ask(self, name: str, question: str, **body: Any) -> str:
        job = body.pop("job", None)
        path = f"/api/jobs/{job}/questions" if job is not None else "/api/questions"
        response = self._agents.post(path, json={"question": question, **body}).raise_for_status()
        self.asked[name] = response.json()["questionId"]
        return self.asked[name]

    def _answer(self, question_id: str, value: Any, text: str | None = None) -> None:
        body = {"response": {"value": value, "text": text}}
        self._people.post(f"/api/questions/{question_id}/answer", json=body).raise_for_status()

    def _settled(self) -> None:
        rows: tuple[tuple[str, dict[str, Any], Any, str | None], ...] = (
            (
                "Which region first?",
                {"options": ["eu-central-1", "us-east-1"], "agent": "deployer"},
                "eu-central-1",
                None,
            ),
            (
                "Create 5 tickets in Linear?",
                {
                    "type": "approval",
                    "agent": "planner",
                    "action": {"tool": "linear.create", "arguments": {"count": 5}},
                },
                True,
                None,
            ),
            (
                "Drop the table sessions_old?",
                {
                    "type": "approval",
                    "agent": "migrator",
                    "action": {"tool": "sql.run", "arguments": {}, "risk": "high"},
                },
                False,
                "Keep it until the audit in December.",
            ),
            ("Who is the contact for billing?", {"responseType": "text", "agent": "writer"}, "Fatima, since May", None),
        )
        for text, body, value, why in rows:
            self._answer(self._ask(text, text, job="release-1.3", **body), value, why)
        withdrawn = self._ask("withdrawn", "Publish the changelog now?", responseType="boolean", agent="writer")
        self._agents.post(f"/api/questions/{withdrawn}/cancel", json={"reason": "published by hand"})

    def _waiting(self) -> None:
        self._ask(
            "deploy",
            "Deploy shop 1.4.0 to production?",
            type="approval",
            job="release-1.4",
            projectId="shop",
            agent="deployer",
            context={"currentStep": "412 tests passed; staging has run for 6 hours without an error."},
            action={
                "tool": "deploy.release",
                "arguments": {
                    "version": "1.4.0",
                    "region": "eu-central-1",
                    "strategy": {"kind": "canary", "steps": [5, 25, 100]},
                },
                "diff": _diff(),
                "risk": "high",
                "editable": True,
            },
        )
        self._ask(
            "migration",
            "The migration failed at table invoices. Retry, skip or abort?",
            type="error_recovery",
            responseType="choice",
            job="migrate-2026-11",
            agent="migrator",
            urgency="high",
            options=["Retry", "Skip", "Abort"],
            defaultResponse={"value": "Skip"},
            context={"errorDetails": "LockNotAvailable: canceling statement due to lock timeout"},
        )
        self._ask(
            "signals",
            "Delete 3 duplicate signals?",
            type="approval",
            job="clean-up",
            agent="janitor",
            action={"tool": "signals.delete", "arguments": {"ids": "sig_18, sig_19, sig_22"}, "risk": "low"},
        )
        self._ask(
            "queue",
            "Which queue should the order service use?",
            responseType="choice",
            job="plan-orders",
            projectId="shop",
            agent="planner",
            options=_QUEUES,
            allowFreeText=True,
        )
        self._ask(
            "customer", "Set up Acme", responseType="form", job="onboard-acme", agent="onboarder", schema=_CUSTOMER
        )
        self._ask("beta", "When does the beta begin?", responseType="text", job="plan-orders", agent="planner")


def _sign_in(page: Page, server: RunningServer) -> None:
    told = subprocess.run(
        [str(BIN / "handraise-bot"), "people", "login", "--data-dir", str(server.data_dir)],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    page.goto(told.stdout.strip())
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{server.url}/")


def _shoot(browser: Browser, server: RunningServer, scene: Scene) -> None:
    pictures: tuple[tuple[str, str, dict[str, Any], bool], ...] = (
        ("inbox", "/", _WIDE, False),
        ("approval", f"/q/{scene.asked['deploy']}", _WIDE | {"viewport": {"width": 1180, "height": 1180}}, False),
        ("trade-off", f"/q/{scene.asked['queue']}", _WIDE, False),
        ("form", f"/q/{scene.asked['customer']}", _WIDE, False),
        ("history", "/history", _WIDE, False),
        ("phone", "/", _PHONE, False),
        ("dark", f"/q/{scene.asked['deploy']}", _WIDE | DARK, False),
    )
    for name, path, options, whole in pictures:
        context = browser.new_context(base_url=server.url, locale="en-GB", timezone_id="Europe/Berlin", **options)
        page = context.new_page()
        _sign_in(page, server)
        page.goto(path)
        page.locator("#mine-count").wait_for()  # by then the scripts have done their part
        page.screenshot(path=IMAGES / f"{name}.png", full_page=whole)
        context.close()
        sys.stdout.write(f"docs/images/{name}.png\n")


def main() -> None:
    chromium = first_found(ways_that_change_nothing(Machine.this(), playwrights_own))
    if chromium is None:
        raise SystemExit(verdict(None, os.environ)[0])
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as server:
        admin = server.admin()
        admin.patch("/api/people/me", json={"name": "Dana"}).raise_for_status()
        scene = Scene(server)
        scene.set()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium.executable)
            try:
                _shoot(browser, server, scene)
            except httpx2.HTTPError as failure:
                raise SystemExit(f"the server did not answer: {failure}") from None
            finally:
                browser.close()


if __name__ == "__main__":
    main()
