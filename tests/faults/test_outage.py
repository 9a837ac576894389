"""The database goes away for a while and comes back: clear answers meanwhile, and everything goes on by itself."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from sqlalchemy.engine import make_url

from tests.support.postgres import Postgres
from tests.support.servers import RunningServer, running
from tests.support.waiting import eventually


class Line:
    """The wire to the database, which can be cut and mended."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._whole = True
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._whole = False
        for end in self._open:
            end.close()
        self._open.clear()

    def mend(self) -> None:
        self._whole = True

    def close(self) -> None:
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if not self._whole:
                near.close()
                continue
            far = socket.socket(socket.AF_UNIX)
            far.connect(self._target)
            self._open += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=_forward, args=(source, sink), daemon=True).start()


def _forward(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    finally:
        for end in (source, sink):
            end.close()


@pytest.fixture
def line(postgres: Postgres) -> Iterator[tuple[Line, str]]:
    url = make_url(postgres.new_database())
    folder = url.query["host"]
    line = Line(f"{folder}/.s.PGSQL.5432")
    through = url.set(host="127.0.0.1", port=line.port, query={})
    yield line, through.render_as_string(hide_password=False)
    line.close()


@pytest.fixture
def served(line: tuple[Line, str], tmp_path: Path) -> Iterator[RunningServer]:
    with running(tmp_path, database_url=line[1]) as server:
        yield server


async def test_while_the_database_is_away_every_call_says_so_and_afterwards_all_goes_on(
    served: RunningServer, line: tuple[Line, str]
) -> None:
    wire = line[0]
    async with served.async_client() as agent, served.async_client(served.admin_key) as admin:
        asked = (await agent.post("/api/questions", json={"question": "Which database?"})).json()["questionId"]

        wire.cut()
        refused = [
            await agent.get(f"/api/questions/{asked}"),
            await agent.post("/api/questions", json={"question": "Another?"}),
            await agent.get("/api/questions/pending"),
        ]
        ready = await agent.get("/readyz")

        assert [response.status_code for response in refused] == [503] * 3
        assert {response.json()["code"] for response in refused} == {"database_unavailable"}
        assert all("Idempotency-Key" in response.json()["detail"] for response in refused)
        assert ready.status_code == 503

        wire.mend()

        async def is_ready() -> bool:
            return (await agent.get("/readyz")).status_code == 200

        await eventually(is_ready)
        waiting = agent.get(f"/api/questions/{asked}", params={"wait": 30})
        answered = await admin.post(f"/api/questions/{asked}/answer", json={"response": {"value": "PostgreSQL"}})
        settled = await waiting

    assert answered.status_code == 200
    assert settled.json()["outcome"]["decidedBy"]["name"] == "Admin"
    assert "Traceback" not in served.log.read_text()


async def test_a_stop_while_the_database_is_away_is_clean(served: RunningServer, line: tuple[Line, str]) -> None:
    async with served.async_client() as agent:
        await agent.post("/api/questions", json={"question": "Which database?"})
    line[0].cut()

    code = served.stop()

    assert code == 0
    assert "Traceback" not in served.log.read_text()


async def test_a_question_asked_under_a_key_during_the_outage_is_asked_once(
    served: RunningServer, line: tuple[Line, str]
) -> None:
    wire, headers = line[0], {"Idempotency-Key": "once"}
    body = {"question": "Once?", "jobId": "outage"}
    async with served.async_client() as agent:
        wire.cut()
        first = await agent.post("/api/questions", json=body, headers=headers)
        wire.mend()

        async def taken() -> bool:
            response: httpx2.Response = await agent.post("/api/questions", json=body, headers=headers)
            return response.status_code in (200, 201)

        await eventually(taken)
        listed = (await agent.get("/api/jobs/outage/questions")).json()["questions"]

    assert first.status_code == 503
    assert len(listed) == 1
