"""The writing threads. Whatever waits when a thread is free goes into one transaction: one fsync for many commands."""

import asyncio
import queue
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, SQLAlchemyError

from adapters.sql.batch import Batch, Conflict, Entry
from adapters.sql.database import Database
from core.ports import Scope, StoreUnavailable, Verdict, Work

T = TypeVar("T")

_MOST_AT_ONCE = 256
_TRIES = 40
#: A thread that is stuck on a dead connection does not keep the program from ending; it is a daemon.
_CLOSING_SECONDS = 20


class _Task:
    """A command or any other write, and the future of whoever waits for it."""

    __slots__ = ("entry", "future", "loop", "write")

    def __init__(self, entry: Entry | None, write: Callable[[Connection], Any] | None) -> None:
        self.entry = entry
        self.write = write
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()


_Results: TypeAlias = list[tuple[_Task, Any]]


class Writer:
    def __init__(self, database: Database, threads: int) -> None:
        self._database = database
        self._queue: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"writer-{number}", daemon=True) for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    async def command(self, scope: Scope, work: Work) -> Verdict:
        task = _Task(Entry(scope, work), None)
        self._queue.put(task)
        verdict: Verdict = await task.future
        return verdict

    async def write(self, action: Callable[[Connection], T]) -> T:
        """Run a write of its own transaction."""
        task = _Task(None, action)
        self._queue.put(task)
        result: T = await task.future
        return result

    def close(self) -> None:
        """Finish what is queued, then stop."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join(_CLOSING_SECONDS)

    def _work(self) -> None:
        while True:
            task = self._queue.get()
            if task is None:
                return
            tasks = [task]
            stop = False
            while len(tasks) < _MOST_AT_ONCE:
                try:
                    further = self._queue.get_nowait()
                except queue.Empty:
                    break
                if further is None:
                    stop = True
                    break
                tasks.append(further)
            self._run(tasks)
            if stop:
                return

    def _run(self, tasks: Sequence[_Task]) -> None:
        commands = [task for task in tasks if task.entry is not None]
        if commands:
            _resolve(self._run_commands(commands))
        for task in tasks:
            if task.write is not None:
                _resolve([(task, self._guarded(task.write))])

    def _run_commands(self, tasks: list[_Task]) -> _Results:
        entries = [task.entry for task in tasks if task.entry is not None]
        try:
            return list(zip(tasks, self._once(entries), strict=True))
        except (Conflict, IntegrityError, DBAPIError) as failure:
            if isinstance(failure, OperationalError) and not _is_retryable(failure):
                failed = unavailable(failure)
                return [(task, failed) for task in tasks]
        except Exception as failure:
            if len(tasks) == 1:
                return [(tasks[0], failure)]
        # Somebody was first, or one command of many cannot be kept: each now stands for itself.
        return [(task, self._alone(task.entry)) for task in tasks if task.entry is not None]

    def _once(self, entries: Sequence[Entry]) -> list[Verdict | Exception]:
        with self._database.writing.begin() as connection:
            return Batch(connection).run(entries)

    def _alone(self, entry: Entry) -> Verdict | Exception:
        failure: Exception = StoreUnavailable("too many writers at once")
        for attempt in range(_TRIES):
            try:
                return self._once([entry])[0]
            except (Conflict, IntegrityError) as conflict:
                failure = conflict
            except OperationalError as operational:
                if not _is_retryable(operational):
                    return unavailable(operational)
                failure = operational
            except Exception as other:
                return other
            # Others are at the same rows; a random pause lets one of us through. This is a thread of its own.
            time.sleep(random.uniform(0, 0.001 * min(attempt, 20)))
        return unavailable(failure)

    def _guarded(self, write: Callable[[Connection], T]) -> T | Exception:
        try:
            with self._database.writing.begin() as connection:
                return write(connection)
        except SQLAlchemyError as failure:
            return unavailable(failure) if isinstance(failure, OperationalError) else failure
        except Exception as failure:
            return failure


def _is_retryable(failure: OperationalError) -> bool:
    """Deadlocks and serialization failures of PostgreSQL; everything else means the database is in trouble."""
    return getattr(failure.orig, "sqlstate", None) in ("40001", "40P01")


def unavailable(failure: Exception) -> StoreUnavailable:
    raised = StoreUnavailable(str(getattr(failure, "orig", None) or failure))
    raised.__cause__ = failure
    return raised


def _resolve(results: _Results) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, _Results] = {}
    for task, result in results:
        by_loop.setdefault(task.loop, []).append((task, result))
    for loop, its_results in by_loop.items():
        try:
            loop.call_soon_threadsafe(_hand_over, its_results)
        except RuntimeError:
            continue  # the loop is closed: nobody waits any more, and what was committed stays committed


def _hand_over(results: _Results) -> None:
    for task, result in results:
        if task.future.done():
            continue
        if isinstance(result, Exception):
            task.future.set_exception(result)
        else:
            task.future.set_result(result)
