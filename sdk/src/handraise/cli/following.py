"""`handraise check`, `cancel` and `comment`: what an asker does with a question that is already out."""

from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from handraise.cli import options as shared
from handraise.cli.exit_codes import ExitCode
from handraise.cli.failures import Stop
from handraise.cli.output import print_json, say
from handraise.cli.session import session_in
from handraise.cli.telling import tell
from handraise.cli.waiter import wait_for, with_id
from handraise.errors import Conflict
from handraise.question import decider, outcome
from handraise.safe_text import one_line


class BareWait(TyperCommand):
    """Lets `--wait` stand without a duration, which then means until the question is settled."""

    # Any, because the type of a context before it is typer's own is private to typer.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, spelled_out(args))


def spelled_out(args: list[str]) -> list[str]:
    """`--wait` without a duration after it becomes `--wait forever`."""
    written: list[str] = []
    for position, word in enumerate(args):
        if word == "--":
            return written + args[position:]
        written.append(word)
        following = args[position + 1] if position + 1 < len(args) else ""
        if word == "--wait" and not (following[:1].isdigit() or following.lower() in ("none", shared.FOREVER)):
            written.append(shared.FOREVER)
    return written


def check(
    context: typer.Context,
    question_id: shared.IdArgument,
    wait: Annotated[
        str | None,
        typer.Option("--wait", metavar="[DURATION]", help="Wait this long, or with no duration until it is settled."),
    ] = None,
    json: shared.JsonOption = False,
) -> None:
    """Print a question's answer, waiting for it where asked to; the exit codes are those of ask."""
    session = session_in(context, wants_json=json)
    seconds = 0.0 if wait is None else shared.wait_in_seconds(wait)
    client, found = session.as_asker_or_person(lambda client: (client, client.get(question_id)))
    question = wait_for(client, with_id(found, question_id), seconds=seconds, wants_json=json)
    raise typer.Exit(tell(question, wants_json=json))


def cancel(
    context: typer.Context,
    question_id: shared.IdArgument,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why it is no longer needed.")] = None,
    json: shared.JsonOption = False,
) -> None:
    """Withdraw a question that nobody has answered yet."""
    session = session_in(context, wants_json=json)
    try:
        reply = session.as_asker_or_person(lambda client: client.cancel(question_id, reason=reason))
    except Conflict as refused:
        raise Stop(_why_not_cancelled(refused), ExitCode.REJECTED, refused.problem) from refused
    if json:
        print_json(reply)
    say(f"withdrew {question_id}")


def comment(
    context: typer.Context,
    question_id: shared.IdArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to say.")],
    as_: Annotated[
        Literal["agent", "person"],
        typer.Option("--as", help="agent replies to whoever asked back; person asks back."),
    ] = "agent",
    json: shared.JsonOption = False,
) -> None:
    """Reply to somebody who asked back, or as a person ask back about a question."""
    session = session_in(context, wants_json=json)
    client = session.agent if as_ == "agent" else session.person
    reply = client.comment(question_id, text)
    if json:
        print_json(reply)
    say(f"replied on {question_id}" if as_ == "agent" else f"asked back about {question_id}")


def _why_not_cancelled(refused: Conflict) -> str:
    question = refused.problem.get("question")
    if not isinstance(question, dict) or not outcome(question):
        return refused.detail
    return f"{refused.detail} (decided by {one_line(decider(question))})"
