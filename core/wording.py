"""Every sentence that people read about a question's life. Plain text, no markup."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from core.answers import AnswerShape, AnswerValue, options_of
from core.ids import JobId, JsonValue, QuestionId
from core.job import Job
from core.phrasing import listing, moment, names_of, shown, span
from core.policies import Panel, Policy
from core.question import Decider, Outcome, OutcomeKind, Question
from core.steps import StepKind


def answer_words(shape: AnswerShape, answer: AnswerValue) -> str:
    """An answer as people say it: labels instead of values, approved instead of true."""
    if shape.type == "approval":
        verdict = "approved" if answer.value is True else "rejected"
        return f"{verdict} with edited arguments" if answer.arguments is not None else verdict
    labels = {_key(option.value): option.label for option in options_of(shape)}
    if isinstance(answer.value, list):
        return ", ".join(labels.get(_key(item), str(item)) for item in answer.value)
    if isinstance(answer.value, dict):
        return ", ".join(f"{name}: {_plain(entry)}" for name, entry in answer.value.items())
    if isinstance(answer.value, bool):
        return labels.get(_key(answer.value), "yes" if answer.value else "no")
    return labels.get(_key(answer.value), str(answer.value))


def _plain(value: JsonValue) -> str:
    if isinstance(value, list):
        return " and ".join(map(_plain, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


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
            who = names_of([decider_words(decider) for decider in outcome.deciders or (outcome.decided_by,)])
            solo = " in solo mode" if question.spec.policy.solo else ""
            return f"{who} answered {said} at {when}{solo}."
        case OutcomeKind.DEFAULTED:
            said = shown(answer_words(question.spec.shape, outcome.answer)) if outcome.answer else "it"
            return f"Nobody answered by {when}, so the default {said} stands."
        case OutcomeKind.EXPIRED:
            return f"Nobody answered by {when}; nothing was decided."
        case OutcomeKind.WITHDRAWN:
            why = f": {outcome.reason.removesuffix('.')}" if outcome.reason else ""
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


def reminder_sentence(names: Sequence[str], waited: timedelta) -> str:
    for_whom = f" It waits for {names_of(names)}." if names else ""
    return f"Reminder: nobody has answered for {span(_rounded(waited))}.{for_whom}"


def nudge_sentence(by: str, names: Sequence[str]) -> str:
    for_whom = f" to {names_of(names)}" if names else ""
    return f"{by} sent a reminder{for_whom}."


def escalation_sentence(label: str, names: Sequence[str], waited: timedelta) -> str:
    whom = names_of(names) if names else "nobody who is there now"
    what = f"{whom} ({label})" if label else whom
    return f"Nobody has answered for {span(_rounded(waited))}, so this goes to {what} as well."


def held_sentence(kind: StepKind, until: datetime, extension: timedelta, deadline: datetime | None) -> str:
    what = "The reminder" if kind is StepKind.REMIND else "The escalation"
    waits = f"{what} waits for working hours, until {moment(until)}."
    if deadline is not None and deadline <= until:
        return f"{waits} The deadline, {moment(deadline)}, comes before it."
    return f"{waits} The deadline waits with it." if extension > timedelta(0) else waits


def spared_sentence(names: Sequence[str], until: datetime) -> str:
    have = "has" if len(names) == 1 else "have"
    return f"The first reminder waits until {moment(until)}: {names_of(names)} {have} the inbox open."


def acknowledged_sentence(name: str, until: datetime) -> str:
    return f"{name} is looking at it. Reminders and escalation wait until {moment(until)}."


def snoozed_sentence(name: str, until: datetime) -> str:
    return f"{name} wants no reminders before {moment(until)}. The deadline stays."


def reassigned_sentence(name: str, to: str, reason: str | None) -> str:
    why = f": {reason}" if reason else "."
    return f"{name} put this to {to}{why}"


def voided_sentence(name: str) -> str:
    return f"An earlier vote of {name} no longer counts."


def still_needed(missing: Sequence[tuple[str, int]]) -> str:
    if not missing:
        return "Enough have agreed."
    parts = [f"{count} more from {name}" for name, count in missing]
    return f"Still needed: {names_of(parts)}."


def who_may_answer(policy: Policy, is_approval: bool) -> str:
    """Whom the question can be answered by, and how many it takes."""
    verb = "approve" if is_approval else "answer"
    if not policy.panels:
        return f"Nobody may {verb} this."
    if policy.solo:
        return f"Solo mode: the only person here may {verb} this."
    whom = names_of([_seats(panel, counts=policy.need > 1) for panel in policy.panels])
    eyes = " Whoever the agent works for may not." if policy.four_eyes else ""
    return f"{'Needed' if policy.need > 1 else f'May {verb}'}: {whom}.{eyes}"


def _seats(panel: Panel, *, counts: bool) -> str:
    return f"{panel.need} of {panel.name}" if counts else panel.name


def votes_so_far(question: Question) -> str:
    """How many of those it takes have agreed; nothing where one is enough."""
    if question.policy.need <= 1:
        return ""
    return f"{question.tally.have} of {question.tally.need} have agreed. {still_needed(question.tally.missing)}"


def _rounded(duration: timedelta) -> timedelta:
    """Whole minutes once there are some; nobody counts the seconds of an hour."""
    minute = timedelta(minutes=1)
    return duration if duration < minute else duration // minute * minute
