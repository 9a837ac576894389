"""Small pieces of sentences: values, lists, instants and durations as people read them."""

import json
import shlex
from collections.abc import Sequence
from datetime import datetime, timedelta

from core.ids import JsonValue

_SHOWN_LIMIT = 60
_LISTED_LIMIT = 12


def shown(value: JsonValue) -> str:
    """A value inside a sentence: quoted if it is a text, shortened if it is long."""
    text = f"“{value}”" if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_LIMIT else text[: _SHOWN_LIMIT - 1] + "…"


def shell_word(text: str) -> str:
    """The text as one word of a shell line, never taken for an option."""
    quoted = shlex.quote(text)
    return f"-- {quoted}" if text.startswith("-") else quoted


def listing(names: Sequence[str]) -> str:
    """`a, b and c`, with the tail counted when there are very many."""
    return names_of([shown(name) for name in names])


def names_of(names: Sequence[str]) -> str:
    """`Dana, Erik and 3 more`, unquoted: names that we know."""
    items = list(names[:_LISTED_LIMIT])
    if len(names) > _LISTED_LIMIT:
        items.append(f"{len(names) - _LISTED_LIMIT} more")
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def moment(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%d %H:%M:%S UTC")


def span(duration: timedelta) -> str:
    """The largest fitting units of a duration: `45 s`, `30 min`, `1 h 30 min`, `24 h`."""
    seconds = duration.total_seconds()
    if seconds < 60:
        return f"{seconds:g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (rest if not hours else 0, "s")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count)
