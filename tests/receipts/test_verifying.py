"""What the verifiers take, what they refuse although it is signed, and what a caller can get wrong."""

import json
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from handraise.errors import HandraiseError, InvalidArgument
from handraise.receipts import InvalidReceipt, Receipt, UnusableKey, digest_of, verify_receipt
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.receipts.verifier import Invalid, Verified, verify
from core.digests import action_digest
from core.question import Risk
from core.receipts import base64url
from tests.receipts.samples import (
    DECIDED,
    DEPLOY,
    DIGEST,
    EPOCH,
    KEY,
    SOON,
    accepted,
    key,
    payload_of,
    receipt,
    settled,
    signed,
    signed_with,
)

EXPIRES = DECIDED + timedelta(minutes=15)
LEEWAY = timedelta(seconds=30)
TICK = timedelta(milliseconds=1)
DECIDER = {"type": "person", "id": "p_dana", "name": "Dana", "surface": "api"}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)


def client(text: str, public_key: Any = KEY.public.text, **options: Any) -> Receipt:
    return verify_receipt(text, public_key, **({"now": SOON} | options))


def test_a_receipt_comes_back_as_it_was_made() -> None:
    said = client(receipt(), action=DEPLOY)

    assert said.approved
    assert (said.question_id, said.workspace_id, said.source) == ("q_00000000000000000000000001", "default", "person")
    assert (said.action_digest, said.decided_digest, said.digest) == (DIGEST, None, DIGEST)
    assert (said.decided_at, said.issued_at, said.expires_at) == (DECIDED, DECIDED, EXPIRES)
    assert (said.key_id, said.epoch, said.policy_version) == (KEY.kid, EPOCH, "0")
    assert [(decider.id, decider.name, decider.surface) for decider in said.deciders] == [("p_dana", "Dana", "api")]


def test_a_rejection_verifies_and_approves_nothing() -> None:
    assert client(receipt(settled(value=False)), action=DEPLOY).approved is False


def test_a_receipt_is_neither_true_nor_false() -> None:
    with pytest.raises(TypeError, match=r"receipt\.approved"):
        bool(client(receipt()))


@pytest.mark.parametrize(
    ("now", "in_force"),
    [
        (DECIDED - LEEWAY - TICK, False),
        (DECIDED - LEEWAY, True),
        (DECIDED, True),
        (EXPIRES, True),
        (EXPIRES + LEEWAY - TICK, True),
        (EXPIRES + LEEWAY, False),
        (datetime.min.replace(tzinfo=UTC), False),
        (datetime.max.replace(tzinfo=UTC), False),
    ],
)
def test_a_receipt_is_in_force_from_the_decision_until_it_expires_give_or_take_the_leeway(
    now: datetime, in_force: bool
) -> None:
    assert (accepted(receipt(), now=now) is not None) == in_force


def test_the_clock_is_the_machines_unless_one_is_given() -> None:
    with pytest.raises(InvalidReceipt, match=r"expired|future"):
        verify_receipt(receipt(), KEY.public.text)


@pytest.mark.parametrize(
    "changes",
    [
        {"v": 2},
        {"v": True},
        {"v": 1.0},
        {"v": "1"},
        {"kid": key(2).kid},
        {"kid": 1},
        {"epoch": ""},
        {"epoch": None},
        {"questionId": 7},
        {"workspaceId": ["default"]},
        {"decision": "Approved"},
        {"decision": "defaulted"},
        {"decision": True},
        {"decision": None},
        {"source": "default"},
        {"source": "deadline"},
        {"source": "person\n"},
        {"actionDigest": DIGEST.upper()},
        {"actionDigest": DIGEST + "\n"},
        {"actionDigest": ""},
        {"decidedDigest": False},
        {"decidedDigest": "md5:00"},
        {"deciders": []},
        {"deciders": None},
        {"deciders": {"0": DECIDER}},
        {"deciders": ["p_dana"]},
        {"deciders": [DECIDER, {**DECIDER, "type": "asker"}]},
        {"deciders": [{**DECIDER, "id": ""}]},
        {"deciders": [{**DECIDER, "id": None}]},
        {"deciders": [{**DECIDER, "name": 3}]},
        {"deciders": [{**DECIDER, "surface": False}]},
        {"deciders": [{"type": "person", "id": "p_dana"}]},
        {"policyVersion": 1},
        {"nonce": "short"},
        {"nonce": None},
        {"decidedAt": "2026-03-01T12:01:00Z"},
        {"decidedAt": "2026-03-01T12:01:00.000+00:00"},
        {"decidedAt": "2026-02-30T12:01:00.000Z"},
        {"decidedAt": "0000-01-01T00:00:00.000Z"},
        {"decidedAt": "٢٠٢٦-03-01T12:01:00.000Z"},
        {"decidedAt": 1772366460},
        {"decidedAt": "2026-03-01T12:01:00.001Z"},
        {"issuedAt": "9999-12-31T23:59:59.999Z", "expiresAt": "9999-12-31T23:59:59.999Z"},
        {"expiresAt": "9999-12-31T23:59:59.999Z"},
        {"expiresAt": "2026-03-01T12:01:00.000Z"},
        {"expiresAt": "2026-03-02T12:01:00.001Z"},
        {"expiresAt": None},
    ],
    ids=str,
)
def test_what_is_signed_and_yet_not_as_documented_is_refused(changes: dict[str, Any]) -> None:
    assert accepted(signed_with(**changes)) is None


@pytest.mark.parametrize("name", sorted(payload_of(receipt())))
def test_no_name_may_be_missing(name: str) -> None:
    said = payload_of(receipt())
    del said[name]

    assert accepted(signed(json.dumps(said).encode())) is None


def test_names_that_are_not_known_are_ignored() -> None:
    assert accepted(signed_with(comment={"anything": [1, 2.5, None]})) is not None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"hr1"',
        b"{",
        b"[" * 6000,
        b'{"v":' * 1100,
        b'{"v":' + b"9" * 5000 + b"}",
        b'{"v":NaN}',
        b"\xff\xfe",
        b"\xef\xbb\xbf" + json.dumps(payload_of(receipt())).encode(),
        json.dumps(payload_of(receipt())).encode("utf-16"),
        json.dumps(payload_of(receipt())).encode() + b"{}",
        json.dumps(payload_of(receipt())).encode().replace(b'"v": 1', b'"v": 1, "v": 1'),
        json.dumps(payload_of(receipt())).encode().replace(b'"id":', b'"id": "p_eve", "id":'),
        json.dumps(payload_of(receipt())).encode().replace(b'"v": 1', b'"v": 1, "x": Infinity'),
        json.dumps(payload_of(receipt()) | {"x": "x" * 8000}).encode(),
    ],
)
def test_a_signed_payload_that_is_no_proper_json_is_refused(body: bytes) -> None:
    assert accepted(signed(body)) is None


@pytest.mark.parametrize("thing", [None, b"hr1.a.b", 1, ["hr1"], {}, receipt().encode()], ids=repr)
def test_what_is_no_text_is_refused(thing: Any) -> None:
    assert isinstance(verify(thing, [KEY.public], SOON), Invalid)
    with pytest.raises(InvalidReceipt):
        client(thing)


@pytest.mark.parametrize("around", [" {}", "{} ", "{}\n", "\ufeff{}", "{}.", ".{}", "{}=", "Bearer {}"])
def test_nothing_may_stand_around_a_receipt(around: str) -> None:
    assert accepted(around.format(receipt())) is None


@settings(max_examples=300, deadline=None)
@given(st.text() | st.text(alphabet="hr1.AQ-_=+/ \n").map(lambda text: "hr1." + text))
def test_any_text_is_refused_with_a_reason_and_never_breaks_anything(text: str) -> None:
    assert accepted(text) is None


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(payload_of(receipt()))), json_values, max_size=4), st.binary(max_size=60))
def test_whatever_is_signed_the_verifiers_agree_and_never_break(changes: dict[str, Any], body: bytes) -> None:
    accepted(signed_with(**changes))
    assert accepted(signed(body)) is None


@settings(max_examples=100, deadline=None)
@given(st.text() | st.text().map("hrpk_".__add__) | st.binary(min_size=32, max_size=32).map(base64url))
def test_any_text_as_key_verifies_nothing_and_never_breaks_anything(text: str) -> None:
    with pytest.raises(InvalidReceipt):
        client(receipt(), text)


def test_the_key_is_taken_as_text_and_as_pem_with_the_line_end_of_a_file() -> None:
    for form in (KEY.public.text, KEY.public.text + "\n", KEY.public.pem, [key(2).public.text, KEY.public.pem]):
        assert client(receipt(), form).approved


_X25519 = X25519PrivateKey.generate().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "webhook secret"),
        (["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", KEY.public.text], "webhook secret"),
        (" whsec_" + base64url(KEY.public.raw), "webhook secret"),
        ("hr_0123456789", "begins with hrpk_"),
        (base64url(KEY.public.raw), "begins with hrpk_"),
        (KEY.pem().decode(), "begins with hrpk_"),
        ("", "begins with hrpk_"),
        (KEY.public.text[:-1], "Ed25519"),
        (KEY.public.text + "=", "Ed25519"),
        (KEY.public.text + "AAAA", "Ed25519"),
        (_X25519.decode(), "Ed25519"),
        ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "Ed25519"),
        ([], "No public key"),
        (None, "No public key"),
        (KEY.public.raw, "is a text"),
        ([KEY.public.raw], "is a text"),
    ],
)
def test_everything_else_is_refused_as_a_key(wrong: Any, why: str) -> None:
    with pytest.raises(UnusableKey, match=why):
        client(receipt(), wrong)


def test_the_servers_verifier_has_no_place_for_a_shared_secret() -> None:
    with pytest.raises(AttributeError):
        verify(receipt(), ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], SOON)  # type: ignore[list-item]


def test_keys_for_which_signatures_can_be_invented_are_refused() -> None:
    field = 2**255 - 19
    order_8 = int.from_bytes(
        bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
    )
    for height in (0, 1, field - 1, field, field + 1, order_8, field - order_8):
        for sign in (0, 2**255):
            with pytest.raises(UnusableKey, match="placeholder"):
                client(receipt(), "hrpk_" + base64url((height + sign).to_bytes(32, "little")))
    # Why: this signature was never made, and the bare algorithm takes it for any message whatever.
    Ed25519PublicKey.from_public_bytes(b"\x01" + bytes(31)).verify(b"\x01" + bytes(63), b"anything")


@pytest.mark.parametrize(
    "options",
    [
        {"action": DEPLOY, "action_digest": DIGEST},
        {"action_digest": ""},
        {"action_digest": DIGEST.removeprefix("sha256:")},
        {"action_digest": 1},
        {"action": {}},
        {"action": "deploy"},
        {"action": {**DEPLOY, "args": {}}},
        {"action": {**DEPLOY, "arguments": {"n": 2**53}}},
        {"action": {**DEPLOY, "arguments": {"n": float("nan")}}},
        {"action": {**DEPLOY, "arguments": {"n": "\ud800"}}},
        {"action": {**DEPLOY, "arguments": {"\ud800": 1}}},
        {"action": {**DEPLOY, "arguments": {1: "n"}}},
        {"action": {**DEPLOY, "arguments": {"n": {1, 2}}}},
        {"now": SOON.replace(tzinfo=None)},
        {"leeway": timedelta(seconds=-1)},
    ],
    ids=str,
)
def test_what_the_caller_got_wrong_is_told_and_not_taken_for_a_verdict(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument) as told:
        client(receipt(), **options)
    assert not isinstance(told.value, InvalidReceipt)


@pytest.mark.parametrize(
    "other",
    [
        {**DEPLOY, "arguments": {"env": "prod", "version": "1.5"}},
        {**DEPLOY, "arguments": {"env": "prod"}},
        {**DEPLOY, "tool": "Deploy"},
        {**DEPLOY, "risk": "low"},
        {**DEPLOY, "risk": None},
        {**DEPLOY, "diff": ""},
        {"tool": "deploy"},
    ],
    ids=str,
)
def test_a_receipt_is_refused_for_any_other_action(other: dict[str, Any]) -> None:
    with pytest.raises(InvalidReceipt, match="another action"):
        client(receipt(), action=other)


def test_the_action_may_be_given_as_the_server_shows_it() -> None:
    shown = {"diff": None, "editable": True, "digest": DIGEST, **DEPLOY}

    assert client(receipt(), action=shown).approved


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(
        st.text(),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers(-(2**53) + 1, 2**53 - 1)
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(),
            lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
            max_leaves=12,
        ),
        max_size=5,
    ),
    st.none() | st.text(),
    st.none() | st.sampled_from(list(Risk)),
)
def test_both_sides_compute_the_same_digest(arguments: dict[str, Any], diff: str | None, risk: Risk | None) -> None:
    action = {"tool": "deploy", "arguments": arguments, "diff": diff, "risk": risk}

    assert digest_of(action) == action_digest("deploy", arguments, diff, risk)


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (-5e-324, "-5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740992.0, "9007199254740992"),
        (295147905179352830000.0, "295147905179352830000"),
        (999999999999999900000.0, "999999999999999900000"),
        (1e21, "1e+21"),
        (1e23, "1e+23"),
        (9.999999999999997e22, "9.999999999999997e+22"),
        (0.000001, "0.000001"),
        (1e-7, "1e-7"),
        (333333333.33333329, "333333333.3333333"),
        (-333333333.33333343, "-333333333.33333343"),
        (100.0, "100"),
        (4.5, "4.5"),
        (1e-27, "1e-27"),
    ],
)
def test_numbers_are_written_as_rfc_8785_has_them(number: float, written: str) -> None:
    one = {"tool": "t", "arguments": {"n": number}}

    assert rfc8785.dumps(number).decode() == written
    assert digest_of(one) == action_digest("t", {"n": number}, None, None)


def test_the_server_can_insist_on_its_epoch() -> None:
    assert isinstance(verify(receipt(), [KEY.public], SOON, epoch=EPOCH), Verified)
    assert verify(receipt(), [KEY.public], SOON, epoch="e_second") == Invalid(
        "This receipt is from before the server was restored from a backup; ask for the question again."
    )


def test_without_the_extra_the_client_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(HandraiseError, match=r"pip install 'handraise\[receipts\]'") as told:
        client(receipt.__name__)
    assert not isinstance(told.value, InvalidReceipt)
