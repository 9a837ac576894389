"""What the server answers beside a question or a job: a page of a list, and the receipt of an answer."""

from dataclasses import dataclass, field
from typing import Generic, Self, TypeVar

from handraise.question import Question
from handraise.wire import Json

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """The beginning of a list; there may be more where `next_cursor` is set."""

    items: tuple[T, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Recorded:
    """An answer was recorded; `question` shows what that led to."""

    question: Question
    job_resumed: bool
    json: Json = field(repr=False)

    @classmethod
    def from_json(cls, json: Json) -> Self:
        return cls(Question.from_json(json.get("question")), json.get("jobResumed") is True, json)
