"""The `handraise-bot` command."""

import os
from typing import Annotated

import typer

from adapters.sql.database import HEAD, migrate
from bot.checks import Trouble, check_data_dir, check_schema, usable_database
from bot.cli_keys import keys
from bot.cli_options import DatabaseUrl, DataDir, problems_as_sentences, settings_from
from bot.cli_people import people
from bot.cli_policy import policy
from bot.cli_receipts import receipts
from bot.cli_webhooks import webhooks
from bot.serving import serve_forever
from bot.settings import SettingsProblem, load_settings

app = typer.Typer(
    name="handraise-bot", help="AI agents raise their hand; people answer.", no_args_is_help=True, add_completion=False
)
app.add_typer(keys, name="keys")
app.add_typer(people, name="people")
app.add_typer(policy, name="policy")
app.add_typer(webhooks, name="webhooks")
app.add_typer(receipts, name="receipts")


def main() -> None:
    os.umask(0o077)  # questions and keys are nobody else's business
    app()


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 picks a free one.")] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Run the server."""
    with problems_as_sentences():
        serve_forever(settings_from(host=host, port=port, data_dir=data_dir, database_url=database_url))


@app.command("migrate")
def bring_up_to_date(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Bring the database's schema up to date."""
    with (
        problems_as_sentences(),
        usable_database(settings_from(data_dir=data_dir, database_url=database_url)) as database,
    ):
        changed = migrate(database)
        typer.echo(f"The schema is {'now' if changed else 'already'} at {HEAD}.")


@app.command()
def check(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Look at settings, data folder, database and schema; tell every problem at once."""
    good, bad = list[str](), list[str]()
    try:
        settings = load_settings(data_dir=data_dir, database_url=database_url)
        good.append("settings")
    except SettingsProblem as problem:
        bad += problem.problems
    else:
        try:
            check_data_dir(settings.data_dir)
            good.append(f"data folder {settings.data_dir}")
        except Trouble as trouble:
            bad.append(str(trouble))
        try:
            with usable_database(settings) as database:
                good.append(f"database {database.url.render_as_string(hide_password=True)}: {check_schema(database)}")
        except Trouble as trouble:
            bad.append(str(trouble))
    for line in good:
        typer.echo(f"ok       {line}")
    for line in bad:
        typer.echo(f"PROBLEM  {line}")
    if bad:
        raise typer.Exit(1)
