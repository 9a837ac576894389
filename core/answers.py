"""Answer shapes: what a question accepts, and the one place where a raw reply becomes an answer or is refused.

Every surface hands its input to `fit`, so a reply that is valid in Slack is valid over HTTP and the other way round.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from core.forms import form_problem
from core.ids import JsonObject, JsonValue
from core.phrasing import listing, shown

TEXT_LIMIT = 20_000
#: Beyond this, JSON numbers are not the same number in every language (RFC 7493).
LARGEST_WHOLE_NUMBER = 2**53 - 1

OptionValue: TypeAlias = str | bool | int | float


@dataclass(frozen=True, slots=True)
class Option:
    label: str
    value: OptionValue
    id: str | None = None
    description: str | None = None
    recommended: bool = False
    implications: str | None = None
    pros: tuple[str, ...] = ()
    cons: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[OptionValue, ...]:
        """What an answer may call this option, most exact first."""
        return (self.value, self.label) if self.id is None else (self.value, self.id, self.label)


@dataclass(frozen=True, slots=True)
class TextShape:
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ChoiceShape:
    options: tuple[Option, ...]
    allow_free_text: bool = False
    type: Literal["choice"] = "choice"


@dataclass(frozen=True, slots=True)
class MultiChoiceShape:
    options: tuple[Option, ...]
    allow_free_text: bool = False
    type: Literal["multi_choice"] = "multi_choice"


@dataclass(frozen=True, slots=True)
class BooleanShape:
    options: tuple[Option, ...] = ()
    type: Literal["boolean"] = "boolean"


@dataclass(frozen=True, slots=True)
class ApprovalShape:
    editable: bool = False
    type: Literal["approval"] = "approval"


@dataclass(frozen=True, slots=True)
class NumberShape:
    type: Literal["number"] = "number"


@dataclass(frozen=True, slots=True)
class FormShape:
    schema: JsonObject
    type: Literal["form"] = "form"


AnswerShape: TypeAlias = (
    TextShape | ChoiceShape | MultiChoiceShape | BooleanShape | ApprovalShape | NumberShape | FormShape
)


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """A reply as it came in, not yet held against the question's shape."""

    value: JsonValue
    text: str | None = None
    arguments: JsonObject | None = None
    type: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerValue:
    """A reply that fits. `text` is the explanation or reason, `arguments` the edited ones of an approval."""

    value: JsonValue
    text: str | None = None
    arguments: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Invalid:
    sentence: str
    pointer: str = ""


def options_of(shape: AnswerShape) -> tuple[Option, ...]:
    match shape:
        case ChoiceShape(options=options) | MultiChoiceShape(options=options) | BooleanShape(options=options):
            return options
        case _:
            return ()


def takes_free_text(shape: AnswerShape) -> bool:
    return isinstance(shape, ChoiceShape | MultiChoiceShape) and shape.allow_free_text


def fit(shape: AnswerShape, raw: RawAnswer) -> AnswerValue | Invalid:
    """Hold a reply against the shape: the answer it stands for, or a sentence that says what would be valid."""
    if raw.type is not None and raw.type != shape.type:
        return Invalid(f"This question takes an answer of type {shape.type}, not {shown(raw.type)}.", "/response/type")
    if raw.text is not None and len(raw.text) > TEXT_LIMIT:
        return Invalid(f"The text is longer than {TEXT_LIMIT:,} characters; shorten it.", "/response/text")
    if raw.arguments is not None and not isinstance(shape, ApprovalShape):
        return Invalid("Only an approval takes edited arguments.", "/response/arguments")
    value = _fit_value(shape, raw)
    if isinstance(value, Invalid):
        return Invalid(value.sentence, value.pointer or "/response/value")
    return AnswerValue(value, raw.text or None, raw.arguments)


def _fit_value(shape: AnswerShape, raw: RawAnswer) -> JsonValue | Invalid:
    match shape:
        case TextShape():
            return _text(raw.value)
        case ChoiceShape():
            return _choice(shape.options, raw.value, free_text=shape.allow_free_text)
        case MultiChoiceShape():
            return _choices(shape, raw.value)
        case BooleanShape():
            return _boolean(shape, raw.value)
        case ApprovalShape():
            return _approval(shape, raw)
        case NumberShape():
            return _number(raw.value)
        case FormShape():
            return _form(shape, raw.value)
        case _:
            assert_never(shape)


def _text(value: JsonValue) -> JsonValue | Invalid:
    if not isinstance(value, str) or not value.strip():
        return Invalid("Answer with a text that is not empty.")
    if len(value) > TEXT_LIMIT:
        return Invalid(f"The answer is longer than {TEXT_LIMIT:,} characters; shorten it.")
    return value


def _choice(options: tuple[Option, ...], value: JsonValue, *, free_text: bool) -> JsonValue | Invalid:
    option = _named(options, value)
    if option is not None:
        return option.value
    if free_text and isinstance(value, str):
        return _text(value)
    alternative = ", or write something else" if free_text else ""
    return Invalid(f"{shown(value)} is not an option. Pick one of {_labels(options)}{alternative}.")


def _named(options: tuple[Option, ...], value: JsonValue) -> Option | None:
    for option in options:
        if any(_same(name, value) for name in option.names):
            return option
    if not isinstance(value, str):
        return None
    # People type "postgresql" for "PostgreSQL"; that counts when only one option can be meant.
    folded = value.strip().casefold()
    meant = [
        option
        for option in options
        if any(isinstance(name, str) and name.strip().casefold() == folded for name in option.names)
    ]
    return meant[0] if len(meant) == 1 else None


def _same(one: JsonValue, other: JsonValue) -> bool:
    """Equal as JSON has it: 2 and 2.0 are one number, 1 and true are not the same."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _choices(shape: MultiChoiceShape, value: JsonValue) -> JsonValue | Invalid:
    if not isinstance(value, list) or not value:
        return Invalid(f"Answer with a list of one or more of {_labels(shape.options)}.")
    if len(value) > len(shape.options) + (100 if shape.allow_free_text else 0):
        return Invalid("The list has more entries than there are options.")
    picked: list[JsonValue] = []
    for item in value:
        one = _choice(shape.options, item, free_text=shape.allow_free_text)
        if isinstance(one, Invalid):
            return one
        if not any(_same(one, other) for other in picked):
            picked.append(one)
    return picked


def _boolean(shape: BooleanShape, value: JsonValue) -> JsonValue | Invalid:
    if isinstance(value, bool):
        return value
    option = _named(shape.options, value)
    return option.value if option is not None else Invalid("Answer with true or false.")


def _approval(shape: ApprovalShape, raw: RawAnswer) -> JsonValue | Invalid:
    if not isinstance(raw.value, bool):
        return Invalid("Answer an approval with true (approve) or false (reject).")
    if raw.arguments is not None and not shape.editable:
        return Invalid(
            "The arguments of this action may not be edited; approve or reject it as shown.",
            "/response/arguments",
        )
    if raw.arguments is not None and not raw.value:
        return Invalid("Edited arguments go with an approval, not with a rejection.", "/response/arguments")
    return raw.value


def _number(value: JsonValue) -> JsonValue | Invalid:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Invalid("Answer with a number.")
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE_NUMBER:
        return Invalid("Answer with a whole number up to 2^53 - 1; larger ones are not the same number everywhere.")
    return value if math.isfinite(value) else Invalid("Answer with a number.")


def _form(shape: FormShape, value: JsonValue) -> JsonValue | Invalid:
    if not isinstance(value, dict):
        return Invalid("Answer with an object that has the form's fields.")
    problem = form_problem(shape.schema, value)
    if problem is not None:
        return Invalid(problem.sentence, "/response/value" + problem.pointer)
    return value


def _labels(options: tuple[Option, ...]) -> str:
    return listing([option.label for option in options])
