"""The outbox: one row for each question and target, leased to whoever brings the target up to date."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import Connection, case, select, update

from adapters.sql import tables
from adapters.sql.access import Access
from adapters.sql.batch import database_now
from adapters.sql.rows import millis, notice_from
from core.ports import Deferred, Delivery, MessageRef, NotDeliverable, Notice, Posted, notice_id

_N = tables.notices


class SqlOutbox:
    def __init__(self, access: Access) -> None:
        self._access = access

    async def claim(self, surfaces: Collection[str], *, limit: int, lease: timedelta) -> Sequence[Notice]:
        def claim(connection: Connection) -> list[Notice]:
            now = millis(database_now(connection))
            ready = (
                select(_N.c.id)
                .where(_N.c.surface.in_(surfaces), _N.c.ready_at <= now, _N.c.lease_until <= now)
                .order_by(_N.c.ready_at)
                .limit(limit)
                .with_for_update(skip_locked=True)
            )
            taken = (
                update(_N)
                .where(_N.c.id.in_(ready.scalar_subquery()))
                .values(
                    lease_until=now + lease / timedelta(milliseconds=1),
                    fence=_N.c.fence + 1,
                    attempt=_N.c.attempt + 1,
                )
                .returning(*_N.c)
            )
            rows = sorted(connection.execute(taken), key=lambda row: row.ready_at)
            notices = [notice_from(row) for row in rows]
            return _beside_their_messages(connection, notices)

        return await self._access.write(claim)

    async def settle(self, notice: Notice, delivery: Delivery) -> bool:
        def settle(connection: Connection) -> bool:
            mine = update(_N).where(_N.c.id == notice.id, _N.c.fence == notice.fence)
            now = millis(database_now(connection))
            match delivery:
                case Posted():
                    behind = _N.c.wanted_version > notice.version
                    done = mine.values(
                        ref=delivery.ref.value,
                        failure=None,
                        attempt=0,
                        lease_until=0,
                        ready_at=case((behind, now), else_=None),
                    )
                case Deferred():
                    later = now + delivery.retry_after / timedelta(milliseconds=1)
                    done = mine.values(failure=delivery.why, lease_until=0, ready_at=later)
                case NotDeliverable():
                    done = mine.values(failure=delivery.why, lease_until=0, ready_at=None)
            return connection.execute(done).rowcount == 1

        return await self._access.write(settle)


def _beside_their_messages(connection: Connection, notices: list[Notice]) -> list[Notice]:
    """The notices, each nudge with the message that shows its question at the same place."""
    shown_by = {n.id: notice_id(n.question_id, n.target) for n in notices if n.nudge is not None}
    if not shown_by:
        return notices
    found = connection.execute(select(_N.c.id, _N.c.ref).where(_N.c.id.in_(set(shown_by.values()))))
    refs = {row.id: MessageRef(row.ref) for row in found if row.ref is not None}
    return [replace(n, ref=refs.get(shown_by[n.id])) if n.id in shown_by else n for n in notices]
