"""Events from memory, in one order."""

from collections.abc import Sequence

from adapters.memory.database import MemoryDatabase
from core.events import JobChanged, Progressed
from core.ports import EventFilter, LoggedEvent, StoredEvent
from core.webhooks import Message


class MemoryEventLog:
    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    async def after(self, position: int, where: EventFilter, *, limit: int) -> Sequence[LoggedEvent]:
        logged = (self._logged(stored) for stored in self._database.events if stored.position > position)
        found = [
            event
            for event in logged
            if event.workspace_id == where.workspace_id
            and where.owner in (None, event.owner)
            and where.job_id in (None, event.stored.job_id)
        ]
        return found[:limit]

    async def of_message(self, message: Message) -> LoggedEvent | None:
        for stored in self._database.events:
            about = stored.question_id if message.question_id is not None else stored.job_id
            if (stored.name, stored.sequence, about) == (
                message.event,
                message.sequence,
                message.question_id or message.job_id,
            ):
                return self._logged(stored)
        return None

    async def newest(self) -> int:
        return len(self._database.events)

    def _logged(self, stored: StoredEvent) -> LoggedEvent:
        if isinstance(stored.event, JobChanged | Progressed):
            job = stored.event.after
            return LoggedEvent(stored, job.workspace_id, job.owner, job=job)
        assert stored.question_id is not None
        question = self._database.questions[stored.question_id]
        return LoggedEvent(stored, question.spec.workspace_id, question.spec.asker.principal, question)
