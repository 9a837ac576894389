"""Looking through questions in memory."""

from collections.abc import Sequence

from adapters.memory.database import MemoryDatabase
from core.browsing import Place, Sieve, place_of
from core.ids import PersonId, QuestionId, WorkspaceId
from core.question import Question


class MemoryBrowser:
    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    async def waiting(self, sieve: Sieve, *, limit: int, after: Place | None = None) -> Sequence[Question]:
        found = [q for q in self._database.questions.values() if q.is_open and sieve.lets_through(q)]
        found.sort(key=lambda question: place_of(question).sort_key)
        return [q for q in found if after is None or place_of(q).sort_key > after.sort_key][:limit]

    async def count_put_to(self, workspace_id: WorkspaceId, person_id: PersonId) -> int:
        return len(await self.waiting(Sieve(workspace_id, put_to=person_id), limit=len(self._database.questions)))

    async def settled(self, sieve: Sieve, *, limit: int, before: QuestionId | None = None) -> Sequence[Question]:
        found = [q for q in self._database.questions.values() if not q.is_open and sieve.lets_through(q)]
        found.sort(key=lambda question: question.id, reverse=True)
        return [question for question in found if before is None or question.id < before][:limit]
