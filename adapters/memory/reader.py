"""Reading from memory."""

from collections.abc import Sequence
from datetime import datetime

from adapters.memory.database import MemoryDatabase
from core.deadlines import next_due
from core.ids import JobId, QuestionId, WorkspaceId
from core.job import Job
from core.kinds import JobStatus
from core.ports import JobFilter, JobKey, Planning, QuestionFilter, StoredEvent
from core.question import Question


class MemoryReader:
    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    async def question(self, question_id: QuestionId) -> Question | None:
        return self._database.questions.get(question_id)

    async def questions(
        self, where: QuestionFilter, *, limit: int, after: QuestionId | None = None
    ) -> Sequence[Question]:
        found = [question for question in self._database.questions.values() if _matches(question, where)]
        behind = [question for question in found if after is None or question.id > after]
        return sorted(behind, key=lambda question: question.id)[:limit]

    async def planned(self, *, limit: int, after: QuestionId | None = None) -> Sequence[Planning]:
        found = sorted((q for q in self._database.questions.values() if q.is_open), key=lambda q: q.id)
        behind = [question for question in found if after is None or question.id > after]
        return [Planning(question, next_due(question)) for question in behind[:limit]]

    async def overdue(self, before: datetime, *, limit: int) -> Sequence[Planning]:
        plannings = await self.planned(limit=len(self._database.questions))
        late = [(found.due, found.question.id, found) for found in plannings if found.due is not None]
        return [found for due, _, found in sorted(late, key=lambda entry: entry[:2]) if due < before][:limit]

    async def count_open(self, workspace_id: WorkspaceId) -> int:
        return sum(q.is_open and q.spec.workspace_id == workspace_id for q in self._database.questions.values())

    async def settled_among(self, question_ids: Sequence[QuestionId]) -> Sequence[Question]:
        found = (self._database.questions.get(question_id) for question_id in question_ids)
        return [question for question in found if question is not None and not question.is_open]

    async def job(self, key: JobKey) -> Job | None:
        return self._database.jobs.get(key)

    async def jobs(self, where: JobFilter, *, limit: int, after: JobId | None = None) -> Sequence[Job]:
        found = [
            job
            for job in self._database.jobs.values()
            if job.workspace_id == where.workspace_id
            and where.owner in (None, job.owner)
            and (job.status is JobStatus.RUNNING or not where.ready)
            and (job.closing or not where.closing)
            and (after is None or job.id > after)
        ]
        return sorted(found, key=lambda job: job.id)[:limit]

    async def history(self, question_id: QuestionId) -> Sequence[StoredEvent]:
        return [event for event in self._database.events if event.question_id == question_id]


def _matches(question: Question, where: QuestionFilter) -> bool:
    spec = question.spec
    wanted = (
        (where.status, question.status),
        (where.kind, spec.kind),
        (where.project_id, spec.project_id),
        (where.job_id, spec.job_id),
        (where.asker, spec.asker.principal),
    )
    return spec.workspace_id == where.workspace_id and all(want in (None, has) for want, has in wanted)
