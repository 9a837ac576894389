"""From the answer's commit to the agent: by long poll, by event stream and by webhook. One process, real HTTP.

`python -m bench.relay [COUNT]`. The clock starts when the answering call returns, which is after the commit; where the
agent has the answer before that call is back, the figure is below zero and counts as zero.
"""

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

import uvloop
from aiohttp import ClientSession, web

from bench.cycle import Place, place_of
from bench.figures import milliseconds, percentile, show
from bench.fill import fill
from bench.wire import Connection, connect
from tests.support.servers import RunningServer, running


class Ears:
    """Everything that hears of an answer, and when it did."""

    def __init__(self) -> None:
        self.heard: dict[tuple[str, str], float] = {}
        self._waiting: dict[tuple[str, str], asyncio.Event] = {}

    def hear(self, way: str, question: str) -> None:
        self.heard[way, question] = time.perf_counter()
        self._waiting.setdefault((way, question), asyncio.Event()).set()

    async def until(self, way: str, question: str) -> None:
        await self._waiting.setdefault((way, question), asyncio.Event()).wait()


async def _stream(place: Place, ears: Ears) -> None:
    headers = {"Authorization": f"Bearer {place.agent_key}"}
    async with (
        ClientSession() as session,
        session.get(f"http://127.0.0.1:{place.port}/api/events", headers=headers, timeout=None) as reply,
    ):
        async for raw in reply.content:
            if raw.startswith(b"data: "):
                event = json.loads(raw[6:])
                if event["type"] == "question.answered":
                    ears.hear("stream", event["data"]["id"])


async def _receiver(ears: Ears) -> web.AppRunner:
    async def hook(request: web.Request) -> web.Response:
        event = await request.json()
        if event["type"] == "question.answered":
            ears.hear("webhook", event["data"]["id"])
        return web.Response()

    application = web.Application()
    application.router.add_post("/hook", hook)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner


async def _poll(waiter: Connection, question: str, ears: Ears) -> None:
    await waiter.call("GET", f"/api/questions/{question}?wait=50")
    ears.hear("long poll", question)


async def measure(place: Place, count: int) -> dict[str, list[float]]:
    ears = Ears()
    runner = await _receiver(ears)
    agent = await connect("127.0.0.1", place.port, place.agent_key)
    waiter = await connect("127.0.0.1", place.port, place.agent_key)
    person = await connect("127.0.0.1", place.port, place.person_key)
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    await agent.call("POST", "/api/webhooks", {"url": url, "events": ["question.answered"]})
    streaming = asyncio.create_task(_stream(place, ears))
    await asyncio.sleep(0.5)
    lags: dict[str, list[float]] = {"long poll": [], "stream": [], "webhook": []}
    for number in range(count + 20):
        asked = await agent.call("POST", "/api/questions", {"question": "Which database?"})
        question = asked["questionId"]
        polling = asyncio.create_task(_poll(waiter, question, ears))
        await asyncio.sleep(0.002)
        await person.call("POST", f"/api/questions/{question}/answer", {"response": {"value": "PostgreSQL"}})
        committed = time.perf_counter()
        for way in lags:
            await ears.until(way, question)
        await polling
        if number >= 20:
            for way, taken in lags.items():
                taken.append(max(0.0, ears.heard[way, question] - committed))
    streaming.cancel()
    for connection in (agent, waiter, person):
        connection.close()
    await runner.cleanup()
    return lags


def _rows(server: RunningServer, title: str, count: int) -> list[list[str]]:
    lags = uvloop.run(measure(place_of(server), count))
    return [
        [f"{way}, {title}", milliseconds(percentile(taken, 0.5)), milliseconds(percentile(taken, 0.99))]
        for way, taken in lags.items()
    ]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rows: list[list[str]] = []
    for amount, title in ((0, "idle"), (10_000, "10,000 open")):
        with tempfile.TemporaryDirectory() as name:
            asyncio.run(fill(Path(name), amount))
            with running(Path(name), webhook_allow="127.0.0.1") as server:
                rows += _rows(server, title, count)
    show("from the answer's commit to the agent", ["", "p50", "p99"], rows)


if __name__ == "__main__":
    main()
