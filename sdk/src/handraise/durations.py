"""Durations as people type them: `45s`, `30m`, `1.5h`, `1h30m`. A unit is required, so that nobody has to guess."""

import re
from datetime import timedelta

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
