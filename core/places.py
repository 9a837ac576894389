"""A place where a question is shown. It stands alone because people and questions both speak of it."""

from dataclasses import dataclass

#: Every surface that rules can name, connected or not. The inbox needs no connection.
CHAT_SURFACES = ("slack", "discord")
NAMEABLE = frozenset({*CHAT_SURFACES, "email"})


@dataclass(frozen=True, slots=True)
class Target:
    """A place on a surface where the question is shown."""

    surface: str
    address: str
