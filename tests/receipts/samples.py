"""Decided approvals, keys that are the same in every run, and both verifiers asked at once."""

import base64
import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from handraise.receipts import InvalidReceipt, Receipt, verify_receipt

from adapters.receipts.keys import SigningKey
from adapters.receipts.verifier import Verified, verify
from core.answers import AnswerValue, ApprovalShape
from core.digests import action_digest
from core.kinds import Kind
from core.question import Action, Decider, Outcome, OutcomeKind, Question, Risk, Spec, Status
from core.receipts import base64url, receipt_for
from tests.support.builders import BY_DANA, after, opened, spec

EPOCH = "e_first"
DEPLOY: dict[str, Any] = {"tool": "deploy", "arguments": {"env": "prod", "version": "1.4"}, "risk": "high"}
DIGEST = action_digest("deploy", DEPLOY["arguments"], None, Risk.HIGH)
DECIDED = after(1)
SOON = DECIDED + timedelta(seconds=5)


def key(number: int = 1) -> SigningKey:
    return SigningKey(Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32))


KEY = key()


def approval(action: bool = True) -> Spec:
    shown = Action("deploy", DEPLOY["arguments"], DIGEST, risk=Risk.HIGH, editable=True) if action else None
    return spec(Kind.APPROVAL, ApprovalShape(editable=True), action=shown)


def settled(
    by: Decider = BY_DANA,
    value: Any = True,
    *,
    number: int = 1,
    of: Spec | None = None,
    kind: OutcomeKind = OutcomeKind.ANSWERED,
    status: Status = Status.ANSWERED,
    **fields: Any,
) -> Question:
    answer = None if value is None else AnswerValue(value)
    outcome = Outcome(kind, by, DECIDED, answer=answer, deciders=(by,))
    asked = opened(of if of is not None else approval(), number)
    return replace(asked, version=2, status=status, outcome=replace(outcome, **fields))


def receipt(question: Question | None = None, by: SigningKey = KEY, epoch: str = EPOCH) -> str:
    made = receipt_for(question if question is not None else settled(), by, epoch)
    assert made is not None
    return made


def payload_of(text: str) -> dict[str, Any]:
    segment = text.split(".")[1]
    payload = json.loads(base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)))
    assert isinstance(payload, dict)
    return payload


def signed(body: bytes, by: SigningKey = KEY) -> str:
    """Whatever these bytes are, under a genuine signature."""
    message = f"hr1.{base64url(body)}"
    return f"{message}.{base64url(by.sign(message.encode()))}"


def signed_with(by: SigningKey = KEY, **changes: Any) -> str:
    return signed(json.dumps(payload_of(receipt()) | changes).encode(), by)


@dataclass(frozen=True)
class Disagreement(Exception):
    text: str
    server: object
    client: object


def accepted(
    text: str, keys: tuple[SigningKey, ...] = (KEY,), now: datetime = SOON, digest: str | None = None
) -> Receipt | None:
    """What the receipt says if both verifiers take it, None if both refuse it; that they differ is an error."""
    server = verify(text, [key.public for key in keys], now, digest=digest)
    try:
        client = verify_receipt(text, [key.public.text for key in keys], now=now, action_digest=digest)
    except InvalidReceipt as refusal:
        if isinstance(server, Verified):
            raise Disagreement(text, server, refusal) from None
        return None
    if not isinstance(server, Verified):
        raise Disagreement(text, server, client)
    same = (server.question_id, server.decision, server.digest, server.nonce, server.expires_at, server.kid)
    assert same == (client.question_id, client.decision, client.digest, client.nonce, client.expires_at, client.key_id)
    return client
