"""Webhooks from the agent's side: registered, signed, retried, rotated, and never sent where they must not go."""

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from standardwebhooks.webhooks import Webhook

from tests.scenario.talk import answer, ask, ok, problem
from tests.support.servers import RunningServer, running
from tests.support.waiting import eventually

Json = dict[str, Any]


class Receiver:
    """A real HTTP server that keeps what it is sent and answers as told."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(outer.answers.pop(0) if outer.answers else 200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def verified(self, secret: str) -> list[Json]:
        return [Webhook(secret).verify(body, headers) for headers, body in self.got]

    async def has(self, count: int) -> None:
        async def arrived() -> bool:
            return len(self.got) >= count

        await eventually(arrived)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server whose operator allows webhooks to this machine."""
    with running(tmp_path_factory.mktemp("server"), webhook_allow="127.0.0.1") as started:
        yield started


def register(client: httpx2.Client, url: str, *events: str) -> Json:
    created = client.post("/api/webhooks", json={"url": url, "events": list(events) or ["question.*"]})
    assert created.status_code == 201, created.text
    made: Json = created.json()
    return made


@pytest.fixture
def own(server: RunningServer, request: pytest.FixtureRequest) -> Iterator[httpx2.Client]:
    """An agent with no other webhooks than those of its test."""
    with server.client(server.new_key(request.node.name[:90], "ask,read")) as client:
        yield client


async def test_an_agent_hears_of_its_question_signed_and_in_sequence(
    own: httpx2.Client, admin: httpx2.Client, receiver: Receiver
) -> None:
    webhook = register(own, receiver.url)

    question = ask(own, job="nightly")
    answer(admin, question["id"], "PostgreSQL", text="we know it")
    await receiver.has(2)

    told = sorted(receiver.verified(webhook["secret"]), key=lambda body: body["data"]["sequence"])
    assert [(body["type"], body["data"]["sequence"]) for body in told] == [
        ("question.asked", 1),
        ("question.answered", 2),
    ]
    assert told[1]["data"]["outcome"]["response"]["value"] == "PostgreSQL"
    assert told[1]["data"]["outcome"]["decidedBy"]["name"] == "Admin"
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 2


async def test_a_failed_message_comes_again_under_the_same_id(own: httpx2.Client, receiver: Receiver) -> None:
    receiver.answers = [500]
    webhook = register(own, receiver.url, "question.asked")

    ask(own)
    await receiver.has(2)

    first, second = receiver.got
    assert first[0]["webhook-id"] == second[0]["webhook-id"]
    assert first[1] == second[1]

    async def logged() -> bool:
        (delivery,) = ok(own.get(f"/api/webhooks/{webhook['id']}/deliveries"))["deliveries"]
        attempts = [attempt["status"] for attempt in delivery["attempts"]]
        return bool(delivery["state"] == "delivered" and attempts == [500, 200])

    await eventually(logged)


async def test_410_disables_a_webhook(own: httpx2.Client, receiver: Receiver) -> None:
    receiver.answers = [410]
    register(own, receiver.url)
    ask(own)

    async def disabled() -> bool:
        (webhook,) = ok(own.get("/api/webhooks"))["webhooks"]
        return bool(webhook["disabledWhy"] == "the endpoint answered 410 Gone")

    await eventually(disabled)
    ask(own)
    other = register(own, receiver.url + "2")
    ok(own.delete(f"/api/webhooks/{other['id']}"))
    assert len(receiver.got) == 1


async def test_a_test_message_can_be_sent(own: httpx2.Client, receiver: Receiver) -> None:
    webhook = register(own, receiver.url)

    sent = own.post(f"/api/webhooks/{webhook['id']}/test")
    await receiver.has(1)

    assert sent.status_code == 202
    (told,) = receiver.verified(webhook["secret"])
    assert (told["type"], told["data"]) == ("webhook.test", {"webhookId": webhook["id"]})
    assert receiver.got[0][0]["webhook-id"] == sent.json()["messageId"]


async def test_after_a_rotation_old_and_new_secret_both_verify(own: httpx2.Client, receiver: Receiver) -> None:
    webhook = register(own, receiver.url)
    rotated = ok(own.post(f"/api/webhooks/{webhook['id']}/rotate"))

    ask(own)
    await receiver.has(1)

    assert rotated["secret"] != webhook["secret"]
    assert rotated["previousUntil"] is not None
    assert receiver.verified(webhook["secret"]) == receiver.verified(rotated["secret"])


async def test_a_callback_is_signed_with_the_secret_of_the_key(
    server: RunningServer, admin: httpx2.Client, receiver: Receiver
) -> None:
    made = server.made_key("caller", "ask,read")
    with server.client(made["key"]) as agent:
        question = ask(agent, callbackUrl=receiver.url)
        answer(admin, question["id"], "done")
        await receiver.has(2)

    told = receiver.verified(made["callbackSecret"])
    assert sorted(body["type"] for body in told) == ["question.answered", "question.asked"]


async def test_a_foreign_agent_neither_sees_nor_hears(
    own: httpx2.Client, stranger: httpx2.Client, receiver: Receiver
) -> None:
    webhook = register(stranger, receiver.url)
    ask(own)
    mine = ask(stranger)
    await receiver.has(1)

    assert receiver.verified(webhook["secret"])[0]["data"]["id"] == mine["id"]
    assert ok(own.get("/api/webhooks")) == {"webhooks": []}
    for method, path in (("DELETE", ""), ("POST", "/test"), ("POST", "/rotate"), ("GET", "/deliveries")):
        refused = own.request(method, f"/api/webhooks/{webhook['id']}{path}")
        assert problem(refused) == (404, "webhook_not_found")
    ok(stranger.delete(f"/api/webhooks/{webhook['id']}"))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"url": "http://example.com/hook"}, "url_refused"),
        ({"url": "https://169.254.169.254/latest"}, "url_refused"),
        ({"url": "https://10.0.0.1/"}, "url_refused"),
        ({"url": "ftp://example.com/"}, "url_refused"),
        ({"url": "https://user:pass@example.com/"}, "url_refused"),
        ({"url": "https://example.com/", "events": ["nonsense"]}, "event_unknown"),
        ({"url": "https://example.com/", "events": []}, "invalid_request"),
        ({}, "invalid_request"),
    ],
)
def test_an_address_that_must_not_be_reached_is_refused_with_a_sentence(
    own: httpx2.Client, body: Json, code: str
) -> None:
    assert problem(own.post("/api/webhooks", json=body)) == (422, code)


def test_a_callback_goes_through_the_same_guard(own: httpx2.Client) -> None:
    refused = own.post("/api/questions", json={"question": "?", "callbackUrl": "https://192.168.1.1/x"})

    assert problem(refused) == (422, "url_refused")


def test_without_leave_of_the_operator_nothing_goes_to_this_machine(tmp_path: Path, receiver: Receiver) -> None:
    with running(tmp_path) as closed, closed.client() as agent:
        refused = agent.post("/api/webhooks", json={"url": receiver.url})

    assert problem(refused) == (422, "url_refused")
    assert receiver.got == []


def test_a_key_bound_to_hosts_stays_within_them(server: RunningServer) -> None:
    made = server.made_key("bound", "ask,read", "--callback-host", "hooks.example.com")
    with server.client(made["key"]) as agent:
        elsewhere = agent.post("/api/webhooks", json={"url": "https://example.com/hook"})
        within = agent.post("/api/webhooks", json={"url": "https://hooks.example.com/hook"})

    assert problem(elsewhere) == (422, "url_refused")
    assert within.status_code == 201


async def test_messages_survive_a_kill(tmp_path: Path, receiver: Receiver) -> None:
    receiver.answers = [503]
    first = RunningServer(tmp_path, webhook_allow="127.0.0.1")
    with first.client() as agent:
        webhook = register(agent, receiver.url, "question.asked")
        ask(agent)

        async def failure_is_written_down() -> bool:
            (delivery,) = ok(agent.get(f"/api/webhooks/{webhook['id']}/deliveries"))["deliveries"]
            return len(delivery["attempts"]) == 1

        # Killed before that, the message would wait for the end of its lease; tests/faults has that.
        await eventually(failure_is_written_down)
    first.kill()

    with running(tmp_path, webhook_allow="127.0.0.1"):
        await receiver.has(2)

    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
    assert [body["type"] for body in receiver.verified(webhook["secret"])] == ["question.asked"] * 2
    assert json.loads(receiver.got[0][1]) == json.loads(receiver.got[1][1])
