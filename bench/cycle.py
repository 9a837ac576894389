"""The whole way: an agent asks, a person answers, the waiting agent has it. Real HTTP, SQLite with full durability.

`python -m bench.cycle [--quick]`. Prints the latency of one cycle after another, cycles per second with 32 clients, the
same for a hand-written service in the same run, the floor of this machine, and what a cycle costs with many questions
already open.
"""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import uvloop

from bench.figures import milliseconds, percentile, show
from bench.fill import fill
from bench.wire import Connection, connect
from tests.support.servers import RunningServer, running

_CLIENTS = 32


@dataclass(frozen=True)
class Place:
    """Somewhere to ask and answer."""

    port: int
    agent_key: str = "none"
    person_key: str = "none"


class Client:
    """An agent that asks, the same agent waiting, and a person."""

    def __init__(self, asker: Connection, waiter: Connection, person: Connection) -> None:
        self._asker, self._waiter, self._person = asker, waiter, person

    async def cycle(self) -> float:
        begin = time.perf_counter()
        asked = await self._asker.call("POST", "/api/questions", {"question": "Which database?"})
        name = asked["questionId"]
        waiting = self._waiter.send("GET", f"/api/questions/{name}?wait=50")
        answer = {"response": {"value": "PostgreSQL"}}
        await self._person.call("POST", f"/api/questions/{name}/answer", answer)
        status, body = await waiting
        if status != 200 or b"answered" not in body:
            raise AssertionError(f"the waiting agent got {status} {body.decode()}")
        return time.perf_counter() - begin

    def close(self) -> None:
        for connection in (self._asker, self._waiter, self._person):
            connection.close()


async def _client(place: Place) -> Client:
    host = "127.0.0.1"
    keys = (place.agent_key, place.agent_key, place.person_key)
    asker, waiter, person = [await connect(host, place.port, key) for key in keys]
    return Client(asker, waiter, person)


async def sequential(place: Place, count: int) -> list[float]:
    client = await _client(place)
    for _ in range(50):
        await client.cycle()
    taken = [await client.cycle() for _ in range(count)]
    client.close()
    return taken


async def throughput(place: Place, seconds: float) -> float:
    clients = [await _client(place) for _ in range(_CLIENTS)]
    end = time.perf_counter() + seconds
    done = 0

    async def work(client: Client) -> None:
        nonlocal done
        while time.perf_counter() < end:
            await client.cycle()
            done += 1

    begin = time.perf_counter()
    await asyncio.gather(*(work(client) for client in clients))
    taken = time.perf_counter() - begin
    for client in clients:
        client.close()
    return done / taken


@contextmanager
def peer() -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as folder:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        process = subprocess.Popen([sys.executable, "-m", "bench.peer", str(port), folder])
        try:
            for _ in range(200):
                try:
                    httpx2.get(f"http://127.0.0.1:{port}/openapi.json")
                    break
                except httpx2.TransportError:
                    time.sleep(0.1)
            yield Place(port)
        finally:
            process.terminate()
            process.wait()


def place_of(server: RunningServer) -> Place:
    return Place(server.port, server.agent_key, server.admin_key)


def fsync_cost(folder: Path) -> float:
    file = os.open(folder / "fsync", os.O_CREAT | os.O_WRONLY)
    taken = []
    for _ in range(300):
        os.write(file, b"x" * 4096)
        begin = time.perf_counter()
        os.fsync(file)
        taken.append(time.perf_counter() - begin)
    os.close(file)
    return percentile(taken, 0.5)


async def bare_request(place: Place) -> float:
    connection = await connect("127.0.0.1", place.port, place.agent_key)
    taken = []
    for _ in range(1000):
        begin = time.perf_counter()
        await connection.call("GET", "/healthz")
        taken.append(time.perf_counter() - begin)
    connection.close()
    return percentile(taken, 0.5)


def resident(server: RunningServer) -> str:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return f"{int(line.split()[1]) / 1024:.0f} MB"


async def each_call(place: Place, count: int) -> tuple[float, float, float]:
    """The median cost of a new ask, an answer and a page of what is pending."""
    agent = await connect("127.0.0.1", place.port, place.agent_key)
    person = await connect("127.0.0.1", place.port, place.person_key)
    asks, answers, lists = list[float](), list[float](), list[float]()
    for _ in range(10):  # so that a page has the same ten entries, however many others there are
        await agent.call("POST", "/api/questions", {"question": "Which database?"})
    for number in range(count + 20):
        begin = time.perf_counter()
        asked = await agent.call("POST", "/api/questions", {"question": "Which database?"})
        middle = time.perf_counter()
        path = f"/api/questions/{asked['questionId']}/answer"
        await person.call("POST", path, {"response": {"value": "PostgreSQL"}})
        end = time.perf_counter()
        await person.call("GET", "/api/questions/pending?limit=10")
        if number >= 20:
            asks.append(middle - begin)
            answers.append(end - middle)
            lists.append(time.perf_counter() - end)
    agent.close()
    person.close()
    return percentile(asks, 0.5), percentile(answers, 0.5), percentile(lists, 0.5)


def _speed(quick: bool) -> None:
    count, seconds = (300, 3.0) if quick else (2000, 10.0)
    rows, rates, medians = [], [], []
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as server:
        floor = fsync_cost(Path(folder)), uvloop.run(bare_request(place_of(server)))
        for name, place in (("handraise", place_of(server)),):
            taken, rate = uvloop.run(sequential(place, count)), uvloop.run(throughput(place, seconds))
            rates.append(rate)
            medians.append(percentile(taken, 0.5))
            rows.append(_cycle_row(name, taken, rate))
    with peer() as place:
        taken, rate = uvloop.run(sequential(place, min(count, 500))), uvloop.run(throughput(place, seconds))
        rates.append(rate)
        medians.append(percentile(taken, 0.5))
        rows.append(_cycle_row("hand-written FastAPI + ORM + APScheduler", taken, rate))
    ratio = ["handraise against it", f"{medians[1] / medians[0]:.1f}x faster", "", f"{rates[0] / rates[1]:.1f}x"]
    show(
        f"ask -> answer -> the waiting agent has it ({_CLIENTS} clients, HTTP, SQLite FULL)",
        ["", "one after another p50", "p99", "cycles/s"],
        [*rows, ratio],
    )
    show(
        "the floor of this machine",
        ["", "p50"],
        [["fsync of 4 kB", milliseconds(floor[0])], ["GET /healthz", milliseconds(floor[1])]],
    )


def _cycle_row(name: str, taken: list[float], rate: float) -> list[str]:
    return [name, milliseconds(percentile(taken, 0.5)), milliseconds(percentile(taken, 0.99)), f"{rate:,.0f}"]


def _many_open(quick: bool) -> None:
    rows = []
    for amount in (0, 1000, 10_000) if quick else (0, 10_000, 100_000):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            asyncio.run(fill(folder, amount))
            begin = time.perf_counter()
            with running(folder) as server:
                started = time.perf_counter() - begin
                fresh = resident(server)
                asks, answers, lists = uvloop.run(each_call(place_of(server), 200 if quick else 1000))
                rows.append(
                    [
                        f"{amount:,}",
                        f"{started:.2f} s",
                        *(milliseconds(value) for value in (asks, answers, lists)),
                        fresh,
                        resident(server),
                    ]
                )
    columns = ["open questions", "start", "ask", "answer", "pending (10)", "RSS at start", "RSS after"]
    show("what many open questions cost", columns, rows)


def main() -> None:
    quick = "--quick" in sys.argv
    _speed(quick)
    _many_open(quick)


if __name__ == "__main__":
    main()
