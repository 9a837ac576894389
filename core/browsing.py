"""How people look through questions: what waits, most pressing first, and what has settled, newest first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.ids import JobId, PersonId, QuestionId, WorkspaceId
from core.kinds import Kind
from core.question import OutcomeKind, Question, Urgency

RANKS: Mapping[Urgency, int] = {Urgency.URGENT: 0, Urgency.HIGH: 1, Urgency.NORMAL: 2, Urgency.LOW: 3}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a question stands among those that wait: by urgency, then by deadline, then by age."""

    rank: int
    deadline: datetime | None
    question_id: QuestionId

    @property
    def sort_key(self) -> tuple[int, float, str]:
        return self.rank, self.deadline.timestamp() if self.deadline is not None else float("inf"), self.question_id


def place_of(question: Question) -> Place:
    return Place(RANKS[question.spec.urgency], question.deadline, question.id)


def agent_of(question: Question) -> str:
    """What the agent calls itself, or else the name of its key."""
    return question.spec.agent or question.spec.asker.name


@dataclass(frozen=True, slots=True)
class Sieve:
    """What people look for. Everything given has to fit."""

    workspace_id: WorkspaceId
    kind: Kind | None = None
    project_id: str | None = None
    agent: str | None = None
    job_id: JobId | None = None
    #: Words of the question or its id, in whatever case.
    words: str | None = None
    #: Only what is put to this person; only for what waits.
    put_to: PersonId | None = None
    #: How it ended; only for what has settled.
    ended: OutcomeKind | None = None

    def lets_through(self, question: Question) -> bool:
        spec = question.spec
        wanted = (
            (self.kind, spec.kind),
            (self.project_id, spec.project_id),
            (self.agent, agent_of(question)),
            (self.job_id, spec.job_id),
            (self.ended, question.outcome.kind if question.outcome is not None else None),
        )
        return (
            spec.workspace_id == self.workspace_id
            and all(want in (None, has) for want, has in wanted)
            and (self.put_to is None or self.put_to in question.asked)
            and self.is_mentioned_in(spec.text, question.id)
        )

    def is_mentioned_in(self, text: str, question_id: QuestionId) -> bool:
        return self.words is None or self.words.casefold() in f"{text}\n{question_id}".casefold()


class Browser(Protocol):
    async def waiting(self, sieve: Sieve, *, limit: int, after: Place | None = None) -> Sequence[Question]:
        """Open questions, most pressing first, starting behind `after`."""

    async def count_put_to(self, workspace_id: WorkspaceId, person_id: PersonId) -> int:
        """How many open questions are put to this person."""

    async def settled(self, sieve: Sieve, *, limit: int, before: QuestionId | None = None) -> Sequence[Question]:
        """Settled questions, those asked last first, starting behind `before`."""
