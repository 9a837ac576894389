"""The steps of a question's ladder, as they are frozen into it: when, what, to whom and where."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from core.places import Target


class StepKind(StrEnum):
    REMIND = "remind"
    ESCALATE = "escalate"


@dataclass(frozen=True, slots=True)
class Step:
    """`audience` names people as a roster resolves them when the step is due, so shifts and absences count then."""

    kind: StepKind
    after: timedelta
    audience: tuple[str, ...] = ("asked",)
    targets: tuple[Target, ...] = ()
    #: Also write to each person of the audience directly / by email.
    direct: bool = False
    email: bool = False
    #: The panel that the people of this rung join, so that they may decide as well.
    joins: str | None = None
    #: Wait for the working hours of its people, unless the question is urgent.
    holds: bool = True
    label: str = ""
