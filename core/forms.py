"""Form answers: the flat JSON Schema that a modal, an HTML form and MCP's elicitation can all show.

The schema is checked when the question is asked, the answer when it is given; jsonschema does the comparing and
this module says in a sentence what it found.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from jsonschema import Draft202012Validator, FormatChecker, ValidationError

from core.ids import JsonObject, JsonValue
from core.phrasing import listing, shown

MAX_FIELDS = 50

_COMMON = {"type", "title", "description", "default"}
#: What each field type may say. Nothing here nests, refers elsewhere or runs a pattern over people's input.
_FIELD_WORDS: Mapping[str, set[str]] = {
    "string": _COMMON | {"minLength", "maxLength", "format", "enum", "enumNames", "oneOf"},
    "number": _COMMON | {"minimum", "maximum"},
    "integer": _COMMON | {"minimum", "maximum"},
    "boolean": _COMMON,
    "array": _COMMON | {"items", "minItems", "maxItems"},
}
_ITEM_WORDS = {"type", "enum", "anyOf", "oneOf"}
_FORMATS = ("email", "uri", "date", "date-time")
_BOUNDS: Mapping[str, str] = {
    "minLength": "have at least {} characters",
    "maxLength": "have at most {} characters",
    "minItems": "have at least {} entries",
    "maxItems": "have at most {} entries",
    "minimum": "be at least {}",
    "maximum": "be at most {}",
}
_FORM_WORDS = {"type", "properties", "required", "title", "description", "additionalProperties", "$schema"}


@dataclass(frozen=True, slots=True)
class FormProblem:
    sentence: str
    pointer: str = ""


def schema_problem(schema: JsonObject) -> FormProblem | None:
    """What keeps this schema from being a form every surface can show, if anything."""
    unknown = sorted(set(schema) - _FORM_WORDS)
    if unknown:
        return FormProblem(f"A form's schema may not use {listing(unknown)}.", f"/{_step(unknown[0])}")
    if schema.get("type") != "object":
        return FormProblem('A form\'s schema has "type": "object".', "/type")
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not 1 <= len(properties) <= MAX_FIELDS:
        return FormProblem(f'A form has 1 to {MAX_FIELDS} fields under "properties".', "/properties")
    for name, field in properties.items():
        problem = _field_problem(field)
        if problem is not None:
            return FormProblem(f"Field {shown(name)}: {problem}", f"/properties/{_step(name)}")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) and name in properties for name in required):
        return FormProblem('"required" lists names of the form\'s fields.', "/required")
    return None


def _field_problem(field: JsonValue) -> str | None:
    if not isinstance(field, dict):
        return "describe it with an object."
    kind = field.get("type")
    if not isinstance(kind, str) or kind not in _FIELD_WORDS:
        return f"its type is one of {listing(list(_FIELD_WORDS))}."
    unknown = sorted(set(field) - _FIELD_WORDS[kind])
    if unknown:
        return f"a field of type {kind} may not use {listing(unknown)}."
    if kind == "string" and "format" in field and field["format"] not in _FORMATS:
        return f"its format is one of {listing(list(_FORMATS))}."
    if kind in ("string", "array"):
        problem = _choices_problem(kind, field)
        if problem is not None:
            return problem
    return _keyword_problem(field)


def _choices_problem(kind: str, field: JsonObject) -> str | None:
    holder: JsonValue = field.get("items") if kind == "array" else field
    if not isinstance(holder, dict):
        return 'a list field names its choices under "items".'
    if kind == "array" and set(holder) - _ITEM_WORDS:
        return f"its items may not use {listing(sorted(set(holder) - _ITEM_WORDS))}."
    if kind == "array" and holder.get("type", "string") != "string":
        return "its items are strings."
    names = [word for word in ("enum", "anyOf", "oneOf") if word in holder]
    if kind == "array" and not names:
        return 'a list field names its choices under "items", with "enum" or "anyOf".'
    for word in names:
        entries = holder[word]
        if not isinstance(entries, list) or not entries or not all(_is_choice(word, entry) for entry in entries):
            return f"{word} lists the choices as strings (or, in anyOf and oneOf, as objects with const and title)."
    return None


def _is_choice(word: str, entry: JsonValue) -> bool:
    if word == "enum":
        return isinstance(entry, str)
    return (
        isinstance(entry, dict)
        and set(entry) <= {"const", "title"}
        and isinstance(entry.get("const"), str)
        and isinstance(entry.get("title", ""), str)
    )


def _keyword_problem(field: JsonObject) -> str | None:
    for word in ("title", "description"):
        if not isinstance(field.get(word, ""), str):
            return f"{word} is a text."
    for word in ("minLength", "maxLength", "minItems", "maxItems"):
        size = field.get(word, 0)
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            return f"{word} is a whole number, 0 or more."
    for word in ("minimum", "maximum"):
        bound = field.get(word, 0)
        if isinstance(bound, bool) or not isinstance(bound, (int, float)):
            return f"{word} is a number."
    for least, most in (("minLength", "maxLength"), ("minItems", "maxItems"), ("minimum", "maximum")):
        low, high = field.get(least), field.get(most)
        if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low > high:
            return f"{least} is above {most}, so nothing fits."
    if "default" in field:
        error = _first_error(field, field["default"])
        if error is not None:
            return f"its default does not fit: {_sentence(error, 'It')}"
    return None


def form_problem(schema: JsonObject, value: JsonObject) -> FormProblem | None:
    """Why this answer does not fit the form, if it does not."""
    for name, entry in value.items():
        if isinstance(entry, float) and not math.isfinite(entry):
            return FormProblem(f"{shown(name)} must be a finite number.", f"/{_step(name)}")
    error = _first_error({**schema, "additionalProperties": False}, value)
    if error is None:
        return None
    pointer = "".join(f"/{_step(str(step))}" for step in error.absolute_path)
    return FormProblem(_sentence(error, "The form"), pointer)


def _step(name: str) -> str:
    """A name as a step of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def _first_error(schema: JsonObject, value: JsonValue) -> ValidationError | None:
    validator = Draft202012Validator(schema, format_checker=FormatChecker(_FORMATS))
    errors = sorted(validator.iter_errors(value), key=lambda error: [str(step) for step in error.absolute_path])
    return errors[0] if errors else None


def _sentence(error: ValidationError, whole: str) -> str:
    field = str(error.absolute_path[0]) if error.absolute_path else ""
    subject = shown(field) if field else whole
    rule = cast(JsonValue, error.validator_value)
    answer = cast(JsonValue, error.instance)
    match error.validator:
        case "required" if isinstance(rule, list) and isinstance(answer, dict):
            missing = [str(name) for name in rule if name not in answer]
            return f"{listing(missing)} must be filled in."
        case "additionalProperties" if isinstance(answer, dict):
            schema = cast(JsonObject, error.schema)
            fields = schema.get("properties")
            known = list(fields) if isinstance(fields, dict) else []
            extra = sorted(name for name in answer if name not in known)
            return f"The form has no field {listing(extra)}; its fields are {listing(known)}."
        case "type":
            return f"{subject} must be of type {rule}."
        case "enum" | "oneOf" | "anyOf" if isinstance(rule, list):
            choices = [str(choice.get("const") if isinstance(choice, dict) else choice) for choice in rule]
            return f"{subject} must be one of {listing(choices)}."
        case "format":
            return f"{subject} must be a valid {rule}."
        case str() as keyword if keyword in _BOUNDS:
            return f"{subject} must {_BOUNDS[keyword].format(rule)}."
        case _:
            return f"{subject} does not fit the form."
