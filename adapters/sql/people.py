"""People and policy in the database; each change with its line in the audit, in one transaction."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import TypeAdapter
from sqlalchemy import Connection, delete, func, insert, select
from sqlalchemy import text as sql
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from adapters.sql import tables
from adapters.sql.access import Access
from adapters.sql.batch import database_now
from adapters.sql.rows import AnyRow, instant, millis
from core.hours import Window
from core.ids import PersonId
from core.people import Handle, Person, Role
from core.registry import AuditEntry, HandleTaken, Outdated, StoredPolicy

_P, _H, _L, _V, _A = tables.people, tables.handles, tables.link_codes, tables.policy_versions, tables.audit


@dataclass(frozen=True, slots=True)
class _Profile:
    zone: str = "UTC"
    working: tuple[Window, ...] = ()
    quiet: tuple[Window, ...] = ()
    away_until: datetime | None = None
    stand_in: PersonId | None = None


_PROFILE = TypeAdapter(_Profile)


def person_from(row: AnyRow, handles: Sequence[Handle]) -> Person:
    profile = _PROFILE.validate_json(row.profile)
    return Person(
        PersonId(row.id),
        row.name,
        Role(row.role),
        tuple(handles),
        profile.zone,
        profile.working,
        profile.quiet,
        profile.away_until,
        profile.stand_in,
        row.is_active,
        PersonId(row.merged_into) if row.merged_into is not None else None,
    )


def _row(person: Person) -> dict[str, object]:
    profile = _Profile(person.zone, person.working, person.quiet, person.away_until, person.stand_in)
    return {
        "id": person.id,
        "name": person.name,
        "role": person.role.value,
        "is_active": person.is_active,
        "merged_into": person.merged_into,
        "profile": _PROFILE.dump_json(profile, exclude_defaults=True).decode(),
    }


class SqlPeople:
    def __init__(self, access: Access) -> None:
        self._access = access

    async def everybody(self) -> Sequence[Person]:
        return await self._access.read(read_everybody)

    async def save(self, people: Sequence[Person], *, by: str, what: str, detail: str, seen: str | None = None) -> None:
        def save(connection: Connection) -> None:
            if connection.dialect.name == "postgresql":
                # One change of people at a time, also across processes; SQLite has one writer anyway.
                connection.execute(sql("LOCK TABLE audit IN SHARE ROW EXCLUSIVE MODE"))
            if seen is not None and seen != _revision(connection):
                raise Outdated
            ids = [person.id for person in people]
            # People first, in one order: whoever saves the same ones meanwhile waits, and then sees these handles.
            for person in sorted(people, key=lambda each: each.id):
                _upsert(connection, _row(person))
            connection.execute(delete(_H).where(_H.c.person_id.in_(ids)))
            for person in people:
                for place, handle in enumerate(person.handles):
                    _take_handle(connection, handle, person.id, place)
            _note(connection, by, what, ",".join(ids), detail)

        await self._access.write(save)

    async def policy(self) -> StoredPolicy | None:
        query = select(_V).order_by(_V.c.version.desc()).limit(1)
        row = await self._access.read(lambda connection: connection.execute(query).first())
        if row is None:
            return None
        return StoredPolicy(row.version, row.text, instant(row.at), row.by, row.diff, json.loads(row.meant))

    async def save_policy(
        self, text: str, *, before: int, by: str, diff: str, meant: Mapping[str, PersonId] | None = None
    ) -> StoredPolicy | None:
        def save(connection: Connection) -> StoredPolicy | None:
            newest = connection.execute(select(func.max(_V.c.version))).scalar() or 0
            if newest != before:
                return None
            now = database_now(connection)
            known = dict(meant or {})
            row = {"version": before + 1, "text": text, "at": millis(now), "by": by, "diff": diff}
            row["meant"] = json.dumps(known)
            connection.execute(insert(_V), [row])
            _note(connection, by, "policy.changed", f"version {before + 1}", diff)
            return StoredPolicy(before + 1, text, now, by, diff, known)

        try:
            return await self._access.write(save)
        except IntegrityError:
            return None  # another process wrote this version at the same moment

    async def audit(self, *, limit: int, before: int | None = None) -> Sequence[AuditEntry]:
        query = select(_A).order_by(_A.c.sequence.desc()).limit(limit)
        if before is not None:
            query = query.where(_A.c.sequence < before)
        rows = await self._access.read(lambda connection: connection.execute(query).all())
        return [AuditEntry(r.sequence, instant(r.at), r.by, r.what, r.subject, r.detail) for r in rows]

    async def revision(self) -> str:
        return await self._access.read(_revision)

    async def add_link_code(self, digest: str, person_id: PersonId, *, lasts: timedelta) -> None:
        def add(connection: Connection) -> None:
            now = database_now(connection)
            connection.execute(delete(_L).where((_L.c.person_id == person_id) | (_L.c.expires_at <= millis(now))))
            row = {"digest": digest, "person_id": person_id, "expires_at": millis(now + lasts)}
            connection.execute(insert(_L), [row])

        await self._access.write(add)

    async def take_link_code(self, digest: str) -> PersonId | None:
        def take(connection: Connection) -> PersonId | None:
            now = millis(database_now(connection))
            taken = delete(_L).where(_L.c.digest == digest, _L.c.expires_at > now).returning(_L.c.person_id)
            found = connection.execute(taken).scalar_one_or_none()
            return None if found is None else PersonId(found)

        return await self._access.write(take)


def _revision(connection: Connection) -> str:
    # Both numbers: one that was given out earlier may be committed later than a higher one.
    count, newest = connection.execute(select(func.count(), func.max(_A.c.sequence)).select_from(_A)).one()
    return f"{count}:{newest}"


def read_everybody(connection: Connection) -> list[Person]:
    handles: dict[str, list[Handle]] = {}
    for row in connection.execute(select(_H).order_by(_H.c.person_id, _H.c.place)):
        handles.setdefault(row.person_id, []).append(Handle(row.surface, row.address))
    rows = connection.execute(select(_P).order_by(_P.c.id))
    return [person_from(row, handles.get(row.id, [])) for row in rows]


def _upsert(connection: Connection, row: Mapping[str, object]) -> None:
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    rest = {name: value for name, value in row.items() if name != "id"}
    connection.execute(dialect.insert(_P).values(row).on_conflict_do_update(index_elements=[_P.c.id], set_=rest))


def _take_handle(connection: Connection, handle: Handle, person_id: PersonId, place: int) -> None:
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    row = {"surface": handle.surface, "address": handle.address, "person_id": person_id, "place": place}
    # Not by its count of rows: PostgreSQL's driver does not tell it for an insert.
    taken = dialect.insert(_H).values(row).on_conflict_do_nothing().returning(_H.c.person_id)
    if connection.execute(taken).first() is None:
        same = select(_H.c.person_id).where(_H.c.surface == handle.surface, _H.c.address == handle.address)
        raise HandleTaken(handle, PersonId(connection.execute(same).scalar_one()))


def _note(connection: Connection, by: str, what: str, subject: str, detail: str) -> None:
    now = millis(database_now(connection))
    row = {"at": now, "by": by, "what": what, "subject": subject, "detail": detail}
    connection.execute(insert(_A), [row])
