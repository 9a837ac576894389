"""`handraise-bot webhooks log`: what became of every message, for people."""

import json
from typing import Annotated

import typer

from adapters.sql.webhooks import SqlWebhooks
from bot.api.hooks import record_json
from bot.cli_options import DatabaseUrl, DataDir, Json, on_database, problems_as_sentences, settings_from
from bot.wiring import WORKSPACE
from core.ports import MessageRecord
from core.webhooks import MessageState

webhooks = typer.Typer(help="Webhooks: what was sent and what became of it.", no_args_is_help=True)


@webhooks.command("log")
def show_log(
    endpoint: Annotated[str | None, typer.Option(help="Only this endpoint, wh_…")] = None,
    state: Annotated[MessageState | None, typer.Option(help="Only messages in this state.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many, newest first.")] = 50,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """The newest messages, with every attempt."""
    with problems_as_sentences():
        records = on_database(
            settings_from(data_dir=data_dir, database_url=database_url),
            lambda access: SqlWebhooks(access).log(WORKSPACE, limit=limit, endpoint_id=endpoint, state=state),
        )
    if as_json:
        typer.echo(json.dumps([record_json(record) for record in records]))
        return
    for record in records:
        _show(record)
    if not records:
        typer.echo("No messages.", err=True)


def _show(record: MessageRecord) -> None:
    message = record.message
    where = message.endpoint_id or message.callback_url or ""
    about = message.question_id or message.job_id or ""
    created = record.created_at.strftime("%Y-%m-%d %H:%M:%S")
    typer.echo(
        f"{created}  {record.state:<9}  {message.event:<20} {about}  -> {where}  {record.failure or ''}".rstrip()
    )
    for attempt in record.attempts:
        said = attempt.failure or f"status {attempt.status}"
        milliseconds = attempt.duration.total_seconds() * 1000
        typer.echo(f"    {attempt.number}.  {attempt.at:%H:%M:%S}  {said}  ({milliseconds:.0f} ms)")
    if record.due_at is not None:
        typer.echo(f"    next  {record.due_at:%Y-%m-%d %H:%M:%S} UTC")
