"""From what a person types to the JSON value of an answer, for each answer shape."""

import json
import math
from collections.abc import Callable

SHAPES = ("text", "choice", "multi_choice", "boolean", "approval", "number", "form")

_YES = frozenset({"yes", "y", "true"})
_NO = frozenset({"no", "n", "false"})
_APPROVE = _YES | {"approve", "approved"}
_REJECT = _NO | {"reject", "rejected"}


def value_for(shape: str, typed: str) -> object:
    """The value of an answer of this shape; ValueError carries a sentence that says what would be valid."""
    convert = _CONVERSIONS.get(shape)
    if convert is None:
        raise ValueError(f"This client does not know the answer shape {shape!r}; it knows {', '.join(SHAPES)}.")
    return convert(typed)


def strict_json(text: str) -> object:
    """JSON as the standard has it: no NaN, no Infinity."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def json_object(text: str) -> dict[str, object]:
    value = strict_json(text)
    if not isinstance(value, dict):
        raise ValueError("it is not an object")
    return value


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _as_is(typed: str) -> object:
    return typed


def _boolean(typed: str) -> object:
    word = typed.strip().lower()
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise ValueError(f"{typed!r} is not a yes or a no: write yes, y or true, or no, n or false.")


def _approval(typed: str) -> object:
    word = typed.strip().lower()
    if word in _APPROVE:
        return True
    if word in _REJECT:
        return False
    raise ValueError(f"{typed!r} neither approves nor rejects: write approve, yes or y, or reject, no or n.")


def _number(typed: str) -> object:
    try:
        value = strict_json(typed.strip())
    except ValueError:
        value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{typed!r} is not a number: write one such as 3 or 2.5.")
    return value


def _several(typed: str) -> object:
    if not typed.lstrip().startswith("["):
        return [name for name in (part.strip() for part in typed.split(",")) if name]
    try:
        value = strict_json(typed)
    except ValueError:
        value = None
    if not isinstance(value, list):
        raise ValueError(f'{typed!r} is not a list: write names separated by commas, or JSON such as ["a", "b"].')
    return value


def _form(typed: str) -> object:
    try:
        return json_object(typed)
    except ValueError as failure:
        raise ValueError(
            f'The form\'s answer must be a JSON object such as {{"name": "value"}}, or @FILE that holds one: {failure}.'
        ) from None


_CONVERSIONS: dict[str, Callable[[str], object]] = {
    "text": _as_is,
    "choice": _as_is,
    "multi_choice": _several,
    "boolean": _boolean,
    "approval": _approval,
    "number": _number,
    "form": _form,
}
