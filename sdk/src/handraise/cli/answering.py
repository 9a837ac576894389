"""`handraise answer`: a person answers from the terminal."""

from typing import Annotated

import typer

from handraise.cli import options as shared
from handraise.cli.exit_codes import ExitCode
from handraise.cli.failures import Stop, usage
from handraise.cli.output import as_text, print_json, say
from handraise.cli.session import session_in
from handraise.errors import Conflict, Unreachable
from handraise.question import Json, answer_value, asks_for_approval, decided_at, decider, outcome
from handraise.safe_text import one_line
from handraise.values import value_for


def answer(
    context: typer.Context,
    question_id: Annotated[str | None, typer.Argument(metavar="ID", help="The question's id, q_…")] = None,
    value: Annotated[
        str | None,
        typer.Argument(
            metavar="VALUE", help="The answer: text, an option, yes or no, approve or reject, JSON or @FILE."
        ),
    ] = None,
    question_option: Annotated[
        str | None, typer.Option("--question-id", metavar="ID", help="The id, as an option.")
    ] = None,
    answer_option: Annotated[
        str | None, typer.Option("--answer", metavar="VALUE", help="The answer, as an option.")
    ] = None,
    job: Annotated[
        str | None, typer.Option("--job", "--feature-id", metavar="JOB", help="Answer only if it belongs to this job.")
    ] = None,
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
    """Answer a question.

    Exit codes: 0 recorded, 1 somebody else was first or it is closed, 2 the answer does not fit.
    """
    session = session_in(context, wants_json=json)
    chosen_id, typed = question_and_value([question_id, value], question_id=question_option, answer=answer_option)
    arguments = None if args is None else shared.json_object_in(shared.typed_or_file(args, "--args"), "--args")
    question = session.person.get(chosen_id)
    if job is not None and question.get("jobId") != job:
        raise usage(f"{chosen_id} does not belong to {job}.")
    response = response_body(question, typed, reason=reason, arguments=arguments)
    try:
        reply = session.person.answer(chosen_id, response, late=late, answered_by=answered_by)
    except Conflict as refused:
        raise Stop(why_it_lost(chosen_id, refused), ExitCode.REJECTED, refused.problem) from refused
    except Unreachable as failure:
        if not failure.may_have_arrived:
            raise
        message = f"{failure}\n  Whether the answer was recorded is not known; see: handraise check {chosen_id}"
        raise Stop(message, ExitCode.UNREACHABLE) from failure
    if json:
        print_json(reply)
    say(what_was_done(chosen_id, response, reply, late=late))


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


def response_body(question: Json, typed: str, *, reason: str | None, arguments: dict[str, object] | None) -> Json:
    shape = str(question.get("responseType") or "text")
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


def what_was_done(question_id: str, response: Json, reply: Json, *, late: bool) -> str:
    question = reply.get("question")
    question = question if isinstance(question, dict) else {}
    given = spoken_answer(response["value"], is_approval=response["type"] == "approval")
    votes = question.get("votes")
    if late and question.get("status") != "answered":
        return f"sent {given} on as a late answer to {question_id}"
    if question.get("status") == "pending" and isinstance(votes, dict):
        return f"recorded {given} for {question_id}: {votes.get('have')} of {votes.get('need')} needed"
    resumed = f"; job {one_line(str(question.get('jobId')))} resumed" if reply.get("jobResumed") else ""
    return f"answered {question_id} with {given}{resumed}"


def why_it_lost(question_id: str, refused: Conflict) -> str:
    """Who won, with what and when; or how else the question closed."""
    settled = refused.problem.get("question")
    question: Json = dict(settled) if isinstance(settled, dict) else {}
    if isinstance(refused.problem.get("outcome"), dict):
        question["outcome"] = refused.problem["outcome"]
    kind = outcome(question).get("kind")
    moment = decided_at(question)
    when = f" at {moment}" if moment else ""
    if kind == "answered":
        given = spoken_answer(answer_value(question), is_approval=asks_for_approval(question))
        return f"{question_id} was already answered by {one_line(decider(question))} with {given}{when}."
    if kind == "withdrawn":
        return f"{question_id} was withdrawn by {one_line(decider(question))}{when}."
    if kind in ("expired", "defaulted"):
        ending = "the default stands" if kind == "defaulted" else "nothing was decided"
        return f"{question_id} closed{when}, {ending}; add --late to send your answer on all the same."
    return refused.detail


def spoken_answer(value: object, *, is_approval: bool) -> str:
    if is_approval and isinstance(value, bool):
        return "approval" if value else "rejection"
    return one_line(as_text(value), 200)
