"""What a decision looks at and what it can be. Refusals are values, not errors."""

from dataclasses import dataclass
from typing import TypeAlias

from core.events import Event
from core.job import Job
from core.question import Question
from core.refusals import Reason


@dataclass(frozen=True, slots=True)
class Case:
    """What a decision looks at: a question and the job it may hold. Either may not exist yet."""

    question: Question | None = None
    job: Job | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """The command was refused; `events` is what time had already brought about, and it is kept."""

    reason: Reason
    sentence: str
    events: tuple[Event, ...] = ()
    pointer: str = ""


Decision: TypeAlias = Accepted | Refused
