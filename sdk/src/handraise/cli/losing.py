"""Telling somebody who came too late how the question ended, and who was first."""

from handraise.cli.exit_codes import ExitCode, exit_code_for_lost
from handraise.cli.failures import Stop
from handraise.cli.output import as_text
from handraise.cli.telling import decider, when
from handraise.errors import Conflict, UnexpectedReply
from handraise.question import Question, Standing
from handraise.safe_text import one_line


def lost(refused: Conflict, *, if_time_is_over: str = "") -> Stop:
    try:
        question = Question.from_json(refused.problem.get("question"))
        standing = question.standing
    except UnexpectedReply:
        return Stop(refused.detail, ExitCode.REJECTED, refused.problem)
    ended = how_it_ended(question, refused)
    advice = if_time_is_over if question.status == "timeout" else ""
    return Stop(f"{ended}{advice}.", exit_code_for_lost(standing), refused.problem)


def how_it_ended(question: Question, refused: Conflict) -> str:
    moment = when(question.decided_at)
    match question.standing:
        case Standing.OPEN:
            return refused.detail.rstrip(".")
        case Standing.WITHDRAWN:
            return f"{question.id} was withdrawn by {decider(question)}{moment}"
        case Standing.EXPIRED:
            return f"{question.id} expired{moment}: nothing was decided"
        case Standing.DEFAULTED:
            return f"{question.id} ran out of time{moment}: the default stands"
        case _:
            given = spoken_answer(question.value, is_approval=question.is_approval)
            return f"{question.id} was already answered by {decider(question)} with {given}{moment}"


def spoken_answer(value: object, *, is_approval: bool) -> str:
    if is_approval and isinstance(value, bool):
        return "approval" if value else "rejection"
    return one_line(as_text(value), 200)
