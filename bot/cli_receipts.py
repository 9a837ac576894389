"""`handraise-bot receipts key`: the public key that deployers check receipts with."""

from typing import Annotated

import typer

from adapters.receipts.keys import load_signing_key
from bot.checks import check_data_dir
from bot.cli_options import DataDir, problems_as_sentences, settings_from

receipts = typer.Typer(help="Decision receipts.", no_args_is_help=True)


@receipts.callback()
def _group() -> None:
    """Decision receipts."""


@receipts.command("key")
def show_key(
    pem: Annotated[bool, typer.Option("--pem", help="As PEM, for other tools.")] = False, data_dir: DataDir = None
) -> None:
    """Print the public key. It is no secret: give it to whoever has to verify a decision."""
    with problems_as_sentences():
        settings = settings_from(data_dir=data_dir)
        check_data_dir(settings.data_dir)
        public = load_signing_key(settings.data_dir).public
    typer.echo(public.pem.rstrip() if pem else public.text)
