"""Every implementation of the store's ports, opened the same way."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.pool import QueuePool

from adapters.memory.browser import MemoryBrowser
from adapters.memory.database import MemoryDatabase
from adapters.memory.directory import MemoryDirectory
from adapters.memory.eventlog import MemoryEventLog
from adapters.memory.outbox import MemoryOutbox
from adapters.memory.people import MemoryPeople
from adapters.memory.reader import MemoryReader
from adapters.memory.redemptions import MemoryRedemptions
from adapters.memory.sessions import MemorySessions
from adapters.memory.store import MemoryStore
from adapters.memory.webhooks import MemoryWebhooks
from adapters.sql.access import Access
from adapters.sql.browser import SqlBrowser
from adapters.sql.database import Database, migrate, open_database
from adapters.sql.directory import SqlDirectory
from adapters.sql.eventlog import SqlEventLog
from adapters.sql.outbox import SqlOutbox
from adapters.sql.people import SqlPeople
from adapters.sql.reader import SqlReader
from adapters.sql.redemptions import SqlRedemptions
from adapters.sql.sessions import SqlSessions
from adapters.sql.store import SqlStore
from adapters.sql.webhooks import SqlWebhooks
from core.browsing import Browser
from core.engine import Engine
from core.ports import EventLog, Outbox, Reader, Redemptions, Store, Webhooks
from core.registry import Directory, People
from core.sessions import Sessions
from core.waiters import Waiters
from tests.support.builders import everybody


def _machine_clock() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Backend:
    store: Store
    reader: Reader
    outbox: Outbox
    directory: Directory
    log: EventLog
    webhooks: Webhooks
    redemptions: Redemptions
    people: People
    browser: Browser
    sessions: Sessions
    database: Database | None = None

    def engine(self) -> Engine:
        return Engine(self.store, self.reader, Waiters(), everybody)

    def connections_in_use(self) -> int:
        if self.database is None:
            return 0
        pools = (self.database.writing.pool, self.database.reading.pool)
        return sum(pool.checkedout() for pool in pools if isinstance(pool, QueuePool))


def memory_backend(clock: Callable[[], datetime] = _machine_clock) -> Backend:
    database = MemoryDatabase(clock)
    return Backend(
        MemoryStore(database),
        MemoryReader(database),
        MemoryOutbox(database),
        MemoryDirectory(database),
        MemoryEventLog(database),
        MemoryWebhooks(database),
        MemoryRedemptions(database),
        MemoryPeople(database),
        MemoryBrowser(database),
        MemorySessions(database),
    )


@contextmanager
def sql_backend(url: str, clock: Callable[[], datetime] = _machine_clock) -> Iterator[Backend]:
    database = open_database(url, sqlite_clock=clock)
    migrate(database)
    access = Access(database)
    try:
        yield Backend(
            SqlStore(access),
            SqlReader(access),
            SqlOutbox(access),
            SqlDirectory(access),
            SqlEventLog(access),
            SqlWebhooks(access),
            SqlRedemptions(access),
            SqlPeople(access),
            SqlBrowser(access),
            SqlSessions(access),
            database,
        )
    finally:
        access.close()


def sqlite_url(folder: Path) -> str:
    return f"sqlite:///{folder / 'handraise.db'}"
