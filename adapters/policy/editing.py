"""Changing the text of a policy by program, such as a command that puts somebody into a group."""

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from adapters.policy.ladders import LADDER_KEYS
from adapters.policy.layout import Layout
from adapters.policy.problems import Findings, PolicyProblems, Problem
from adapters.policy.reading import SECTIONS, parsed
from adapters.policy.rules import ANSWER_KEYS, MATCH_KEYS, ROUTE_KEYS, ROUTE_MATCH_KEYS
from adapters.policy.timetables import SCHEDULE_KEYS
from adapters.policy.words import date_time_in
from core.ids import JsonValue, PersonId
from core.phrasing import shown
from core.schedules import Shift

_RULE_KEYS = {"answer": ANSWER_KEYS, "route": ROUTE_KEYS, "ladder": LADDER_KEYS}
_SPECIAL = "unknown_recipients"
_TOP = (_SPECIAL, "groups", "schedules", *SECTIONS)
_INSTANTS = ("start", "end", "starts")
_BY_HAND = "This text is written in a way that is not changed in place. Export it, change it by hand and apply it."


class _BadPath(Exception):
    """There is no such place in the text; the message says why."""


@dataclass(frozen=True, slots=True)
class _Place:
    """One of: a key at the top, a group, a schedule, a rule, or a key of the latter two."""

    section: str
    name: str = ""
    key: str = ""


def edit_policy(text: str, changes: Mapping[str, JsonValue]) -> str:
    """The text with some things changed, comments and all; what it means is for `read_policy` to judge.

    Paths are `unknown_recipients`, `groups.NAME`, `schedules.NAME`, `schedules.NAME.KEY`, `answer.NAME` and
    `answer.NAME.KEY`, likewise for routes and ladders. None removes. A new rule goes before the first that has no
    conditions, since none after that is ever reached.
    """
    desk = _Desk(text)
    findings = Findings()
    for path, value in changes.items():
        try:
            desk.change(_place(desk.plain, path, findings), value)
        except _BadPath as bad:
            findings.add(path, str(bad))
    findings.raise_if_any()
    return desk.text()


def with_shifts(
    text: str, schedule: str, zone: str, shifts: Sequence[Shift], name_of: Callable[[PersonId], str]
) -> str:
    """The text with the shifts of a schedule replaced. The zone is for a new schedule: rotations go by the old one."""
    rows: list[Any] = [
        {"person": name_of(shift.person), "start": shift.start.astimezone(UTC), "end": shift.end.astimezone(UTC)}
        for shift in shifts
    ]
    desk = _Desk(text)
    try:
        known = schedule in _table_of(desk.plain, "schedules")
        if not known:
            desk.change(_Place("schedules", schedule), {"zone": zone})
        desk.change(_Place("schedules", schedule, "shifts"), rows)
    except _BadPath as bad:
        raise _refused("schedules", str(bad)) from None
    return desk.text()


def policy_diff(before: str, after: str) -> str:
    """What changed, as a unified diff; empty when nothing did."""
    lines = difflib.unified_diff(_lines(before), _lines(after), "current", "new")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


class _Desk:
    """The text as data and as layout. Both are changed alike; the text must come out saying what the data say."""

    def __init__(self, text: str) -> None:
        text = text.removeprefix("\ufeff")
        self.plain: dict[str, Any] = parsed(text)
        try:
            self._layout = Layout(text)
        except Exception:  # tomlkit has bugs of its own, and a text that only it cannot read is no crash
            raise _refused("text", _BY_HAND) from None

    def change(self, place: _Place, value: Any) -> None:
        value = _toml_value(value, within_times=place.section == "schedules")
        try:
            if place.section in SECTIONS:
                self._change_rule(place, value)
            elif place.key:
                self._set((place.section, place.name), place.key, value)
            elif place.name:
                self._change_entry(place, value)
            else:
                self._set((), place.section, value)
        except (_BadPath, PolicyProblems):
            raise
        except Exception:
            raise _refused("text", _BY_HAND) from None

    def text(self) -> str:
        try:
            written = self._layout.text()
            is_faithful = _without_empty(parsed(written)) == _without_empty(self.plain)
        except Exception:
            is_faithful = False
        if not is_faithful:
            raise _refused("text", _BY_HAND)
        return written

    def _set(self, path: tuple[str | int, ...], key: str, value: Any) -> None:
        table: Any = self.plain
        for step in path:
            table = table[step]
        if value is None:
            if key not in table:
                raise _BadPath(f"There is no {shown(key)} to remove.")
            del table[key]
            self._layout.drop(path, key)
        else:
            table[key] = value
            self._layout.put(path, key, value)

    def _change_entry(self, place: _Place, value: Any) -> None:
        """A group or a whole schedule."""
        entries = _table_of(self.plain, place.section)
        if value is not None and place.section not in self.plain:
            self.plain[place.section] = entries
            self._layout.add_table((), place.section, {})
        if place.section == "groups" or value is None:
            if place.section not in self.plain:
                raise _BadPath(f"There is no {shown(place.name)} to remove.")
            self._set((place.section,), place.name, value)
            return
        if not isinstance(value, dict):
            raise _BadPath("Give a whole schedule as a table, or add the key to the path.")
        if place.name in entries:
            self._set((place.section,), place.name, None)
        entries[place.name] = value
        self._layout.add_table((place.section,), place.name, value)

    def _change_rule(self, place: _Place, value: Any) -> None:
        rules = _rules_of(self.plain, place.section)
        number = next((n for n, rule in enumerate(rules) if rule.get("name") == place.name), None)
        if place.key and number is not None:
            self._set((place.section, number), place.key, value)
        elif value is None and number is not None:
            del rules[number]
            self._layout.drop((place.section,), number)
        elif isinstance(value, dict):
            self._put_rule(place, {"name": place.name} | value, rules, number)
        else:
            raise _BadPath("Give a whole rule as a table, or add the key to the path.")

    def _put_rule(self, place: _Place, rule: dict[str, Any], rules: list[dict[str, Any]], number: int | None) -> None:
        if number is not None:
            for key in [key for key in rules[number] if key not in rule]:
                self._set((place.section, number), key, None)
            for key, value in rule.items():
                self._set((place.section, number), key, value)
            return
        conditions = ROUTE_MATCH_KEYS if place.section == "route" else MATCH_KEYS
        catch_all = (n for n, each in enumerate(rules) if not any(key in each for key in conditions))
        spot = next(catch_all, len(rules))
        rules.insert(spot, rule)
        self.plain[place.section] = rules
        self._layout.insert(place.section, spot, rule)


def _place(plain: Mapping[str, Any], path: str, findings: Findings) -> _Place:
    section, dot, rest = path.partition(".")
    if section == _SPECIAL and not dot:
        return _Place(section)
    if section not in _TOP or section == _SPECIAL:
        raise _BadPath(f"There is no {shown(section)} in a policy.{findings.nearest(section, _TOP)}")
    if not rest:
        raise _BadPath(f"Say which one: {section}.NAME.")
    if section == "groups":
        return _Place(section, rest)
    names, keys = _names(plain, section), _RULE_KEYS.get(section, SCHEDULE_KEYS)
    if rest in names:
        return _Place(section, rest)
    name, dot, key = rest.rpartition(".")
    if dot and name in names:
        if key not in keys:
            raise _BadPath(f"There is no {shown(key)} in it.{findings.nearest(key, keys)}")
        return _Place(section, name, key)
    if dot and key in keys:
        raise _BadPath(f"Nothing is called {shown(name)} there.{findings.nearest(name, names)}")
    return _Place(section, rest)


def _names(plain: Mapping[str, Any], section: str) -> list[str]:
    if section == "schedules":
        return list(_table_of(plain, section))
    return [rule["name"] for rule in _rules_of(plain, section) if isinstance(rule.get("name"), str)]


def _table_of(plain: Mapping[str, Any], section: str) -> dict[str, Any]:
    found = plain.get(section, {})
    is_table = isinstance(found, dict) and (section == "groups" or all(isinstance(e, dict) for e in found.values()))
    if not is_table:
        raise _BadPath(f"{section} is not what it should be in this text.")
    return found  # type: ignore[no-any-return]


def _rules_of(plain: Mapping[str, Any], section: str) -> list[dict[str, Any]]:
    found = plain.get(section, [])
    if not isinstance(found, list) or not all(isinstance(rule, dict) for rule in found):
        raise _BadPath(f"{section} is not what it should be in this text.")
    return found


def _toml_value(value: Any, *, within_times: bool, key: str = "") -> Any:
    """The value as TOML can say it: JSON has no dates, and TOML has no null."""
    if isinstance(value, dict):
        return {k: _inner(v, within_times=within_times, key=k) for k, v in value.items()}
    if isinstance(value, list):
        return [_inner(each, within_times=within_times) for each in value]
    if within_times and key in _INSTANTS and isinstance(value, str):
        try:
            return date_time_in(value)
        except ValueError:
            return value  # `read_policy` says what is wrong with it
    if isinstance(value, float) and not math.isfinite(value):
        raise _BadPath("Infinity is not a value here.")
    return value


def _inner(value: Any, *, within_times: bool, key: str = "") -> Any:
    if value is None:
        raise _BadPath("Only the whole value may be null, which removes it.")
    return _toml_value(value, within_times=within_times, key=key)


def _without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value not in ([], {})}


def _refused(where: str, sentence: str) -> PolicyProblems:
    return PolicyProblems((Problem(where, sentence),))
