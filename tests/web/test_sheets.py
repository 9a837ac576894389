"""What a card shows, and what has to be read on its own page."""

from dataclasses import replace

import pytest

from adapters.web.sheets import sheet_for
from core.answers import (
    AnswerShape,
    ApprovalShape,
    ChoiceShape,
    FormShape,
    MultiChoiceShape,
    NumberShape,
    Option,
    TextShape,
)
from core.digests import action_digest
from core.ids import JsonObject
from core.kinds import Kind
from core.question import Action, Risk
from tests.support.builders import DANA, EVE, NOW, ROSTER, acting, answered, expired, opened, spec

_DIFF = "@@ -1 +1 @@\n-a\n+b\n"


def action(arguments: JsonObject | None = None, diff: str | None = None, risk: Risk | None = Risk.LOW) -> Action:
    given = arguments or {}
    return Action("deploy", given, action_digest("deploy", given, diff, risk), diff, risk)


def fits(shape: AnswerShape, of: Action | None = None, text: str = "Which?") -> bool:
    kind = Kind.APPROVAL if of is not None else Kind.BLOCKING
    return sheet_for(opened(spec(kind, shape, action=of, text=text)), acting(DANA), ROSTER, NOW).fits_card


@pytest.mark.parametrize(
    "shape",
    [TextShape(), NumberShape(), ChoiceShape((Option("a", "a"),)), ApprovalShape()],
    ids=lambda shape: shape.type,
)
def test_simple_shapes_are_answered_on_the_card(shape: AnswerShape) -> None:
    assert fits(shape)


@pytest.mark.parametrize(
    "shape",
    [
        MultiChoiceShape((Option("a", "a"),)),
        FormShape({"type": "object", "properties": {"a": {"type": "string"}}}),
        ChoiceShape(tuple(Option(str(n), n) for n in range(7))),
        ChoiceShape((Option("a", "a", pros=("quick",)),)),
    ],
    ids=["multi_choice", "form", "many options", "trade-off"],
)
def test_what_needs_reading_or_room_is_answered_on_its_page(shape: AnswerShape) -> None:
    assert not fits(shape)


def test_an_action_is_approved_on_the_card_only_when_all_of_it_is_there() -> None:
    assert fits(ApprovalShape(), action({"a": 1}, _DIFF))
    assert not fits(ApprovalShape(), action({"a": "x" * 700}))
    assert not fits(ApprovalShape(), action(diff="@@ -1,20 +1,20 @@\n" + "-a\n+b\n" * 20))
    assert not fits(ApprovalShape(), action(), text="long " * 300)


@pytest.mark.parametrize("risk", [Risk.HIGH, Risk.CRITICAL])
def test_what_is_risky_is_approved_on_its_page(risk: Risk) -> None:
    assert not fits(ApprovalShape(), action(risk=risk))


def test_who_may_not_answer_is_told_why() -> None:
    sheet = sheet_for(opened(), acting(EVE), ROSTER, NOW)
    assert not sheet.may_answer
    assert sheet.objection == "Eve is not among the people who may answer this question."


def test_what_is_closed_takes_no_answer_but_what_expired_takes_a_late_one() -> None:
    assert not sheet_for(answered(), acting(DANA), ROSTER, NOW).may_answer
    late = sheet_for(expired(), acting(DANA), ROSTER, NOW)
    assert (late.may_answer, late.may_send_late) == (False, True)
    assert not sheet_for(expired(), acting(EVE), ROSTER, NOW).may_send_late


def test_it_is_mine_while_it_is_put_to_me_and_waits_for_my_word() -> None:
    question = opened(spec(asked=(DANA.id,)))
    assert sheet_for(question, acting(DANA), ROSTER, NOW).is_mine
    assert not sheet_for(question, acting(EVE), ROSTER, NOW).is_mine
    assert not sheet_for(replace(answered(), asked=(DANA.id,)), acting(DANA), ROSTER, NOW).is_mine
