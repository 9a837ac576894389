"""Who is on call: people taking turns, shifts from a calendar, and overrides that replace both."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from core.hours import Hours, Window, in_utc, instant_of, is_within, next_within, stretches
from core.ids import PersonId

LONGEST_TURN_DAYS = 366
#: A schedule that names nobody for a whole year names nobody.
_LOOK_AHEAD = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class Rotation:
    """People taking turns of equal length, again and again, from `starts` on."""

    people: tuple[PersonId, ...]
    #: Local time of the first handover, and thereby the time of day of all: 09:00 stays 09:00 when clocks change.
    starts: datetime
    #: In local calendar days: 7 is a weekly turn.
    turn_days: int
    #: Somebody is on call only within these; none means always. A handover does not wait for a window to end.
    windows: tuple[Window, ...] = ()

    def __post_init__(self) -> None:
        if not self.people:
            raise ValueError("A rotation needs at least one person.")
        if self.starts.tzinfo is not None:
            raise ValueError("A rotation starts at a local time, without a time zone of its own.")
        if not 1 <= self.turn_days <= LONGEST_TURN_DAYS:
            raise ValueError(f"A turn takes between 1 and {LONGEST_TURN_DAYS} days.")


@dataclass(frozen=True, slots=True)
class _Stint:
    person: PersonId
    start: datetime
    #: The first instant after it.
    end: datetime

    def __post_init__(self) -> None:
        if in_utc(self.start) >= in_utc(self.end):
            raise ValueError("The end must be after the start.")


@dataclass(frozen=True, slots=True)
class Override(_Stint):
    """Replaces whoever would be on call, also by an override written down before it."""


@dataclass(frozen=True, slots=True)
class Shift(_Stint):
    """An explicit time on call, such as an event of a calendar."""


@dataclass(frozen=True, slots=True)
class Turn(_Stint):
    """One person's unbroken time on call, as shown to people."""


@dataclass(frozen=True, slots=True)
class Schedule:
    name: str
    #: Local times of the rotations are read here: an IANA name.
    zone: str
    rotations: tuple[Rotation, ...] = ()
    #: In the order they were made: where two overlap, the later one holds.
    overrides: tuple[Override, ...] = ()
    shifts: tuple[Shift, ...] = ()


def on_call(schedule: Schedule, at: datetime) -> tuple[PersonId, ...]:
    """Everybody on call at this instant, in the order to ask them: shifts before rotations."""
    at = in_utc(at)
    for override in reversed(schedule.overrides):
        if override.start <= at < override.end:
            return (override.person,)
    people = [shift.person for shift in schedule.shifts if shift.start <= at < shift.end]
    for rotation in schedule.rotations:
        number = _turn_number(schedule, rotation, at)
        if number is not None and is_within(Hours(schedule.zone, rotation.windows), at):
            people.append(_taker(rotation, number))
    return tuple(dict.fromkeys(people))


def next_on_call(schedule: Schedule, at: datetime) -> datetime | None:
    """The first instant from `at` on with somebody on call, in UTC; None if there is none within a year."""
    begin = in_utc(at)
    # No need to go through the turns: a rotation that has started has somebody whenever its windows are open.
    starts = [max(begin, in_utc(stint.start)) for stint in (*schedule.overrides, *schedule.shifts) if stint.end > begin]
    for rotation in schedule.rotations:
        from_then = max(begin, _handover(schedule, rotation, 0))
        starts.append(next_within(Hours(schedule.zone, rotation.windows), from_then))
    first = min(starts, default=None)
    return first if first is not None and first - begin <= _LOOK_AHEAD else None


def turns(schedule: Schedule, start: datetime, end: datetime) -> tuple[Turn, ...]:
    """Who is on call when, between the two instants and cut off at them; each piece as long as it lasts."""
    begin, stop = in_utc(start), in_utc(end)
    if begin >= stop:
        return ()
    replaced: list[Turn] = []
    for override in reversed(schedule.overrides):
        replaced += _without(_cut([override], begin, stop), replaced)
    usual = list(_cut(schedule.shifts, begin, stop))
    for rotation in schedule.rotations:
        usual += _rotation_turns(schedule, rotation, begin, stop)
    return _joined([*replaced, *_without(usual, replaced)])


def _handover(schedule: Schedule, rotation: Rotation, number: int) -> datetime:
    return instant_of(rotation.starts + timedelta(days=rotation.turn_days) * number, schedule.zone)


def _taker(rotation: Rotation, number: int) -> PersonId:
    return rotation.people[number % len(rotation.people)]


def _turn_number(schedule: Schedule, rotation: Rotation, at: datetime) -> int | None:
    """How many handovers there have been before the turn that is on, if the first has been."""
    if at < _handover(schedule, rotation, 0):
        return None
    wall = at.astimezone(ZoneInfo(schedule.zone)).replace(tzinfo=None)
    number = max(0, (wall - rotation.starts) // timedelta(days=rotation.turn_days))
    # Where clocks change, the wall can read a little before or after a handover that has or has not been.
    while _handover(schedule, rotation, number + 1) <= at:
        number += 1
    while _handover(schedule, rotation, number) > at:
        number -= 1
    return number


def _rotation_turns(schedule: Schedule, rotation: Rotation, begin: datetime, stop: datetime) -> Iterator[Turn]:
    begin = max(begin, _handover(schedule, rotation, 0))
    number = _turn_number(schedule, rotation, begin) or 0
    hours = Hours(schedule.zone, rotation.windows)
    while begin < stop:
        number += 1
        end = min(stop, _handover(schedule, rotation, number))
        for since, until in stretches(hours, begin, end):
            yield Turn(_taker(rotation, number - 1), since, until)
        begin = end


def _cut(stints: Iterable[_Stint], begin: datetime, stop: datetime) -> Iterator[Turn]:
    for stint in stints:
        since, until = max(begin, in_utc(stint.start)), min(stop, in_utc(stint.end))
        if since < until:
            yield Turn(stint.person, since, until)


def _without(pieces: Iterable[Turn], taken: Iterable[Turn]) -> Iterator[Turn]:
    """What is left of the pieces where nothing of `taken` is; what is taken does not overlap itself."""
    holes = sorted((turn.start, turn.end) for turn in taken)
    for piece in pieces:
        since = piece.start
        for start, end in holes:
            if start >= piece.end:
                break
            if start > since:
                yield Turn(piece.person, since, start)
            since = max(since, end)
        if since < piece.end:
            yield Turn(piece.person, since, piece.end)


def _joined(pieces: list[Turn]) -> tuple[Turn, ...]:
    """One turn out of pieces of the same person that touch or overlap; in order of their start."""
    joined: dict[PersonId, list[Turn]] = {}
    for piece in sorted(pieces, key=lambda turn: turn.start):
        mine = joined.setdefault(piece.person, [])
        if mine and piece.start <= mine[-1].end:
            mine[-1] = Turn(piece.person, mine[-1].start, max(mine[-1].end, piece.end))
        else:
            mine.append(piece)
    return tuple(sorted((turn for mine in joined.values() for turn in mine), key=lambda turn: turn.start))
