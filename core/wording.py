"""Every sentence that people read about a question's life. Plain text, no markup."""

from core.answers import AnswerShape, AnswerValue, options_of
from core.ids import JobId, JsonValue, QuestionId
from core.job import Job
from core.phrasing import listing, moment, shown
from core.question import Decider, Outcome, OutcomeKind, Question


def answer_words(shape: AnswerShape, answer: AnswerValue) -> str:
    """An answer as people say it: labels instead of values, approved instead of true."""
    if shape.type == "approval":
        verdict = "approved" if answer.value is True else "rejected"
        return f"{verdict} with edited arguments" if answer.arguments is not None else verdict
    labels = {_key(option.value): option.label for option in options_of(shape)}
    if isinstance(answer.value, list):
        return ", ".join(labels.get(_key(item), str(item)) for item in answer.value)
    if isinstance(answer.value, bool):
        return labels.get(_key(answer.value), "yes" if answer.value else "no")
    return labels.get(_key(answer.value), str(answer.value))


def _key(value: JsonValue) -> tuple[str, str]:
    return type(value).__name__, str(value)


def decider_words(decider: Decider) -> str:
    match decider.type:
        case "default":
            return "the default"
        case "deadline":
            return "the deadline"
        case _:
            who = decider.name or decider.id or decider.type
            return f"{who} ({decider.surface})" if decider.surface else who


def outcome_sentence(question: Question, outcome: Outcome) -> str:
    """How the question ended, for whoever came too late and for every place that shows it."""
    when = moment(outcome.decided_at)
    match outcome.kind:
        case OutcomeKind.ANSWERED:
            said = shown(answer_words(question.spec.shape, outcome.answer)) if outcome.answer else "an answer"
            return f"{decider_words(outcome.decided_by)} answered {said} at {when}."
        case OutcomeKind.DEFAULTED:
            said = shown(answer_words(question.spec.shape, outcome.answer)) if outcome.answer else "it"
            return f"Nobody answered by {when}, so the default {said} stands."
        case OutcomeKind.EXPIRED:
            return f"Nobody answered by {when}; nothing was decided."
        case OutcomeKind.WITHDRAWN:
            why = f": {outcome.reason}" if outcome.reason else ""
            return f"{decider_words(outcome.decided_by)} withdrew it at {when}{why}."


def closed_sentence(question: Question) -> str:
    if question.outcome is None:
        return "This question is closed."
    return "This question is closed. " + outcome_sentence(question, question.outcome)


def late_offer(question: Question) -> str:
    return closed_sentence(question) + " You can still send your answer on as a late answer."


def conflict_sentence(job: Job) -> str:
    waiting = listing([entry.question_id for entry in job.holding])
    return (
        f"Job {shown(job.id)} already waits for {waiting} and its policy allows no more. "
        "Wait for the answer or cancel it first."
    )


def ended_sentence(job: Job) -> str:
    return f"Job {shown(job.id)} has ended ({job.status}). Ask in another job, or set this one back to running first."


def closing_sentence(job: Job) -> str:
    return f"Job {shown(job.id)} has ended ({job.status}) and its open questions are being withdrawn. Try again soon."


def job_ended_reason(job: Job) -> str:
    return f"job {shown(job.id)} ended ({job.status})"


def expired_in_job(question_id: QuestionId) -> str:
    return f"question {question_id} expired without an answer"


def no_question(question_id: QuestionId) -> str:
    return f"There is no question {shown(question_id)}, or this key may not see it."


def no_job(job_id: JobId) -> str:
    return f"There is no job {shown(job_id)}, or it belongs to another agent."
