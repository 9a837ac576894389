"""Events in one order, for streams and relays."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, func, literal_column, select

from adapters.sql import tables
from adapters.sql.access import Access
from adapters.sql.rows import event_from, question_from
from core.events import JobChanged, Progressed
from core.ids import Principal, WorkspaceId
from core.ports import EventFilter, LoggedEvent
from core.question import Question
from core.webhooks import Message

_Q, _E = tables.questions, tables.events
_QUESTION = select(_Q.c.id, _Q.c.spec, _Q.c.life, _Q.c.asked_at, _Q.c.version, _Q.c.status)
#: Positions are given out before the commit, so a higher one may be seen first. What an older transaction is still
#: writing holds back everything behind it.
_ALL_SETTLED = _E.c.xid < literal_column("CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)")


class SqlEventLog:
    def __init__(self, access: Access) -> None:
        self._access = access

    async def after(self, position: int, where: EventFilter, *, limit: int) -> Sequence[LoggedEvent]:
        query = select(_E).where(_E.c.workspace_id == where.workspace_id, _E.c.position > position)
        if where.owner is not None:
            query = query.where(_E.c.owner == where.owner)
        if where.job_id is not None:
            query = query.where(_E.c.job_id == where.job_id)
        ordered = query.order_by(_E.c.position).limit(limit)
        return await self._access.read(lambda connection: _logged(connection, self._visible(ordered)))

    async def of_message(self, message: Message) -> LoggedEvent | None:
        query = select(_E).where(_E.c.sequence == message.sequence, _E.c.name == message.event)
        if message.question_id is not None:
            query = query.where(_E.c.question_id == message.question_id)
        else:
            query = query.where(_E.c.workspace_id == message.workspace_id, _E.c.job_id == message.job_id)
        return next(iter(await self._access.read(lambda connection: _logged(connection, query))), None)

    async def newest(self) -> int:
        query = self._visible(select(func.coalesce(func.max(_E.c.position), 0)))
        return await self._access.read(lambda connection: connection.execute(query).scalar_one())

    def _visible(self, query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
        return query if self._access.database.is_sqlite else query.where(_ALL_SETTLED)


def _logged(connection: Connection, query: Select[*tuple[Any, ...]]) -> list[LoggedEvent]:
    rows = connection.execute(query).all()
    names = {row.question_id for row in rows if row.question_id is not None}
    questions: dict[str, Question] = {}
    if names:
        found = connection.execute(_QUESTION.where(_Q.c.id.in_(names)))
        questions = {question.id: question for question in map(question_from, found)}
    logged = []
    for row in rows:
        question = questions.get(row.question_id) if row.question_id is not None else None
        stored = event_from(row, question.spec if question is not None else None)
        job = stored.event.after if isinstance(stored.event, JobChanged | Progressed) else None
        logged.append(LoggedEvent(stored, WorkspaceId(row.workspace_id), Principal(row.owner), question, job))
    return logged
