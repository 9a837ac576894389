"""One line about a question for a model: what was decided, by whom, and what was not decided at all.

Whatever people wrote stands between quotation marks, with its line ends escaped, so that it reads as data and cannot
begin a line or a sentence of its own.
"""

import json

from handraise.question import Decider, Question, Standing
from handraise.safe_text import one_line, visible


def line_for_model(question: Question) -> str:
    match question.standing:
        case Standing.APPROVED:
            said = f"APPROVED {_by(question.decided_by)}.{_note(question)}{_changed_arguments(question)}"
        case Standing.REJECTED if not question.has_defaulted:
            said = f"REJECTED {_by(question.decided_by)}: do not do it.{_note(question)}"
        case Standing.ANSWERED:
            said = f"ANSWERED {_by(question.decided_by)}: {quoted_json(question.value)}.{_note(question)}"
        case Standing.OPEN:
            said = _open_line(question)
        case _:
            said = f"{_none_of(question)}: {_ending(question)}"
    return said


def quoted_json(value: object) -> str:
    """A value as JSON on one line, with nothing invisible in it."""
    return visible(json.dumps(value, ensure_ascii=False, default=str)).replace("\n", "\\n").replace("\t", "\\t")


def _by(decider: Decider) -> str:
    name = decider.name or decider.id
    quoted = quoted_json(one_line(name, 100)) if name else None
    if decider.type == "rule":
        return f"under the rule {quoted}, nobody was asked" if quoted else "under a rule, nobody was asked"
    if quoted is None:
        return f"by the {decider.type}" if decider.type in ("default", "deadline", "asker") else "by somebody"
    return f"by {quoted}{f' on {one_line(decider.surface, 40)}' if decider.surface else ''}"


def _none_of(question: Question) -> str:
    return "NO DECISION" if question.is_approval else "NO ANSWER"


def _open_line(question: Question) -> str:
    if question.goes_on:
        return (
            f"NO ANSWER yet: nobody has answered {question.id}; go on with the default, "
            f"{quoted_json(question.value)}. An answer may still come."
        )
    paused = " Somebody asked back and waits for your reply." if question.is_clock_paused else ""
    return (
        f"{_none_of(question)} yet: {question.id} is still open and nobody has answered. "
        f"Do not ask again; check {question.id} later.{paused}"
    )


def _ending(question: Question) -> str:
    if question.standing is Standing.WITHDRAWN:
        reason = f" The reason given: {quoted_json(question.reason)}." if question.reason else ""
        return f"{question.id} was withdrawn {_by(question.decided_by)}.{reason}{_no_consent(question)}"
    if question.is_default:
        return (
            f"nobody answered {question.id} in time; the default stands, {quoted_json(question.value)}."
            f"{_no_consent(question)}"
        )
    return f"{question.id} expired, nobody decided in time.{_no_consent(question)}"


def _no_consent(question: Question) -> str:
    return " This is not an approval." if question.is_approval else ""


def _note(question: Question) -> str:
    return f" The note with it: {quoted_json(question.note)}." if question.note else ""


def _changed_arguments(question: Question) -> str:
    if not question.has_changed_arguments:
        return ""
    return f" The arguments were changed; only these are approved: {quoted_json(question.arguments)}."
