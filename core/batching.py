"""Several questions, one decision: which of them may be decided together, and what the decision can be."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.answers import AnswerShape, ApprovalShape, BooleanShape, ChoiceShape, RawAnswer, options_of
from core.question import Question, Risk

#: Nobody reads more than this before deciding.
MOST_TOGETHER = 50
_TOO_RISKY = frozenset({Risk.HIGH, Risk.CRITICAL})


@dataclass(frozen=True, slots=True)
class Verdict:
    """One way to decide all of them: its word in a form, what people call it, and the answer it stands for."""

    word: str
    label: str
    answer: RawAnswer


@dataclass(frozen=True, slots=True)
class Together:
    """What is decided, what is not and why not, and the ways to decide; none when they take different answers."""

    included: tuple[Question, ...]
    excluded: tuple[tuple[Question, str], ...]
    verdicts: tuple[Verdict, ...]


def together(questions: Sequence[Question]) -> Together:
    excluded = [(question, why) for question in questions if (why := keeps_apart(question)) is not None]
    apart = {question.id for question, _ in excluded}
    included = [question for question in questions if question.id not in apart]
    if not included:
        return Together((), tuple(excluded), ())
    # Those that take the same answer as most do are decided; the others are told apart.
    shapes = [_signature(question.spec.shape) for question in included]
    common = max(shapes, key=shapes.count)
    for question, shape in zip(list(included), shapes, strict=True):
        if shape != common:
            included.remove(question)
            excluded.append((question, "It takes another kind of answer than the rest."))
    return Together(tuple(included), tuple(excluded), _verdicts(included[0].spec.shape))


def keeps_apart(question: Question) -> str | None:
    """Why a question is decided by itself or not at all, if it is."""
    if not question.is_open:
        return "It is closed already."
    action = question.spec.action
    if action is not None and action.risk in _TOO_RISKY:
        return f"Its risk is {action.risk}; it is decided by itself, on its own page."
    if _signature(question.spec.shape) is None:
        return f"An answer of type {question.spec.shape.type} is given by itself, on its own page."
    return None


def _signature(shape: AnswerShape) -> tuple[object, ...] | None:
    match shape:
        case ApprovalShape():
            return ("approval",)
        case BooleanShape() | ChoiceShape():
            return (shape.type, *((option.label, option.value) for option in options_of(shape)))
        case _:
            return None


def _verdicts(shape: AnswerShape) -> tuple[Verdict, ...]:
    match shape:
        case ApprovalShape():
            return Verdict("approve", "Approve", RawAnswer(True)), Verdict("reject", "Reject", RawAnswer(False))
        case BooleanShape():
            labels = {option.value: option.label for option in shape.options}
            return (
                Verdict("true", labels.get(True, "Yes"), RawAnswer(True)),
                Verdict("false", labels.get(False, "No"), RawAnswer(False)),
            )
        case _:
            options = enumerate(options_of(shape))
            return tuple(Verdict(str(place), option.label, RawAnswer(option.value)) for place, option in options)
