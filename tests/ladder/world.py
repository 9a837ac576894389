"""A workspace on a clock that tests turn: people who can change, a store, a sweeper that looks whenever it is due."""

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from adapters.sql.database import migrate, open_database
from core.answers import ApprovalShape
from core.commands import Ask, Command
from core.decisions import Accepted, Refused
from core.delivery import Deliverer
from core.engine import Engine, Handled
from core.events import Event
from core.hours import parse_windows
from core.ids import PersonId
from core.kinds import Kind
from core.people import Handle, Person, Role
from core.policies import Panel, Policy
from core.ports import Claim, Surface
from core.question import Question, Spec
from core.roster import Roster
from core.schedules import Schedule
from core.steps import Step, StepKind
from core.sweeper import Sweeper
from core.waiters import Waiters
from tests.support.backends import Backend, memory_backend, sql_backend, sqlite_url
from tests.support.builders import question_id, spec

E = TypeVar("E", bound=Event)

OFFICE = "mon-fri 09:00-17:00"
BERLIN, NEW_YORK = "Europe/Berlin", "America/New_York"
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def local(zone: str, *when: int) -> datetime:
    """The instant a clock there reads this: year, month, day, hour, minute."""
    return datetime(*when, tzinfo=ZoneInfo(zone)).astimezone(UTC)  # type: ignore[arg-type, misc]


def utc(*when: int) -> datetime:
    return datetime(*when, tzinfo=UTC)  # type: ignore[arg-type, misc]


def person(
    name: str, role: Role = Role.APPROVER, zone: str = "UTC", working: str = "", quiet: str = "", **more: Any
) -> Person:
    hours: dict[str, Any] = {"working": parse_windows(working), "quiet": parse_windows(quiet)}
    return Person(PersonId(f"p_{name.lower()}"), name, role, zone=zone, **hours, **more)


def roster(
    *people: Person,
    groups: Mapping[str, Sequence[Person]] | None = None,
    schedules: Sequence[Schedule] = (),
    connected: Sequence[str] = (),
) -> Roster:
    named = {name: tuple(p.id for p in members) for name, members in (groups or {}).items()}
    return Roster({p.id: p for p in people}, named, {s.name: s for s in schedules}, frozenset(connected))


def remind(minutes: float, **more: Any) -> Step:
    return Step(StepKind.REMIND, timedelta(minutes=minutes), **more)


def escalate(minutes: float, *audience: str, **more: Any) -> Step:
    return Step(StepKind.ESCALATE, timedelta(minutes=minutes), audience, **more)


APPROVERS = Policy((Panel("an approver", roles=(Role.APPROVER,)),), rule="approvals")


def approval(*steps: Step, asked: Sequence[Person] = (), **more: Any) -> Spec:
    """An approval, fifteen minutes by default: the limit of its kind."""
    fields: dict[str, Any] = {"limit_is_default": "time_limit" not in more, "policy": APPROVERS, **more}
    return spec(Kind.APPROVAL, ApprovalShape(), ladder=steps, asked=tuple(p.id for p in asked), **fields)


class Clock:
    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


class World:
    def __init__(self, backend: Backend, clock: Clock) -> None:
        self.backend = backend
        self.clock = clock
        self.roster = Roster()
        self.engine = Engine(backend.store, backend.reader, Waiters(), self._everybody)
        self.sweeper = Sweeper(backend.store, self.engine, on_failure=_failed)
        self.asked = 0

    async def _everybody(self) -> Roster:
        return self.roster

    async def ask(self, of: Spec, *, at: datetime | None = None) -> Question:
        if at is not None:
            self.clock.now = at
        self.asked += 1
        done = await self.engine.handle(Ask(question_id(self.asked), of))
        assert isinstance(done, Handled)
        assert isinstance(done.decision, Accepted), done.decision
        assert done.question is not None
        return done.question

    async def do(self, command: Command) -> Question:
        """A command that has to be accepted."""
        done = await self.engine.handle(command)
        assert isinstance(done, Handled)
        assert isinstance(done.decision, Accepted), done.decision
        assert done.question is not None
        return done.question

    async def refusal(self, command: Command) -> Refused:
        done = await self.engine.handle(command)
        assert isinstance(done, Handled)
        assert isinstance(done.decision, Refused), done.decision
        return done.decision

    async def until(self, at: datetime) -> None:
        """Time passes, and the sweeper looks at every instant at which something is due."""
        while (due := await self.backend.store.next_due()) is not None and due <= at:
            self.clock.now = max(self.clock.now, due)
            assert await self.sweeper.sweep() > 0
        self.clock.now = max(self.clock.now, at)

    async def outage(self, at: datetime) -> None:
        """Time passes and nobody looks until it is over."""
        self.clock.now = at
        await self.sweeper.sweep()

    async def question(self, number: int = 1) -> Question:
        found = await self.backend.reader.question(question_id(number))
        assert found is not None
        return found

    async def events(self, kind: type[E], number: int = 1) -> list[E]:
        history = await self.backend.reader.history(question_id(number))
        return [stored.event for stored in history if isinstance(stored.event, kind)]

    async def times(self, kind: type[E], number: int = 1) -> list[datetime]:
        return [event.at for event in await self.events(kind, number)]

    def deliverer(self, *surfaces: Surface, absent: Collection[str] = ()) -> Deliverer:
        backend, by_name = self.backend, {surface.name: surface for surface in surfaces}
        return Deliverer(backend.outbox, backend.store, backend.reader, self.engine, by_name, absent)


def _failed(claim: Claim, failure: Exception) -> None:
    raise failure


@cache
def _empty_database() -> bytes:
    """A migrated SQLite file, made once: every world starts from a copy."""
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(sqlite_url(Path(folder)))
        migrate(database)
        with database.writing.connect() as connection:
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.exec_driver_sql("BEGIN")
        database.dispose()
        return (Path(folder) / "handraise.db").read_bytes()


def new_sqlite(folder: Path) -> str:
    (folder / "handraise.db").write_bytes(_empty_database())
    return sqlite_url(folder)


def handles(**addresses: str) -> tuple[Handle, ...]:
    return tuple(Handle(surface, address) for surface, address in addresses.items())


@contextmanager
def open_world(kind: str, folder: Path) -> Iterator[World]:
    clock = Clock(utc(2026, 1, 1))
    if kind == "memory":
        yield World(memory_backend(clock), clock)
        return
    with sql_backend(new_sqlite(folder), clock) as backend:
        yield World(backend, clock)
        assert backend.connections_in_use() == 0
