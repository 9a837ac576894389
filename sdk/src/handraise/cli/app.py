"""The command line put together: global options, the commands, and how a failure leaves the process."""

import sys
from importlib.metadata import version as installed_version
from typing import Annotated

import typer

from handraise.cli.answering import answer
from handraise.cli.asking import approve, ask
from handraise.cli.doctoring import doctor
from handraise.cli.failures import report, usage
from handraise.cli.following import BareWait, cancel, check, comment
from handraise.cli.forwarding import listen
from handraise.cli.listing import questions
from handraise.cli.output import discard_stdout, prepare_streams, print_line
from handraise.cli.overview import status
from handraise.cli.proving import verify_receipt
from handraise.cli.session import Session
from handraise.cli.watching import progress, watch
from handraise.errors import HandraiseError


def main() -> None:
    prepare_streams()
    sys.exit(_run(sys.argv[1:] or ["--help"]))


def _run(words: list[str]) -> int:
    session = Session()
    try:
        code = _application()(args=words, prog_name="handraise", obj=session, standalone_mode=False)
    except HandraiseError as failure:
        return report(failure, session)
    except typer.TyperException as failure:
        # The words were not understood, so whether JSON was wanted is only to be guessed from them.
        session.wants_json = "--json" in words
        return report(usage(f"{failure.format_message().rstrip('.')}; see handraise --help."), session)
    except OSError as failure:
        # Files and sockets have their own words, so this is one of the streams.
        discard_stdout()
        return report(usage(f"stdout or stderr cannot be written: {failure.strerror}."), Session())
    return code or 0


def _application() -> typer.Typer:
    # Plain help and errors: they are read by agents and logs as often as by people, and they start quicker.
    app = typer.Typer(
        callback=_global_options, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
    )
    app.command()(ask)
    app.command()(approve)
    app.command(cls=BareWait)(check)
    app.command()(questions)
    app.command()(answer)
    app.command()(cancel)
    app.command()(comment)
    app.command()(status)
    app.command()(watch)
    app.command()(progress)
    app.command()(listen)
    app.command()(doctor)
    app.command(name="verify-receipt")(verify_receipt)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        print_line(f"handraise {installed_version('handraise')}")
        raise typer.Exit()


def _global_options(
    context: typer.Context,
    url: Annotated[str | None, typer.Option("--url", metavar="URL", help="The server; else HANDRAISE_URL.")] = None,
    api_key: Annotated[
        str | None,
        typer.Option("--api-key", metavar="KEY", help="The key; better HANDRAISE_API_KEY, which ps does not show."),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Ask a person from an agent, a script or a pipeline, and wait for the answer.

    Without options the server and the keys come from HANDRAISE_URL and HANDRAISE_API_KEY, else from the
    credentials.json of a server started here, in a folder above or in the home folder.
    """
    session = context.obj
    session.url, session.api_key = url, api_key
