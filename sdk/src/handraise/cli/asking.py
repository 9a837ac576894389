"""`handraise ask` and `handraise approve`: ask a person, wait, and hand the answer to the shell."""

import shlex
import uuid
from datetime import timedelta
from typing import Annotated

import typer

from handraise.cli import options as shared
from handraise.cli.drafts import circumstances, shape_details
from handraise.cli.exit_codes import ExitCode
from handraise.cli.failures import Stop, in_doubt
from handraise.cli.output import print_line
from handraise.cli.session import Session, session_in
from handraise.cli.telling import go_on_with_default, say_asked, tell
from handraise.cli.waiter import wait_for
from handraise.drafts import action_body, question_body
from handraise.errors import PassingFailure, Unreachable
from handraise.question import Question
from handraise.wire import Json

TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="What to ask.")]


def ask(
    context: typer.Context,
    text: TextArgument,
    option: Annotated[
        list[str] | None, typer.Option("-o", "--option", metavar="LABEL", help="An answer to choose; repeatable.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="KIND", help="blocking (normal), non_blocking, approval, error_recovery, …"),
    ] = None,
    response_type: Annotated[
        str | None,
        typer.Option(
            "--response-type", metavar="SHAPE", help="text, boolean, number, …; -o and --schema imply theirs."
        ),
    ] = None,
    multiple: Annotated[bool, typer.Option("--multiple", help="Several of the options may be chosen.")] = False,
    allow_free_text: Annotated[
        bool, typer.Option("--allow-free-text", help="An answer outside the options is fine.")
    ] = False,
    schema: Annotated[
        str | None, typer.Option("--schema", metavar="FILE", help="Ask for a form with this JSON Schema; - is stdin.")
    ] = None,
    default: Annotated[
        str | None, typer.Option("--default", metavar="VALUE", help="What stands if nobody answers in time.")
    ] = None,
    to: shared.ToOption = None,
    time_limit: shared.TimeLimitOption = None,
    wait: shared.WaitOption = None,
    job: shared.JobOption = None,
    context_: shared.ContextOption = None,
    urgency: shared.UrgencyOption = None,
    tag: shared.TagOption = None,
    agent: shared.AgentOption = None,
    project: shared.ProjectOption = None,
    idempotency_key: shared.IdempotencyKeyOption = None,
    json: shared.JsonOption = False,
) -> None:
    """Ask a person and print the answer.

    Exit codes: 0 answered (or the default stands), 1 rejected, 3 withdrawn, 4 expired, 75 still open.
    """
    session = session_in(context, wants_json=json)
    details = shape_details(
        kind=kind,
        response_type=response_type,
        options=option,
        multiple=multiple,
        allow_free_text=allow_free_text,
        schema=shared.json_object_in(shared.file_text(schema, "--schema"), "--schema") if schema else None,
        default=default,
    ) | circumstances(
        to=to,
        time_limit=time_limit,
        context=context_,
        urgency=urgency,
        tags=tag,
        agent=agent,
        project=project,
    )
    _ask_and_wait(session, question_body(text, details), job=job, wait=wait, idempotency_key=idempotency_key)


def approve(
    context: typer.Context,
    text: TextArgument,
    tool: Annotated[str | None, typer.Option("--tool", metavar="NAME", help="The tool about to be called.")] = None,
    args: Annotated[
        str | None, typer.Option("--args", metavar="JSON", help="The tool's arguments, an object or @FILE.")
    ] = None,
    diff: Annotated[
        str | None, typer.Option("--diff", metavar="FILE", help="The change to approve, as a diff; - is stdin.")
    ] = None,
    risk: Annotated[str | None, typer.Option("--risk", metavar="LEVEL", help="low, medium, high or critical.")] = None,
    to: shared.ToOption = None,
    time_limit: shared.TimeLimitOption = None,
    wait: shared.WaitOption = None,
    job: shared.JobOption = None,
    context_: shared.ContextOption = None,
    urgency: shared.UrgencyOption = None,
    tag: shared.TagOption = None,
    agent: shared.AgentOption = None,
    project: shared.ProjectOption = None,
    idempotency_key: shared.IdempotencyKeyOption = None,
    json: shared.JsonOption = False,
) -> None:
    """Ask for an approval; prints approved or rejected.

    Exit codes: 0 approved, 1 rejected, 3 withdrawn, 4 expired, 75 still open. Silence never approves.
    """
    session = session_in(context, wants_json=json)
    action = action_body(
        tool=tool,
        arguments=shared.json_object_in(shared.typed_or_file(args, "--args"), "--args") if args is not None else None,
        diff=shared.file_text(diff, "--diff") if diff else None,
        risk=risk,
    )
    details = circumstances(
        to=to,
        time_limit=time_limit,
        context=context_,
        urgency=urgency,
        tags=tag,
        agent=agent,
        project=project,
    )
    details["response_type"] = "approval"
    if action is not None:
        details["action"] = action
    _ask_and_wait(session, question_body(text, details), job=job, wait=wait, idempotency_key=idempotency_key)


def _ask_and_wait(
    session: Session, body: Json, *, job: str | None, wait: str | None, idempotency_key: str | None
) -> None:
    limit = shared.wait_typed(wait)
    question = _created(session, body, job=job, idempotency_key=idempotency_key or str(uuid.uuid4()))
    if wait is None and question.goes_on:
        raise typer.Exit(go_on_with_default(question, wants_json=session.wants_json))
    if question.is_open and limit != timedelta(0):
        say_asked(question)
    question = wait_for(session.agent, question, limit=limit, wants_json=session.wants_json)
    if question.is_open and limit == timedelta(0) and not session.wants_json:
        print_line(question.id)
    raise typer.Exit(tell(question, wants_json=session.wants_json))


def _created(session: Session, body: Json, *, job: str | None, idempotency_key: str) -> Question:
    try:
        return session.agent.create(body, job=job, idempotency_key=idempotency_key)
    except (Unreachable, PassingFailure) as failure:
        raise in_doubt(failure, _perhaps_asked(idempotency_key)) from failure
    except KeyboardInterrupt:
        raise Stop(f"interrupted. {_perhaps_asked(idempotency_key)}", ExitCode.INTERRUPTED) from None


def _perhaps_asked(idempotency_key: str) -> str:
    return (
        "Whether the question was asked is not known; the same command "
        f"with --idempotency-key {shlex.quote(idempotency_key)} asks it only once."
    )
