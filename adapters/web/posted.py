"""What a form of ours sends, as the answer it stands for. Whether it fits is for the question's shape to say."""

import json
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

from core.answers import (
    AnswerShape,
    ApprovalShape,
    BooleanShape,
    FormShape,
    Invalid,
    NumberShape,
    RawAnswer,
    options_of,
)
from core.fields import fields_of, form_answer, number_from
from core.ids import JsonObject, JsonValue
from core.safetext import visible

#: Names of form fields are kept apart from ours.
FIELD_PREFIX = "f."
_MOST_FIELDS = 1000
_DEEPEST = 20


class Posted:
    """The fields of a form, each with everything that was sent for it."""

    def __init__(self, fields: Mapping[str, Sequence[str]]) -> None:
        self._fields = fields

    @classmethod
    def from_body(cls, body: bytes) -> "Posted":
        """Raises ValueError for what no form of ours sends."""
        fields: dict[str, list[str]] = {}
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
        for name, value in pairs:
            if "\x00" in value:
                raise ValueError("A text contains the character U+0000. Leave it out.")
            fields.setdefault(name, []).append(value)
        return cls(fields)

    def all(self, name: str) -> list[str]:
        return list(self._fields.get(name, ()))

    def text(self, name: str) -> str:
        return (self._fields.get(name) or [""])[-1].replace("\r\n", "\n").strip()

    def maybe(self, name: str) -> str | None:
        return self.text(name) or None

    def under(self, prefix: str) -> dict[str, list[str]]:
        return {name.removeprefix(prefix): [*sent] for name, sent in self._fields.items() if name.startswith(prefix)}

    def as_json(self, *, without: Sequence[str]) -> JsonValue:
        return {name: [*sent] for name, sent in self._fields.items() if name not in without}


def answer_from(shape: AnswerShape, posted: Posted) -> RawAnswer | Invalid:
    why = posted.maybe("text")
    match shape:
        case ApprovalShape():
            return _verdict(posted, why)
        case BooleanShape():
            return RawAnswer({"true": True, "false": False}.get(posted.text("value"), posted.text("value")), why)
        case NumberShape():
            return RawAnswer(number_from(posted.text("value")), why)
        case FormShape():
            return RawAnswer(form_answer(fields_of(shape.schema), posted.under(FIELD_PREFIX)), why)
        case _ if shape.type == "text":
            return RawAnswer(posted.text("value"), why)
        case _:
            return _picked(shape, posted, why)


def _verdict(posted: Posted, why: str | None) -> RawAnswer | Invalid:
    decision = posted.text("value")
    if decision not in ("true", "false"):
        return Invalid("Approve or reject it.")
    arguments = _arguments(posted.text("arguments")) if decision == "true" else None
    if isinstance(arguments, Invalid):
        return arguments
    return RawAnswer(decision == "true", why, arguments)


def _arguments(text: str) -> JsonObject | Invalid | None:
    if not text:
        return None
    try:
        arguments = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as failure:
        return Invalid(f"The edited arguments are not JSON: {failure}.", "/response/arguments")
    if not isinstance(arguments, dict):
        return Invalid("The edited arguments are a JSON object, as the ones shown are.", "/response/arguments")
    problem = _unkeepable(arguments)
    return Invalid(problem, "/response/arguments") if problem is not None else arguments


def _unkeepable(value: JsonValue, depth: int = 0) -> str | None:
    """What JSON allows and not every database and client along the way does."""
    if depth > _DEEPEST:
        return f"The edited arguments nest deeper than {_DEEPEST} levels. Flatten them."
    if isinstance(value, str) and "\x00" in value:
        return "A text in the edited arguments contains the character U+0000. Leave it out."
    below = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return next((problem for entry in below if (problem := _unkeepable(entry, depth + 1)) is not None), None)


def to_edit(arguments: JsonObject) -> str:
    """Arguments as JSON to write in. Hidden characters are escaped, so they are seen and, left alone, stay what they
    are."""
    text = json.dumps(arguments, indent=2, ensure_ascii=False)
    return "".join(each if visible(each) == each else json.dumps(each)[1:-1] for each in text)


def _no_constant(word: str) -> JsonValue:
    raise ValueError(f"{word} is not a JSON number")


def _picked(shape: AnswerShape, posted: Posted, why: str | None) -> RawAnswer | Invalid:
    options, free = options_of(shape), posted.text("free")
    picked: list[JsonValue] = []
    for place in posted.all("option"):
        if place == "free":
            continue
        if not place.isascii() or not place.isdigit() or int(place) >= len(options):
            return Invalid("There is no such option any more. Load the page again.")
        picked.append(options[int(place)].value)
    if shape.type == "multi_choice":
        return RawAnswer([*picked, free] if free else picked, why)
    if free and not picked:
        return RawAnswer(free, why)
    return RawAnswer(picked[0], why) if picked else Invalid("Pick one of the options.")
