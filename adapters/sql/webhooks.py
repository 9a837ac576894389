"""Webhook endpoints, and messages leased to whoever sends them."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, insert, select, update

from adapters.sql import tables
from adapters.sql.access import Access
from adapters.sql.batch import database_now
from adapters.sql.rows import (
    instant,
    maybe_instant,
    millis,
)
from adapters.sql.webhook_rows import endpoint_from, endpoint_row, message_from, message_row
from core.ids import Principal, WorkspaceId
from core.ports import Attempt, MessageRecord, Parcel
from core.webhooks import Again, Arrived, Endpoint, EndpointGone, Fate, GivenUp, Message, MessageState, Sent

_W, _M, _A, _K = tables.webhook_endpoints, tables.webhook_messages, tables.webhook_attempts, tables.api_keys


class SqlWebhooks:
    def __init__(self, access: Access) -> None:
        self._access = access

    async def add_endpoint(self, endpoint: Endpoint) -> None:
        await self._access.write(lambda connection: connection.execute(insert(_W), [endpoint_row(endpoint)]))

    async def endpoints(self, workspace_id: WorkspaceId, owner: Principal | None = None) -> Sequence[Endpoint]:
        query = select(_W).where(_W.c.workspace_id == workspace_id).order_by(_W.c.created_at, _W.c.id)
        if owner is not None:
            query = query.where(_W.c.owner == owner)
        return await self._access.read(lambda connection: [endpoint_from(row) for row in connection.execute(query)])

    async def remove_endpoint(self, endpoint_id: str) -> bool:
        def remove(connection: Connection) -> bool:
            _refuse(connection, _M.c.endpoint_id == endpoint_id, "the endpoint was removed")
            return connection.execute(delete(_W).where(_W.c.id == endpoint_id)).rowcount == 1

        return await self._access.write(remove)

    async def rotate(self, endpoint_id: str, secret: str, *, overlap: timedelta) -> datetime | None:
        def rotate(connection: Connection) -> datetime | None:
            until = database_now(connection) + overlap
            changed = (
                update(_W)
                .where(_W.c.id == endpoint_id)
                .values(previous_secret=_W.c.secret, previous_until=millis(until), secret=secret)
            )
            return until if connection.execute(changed).rowcount == 1 else None

        return await self._access.write(rotate)

    async def queue(self, message: Message) -> None:
        def queue(connection: Connection) -> None:
            connection.execute(insert(_M), [message_row(message, database_now(connection))])

        await self._access.write(queue)

    async def claim(self, *, limit: int, lease: timedelta) -> Sequence[Parcel]:
        def claim(connection: Connection) -> list[Parcel]:
            at = database_now(connection)
            now = millis(at)
            due = (
                select(_M.c.id)
                .where(_M.c.due_at <= now, _M.c.lease_until <= now)
                .order_by(_M.c.due_at)
                .limit(limit)
                .with_for_update(skip_locked=True)
            )
            taken = (
                update(_M)
                .where(_M.c.id.in_(due.scalar_subquery()))
                .values(
                    lease_until=now + lease / timedelta(milliseconds=1),
                    fence=_M.c.fence + 1,
                    attempt=_M.c.attempt + 1,
                )
                .returning(*_M.c)
            )
            rows = sorted(connection.execute(taken), key=lambda row: row.due_at)
            endpoints = _endpoints(connection, {row.endpoint_id for row in rows if row.endpoint_id is not None})
            secrets = _key_secrets(connection, {row.key_id for row in rows if row.key_id is not None})
            return [
                Parcel(
                    message_from(row),
                    row.attempt,
                    row.fence,
                    row.callback_url if row.endpoint_id is None else endpoints[row.endpoint_id].url,
                    secrets.get(row.key_id, ()) if row.endpoint_id is None else endpoints[row.endpoint_id].secrets(at),
                    row.body.encode() if row.body is not None else None,
                )
                for row in rows
                if row.endpoint_id is None or row.endpoint_id in endpoints
            ]

        return await self._access.write(claim)

    async def settle(self, parcel: Parcel, body: bytes, sent: Sent, fate: Fate) -> bool:
        def settle(connection: Connection) -> bool:
            now = millis(database_now(connection))
            mine = update(_M).where(_M.c.id == parcel.message.id, _M.c.fence == parcel.fence)
            told = mine.values(lease_until=0, body=body.decode(), **_outcome(fate, now))
            if connection.execute(told).rowcount != 1:
                return False
            attempt = {
                "message_id": parcel.message.id,
                "number": parcel.attempt,
                "at": now,
                "status": sent.status,
                "failure": sent.failure,
                "milliseconds": round(sent.duration / timedelta(milliseconds=1)),
            }
            connection.execute(insert(_A), [attempt])
            if isinstance(fate, EndpointGone):
                _disable(connection, parcel.message, fate.why, now)
            return True

        return await self._access.write(settle)

    async def next_due(self) -> datetime | None:
        free = select(_M.c.due_at).where(tables.IS_WAITING, _M.c.lease_until == 0).order_by(_M.c.due_at).limit(1)
        leased = select(_M.c.lease_until).where(tables.IS_WAITING, _M.c.lease_until > 0).order_by(_M.c.due_at).limit(1)

        def look(connection: Connection) -> int | None:
            return min(filter(None, (connection.execute(query).scalar() for query in (free, leased))), default=None)

        return maybe_instant(await self._access.read(look))

    async def log(
        self,
        workspace_id: WorkspaceId,
        *,
        limit: int,
        owner: Principal | None = None,
        endpoint_id: str | None = None,
        state: MessageState | None = None,
    ) -> Sequence[MessageRecord]:
        query = select(_M).where(_M.c.workspace_id == workspace_id)
        if owner is not None:
            query = query.where(_M.c.owner == owner)
        if endpoint_id is not None:
            query = query.where(_M.c.endpoint_id == endpoint_id)
        if state is not None:
            query = query.where(_M.c.state == state)
        newest = query.order_by(_M.c.created_at.desc(), _M.c.id.desc()).limit(limit)

        def read(connection: Connection) -> list[MessageRecord]:
            rows = connection.execute(newest).all()
            attempts = _attempts(connection, [row.id for row in rows])
            return [
                MessageRecord(
                    message_from(row),
                    MessageState(row.state),
                    instant(row.created_at),
                    maybe_instant(row.due_at),
                    row.failure,
                    tuple(attempts.get(row.id, ())),
                )
                for row in rows
            ]

        return await self._access.read(read)


def _endpoints(connection: Connection, ids: Iterable[str]) -> dict[str, Endpoint]:
    found = connection.execute(select(_W).where(_W.c.id.in_(list(ids))))
    return {row.id: endpoint_from(row) for row in found}


def _key_secrets(connection: Connection, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    found = connection.execute(select(_K.c.id, _K.c.callback_secret).where(_K.c.id.in_(list(ids))))
    return {row.id: (row.callback_secret,) for row in found if row.callback_secret is not None}


def _attempts(connection: Connection, ids: Sequence[str]) -> dict[str, list[Attempt]]:
    found: dict[str, list[Attempt]] = {}
    for row in connection.execute(select(_A).where(_A.c.message_id.in_(ids)).order_by(_A.c.number)):
        duration = timedelta(milliseconds=row.milliseconds)
        attempt = Attempt(row.number, instant(row.at), row.status, row.failure, duration)
        found.setdefault(row.message_id, []).append(attempt)
    return found


def _outcome(fate: Fate, now: int) -> dict[str, object]:
    match fate:
        case Arrived():
            return {"state": MessageState.DELIVERED.value, "due_at": None, "failure": None}
        case Again():
            return {"due_at": now + round(fate.after / timedelta(milliseconds=1))}
        case GivenUp():
            return {"state": MessageState.DEAD.value, "due_at": None, "failure": fate.why}
        case EndpointGone():
            return {"state": MessageState.REFUSED.value, "due_at": None, "failure": fate.why}


def _refuse(connection: Connection, which: object, why: str) -> None:
    waiting = update(_M).where(which, _M.c.due_at.is_not(None))  # type: ignore[arg-type]
    connection.execute(waiting.values(state=MessageState.REFUSED.value, due_at=None, failure=why))


def _disable(connection: Connection, message: Message, why: str, now: int) -> None:
    if message.endpoint_id is None:
        same = (_M.c.callback_url == message.callback_url) & (_M.c.owner == message.owner)
        _refuse(connection, same, why)
        return
    connection.execute(update(_W).where(_W.c.id == message.endpoint_id).values(disabled_at=now, disabled_why=why))
    _refuse(connection, _M.c.endpoint_id == message.endpoint_id, why)
