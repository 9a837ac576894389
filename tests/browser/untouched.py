"""Whether something changed at all: the whole database, read beside the server."""

import sqlite3
from contextlib import closing

from tests.support.servers import RunningServer

#: What changes by itself: sessions and keys being in use, and the server holding what it works on.
_RESTLESS = frozenset({"idle_until", "looks_until", "last_used_at", "lease_until", "fence"})

Kept = dict[str, list[tuple[object, ...]]]


def kept(server: RunningServer) -> Kept:
    """Every row of every table."""
    with closing(sqlite3.connect(f"file:{server.data_dir / 'handraise.db'}?mode=ro", uri=True, timeout=30)) as file:
        tables = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {table: _rows(file, table) for table in sorted(tables)}


def _rows(file: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    columns = [f'"{row[1]}"' for row in file.execute(f'PRAGMA table_info("{table}")') if row[1] not in _RESTLESS]
    return sorted(file.execute(f'SELECT {", ".join(columns)} FROM "{table}"'), key=repr)
