"""`handraise watch` and `progress`: what happens, as it happens, and saying how far a job has come."""

from typing import Annotated

import typer

from handraise.cli import options as shared
from handraise.cli.losing import spoken_answer
from handraise.cli.output import print_json, print_json_line, print_line, say
from handraise.cli.session import session_in
from handraise.cli.streaming import (
    AfterOption,
    Bookmark,
    JobOfEventsOption,
    StreamTeller,
    of_job,
    until_stopped,
)
from handraise.cli.telling import decider
from handraise.errors import UnexpectedReply
from handraise.event import RESYNC, Event
from handraise.question import Decider, Question, Standing
from handraise.safe_text import one_line
from handraise.wire import member, text

_WIDTH = 200
# As wide as the longest name that comes often.
_TYPE_WIDTH = len("question.asked_back")

_SAYING = frozenset({"question.asked_back", "question.commented"})
_ENDING = frozenset({"question.answered", "question.defaulted", "question.expired", "question.withdrawn"})


def watch(
    context: typer.Context,
    job: JobOfEventsOption = None,
    after: AfterOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print each event as one line of JSON.")] = False,
) -> None:
    """Show what happens, a line for each event, until Ctrl-C.

    Times are UTC. Breaks of the connection are mended; Ctrl-C exits with 130 and prints how to go on from there.
    """
    session = session_in(context, wants_json=json)
    bookmark = Bookmark(("handraise", "watch", *of_job(job)), position=after)
    with until_stopped(bookmark, "stopped watching"):
        for event in session.person.events(after=after, job=job, watcher=StreamTeller()):
            if json:
                print_json_line({"id": event.id, **event.json})
            else:
                print_line(event_line(event))
            bookmark.position = event.id


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


def event_line(event: Event) -> str:
    at = f"{event.timestamp:%H:%M:%S}" if event.timestamp else "--:--:--"
    subject = event.question.id if event.question else event.job_id or ""
    return f"{at} {one_line(event.type):<{_TYPE_WIDTH}} {one_line(f'{subject} {_told(event)}', _WIDTH)}".rstrip()


def _told(event: Event) -> str:
    """What the event itself says; the question in it may have moved on since."""
    question, happened = event.question, member(event.data, "event")
    if event.type == RESYNC:
        return f"some events before {event.id} are no longer kept; see: handraise questions"
    if event.type == "job.progress":
        return text(member(event.data, "progress"), "text") or ""
    if question is None:
        return text(event.data, "status") or ""
    if event.type in _SAYING:
        return f"{Decider.from_json(member(happened, 'by'))}: {text(happened, 'text') or ''}"
    if event.type == "question.late_answer":
        given = spoken_answer(member(happened, "response").get("value"), is_approval=question.is_approval)
        return f"{Decider.from_json(member(happened, 'by'))}, too late: {given}"
    return _ending(question) if event.type in _ENDING else question.text


def _ending(question: Question) -> str:
    try:
        standing = question.standing
    except UnexpectedReply:
        return question.text
    match standing:
        case Standing.EXPIRED:
            return "nobody decided in time"
        case Standing.WITHDRAWN:
            return f"withdrawn by {decider(question)}"
        case Standing.DEFAULTED:
            return f"nobody answered, the default stands: {spoken_answer(question.value, is_approval=False)}"
        case _:
            return f"{decider(question)}: {spoken_answer(question.value, is_approval=question.is_approval)}"
