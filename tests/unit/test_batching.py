"""Several questions, one decision."""

from dataclasses import replace

import pytest

from core.answers import AnswerShape, ApprovalShape, BooleanShape, ChoiceShape, Option, RawAnswer, TextShape
from core.batching import together
from core.kinds import Kind
from core.question import Action, Question, Risk
from tests.support.builders import answered, opened, spec


def question(number: int, shape: AnswerShape, risk: Risk | None = None) -> Question:
    action = Action("deploy", {}, "sha256:0", risk=risk) if risk is not None else None
    kind = Kind.APPROVAL if isinstance(shape, ApprovalShape) else Kind.BLOCKING
    return opened(spec(kind, shape, action=action), number)


def test_approvals_are_approved_or_rejected_together() -> None:
    found = together([question(1, ApprovalShape(), Risk.LOW), question(2, ApprovalShape())])
    assert [q.id[-1] for q in found.included] == ["1", "2"]
    assert [(v.word, v.answer) for v in found.verdicts] == [
        ("approve", RawAnswer(True)),
        ("reject", RawAnswer(False)),
    ]


@pytest.mark.parametrize("risk", [Risk.HIGH, Risk.CRITICAL])
def test_what_is_risky_is_never_decided_together(risk: Risk) -> None:
    risky = question(1, ApprovalShape(), risk)
    found = together([risky, question(2, ApprovalShape(), Risk.MEDIUM)])
    assert [q.id[-1] for q in found.included] == ["2"]
    assert found.excluded == ((risky, f"Its risk is {risk}; it is decided by itself, on its own page."),)


def test_nothing_but_risky_ones_leaves_nothing_to_decide() -> None:
    found = together([question(1, ApprovalShape(), Risk.HIGH)])
    assert (found.included, found.verdicts) == ((), ())


def test_those_that_take_the_same_answer_as_most_are_decided() -> None:
    colours = ChoiceShape((Option("Red", "r"), Option("Blue", "b")))
    found = together([question(1, colours), question(2, BooleanShape()), question(3, colours)])
    assert [q.id[-1] for q in found.included] == ["1", "3"]
    assert [(v.word, v.label, v.answer.value) for v in found.verdicts] == [("0", "Red", "r"), ("1", "Blue", "b")]
    assert [why for _, why in found.excluded] == ["It takes another kind of answer than the rest."]


def test_choices_with_the_same_names_and_other_meanings_are_not_the_same() -> None:
    one, other = ChoiceShape((Option("Yes", "keep"),)), ChoiceShape((Option("Yes", "delete"),))
    assert len(together([question(1, one), question(2, other)]).included) == 1


def test_texts_are_written_one_by_one_and_closed_ones_are_left_alone() -> None:
    text, closed = (
        question(1, TextShape()),
        replace(answered(spec(shape=BooleanShape())), id=question(2, TextShape()).id),
    )
    found = together([text, closed])
    assert found.included == ()
    assert [why for _, why in found.excluded] == [
        "An answer of type text is given by itself, on its own page.",
        "It is closed already.",
    ]
