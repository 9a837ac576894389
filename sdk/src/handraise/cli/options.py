"""Options that several commands share, and what their spellings mean."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from handraise.cli.failures import usage
from handraise.durations import duration_in
from handraise.question import Question
from handraise.values import json_object

FOREVER = "forever"

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The question's id, q_…")]
QuestionIdOption = Annotated[
    str | None, typer.Option("--question-id", metavar="ID", help="The question's id, as an option.")
]
OwnJobOption = Annotated[
    str | None, typer.Option("--job", "--feature-id", metavar="JOB", help="Only if it belongs to this job.")
]
JobOption = Annotated[
    str | None, typer.Option("--job", "--feature-id", metavar="JOB", help="The job that the question belongs to.")
]
ToOption = Annotated[str | None, typer.Option("--to", metavar="WHOM", help="The person or route to ask.")]
TimeLimitOption = Annotated[
    str | None,
    typer.Option("--time-limit", metavar="DURATION|none", help="How long it stays open: 45s, 30m, 2h, or none."),
]
WaitOption = Annotated[
    str | None,
    typer.Option(
        "--wait",
        metavar="DURATION|none",
        help="How long to wait here; none prints the id and returns. Not given: until it is settled.",
    ),
]
ContextOption = Annotated[
    list[str] | None, typer.Option("--context", metavar="KEY=VALUE", help="Background for whoever answers; repeatable.")
]
UrgencyOption = Annotated[
    str | None, typer.Option("--urgency", metavar="LEVEL", help="low, normal (without this), high or urgent.")
]
TagOption = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A word to find it by; repeatable.")]
AgentOption = Annotated[str | None, typer.Option("--agent", metavar="NAME", help="The name of the agent that asks.")]
ProjectOption = Annotated[str | None, typer.Option("--project", metavar="ID", help="The project's id.")]
IdempotencyKeyOption = Annotated[
    str | None,
    typer.Option("--idempotency-key", metavar="KEY", help="The same key asks once, however often the command runs."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print exactly one JSON value on stdout.")]


def wait_typed(spelled: str | None) -> timedelta | None:
    """How long to wait: None until the question is settled, zero not at all."""
    if spelled is None or spelled == FOREVER:
        return None
    return timedelta(0) if spelled.lower() == "none" else _duration(spelled)


def time_limit_typed(spelled: str) -> timedelta | None:
    return None if spelled.lower() == "none" else _duration(spelled)


def refuse_other_job(question: Question, job: str | None) -> None:
    if job is not None and question.job_id != job:
        raise usage(f"{question.id} does not belong to {job}.")


def key_values(pairs: list[str], option: str) -> dict[str, str]:
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise usage(f"{option} takes KEY=VALUE, not {pair!r}.")
        found[key] = value
    return found


def file_text(path: str, option: str) -> str:
    """The text of a file, or of stdin for `-`."""
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return content.decode()
    except OSError as failure:
        raise usage(f"{option}: {path} cannot be read: {failure.strerror}.") from None
    except ValueError:
        raise usage(f"{option}: {path} is not UTF-8 text.") from None


def typed_or_file(typed: str, option: str) -> str:
    """`@FILE` stands for the file's text."""
    return file_text(typed[1:], option) if typed.startswith("@") else typed


def json_object_in(text: str, option: str) -> dict[str, object]:
    try:
        return json_object(text)
    except ValueError as failure:
        raise usage(f"{option} needs a JSON object: {failure}.") from None


def _duration(spelled: str) -> timedelta:
    try:
        return duration_in(spelled)
    except ValueError as failure:
        raise usage(failure) from None
