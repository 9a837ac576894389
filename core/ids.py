"""Names of things, each its own type, and the JSON values that pass through untouched."""

from collections.abc import Callable
from datetime import datetime
from typing import NewType

from typing_extensions import TypeAliasType

QuestionId = NewType("QuestionId", str)
JobId = NewType("JobId", str)
WorkspaceId = NewType("WorkspaceId", str)
PersonId = NewType("PersonId", str)
CommandId = NewType("CommandId", str)
NoticeId = NewType("NoticeId", str)

#: Who holds a key: `agent:NAME` or `person:ID`. Questions and jobs belong to a principal, not to one key,
#: so that a key can be replaced without orphaning what it asked.
Principal = NewType("Principal", str)

JsonValue = TypeAliasType("JsonValue", "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None")
JsonObject = dict[str, JsonValue]

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class QuestionIds:
    """ULIDs: they sort by the time of asking, also within a millisecond, and nobody can guess the next one."""

    def __init__(self, entropy: Callable[[int], bytes]) -> None:
        self._entropy = entropy
        self._last = 0

    def next(self, at: datetime) -> QuestionId:
        fresh = (int(at.timestamp() * 1000) << 80) | int.from_bytes(self._entropy(10), "big")
        # In the same millisecond, or when the clock went back: behind the last one, by a step nobody knows.
        step = 1 + (fresh & (2**64 - 1))
        number = self._last = fresh if fresh >> 80 > self._last >> 80 else self._last + step
        return QuestionId("q_" + "".join(_CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5)))
