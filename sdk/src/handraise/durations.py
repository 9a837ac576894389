"""Durations as people type them: `45s`, `30m`, `1.5h`, `1h30m`. A unit is required, so that nobody has to guess."""

import math
import re
from datetime import timedelta
from typing import TypeAlias

# `"10m"`, a number of seconds, or a timedelta.
Duration: TypeAlias = str | float | timedelta

LONGEST = timedelta(days=366)

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])", re.ASCII)
_WHOLE = re.compile(rf"(?:{_PART.pattern})+", re.ASCII)


def duration_in(text: str) -> timedelta:
    """The duration that was typed; ValueError carries a sentence for the person who typed it."""
    spelled = text.strip().lower()
    if spelled == "0":
        return timedelta(0)
    if not _WHOLE.fullmatch(spelled):
        raise ValueError(f"{text!r} is not a duration: write a number with its unit, such as 45s, 30m, 2h or 1.5h.")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(spelled))
    if seconds > LONGEST.total_seconds():
        raise ValueError(f"{text!r} is more than a year.")
    return timedelta(seconds=seconds)


def duration_of(given: Duration) -> timedelta:
    """The duration a program gave; ValueError carries a sentence for the programmer."""
    if isinstance(given, str):
        return duration_in(given)
    if isinstance(given, bool) or not isinstance(given, int | float | timedelta):
        raise ValueError(f"{given!r} is not a duration: give '10m', a number of seconds or a timedelta.")
    seconds = given.total_seconds() if isinstance(given, timedelta) else given
    if not math.isfinite(seconds) or not 0 <= seconds <= LONGEST.total_seconds():
        raise ValueError(f"{given!r} is not a duration between nothing and a year.")
    return timedelta(seconds=seconds)


def spoken(duration: timedelta) -> str:
    """About how long, in the two largest units: `1h 30m`, `45s`."""
    seconds = int(duration.total_seconds())
    amounts = (
        ("d", seconds // 86400),
        ("h", seconds % 86400 // 3600),
        ("m", seconds % 3600 // 60),
        ("s", seconds % 60),
    )
    parts = [f"{amount}{unit}" for unit, amount in amounts if amount]
    return " ".join(parts[:2]) or "0s"
