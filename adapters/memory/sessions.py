"""One-time links and sessions in memory."""

from datetime import datetime, timedelta

from adapters.memory.database import KeptSession, MemoryDatabase
from core.ids import PersonId
from core.sessions import SessionRules


class MemorySessions:
    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    async def add_link(self, digest: str, person_id: PersonId, *, lasts: timedelta) -> None:
        self._database.login_links[digest] = (person_id, self._now + lasts)

    async def owner_of_link(self, digest: str) -> PersonId | None:
        found = self._database.login_links.get(digest)
        return found[0] if found is not None and found[1] > self._now else None

    async def take_link(self, digest: str) -> PersonId | None:
        owner = await self.owner_of_link(digest)
        if owner is not None:
            del self._database.login_links[digest]
        return owner

    async def begin(self, digest: str, person_id: PersonId, rules: SessionRules) -> None:
        now = self._now
        self._database.sessions[digest] = KeptSession(person_id, now + rules.idle, now + rules.lifetime, now)

    async def find(self, digest: str) -> PersonId | None:
        session = self._alive(digest)
        return session.person_id if session is not None else None

    async def keep(self, digest: str, rules: SessionRules) -> None:
        session = self._alive(digest)
        if session is not None:
            session.idle_until = self._now + rules.idle

    async def end(self, digest: str) -> None:
        self._database.sessions.pop(digest, None)

    async def end_all(self, person_id: PersonId) -> int:
        links, sessions = self._database.login_links, self._database.sessions
        for link in [link for link, (whose, _) in links.items() if whose == person_id]:
            del links[link]
        theirs = [digest for digest, session in sessions.items() if session.person_id == person_id]
        lasting = sum(self._alive(digest) is not None for digest in theirs)
        for digest in theirs:
            del sessions[digest]
        return lasting

    async def look(self, digest: str, *, lasts: timedelta) -> None:
        session = self._alive(digest)
        if session is not None:
            session.looks_until = self._now + lasts

    async def looking(self) -> frozenset[PersonId]:
        alive = [session for digest in self._database.sessions if (session := self._alive(digest)) is not None]
        return frozenset(session.person_id for session in alive if session.looks_until > self._now)

    @property
    def _now(self) -> datetime:
        return self._database.now()

    def _alive(self, digest: str) -> KeptSession | None:
        session = self._database.sessions.get(digest)
        return session if session is not None and min(session.idle_until, session.ends_at) > self._now else None
