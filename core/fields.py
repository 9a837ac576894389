"""A form's fields as every surface draws them, and what people typed into them as the answer it stands for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.ids import JsonObject, JsonValue


class FieldKind(StrEnum):
    TEXT = "text"
    NUMBER = "number"
    INTEGER = "integer"
    YES_NO = "yes_no"
    ONE_OF = "one_of"
    SOME_OF = "some_of"


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    kind: FieldKind
    label: str
    required: bool
    description: str | None = None
    #: What may be chosen: the value, and what people call it.
    choices: tuple[tuple[str, str], ...] = ()
    format: str | None = None
    default: JsonValue = None
    least: float | None = None
    most: float | None = None


def fields_of(schema: JsonObject) -> tuple[Field, ...]:
    """The fields of a schema that passed `schema_problem`, in its order."""
    properties, required = schema.get("properties"), schema.get("required")
    names = required if isinstance(required, list) else []
    if not isinstance(properties, dict):
        return ()
    return tuple(_field(name, about, name in names) for name, about in properties.items() if isinstance(about, dict))


def _field(name: str, about: JsonObject, required: bool) -> Field:
    kind, choices = _kind(about)
    least, most = _bounds(about)
    return Field(
        name,
        kind,
        _text(about.get("title")) or name,
        required,
        _text(about.get("description")),
        choices,
        _text(about.get("format")),
        about.get("default"),
        least,
        most,
    )


def _kind(about: JsonObject) -> tuple[FieldKind, tuple[tuple[str, str], ...]]:
    match about.get("type"):
        case "boolean":
            return FieldKind.YES_NO, ()
        case "integer":
            return FieldKind.INTEGER, ()
        case "number":
            return FieldKind.NUMBER, ()
        case "array":
            items = about.get("items")
            return FieldKind.SOME_OF, _choices(items if isinstance(items, dict) else {})
        case _:
            choices = _choices(about)
            return (FieldKind.ONE_OF, choices) if choices else (FieldKind.TEXT, ())


def _choices(holder: JsonObject) -> tuple[tuple[str, str], ...]:
    for word in ("enum", "oneOf", "anyOf"):
        entries = holder.get(word)
        if isinstance(entries, list):
            names = holder.get("enumNames")
            titles = names if isinstance(names, list) and len(names) == len(entries) else entries
            return tuple(_choice(entry, title) for entry, title in zip(entries, titles, strict=True))
    return ()


def _choice(entry: JsonValue, title: JsonValue) -> tuple[str, str]:
    if isinstance(entry, dict):
        value = str(entry.get("const"))
        return value, _text(entry.get("title")) or value
    return str(entry), str(title)


def _bounds(about: JsonObject) -> tuple[float | None, float | None]:
    pairs = (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"))
    low, high = next(((low, high) for low, high in pairs if low in about or high in about), pairs[0])
    least, most = about.get(low), about.get(high)
    return (
        least if isinstance(least, int | float) else None,
        most if isinstance(most, int | float) else None,
    )


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None


def form_answer(fields: Sequence[Field], typed: Mapping[str, Sequence[str]]) -> JsonObject:
    """What was typed, as JSON of the right types. What was left empty is left out; what is no number stays a text,
    so that holding it against the schema finds it and says so."""
    answer: JsonObject = {}
    for field in fields:
        entries = [entry for entry in typed.get(field.name, ()) if entry.strip()]
        value = _typed(field, entries)
        if value is not None:
            answer[field.name] = value
    return answer


def _typed(field: Field, entries: list[str]) -> JsonValue:
    match field.kind:
        case FieldKind.SOME_OF:
            return [*entries] if entries or field.required else None
        case FieldKind.YES_NO:
            return entries[-1] == "true" if entries else None
        case FieldKind.NUMBER | FieldKind.INTEGER:
            return number_from(entries[0]) if entries else None
        case _:
            return entries[0].replace("\r\n", "\n") if entries else None


def number_from(text: str) -> JsonValue:
    """The number that was typed, or the text itself when it is none."""
    text = text.strip()
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text
