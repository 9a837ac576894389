"""Reading JSON that came from elsewhere: absent and misshapen members are None or empty, never a surprise later."""

from datetime import UTC, datetime
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]


def member(parent: Json, name: str) -> Json:
    value = parent.get(name)
    return value if isinstance(value, dict) else {}


def members(parent: Json, name: str) -> list[Json]:
    listed = parent.get(name)
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def text(parent: Json, name: str) -> str | None:
    value = parent.get(name)
    return value if isinstance(value, str) and value else None


def instant(parent: Json, name: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text(parent, name) or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
