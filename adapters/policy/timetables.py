"""On-call schedules as the text writes them: rotations, overrides and shifts."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from adapters.policy.fields import Fields, type_name
from adapters.policy.parties import People, check_name
from adapters.policy.words import date_time_in, turn_in
from core.hours import Window, instant_of, parse_windows, zone_problem
from core.ids import PersonId
from core.schedules import Override, Rotation, Schedule, Shift

SCHEDULE_KEYS = ("zone", "rotations", "overrides", "shifts")
_Stint = TypeVar("_Stint", Override, Shift)


def read_schedules(root: Fields, people: People) -> dict[str, Schedule]:
    schedules: dict[str, Schedule] = {}
    for name, where, value in root.entries("schedules"):
        check_name(name, where, root.findings)
        if isinstance(value, dict):
            schedules[name] = _schedule(name, Fields(value, where, root.findings), people)
        else:
            root.findings.add(where, f"Write a table, [schedules.NAME]; this is {type_name(value)}.")
            schedules[name] = Schedule(name, "UTC")
    return schedules


def _schedule(name: str, fields: Fields, people: People) -> Schedule:
    zone = _zone(fields)
    rotations, overrides, shifts = (fields.tables(key) for key in SCHEDULE_KEYS[1:])
    if not any(fields.has(key) for key in SCHEDULE_KEYS[1:]):
        sentence = "Nobody is ever on call here. A schedule needs rotations, overrides or shifts."
        fields.findings.add(fields.where, sentence)
    fields.finish()
    turns = [_rotation(each, people) for each in rotations]
    return Schedule(
        name,
        zone,
        tuple(rotation for rotation in turns if rotation is not None),
        tuple(override for each in overrides if (override := _stint(Override, each, zone, people)) is not None),
        tuple(shift for each in shifts if (shift := _stint(Shift, each, zone, people)) is not None),
    )


def _zone(fields: Fields) -> str:
    """A zone to go on reading with where the written one is none."""
    word = fields.text("zone")
    if word is None:
        if "zone" not in fields:
            fields.missing("zone", "Write a time zone such as “Europe/Berlin”.")
        return "UTC"
    problem = zone_problem(word.text)
    if problem is not None:
        fields.findings.add(word.where, problem)
        return "UTC"
    return word.text


def _rotation(fields: Fields, people: People) -> Rotation | None:
    words = fields.words("people")
    if words is None:
        fields.missing("people", "Name those who take turns.")
    found = people.find_all(words or ())
    starts = _time(fields, "starts")
    if starts is not None and starts.tzinfo is not None:
        fields.problem("starts", "Turns start at a local time of the schedule's zone: leave out the “Z” or the offset.")
        starts = None
    days = _days(fields)
    windows = _windows(fields)
    fields.finish()
    if not found or starts is None or days is None:
        return None  # told already, or everybody of it has left
    return Rotation(found, starts, days, windows)


def _days(fields: Fields) -> int | None:
    word = fields.text("every")
    if word is None:
        if "every" not in fields:
            fields.missing("every", "Write how long a turn is, such as “1w”.")
        return None
    try:
        return turn_in(word.text)
    except ValueError as problem:
        fields.findings.add(word.where, str(problem))
        return None


def _windows(fields: Fields) -> tuple[Window, ...]:
    word = fields.text("hours")
    try:
        return parse_windows(word.text) if word is not None else ()
    except ValueError as problem:
        fields.problem("hours", str(problem))
        return ()


def _time(fields: Fields, key: str) -> datetime | None:
    value = fields.take(key)
    if value is None:
        fields.missing(key, "Write a date and time such as 2026-01-05T09:00:00.")
        return None
    try:
        return date_time_in(value)
    except ValueError as problem:
        fields.problem(key, str(problem))
        return None


def _stint(
    make: Callable[[PersonId, datetime, datetime], _Stint], fields: Fields, zone: str, people: People
) -> _Stint | None:
    """An override or a shift; times without an offset are local ones of the schedule's zone."""
    word = fields.text("person")
    if "person" not in fields:
        fields.missing("person", "Name who is on call.")
    person = people.find(word) if word is not None else None
    start, end = (_instant(_time(fields, key), zone) for key in ("start", "end"))
    fields.finish()
    if start is not None and end is not None and start >= end:
        fields.problem("end", "The end must be after the start.")
        return None
    return make(person, start, end) if person is not None and start is not None and end is not None else None


def _instant(at: datetime | None, zone: str) -> datetime | None:
    if at is None:
        return None
    return at.astimezone(UTC) if at.tzinfo is not None else instant_of(at, zone)
