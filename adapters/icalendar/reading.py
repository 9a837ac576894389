"""Reading a file nobody vouches for, and refusing what would keep the machine busy without end."""

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta

from icalendar import Calendar, Component
from icalendar.prop import vBroken

from core.phrasing import shown

#: All of them are gone through for every single time in the file. A full history of one zone has some 200.
_MOST_CLOCK_CHANGES = 3000
#: Rules are followed from their first day on; before this, that is a way to keep us busy rather than a shift.
_EARLIEST_YEAR = 1970
#: Changes to single repetitions are compared with each other.
_MOST_TOGETHER = 1000
#: Whatever says when an event is: if one of these cannot be read, the event would be somewhere else.
_TIMES = ("DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID")
_ZONED = ("DTSTART", "DTEND", "RECURRENCE-ID", "RDATE", "EXDATE")
_ONCE = ("DTSTART", "DTEND", "DURATION", "RRULE", "RECURRENCE-ID")
_STEPS = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
#: With these a rule can come up every second, whatever its step is.
_FINER = ("BYHOUR", "BYMINUTE", "BYSECOND")


class UnreadableFile(Exception):
    """Nothing can be taken from this file; the text says why."""


def calendars_in(text: str) -> list[Component]:
    """The calendars of a file, each looked at only so far that it is safe to ask it for times."""
    calendars = _parsed(text)
    if any(_unknown_zones(event) for series in events_in(calendars) for event in series):
        calendars = _parsed(text)  # a zone may be described below the events that use it: now the library knows it
    if not calendars:
        raise UnreadableFile("There is no calendar in this file; it should begin with “BEGIN:VCALENDAR”.")
    zones = [component for component in _everything_in(calendars) if component.name == "VTIMEZONE"]
    if sum(_clock_changes(change) for zone in zones for change in zone.subcomponents) > _MOST_CLOCK_CHANGES:
        raise UnreadableFile("The time zones this file brings along (VTIMEZONE) are not such as calendars write them.")
    return calendars


def _parsed(text: str) -> list[Component]:
    # As bytes, always: given a text of one line, the library takes it for a path and reads that file from the disk.
    found = Calendar.from_ical(text.encode("utf-8", "replace"), multiple=True)
    return [component for component in found if component.name == "VCALENDAR"]


def events_in(calendars: Iterable[Component]) -> Iterator[list[Component]]:
    """Events that belong together: one that repeats and the changes to single repetitions of it."""
    for calendar in calendars:
        series: dict[object, list[Component]] = {}
        for number, component in enumerate(calendar.subcomponents):
            if component.name == "VEVENT":
                series.setdefault(str(component.get("UID", "")) or number, []).append(component)
        yield from series.values()


def series_problems(series: list[Component]) -> list[str]:
    """Why events that belong together cannot be used."""
    if len(series) > _MOST_TOGETHER:
        return [f"{title(series[0])} has more than {_MOST_TOGETHER:,} single changes."]
    return [problem for event in series for problem in _event_problems(event)]


def _event_problems(event: Component) -> Iterator[str]:
    name = title(event)
    start = _day_of(event)
    broken = {str(field).upper() for field, _ in event.errors if field} & set(_TIMES)
    if broken:
        yield f"{name}: its {' and '.join(sorted(broken))} cannot be read."
    elif start is None:
        yield f"{name} has no start."
    elif any(len(values_of(event, field)) > 1 for field in _ONCE):
        yield f"{name} says twice when it is or how it repeats; it may say so once."
    elif isinstance(start, datetime) and "DTEND" not in event and "DURATION" not in event:
        yield f"{name} has no end. Give it an end or a duration."
    elif not _ends_after(start, event):
        yield f"{name} does not end after its start."
    elif any(_is_too_fine(rule) for rule in values_of(event, "RRULE")) or "EXRULE" in event:
        yield f"{name} repeats in a way that is not supported. A shift may repeat by days, weeks, months or years."
    elif "RRULE" in event and start.year < _EARLIEST_YEAR:
        yield f"{name} repeats since before {_EARLIEST_YEAR}. Let it start later."
    for zone in sorted(_unknown_zones(event)):
        yield f"{name}: the time zone {shown(zone)} is not known, and the file does not describe it."


def title(event: Component) -> str:
    """How a sentence calls this event."""
    summary = re.sub(r"\s+", " ", str(event.get("SUMMARY", ""))).strip()
    return f"The event {shown(summary)}" if summary else "An event without a title"


def values_of(component: Component, name: str) -> list[object]:
    """All that is readable under this name; what is not raises whatever it is asked."""
    found = component.get(name, [])
    return [value for value in (found if isinstance(found, list) else [found]) if not isinstance(value, vBroken)]


def _everything_in(components: Iterable[Component]) -> Iterator[Component]:
    waiting = list(components)
    while waiting:  # not by recursion: a hostile file is nested as deep as it is long
        component = waiting.pop()
        yield component
        waiting += component.subcomponents


def _clock_changes(change: Component) -> int:
    """How many a part of a zone description stands for, at most and until 2100."""
    count = 1 + sum(len(getattr(dates, "dts", ())) for dates in values_of(change, "RDATE"))
    for rule in values_of(change, "RRULE"):
        months = _part(rule, "BYMONTH")
        if _part(rule, "FREQ") != ["YEARLY"] or _is_too_fine(rule) or (len(months) != 1 and _part(rule, "BYDAY")):
            return _MOST_CLOCK_CHANGES + 1
        last = _part(rule, "UNTIL")
        first = _day_of(change)
        count += max(0, (int(last[0][:4]) if last else 2100) - (first.year if first else 0))
    return count


def _is_too_fine(rule: object) -> bool:
    freq = _part(rule, "FREQ")
    return len(freq) != 1 or freq[0] not in _STEPS or any(_part(rule, finer) for finer in _FINER)


def _part(rule: object, name: str) -> list[str]:
    value = rule.get(name, []) if isinstance(rule, dict) else []
    return [str(part).upper() for part in (value if isinstance(value, list) else [value])]


def _day_of(component: Component) -> date | None:
    """The start of an event, as far as it is the day or the time it should be."""
    starts = [getattr(value, "dt", None) for value in values_of(component, "DTSTART")]
    return next((at for at in starts if isinstance(at, date)), None)


def _ends_after(start: date, event: Component) -> bool:
    """The library turns an event that ends before it starts around; that would be a shift nobody wrote."""
    for value in (*values_of(event, "DTEND"), *values_of(event, "DURATION")):
        end = getattr(value, "dt", None)
        if isinstance(end, timedelta):
            return end > timedelta(0)
        try:
            return isinstance(end, date) and end > start
        except TypeError:  # a day and a time, or a time with a zone and one without
            return False
    return True


def _unknown_zones(event: Component) -> set[str]:
    """Zones that are named where the time was read as if it named none."""
    return {
        str(zone)
        for field in _ZONED
        for value in values_of(event, field)
        if (zone := getattr(value, "params", {}).get("TZID")) and any(at.tzinfo is None for at in _moments(value))
    }


def _moments(value: object) -> Iterator[datetime]:
    for single in getattr(value, "dts", [value]):
        at = getattr(single, "dt", None)
        at = at[0] if isinstance(at, tuple) else at
        if isinstance(at, datetime):
            yield at
