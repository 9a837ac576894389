"""The inbox with many open questions, beside a bare page of the same framework. One process each, real HTTP.

`python -m bench.inbox [OPEN]`. Times are from the request to the last byte, one request at a time.
"""

import asyncio
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx2

from bench.figures import milliseconds, percentile, show
from bench.fill import ANYBODY
from bot.firstrun import ADMIN
from bot.wiring import WORKSPACE
from core.answers import ApprovalShape, ChoiceShape, Option, TextShape
from core.commands import Ask
from core.digests import action_digest
from core.ids import JobId, JsonObject, QuestionId
from core.kinds import Kind
from core.people import agent_principal
from core.question import Action, Asker, Risk, Spec, Urgency
from tests.support.backends import sql_backend, sqlite_url
from tests.support.servers import BIN, RunningServer, running

_PAGES = (
    ("inbox", "/"),
    ("inbox, put to me", "/?mine=1"),
    ("inbox, searched", "/?words=number+77"),
    ("inbox, nothing fits", "/?words=nowhere+to+be+found"),
    ("one question", "/q/q_" + "0" * 26),
    ("how many are mine", "/count"),
)
_AT_ONCE = 1000
_TRIES = 200
_WARM_UP = 20


async def _fill(folder: Path, amount: int) -> None:
    """Questions of several kinds, all put to the admin, as an inbox that nobody looked after would have them."""
    limit = timedelta(hours=23)
    plain = Spec(
        WORKSPACE, Asker(agent_principal("planner"), "planner"), "", Kind.BLOCKING, TextShape(), ANYBODY, limit
    )
    arguments: JsonObject = {"version": "1.4", "region": "eu-central-1"}
    action = Action("deploy", arguments, action_digest("deploy", arguments, None, Risk.LOW), risk=Risk.LOW)
    options = tuple(Option(name, name, description=f"What {name} means") for name in ("Retry", "Skip", "Abort"))
    kinds = (
        plain,
        replace(plain, kind=Kind.APPROVAL, shape=ApprovalShape(), action=action),
        replace(plain, kind=Kind.ERROR_RECOVERY, shape=ChoiceShape(options), urgency=Urgency.HIGH),
    )
    with sql_backend(sqlite_url(folder)) as backend:
        engine = backend.engine()
        for start in range(0, amount, _AT_ONCE):
            asks = []
            for number in range(start, min(start + _AT_ONCE, amount)):
                spec = replace(
                    kinds[number % len(kinds)],
                    text=f"Question number {number}: which of these should I use for the order service, and why?",
                    job_id=JobId(f"job-{number % 500}"),
                    project_id=f"project-{number % 20}",
                    time_limit=limit - timedelta(seconds=number % 3600),
                    asked=(ADMIN.id,),
                )
                asks.append(Ask(QuestionId(f"q_{number:026d}"), spec))
            await asyncio.gather(*(engine.handle(ask) for ask in asks))


def _session(server: RunningServer) -> httpx2.Cookies:
    told = subprocess.run(
        [str(BIN / "handraise-bot"), "people", "login", "--data-dir", str(server.data_dir)],
        capture_output=True,
        text=True,
        check=True,
    )
    secret = told.stdout.strip().rsplit("/", 1)[1]
    return httpx2.post(f"{server.url}/login", data={"link": secret}, headers={"Origin": server.url}).cookies


@contextmanager
def _bare() -> Iterator[str]:
    port = _free_port()
    process = subprocess.Popen([sys.executable, "-m", "bench.bare", str(port)])
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(url)
        yield url
    finally:
        process.terminate()
        process.wait(10)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(url: str) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            httpx2.get(url)
            return
        except httpx2.HTTPError:
            time.sleep(0.05)
    raise SystemExit(f"nothing answers at {url}")


def _times(client: httpx2.Client, path: str) -> list[float]:
    taken = []
    for _ in range(_WARM_UP + _TRIES):
        began = time.perf_counter()
        response = client.get(path)
        taken.append(time.perf_counter() - began)
        assert response.status_code == 200, (path, response.status_code)
    return taken[_WARM_UP:]


def _weight(client: httpx2.Client) -> tuple[int, int]:
    """The bytes of the page, and of everything it loads with it."""
    page = client.get("/")
    assets = set(re.findall(r'"(/static/[^"]+)"', page.text))
    folder = next(iter(assets)).rsplit("/", 1)[0]
    scripts = set(re.findall(r'from "\./([^"]+)"', client.get(f"{folder}/app.js").text))
    everything = assets | {f"{folder}/{name}" for name in scripts}
    return len(page.content), len(page.content) + sum(len(client.get(path).content) for path in everything)


def main(amount: int) -> None:
    with tempfile.TemporaryDirectory() as folder, _bare() as bare_url:
        asyncio.run(_fill(Path(folder), amount))
        with (
            running(Path(folder)) as server,
            httpx2.Client(base_url=server.url, cookies=_session(server), timeout=60) as client,
            httpx2.Client(base_url=bare_url) as bare,
        ):
            floor = percentile(_times(bare, "/"), 0.5)
            rows = [_row(name, _times(client, path), floor) for name, path in _PAGES]
            page, whole = _weight(client)
        rows.append(["bare page", milliseconds(floor), "", ""])
        show(f"Pages with {amount:,} open questions", ["page", "p50", "p99", "p50 above bare"], rows)
        weights = [["html", f"{page / 1000:,.1f}"], ["with styles and scripts", f"{whole / 1000:,.1f}"]]
        show("Weight of the inbox page", ["", "kB"], weights)


def _row(name: str, taken: list[float], floor: float) -> list[str]:
    middle, slow = percentile(taken, 0.5), percentile(taken, 0.99)
    return [name, milliseconds(middle), milliseconds(slow), milliseconds(middle - floor)]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
