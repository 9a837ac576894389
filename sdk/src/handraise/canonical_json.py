"""RFC 8785: the one way to write a JSON value, so that two who hold the same value compute the same digest."""

import json
import math
from collections.abc import Mapping
from decimal import Decimal

_LARGEST_WHOLE_NUMBER = 2**53 - 1


def canonical_json(value: object) -> str:
    """The value in its only form; ValueError where it has none."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        if abs(value) > _LARGEST_WHOLE_NUMBER:
            raise ValueError("a whole number is beyond ±(2^53 - 1)")
        return int.__repr__(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise ValueError("a name is not a text")
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical_json(name)}:{canonical_json(value[name])}" for name in names) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(canonical_json(item) for item in value) + "]"
    raise ValueError(f"{type(value).__name__} is nothing JSON has")


def _number(value: float) -> str:
    """As ECMAScript writes it: the shortest digits that give this number back, with an exponent only if far away."""
    if not math.isfinite(value):
        raise ValueError("a number is not finite")
    if value == 0:
        return "0"
    sign, numerals, exponent = Decimal(float.__repr__(value)).as_tuple()
    point = int(exponent) + len(numerals)
    digits = "".join(map(str, numerals)).rstrip("0")
    if len(digits) <= point <= 21:
        text = digits + "0" * (point - len(digits))
    elif 0 < point <= 21:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = "0." + "0" * -point + digits
    else:
        text = digits[0] + ("." + digits[1:] if digits[1:] else "") + f"e{point - 1:+d}"
    return "-" + text if sign else text
