"""People and keys in memory."""

from collections.abc import Sequence
from dataclasses import replace

from adapters.memory.database import MemoryDatabase
from core.ids import PersonId
from core.people import Person
from core.registry import ApiKey


class MemoryDirectory:
    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    async def key(self, digest: str) -> ApiKey | None:
        return next((key for key in self._database.keys.values() if key.digest == digest), None)

    async def keys(self) -> Sequence[ApiKey]:
        return sorted(self._database.keys.values(), key=lambda key: (key.created_at, key.id))

    async def add_key(self, key: ApiKey) -> None:
        self._database.keys[key.id] = key

    async def revoke_key(self, key_id: str) -> bool:
        key = self._database.keys.get(key_id)
        if key is not None and key.revoked_at is None:
            self._database.keys[key_id] = replace(key, revoked_at=self._database.now())
        return key is not None

    async def set_owner(self, key_id: str, owner: PersonId) -> bool:
        key = self._database.keys.get(key_id)
        if key is not None:
            self._database.keys[key_id] = replace(key, owner=owner)
        return key is not None

    async def note_used(self, key_ids: Sequence[str]) -> None:
        for key_id in key_ids:
            if key_id in self._database.keys:
                self._database.keys[key_id] = replace(self._database.keys[key_id], last_used_at=self._database.now())

    async def add_person(self, person: Person) -> None:
        self._database.people.setdefault(person.id, person)
