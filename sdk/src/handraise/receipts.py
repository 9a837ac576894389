"""Checking a decision receipt: did a person really approve exactly this, whatever the agent says?

Whoever carries out an action checks the agent's receipt here, holding nothing but the server's public key.
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

from handraise.canonical_json import canonical_json
from handraise.errors import HandraiseError, InvalidArgument

MAX_LENGTH = 8192
LONGEST_LIFETIME = timedelta(hours=24)
LEEWAY = timedelta(seconds=30)

_PREFIX = "hr1"
_VERSION = 1
_KEY_PREFIX = "hrpk_"

_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_NONCE = re.compile(r"[A-Za-z0-9_-]{22}")

# The curve's points of order 1, 2, 4 and 8, by their y. Signatures for such a key, a row of zeros for one, are easy to
# invent; no key is made that way, but a placeholder in a configuration might be.
_FIELD = 2**255 - 19
_ORDER_8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_WEAK_POINTS = frozenset({0, 1, _FIELD - 1, _FIELD, _FIELD + 1, _ORDER_8, _FIELD - _ORDER_8})


class InvalidReceipt(HandraiseError):
    """This receipt proves nothing; `reason` is a sentence that says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnusableKey(InvalidReceipt, InvalidArgument):
    """What was given as public key is none, so no receipt can be verified with it."""


@dataclass(frozen=True, slots=True)
class ReceiptDecider:
    """Somebody who decided: a person, or a rule that a person granted."""

    type: str
    id: str
    name: str | None
    surface: str | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a genuine receipt says. It may well say no: ask `approved`."""

    question_id: str
    workspace_id: str
    decision: str
    source: str
    deciders: tuple[ReceiptDecider, ...]
    action_digest: str | None
    decided_digest: str | None
    policy_version: str
    decided_at: datetime
    issued_at: datetime
    expires_at: datetime
    nonce: str
    epoch: str
    key_id: str

    @property
    def approved(self) -> bool:
        return self.decision == "approved"

    @property
    def digest(self) -> str | None:
        """Of the action that was decided on: the edited one if it was edited, else the one shown."""
        return self.decided_digest or self.action_digest

    def __bool__(self) -> NoReturn:
        raise TypeError("A receipt may be one of a rejection; ask for receipt.approved.")


def verify_receipt(
    receipt: str,
    public_key: str | Sequence[str],
    *,
    action: Mapping[str, Any] | None = None,
    action_digest: str | None = None,
    now: datetime | None = None,
    leeway: timedelta = LEEWAY,
) -> Receipt:
    """What the receipt says, if the server signed it, it is in force and it is about this action.

    `public_key` is what `handraise-bot receipts key` prints (`hrpk_…` or PEM), or several such keys while keys change.
    Give the action about to be carried out, as `action` (`tool`, `arguments` and, where the question had them, `diff`
    and `risk`) or as its `action_digest`. With neither, the receipt only says that somebody decided something.
    Raises InvalidReceipt for every receipt that proves nothing, InvalidArgument for what the caller got wrong.
    """
    keys = _keys(public_key)
    wanted = _wanted_digest(action, action_digest)
    instant = _aware(now)
    if leeway < timedelta(0):
        raise InvalidArgument("The leeway cannot be negative.")
    found = _said(_signed_payload(receipt, keys))
    _hold_against_clock(found, instant, leeway)
    if wanted is not None and found.digest != wanted:
        raise InvalidReceipt("The receipt is about another action than the one given.")
    return found


def digest_of(action: Mapping[str, Any]) -> str:
    """The digest of an action: SHA-256 over its RFC 8785 form, as it stands on the card and in the receipt."""
    if not isinstance(action, Mapping) or not isinstance(action.get("tool"), str):
        raise InvalidArgument("An action is a mapping with its tool as a text.")
    unknown = set(action) - {"tool", "arguments", "diff", "risk", "editable", "digest"}
    if unknown:
        raise InvalidArgument(f"An action has tool, arguments, diff and risk, not {sorted(map(str, unknown))[0]!r}.")
    bound = {"tool": action["tool"], "arguments": action.get("arguments", {})}
    bound |= {name: action[name] for name in ("diff", "risk") if action.get(name) is not None}
    try:
        canonical = canonical_json(bound).encode("utf-8")
    except (ValueError, RecursionError) as failure:
        raise InvalidArgument(f"The action has no digest: {failure}.") from None
    return "sha256:" + hashlib.sha256(canonical).hexdigest()


def _wanted_digest(action: Mapping[str, Any] | None, digest: str | None) -> str | None:
    if action is not None and digest is not None:
        raise InvalidArgument("Give the action or its digest, not both.")
    if action is not None:
        return digest_of(action)
    if digest is not None and not (isinstance(digest, str) and _DIGEST.fullmatch(digest)):
        raise InvalidArgument("A digest is sha256: and 64 hexadecimal digits in small letters.")
    return digest


def _aware(now: datetime | None) -> datetime:
    if now is None:
        return datetime.now(UTC)
    if now.utcoffset() is None:
        raise InvalidArgument("Give now with its time zone.")
    return now


# Keys


def _keys(given: str | Sequence[str]) -> dict[str, Callable[[bytes, bytes], bool]]:
    """The keys by their id, each as the function that checks a signature."""
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, Sequence) or not texts:
        raise UnusableKey("No public key was given.")
    raws = [_raw_key(text) for text in texts]
    return {"k_" + hashlib.sha256(raw).hexdigest()[:16]: _checker(raw) for raw in raws}


def _raw_key(text: str) -> bytes:
    if not isinstance(text, str):
        raise UnusableKey("A public key is a text: hrpk_… or PEM.")
    text = text.strip()
    if text.startswith("whsec_"):
        raise UnusableKey(
            "This is a webhook secret, and whoever has one can sign with it. Receipts are checked with the server's "
            "public key; handraise-bot receipts key prints it."
        )
    if text.startswith(_KEY_PREFIX):
        raw = _decoded(text.removeprefix(_KEY_PREFIX))
    elif text.startswith("-----BEGIN PUBLIC KEY-----"):
        raw = _raw_from_pem(text)
    else:
        raise UnusableKey("A public key begins with hrpk_ or is a PEM file with a public key.")
    if raw is None or len(raw) != 32:
        raise UnusableKey("This is no Ed25519 public key; a character may be missing.")
    if int.from_bytes(raw, "little") & (2**255 - 1) in _WEAK_POINTS:
        raise UnusableKey("Anybody can sign for this key; it looks like a placeholder.")
    return raw


def _raw_from_pem(text: str) -> bytes | None:
    _need_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(text.encode("utf-8", "replace"))
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    return key.public_bytes_raw() if isinstance(key, Ed25519PublicKey) else None


def _checker(raw: bytes) -> Callable[[bytes, bytes], bool]:
    _need_cryptography()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(raw)
    except ValueError:
        raise UnusableKey("This is no Ed25519 public key.") from None

    def fits(signature: bytes, message: bytes) -> bool:
        try:
            key.verify(signature, message)
        except InvalidSignature:
            return False
        return True

    return fits


def _need_cryptography() -> None:
    try:
        import cryptography.hazmat.primitives.asymmetric.ed25519  # noqa: F401
    except ImportError:
        raise HandraiseError("Checking receipts needs one more package: pip install 'handraise[receipts]'") from None


# The receipt itself


def _signed_payload(receipt: str, keys: Mapping[str, Callable[[bytes, bytes], bool]]) -> Mapping[str, Any]:
    if not isinstance(receipt, str) or not receipt.isascii():
        raise InvalidReceipt("A receipt is a text of ASCII characters.")
    if len(receipt) > MAX_LENGTH:
        raise InvalidReceipt(f"The receipt is longer than {MAX_LENGTH} characters.")
    segments = receipt.split(".")
    if len(segments) != 3:
        raise InvalidReceipt("A receipt has three segments with a dot between them.")
    if segments[0] != _PREFIX:
        raise InvalidReceipt(f"This verifier reads receipts that begin with {_PREFIX}.")
    body, signature = _decoded(segments[1]), _decoded(segments[2])
    if body is None or signature is None:
        raise InvalidReceipt("The receipt is not in base64url without padding.")
    payload = _parsed(body)
    fits = keys.get(_text(payload, "kid"))
    if fits is None:
        raise InvalidReceipt("The receipt is signed with another key than those given.")
    if len(signature) != 64 or not fits(signature, f"{_PREFIX}.{segments[1]}".encode("ascii")):
        raise InvalidReceipt("The signature is wrong: the receipt was changed or made up.")
    return payload


def _decoded(segment: str) -> bytes | None:
    """The bytes, if this is the one way to write them in base64url."""
    try:
        padded = segment.encode("ascii") + b"=" * (-len(segment) % 4)
        data = base64.b64decode(padded, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    same = base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii") == segment
    return data if data and same else None


def _parsed(body: bytes) -> Mapping[str, Any]:
    try:
        payload = json.loads(body.decode("utf-8"), object_pairs_hook=_each_name_once, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise InvalidReceipt("The receipt's payload is not proper JSON with each name once.") from None
    if not isinstance(payload, dict):
        raise InvalidReceipt("The receipt's payload is not an object.")
    return payload


def _each_name_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a name comes twice")
    return dict(pairs)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _said(payload: Mapping[str, Any]) -> Receipt:
    version = payload.get("v")
    if isinstance(version, bool) or not isinstance(version, int) or version != _VERSION:
        raise InvalidReceipt("The receipt is of a version this verifier does not know.")
    return Receipt(
        question_id=_text(payload, "questionId"),
        workspace_id=_text(payload, "workspaceId"),
        decision=_one_of(payload, "decision", ("approved", "rejected")),
        source=_one_of(payload, "source", ("person", "rule")),
        deciders=_deciders(payload),
        action_digest=_text(payload, "actionDigest", _DIGEST) if _given(payload, "actionDigest") else None,
        decided_digest=_text(payload, "decidedDigest", _DIGEST) if _given(payload, "decidedDigest") else None,
        policy_version=_text(payload, "policyVersion"),
        decided_at=_instant(payload, "decidedAt"),
        issued_at=_instant(payload, "issuedAt"),
        expires_at=_instant(payload, "expiresAt"),
        nonce=_text(payload, "nonce", _NONCE),
        epoch=_text(payload, "epoch"),
        key_id=_text(payload, "kid"),
    )


def _given(payload: Mapping[str, Any], name: str) -> bool:
    """Whether it is not null; leaving it out altogether is not allowed."""
    if name not in payload:
        raise InvalidReceipt(f"The receipt lacks {name}.")
    return payload[name] is not None


def _text(payload: Mapping[str, Any], name: str, pattern: re.Pattern[str] | None = None) -> str:
    value = payload.get(name)
    if not isinstance(value, str) or not value or (pattern is not None and not pattern.fullmatch(value)):
        raise InvalidReceipt(f"The receipt's {name} is missing or not as it should be.")
    return value


def _one_of(payload: Mapping[str, Any], name: str, words: tuple[str, ...]) -> str:
    value = _text(payload, name)
    if value not in words:
        raise InvalidReceipt(f"The receipt's {name} is not a word this verifier knows.")
    return value


def _instant(payload: Mapping[str, Any], name: str) -> datetime:
    try:
        return datetime.fromisoformat(_text(payload, name, _INSTANT))
    except ValueError:
        raise InvalidReceipt(f"The receipt's {name} is not an instant.") from None


def _deciders(payload: Mapping[str, Any]) -> tuple[ReceiptDecider, ...]:
    listed = payload.get("deciders")
    if not isinstance(listed, list) or not listed or not all(isinstance(decider, dict) for decider in listed):
        raise InvalidReceipt("The receipt does not say who decided.")
    return tuple(
        ReceiptDecider(
            type=_one_of(decider, "type", ("person", "rule")),
            id=_text(decider, "id"),
            name=_text_or_nothing(decider, "name"),
            surface=_text_or_nothing(decider, "surface"),
        )
        for decider in listed
    )


def _text_or_nothing(payload: Mapping[str, Any], name: str) -> str | None:
    value = payload[name] if _given(payload, name) else None
    if value is not None and not isinstance(value, str):
        raise InvalidReceipt(f"The receipt's {name} is not a text.")
    return value


def _hold_against_clock(receipt: Receipt, now: datetime, leeway: timedelta) -> None:
    if not timedelta(0) < receipt.expires_at - receipt.issued_at <= LONGEST_LIFETIME:
        raise InvalidReceipt("The receipt claims a lifetime that no receipt has.")
    if receipt.issued_at < receipt.decided_at:
        raise InvalidReceipt("The receipt claims to be older than the decision.")
    # Differences, not sums: they hold for every instant a receipt can name.
    if receipt.issued_at - now > leeway:
        raise InvalidReceipt("The receipt is from the future; compare the clocks.")
    if now - receipt.expires_at >= leeway:
        raise InvalidReceipt(f"The receipt expired at {receipt.expires_at:%Y-%m-%d %H:%M:%S} UTC.")
