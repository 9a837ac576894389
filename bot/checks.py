"""What can keep the server from starting, each as a sentence. `serve` stops at the first, `check` tells them all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adapters.sql.database import HEAD, Database, known_revisions, open_database, reachable, revision
from bot.settings import Settings


class Trouble(Exception):
    """Something the operator has to put right; the message says what and how."""


def check_data_dir(data_dir: Path) -> None:
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe = data_dir / ".probe"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as failure:
        raise Trouble(
            f"The data folder {data_dir} cannot be used: {failure.strerror}. "
            "Set HANDRAISE_DATA_DIR to a folder of yours."
        ) from None


@contextmanager
def usable_database(settings: Settings) -> Iterator[Database]:
    """The database, once it has answered."""
    try:
        database = open_database(settings.database)
    except OSError as failure:
        raise Trouble(f"The database's folder cannot be used: {failure}.") from None
    try:
        trouble = reachable(database)
        if trouble is not None:
            raise Trouble(f"The database cannot be reached: {trouble}")
        yield database
    finally:
        database.dispose()


def check_schema(database: Database) -> str:
    """How far the schema is, if this release can work with it."""
    found = revision(database)
    if found is None:
        return "empty; the first start fills it"
    if found == HEAD:
        return f"schema {found}"
    if found in known_revisions():
        raise Trouble(f"The database has schema {found}, wanted is {HEAD}. Run handraise-bot migrate.")
    raise Trouble(f"The database has schema {found}, which this release does not know. Use the newer release.")
