"""Events as they happen: to whom they belong, in order, and from where a reader left off."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.scenario.talk import answer, ask, problem
from tests.support.servers import RunningServer, running

Json = dict[str, Any]


class Stream:
    """A reader of server-sent events."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self._lines = response.iter_lines()

    def next(self) -> tuple[str, str, Json]:
        """Id, name and data of the next event."""
        fields: dict[str, str] = {}
        for line in self._lines:
            if line == "" and "data" in fields:
                return fields["id"], fields["event"], json.loads(fields["data"])
            name, _, value = line.partition(": ")
            fields[name] = value
        raise AssertionError("the stream ended")

    def names(self, count: int) -> list[str]:
        return [self.next()[1] for _ in range(count)]


@contextmanager
def listening(client: httpx2.Client, path: str = "/api/events", **how: Any) -> Iterator[Stream]:
    with client.stream("GET", path, **how) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield Stream(response)


def test_an_agent_hears_of_its_questions_the_moment_something_happens(
    agent: httpx2.Client, admin: httpx2.Client, server: RunningServer
) -> None:
    with server.client() as ears, listening(ears) as stream:
        question = ask(agent, agent="builder")
        _, asked, first = stream.next()
        answer(admin, question["id"], "now", text="because")
        _, answered, second = stream.next()

    assert (asked, answered) == ("question.asked", "question.answered")
    assert first["data"]["id"] == question["id"]
    assert (first["data"]["sequence"], second["data"]["sequence"]) == (1, 2)
    assert second["type"] == "question.answered"
    assert second["data"]["outcome"]["decidedBy"]["name"] == "Admin"
    assert second["data"]["outcome"]["response"] == {"type": "text", "value": "now", "text": "because"}


def test_a_reader_goes_on_where_it_left_off(agent: httpx2.Client, server: RunningServer) -> None:
    with server.client() as ears:
        with listening(ears) as stream:
            first = ask(agent)
            last_id, _, _ = stream.next()
        missed = [ask(agent)["id"] for _ in range(3)]

        with listening(ears, headers={"Last-Event-ID": last_id}) as stream:
            by_header = [stream.next()[2]["data"]["id"] for _ in missed]
        with listening(ears, params={"after": last_id}) as stream:
            by_query = [stream.next()[2]["data"]["id"] for _ in missed]

    assert first["id"] not in by_header
    assert (by_header, by_query) == (missed, missed)


@pytest.mark.parametrize("cursor", ["999999999", "garbage", "-1", "1e9", "9" * 40])
def test_a_cursor_that_is_not_ours_is_told_to_begin_anew(
    agent: httpx2.Client, server: RunningServer, cursor: str
) -> None:
    with server.client() as ears, listening(ears, headers={"Last-Event-ID": cursor}) as stream:
        position, name, data = stream.next()
        question = ask(agent)
        _, following, event = stream.next()

    assert (name, data) == ("resync", {"after": int(position)})
    assert (following, event["data"]["id"]) == ("question.asked", question["id"])


def test_nobody_hears_of_what_they_may_not_see(
    agent: httpx2.Client, admin: httpx2.Client, stranger: httpx2.Client, server: RunningServer
) -> None:
    with listening(stranger, params={"after": "0"}) as foreign, server.admin() as ears, listening(ears) as everything:
        secret = ask(agent, {"question": "The launch code?"})
        own = ask(stranger)
        heard = foreign.next()[2]["data"]["id"]
        seen = [everything.next()[2]["data"]["id"] for _ in range(2)]

    assert heard == own["id"]
    assert seen == [secret["id"], own["id"]]


def test_a_job_is_heard_alone(agent: httpx2.Client, admin: httpx2.Client, server: RunningServer) -> None:
    ask(agent, job="heard", type="clarifying")
    with server.client() as ears, listening(ears, "/api/jobs/heard/events", params={"after": "0"}) as stream:
        begin = stream.names(2)
        ask(agent, job="unheard")
        question = ask(agent, job="heard")
        answer(admin, question["id"], "yes")
        agent.post("/api/jobs/heard/progress", json={"text": "half way"})
        names = stream.names(5)

    assert begin == ["question.asked", "job.status"]
    assert names == ["question.asked", "job.status", "question.answered", "job.status", "job.progress"]


def test_a_foreign_job_cannot_be_heard(agent: httpx2.Client, stranger: httpx2.Client) -> None:
    ask(agent, job="private")

    assert problem(stranger.get("/api/jobs/private/events")) == (404, "job_not_found")


def test_a_stopping_server_lets_its_listeners_go(data_dir: Any) -> None:
    with running(data_dir) as server, server.client() as ears, listening(ears) as stream:
        with server.client() as agent:
            ask(agent)
        stream.next()
        code = server.stop()
        with pytest.raises((AssertionError, httpx2.RemoteProtocolError)):
            stream.next()

    assert code == 0


def test_a_revoked_key_hears_nothing_more(agent: httpx2.Client, server: RunningServer) -> None:
    key = server.new_key("spy", "admin")
    with server.client(key) as ears, listening(ears) as stream:
        ask(agent)
        stream.next()
        server.revoke("spy")

        def ask_and_hear() -> None:
            for _ in range(50):
                ask(agent)
                stream.next()

        with pytest.raises((AssertionError, httpx2.RemoteProtocolError)):
            ask_and_hear()


@contextmanager
def socket(server: RunningServer, query: str = "", key: str | None = None, **how: Any) -> Iterator[ClientConnection]:
    headers = {"Authorization": f"Bearer {key or server.agent_key}"} if "subprotocols" not in how else {}
    url = server.url.replace("http", "ws") + "/api/ws" + query
    with connect(url, additional_headers=headers, **how) as connection:
        yield connection


def test_a_socket_carries_the_same_events(agent: httpx2.Client, server: RunningServer) -> None:
    with socket(server) as connection:
        question = ask(agent)
        told = json.loads(connection.recv(timeout=30))

    assert (told["type"], told["data"]["id"], told["data"]["sequence"]) == ("question.asked", question["id"], 1)
    with socket(server, f"?after={told['id'] - 1}") as connection:
        assert json.loads(connection.recv(timeout=30)) == told


def test_a_browser_sends_its_key_as_a_subprotocol(agent: httpx2.Client, server: RunningServer) -> None:
    offered = f"handraise.bearer.{server.agent_key}"
    with socket(server, subprotocols=[offered]) as connection:
        ask(agent)
        assert json.loads(connection.recv(timeout=30))["type"] == "question.asked"


def test_a_socket_hears_one_project_alone(agent: httpx2.Client, server: RunningServer) -> None:
    with socket(server, "?projectId=shop") as connection:
        ask(agent, projectId="elsewhere")
        wanted = ask(agent, projectId="shop")
        assert json.loads(connection.recv(timeout=30))["data"]["id"] == wanted["id"]


def test_a_socket_without_a_good_key_is_refused(server: RunningServer) -> None:
    with pytest.raises(InvalidStatus) as refused, socket(server, key="hr_wrong"):
        pass

    assert refused.value.response.status_code == 401


def test_a_socket_of_a_stopping_server_is_told_to_come_back(data_dir: Any) -> None:
    with running(data_dir) as server, socket(server) as connection:
        with server.client() as agent:
            ask(agent)
        connection.recv(timeout=30)
        server.stop()
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=30)

    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012
