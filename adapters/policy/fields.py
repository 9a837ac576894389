"""Tables of the text, read key by key: the right types or a problem, and a problem for every key nobody asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time

from adapters.policy.problems import Findings, below, one_of
from core.phrasing import shown

LONGEST_TEXT = 200
_MOST_ITEMS = 5000


@dataclass(frozen=True, slots=True)
class Word:
    """A text, and where it stands."""

    text: str
    where: str


class Fields:
    """One table. Every key is taken at most once; `finish` reports those that were not."""

    def __init__(self, values: Mapping[str, object], where: str, findings: Findings) -> None:
        self._values = values
        self._known: list[str] = []
        self.where = where
        self.findings = findings

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def has(self, key: str) -> bool:
        """Whether something other than an empty list stands there."""
        return bool(self._values.get(key))

    def place(self, key: str) -> str:
        return below(self.where, key)

    def take(self, key: str) -> object:
        self._known.append(key)
        return self._values.get(key)

    def problem(self, key: str, sentence: str) -> None:
        self.findings.add(self.place(key), sentence)

    def finish(self) -> None:
        for key in self._values:
            if key not in self._known:
                near = self.findings.nearest(key, self._known)
                self.problem(key, f"There is no {shown(key)} here.{near or f' There is {one_of(self._known)}.'}")

    def missing(self, key: str, sentence: str) -> None:
        self.problem(key, f"This is missing. {sentence}")

    def text(self, key: str) -> Word | None:
        value = self.take(key)
        return None if value is None else as_word(value, self.place(key), self.findings)

    def words(self, key: str) -> tuple[Word, ...] | None:
        """A text or a list of texts; None where the key is absent."""
        value = self.take(key)
        if value is None:
            return None
        if isinstance(value, str):
            word = as_word(value, self.place(key), self.findings)
            return (word,) if word is not None else ()
        if not isinstance(value, list):
            self.problem(key, f"Write a text or a list of texts; this is {type_name(value)}.")
            return ()
        if not value:
            self.problem(key, "This list is empty. Name at least one, or leave the key out.")
        found = (as_word(each, where, self.findings) for where, each in self._items(key, value))
        return tuple(word for word in found if word is not None)

    def flag(self, key: str, default: bool) -> bool:
        value = self.take(key)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.problem(key, f"Write true or false; this is {type_name(value)}.")
        return default

    def number(self, key: str, default: int, most: int) -> int:
        """A whole number from 1 on."""
        value = self.take(key)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool):
            self.problem(key, f"Write a whole number; this is {type_name(value)}.")
        elif not 1 <= value <= most:
            self.problem(key, f"Write a number from 1 to {most}.")
        else:
            return value
        return default

    def items(self, key: str) -> Iterator[tuple[str, object]]:
        """The items of a list, each with its place."""
        value = self.take(key)
        if isinstance(value, list):
            yield from self._items(key, value)
        elif value is not None:
            self.problem(key, f"Write a list; this is {type_name(value)}.")

    def tables(self, key: str) -> list["Fields"]:
        found = []
        for where, value in self.items(key):
            if isinstance(value, dict):
                found.append(Fields(value, where, self.findings))
            else:
                self.findings.add(where, f"Write a table such as {{ … = … }}; this is {type_name(value)}.")
        return found

    def entries(self, key: str) -> list[tuple[str, str, object]]:
        """The entries of a table whose keys are names that people chose, each with its place."""
        value = self.take(key)
        if isinstance(value, dict):
            place = self.place(key)
            return [(name, below(place, name), entry) for name, entry in value.items()]
        if value is not None:
            self.problem(key, f"Write a table, [{key}]; this is {type_name(value)}.")
        return []

    def _items(self, key: str, value: list[object]) -> Iterator[tuple[str, object]]:
        if len(value) > _MOST_ITEMS:
            self.problem(key, f"This list is longer than {_MOST_ITEMS:,}.")
        yield from ((f"{self.place(key)}[{n}]", each) for n, each in enumerate(value[:_MOST_ITEMS]))


def as_word(value: object, where: str, findings: Findings) -> Word | None:
    if not isinstance(value, str):
        findings.add(where, f"Write a text in quotation marks; this is {type_name(value)}.")
        return None
    problem = text_problem(value)
    if problem is not None:
        findings.add(where, problem)
        return None
    return Word(value, where)


def text_problem(text: str) -> str | None:
    """Why a text cannot be a name, a pattern or a word, if it cannot: all of them are short and on one line."""
    if not text.strip():
        return "This text is empty."
    if len(text) > LONGEST_TEXT:
        return f"This text is longer than {LONGEST_TEXT} characters."
    if not text.isprintable():
        return "This text has characters that cannot be seen."
    return None if text == text.strip() else "This text begins or ends with a space."


def type_name(value: object) -> str:
    names: tuple[tuple[type, str], ...] = (
        (bool, "true or false"),
        (int, "a number"),
        (float, "a number"),
        (str, "a text"),
        (list, "a list"),
        (dict, "a table"),
        (datetime, "a date and time"),
        (date, "a date"),
        (time, "a time of day"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "something else")
