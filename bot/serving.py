"""Serving until a signal comes: the ready line for programs, a first screen for people at a terminal."""

import shutil
import sys
from pathlib import Path

import uvloop
from rich.console import Console
from rich.text import Text

from adapters.terminal.surface import TARGET, TerminalSurface
from bot.checks import check_data_dir, usable_database
from bot.logs import configure_logs
from bot.server import Server, listen, url_of
from bot.settings import Settings
from bot.wiring import open_program
from core.places import Target
from core.ports import Surface

_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def serve_forever(settings: Settings) -> None:
    """Serve until told to stop. What keeps it from starting is raised with a sentence."""
    configure_logs(settings.log_format)
    check_data_dir(settings.data_dir)
    with usable_database(settings):
        pass
    uvloop.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    listener = listen(settings.host, settings.port)
    port = listener.getsockname()[1]
    here = url_of(_ANY_ADDRESS.get(settings.host, settings.host), port)
    base_url = settings.public_url or here
    command = shell_command()
    at_terminal = sys.stdout.isatty()
    surfaces: dict[Target, Surface] = {TARGET: TerminalSurface(sys.stdout, command)} if at_terminal else {}

    async with open_program(settings, base_url, here, command, surfaces) as program:
        link = await program.admin_link() if at_terminal else ""

        def ready() -> None:
            if at_terminal:
                _first_screen(base_url, link, command)
            sys.stdout.write(f"handraise ready at {url_of(settings.host, port)}\n")
            sys.stdout.flush()

        server = Server(program.app, on_ready=ready, on_stop=program.let_go)
        await server.serve(sockets=[listener])


def shell_command() -> str:
    """How to type the client's command here: by its name when the shell finds it, else by where it is."""
    beside = Path(sys.executable).parent / "handraise"
    found = shutil.which("handraise")
    if found is not None and Path(found).resolve() == beside.resolve():
        return "handraise"
    try:
        return str(beside.relative_to(Path.cwd()))
    except ValueError:
        return str(beside)


def _first_screen(base_url: str, link: str, command: str) -> None:
    console = Console(highlight=False, soft_wrap=True)
    console.print(
        Text.assemble(
            ("\n  ✋ handraise", "bold"),
            (" is running. Agents ask; you answer.\n\n", ""),
            ("  Your inbox       ", "dim"),
            (f"{link}\n", "cyan"),
            ("                   signs you in, once, within 30 minutes; later ", "dim"),
            (f"{command}-bot people login", ""),
            ("\n  For programs     ", "dim"),
            (f"{base_url}/docs\n\n", "cyan"),
            ("  Ask a first question from another terminal:\n\n", ""),
            (f'      {command} ask "Which database?" -o PostgreSQL -o SQLite\n\n', "bold green"),
            ("  It appears in the inbox and below. Ctrl-C stops the server.\n", "dim"),
        )
    )
