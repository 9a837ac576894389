"""`handraise-bot keys`: create, list and revoke. They work on the database itself; a server may be running on it."""

import json
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Annotated, Any, TypeVar

import typer

from adapters.sql.access import Access
from adapters.sql.directory import SqlDirectory
from adapters.sql.people import SqlPeople
from bot.api.callers import Scope
from bot.api.wire import maybe_instant
from bot.checks import Trouble
from bot.cli_options import DatabaseUrl, DataDir, Json, on_database, problems_as_sentences, settings_from
from bot.household import Household
from bot.keys import new_key
from bot.people import PeopleOffice, PersonChange
from bot.settings import Settings
from bot.wiring import WORKSPACE
from core.membership import NotPossible
from core.people import Person
from core.registry import ApiKey

T = TypeVar("T")

keys = typer.Typer(help="API keys: create, list and revoke.", no_args_is_help=True)

_LONGEST_NAME = 100


@keys.command("create")
def create_key(
    name: Annotated[str, typer.Option(help="What the key is for; an agent is known by this name.")],
    scope: Annotated[list[str], typer.Option(help="ask, read, answer, admin; comma-separated or repeated.")],
    person: Annotated[str | None, typer.Option(help="The person the key belongs to; needed to answer.")] = None,
    owner: Annotated[str | None, typer.Option(help="The person an agent's key belongs to, for four eyes.")] = None,
    callback_host: Annotated[
        list[str] | None, typer.Option(help="A host its callbacks may go to; repeat for several, leave out for any.")
    ] = None,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Make a key. Its secret is shown once."""
    scopes = _scopes(scope)
    _check_name(name, "--name")
    if person is not None:
        _check_name(person, "--person")
    if Scope.ANSWER in scopes and person is None:
        raise typer.BadParameter("A key that answers belongs to somebody: say whose it is.", param_hint="--person")

    if person is not None and owner is not None:
        raise typer.BadParameter("A person's own key needs no owner.", param_hint="--owner")

    async def create(directory: SqlDirectory, office: PeopleOffice) -> tuple[str, ApiKey]:
        whose = await _person(office, person) if person is not None else None
        agents = await office.find(owner) if owner is not None else None
        secret, key = new_key(
            name, scopes, WORKSPACE, whose, callback_host or [], agents.id if agents is not None else None
        )
        await directory.add_key(key)
        return secret, key

    with problems_as_sentences():
        settings = settings_from(data_dir=data_dir, database_url=database_url)

        async def run(access: Access) -> tuple[str, ApiKey]:
            household = Household(SqlPeople(access), WORKSPACE, settings.limits)
            try:
                return await create(SqlDirectory(access), PeopleOffice(household))
            except NotPossible as problem:
                raise Trouble(str(problem)) from None

        secret, key = on_database(settings, run)
    if as_json:
        typer.echo(json.dumps({**_key_json(key), "key": secret, "callbackSecret": key.callback_secret}))
        return
    typer.echo(secret)
    typer.echo(f"Key {key.id} ({', '.join(key.scopes)}). It is not shown again.", err=True)
    if Scope.ASK in scopes:
        typer.echo(f"Callbacks of its questions are signed with {key.callback_secret}", err=True)


@keys.command("list")
def list_keys(as_json: Json = False, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """All keys, without their secrets."""
    with problems_as_sentences():
        found = _with_directory(settings_from(data_dir=data_dir, database_url=database_url), _all_keys)
    if as_json:
        typer.echo(json.dumps([_key_json(key) for key in found]))
        return
    for key in found:
        state = "revoked" if key.revoked_at is not None else "active"
        whose = f" of {key.person.name}" if key.person is not None else ""
        whose = f" (owner {key.owner})" if key.owner is not None else whose
        scopes = ",".join(key.scopes)
        typer.echo(f"{key.id}  {key.hint}…  {state:<8} {_used(key.last_used_at):<17} {scopes:<17} {key.name}{whose}")


@keys.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(help="The key's id, k_…")],
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Revoke a key; running servers refuse it within a second."""

    def revoke(directory: SqlDirectory) -> Coroutine[Any, Any, bool]:
        return directory.revoke_key(key_id)

    with problems_as_sentences():
        if not _with_directory(settings_from(data_dir=data_dir, database_url=database_url), revoke):
            raise Trouble(f"There is no key {key_id}. handraise-bot keys list shows them all.")
    typer.echo(f"Key {key_id} is revoked.")


@keys.command("owner")
def set_owner(
    key_id: Annotated[str, typer.Argument(help="The key's id, k_…")],
    person: Annotated[str, typer.Argument(help="The person the agent works for, by id, name or address.")],
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Say whose agent a key belongs to; under four eyes that person does not decide."""
    with problems_as_sentences():
        settings = settings_from(data_dir=data_dir, database_url=database_url)

        async def work(access: Access) -> str:
            office = PeopleOffice(Household(SqlPeople(access), WORKSPACE, settings.limits))
            try:
                owner = await office.find(person)
            except NotPossible as problem:
                raise Trouble(str(problem)) from None
            if not await SqlDirectory(access).set_owner(key_id, owner.id):
                raise Trouble(f"There is no key {key_id}. handraise-bot keys list shows them all.")
            return owner.name

        typer.echo(f"Key {key_id} is {on_database(settings, work)}'s.")


def _with_directory(settings: Settings, work: Callable[[SqlDirectory], Coroutine[Any, Any, T]]) -> T:
    return on_database(settings, lambda access: work(SqlDirectory(access)))


async def _all_keys(directory: SqlDirectory) -> list[ApiKey]:
    return list(await directory.keys())


def _check_name(name: str, option: str) -> None:
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise typer.BadParameter(f"Use 1 to {_LONGEST_NAME} printable characters.", param_hint=option)


def _scopes(given: list[str]) -> list[Scope]:
    names = [name.strip() for part in given for name in part.split(",") if name.strip()]
    unknown = [name for name in names if name not in [scope.value for scope in Scope]]
    if unknown or not names:
        wrong = f"There is no scope {', '.join(unknown)}. " if unknown else ""
        raise typer.BadParameter(wrong + "Use one or more of ask, read, answer and admin.", param_hint="--scope")
    return [scope for scope in Scope if scope.value in names]


async def _person(office: PeopleOffice, name: str) -> Person:
    """The person with this id or name; somebody new becomes a member."""
    person = (await office.roster()).find(name)
    return person if person is not None else await office.add(PersonChange(name), by="handraise-bot keys")


def _used(at: datetime | None) -> str:
    return at.strftime("%Y-%m-%d %H:%M") if at is not None else "never used"


def _key_json(key: ApiKey) -> dict[str, object]:
    return {
        "id": key.id,
        "name": key.name,
        "hint": key.hint,
        "scopes": list(key.scopes),
        "person": key.person.name if key.person is not None else None,
        "owner": key.owner,
        "callbackHosts": list(key.callback_hosts),
        "createdAt": maybe_instant(key.created_at),
        "lastUsedAt": maybe_instant(key.last_used_at),
        "revokedAt": maybe_instant(key.revoked_at),
    }
