"""People and policy in memory."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from adapters.memory.database import MemoryDatabase
from core.ids import PersonId
from core.people import Person
from core.registry import AuditEntry, HandleTaken, Outdated, StoredPolicy


class MemoryPeople:
    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    async def everybody(self) -> Sequence[Person]:
        return sorted(self._database.people.values(), key=lambda person: person.id)

    async def save(self, people: Sequence[Person], *, by: str, what: str, detail: str, seen: str | None = None) -> None:
        if seen is not None and seen != await self.revision():
            raise Outdated
        changed = {person.id: person for person in people}
        after = {**self._database.people, **changed}
        for person in people:
            for handle in person.handles:
                others = (other for other in after.values() if other.id != person.id and handle in other.handles)
                for other in others:
                    raise HandleTaken(handle, other.id)
        self._database.people.update(changed)
        self._note(by, what, ",".join(changed), detail)

    async def policy(self) -> StoredPolicy | None:
        return self._database.policies[-1] if self._database.policies else None

    async def save_policy(
        self, text: str, *, before: int, by: str, diff: str, meant: Mapping[str, PersonId] | None = None
    ) -> StoredPolicy | None:
        if len(self._database.policies) != before:
            return None
        stored = StoredPolicy(before + 1, text, self._database.now(), by, diff, dict(meant or {}))
        self._database.policies.append(stored)
        self._note(by, "policy.changed", f"version {stored.version}", diff)
        return stored

    async def audit(self, *, limit: int, before: int | None = None) -> Sequence[AuditEntry]:
        kept = [entry for entry in self._database.audit if before is None or entry.sequence < before]
        return kept[::-1][:limit]

    async def revision(self) -> str:
        return str(len(self._database.audit))

    async def add_link_code(self, digest: str, person_id: PersonId, *, lasts: timedelta) -> None:
        codes = self._database.link_codes
        for old in [code for code, (whose, _) in codes.items() if whose == person_id]:
            del codes[old]
        codes[digest] = (person_id, self._database.now() + lasts)

    async def take_link_code(self, digest: str) -> PersonId | None:
        found = self._database.link_codes.get(digest)
        if found is None or found[1] <= self._database.now():
            return None
        del self._database.link_codes[digest]
        return found[0]

    def _note(self, by: str, what: str, subject: str, detail: str) -> None:
        log = self._database.audit
        log.append(AuditEntry(len(log) + 1, self._database.now(), by, what, subject, detail))
