"""The store: commands in group-committed transactions, and claims on what is due."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, select, update

from adapters.sql import tables
from adapters.sql.access import Access
from adapters.sql.batch import database_now
from adapters.sql.rows import maybe_instant, maybe_millis, millis
from core.deadlines import next_due
from core.ids import QuestionId
from core.ports import Claim, Scope, Verdict, Work
from core.question import Question

_Q = tables.questions


class SqlStore:
    def __init__(self, access: Access) -> None:
        self._access = access

    async def transact(self, scope: Scope, work: Work) -> Verdict:
        return await self._access.command(scope, work)

    async def claim_due(self, *, limit: int, lease: timedelta) -> Sequence[Claim]:
        def claim(connection: Connection) -> list[Claim]:
            now = millis(database_now(connection))
            due = (
                select(_Q.c.id)
                .where(_Q.c.due_at <= now, _Q.c.lease_until <= now)
                .order_by(_Q.c.due_at)
                .limit(limit)
                .with_for_update(skip_locked=True)  # PostgreSQL only; SQLite holds the write lock already
            )
            taken = (
                update(_Q)
                .where(_Q.c.id.in_(due.scalar_subquery()))
                .values(lease_until=now + lease / timedelta(milliseconds=1), fence=_Q.c.fence + 1)
                .returning(_Q.c.id, _Q.c.fence, _Q.c.due_at)
            )
            rows = sorted(connection.execute(taken), key=lambda row: row.due_at)
            return [Claim(QuestionId(row.id), row.fence) for row in rows]

        return await self._access.write(claim)

    async def next_due(self) -> datetime | None:
        # Two looks at two small indexes; one minimum over both columns would walk every open question.
        free = select(_Q.c.due_at).where(_Q.c.due_at.is_not(None), _Q.c.lease_until == 0)
        leased = select(_Q.c.lease_until).where(tables.IS_LEASED, _Q.c.due_at.is_not(None))
        looks = (free.order_by(_Q.c.due_at).limit(1), leased.order_by(_Q.c.lease_until).limit(1))

        def look(connection: Connection) -> int | None:
            return min(filter(None, (connection.execute(query).scalar() for query in looks)), default=None)

        return maybe_instant(await self._access.read(look))

    async def replan(self, question: Question) -> None:
        same = update(_Q).where(_Q.c.id == question.id, _Q.c.version == question.version, tables.IS_OPEN)
        due = maybe_millis(next_due(question))
        await self._access.write(lambda connection: connection.execute(same.values(due_at=due)))

    async def now(self) -> datetime:
        return await self._access.read(database_now)

    async def forget_commands(self, *, before: datetime) -> int:
        old = delete(tables.commands).where(tables.commands.c.at < millis(before))
        return await self._access.write(lambda connection: connection.execute(old).rowcount)
