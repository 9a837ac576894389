"""`handraise questions`: what is waiting, as a table on a terminal and as lines with tabs elsewhere."""

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from handraise.calls import WIRE_STATUSES
from handraise.cli import options as shared
from handraise.cli.failures import usage
from handraise.cli.output import print_json, print_line, say
from handraise.cli.session import session_in
from handraise.durations import spoken
from handraise.question import Question
from handraise.safe_text import one_line


def questions(
    context: typer.Context,
    job: Annotated[
        str | None, typer.Option("--job", "--feature-id", metavar="JOB", help="The questions of this job.")
    ] = None,
    status: Annotated[
        str | None,
        typer.Option("--status", metavar="STATUS", help="open, answered, expired, withdrawn or all; needs --job."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most this many.")] = 50,
    json: shared.JsonOption = False,
) -> None:
    """List what waits for an answer, or a job's questions."""
    session = session_in(context, wants_json=json)
    wanted = status_on_the_wire(status)
    if job is not None:
        found = session.person.job_questions(job, limit=limit, status=wanted)
    elif status is None or wanted == "pending":
        found = session.person.pending(limit=limit)
    else:
        raise usage(f"--status {status} needs --job JOB: without it only open questions are listed.")
    if json:
        print_json({"questions": [question.json for question in found.items], "nextCursor": found.next_cursor})
    else:
        _print_rows([row(question, now=datetime.now(UTC)) for question in found.items])
    if not found.items:
        say("no questions" if job else "no questions are waiting")
    elif found.next_cursor:
        say(f"there may be more; --limit {limit * 2} shows them")


def status_on_the_wire(word: str | None) -> str | None:
    """None stands for all of them."""
    if word is None:
        return None
    if word.lower() not in WIRE_STATUSES:
        raise usage(f"{word!r} is not a status: use open, answered, expired, withdrawn or all.")
    return WIRE_STATUSES[word.lower()]


def row(question: Question, *, now: datetime) -> list[str]:
    left = time_left(question, now=now)
    cells = (question.id, question.kind, question.text, question.status, left, question.job_id)
    return [one_line(cell or "") for cell in cells]


def time_left(question: Question, *, now: datetime) -> str:
    if question.status != "pending":
        return ""
    if question.is_clock_paused:
        return "paused"
    if question.deadline is None:
        return "no limit"
    return spoken(question.deadline - now) if question.deadline > now else "over"


def _print_rows(rows: list[list[str]]) -> None:
    if not sys.stdout.isatty():
        for cells in rows:
            print_line("\t".join(cells))
    elif rows:
        _print_table(rows)


def _print_table(rows: list[list[str]]) -> None:
    # Only a terminal needs rich, and only here.
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("id", "kind", "question", "status", "time left", "job"):
        table.add_column(name, no_wrap=True, overflow="fold" if name == "id" else "ellipsis")
    for cells in rows:
        # Text, not str: rich must not read markup in what an agent wrote.
        table.add_row(*(Text(cell) for cell in cells))
    Console().print(table)
