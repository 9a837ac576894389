"""What `watch` and `listen` share: options of a stream, what is said of outages, and how a reader takes leave."""

import os
import select
import shlex
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

import typer

from handraise.cli.exit_codes import ExitCode
from handraise.cli.output import discard_stdout, say
from handraise.errors import HandraiseError
from handraise.question import Question
from handraise.safe_text import one_line

JobOfEventsOption = Annotated[
    str | None, typer.Option("--job", "--feature-id", metavar="JOB", help="Only what happens in this job.")
]
AfterOption = Annotated[
    str | None, typer.Option("--after", metavar="POSITION", help="Begin behind this event; else from now on.")
]


class StreamTeller:
    """Says once for each outage that the server is away."""

    def saw(self, question: Question) -> None:
        return

    def lost_server(self, failure: HandraiseError) -> None:
        say(f"server unreachable, trying again ({one_line(str(failure))})")


@dataclass
class Bookmark:
    """The command that reads, and the newest event that it is done with."""

    command: tuple[str, ...]
    position: str | None

    def way_back(self) -> str | None:
        """The command that goes on behind that event."""
        return None if self.position is None else shlex.join([*self.command, "--after", self.position])


def _leave_with_the_reader() -> None:
    """End as soon as whoever reads our output has gone, as `head` does, and not only with the next event."""
    if not hasattr(select, "poll") or not stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode):
        return

    def wait() -> None:
        gone = select.poll()
        gone.register(sys.stdout.fileno(), 0)  # nothing is asked for, so only the end of the pipe is told
        gone.poll()
        os._exit(ExitCode.DONE)

    threading.Thread(target=wait, name="reader", daemon=True).start()


@contextmanager
def until_stopped(bookmark: Bookmark, farewell: str) -> Iterator[None]:
    """Ctrl-C ends the reading with 130 and the way back; a pipe that nobody reads any more ends it silently."""
    _leave_with_the_reader()
    try:
        yield
    except KeyboardInterrupt:
        say(f"\n{farewell}")
        way_back = bookmark.way_back()
        if way_back is not None:
            say(f"  to go on from here: {way_back}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except BrokenPipeError:
        # Whoever read this has had enough, as `head` has; nothing was being decided here.
        discard_stdout()


def of_job(job: str | None) -> tuple[str, ...]:
    return () if job is None else ("--job", job)
