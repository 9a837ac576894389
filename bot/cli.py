"""The `handraise-bot` command."""

import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer
import uvloop

from adapters.sql.access import Access
from adapters.sql.database import HEAD, NewerSchemaError, migrate, open_database, reachable, revision
from adapters.sql.directory import SqlDirectory
from bot.api.callers import Scope
from bot.keys import new_key
from bot.serving import serve_forever
from bot.settings import Settings, SettingsProblem, load_settings
from bot.wiring import WORKSPACE
from core.ids import PersonId
from core.people import Person, Role
from core.ports import ApiKey

T = TypeVar("T")

app = typer.Typer(
    name="handraise-bot", help="AI agents raise their hand; people answer.", no_args_is_help=True, add_completion=False
)
keys = typer.Typer(help="API keys: create, list and revoke.", no_args_is_help=True)
app.add_typer(keys, name="keys")

DataDir = Annotated[Path | None, typer.Option(help="Where the database and the credentials are kept.")]
DatabaseUrl = Annotated[str | None, typer.Option(help="sqlite:///FILE or postgresql://USER@HOST/NAME.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value.")]


def main() -> None:
    app()


def _fail(*lines: str) -> NoReturn:
    for line in lines:
        typer.echo(line, err=True)
    raise typer.Exit(1)


def _settings(**given: Any) -> Settings:
    try:
        return load_settings(**given)
    except SettingsProblem as problem:
        _fail("The settings cannot be used:", *(f"  {line}" for line in problem.problems))


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 picks a free one.")] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Run the server."""
    settings = _settings(host=host, port=port, data_dir=data_dir, database_url=database_url)
    trouble = serve_forever(settings)
    if trouble is not None:
        _fail(trouble)


@app.command("migrate")
def bring_up_to_date(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Bring the database's schema up to date."""
    settings = _settings(data_dir=data_dir, database_url=database_url)
    database = open_database(settings.database)
    trouble = reachable(database)
    if trouble is not None:
        _fail(f"The database cannot be reached: {trouble}")
    try:
        changed = migrate(database)
    except NewerSchemaError as newer:
        _fail(str(newer))
    finally:
        database.dispose()
    typer.echo(f"The schema is {'now' if changed else 'already'} at {HEAD}.")


@app.command()
def check(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Look at settings, data folder, database and schema; tell every problem at once."""
    try:
        settings = load_settings(data_dir=data_dir, database_url=database_url)
    except SettingsProblem as problem:
        _report([(False, line) for line in problem.problems])
        return
    findings = [(True, "settings")]
    findings.append(_data_dir_finding(settings.data_dir))
    findings += _database_findings(settings)
    _report(findings)


def _data_dir_finding(data_dir: Path) -> tuple[bool, str]:
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        probe = data_dir / ".probe"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as failure:
        return False, f"data folder {data_dir}: {failure.strerror}. Set HANDRAISE_DATA_DIR to a folder of yours."
    return True, f"data folder {data_dir}"


def _database_findings(settings: Settings) -> list[tuple[bool, str]]:
    try:
        database = open_database(settings.database)
    except OSError as failure:
        return [(False, f"database: {failure}")]
    try:
        trouble = reachable(database)
        if trouble is not None:
            return [(False, f"database: {trouble}")]
        found = revision(database)
        name = database.url.render_as_string(hide_password=True)
        if found in (None, HEAD):
            state = "empty; the first start fills it" if found is None else f"schema {found}"
            return [(True, f"database {name}: {state}")]
        return [(False, f"database {name}: schema {found}, wanted {HEAD}. Run handraise-bot migrate.")]
    finally:
        database.dispose()


def _report(findings: list[tuple[bool, str]]) -> None:
    for good, line in findings:
        typer.echo(f"{'ok     ' if good else 'PROBLEM'}  {line}")
    if not all(good for good, _ in findings):
        raise typer.Exit(1)


def _with_directory(settings: Settings, work: Callable[[SqlDirectory], Coroutine[Any, Any, T]]) -> T:
    """Run against the database itself; a server may be running on it."""
    database = open_database(settings.database)
    trouble = reachable(database)
    if trouble is not None:
        _fail(f"The database cannot be reached: {trouble}")
    migrate(database)
    access = Access(database)
    try:
        return uvloop.run(work(SqlDirectory(access)))
    finally:
        access.close()


def _scopes(given: list[str]) -> list[Scope]:
    names = [name.strip() for part in given for name in part.split(",") if name.strip()]
    unknown = [name for name in names if name not in [scope.value for scope in Scope]]
    if unknown or not names:
        wrong = f"There is no scope {', '.join(unknown)}. " if unknown else ""
        raise typer.BadParameter(wrong + "Use one or more of ask, read, answer and admin.", param_hint="--scope")
    return [scope for scope in Scope if scope.value in names]


async def _person(directory: SqlDirectory, name: str) -> Person:
    people = await directory.people()
    for person in people:
        if name in (person.id, person.name):
            return person
    taken = {person.id for person in people}
    base = "p_" + "".join(letter for letter in name.lower() if letter.isalnum())[:30]
    free = next(i for i in (base, *(f"{base}{n}" for n in range(2, len(taken) + 3))) if i not in taken)
    person = Person(PersonId(free), name, Role.MEMBER)
    await directory.add_person(person)
    return person


@keys.command("create")
def create_key(
    name: Annotated[str, typer.Option(help="What the key is for; an agent is known by this name.")],
    scope: Annotated[list[str], typer.Option(help="ask, read, answer, admin; comma-separated or repeated.")],
    person: Annotated[str | None, typer.Option(help="The person the key belongs to; needed to answer.")] = None,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Make a key. Its secret is shown once."""
    settings = _settings(data_dir=data_dir, database_url=database_url)
    scopes = _scopes(scope)
    if not name.strip() or not name.isprintable() or len(name) > 100:
        raise typer.BadParameter("Use 1 to 100 printable characters.", param_hint="--name")
    if Scope.ANSWER in scopes and person is None:
        raise typer.BadParameter("A key that answers belongs to somebody: say whose it is.", param_hint="--person")

    async def create(directory: SqlDirectory) -> tuple[str, ApiKey]:
        owner = await _person(directory, person) if person is not None else None
        secret, key = new_key(name, scopes, WORKSPACE, owner)
        await directory.add_key(key)
        return secret, key

    secret, key = _with_directory(settings, create)
    owner = key.person.name if key.person is not None else None
    if as_json:
        typer.echo(
            json.dumps({"id": key.id, "key": secret, "name": key.name, "scopes": list(key.scopes), "person": owner})
        )
        return
    typer.echo(secret)
    typer.echo(f"Key {key.id} ({', '.join(key.scopes)}). It is not shown again.", err=True)
    if key.person is not None and key.person.role is not Role.ADMIN:
        typer.echo(f"{owner} is a member; until roles are given, only the admin may answer.", err=True)


@keys.command("list")
def list_keys(as_json: Json = False, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """All keys, without their secrets."""
    settings = _settings(data_dir=data_dir, database_url=database_url)
    found = _with_directory(settings, _all_keys)
    if as_json:
        typer.echo(json.dumps([_key_json(key) for key in found]))
        return
    for key in found:
        state = "revoked" if key.revoked_at is not None else "active"
        used = key.last_used_at.strftime("%Y-%m-%d %H:%M") if key.last_used_at is not None else "never used"
        whose = f" of {key.person.name}" if key.person is not None else ""
        typer.echo(f"{key.id}  {key.hint}…  {state:<8} {used:<17} {','.join(key.scopes):<17} {key.name}{whose}")


async def _all_keys(directory: SqlDirectory) -> list[ApiKey]:
    return list(await directory.keys())


def _key_json(key: ApiKey) -> dict[str, object]:
    return {
        "id": key.id,
        "name": key.name,
        "hint": key.hint,
        "scopes": list(key.scopes),
        "person": key.person.name if key.person is not None else None,
        "createdAt": key.created_at.isoformat(),
        "lastUsedAt": key.last_used_at.isoformat() if key.last_used_at is not None else None,
        "revokedAt": key.revoked_at.isoformat() if key.revoked_at is not None else None,
    }


@keys.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(help="The key's id, k_…")],
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Revoke a key; running servers refuse it within a second."""
    settings = _settings(data_dir=data_dir, database_url=database_url)

    def revoke(directory: SqlDirectory) -> Coroutine[Any, Any, bool]:
        return directory.revoke_key(key_id)

    if not _with_directory(settings, revoke):
        _fail(f"There is no key {key_id}. handraise-bot keys list shows them all.")
    typer.echo(f"Key {key_id} is revoked.")
