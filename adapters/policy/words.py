"""The small words of the text: spans of time, parts of the time limit, places. ValueErrors are sentences for people."""

import re
from datetime import UTC, datetime, timedelta

from core.phrasing import shown
from core.rulebook import Place, PlaceKind

LONGEST_OFFSET = timedelta(days=30)
#: The sweep does nothing sooner, so a shorter span would be a promise nobody keeps.
SHORTEST_OFFSET = timedelta(minutes=1)
#: Outside of these years a date is a typing error, and reckoning with time zones fails at the very first and last.
_YEARS = range(1970, 2200)

_UNITS = {"w": 7 * 86400, "d": 86400, "h": 3600, "m": 60, "s": 1}
_SPAN = re.compile(r"(?:[0-9]{1,6}[wdhms] ?){1,5}")
_PART = re.compile(r"(-?[0-9]{1,9}(?:\.[0-9]{1,2})?) ?%")
_TURN = re.compile(r"([0-9]{1,4})([dw])")
_DATE_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}.{0,30}")

_CHANNELS = {"slack": re.compile(r"[CGD][A-Z0-9]{1,31}"), "discord": re.compile(r"[0-9]{1,20}")}
_GROUPS = {"slack": re.compile(r"S[A-Z0-9]{1,31}"), "discord": re.compile(r"[0-9]{1,20}")}
_PLAIN = {kind.value: kind for kind in PlaceKind if kind is not PlaceKind.CHANNEL}


def span_in(text: str) -> timedelta:
    """`20m`, `1h30m`, `2d`: between a minute and 30 days."""
    if _SPAN.fullmatch(text) is None:
        raise ValueError(f"{shown(text)} is not a span of time. Write one such as “20m”, “1h30m” or “2d”.")
    length = timedelta(seconds=sum(int(part[:-1]) * _UNITS[part[-1]] for part in re.findall("[0-9]+[a-z]", text)))
    if length < SHORTEST_OFFSET:
        raise ValueError(f"{shown(text)} is shorter than a minute.")
    if length > LONGEST_OFFSET:
        raise ValueError(f"{shown(text)} is longer than 30 days.")
    return length


def offset_in(text: str) -> timedelta | float:
    """A span, or a part of the time limit such as `50%`."""
    if not text.endswith("%"):
        return span_in(text)
    match = _PART.fullmatch(text)
    if match is None:
        raise ValueError(f"{shown(text)} is not a part of the time limit. Write one such as “50%”.")
    percent = float(match[1])
    if not 0 < percent < 100:
        raise ValueError(f"{shown(text)} is not between 0% and 100%.")
    return percent / 100


def turn_in(text: str) -> int:
    """The days of a turn: `1w`, `3d`. Hours would not stay at their time of day where clocks change."""
    match = _TURN.fullmatch(text)
    days = int(match[1]) * (7 if match[2] == "w" else 1) if match is not None else 0
    if not 1 <= days <= 366:
        raise ValueError(f"{shown(text)} is not the length of a turn. Write days or weeks: “1d”, “1w”, at most a year.")
    return days


def date_time_in(value: object) -> datetime:
    """A date and time of TOML, or the same as a text, which is how it comes through JSON."""
    if isinstance(value, str) and _DATE_TIME.fullmatch(value) is not None:
        text = value
        try:
            value = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError(f"{shown(text)} is not a date and time.") from None
    if not isinstance(value, datetime):
        raise ValueError("Write a date and time without quotation marks, such as 2026-01-05T09:00:00.")
    if value.year not in _YEARS:
        raise ValueError(f"The year {value.year} is out of reach.")
    return value


def place_in(text: str) -> Place:
    """`chat`, `dm`, `email`, `inbox`, `slack:CHANNEL` or `discord:CHANNEL`."""
    if text in _PLAIN:
        return Place(_PLAIN[text])
    surface, colon, address = text.partition(":")
    if not colon or surface not in _CHANNELS:
        known = ", ".join(f"“{word}”" for word in _PLAIN)
        raise ValueError(f"{shown(text)} is not a place. There are {known}, “slack:CHANNEL” and “discord:CHANNEL”.")
    if _CHANNELS[surface].fullmatch(address) is None:
        example = "slack:C0123ABCD" if surface == "slack" else "discord:112233445566778899"
        raise ValueError(f"{shown(address)} is not the id of a channel. Write its id, not its name: “{example}”.")
    return Place(PlaceKind.CHANNEL, surface, address)


def backing_in(text: str) -> tuple[str, str]:
    """The surface and the id of a group that is kept there: `slack:S0123ABC`, `discord:112233445566778899`."""
    surface, _, address = text.partition(":")
    pattern = _GROUPS.get(surface)
    if pattern is None:
        raise ValueError(
            f"{shown(text)} is not a group. Write a list of people, or a group that a surface keeps: “slack:S0123ABC”."
        )
    if pattern.fullmatch(address) is None:
        example = "slack:S0123ABC" if surface == "slack" else "discord:112233445566778899"
        raise ValueError(f"{shown(address)} is not the id of a group on {surface}. Write one such as “{example}”.")
    return surface, address


def place_text(place: Place) -> str:
    return f"{place.surface}:{place.address}" if place.kind is PlaceKind.CHANNEL else place.kind.value


def span_text(length: timedelta) -> str:
    """The span as `span_in` reads it."""
    seconds, parts = round(length.total_seconds()), []
    for unit, size in _UNITS.items():
        count, seconds = divmod(seconds, size)
        parts.append(f"{count}{unit}" if count else "")
    return "".join(parts) or "0s"


def offset_text(at: timedelta | float) -> str:
    return span_text(at) if isinstance(at, timedelta) else f"{round(at * 100, 2):g}%"


def instant_text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
