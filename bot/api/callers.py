"""Who calls: API keys, what they may do and what they may see."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from starlette.requests import Request

from bot.api.problems import Problem
from bot.household import Household
from core.ids import Principal
from core.job import Job
from core.people import Actor, Role, agent_principal, person_principal
from core.ports import StoreUnavailable
from core.question import Question
from core.registry import ApiKey, Directory
from core.visibility import sees


class Scope(StrEnum):
    ASK = "ask"
    READ = "read"
    ANSWER = "answer"
    ADMIN = "admin"


#: A key that was revoked stops working within this many seconds, in every process.
_TRUST_SECONDS = 1.0
_MOST_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Caller:
    key: ApiKey
    principal: Principal
    household: Household

    def has(self, scope: Scope) -> bool:
        if scope is Scope.ADMIN or scope not in self.key.scopes:
            return self.sees_everything
        return True

    @property
    def actor(self) -> Actor:
        name = self.key.person.name if self.key.person is not None else self.key.name
        return Actor(self.principal, name, "api", self.key.person, is_admin=self.sees_everything)

    @property
    def sees_everything(self) -> bool:
        """An admin's key; one that belongs to a person counts as that only while they are an admin."""
        if Scope.ADMIN not in self.key.scopes or self.key.person is None:
            return Scope.ADMIN in self.key.scopes
        person = self.household.known.active(self.key.person.id)
        return person is not None and person.role is Role.ADMIN

    def sees(self, question: Question) -> bool:
        if question.spec.workspace_id != self.key.workspace_id:
            return False
        if self.sees_everything or question.spec.asker.principal == self.principal:
            return True
        roster = self.household.known
        person = roster.active(self.key.person.id) if self.key.person is not None else None
        if person is None or not self.has(Scope.ANSWER):
            return False
        return sees(person, question, roster, datetime.now(UTC))

    @property
    def answers(self) -> bool:
        """Whether there may be questions of others that this caller sees."""
        return self.sees_everything or (self.has(Scope.ANSWER) and self.key.person is not None)

    def sees_job(self, job: Job) -> bool:
        return self.sees_everything or job.owner == self.principal


def principal_of(key: ApiKey) -> Principal:
    return person_principal(key.person.id) if key.person is not None else agent_principal(key.name)


def key_digest(secret: str) -> str:
    # Keys are 256 random bits, so a plain hash is as good as a slow one and costs nothing per call.
    return hashlib.sha256(secret.encode()).hexdigest()


class Callers:
    """Keys by their digest, believed for a moment so that not every call asks the database."""

    def __init__(self, directory: Directory, household: Household) -> None:
        self._directory = directory
        self._household = household
        self._known: dict[str, tuple[float, Caller | None]] = {}
        self._used: set[str] = set()

    async def of(self, request: Request, *scopes: Scope) -> Caller:
        """The caller, who must hold one of the scopes."""
        return await self.identified(request.headers, *scopes)

    async def identified(self, headers: Mapping[str, str], *scopes: Scope) -> Caller:
        caller = await self._identify(headers)
        if not any(caller.has(scope) for scope in scopes):
            wanted = " or ".join(scopes)
            raise Problem(403, "scope_missing", f"This key lacks the scope {wanted}. Use a key that has it.")
        return caller

    async def _identify(self, headers: Mapping[str, str]) -> Caller:
        kind, _, secret = headers.get("authorization", "").partition(" ")
        challenge = {"WWW-Authenticate": "Bearer"}
        if kind.lower() != "bearer" or not secret.strip():
            detail = "Send your key as Authorization: Bearer hr_…"
            raise Problem(401, "key_missing", detail, headers=challenge)
        caller = await self._look_up(key_digest(secret.strip()))
        if caller is None:
            raise Problem(
                401, "key_unknown", "This key is not known here. Check it for typing errors.", headers=challenge
            )
        if caller.key.revoked_at is not None:
            raise Problem(401, "key_revoked", "This key was revoked. Ask an admin for a new one.", headers=challenge)
        person = caller.key.person
        if person is not None and (await self._household.roster()).active(person.id) is None:
            detail = f"{person.name} is no longer among the people of this workspace, so this key no longer counts."
            raise Problem(401, "key_revoked", detail, headers=challenge)
        self._used.add(caller.key.id)
        return caller

    async def _look_up(self, digest: str) -> Caller | None:
        now = time.monotonic()
        known = self._known.get(digest)
        if known is not None and now - known[0] < _TRUST_SECONDS:
            return known[1]
        key = await self._directory.key(digest)
        caller = Caller(key, principal_of(key), self._household) if key is not None else None
        if len(self._known) >= _MOST_REMEMBERED:
            self._known.clear()
        self._known[digest] = (now, caller)
        return caller

    async def note_used(self) -> None:
        """Write down which keys were used since the last time; called now and then, not per call."""
        used, self._used = self._used, set()
        try:
            if used:
                await self._directory.note_used(sorted(used))
        except StoreUnavailable:
            self._used |= used
            raise
