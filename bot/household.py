"""The people and rules of this installation as they are now, read from the database when they have changed."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol

import structlog

from adapters.policy import DEFAULT_TEXT, PolicyProblems, read_policy
from core.asking import House
from core.deadlines import TimeLimits
from core.freezing import Ground
from core.ids import PersonId, WorkspaceId
from core.people import Handle, Person
from core.places import Target
from core.ports import StoreUnavailable
from core.registry import GroupSource, People
from core.roster import Roster
from core.rulebook import GroupRule, Rulebook

_log = structlog.get_logger("handraise")

#: A change made by another process counts after this many seconds at the latest.
_TRUST_SECONDS = 1.0
#: Who looks at the inbox is asked for this often; it is no part of the people's revision.
_PRESENCE_SECONDS = 2.0
#: Groups that a surface keeps are asked for this often; who left one may act this long at most.
_GROUP_SECONDS = 60.0


class Presence(Protocol):
    async def looking(self) -> frozenset[PersonId]:
        """Everybody who has the inbox before their eyes."""


class Household:
    def __init__(
        self,
        people: People,
        workspace_id: WorkspaceId,
        limits: TimeLimits,
        *,
        targets: tuple[Target, ...] = (),
        connected: frozenset[str] = frozenset(),
        channels: Mapping[str, str] | None = None,
        groups: Mapping[str, GroupSource] | None = None,
        presence: Presence | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.people = people
        self.connected = connected
        self._workspace_id, self._limits, self._targets = workspace_id, limits, targets
        self._channels, self._sources, self._clock = dict(channels or {}), dict(groups or {}), clock
        self._revision: str | None = None
        self._checked = float("-inf")
        self._changes = 0
        self._groups_read = float("-inf")
        self._presence = presence
        self._presence_read = float("-inf")
        #: One look at a time: a slow one must not put back what a later one has found.
        self._looking = asyncio.Lock()
        self.rulebook = Rulebook()
        #: The people as they were when somebody last looked, for whoever cannot wait.
        self.known = Roster()

    @property
    def revision(self) -> str | None:
        """What `known` was read at; nobody has changed it since if the database still has this revision."""
        return self._revision

    def changed(self) -> None:
        """This process has changed something; look again at once."""
        self._checked = float("-inf")
        self._changes += 1

    async def roster(self) -> Roster:
        if self._is_stale():
            async with self._looking:
                if self._is_stale():
                    await self._look()
        if self._has_stale_presence():
            async with self._looking:
                if self._has_stale_presence():
                    await self._see_who_looks()
        return self.known

    def _is_stale(self) -> bool:
        return self._clock() - self._checked >= _TRUST_SECONDS

    def _has_stale_presence(self) -> bool:
        return self._presence is not None and self._clock() - self._presence_read >= _PRESENCE_SECONDS

    async def house(self) -> House:
        roster = await self.roster()
        ground = Ground(self.rulebook, roster, datetime.now(UTC), self._channels)
        return House(self._workspace_id, self._limits, ground, self._targets)

    async def text(self) -> tuple[int, str]:
        """The policy's version and its text; what was shipped is version 0."""
        stored = await self.people.policy()
        return (stored.version, stored.text) if stored is not None else (0, DEFAULT_TEXT)

    async def _look(self) -> None:
        started, changes = self._clock(), self._changes
        revision = await self.people.revision()
        stale_groups = self._has_backed_groups() and started - self._groups_read >= _GROUP_SECONDS
        if revision != self._revision or stale_groups:
            await self._read(started)
            self._revision = revision
        if changes == self._changes:  # otherwise somebody has changed what was read here
            self._checked = started

    async def _see_who_looks(self) -> None:
        if self._presence is None:
            return
        started = self._clock()
        try:
            looking = await self._presence.looking()
        except StoreUnavailable:
            looking = frozenset()  # whoever is not known to look is reminded
        self._presence_read = started
        if looking != self.known.looking:
            self.known = replace(self.known, looking=looking)

    def _has_backed_groups(self) -> bool:
        return any(rule.backing is not None for rule in self.rulebook.groups.values())

    async def _read(self, started: float) -> None:
        everybody = {person.id: person for person in await self.people.everybody()}
        stored = await self.people.policy()
        version, text = (stored.version, stored.text) if stored is not None else (0, DEFAULT_TEXT)
        meant = stored.meant if stored is not None else {}
        rulebook = rulebook_of(text, Roster(everybody, connected=self.connected, meant=meant), version)
        self._groups_read = started
        groups = {name: await self._members(rule, everybody) for name, rule in rulebook.groups.items()}
        self.rulebook = rulebook
        self.known = Roster(everybody, groups, rulebook.schedules, self.connected, looking=self.known.looking)

    async def _members(self, rule: GroupRule, everybody: Mapping[PersonId, Person]) -> tuple[PersonId, ...]:
        if rule.backing is None:
            return rule.members
        source = self._sources.get(rule.backing.surface)
        addresses = await _asked(source.members, rule.backing) if source is not None else None
        if addresses is None:
            return ()  # a group that cannot be read has nobody in it
        named = {handle: person.id for person in everybody.values() for handle in person.handles}
        handles = (Handle(rule.backing.surface, address) for address in addresses)
        return tuple(named[handle] for handle in handles if handle in named)


async def _asked(ask: Callable[[str], Awaitable[tuple[str, ...]]], group: Handle) -> tuple[str, ...] | None:
    try:
        return await ask(group.address)
    except Exception as failure:
        _log.error(
            "a group cannot be read, so nobody is in it", surface=group.surface, group=group.address, why=str(failure)
        )
        return None


def rulebook_of(text: str, roster: Roster, version: int) -> Rulebook:
    """The rules that were stored. Text that no longer reads lets nobody answer, and says so loudly."""
    try:
        return read_policy(text, roster, version=version, lenient=True)
    except PolicyProblems as broken:
        first = broken.problems[0]
        _log.error("the stored policy cannot be read; nobody may answer", where=first.where, why=first.sentence)
        return Rulebook(version=version)
