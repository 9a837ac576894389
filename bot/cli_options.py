"""What the commands share: options, settings, and errors as sentences."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
import uvloop

from adapters.receipts.keys import KeyProblem
from adapters.sql.access import Access
from adapters.sql.database import NewerSchemaError, migrate, open_database
from bot.checks import Trouble, usable_database
from bot.server import CannotListen
from bot.settings import Settings, SettingsProblem, load_settings

T = TypeVar("T")

DataDir = Annotated[Path | None, typer.Option(help="Where the database and the credentials are kept.")]
DatabaseUrl = Annotated[str | None, typer.Option(help="sqlite:///FILE or postgresql://USER@HOST/NAME.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value.")]


def settings_from(**given: Any) -> Settings:
    try:
        return load_settings(**given)
    except SettingsProblem as problem:
        lines = ["The settings cannot be used:", *(f"  {line}" for line in problem.problems)]
        raise Trouble("\n".join(lines)) from None


def on_database(settings: Settings, work: Callable[[Access], Coroutine[Any, Any, T]]) -> T:
    """Run on the database itself, brought up to date; a server may be running on it."""
    with usable_database(settings) as database:
        migrate(database)
    access = Access(open_database(settings.database))
    try:
        return uvloop.run(work(access))
    finally:
        access.close()


@contextmanager
def problems_as_sentences() -> Iterator[None]:
    """What the operator can put right ends the command with 1 and a sentence, never with a traceback."""
    try:
        yield
    except (Trouble, NewerSchemaError, CannotListen, KeyProblem) as problem:
        typer.echo(str(problem), err=True)
        raise typer.Exit(1) from None
