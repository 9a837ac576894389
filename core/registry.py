"""What the outside keeps about people, their keys and the policy, as specifications."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from core.ids import PersonId, WorkspaceId
from core.people import Handle, Person


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is kept: never the secret, only its digest."""

    id: str
    name: str
    digest: str
    hint: str
    scopes: tuple[str, ...]
    workspace_id: WorkspaceId
    created_at: datetime
    person: Person | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None
    #: Signs what goes to the callbacks of questions that were asked with this key.
    callback_secret: str | None = None
    #: If there are any, callbacks and endpoints of this key stay within them.
    callback_hosts: tuple[str, ...] = ()
    #: Whom the agent with this key belongs to; a key of a person's own has `person` instead.
    owner: PersonId | None = None


@dataclass(frozen=True, slots=True)
class StoredPolicy:
    version: int
    text: str
    at: datetime
    by: str
    #: What it changed, as a unified diff.
    diff: str
    #: Whom each name in it meant when it was applied, so that renaming somebody moves no authority.
    meant: Mapping[str, PersonId] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One change of people or policy: who did what to whom or what, and the difference it made."""

    sequence: int
    at: datetime
    by: str
    what: str
    subject: str
    detail: str


class HandleTaken(Exception):
    """Somebody else is known by this handle."""

    def __init__(self, handle: Handle, person_id: PersonId) -> None:
        super().__init__(f"{handle.surface}:{handle.address} belongs to {person_id}")
        self.handle, self.person_id = handle, person_id


class Outdated(Exception):
    """Somebody else changed people or policy since they were read."""


class People(Protocol):
    """The people of a workspace and its policy. Every change is written down in the same transaction."""

    async def everybody(self) -> Sequence[Person]:
        """All that ever were, those who left included, by id."""

    async def save(self, people: Sequence[Person], *, by: str, what: str, detail: str, seen: str | None = None) -> None:
        """Add these people or bring them up to date, together.

        Raises HandleTaken, or Outdated when the revision is not the one that was `seen`; then nothing has changed.
        """

    async def policy(self) -> StoredPolicy | None:
        """The newest version; None while there never was one."""

    async def save_policy(
        self, text: str, *, before: int, by: str, diff: str, meant: Mapping[str, PersonId] | None = None
    ) -> StoredPolicy | None:
        """A new version on top of `before`, which is 0 for none; None when somebody else was first."""

    async def audit(self, *, limit: int, before: int | None = None) -> Sequence[AuditEntry]:
        """Newest first."""

    async def revision(self) -> str:
        """Changes whenever people or policy do."""

    async def add_link_code(self, digest: str, person_id: PersonId, *, lasts: timedelta) -> None: ...

    async def take_link_code(self, digest: str) -> PersonId | None:
        """Whose code this is, once and in time."""


class GroupSource(Protocol):
    """A surface's own groups, such as Slack's user groups and Discord's roles."""

    async def members(self, group: str) -> tuple[str, ...]:
        """The addresses of everybody in it. Raises when that cannot be told."""


class Directory(Protocol):
    """Keys, and the first person."""

    async def key(self, digest: str) -> ApiKey | None: ...

    async def keys(self) -> Sequence[ApiKey]: ...

    async def add_key(self, key: ApiKey) -> None: ...

    async def revoke_key(self, key_id: str) -> bool:
        """True when the key exists, whether it was revoked now or before."""

    async def set_owner(self, key_id: str, owner: PersonId) -> bool:
        """Say whose agent a key belongs to; False when there is no such key."""

    async def note_used(self, key_ids: Sequence[str]) -> None: ...

    async def add_person(self, person: Person) -> None:
        """A person whose id is taken stays as they are."""
