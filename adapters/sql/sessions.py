"""One-time links and sessions."""

from datetime import timedelta

from sqlalchemy import Connection, delete, insert, select, update

from adapters.sql import tables
from adapters.sql.access import Access
from adapters.sql.batch import database_now
from adapters.sql.rows import millis
from core.ids import PersonId
from core.sessions import SessionRules

_L, _S = tables.login_links, tables.sessions


class SqlSessions:
    def __init__(self, access: Access) -> None:
        self._access = access

    async def add_link(self, digest: str, person_id: PersonId, *, lasts: timedelta) -> None:
        def add(connection: Connection) -> None:
            now = database_now(connection)
            connection.execute(delete(_L).where(_L.c.expires_at <= millis(now)))
            row = {"digest": digest, "person_id": person_id, "expires_at": millis(now + lasts)}
            connection.execute(insert(_L), [row])

        await self._access.write(add)

    async def owner_of_link(self, digest: str) -> PersonId | None:
        def look(connection: Connection) -> PersonId | None:
            now = millis(database_now(connection))
            return connection.execute(
                select(_L.c.person_id).where(_L.c.digest == digest, _L.c.expires_at > now)
            ).scalar_one_or_none()

        return await self._access.read(look)

    async def take_link(self, digest: str) -> PersonId | None:
        def take(connection: Connection) -> PersonId | None:
            now = millis(database_now(connection))
            taken = delete(_L).where(_L.c.digest == digest, _L.c.expires_at > now).returning(_L.c.person_id)
            return connection.execute(taken).scalar_one_or_none()

        return await self._access.write(take)

    async def begin(self, digest: str, person_id: PersonId, rules: SessionRules) -> None:
        def add(connection: Connection) -> None:
            now = database_now(connection)
            ended = (_S.c.idle_until <= millis(now)) | (_S.c.ends_at <= millis(now))
            connection.execute(delete(_S).where(ended))
            row = {
                "digest": digest,
                "person_id": person_id,
                "idle_until": millis(now + rules.idle),
                "ends_at": millis(now + rules.lifetime),
                "looks_until": 0,
            }
            connection.execute(insert(_S), [row])

        await self._access.write(add)

    async def find(self, digest: str) -> PersonId | None:
        def look(connection: Connection) -> PersonId | None:
            now = millis(database_now(connection))
            lasts = (_S.c.digest == digest) & (_S.c.idle_until > now) & (_S.c.ends_at > now)
            return connection.execute(select(_S.c.person_id).where(lasts)).scalar_one_or_none()

        return await self._access.read(look)

    async def keep(self, digest: str, rules: SessionRules) -> None:
        def prolong(connection: Connection) -> None:
            now = database_now(connection)
            # One that has ended stays ended.
            alive = (_S.c.digest == digest) & (_S.c.idle_until > millis(now))
            connection.execute(update(_S).where(alive).values(idle_until=millis(now + rules.idle)))

        await self._access.write(prolong)

    async def end(self, digest: str) -> None:
        await self._access.write(lambda connection: connection.execute(delete(_S).where(_S.c.digest == digest)))

    async def end_all(self, person_id: PersonId) -> int:
        def end(connection: Connection) -> int:
            now = millis(database_now(connection))
            connection.execute(delete(_L).where(_L.c.person_id == person_id))
            theirs = delete(_S).where(_S.c.person_id == person_id).returning(_S.c.idle_until, _S.c.ends_at)
            # What ran out and was not tidied away yet was no session any more.
            return sum(row.idle_until > now and row.ends_at > now for row in connection.execute(theirs))

        return await self._access.write(end)

    async def look(self, digest: str, *, lasts: timedelta) -> None:
        def note(connection: Connection) -> None:
            until = millis(database_now(connection) + lasts)
            connection.execute(update(_S).where(_S.c.digest == digest).values(looks_until=until))

        await self._access.write(note)

    async def looking(self) -> frozenset[PersonId]:
        def read(connection: Connection) -> frozenset[PersonId]:
            now = millis(database_now(connection))
            lasts = (_S.c.looks_until > now) & (_S.c.idle_until > now) & (_S.c.ends_at > now)
            return frozenset(connection.execute(select(_S.c.person_id).where(lasts)).scalars())

        return await self._access.read(read)
