"""`handraise-bot policy`: the rules as text. Export them, see the difference, apply them, have them explained."""

import json
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from adapters.policy import PolicyProblems, with_shifts
from adapters.sql.access import Access
from adapters.sql.people import SqlPeople
from bot.checks import Trouble
from bot.cli_options import DatabaseUrl, DataDir, Json, on_database, problems_as_sentences, settings_from
from bot.household import Household
from bot.policy import Draft, PolicyOffice, SomebodyWasFirst
from bot.settings import parse_duration
from bot.wiring import WORKSPACE
from core.explaining import Explanation, explanation_json, explanation_text
from core.hours import zone_problem
from core.ids import PersonId
from core.kinds import Kind
from core.question import Risk, Urgency
from core.rulebook import UNSTATED, Circumstances

T = TypeVar("T")

policy = typer.Typer(help="The policy: who may answer, where questions go, how they climb.", no_args_is_help=True)

File = Annotated[str, typer.Argument(help="The policy as TOML; - is standard input.")]

_BY = "handraise-bot"
_HORIZON = timedelta(days=365)
_AT_FORMATS = [f"%Y-%m-%d{time}" for time in ("T%H:%M", " %H:%M", "T%H:%M:%S", "", "T%H:%M%z", "T%H:%M:%S%z")]


@policy.command("export")
def export(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Print the policy as it is; the shipped one while nobody has applied another."""
    _, text = _office(data_dir, database_url, lambda office, _: office.current())
    typer.echo(text, nl=not text.endswith("\n"))


@policy.command("diff")
def diff(file: File, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Show what FILE would change. Exit code 1 where there is a difference, 2 where FILE cannot be used."""
    try:
        draft = _drafted(file, data_dir, database_url)
    except typer.Exit:
        raise typer.Exit(2) from None
    typer.echo(draft.diff, nl=False)
    if draft.diff:
        raise typer.Exit(1)


@policy.command("apply")
def apply(file: File, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Make FILE the policy. Questions that are open keep the rules they were asked under."""

    async def work(office: PolicyOffice, _: Household) -> tuple[Draft, int]:
        draft = await office.draft(_text(file))
        return draft, await office.apply(draft, by=_BY)

    _say_applied(*_office(data_dir, database_url, work))


@policy.command("import-calendar")
def import_calendar(
    schedule: Annotated[str, typer.Argument(help="The schedule whose shifts the calendar holds.")],
    file: Annotated[Path, typer.Argument(help="An iCalendar file (.ics).")],
    zone: Annotated[str, typer.Option(help="Time zone for all-day events and times without one.")] = "UTC",
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Take the shifts of the coming year from a calendar: each event is one, its attendee or title the person."""
    problem = zone_problem(zone)
    if problem is not None:
        raise typer.BadParameter(problem, param_hint="--zone")

    async def work(office: PolicyOffice, household: Household) -> tuple[Draft, int]:
        calendar, roster = _text(str(file)), await household.roster()

        def who(name: str) -> PersonId | None:
            person = roster.find(name)
            return person.id if person is not None else None

        # Only this command needs it, and it takes long to load.
        from adapters.icalendar import shifts_from

        now = datetime.now(UTC)
        shifts, problems = shifts_from(calendar, who, start=now, end=now + _HORIZON, zone=zone)
        if problems:
            raise Trouble("\n".join(["The calendar was not taken:", *(f"  {each}" for each in problems)]))
        _, text = await office.current()
        draft = await office.draft(with_shifts(text, schedule, zone, shifts, lambda p: roster.people[p].name))
        return draft, await office.apply(draft, by=_BY)

    _say_applied(*_office(data_dir, database_url, work))


@policy.command("explain")
def explain(
    kind: Annotated[Kind, typer.Option(help="The kind of question.")] = Kind.BLOCKING,
    tool: Annotated[str | None, typer.Option(help="The tool of an approval.")] = None,
    risk: Annotated[Risk | None, typer.Option(help="The risk of an approval.")] = None,
    urgency: Annotated[Urgency, typer.Option()] = Urgency.NORMAL,
    project: Annotated[str | None, typer.Option()] = None,
    agent: Annotated[str, typer.Option(help="The name of the asking key.")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="Repeat for several.")] = None,
    to: Annotated[str | None, typer.Option(help="A person, group or schedule it is addressed to.")] = None,
    owner: Annotated[str | None, typer.Option(help="Whose key asks.")] = None,
    on_behalf_of: Annotated[str | None, typer.Option(help="The person the agent works for.")] = None,
    time_limit: Annotated[str | None, typer.Option(help="A limit the asker sets, such as 2h.")] = None,
    at: Annotated[
        datetime | None,
        typer.Option(formats=_AT_FORMATS, help="When it is asked, in UTC if without offset; now if left out."),
    ] = None,
    file: Annotated[str | None, typer.Option("--policy", help="Explain by this file instead of the policy.")] = None,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Tell who would be asked, when, where and why, if nobody answered such a question."""
    case = Circumstances(kind, urgency, risk.value if risk else UNSTATED, tool, project, agent, tuple(tag or ()), to)
    if at is None:
        asked_at = datetime.now(UTC).replace(microsecond=0)
    else:
        asked_at = at.astimezone(UTC) if at.tzinfo is not None else at.replace(tzinfo=UTC)
    limit = _span(time_limit) if time_limit is not None else None

    async def work(office: PolicyOffice, _: Household) -> Explanation:
        draft = await office.draft(_text(file)) if file is not None else None
        return await office.explain(case, at=asked_at, limit=limit, owner=owner, on_behalf_of=on_behalf_of, draft=draft)

    found = _office(data_dir, database_url, work)
    typer.echo(json.dumps(explanation_json(found)) if as_json else explanation_text(found, asked_at))


def _span(text: str) -> timedelta:
    try:
        found = parse_duration(text)
    except ValueError as problem:
        raise typer.BadParameter(str(problem), param_hint="--time-limit") from None
    return found if isinstance(found, timedelta) else timedelta(0)


def _drafted(file: str, data_dir: Any, database_url: str | None) -> Draft:
    return _office(data_dir, database_url, lambda office, _: office.draft(_text(file)))


def _say_applied(draft: Draft, version: int) -> None:
    if not draft.diff:
        typer.echo("Nothing is different; the policy stays as it is.")
        return
    typer.echo(draft.diff, nl=False)
    typer.echo(f"The policy is now at version {version}. Questions asked from now on follow it.")


def _text(file: str) -> str:
    name = "Standard input" if file == "-" else file
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as failure:
        raise Trouble(f"{name} cannot be read: {failure.strerror}.") from None
    except UnicodeDecodeError:
        raise Trouble(f"{name} is not UTF-8.") from None


def _office(data_dir: Any, database_url: str | None, work: Callable[[PolicyOffice, Household], Awaitable[T]]) -> T:
    with problems_as_sentences():
        settings = settings_from(data_dir=data_dir, database_url=database_url)

        async def run(access: Access) -> T:
            connected = frozenset({"email"} if settings.smtp_url else ())
            household = Household(SqlPeople(access), WORKSPACE, settings.limits, connected=connected)
            try:
                return await work(PolicyOffice(household, settings.limits), household)
            except PolicyProblems as broken:
                lines = [f"  {problem.where}: {problem.sentence}" for problem in broken.problems]
                raise Trouble("\n".join(["The policy was not taken:", *lines])) from None
            except SomebodyWasFirst as first:
                raise Trouble(str(first)) from None

        return on_database(settings, run)
