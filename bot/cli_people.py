"""`handraise-bot people`: who there is, how to reach them, when they work. A running server sees it within a second."""

import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypeVar

import typer

from adapters.email.bounces import bounce_in
from adapters.sql.access import Access
from adapters.sql.people import SqlPeople
from adapters.sql.reader import SqlReader
from adapters.sql.sessions import SqlSessions
from adapters.sql.store import SqlStore
from bot.api.people import person_json
from bot.checks import Trouble
from bot.cli_options import DatabaseUrl, DataDir, Json, on_database, problems_as_sentences, settings_from
from bot.firstrun import ADMIN, known_url
from bot.household import Household
from bot.people import PeopleOffice, PersonChange
from bot.settings import Settings, parse_duration
from bot.web.visitors import new_link
from bot.wiring import WORKSPACE
from core.commands import RecordDelivery
from core.decisions import Refused
from core.engine import Engine, Handled
from core.hours import instant_of, windows_text
from core.ids import QuestionId
from core.membership import NotPossible, handle_from
from core.people import Person
from core.people import Role as RoleName
from core.phrasing import moment
from core.question import DeliveryRecord, DeliveryState
from core.registry import AuditEntry
from core.roster import Roster
from core.waiters import Waiters

T = TypeVar("T")

people = typer.Typer(help="People: who may answer, and how and when to reach them.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The person's id, name or address.")]
Role = Annotated[str | None, typer.Option(help="member, approver, lead or admin.")]
Handles = Annotated[
    list[str] | None, typer.Option("--handle", help="slack:U…, discord:…, email:…, oidc:…; preferred first; repeat.")
]
Zone = Annotated[str | None, typer.Option(help="Time zone, such as Europe/Berlin.")]
Hours = Annotated[str | None, typer.Option(help='When they work, such as "mon-fri 09:00-17:00".')]
Quiet = Annotated[str | None, typer.Option(help='When to leave them alone, such as "daily 22:00-07:00".')]

_BY = "handraise-bot"
_LARGEST_BOUNCE = 1_000_000


@people.command("add")
def add_person(
    name: Annotated[str, typer.Argument(help="What they are called.")],
    role: Role = None,
    handle: Handles = None,
    zone: Zone = None,
    hours: Hours = None,
    quiet: Quiet = None,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Add a person; without --role they are a member."""
    change = PersonChange(name, role, tuple(handle) if handle is not None else None, zone, hours, quiet)
    _tell(_office(data_dir, database_url, lambda office: _named(office, office.add(change, by=_BY))), as_json)


@people.command("list")
def list_people(as_json: Json = False, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Everybody, with role, hours and handles."""
    roster = _office(data_dir, database_url, lambda office: office.roster())
    found = sorted((p for p in roster.people.values() if p.merged_into is None), key=lambda p: p.name.casefold())
    if as_json:
        typer.echo(json.dumps([person_json(person) for person in found]))
        return
    if not found:
        typer.echo("There is nobody yet. handraise-bot people add NAME adds somebody.", err=True)
    for line in _table([_columns(person, roster) for person in found]):
        typer.echo(line)


@people.command("show")
def show_person(name: Name, as_json: Json = False, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """One person."""
    _tell(_office(data_dir, database_url, lambda office: _named(office, office.find(name))), as_json)


@people.command("set")
def set_person(
    name: Name,
    rename: Annotated[str | None, typer.Option("--name", help="A new name.")] = None,
    role: Role = None,
    handle: Handles = None,
    zone: Zone = None,
    hours: Hours = None,
    quiet: Quiet = None,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Change a person; what is not given stays as it is. --handle replaces all handles."""
    change = PersonChange(rename, role, tuple(handle) if handle is not None else None, zone, hours, quiet)

    async def work(office: PeopleOffice) -> tuple[Person, Roster]:
        return await _named(office, office.change(await office.find(name), change, by=_BY))

    _tell(_office(data_dir, database_url, work), as_json)


@people.command("remove")
def remove_person(name: Name, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Remove a person: their keys stop working and their votes on open questions are void."""

    async def work(office: PeopleOffice) -> Person:
        return await office.remove(await office.find(name), by=_BY)

    person = _office(data_dir, database_url, work)
    typer.echo(f"{person.name} ({person.id}) is removed.")


@people.command("away")
def set_away(
    name: Name,
    until: Annotated[
        str | None,
        typer.Option(help="A date, a time such as 2026-08-31T09:00 (theirs, if without offset) or a span such as 3d."),
    ] = None,
    stand_in: Annotated[str | None, typer.Option(help="Who takes their place meanwhile.")] = None,
    back: Annotated[bool, typer.Option("--back", help="They are here again.")] = False,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Somebody is away; questions and reminders go to their stand-in."""
    if back == (until is not None):
        raise typer.BadParameter("Give --until when they are away, or --back.", param_hint="--until")
    if until is not None:
        _instant(until, "UTC")  # before anything else: what is not written well is told as such

    async def work(office: PeopleOffice) -> tuple[Person, Roster]:
        other = await office.find(stand_in) if stand_in is not None else None
        person = await office.find(name)
        when = _instant(until, person.zone) if until is not None else None
        return await _named(office, office.set_away(person, when, other, by=_BY))

    _tell(_office(data_dir, database_url, work), as_json)


@people.command("link")
def link_person(
    name: Name,
    handle: Annotated[str | None, typer.Argument(help="slack:U…, email:…, oidc:… …; leave out for a code.")] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Link a handle to a person, or print a one-time code that they type on the other surface."""

    async def work(office: PeopleOffice) -> str:
        person = await office.find(name)
        if handle is None:
            code = await office.link_code(person)
            return f"{code}\n{person.name} types it on the other surface within 10 minutes; it works once."
        found = handle_from(handle)
        await office.connect(person, found, by=_BY)
        return f"{found.surface}:{found.address} is {person.name}."

    typer.echo(_office(data_dir, database_url, work))


@people.command("login")
def login_link(
    name: Annotated[str | None, typer.Argument(help="Who signs in; without a name the first admin.")] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Print a link that signs a person in to the inbox. It works once, for 30 minutes."""
    with problems_as_sentences():
        settings = settings_from(data_dir=data_dir, database_url=database_url)

        async def work(access: Access) -> str:
            office = PeopleOffice(Household(SqlPeople(access), WORKSPACE, settings.limits))
            try:
                person = await (office.find(name) if name is not None else _first_admin(office))
            except NotPossible as problem:
                raise Trouble(str(problem)) from None
            return await new_link(SqlSessions(access), person, _server_url(settings))

        link = on_database(settings, work)
    typer.echo(link)


async def _first_admin(office: PeopleOffice) -> Person:
    admins = (await office.roster()).holders(RoleName.ADMIN)
    first = next((person for person in admins if person.id == ADMIN.id), admins[0] if admins else None)
    if first is None:
        raise NotPossible("There is no admin yet. Start the server once with handraise-bot serve.")
    return first


def _server_url(settings: Settings) -> str:
    """Where the server is reached: as it is set, or as it wrote down when it last started."""
    kept = known_url(settings.data_dir)
    return settings.public_url or kept or f"http://{settings.host}:{settings.port}"


@people.command("audit")
def show_audit(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many, newest first.")] = 50,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Every change of people and policy: when, by whom, what."""
    with problems_as_sentences():
        settings = settings_from(data_dir=data_dir, database_url=database_url)

        async def look(access: Access) -> tuple[Sequence[AuditEntry], Sequence[Person]]:
            return await SqlPeople(access).audit(limit=limit), await SqlPeople(access).everybody()

        entries, everybody = on_database(settings, look)
    names: dict[str, str] = {person.id: f"{person.name} ({person.id})" for person in everybody}
    for entry in entries:
        subject = " and ".join(names.get(part, part) for part in entry.subject.split(","))
        typer.echo(f"{moment(entry.at)}  {entry.what:<14}  {subject}  by {entry.by}")
        for line in entry.detail.splitlines():
            typer.echo(f"    {line}")


@people.command("bounce")
def take_bounce(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Read a mail server's report of an undelivered notice from standard input; the question goes another way."""
    bounce = bounce_in(sys.stdin.buffer.read(_LARGEST_BOUNCE + 1))
    if bounce is None or not bounce.is_permanent or bounce.notice is None:
        typer.echo("This is no report that a notice of ours could not be delivered; nothing was done.", err=True)
        return
    question_id, _, rest = bounce.notice.partition(":")
    address = rest.partition(":")[2].partition("#")[0]

    async def work(access: Access) -> str | None:
        store, reader = SqlStore(access), SqlReader(access)
        household = Household(SqlPeople(access), WORKSPACE, settings.limits)
        engine = Engine(store, reader, Waiters(), household.roster)
        record = DeliveryRecord("email", DeliveryState.FAILED, await store.now(), why=bounce.sentence, address=address)
        done = await engine.handle(RecordDelivery(QuestionId(question_id), record))
        decision = done.decision if isinstance(done, Handled) else None
        return decision.sentence if isinstance(decision, Refused) else None

    with problems_as_sentences():
        settings = settings_from(data_dir=data_dir, database_url=database_url)
        refused = on_database(settings, work)
    if refused is not None:
        typer.echo(f"{refused} Nothing was done.", err=True)
        return
    typer.echo(f"{question_id}: {bounce.sentence}")


def _office(data_dir: Any, database_url: str | None, work: Callable[[PeopleOffice], Awaitable[T]]) -> T:
    with problems_as_sentences():
        settings = settings_from(data_dir=data_dir, database_url=database_url)

        async def run(access: Access) -> T:
            try:
                return await work(PeopleOffice(Household(SqlPeople(access), WORKSPACE, settings.limits)))
            except NotPossible as problem:
                raise Trouble(str(problem)) from None

        return on_database(settings, run)


async def _named(office: PeopleOffice, work: Awaitable[Person]) -> tuple[Person, Roster]:
    """The person, and everybody: whoever stands in is told by name."""
    return await work, await office.roster()


def _tell(found: tuple[Person, Roster], as_json: bool) -> None:
    person, roster = found
    typer.echo(json.dumps(person_json(person)) if as_json else _table([_columns(person, roster)])[0])


def _columns(person: Person, roster: Roster) -> list[str]:
    handles = " ".join(f"{handle.surface}:{handle.address}" for handle in person.handles)
    rest = []
    if person.is_active and person.away_until is not None and person.away_until > datetime.now(UTC):
        stand_in = roster.active(person.stand_in) if person.stand_in is not None else None
        rest.append(f"away until {moment(person.away_until)}" + (f", {stand_in.name} stands in" if stand_in else ""))
    rest += [f"works {windows_text(person.working)} {person.zone}"] if person.working else []
    rest += [f"quiet {windows_text(person.quiet)} {person.zone}"] if person.quiet else []
    return [person.id, person.name, person.role if person.is_active else "removed", handles, "; ".join(rest)]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as they have to be; those that nobody fills are left out."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True) if w).rstrip() for row in rows]


def _instant(text: str, zone: str) -> datetime:
    """A span from now on, an instant, or a date or time as the clocks of this zone have it."""
    with suppress(ValueError, OverflowError):
        found = parse_duration(text)
        if isinstance(found, timedelta):
            return datetime.now(UTC) + found
    try:
        when = datetime.fromisoformat(text)
        return when.astimezone(UTC) if when.tzinfo is not None else instant_of(when, zone)
    except (ValueError, OverflowError):
        raise typer.BadParameter("Write a date, an instant or a span such as 3d.", param_hint="--until") from None
