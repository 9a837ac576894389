"""When people can be asked: weekly windows in local time, working hours and quiet hours alike.

One rule decides everything: an instant is inside a window when the clock on the wall reads a time of that window.
So where clocks go forward, a window that starts in the missing hour starts when that hour is over; where they go back,
an hour that happens twice counts both times; and windows that adjoin never overlap nor leave a hole.
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache
from itertools import chain
from zoneinfo import ZoneInfo, available_timezones

from core.phrasing import shown

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
#: More than anybody writes by hand; looking for the next instant takes time with each.
MOST_WINDOWS = 50

_DAY = timedelta(days=1)
_SECOND = timedelta(seconds=1)
#: A weekly window can miss a turn when the clock change swallows it, so one week is not enough.
_SEARCHED = timedelta(days=22)


@dataclass(frozen=True, slots=True)
class Window:
    """Some hours on some days of every week, by the clock on the wall."""

    #: 0 is Monday; kept in order and without repetition. The day is the one the window starts on.
    days: tuple[int, ...]
    start: time
    #: The first time outside again. Not after `start`: on the next day, so 00:00 to 00:00 is the whole day.
    end: time

    def __post_init__(self) -> None:
        if not self.days or not all(0 <= day <= 6 for day in self.days):
            raise ValueError("A window needs at least one day, from 0 for Monday to 6 for Sunday.")
        if any(at.tzinfo is not None or at.second or at.microsecond for at in (self.start, self.end)):
            raise ValueError("A window starts and ends at whole minutes of local time.")
        object.__setattr__(self, "days", tuple(sorted(set(self.days))))

    def holds(self, wall: datetime) -> bool:
        """Whether this local time lies in the window."""
        day, clock = wall.weekday(), wall.time()
        if self.start < self.end:
            return day in self.days and self.start <= clock < self.end
        return (day in self.days and clock >= self.start) or ((day - 1) % 7 in self.days and clock < self.end)


@dataclass(frozen=True, slots=True)
class Hours:
    #: An IANA name; see `zone_problem`.
    zone: str
    #: None at all means always.
    windows: tuple[Window, ...] = ()


def in_utc(at: datetime) -> datetime:
    if at.tzinfo is None:
        raise ValueError("An instant needs its time zone.")
    return at.astimezone(UTC)


def instant_of(wall: datetime, zone: str) -> datetime:
    """The instant a local clock first reads this time; if it skips the time, the instant of the skip."""
    here = ZoneInfo(zone)
    earlier, later = (wall.replace(tzinfo=here, fold=fold).astimezone(UTC) for fold in (0, 1))
    # In a gap, and only there, the two readings come in the wrong order (PEP 495), on either side of the skip.
    return earlier if earlier <= later else _clock_change(here, later, earlier)


def is_within(hours: Hours, at: datetime) -> bool:
    if not hours.windows:
        return True
    wall = in_utc(at).astimezone(ZoneInfo(hours.zone))
    return any(window.holds(wall) for window in hours.windows)


def next_within(hours: Hours, at: datetime) -> datetime:
    """The first instant from `at` on that is inside, in UTC."""
    return _next(hours, at, inside=True)


def next_outside(hours: Hours, at: datetime) -> datetime:
    """The first instant from `at` on that is not inside, in UTC: when quiet hours are over.

    Windows that leave no time of the week free would hold a message for ever; they count as none, and so do no
    windows: the answer is `at`.
    """
    return _next(hours, at, inside=False)


def _next(hours: Hours, at: datetime, *, inside: bool) -> datetime:
    begin = in_utc(at)
    instants = chain([begin], _edges(hours, begin, begin + _SEARCHED))
    return next((instant for instant in instants if is_within(hours, instant) is inside), begin)


def stretches(hours: Hours, start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """The stretches of time between `start` and `end` that are inside, in order, in UTC."""
    begin, stop = in_utc(start), in_utc(end)
    since: datetime | None = None
    for instant in chain([begin], _edges(hours, begin, stop)):
        if instant >= stop:
            break
        if not is_within(hours, instant):
            if since is not None:
                yield since, instant
            since = None
        elif since is None:
            since = instant
    if since is not None:
        yield since, stop


def _edges(hours: Hours, start: datetime, end: datetime) -> Iterator[datetime]:
    """Every instant after `start`, up to `end`, at which inside may turn to outside or back, in order.

    Some are false alarms (a time that is read with the other offset of that day); none is missing.
    """
    zone = ZoneInfo(hours.zone)
    clocks = {clock for window in hours.windows for clock in (window.start, window.end)}
    while start < end:
        stop = min(start + _DAY, end)
        offsets = {_offset(zone, start), _offset(zone, stop)}
        found = {_clock_change(zone, start, stop)} if len(offsets) > 1 else set()
        for offset in offsets:
            day = (start + offset).date()
            while day <= (stop + offset).date():
                found |= {datetime.combine(day, clock, UTC) - offset for clock in clocks}
                day += _DAY
        yield from sorted(instant for instant in found if start < instant <= stop)
        start = stop


def _offset(zone: ZoneInfo, at: datetime) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta(0)


def _clock_change(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    """The instant between the two, the second included, at which the offset changes; zoneinfo does not tell it."""
    old = _offset(zone, before)
    while after - before > _SECOND:
        middle = before + (after - before) / 2
        if _offset(zone, middle) == old:
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0)  # clocks change at whole seconds


_CLOCK = r"\d{1,2}(?::\d{2})?"
_SPANS = r"[a-z]+(?: ?- ?[a-z]+)?"
_WINDOW = re.compile(rf"({_SPANS}(?: ?, ?{_SPANS})*) ({_CLOCK}) ?- ?({_CLOCK})(?: ?[,;] ?|$)")
_GROUPS = {"daily": range(7), "weekdays": range(5), "weekends": range(5, 7)}
_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_VALID = "Write days and times such as “mon-fri 09:00-17:00, sat 10:00-12:00” or “daily 22:00-07:00”."


def parse_windows(text: str) -> tuple[Window, ...]:
    """The windows such a text names; nothing written is no window. Raises ValueError with a sentence for people."""
    rest = " ".join(text.lower().replace("–", "-").split())
    found: list[Window] = []
    while rest:
        match = _WINDOW.match(rest)
        if match is None:
            raise ValueError(f"{shown(rest)} is not understood. {_VALID}")
        days = tuple(day for part in match[1].split(",") for day in _days(part))
        found.append(Window(days, _clock(match[2]), _clock(match[3], is_end=True)))
        rest = rest[match.end() :]
        if len(found) > MOST_WINDOWS:
            raise ValueError(f"There may be at most {MOST_WINDOWS} windows.")
    return tuple(found)


def _days(part: str) -> list[int]:
    first, _, last = (name.strip() for name in part.partition("-"))
    if first in _GROUPS and not last:
        return list(_GROUPS[first])
    begin, end = _day(first), _day(last or first)
    return [(begin + step) % 7 for step in range((end - begin) % 7 + 1)]  # fri-mon goes over the weekend


def _day(name: str) -> int:
    if len(name) >= 3:
        for number, full in enumerate(_NAMES):
            if full.startswith(name):
                return number
    raise ValueError(f"{shown(name)} is not a day. {_VALID}")


def _clock(text: str, *, is_end: bool = False) -> time:
    hour, _, minute = text.partition(":")
    if is_end and int(hour) == 24 and not int(minute or 0):
        return time()
    try:
        return time(int(hour), int(minute or 0))
    except ValueError:
        raise ValueError(f"{shown(text)} is not a time of day. {_VALID}") from None


def windows_text(windows: tuple[Window, ...]) -> str:
    """The one way to write these windows: what `parse_windows` reads back as the same."""
    return ", ".join(f"{_days_text(window.days)} {window.start:%H:%M}-{_end_text(window.end)}" for window in windows)


def _end_text(end: time) -> str:
    return "24:00" if end == time() else f"{end:%H:%M}"


def _days_text(days: tuple[int, ...]) -> str:
    if len(days) == 7:
        return "daily"
    runs: list[list[int]] = []
    for day in days:
        if runs and runs[-1][-1] == day - 1:
            runs[-1].append(day)
        else:
            runs.append([day])
    return ",".join(
        f"{DAYS[run[0]]}-{DAYS[run[-1]]}" if len(run) > 2 else ",".join(DAYS[day] for day in run) for run in runs
    )


@cache
def _zones() -> dict[str, str]:
    """Every zone there is, by its name in small letters."""
    return {name.lower(): name for name in sorted(available_timezones())}


def zone_problem(name: str) -> str | None:
    """Why this is not the name of a time zone, if it is not."""
    zones = _zones()
    sought = name.strip().lower().replace(" ", "_")[:64]
    if zones.get(sought) == name:
        return None
    # Abbreviations are nobody's neighbour: CEST is not EST.
    places = [full for full in zones if "/" in full or full == "utc"]
    cities = {full.rpartition("/")[2]: full for full in places}
    near = difflib.get_close_matches(sought, [*places, *cities], n=1, cutoff=0.8)
    if not near:
        return f"{shown(name)} is not a time zone. Write one such as “Europe/Berlin” or “UTC”."
    return f"{shown(name)} is not a time zone. Did you mean “{zones[cities.get(near[0], near[0])]}”?"
