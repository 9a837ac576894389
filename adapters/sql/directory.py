"""People and keys."""

from collections.abc import Sequence

from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from adapters.sql import tables
from adapters.sql.access import Access
from adapters.sql.batch import database_now
from adapters.sql.rows import key_from, key_row, millis
from core.ids import PersonId
from core.people import Person
from core.registry import ApiKey

_K, _P = tables.api_keys, tables.people
_KEY = select(_K, _P.c.name.label("person_name"), _P.c.role.label("person_role")).outerjoin_from(
    _K, _P, _P.c.id == _K.c.person_id
)


class SqlDirectory:
    def __init__(self, access: Access) -> None:
        self._access = access

    async def key(self, digest: str) -> ApiKey | None:
        row = await self._access.read(lambda connection: connection.execute(_KEY.where(_K.c.digest == digest)).first())
        return None if row is None else key_from(row)

    async def keys(self) -> Sequence[ApiKey]:
        query = _KEY.order_by(_K.c.created_at, _K.c.id)
        return await self._access.read(lambda connection: [key_from(row) for row in connection.execute(query)])

    async def add_key(self, key: ApiKey) -> None:
        row = key_row(key)
        await self._access.write(lambda connection: connection.execute(insert(_K), [row]))

    async def revoke_key(self, key_id: str) -> bool:
        def revoke(connection: Connection) -> bool:
            now = millis(database_now(connection))
            revoked = func.coalesce(_K.c.revoked_at, now)
            return connection.execute(update(_K).where(_K.c.id == key_id).values(revoked_at=revoked)).rowcount == 1

        return await self._access.write(revoke)

    async def set_owner(self, key_id: str, owner: PersonId) -> bool:
        change = update(_K).where(_K.c.id == key_id).values(owner_id=owner)
        return await self._access.write(lambda connection: connection.execute(change).rowcount == 1)

    async def note_used(self, key_ids: Sequence[str]) -> None:
        def note(connection: Connection) -> None:
            now = millis(database_now(connection))
            connection.execute(update(_K).where(_K.c.id.in_(key_ids)).values(last_used_at=now))

        await self._access.write(note)

    async def add_person(self, person: Person) -> None:
        row = {"id": person.id, "name": person.name, "role": person.role.value}

        def add(connection: Connection) -> None:
            dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
            connection.execute(dialect.insert(_P).values(row).on_conflict_do_nothing())

        await self._access.write(add)
