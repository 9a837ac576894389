"""Names of things, each its own type, and the JSON values that pass through untouched."""

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


def question_id(at: datetime, entropy: bytes) -> QuestionId:
    """A ULID: sorts by the time of asking, unguessable through 80 bits of `entropy`."""
    number = (int(at.timestamp() * 1000) << 80) | int.from_bytes(entropy[:10], "big")
    return QuestionId("q_" + "".join(_CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5)))
