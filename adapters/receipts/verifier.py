"""Holding a receipt against the instance's public keys, for the call that redeems it."""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias, cast

from adapters.receipts.keys import PublicKey
from core.ids import QuestionId, WorkspaceId
from core.receipts import LONGEST_LIFETIME, MAX_LENGTH, PREFIX, SIGNATURE_BYTES, VERSION, Verdict, base64url

LEEWAY = timedelta(seconds=30)

_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_NONCE = re.compile(r"[A-Za-z0-9_-]{22}")
_SOMETHING = re.compile(r".+", re.DOTALL)
_VERDICT = re.compile("approved|rejected")
_SOURCE = re.compile("person|rule")

_Payload: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verified:
    """What a genuine receipt says. `nonce` is what is redeemed: one for each decision, whichever key signed it."""

    kid: str
    epoch: str
    workspace_id: WorkspaceId
    question_id: QuestionId
    decision: Verdict
    source: str
    action_digest: str | None
    decided_digest: str | None
    policy_version: str
    decided_at: datetime
    issued_at: datetime
    expires_at: datetime
    nonce: str

    @property
    def digest(self) -> str | None:
        """Of the action that was decided on: the edited one if it was edited, else the one shown."""
        return self.decided_digest or self.action_digest


@dataclass(frozen=True, slots=True)
class Invalid:
    reason: str


class _Unfit(Exception):
    """Ends the check; the message is the reason."""


def verify(
    receipt: str,
    public_keys: Iterable[PublicKey],
    now: datetime,
    *,
    digest: str | None = None,
    epoch: str | None = None,
    leeway: timedelta = LEEWAY,
) -> Verified | Invalid:
    """Whether one of these keys signed the receipt, it is in force, and it is about this action in this epoch."""
    try:
        verified = _read(_signed_payload(receipt, public_keys))
        _hold_against_clock(verified, now, leeway)
    except _Unfit as unfit:
        return Invalid(str(unfit))
    if digest is not None and verified.digest != digest:
        return Invalid("This receipt is about another action.")
    if epoch is not None and verified.epoch != epoch:
        return Invalid("This receipt is from before the server was restored from a backup; ask for the question again.")
    return verified


def _signed_payload(receipt: str, public_keys: Iterable[PublicKey]) -> _Payload:
    if not isinstance(receipt, str) or not receipt.isascii() or len(receipt) > MAX_LENGTH:
        raise _Unfit(f"A receipt is a text of at most {MAX_LENGTH} ASCII characters.")
    version, *segments = receipt.split(".")
    if version != PREFIX or len(segments) != 2:
        raise _Unfit(f"A receipt has the form {PREFIX}.payload.signature.")
    payload = _object(_decoded(segments[0], "payload"))
    signature = _decoded(segments[1], "signature")
    key = {key.kid: key for key in public_keys}.get(_matching(payload, "kid", _SOMETHING))
    if key is None:
        raise _Unfit("This receipt is signed with a key this server does not have.")
    message = f"{PREFIX}.{segments[0]}".encode("ascii")
    if len(signature) != SIGNATURE_BYTES or not key.verifies(message, signature):
        raise _Unfit("The signature is not right: the receipt was changed, or the key never signed it.")
    return payload


def _decoded(segment: str, name: str) -> bytes:
    try:
        data = base64.b64decode(segment + "=" * (-len(segment) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data or base64url(data) != segment:
        raise _Unfit(f"The {name} is not base64url as RFC 4648 has it, without padding.")
    return data


def _object(body: bytes) -> _Payload:
    try:
        payload = json.loads(body.decode("utf-8"), object_pairs_hook=_without_doubles, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        payload = None
    if not isinstance(payload, dict):
        raise _Unfit("The payload is not one JSON object with each name once.")
    return payload


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        raise ValueError("a name comes twice")
    return names


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _read(payload: _Payload) -> Verified:
    version = payload.get("v")
    if type(version) is not int or version != VERSION:
        raise _Unfit(f"This server reads receipts of version {VERSION}.")
    _check_deciders(payload.get("deciders"))
    return Verified(
        kid=_matching(payload, "kid", _SOMETHING),
        epoch=_matching(payload, "epoch", _SOMETHING),
        workspace_id=WorkspaceId(_matching(payload, "workspaceId", _SOMETHING)),
        question_id=QuestionId(_matching(payload, "questionId", _SOMETHING)),
        decision=cast(Verdict, _matching(payload, "decision", _VERDICT)),
        source=_matching(payload, "source", _SOURCE),
        action_digest=_digest(payload, "actionDigest"),
        decided_digest=_digest(payload, "decidedDigest"),
        policy_version=_matching(payload, "policyVersion", _SOMETHING),
        decided_at=_instant(payload, "decidedAt"),
        issued_at=_instant(payload, "issuedAt"),
        expires_at=_instant(payload, "expiresAt"),
        nonce=_matching(payload, "nonce", _NONCE),
    )


def _matching(payload: _Payload, name: str, pattern: re.Pattern[str]) -> str:
    value = payload.get(name)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise _Unfit(f"The payload's {name} is missing or not as it should be.")
    return value


def _digest(payload: _Payload, name: str) -> str | None:
    if name in payload and payload[name] is None:
        return None
    return _matching(payload, name, _DIGEST)


def _instant(payload: _Payload, name: str) -> datetime:
    try:
        return datetime.fromisoformat(_matching(payload, name, _INSTANT))
    except ValueError:
        raise _Unfit(f"The payload's {name} is no instant.") from None


def _check_deciders(deciders: object) -> None:
    if not isinstance(deciders, list) or not deciders:
        raise _Unfit("The payload names nobody who decided.")
    for decider in deciders:
        if not isinstance(decider, dict):
            raise _Unfit("The payload's deciders are not as they should be.")
        _matching(decider, "type", _SOURCE)
        _matching(decider, "id", _SOMETHING)
        for name in ("name", "surface"):
            if name not in decider or not isinstance(decider[name], str | None):
                raise _Unfit("The payload's deciders are not as they should be.")


def _hold_against_clock(verified: Verified, now: datetime, leeway: timedelta) -> None:
    if not timedelta(0) < verified.expires_at - verified.issued_at <= LONGEST_LIFETIME:
        raise _Unfit("The receipt's lifetime is not between zero and 24 hours.")
    if verified.issued_at < verified.decided_at:
        raise _Unfit("The receipt was issued before the decision.")
    # Differences, not sums: they hold for every instant a receipt can name.
    if verified.issued_at - now > leeway:
        raise _Unfit("The receipt comes from the future; compare the clocks.")
    if now - verified.expires_at >= leeway:
        raise _Unfit("The receipt has expired.")
