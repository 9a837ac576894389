"""Opening the database: SQLite tuned for durable single-writer use, PostgreSQL as it comes; migrations for both."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

#: The newest revision in `migrations/versions`; start-up compares with it instead of loading Alembic's scripts.
HEAD = "0005"

#: The name under which a connection carries its clock, where the database has none.
CLOCK = "handraise_clock"

_MIGRATION_LOCK = 7_201_970_003  # any number that is ours, for pg_advisory_xact_lock
_BUSY_MILLISECONDS = 10_000


class DatabaseUrlError(ValueError):
    """The database URL cannot be used; the message says why and what would do."""


@dataclass(frozen=True, slots=True)
class Database:
    """Two ways in. On SQLite they differ: every writing transaction takes the write lock when it begins."""

    url: URL
    writing: Engine
    reading: Engine

    @property
    def is_sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    def dispose(self) -> None:
        self.writing.dispose()
        self.reading.dispose()


def _machine_clock() -> datetime:
    return datetime.now(UTC)


def open_database(
    url: str, *, readers: int = 4, writers: int = 4, sqlite_clock: Callable[[], datetime] = _machine_clock
) -> Database:
    parsed = parse_url(url)
    if parsed.get_backend_name() == "sqlite":
        if parsed.database:
            Path(parsed.database).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Database(
            parsed, _sqlite(parsed, 1, "BEGIN IMMEDIATE", sqlite_clock), _sqlite(parsed, readers, "BEGIN", sqlite_clock)
        )
    return Database(parsed, _postgresql(parsed, writers), _postgresql(parsed, readers))


def parse_url(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise DatabaseUrlError(
            "The database URL is not understood; use sqlite:///path/to/file.db or postgresql://user@host/name."
        ) from None
    backend = parsed.get_backend_name()
    if backend == "sqlite":
        if not parsed.database or parsed.database == ":memory:":
            raise DatabaseUrlError("SQLite needs a file, as in sqlite:///path/to/file.db.")
        return parsed.set(drivername="sqlite")  # whichever driver was named, ours is the one that is tuned
    if backend in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    raise DatabaseUrlError(f"There is no support for {backend}; use sqlite:/// or postgresql://.")


def _postgresql(url: URL, connections: int) -> Engine:
    # A server that is gone without a word must not hold a thread for ever; what the URL says goes first.
    patience = {
        "connect_timeout": "5",
        "keepalives_idle": "5",
        "keepalives_interval": "2",
        "keepalives_count": "3",
        "tcp_user_timeout": "10000",
        "options": "-c statement_timeout=15000",
    }
    return create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        pool_pre_ping=True,
        pool_timeout=10,
        connect_args={name: value for name, value in patience.items() if name not in url.query},
    )


def _sqlite(url: URL, connections: int, begin: str, clock: Callable[[], datetime]) -> Engine:
    engine = create_engine(
        url,
        execution_options={CLOCK: clock},
        pool_size=connections,
        max_overflow=0,
        connect_args={"timeout": _BUSY_MILLISECONDS / 1000, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def _tune(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # the driver must not open transactions of its own
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cache_size = -65536")
        connection.execute("PRAGMA temp_store = MEMORY")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _alembic(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


def revision(database: Database) -> str | None:
    """The schema's revision, or None when the database is empty."""
    with database.reading.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        return found


def known_revisions() -> set[str]:
    return {script.revision for script in ScriptDirectory.from_config(_alembic()).walk_revisions()}


class NewerSchemaError(RuntimeError):
    """The database was written by a newer release than this one."""


def migrate(database: Database) -> bool:
    """Bring the schema to HEAD; True when there was something to do. Safe when several processes start at once."""
    current = revision(database)
    if current == HEAD:
        return False
    if current is not None and current not in known_revisions():
        raise NewerSchemaError(
            f"The database has schema {current}, which this release does not know. Use the newer release."
        )
    with database.writing.begin() as connection:
        if not database.is_sqlite:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
        command.upgrade(_alembic(connection), "head")
    return True


def reachable(database: Database) -> str | None:
    """Why the database cannot be used, or None when it answers."""
    try:
        with database.reading.connect() as connection:
            connection.execute(text("SELECT 1"))
    except SQLAlchemyError as failure:
        return str(failure.__cause__ or failure).strip().splitlines()[0]
    return None
