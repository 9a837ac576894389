"""Webhooks: what is genuine, fresh and new passes; everything else is refused with one exception."""

import base64
import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from handraise import InvalidWebhook
from handraise.webhooks import Deduper, sign, verify
from hypothesis import given, settings
from hypothesis import strategies as st
from standardwebhooks import Webhook

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()
OTHER = "whsec_" + base64.b64encode(b"another secret of thirty-two byt").decode()
NOW = 1_763_456_789
EVENT = {
    "type": "question.answered",
    "timestamp": "2026-11-18T09:00:00.000Z",
    "data": {"id": "q_1", "status": "answered", "sequence": 2, "question": "Größe?"},
}
BODY = json.dumps(EVENT, ensure_ascii=False).encode()


def signed(body: bytes = BODY, *, at: int = NOW, secret: str = SECRET, **changed: str) -> dict[str, str]:
    headers = sign(body, message_id="msg_1", at=at, secret=secret)
    return headers | {name.replace("_", "-"): value for name, value in changed.items()}


def test_a_genuine_message_is_an_event_with_its_question() -> None:
    event = verify(BODY, signed(), SECRET, now=NOW)

    assert (event.id, event.type, event.sequence) == ("msg_1", "question.answered", 2)
    assert event.timestamp == datetime(2026, 11, 18, 9, tzinfo=UTC)
    assert event.question is not None
    assert (event.question.id, event.question.text) == ("q_1", "Größe?")


def test_what_the_reference_library_signs_is_accepted() -> None:
    at = datetime.now(UTC)
    signature = Webhook(SECRET).sign("msg_ref", at, BODY.decode())
    headers = {"Webhook-Id": "msg_ref", "Webhook-Timestamp": str(int(at.timestamp())), "WEBHOOK-SIGNATURE": signature}

    assert verify(BODY, headers, SECRET).id == "msg_ref"


def test_what_we_sign_the_reference_library_accepts() -> None:
    headers = signed(at=int(datetime.now(UTC).timestamp()))

    assert Webhook(SECRET).verify(BODY, headers) == EVENT


def test_during_a_rotation_any_of_both_signatures_and_any_of_both_secrets_will_do() -> None:
    both = f"v1a,xxxx {signed(secret=OTHER)['webhook-signature']} v1,broken {signed()['webhook-signature']}"

    for secrets in (SECRET, OTHER, [OTHER, SECRET], (SECRET,)):
        assert verify(BODY, signed(webhook_signature=both), secrets, now=NOW).id == "msg_1"
    assert verify(BODY, signed(), [OTHER, SECRET], now=NOW).id == "msg_1"


@pytest.mark.parametrize("skew", [-300, 300])
def test_five_minutes_of_skew_are_allowed(skew: int) -> None:
    assert verify(BODY, signed(), SECRET, now=NOW + skew).id == "msg_1"


def test_the_tolerance_and_the_time_may_be_given_in_their_own_types() -> None:
    now = datetime.fromtimestamp(NOW + 20, UTC)

    assert verify(BODY, signed(), SECRET, tolerance=timedelta(seconds=20), now=now).id == "msg_1"
    with pytest.raises(InvalidWebhook, match="too old"):
        verify(BODY, signed(), SECRET, tolerance=19, now=now)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"now": NOW + 301}, "too old"),
        ({"now": NOW - 301}, "too far in the future"),
        ({"tolerance": float("nan")}, "too"),
        ({"tolerance": float("inf"), "now": NOW + 10**9}, "too old"),
        ({"body": BODY + b" "}, "No signature"),
        ({"secret_or_secrets": OTHER}, "No signature"),
        ({"secret_or_secrets": []}, "no secret"),
        ({"secret_or_secrets": ""}, "whsec_ and base64"),
        ({"secret_or_secrets": "whsec_"}, "whsec_ and base64"),
        ({"secret_or_secrets": "whsec_é"}, "whsec_ and base64"),
        ({"secret_or_secrets": None}, "must be a string"),
        ({"secret_or_secrets": [SECRET, None]}, "whsec_ and base64"),
        ({"body": BODY.decode()}, "bytes of the request"),
        ({"body": EVENT}, "bytes of the request"),
        ({"headers": {}}, "webhook-id is missing"),
        ({"headers": signed(webhook_id="msg_2")}, "No signature"),
        ({"headers": signed(webhook_id="msg.1")}, "not the id of a message"),
        ({"headers": signed(webhook_id="")}, "not the id of a message"),
        ({"headers": signed(webhook_id="x" * 256)}, "not the id of a message"),
        ({"headers": signed(webhook_timestamp=str(NOW + 1))}, "No signature"),
        ({"headers": signed(webhook_timestamp=f"{NOW}.0")}, "not a number of seconds"),
        ({"headers": signed(webhook_timestamp=f" {NOW}")}, "not a number of seconds"),
        ({"headers": signed(webhook_timestamp="9" * 400)}, "not a number of seconds"),
        ({"headers": signed(webhook_timestamp="١٢٣")}, "not a number of seconds"),
        ({"headers": signed(webhook_signature="")}, "No signature"),
        ({"headers": signed(webhook_signature="v1")}, "No signature"),
        ({"headers": signed(webhook_signature="v1,\udcff\ud800é=")}, "No signature"),
        ({"headers": signed(webhook_signature="v2," + signed()["webhook-signature"][3:])}, "No signature"),
        ({"headers": [*signed().items(), ("Webhook-ID", "msg_2")]}, "comes twice"),
        ({"headers": {"webhook-id": None}}, "not names with values"),
        ({"headers": None}, "not names with values"),
        ({"headers": [("webhook-id",)]}, "not names with values"),
    ],
)
def test_everything_else_is_refused(change: dict[str, Any], why: str) -> None:
    message: dict[str, Any] = {"body": BODY, "headers": signed(), "secret_or_secrets": SECRET, "now": NOW} | change

    with pytest.raises(InvalidWebhook, match=why):
        verify(message.pop("body"), message.pop("headers"), message.pop("secret_or_secrets"), **message)


def test_headers_may_be_bytes_and_pairs() -> None:
    pairs = [(name.encode(), value.encode()) for name, value in signed().items()]

    assert verify(BODY, pairs, SECRET, now=NOW).id == "msg_1"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"type": "x"}', b'{"type": 3, "data": {}}', b"\xff", b"[" * 100_000, b"1" * 5000]
)
def test_a_signed_message_that_holds_no_event_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidWebhook, match="holds no event"):
        verify(body, signed(body), SECRET, now=NOW)


def test_no_bit_of_a_message_can_be_turned() -> None:
    headers = signed()
    turned = random.Random(3)
    for _ in range(500):
        name = turned.choice(["body", *headers])
        original = BODY if name == "body" else headers[name].encode()
        position = turned.randrange(len(original))
        changed = bytearray(original)
        changed[position] ^= 1 << turned.randrange(8)
        body = bytes(changed) if name == "body" else BODY
        given_headers = headers if name == "body" else headers | {name: changed.decode("latin-1")}
        with pytest.raises(InvalidWebhook):
            verify(body, given_headers, SECRET, now=NOW)


@settings(max_examples=150, deadline=None)
@given(
    body=st.binary(max_size=40),
    headers=st.dictionaries(
        st.sampled_from(["webhook-id", "webhook-timestamp", "webhook-signature", "x"]) | st.text(max_size=5),
        st.text(max_size=40) | st.from_regex(r"(v1,[A-Za-z0-9+/=]{0,44} ?){0,4}") | st.just(str(NOW)),
    ),
)
def test_nothing_but_the_one_exception_ever_comes_out(body: bytes, headers: dict[str, str]) -> None:
    with pytest.raises(InvalidWebhook):
        verify(body, headers, SECRET, now=NOW)


class TestDeduper:
    def test_the_same_id_is_new_once(self) -> None:
        deduper = Deduper()

        assert [deduper.is_new(name) for name in ("a", "b", "a", "\ud800")] == [True, True, False, True]

    def test_an_id_is_remembered_for_eighty_hours_from_its_first_time(self) -> None:
        time = [0.0]
        deduper = Deduper(now=lambda: time[0])
        deduper.is_new("a")

        time[0] = 80 * 3600.0
        assert not deduper.is_new("a")
        time[0] += 1
        assert deduper.is_new("a")
        assert len(deduper) == 1

    def test_the_memory_is_bounded_and_the_oldest_goes_first(self) -> None:
        deduper = Deduper(most=3)
        for name in "abcd":
            deduper.is_new(name)

        assert len(deduper) == 3
        assert not deduper.is_new("b")
        assert deduper.is_new("a")

    def test_a_message_whose_handling_failed_is_new_again(self) -> None:
        deduper = Deduper()
        deduper.is_new("a")

        deduper.forget("a")

        assert deduper.is_new("a")
