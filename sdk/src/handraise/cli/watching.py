"""`handraise watch` and `progress`: what happens, as it happens, and saying how far a job has come."""

import os
import sys
from typing import Annotated

import typer

from handraise.cli import options as shared
from handraise.cli.exit_codes import ExitCode
from handraise.cli.losing import spoken_answer
from handraise.cli.output import print_json, print_json_line, print_line, say
from handraise.cli.session import session_in
from handraise.cli.telling import decider
from handraise.errors import HandraiseError, UnexpectedReply
from handraise.event import RESYNC, Event
from handraise.question import Question, Standing
from handraise.safe_text import one_line
from handraise.wire import member, text

_WIDTH = 200

JobOfEventsOption = Annotated[
    str | None, typer.Option("--job", "--feature-id", metavar="JOB", help="Only what happens in this job.")
]
AfterOption = Annotated[
    str | None, typer.Option("--after", metavar="POSITION", help="Begin behind this event; else from now on.")
]


def watch(
    context: typer.Context,
    job: JobOfEventsOption = None,
    after: AfterOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print each event as one line of JSON.")] = False,
) -> None:
    """Show what happens to questions and jobs, a line each, until Ctrl-C. Breaks of the connection are mended."""
    session = session_in(context, wants_json=json)
    position = after
    try:
        for event in session.person.events(after=after, job=job, watcher=StreamTeller()):
            position = event.id
            if json:
                print_json_line({"id": event.id, **event.json})
            else:
                print_line(event_line(event))
    except KeyboardInterrupt:
        go_on = f"; to go on from here: handraise watch --after {position}" if position else ""
        say(f"\nstopped watching{go_on}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except BrokenPipeError:
        # Whoever read this has had enough, as `head` has; nothing was being decided here.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def progress(
    context: typer.Context,
    job: Annotated[str, typer.Argument(metavar="JOB", help="The job's id.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="How far it has come.")],
    json: shared.JsonOption = False,
) -> None:
    """Tell whoever follows a job how far it has come."""
    session = session_in(context, wants_json=json)
    found = session.agent.progress(job, text)
    if json:
        print_json(found.json)
    say(f"told the progress of {one_line(found.id)}")


class StreamTeller:
    """Says once for each outage that the server is away."""

    def saw(self, question: Question) -> None:
        return

    def lost_server(self, failure: HandraiseError) -> None:
        say(f"server unreachable, trying again ({one_line(str(failure))})")


def event_line(event: Event) -> str:
    at = f"{event.timestamp:%H:%M:%S}" if event.timestamp else "--:--:--"
    subject = event.question.id if event.question else event.job_id or ""
    return one_line(f"{at} {event.type} {subject} {_told(event)}", _WIDTH)


def _told(event: Event) -> str:
    question = event.question
    if event.type == RESYNC:
        return f"some events before {event.id} are no longer kept; see: handraise questions"
    if question is None:
        return text(member(event.data, "progress"), "text") or text(event.data, "status") or ""
    happened = member(event.data, "event")
    if event.type in ("question.asked_back", "question.commented"):
        return f"{text(member(happened, 'by'), 'name') or 'somebody'}: {text(happened, 'text') or ''}"
    try:
        return _ending(question) or question.text
    except UnexpectedReply:
        return question.text


def _ending(question: Question) -> str | None:
    """How the question ended; None while it is open."""
    match question.standing:
        case Standing.OPEN:
            return None
        case Standing.EXPIRED:
            return "nobody decided in time"
        case Standing.WITHDRAWN:
            return f"withdrawn by {decider(question)}"
        case Standing.DEFAULTED:
            return f"nobody answered, the default stands: {spoken_answer(question.value, is_approval=False)}"
        case _:
            return f"{decider(question)}: {spoken_answer(question.value, is_approval=question.is_approval)}"
