"""How the adapter gets at the database from async code: writing threads that batch, reading threads that do not."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import InterfaceError, OperationalError, TimeoutError

from adapters.sql.database import Database
from adapters.sql.writer import Writer, unavailable
from core.ports import Scope, Verdict, Work

T = TypeVar("T")


class Access:
    """Reads and writes have threads of their own; the event loop never waits on disk."""

    def __init__(self, database: Database, *, readers: int = 2, writers: int = 4) -> None:
        self.database = database
        self._writer = Writer(database, threads=1 if database.is_sqlite else writers)
        self._readers = ThreadPoolExecutor(readers, thread_name_prefix="reader")

    async def command(self, scope: Scope, work: Work) -> Verdict:
        return await self._writer.command(scope, work)

    async def write(self, action: Callable[[Connection], T]) -> T:
        return await self._writer.write(action)

    async def read(self, query: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._run, query)

    def _run(self, query: Callable[[Connection], T]) -> T:
        try:
            with self.database.reading.connect() as connection:
                return query(connection)
        except (OperationalError, InterfaceError, TimeoutError) as failure:
            raise unavailable(failure) from failure

    def close(self) -> None:
        """Finish what is under way, then let go of the database."""
        self._writer.close()
        self._readers.shutdown(wait=False, cancel_futures=True)
        self.database.dispose()
