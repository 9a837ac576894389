"""JSON as a tree that people read: names in front, one thing a line, nothing left out."""

import json
from dataclasses import dataclass, field

from core.ids import JsonValue


@dataclass(frozen=True, slots=True)
class Branch:
    name: str
    #: The value as JSON writes it, for a leaf; how much there is, for anything else.
    value: str
    kind: str
    below: list["Branch"] = field(default_factory=list)


def tree_of(value: JsonValue, name: str = "") -> Branch:
    match value:
        case dict():
            below = [tree_of(entry, key) for key, entry in value.items()]
            return Branch(name, _count(len(below), "entry", "entries"), "object", below)
        case list():
            below = [tree_of(entry, str(place)) for place, entry in enumerate(value)]
            return Branch(name, _count(len(below), "item", "items"), "list", below)
        case str():
            return Branch(name, value, "text")
        case _:
            return Branch(name, json.dumps(value), "other")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def weight(value: JsonValue) -> int:
    """How many characters it takes to show all of it."""
    return len(json.dumps(value, ensure_ascii=False))
