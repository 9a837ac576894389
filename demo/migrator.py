"""The migrator: meets a real error half-way, asks how to recover, and goes on without an answer if it must."""

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

from handraise import Answer, InvalidRequest

from demo.agent import Agent, Limits, quoted

ORDERS, BATCH = 1000, 250
BATCHES = ORDERS // BATCH
#: Before this batch a report begins that locks the database, as reports do.
_LOCKED_BATCH = 3
#: How long to wait for people before the default stands.
PATIENCE = "2m"
_BACKGROUND = (
    "The nightly report holds the database. It takes minutes. What is migrated so far is committed and stays good; "
    "the shop reads the old table until all of it is done."
)


async def run(agent: Agent) -> None:
    with tempfile.TemporaryDirectory(prefix="handraise-demo-") as folder:
        file = Path(folder) / "shop.db"
        with closing(sqlite3.connect(file, timeout=0)) as database:
            _fill(database)
            await _migrate(agent, database, file)


async def _migrate(agent: Agent, database: sqlite3.Connection, file: Path) -> None:
    await agent.step(f"Turning the amounts of {ORDERS} orders into cents, in {BATCHES} batches.")
    for batch in range(1, BATCHES + 1):
        with _report(file) if batch == _LOCKED_BATCH else nullcontext():
            advice = await _move_or_ask(agent, database, batch)
        if advice is not None and not await _recovered(agent, database, batch, advice):
            return
    await agent.step(f"{count(database, 'orders_in_cents')} of {ORDERS} orders are migrated.")
    for batch in left_out(database):
        agent.say(f"{_range(batch).capitalize()} are on tonight's list.", "yellow")
    agent.say("Done.", "green")


async def _move_or_ask(agent: Agent, database: sqlite3.Connection, batch: int) -> Answer | None:
    """What people say about a batch that could not be moved."""
    try:
        move(database, batch)
    except sqlite3.OperationalError as error:
        agent.say(f"Batch {batch} of {BATCHES} failed: {error}", "red")
        asked = await _asked(agent, batch, error)
        agent.raise_hand(asked)
        return await agent.hear(asked, _BACKGROUND)
    await agent.step(f"Batch {batch} of {BATCHES} is done: {_range(batch)}.")
    return None


async def _asked(agent: Agent, batch: int, error: Exception, *, patience: str | None = PATIENCE) -> Answer:
    limits = agent.limits or (Limits(time_limit=patience) if patience is not None else Limits())
    try:
        return await agent.people.ask(
            f"Batch {batch} of {BATCHES} failed. How do I go on?",
            kind="error_recovery",
            options=[
                {
                    "id": "retry",
                    "label": "Retry",
                    "description": "Try the same batch again.",
                    "recommended": True,
                    "implications": "Works once the lock is gone.",
                },
                {
                    "id": "skip",
                    "label": "Skip",
                    "description": "Leave this batch for tonight and go on with the next.",
                    "implications": f"{_range(batch).capitalize()} stay in the old table for now.",
                },
                {
                    "id": "abort",
                    "label": "Abort",
                    "description": "Undo the batches that are done.",
                    "implications": "All orders are as they were before.",
                },
            ],
            default="skip",
            context={
                "jobType": "migration",
                "projectName": "shop",
                "currentStep": f"batch {batch} of {BATCHES}, {_range(batch)}",
                "errorDetails": f"{type(error).__module__}.{type(error).__name__}: {error}",
            },
            job=agent.job,
            wait=None,
            **limits,
        )
    except InvalidRequest as refusal:
        if refusal.code != "time_limit_out_of_range" or patience is None or agent.limits:
            raise
        # A server that was there before the demo may want more time for its people.
        return await _asked(agent, batch, error, patience=None)


async def _recovered(agent: Agent, database: sqlite3.Connection, batch: int, answer: Answer) -> bool:
    """Whether the migration goes on."""
    if answer.is_default:
        agent.say("Nobody answered in time, so the default stands: skip.", "yellow")
    elif answer.status == "answered":
        agent.say(f"{answer.decided_by} says {answer.value}{quoted(answer.text)}", "green")
    if answer.value == "retry":
        move(database, batch)
        await agent.step(f"The lock is gone. Batch {batch} of {BATCHES} is done: {_range(batch)}.")
    elif answer.value == "skip":
        await agent.step(f"Batch {batch} of {BATCHES} is left for tonight: {_range(batch)}.")
    else:
        undo(database)
        why = "" if answer.value == "abort" else "Nobody decided, so I leave no half-done work behind. "
        agent.say(f"{why}Undone: {count(database, 'orders')} orders are as they were before.", "yellow")
        return False
    return True


def move(database: sqlite3.Connection, batch: int) -> None:
    """One batch, all of it or nothing."""
    with database:
        database.execute(
            "INSERT INTO orders_in_cents"
            " SELECT id, CAST(round(CAST(replace(amount, ',', '.') AS REAL) * 100) AS INTEGER)"
            " FROM orders WHERE id > ? AND id <= ?",
            ((batch - 1) * BATCH, batch * BATCH),
        )


def left_out(database: sqlite3.Connection) -> list[int]:
    moved = {
        number for (number,) in database.execute("SELECT DISTINCT (id - 1) / ? + 1 FROM orders_in_cents", (BATCH,))
    }
    return [batch for batch in range(1, BATCHES + 1) if batch not in moved]


def undo(database: sqlite3.Connection) -> None:
    with database:
        database.execute("DROP TABLE orders_in_cents")


def count(database: sqlite3.Connection, table: str) -> int:
    (rows,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(rows)


def _fill(database: sqlite3.Connection) -> None:
    with database:
        database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, amount TEXT NOT NULL)")
        database.execute("CREATE TABLE orders_in_cents (id INTEGER PRIMARY KEY, cents INTEGER NOT NULL)")
        database.executemany(
            "INSERT INTO orders VALUES (?, ?)",
            ((number, f"{number % 90 + 9},{number % 100:02}") for number in range(1, ORDERS + 1)),
        )


@contextmanager
def _report(file: Path) -> Iterator[None]:
    """Another program at the same database, which locks it as long as it runs."""
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as report:
        report.execute("BEGIN EXCLUSIVE")
        yield


def _range(batch: int) -> str:
    return f"orders {(batch - 1) * BATCH + 1} to {batch * BATCH}"
