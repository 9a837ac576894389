"""The shifts a calendar file names within a horizon, and everything in it that cannot be used."""

import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import recurring_ical_events
from icalendar import Calendar, Component
from icalendar.timezone import tzp

from adapters.icalendar.reading import UnreadableFile, calendars_in, events_in, series_problems, title, values_of
from core.ids import PersonId
from core.schedules import Shift

LARGEST_BYTES = 2 * 1024 * 1024
MOST_SHIFTS = 5000
_MOST_PROBLEMS = 100
#: A rule that never comes up is followed to the year 9999, which takes seconds; a file can have thousands of them.
_LONGEST_SECONDS = 5.0
#: A title is searched for names of up to three words; more words than this are no title.
_LONGEST_NAME, _MOST_WORDS = 3, 20
#: Local times are looked up as if they were UTC, so the search reaches further than any zone's offset.
_MARGIN = timedelta(hours=36)

Who = Callable[[str], PersonId | None]

#: The library keeps the zones that files describe in one place for the whole process, the first description winning:
#: without starting afresh, one file could move the times of all files after it.
_ONE_FILE_AT_A_TIME = threading.Lock()


def shifts_from(
    text: str, who: Who, *, start: datetime, end: datetime, zone: str
) -> tuple[tuple[Shift, ...], tuple[str, ...]]:
    """The shifts that touch the time from `start` to `end`, uncut and in order, and all problems as sentences.

    `who` is asked for the mail address of each attendee, then of the organizer, then for words of the title; the
    first that is known is on call. Whole days and times without a time zone are those of `zone`.
    """
    if len(text) > LARGEST_BYTES or len(text.encode("utf-8", "replace")) > LARGEST_BYTES:
        return (), (f"This calendar is larger than {LARGEST_BYTES // 1024 // 1024} MB.",)
    harvest = _Harvest(who, start.astimezone(UTC), end.astimezone(UTC), ZoneInfo(zone))
    with _ONE_FILE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library warns of zones it had to guess
        tzp.use_zoneinfo()
        try:
            found = list(events_in(calendars_in(text)))
        except UnreadableFile as reason:
            return (), (str(reason),)
        except Exception:  # what the library raises on nonsense is not written down anywhere
            return (), ("This file cannot be read as a calendar. It should be an iCalendar file (.ics).",)
        harvest.add_all(found)
    return harvest.result()


class _Enough(Exception):
    """The rest of the file is not looked at."""


class _Harvest:
    def __init__(self, who: Who, start: datetime, end: datetime, zone: ZoneInfo) -> None:
        self._who = who
        self._known: dict[str, PersonId | None] = {}
        self._start, self._end, self._zone = start, end, zone
        self._give_up_at = time.monotonic() + _LONGEST_SECONDS
        self._shifts: dict[Shift, None] = {}
        #: Sentences in the order they came up; an event that repeats has its problem once.
        self.problems: dict[str, None] = {}

    def result(self) -> tuple[tuple[Shift, ...], tuple[str, ...]]:
        shown = list(self.problems)[:_MOST_PROBLEMS]
        if len(self.problems) > len(shown):
            shown.append(f"There are {len(self.problems) - len(shown)} more problems like these.")
        return tuple(sorted(self._shifts, key=lambda shift: (shift.start, shift.end, shift.person))), tuple(shown)

    def add_all(self, found: list[list[Component]]) -> None:
        try:
            for series in found:
                self._add(series)
        except _Enough as enough:
            self.problems[str(enough)] = None

    def _add(self, series: list[Component]) -> None:
        events: list[tuple[Component, datetime, datetime]] = []
        try:
            problems = series_problems(series)
            if not problems:
                events += islice(self._occurrences(series), MOST_SHIFTS + 1)
        except _Enough:
            raise
        except Exception:  # as above; and one event with a strange rule must not hide the others
            problems = [f"{title(series[0])} cannot be worked out: its times or its repetition make no sense."]
        self.problems |= dict.fromkeys(problems)
        for event, start, end in events:
            self._add_event(event, start, end)

    def _occurrences(self, series: list[Component]) -> Iterator[tuple[Component, datetime, datetime]]:
        alone = Calendar()
        for event in series:
            alone.add_component(event)
        self._check_time()
        for each in recurring_ical_events.of(alone).series:
            for occurrence in each.between(self._start - _MARGIN, self._end + _MARGIN):
                self._check_time()
                event = occurrence.as_component(False)
                start, end = self._instant(event["DTSTART"].dt), self._instant(event["DTEND"].dt)
                is_cancelled = str(event.get("STATUS", "")).upper() == "CANCELLED"
                if start < self._end and end > self._start and not is_cancelled:
                    yield event, start, end

    def _check_time(self) -> None:
        if time.monotonic() > self._give_up_at:
            raise _Enough("This calendar takes too long to work out. Export fewer events, or only those to come.")

    def _add_event(self, event: Component, start: datetime, end: datetime) -> None:
        person = next(filter(None, map(self._person, _names(event))), None)
        if start >= end:
            self.problems[f"{title(event)} does not end after its start."] = None
        elif person is None:
            self.problems[f"{title(event)} names nobody who is known here, neither by mail address nor by name."] = None
        elif len(self._shifts) >= MOST_SHIFTS:
            raise _Enough(f"There are more than {MOST_SHIFTS:,} shifts in this calendar; the rest is left out.")
        else:
            self._shifts[Shift(person, start, end)] = None

    def _instant(self, at: date | datetime) -> datetime:
        """In UTC. A time that clocks skip is read with the offset before the skip, as RFC 5545 (3.3.5) has it."""
        if not isinstance(at, datetime):
            at = datetime(at.year, at.month, at.day, tzinfo=self._zone)
        return (at if at.tzinfo is not None else at.replace(tzinfo=self._zone)).astimezone(UTC)

    def _person(self, name: str) -> PersonId | None:
        if name not in self._known:
            self._known[name] = self._who(name)
        return self._known[name]


def _names(event: Component) -> Iterator[str]:
    """What may name the person of an event, the surest first."""
    for field in ("ATTENDEE", "ORGANIZER"):
        for party in values_of(event, field):
            for address in (str(party), str(getattr(party, "params", {}).get("EMAIL", ""))):
                mail = re.sub(r"^mailto:", "", address.strip(), flags=re.IGNORECASE)
                if "@" in mail:
                    yield mail
    words = re.findall(r"[\w.@+'’-]+", str(event.get("SUMMARY", "")))[:_MOST_WORDS]
    for length in range(min(_LONGEST_NAME, len(words)), 0, -1):  # “Ann Lee” is surer than “Ann”
        for first in range(len(words) - length + 1):
            yield " ".join(words[first : first + length]).strip(".-'’")
