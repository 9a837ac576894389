"""The decision receipt: a settled approval as one line of signed text that whoever has the public key can check.

A receipt is a pure function of the settled question, the instance's epoch and its key. It is rendered whenever it is
asked for, the same to the byte every time, and is stored nowhere. docs/receipts.md describes the format.
"""

import base64
import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Literal, Protocol, TypeAlias

from core.answers import ApprovalShape
from core.ids import JsonObject, JsonValue
from core.question import Decider, Outcome, OutcomeKind, Question, Status
from core.safetext import one_line

VERSION = 1
PREFIX = "hr1"
MAX_LENGTH = 8192
SIGNATURE_BYTES = 64
DEFAULT_LIFETIME = timedelta(minutes=15)
SHORTEST_LIFETIME = timedelta(seconds=1)
LONGEST_LIFETIME = timedelta(hours=24)

_NAME_LIMIT = 100
_MESSAGE_LIMIT = MAX_LENGTH - 1 - len(base64.urlsafe_b64encode(bytes(SIGNATURE_BYTES)).rstrip(b"="))

Verdict: TypeAlias = Literal["approved", "rejected"]


class Signer(Protocol):
    """Holds an Ed25519 key and signs with it; `kid` is `key_id` of its public key."""

    @property
    def kid(self) -> str: ...

    def sign(self, message: bytes) -> bytes: ...


def receipt_for(question: Question, signer: Signer, epoch: str, lifetime: timedelta = DEFAULT_LIFETIME) -> str | None:
    """The receipt of this question, or None when no person, and no rule that a person granted, has decided it."""
    payload = receipt_payload(question, epoch, signer.kid, lifetime)
    if payload is None:
        return None
    message = compact(payload)
    return f"{message.decode('ascii')}.{base64url(signer.sign(message))}"


def receipt_payload(question: Question, epoch: str, kid: str, lifetime: timedelta) -> JsonObject | None:
    """What the receipt says. A name is left out before a receipt becomes too long; who decided never is."""
    if not SHORTEST_LIFETIME <= lifetime <= LONGEST_LIFETIME:
        raise ValueError("A receipt lives for one second to 24 hours.")
    outcome = question.outcome
    verdict = _verdict(question)
    if verdict is None or outcome is None:
        return None
    decided_at = _instant(outcome.decided_at)
    action = question.spec.action
    payload: JsonObject = {
        "v": VERSION,
        "kid": kid,
        "epoch": epoch,
        "workspaceId": question.spec.workspace_id,
        "questionId": question.id,
        "decision": verdict,
        "source": outcome.decided_by.type,
        "deciders": [_decider(decider, named=True) for decider in _deciders(outcome)],
        "actionDigest": None if action is None else action.digest,
        "decidedDigest": outcome.decided_digest,
        "policyVersion": str(question.policy.version),
        "decidedAt": decided_at,
        "issuedAt": decided_at,
        "expiresAt": _instant(outcome.decided_at + lifetime),
        "nonce": _nonce(question.spec.workspace_id, question.id, verdict, decided_at),
    }
    if len(compact(payload)) > _MESSAGE_LIMIT:
        payload["deciders"] = [_decider(decider, named=False) for decider in _deciders(outcome)]
    return payload if len(compact(payload)) <= _MESSAGE_LIMIT else None


def compact(payload: JsonObject) -> bytes:
    """The bytes that are signed: the version and the payload, as they are sent."""
    body = json.dumps(payload, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"{PREFIX}.{base64url(body.encode('ascii'))}".encode("ascii")


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def key_id(public_key: bytes) -> str:
    """A short name for the key, made from its 32 bytes."""
    return "k_" + hashlib.sha256(public_key).hexdigest()[:16]


def _verdict(question: Question) -> Verdict | None:
    """Fails closed: time, silence and whatever is not plainly a decision have no receipt."""
    outcome = question.outcome
    if question.status is not Status.ANSWERED or not isinstance(question.spec.shape, ApprovalShape):
        return None
    if outcome is None or outcome.kind is not OutcomeKind.ANSWERED or outcome.answer is None:
        return None
    if not all(_may_vouch(decider) for decider in (outcome.decided_by, *outcome.deciders)):
        return None
    if outcome.answer.value is True:
        return "approved"
    return "rejected" if outcome.answer.value is False else None


def _may_vouch(decider: Decider) -> bool:
    return decider.type in ("person", "rule") and bool(decider.id)


def _deciders(outcome: Outcome) -> tuple[Decider, ...]:
    return outcome.deciders or (outcome.decided_by,)


def _decider(decider: Decider, *, named: bool) -> JsonValue:
    name = one_line(decider.name)[:_NAME_LIMIT] if named and decider.name else None
    return {"type": decider.type, "id": decider.id, "name": name, "surface": decider.surface}


def _nonce(workspace_id: str, question_id: str, verdict: Verdict, decided_at: str) -> str:
    """One for each decision. Key and epoch stay out of it, so a new key does not make a used receipt new again."""
    decision = json.dumps([PREFIX, workspace_id, question_id, verdict, decided_at], separators=(",", ":"))
    return base64url(hashlib.sha256(decision.encode("ascii")).digest()[:16])


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
