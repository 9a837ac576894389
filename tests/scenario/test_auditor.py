"""A question that the store has forgotten is found by a server that starts, told, and settled on time all the same."""

import http.server
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from tests.scenario.talk import ask, look, settled
from tests.support.servers import RunningServer, running
from tests.support.waiting import eventually

#: Long enough for a server to start again before it is over.
LIMIT = 8 / 60


class Monitor:
    """Somebody outside who expects a sign of life."""

    def __init__(self) -> None:
        self.beats: list[str] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.beats.append(self.path)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/ping/handraise"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    async def heard(self) -> None:
        async def beaten() -> bool:
            return bool(self.beats)

        await eventually(beaten)


@pytest.fixture
def monitor() -> Iterator[Monitor]:
    made = Monitor()
    yield made
    made.close()


def forget(server: RunningServer, question_id: str) -> None:
    """Somebody's hand on the file: the question is open and nothing is going to bring it up."""
    with closing(sqlite3.connect(server.data_dir / "handraise.db", timeout=30)) as file, file:
        changed = file.execute("UPDATE questions SET due_at = NULL WHERE id = ?", (question_id,))
        assert changed.rowcount == 1


def overdue(client: httpx2.Client) -> float:
    lines = client.get("/metrics").text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("handraise_overdue "))


def neglected(server: RunningServer) -> list[str]:
    return [line for line in server.log.read_text().splitlines() if "an open question is neglected" in line]


async def test_a_forgotten_question_is_told_and_settles_on_time(data_dir: Path, monitor: Monitor) -> None:
    with running(data_dir, heartbeat_url=monitor.url) as first, first.client() as agent:
        question = ask(agent, timeoutMinutes=LIMIT)
        sound = ask(agent)
        await monitor.heard()
        forget(first, question["id"])
        assert overdue(agent) == 0
        assert neglected(first) == []
    beats = len(monitor.beats)

    with running(data_dir, heartbeat_url=monitor.url) as second, second.client() as agent:

        async def told() -> bool:
            return overdue(agent) == 1 and bool(neglected(second))

        await eventually(told)
        ready = agent.get("/readyz")
        done = settled(agent, question["id"])
        (line,) = neglected(second)

    assert (done["status"], done["outcome"]["kind"]) == ("timeout", "expired")
    assert done["outcome"]["decidedAt"] >= question["timeoutAt"]
    assert question["id"] in line
    assert sound["id"] not in line
    assert question["id"] in ready.text
    assert ready.status_code == 503
    assert len(monitor.beats) == beats, "a server with a neglected question says that all is well"
    assert set(monitor.beats) == {"/ping/handraise"}


async def test_where_all_is_well_every_start_is_heard(data_dir: Path, monitor: Monitor) -> None:
    for _ in range(2):
        monitor.beats.clear()
        with running(data_dir, heartbeat_url=monitor.url) as server, server.client() as agent:
            question = ask(agent)
            await monitor.heard()
            assert overdue(agent) == 0
            assert agent.get("/readyz").status_code == 200
            assert neglected(server) == []
            assert look(agent, question["id"])["status"] == "pending"
