"""`handraise answer`: a person answers from the terminal."""

from typing import Annotated

import typer

from handraise.cli import options as shared
from handraise.cli.exit_codes import ExitCode
from handraise.cli.failures import Stop, in_doubt, usage
from handraise.cli.losing import lost, spoken_answer
from handraise.cli.output import print_json, say
from handraise.cli.session import session_in
from handraise.errors import Conflict, PassingFailure, Unreachable
from handraise.question import Question
from handraise.replies import Recorded
from handraise.safe_text import one_line
from handraise.values import value_for
from handraise.wire import Json, member


def answer(
    context: typer.Context,
    question_id: Annotated[str | None, typer.Argument(metavar="ID", help="The question's id, q_…")] = None,
    value: Annotated[
        str | None,
        typer.Argument(
            metavar="VALUE", help="The answer: text, an option, yes or no, approve or reject, JSON or @FILE."
        ),
    ] = None,
    question_option: shared.QuestionIdOption = None,
    answer_option: Annotated[
        str | None, typer.Option("--answer", metavar="VALUE", help="The answer, as an option.")
    ] = None,
    job: shared.OwnJobOption = None,
    answered_by: Annotated[
        str | None,
        typer.Option("--answered-by", metavar="NAME", help="A claim kept beside the answer; the key decides."),
    ] = None,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why, for the asker.")] = None,
    late: Annotated[bool, typer.Option("--late", help="Send it on although the time is over.")] = False,
    args: Annotated[
        str | None, typer.Option("--args", metavar="JSON", help="Approve with these arguments, an object or @FILE.")
    ] = None,
    json: shared.JsonOption = False,
) -> None:
    """Answer a question, as a person.

    Exit codes: 0 recorded, 1 somebody was first, 2 the answer does not fit, 3 it was withdrawn, 4 its time is over.
    """
    session = session_in(context, wants_json=json)
    chosen_id, typed = question_and_value([question_id, value], question_id=question_option, answer=answer_option)
    arguments = None if args is None else shared.json_object_in(shared.typed_or_file(args, "--args"), "--args")
    question = session.person.get(chosen_id)
    shared.refuse_other_job(question, job)
    response = response_body(question, typed, reason=reason, arguments=arguments)
    try:
        recorded = session.person.answer(question.id, response, late=late, answered_by=answered_by)
    except Conflict as refused:
        raise lost(refused, if_time_is_over="; add --late to send your answer on all the same") from refused
    except (Unreachable, PassingFailure) as failure:
        raise in_doubt(failure, _perhaps_recorded(question)) from failure
    except KeyboardInterrupt:
        raise Stop(f"interrupted. {_perhaps_recorded(question)}", ExitCode.INTERRUPTED) from None
    if json:
        print_json(recorded.json)
    say(what_was_done(recorded, response))


def _perhaps_recorded(question: Question) -> str:
    return f"Whether the answer was recorded is not known; see: handraise check {question.id}"


def question_and_value(words: list[str | None], *, question_id: str | None, answer: str | None) -> tuple[str, str]:
    """The id and the value, each given either as a word or as an option."""
    left = [word for word in words if word is not None]
    if question_id is None and left:
        question_id = left.pop(0)
    if answer is None and left:
        answer = left.pop(0)
    if left:
        raise usage(f"{left[0]!r} is one word too many: the id and the answer are already there.")
    if question_id is None or answer is None:
        raise usage("An answer needs the question's id and a value: handraise answer ID VALUE.")
    return question_id, answer


def response_body(question: Question, typed: str, *, reason: str | None, arguments: dict[str, object] | None) -> Json:
    shape = question.response_type or "text"
    if arguments is not None and shape != "approval":
        raise usage("--args change what an approval approves; this question is not an approval.")
    try:
        value = value_for(shape, shared.typed_or_file(typed, "VALUE") if shape == "form" else typed)
    except ValueError as failure:
        raise usage(failure) from None
    response: Json = {"type": shape, "value": value}
    if reason is not None:
        response["text"] = reason
    if arguments is not None:
        response["arguments"] = arguments
    return response


def what_was_done(recorded: Recorded, response: Json) -> str:
    question = recorded.question
    given = spoken_answer(response["value"], is_approval=response["type"] == "approval")
    if question.status == "timeout":
        return f"sent {given} on as a late answer to {question.id}"
    if question.is_open:
        votes = member(question.json, "votes")
        return f"recorded {given} for {question.id}: {votes.get('have')} of {votes.get('need')} needed"
    resumed = f"; job {one_line(question.job_id)} resumed" if recorded.job_resumed and question.job_id else ""
    return f"answered {question.id} with {given}{resumed}"
