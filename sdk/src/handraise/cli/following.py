"""`handraise check`, `cancel` and `comment`: what an asker does with a question that is already out."""

from datetime import timedelta
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from handraise.cli import options as shared
from handraise.cli.failures import usage
from handraise.cli.losing import lost
from handraise.cli.output import print_json, say
from handraise.cli.session import session_in
from handraise.cli.telling import tell
from handraise.cli.waiter import wait_for
from handraise.errors import Conflict


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
    question_id: Annotated[str | None, typer.Argument(metavar="ID", help="The question's id, q_…")] = None,
    question_option: shared.QuestionIdOption = None,
    job: shared.OwnJobOption = None,
    wait: Annotated[
        str | None,
        typer.Option("--wait", metavar="[DURATION]", help="Wait this long, or with no duration until it is settled."),
    ] = None,
    json: shared.JsonOption = False,
) -> None:
    """Print the answer to a question asked earlier.

    The exit codes are those of ask; 75 says that it is still open.
    """
    session = session_in(context, wants_json=json)
    if (question_id is None) == (question_option is None):
        raise usage("check needs the id of one question: handraise check ID.")
    chosen_id = question_id or question_option or ""
    limit = timedelta(0) if wait is None else shared.wait_typed(wait)
    client, question = session.as_asker_or_person(lambda client: (client, client.get(chosen_id)))
    shared.refuse_other_job(question, job)
    question = wait_for(client, question, limit=limit, wants_json=json)
    raise typer.Exit(tell(question, wants_json=json))


def cancel(
    context: typer.Context,
    question_id: shared.IdArgument,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why it is no longer needed.")] = None,
    json: shared.JsonOption = False,
) -> None:
    """Withdraw a question that nobody has answered yet.

    Exit codes: 0 withdrawn, 1 it was decided before, 4 its time was over.
    """
    session = session_in(context, wants_json=json)
    try:
        question = session.as_asker_or_person(lambda client: client.cancel(question_id, reason=reason))
    except Conflict as refused:
        raise lost(refused) from refused
    if json:
        print_json(question.json)
    say(f"withdrew {question.id}")


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
    """Reply to whoever asked back, or ask back as a person.

    Exit codes: 0 said, 1 it was decided before, 3 withdrawn, 4 its time was over.
    """
    session = session_in(context, wants_json=json)
    client = session.agent if as_ == "agent" else session.person
    try:
        question = client.comment(question_id, text)
    except Conflict as refused:
        raise lost(refused) from refused
    if json:
        print_json(question.json)
    say(f"replied on {question.id}" if as_ == "agent" else f"asked back about {question.id}")
