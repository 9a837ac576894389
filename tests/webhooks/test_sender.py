"""One attempt at a time, against receivers that answer well, badly, slowly and not at all."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from standardwebhooks import Webhook

from adapters.webhooks.guard import Guard
from adapters.webhooks.sender import LIMIT, Sent, WebhookSender, retry_after
from adapters.webhooks.signing import new_secret
from tests.webhooks.canaries import Canaries
from tests.webhooks.certificates import localhost
from tests.webhooks.receivers import Receiver, Talk, receiving, talking
from tests.webhooks.resolvers import Answers

SECRET = new_secret()
NOON = datetime(2026, 11, 18, 12, 0, 0, tzinfo=UTC)
BODY = '{"type":"question.answered","data":{"answer":"Grüße"}}'.encode()
SHORT = timedelta(seconds=1)
OK = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as started:
        yield started


@pytest.fixture
async def sender() -> AsyncIterator[WebhookSender]:
    async with WebhookSender(Guard(["localhost"]), clock=lambda: NOON) as made:
        yield made


async def attempt(url: str, limit: timedelta = LIMIT) -> Sent:
    async with WebhookSender(Guard(["localhost"]), timeout=limit) as sender:
        return await sender.send(url, "msg_1", b"{}", [SECRET])


async def test_a_message_arrives_signed_and_whole(receiver: Receiver) -> None:
    async with WebhookSender(Guard(["localhost"])) as sender:
        sent = await sender.send(receiver.url("/hook?token=a%2Fb"), "msg_1", BODY, [SECRET])

    assert (sent.status, sent.retry_after, sent.failure) == (200, None, None)
    assert timedelta() < sent.duration < timedelta(seconds=15)
    [got] = receiver.got
    assert (got.method, got.target, got.body) == ("POST", "/hook?token=a%2Fb", BODY)
    headers = {name.lower(): value for name, value in got.headers.items()}
    assert (headers["content-type"], headers["user-agent"]) == ("application/json", "handraise")
    Webhook(SECRET).verify(got.body, headers)


async def test_the_time_is_that_of_the_attempt_and_the_id_that_of_the_message(receiver: Receiver) -> None:
    times = iter([NOON, NOON, NOON + timedelta(minutes=2), NOON + timedelta(minutes=2)])
    receiver.status = 500
    async with WebhookSender(Guard(["localhost"]), clock=lambda: next(times)) as sender:
        for _ in range(2):
            await sender.send(receiver.url(), "msg_1", BODY, [SECRET])

    assert [got.headers["webhook-id"] for got in receiver.got] == ["msg_1", "msg_1"]
    first, second = (int(got.headers["webhook-timestamp"]) for got in receiver.got)
    assert second - first == 120


@pytest.mark.parametrize(
    "target", ["/", "/hook?sig=a%2Fb%3D&c=d+e%20f", "/a%2fb/../c//d", '/{"a"}?<b>|^`', "/%zz%", "/@x:y?z=@"]
)
async def test_the_url_is_sent_as_it_was_given(sender: WebhookSender, receiver: Receiver, target: str) -> None:
    sent = await sender.send(receiver.url(target), "msg_1", BODY, [SECRET])

    assert sent.failure is None
    assert [got.target for got in receiver.got] == [target]


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
async def test_every_2xx_is_delivered(sender: WebhookSender, receiver: Receiver, status: int) -> None:
    receiver.status = status
    receiver.headers = {"retry-after": "60"}

    sent = await sender.send(receiver.url(), "msg_1", BODY, [SECRET])

    assert (sent.status, sent.retry_after, sent.failure) == (status, None, None)


@pytest.mark.parametrize("status", [400, 401, 404, 410, 418, 429, 500, 502, 503, 599])
async def test_every_other_status_is_a_failure(sender: WebhookSender, receiver: Receiver, status: int) -> None:
    receiver.status = status

    sent = await sender.send(receiver.url(), "msg_1", BODY, [SECRET])

    assert (sent.status, sent.retry_after, sent.failure) == (status, None, f"The receiver answered {status}.")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_not_followed(sender: WebhookSender, receiver: Receiver, status: int) -> None:
    receiver.status = status
    receiver.headers = {"location": receiver.url("/elsewhere")}

    sent = await sender.send(receiver.url(), "msg_1", BODY, [SECRET])

    assert (sent.status, sent.failure) == (status, f"The receiver answered {status}; redirects are not followed.")
    assert [got.target for got in receiver.got] == ["/hook"]


@pytest.mark.parametrize(
    ("status", "said", "understood"),
    [
        (429, "120", timedelta(minutes=2)),
        (429, "Wed, 18 Nov 2026 12:30:00 GMT", timedelta(minutes=30)),
        (503, "0", timedelta()),
        (429, "99999999", timedelta(hours=24)),
        (429, "soon", None),
    ],
)
async def test_a_receiver_may_ask_to_be_left_alone(
    sender: WebhookSender, receiver: Receiver, status: int, said: str, understood: timedelta | None
) -> None:
    receiver.status = status
    receiver.headers = {"retry-after": said}

    sent = await sender.send(receiver.url(), "msg_1", BODY, [SECRET])

    assert (sent.status, sent.retry_after) == (status, understood)


@pytest.mark.parametrize(
    ("said", "understood"),
    [
        (None, None),
        ("", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        (" 60 ", timedelta(minutes=1)),
        ("9" * 5000, None),
        ("Wed, 18 Nov 2026 11:00:00 GMT", timedelta()),
        ("Wednesday, 18-Nov-26 12:00:10 GMT", timedelta(seconds=10)),
        ("Wed, 18 Nov 2026 12:00:10 -0000", timedelta(seconds=10)),
        ("Fri, 18 Dec 2026 12:00:00 GMT", timedelta(hours=24)),
        ("Wed, 18 Nov 99999999 12:00:00 GMT", None),
        ("Wed, 99 Nov 2026 12:00:00 GMT", None),
        ("Fri, 31 Dec 9999 23:59:59 -2359", timedelta(hours=24)),
    ],
)
def test_how_long_is_read_from_seconds_and_dates(said: str | None, understood: timedelta | None) -> None:
    assert retry_after(said, NOON) == understood


async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def drip_headers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(OK)
    for number in range(3000):
        writer.write(b"x" if number else b"x-slow: x")
        await writer.drain()
        await asyncio.sleep(0.01)


async def drip_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"content-length: 100000\r\n\r\n")
    for _ in range(3000):
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


async def endless_hints(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    for _ in range(3000):
        writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("talk", "status"), [(silence, None), (drip_headers, None), (drip_body, 200), (endless_hints, None)]
)
async def test_a_slow_receiver_is_left_when_the_time_is_up(talk: Talk, status: int | None) -> None:
    async with talking(talk) as url:
        sent = await attempt(url, SHORT)

    assert (sent.status, sent.failure) == (status, "There was no complete answer within 1 s.")
    assert SHORT <= sent.duration < timedelta(seconds=15)


async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def reset_in_the_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"content-length: 1000\r\n\r\nthank")
    await writer.drain()
    await asyncio.sleep(0.05)
    writer.transport.abort()


async def end_in_a_chunk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"transfer-encoding: chunked\r\n\r\nff\r\nthank")


@pytest.mark.parametrize(("talk", "status"), [(hang_up, None), (reset_in_the_body, 200), (end_in_a_chunk, 200)])
async def test_an_answer_that_breaks_off_is_none(talk: Talk, status: int | None) -> None:
    async with talking(talk) as url:
        sent = await attempt(url)

    assert (sent.status, sent.failure) == (status, "The receiver broke the connection off.")


async def not_http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"220 mail.example.com ESMTP\r\n")


async def long_header(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"x-long: " + b"x" * 100_000 + b"\r\n\r\n")


async def many_headers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"".join(b"x-%d: x\r\n" % number for number in range(20_000)) + b"\r\n")


@pytest.mark.parametrize("talk", [not_http, long_header, many_headers])
async def test_an_answer_that_is_not_http_is_none(talk: Talk) -> None:
    async with talking(talk) as url:
        sent = await attempt(url)

    assert (sent.status, sent.failure) == (None, "What the receiver answered is not HTTP.")


async def test_of_a_huge_answer_only_the_beginning_is_fetched() -> None:
    written = 0

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(OK + b"content-length: 4000000000\r\n\r\n")
        while written < 4_000_000_000:
            writer.write(b"x" * 65536)
            await writer.drain()
            written += 65536

    async with talking(pour) as url, WebhookSender(Guard(["localhost"])) as sender:
        sent = await sender.send(url, "msg_1", b"{}", [SECRET])

    assert (sent.status, sent.failure) == (200, None)
    assert written < 64_000_000  # what fits into the buffers between us, at most


async def test_an_answer_that_says_it_is_compressed_is_not_unpacked() -> None:
    async def bomb(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK + b"content-encoding: gzip\r\ncontent-length: 5\r\n\r\nhello")

    async with talking(bomb) as url:
        sent = await attempt(url)

    assert (sent.status, sent.failure) == (200, None)


async def test_cookies_are_not_kept(sender: WebhookSender, receiver: Receiver) -> None:
    receiver.headers = {"set-cookie": "a=b; Path=/"}

    for _ in range(2):
        await sender.send(receiver.url(), "msg_1", BODY, [SECRET])

    assert ["Cookie" in got.headers for got in receiver.got] == [False, False]


async def test_proxies_of_the_environment_are_not_asked(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Canaries(low_ports=()) as canaries, WebhookSender(Guard(["localhost"])) as sender:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{canaries.ports[0]}")
        sent = await sender.send(receiver.url(), "msg_1", BODY, [SECRET])

    assert sent.failure is None
    assert canaries.met == []


async def test_a_receiver_that_is_down_is_a_failure(sender: WebhookSender) -> None:
    async with Canaries(low_ports=(), free_ports=1) as canaries:
        [port] = canaries.ports

    down = await sender.send(f"http://localhost:{port}/secret", "msg_1", BODY, [SECRET])

    assert (down.status, down.failure) == (None, "There is no connection: Connection refused.")


async def test_a_name_that_nobody_knows_is_a_failure() -> None:
    class Nobody(Answers):
        async def resolve(self, *args: object, **more: object) -> list[object]:  # type: ignore[override]
            raise OSError("unknown")

    async with WebhookSender(Guard(), resolver=Nobody()) as sender:
        sent = await sender.send("https://hooks.example.com/", "msg_1", BODY, [SECRET])

    assert (sent.status, sent.failure) == (None, "The host name could not be looked up.")


async def test_what_the_guard_refuses_is_not_sent(sender: WebhookSender, receiver: Receiver) -> None:
    sent = await sender.send(receiver.url().replace("localhost", "127.0.0.1"), "msg_1", BODY, [SECRET])

    assert sent == Sent(
        None, None, "The host is a loopback address; the operator can name it in HANDRAISE_WEBHOOK_ALLOW.", timedelta()
    )
    assert receiver.got == []


async def test_a_host_the_operator_named_is_reached_by_its_name() -> None:
    async with receiving() as receiver:
        resolver = Answers(["127.0.0.1"])
        url = receiver.url().replace("localhost", "n8n.internal")
        async with WebhookSender(Guard(["n8n.internal"]), resolver=resolver) as sender:
            sent = await sender.send(url, "msg_1", BODY, [SECRET])

    assert (sent.status, sent.failure) == (200, None)
    assert resolver.asked == ["n8n.internal"]


async def test_certificates_are_verified(tmp_path: Path) -> None:
    server, trusting = localhost(tmp_path)
    resolver = Answers(["127.0.0.1"])
    guard = Guard(["localhost", "n8n.internal"])
    async with receiving(server) as receiver:
        async with WebhookSender(guard, resolver=resolver, tls=trusting) as sender:
            trusted = await sender.send(receiver.url(), "msg_1", BODY, [SECRET])
            other = await sender.send(receiver.url().replace("localhost", "n8n.internal"), "msg_1", BODY, [SECRET])
        async with WebhookSender(guard, resolver=resolver) as sender:
            unknown = await sender.send(receiver.url(), "msg_1", BODY, [SECRET])

    assert (trusted.status, trusted.failure) == (200, None)
    assert other.failure is not None
    assert other.failure.startswith("The receiver's certificate is not accepted: Hostname mismatch")
    assert unknown.failure == "The receiver's certificate is not accepted: self-signed certificate."
    assert len(receiver.got) == 1


async def test_plain_http_behind_https_is_a_failed_handshake(receiver: Receiver, sender: WebhookSender) -> None:
    sent = await sender.send(receiver.url().replace("http:", "https:"), "msg_1", BODY, [SECRET])

    assert (sent.status, sent.failure) == (None, "The TLS handshake failed.")


async def test_many_are_sent_at_once_and_a_hanging_one_holds_up_none(receiver: Receiver) -> None:
    async with talking(silence) as slow, WebhookSender(Guard(["localhost"])) as sender:
        hanging = [asyncio.create_task(sender.send(slow, f"slow_{n}", b"{}", [SECRET])) for n in range(150)]
        quick = await asyncio.gather(*(sender.send(receiver.url(), f"msg_{n}", BODY, [SECRET]) for n in range(150)))
        still = [task for task in hanging if not task.done()]
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)

    assert {each.failure for each in quick} == {None}
    assert len(still) == 150


async def test_an_attempt_that_is_cancelled_is_cancelled() -> None:
    async with talking(silence) as slow, WebhookSender(Guard(["localhost"])) as sender:
        sending = asyncio.create_task(sender.send(slow, "msg_1", b"{}", [SECRET]))
        await asyncio.sleep(0.05)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending


@pytest.mark.parametrize("talk", [silence, hang_up, not_http, reset_in_the_body])
async def test_no_failure_repeats_what_is_secret(talk: Talk) -> None:
    async with talking(talk) as url:
        sent = await attempt(url + "/hunter2?token=hunter2", SHORT)

    assert sent.failure is not None
    assert "hunter2" not in repr(sent)
    assert SECRET.removeprefix("whsec_") not in repr(sent)
