"""Telling how a question stands: its answer on stdout, the circumstances on stderr, the exit code as the result."""

import shlex
from datetime import UTC, datetime

from handraise.cli.exit_codes import ExitCode, exit_code_for
from handraise.cli.output import as_text, print_json, print_value, say
from handraise.errors import HandraiseError
from handraise.question import Comment, Question, Standing
from handraise.safe_text import one_line, quoted
from handraise.wire import members

_EXAMPLES = {"approval": "approve", "boolean": "yes", "number": "3", "form": "'{…}'"}


def tell(question: Question, *, wants_json: bool) -> ExitCode:
    """Say how the question ended, or that it has not."""
    standing = question.standing
    if wants_json:
        print_json(question.json)
    elif standing in (Standing.ANSWERED, Standing.DEFAULTED):
        print_value(question.value)
    elif standing in (Standing.APPROVED, Standing.REJECTED):
        print_value(standing.value)
    _say_circumstances(question, standing)
    return exit_code_for(standing)


def go_on_with_default(question: Question, *, wants_json: bool) -> ExitCode:
    """A question that holds nothing: its default is used now, and nobody is said to have answered."""
    if wants_json:
        print_json(question.json)
    else:
        print_value(question.value)
    say(f"going on with the default, {one_line(as_text(question.value))}: nobody has answered {question.id} yet")
    say(f"  it stays open; to see a later answer: {check_command(question)}")
    return ExitCode.DONE


def say_asked(question: Question) -> None:
    """What a person at this terminal may want while waiting."""
    say(f"asked {question.id}, waiting for an answer")
    say("  Ctrl-C stops the wait; the question stays open")
    if question.url:
        say(f"  page: {one_line(question.url)}")
    say(f"  from another terminal: handraise answer {question.id} {_example(question)}")
    if question.json.get("deliveryState") == "undeliverable":
        say("  nobody could be notified: it waits in the inbox only")


def say_interrupted(question: Question) -> None:
    say(f"\ninterrupted: {question.id} stays open")
    say(f"  to wait for it again: {check_command(question)}")


def check_command(question: Question) -> str:
    return f"handraise check {question.id} --wait"


def when(moment: datetime | None) -> str:
    return f" at {moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if moment else ""


def decider(question: Question) -> str:
    return one_line(str(question.decided_by))


class WaitTeller:
    """Says each ask back once, and once for each outage that the server is away."""

    def __init__(self, question: Question) -> None:
        self.latest = question
        self._comments_told = 0

    def saw(self, question: Question) -> None:
        self.latest = question
        for comment in question.comments[self._comments_told :]:
            if comment.asks_back or comment.by.type == "person":
                _say_comment(question, comment)
        self._comments_told = max(self._comments_told, len(question.comments))

    def lost_server(self, failure: HandraiseError) -> None:
        say(f"server unreachable, trying again ({one_line(str(failure))})")


def _say_comment(question: Question, comment: Comment) -> None:
    verb = "asks back about" if comment.asks_back else "says about"
    say(f"{one_line(str(comment.by))} {verb} {question.id}:")
    say(quoted(comment.text))
    say(f'  reply with: handraise comment {question.id} "…"')


def _say_circumstances(question: Question, standing: Standing) -> None:
    moment = when(question.decided_at)
    if standing is Standing.OPEN:
        _say_open(question)
    elif standing is Standing.WITHDRAWN:
        say(f"{question.id} was withdrawn by {decider(question)}{moment}{_reason(question)}")
    elif standing is Standing.EXPIRED:
        say(f"{question.id} expired{moment}: nobody decided in time{_reason(question)}")
    elif standing is Standing.DEFAULTED or question.outcome.get("kind") == "defaulted":
        say(f"nobody answered {question.id} in time: the default stands")
    else:
        say(f"{standing.value} by {decider(question)}{moment}")
        _say_note(question)


def _say_open(question: Question) -> None:
    say(f"{question.id} is still open")
    say(f"  to wait for it: {check_command(question)}")
    if question.is_clock_paused:
        say("  its clock is paused until the asker replies")


def _say_note(question: Question) -> None:
    if question.note:
        say(quoted(question.note))
    if question.has_changed_arguments:
        say(f"the arguments were changed, use these: {as_text(question.arguments)}")


def _reason(question: Question) -> str:
    return f" ({one_line(question.reason)})" if question.reason else ""


def _example(question: Question) -> str:
    options = members(question.json, "options")
    if options:
        return shlex.quote(one_line(str(options[0].get("label"))))
    return _EXAMPLES.get(question.response_type or "", '"…"')
