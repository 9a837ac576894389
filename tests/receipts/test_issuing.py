"""Which decisions have a receipt, and what it says."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from core.answers import BooleanShape
from core.decisions import Accepted, Case
from core.kinds import Kind
from core.machine import apply
from core.question import Decider, DeliveryRecord, DeliveryState, OutcomeKind, Question, Status
from core.receipts import DEFAULT_LIFETIME, LONGEST_LIFETIME, MAX_LENGTH, receipt_for, receipt_payload
from tests.receipts.samples import (
    DECIDED,
    DIGEST,
    EPOCH,
    KEY,
    SOON,
    accepted,
    approval,
    key,
    payload_of,
    receipt,
    settled,
)
from tests.support.builders import BY_ASKER, BY_DANA, DANA, acting, after, answer, decide, opened, spec

RULE = Decider("rule", "r_7", "Dana's rule for staging")
DEFAULT = Decider("default")
DEADLINE = Decider("deadline")
EDITED = "sha256:" + "ab" * 32


@pytest.mark.parametrize(
    ("question", "decision"),
    [
        (settled(BY_DANA, True), "approved"),
        (settled(BY_DANA, False), "rejected"),
        (settled(RULE, True), "approved"),
        (settled(RULE, False), "rejected"),
        (settled(of=approval(action=False)), "approved"),
        (settled(of=spec(Kind.BLOCKING, approval().shape)), "approved"),
        (settled(deciders=()), "approved"),
        (opened(approval()), None),
        (settled(DEFAULT, True, kind=OutcomeKind.DEFAULTED, status=Status.EXPIRED, deciders=()), None),
        (settled(DEADLINE, None, kind=OutcomeKind.EXPIRED, status=Status.EXPIRED, deciders=()), None),
        (settled(BY_ASKER, None, kind=OutcomeKind.WITHDRAWN, status=Status.WITHDRAWN, deciders=()), None),
        (settled(BY_DANA, None, kind=OutcomeKind.WITHDRAWN, status=Status.WITHDRAWN, deciders=()), None),
        # None of these comes about; if one did, it would not be vouched for.
        (settled(DEFAULT, True), None),
        (settled(DEFAULT, True, deciders=(BY_DANA,)), None),
        (settled(DEADLINE, True), None),
        (settled(BY_ASKER, True), None),
        (settled(deciders=(BY_DANA, DEFAULT)), None),
        (settled(Decider("person", None, "Dana"), True), None),
        (settled(Decider("person", "", "Dana"), True), None),
        (settled(kind=OutcomeKind.DEFAULTED), None),
        (settled(status=Status.EXPIRED), None),
        (settled(status=Status.OPEN), None),
        (settled(value=None), None),
        (settled(value="yes"), None),
        (settled(value=1), None),
        (settled(of=spec(Kind.CONFIRMING, BooleanShape())), None),
        (replace(settled(), outcome=None), None),
    ],
)
def test_only_a_decided_approval_has_a_receipt(question: Question, decision: str | None) -> None:
    made = receipt_for(question, KEY, EPOCH)

    if decision is None:
        assert made is None
    else:
        said = accepted(made or "", now=SOON)
        assert said is not None
        assert (said.decision, said.approved) == (decision, decision == "approved")


def test_the_machines_own_approval_has_a_receipt() -> None:
    decision = decide(Case(opened(approval())), answer(value=True, by=acting(DANA, "slack")), DECIDED)
    assert isinstance(decision, Accepted)
    question = apply(Case(opened(approval())), decision.events).question
    assert question is not None

    said = accepted(receipt(question))

    assert said is not None
    assert (said.approved, said.source, said.deciders[0].name, said.deciders[0].surface) == (
        True,
        "person",
        "Dana",
        "slack",
    )


def test_the_payload_in_full() -> None:
    assert payload_of(receipt()) == {
        "v": 1,
        "kid": KEY.kid,
        "epoch": "e_first",
        "workspaceId": "default",
        "questionId": "q_00000000000000000000000001",
        "decision": "approved",
        "source": "person",
        "deciders": [{"type": "person", "id": "p_dana", "name": "Dana", "surface": "api"}],
        "actionDigest": DIGEST,
        "decidedDigest": None,
        "policyVersion": "0",
        "decidedAt": "2026-03-01T12:01:00.000Z",
        "issuedAt": "2026-03-01T12:01:00.000Z",
        "expiresAt": "2026-03-01T12:16:00.000Z",
        "nonce": "OBOy4Ol5jC1bbKh6j7Drpw",
    }


def test_the_same_question_gives_the_same_receipt_whatever_happens_to_it_later() -> None:
    posted = DeliveryRecord("slack", DeliveryState.POSTED, after(3))
    later = replace(settled(), version=9, deliveries=(posted,))

    assert receipt(later) == receipt(settled())


def test_the_nonce_is_of_the_decision_and_not_of_the_key_or_the_epoch() -> None:
    first = payload_of(receipt())["nonce"]

    assert payload_of(receipt(by=key(2)))["nonce"] == first
    assert payload_of(receipt(epoch="e_second"))["nonce"] == first
    others = [
        settled(number=2),
        settled(value=False),
        settled(decided_at=DECIDED + timedelta(milliseconds=1)),
    ]
    assert len({first, *(payload_of(receipt(other))["nonce"] for other in others)}) == 4


def test_an_edited_approval_is_about_the_edited_action_only() -> None:
    text = receipt(settled(decided_digest=EDITED))

    assert accepted(text, digest=EDITED) is not None
    assert accepted(text, digest=DIGEST) is None


def test_an_approval_without_an_action_stands_for_no_action() -> None:
    text = receipt(settled(of=approval(action=False)))

    assert accepted(text) is not None
    assert accepted(text, digest=DIGEST) is None


def test_a_receipt_lives_for_a_quarter_of_an_hour_and_never_for_more_than_a_day() -> None:
    def lived(lifetime: timedelta) -> dict[str, Any]:
        made = receipt_payload(settled(), EPOCH, KEY.kid, lifetime)
        assert made is not None
        return made

    assert lived(DEFAULT_LIFETIME)["expiresAt"] == "2026-03-01T12:16:00.000Z"
    assert lived(LONGEST_LIFETIME)["expiresAt"] == "2026-03-02T12:01:00.000Z"
    for wrong in (timedelta(0), timedelta(seconds=-1), LONGEST_LIFETIME + timedelta(milliseconds=1)):
        with pytest.raises(ValueError, match="one second to 24 hours"):
            lived(wrong)


def test_names_cannot_make_a_receipt_too_long_or_hide_anything() -> None:
    crowd = tuple(Decider("person", f"p_{number:03}", "\u202eanaD" + "ü" * 5000, "slack") for number in range(8))
    multitude = tuple(Decider("person", f"p_{number:03}", "Ann 🙂" * 30, "slack") for number in range(40))
    too_many = tuple(Decider("person", f"p_{number:03}", None, "slack") for number in range(400))

    named, unnamed = accepted(receipt(settled(deciders=crowd))), accepted(receipt(settled(deciders=multitude)))

    assert named is not None
    assert unnamed is not None
    assert named.deciders[0].name is not None
    assert named.deciders[0].name.startswith("⟨U+202E⟩anaD")
    assert [decider.id for decider in unnamed.deciders] == [f"p_{number:03}" for number in range(40)]
    assert {decider.name for decider in unnamed.deciders} == {None}
    assert len(receipt(settled(deciders=multitude))) <= MAX_LENGTH
    assert receipt_for(settled(deciders=too_many), KEY, EPOCH) is None
