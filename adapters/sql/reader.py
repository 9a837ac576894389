"""Reading: single questions and jobs, pages of them, and a question's history."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, select

from adapters.sql import tables
from adapters.sql.access import Access
from adapters.sql.rows import event_from, job_from, maybe_instant, millis, question_from
from core.ids import JobId, QuestionId, WorkspaceId
from core.job import Job
from core.kinds import JobStatus
from core.ports import JobFilter, JobKey, Planning, QuestionFilter, StoredEvent
from core.question import Question, Status

_Q, _J, _E = tables.questions, tables.jobs, tables.events
_QUESTION = select(_Q.c.id, _Q.c.spec, _Q.c.life, _Q.c.asked_at, _Q.c.version, _Q.c.status)
_PLANNED = _QUESTION.add_columns(_Q.c.due_at)
_SOME = _QUESTION.where(_Q.c.id.in_(bindparam("ids", expanding=True)))


class SqlReader:
    def __init__(self, access: Access) -> None:
        self._access = access
        self._wanted: dict[QuestionId, asyncio.Future[Question | None]] = {}
        self._loading: asyncio.Task[None] | None = None

    async def question(self, question_id: QuestionId) -> Question | None:
        """Whoever asks while a read is under way shares the next one: agents that wait come in crowds."""
        wanted = self._wanted.get(question_id)
        if wanted is None:
            wanted = self._wanted[question_id] = asyncio.get_running_loop().create_future()
        if self._loading is None or self._loading.done():
            self._loading = asyncio.create_task(self._load())
        # A caller that gives up must not take the answer away from the others.
        return await asyncio.shield(wanted)

    async def _load(self) -> None:
        while self._wanted:
            wanted, self._wanted = self._wanted, {}
            try:
                found = {question.id: question for question in await self._questions(_SOME, ids=list(wanted))}
            except Exception as failure:
                for future in wanted.values():
                    future.set_exception(failure)
                continue
            for question_id, future in wanted.items():
                future.set_result(found.get(question_id))

    async def questions(
        self, where: QuestionFilter, *, limit: int, after: QuestionId | None = None
    ) -> Sequence[Question]:
        query = _QUESTION.where(_Q.c.workspace_id == where.workspace_id)
        if where.status is Status.OPEN:
            query = query.where(tables.IS_OPEN)
        elif where.status is not None:
            query = query.where(_Q.c.status == where.status.value)
        if where.kind is not None:
            query = query.where(_Q.c.kind == where.kind.value)
        if where.project_id is not None:
            query = query.where(_Q.c.project_id == where.project_id)
        if where.job_id is not None:
            query = query.where(_Q.c.job_id == where.job_id)
        if where.asker is not None:
            query = query.where(_Q.c.asker == where.asker)
        if after is not None:
            query = query.where(_Q.c.id > after)
        return await self._questions(query.order_by(_Q.c.id).limit(limit))

    async def planned(self, *, limit: int, after: QuestionId | None = None) -> Sequence[Planning]:
        query = _PLANNED.where(tables.IS_OPEN).order_by(_Q.c.id).limit(limit)
        return await self._plannings(query if after is None else query.where(_Q.c.id > after))

    async def overdue(self, before: datetime, *, limit: int) -> Sequence[Planning]:
        late = _PLANNED.where(_Q.c.due_at < millis(before), tables.IS_OPEN)
        return await self._plannings(late.order_by(_Q.c.due_at).limit(limit))

    async def _plannings(self, query: Select[*tuple[Any, ...]]) -> list[Planning]:
        def read(connection: Connection) -> list[Planning]:
            return [Planning(question_from(row), maybe_instant(row.due_at)) for row in connection.execute(query)]

        return await self._access.read(read)

    async def count_open(self, workspace_id: WorkspaceId) -> int:
        count = select(func.count()).select_from(_Q).where(_Q.c.workspace_id == workspace_id, tables.IS_OPEN)
        return await self._access.read(lambda connection: connection.execute(count).scalar_one())

    async def settled_among(self, question_ids: Sequence[QuestionId]) -> Sequence[Question]:
        found: list[Question] = []
        for start in range(0, len(question_ids), 500):
            some = question_ids[start : start + 500]
            closed = _QUESTION.where(_Q.c.id.in_(some), _Q.c.status != Status.OPEN.value)
            found += await self._questions(closed)
        return found

    async def _questions(self, query: Select[*tuple[Any, ...]], **values: object) -> list[Question]:
        return await self._access.read(lambda c: [question_from(row) for row in c.execute(query, values)])

    async def job(self, key: JobKey) -> Job | None:
        named = select(_J.c.body).where(_J.c.workspace_id == key.workspace_id, _J.c.id == key.job_id)
        row = await self._access.read(lambda connection: connection.execute(named).first())
        return None if row is None else job_from(row)

    async def jobs(self, where: JobFilter, *, limit: int, after: JobId | None = None) -> Sequence[Job]:
        query = select(_J.c.body).where(_J.c.workspace_id == where.workspace_id)
        if where.owner is not None:
            query = query.where(_J.c.owner == where.owner)
        if where.ready:
            query = query.where(_J.c.status == JobStatus.RUNNING.value)
        if where.closing:
            query = query.where(tables.IS_CLOSING)
        if after is not None:
            query = query.where(_J.c.id > after)
        ordered = query.order_by(_J.c.id).limit(limit)
        return await self._access.read(lambda connection: [job_from(row) for row in connection.execute(ordered)])

    async def history(self, question_id: QuestionId) -> Sequence[StoredEvent]:
        question = await self.question(question_id)
        if question is None:
            return []
        spec = question.spec
        query = select(_E).where(_E.c.question_id == question_id).order_by(_E.c.sequence)
        return await self._access.read(lambda connection: [event_from(row, spec) for row in connection.execute(query)])
