"""Every event as a sentence: the history of a question and of a job as people read it."""

from core.events import (
    Acknowledged,
    Answered,
    Asked,
    AskedBack,
    Commented,
    Defaulted,
    Delivered,
    DeliveryFailed,
    Escalated,
    Event,
    Expired,
    Held,
    JobChanged,
    LateAnswered,
    Progressed,
    Reassigned,
    Reminded,
    Resumed,
    Snoozed,
    Undeliverable,
    Voted,
    VoteVoided,
    Withdrawn,
)
from core.phrasing import names_of, shown
from core.question import DeliveryRecord, Spec
from core.wording import answer_words, decider_words, voided_sentence

_PLACES = {"web": "the inbox", "email": "an email", "slack": "Slack", "discord": "Discord", "terminal": "the terminal"}


def told(event: Event, spec: Spec | None) -> str:
    """What happened. `spec` is the question's, for its answers in its own words."""
    if isinstance(event, JobChanged | Progressed):
        return _of_job(event)
    if isinstance(event, Answered | Voted | LateAnswered | Defaulted) and spec is not None:
        return _answer(event, spec)
    match event:
        case Asked():
            return f"{event.spec.agent or event.spec.asker.name} asked."
        case Reminded() | Escalated() | Held() | Acknowledged() | Snoozed() | Reassigned():
            return event.sentence
        case VoteVoided():
            return voided_sentence(event.name)
        case AskedBack():
            return f"{decider_words(event.comment.author)} asked back: {event.comment.text}"
        case Commented():
            return f"{decider_words(event.comment.author)}: {event.comment.text}"
        case Expired():
            return "The deadline passed; nothing was decided."
        case Withdrawn():
            why = f": {event.reason}" if event.reason else "."
            return f"{decider_words(event.by)} withdrew it{why}"
        case Resumed():
            return "Nobody replied in time, so the clock runs again."
        case Delivered() | DeliveryFailed() | Undeliverable():
            return _delivery(event)
        case _:
            return type(event).__name__


def _answer(event: Answered | Voted | LateAnswered | Defaulted, spec: Spec) -> str:
    if isinstance(event, Voted):
        vote = event.vote
        words = shown(answer_words(spec.shape, vote.answer))
        return f"{decider_words(vote.by)} said {words}; more are needed.{_because(vote.answer.text)}"
    said = event.answer
    words = shown(answer_words(spec.shape, said))
    if isinstance(event, Defaulted):
        return f"The deadline passed, so the default {words} stands."
    if isinstance(event, LateAnswered):
        return f"{decider_words(event.by)} sent {words} on as a late answer.{_because(said.text)}"
    who = names_of([decider_words(decider) for decider in event.deciders or (event.by,)])
    return f"{who} answered {words}.{_because(said.text)}"


def _because(text: str | None) -> str:
    return f" Reason: {text}" if text else ""


def _delivery(event: Delivered | DeliveryFailed | Undeliverable) -> str:
    where = _where(event.delivery)
    why = f": {event.delivery.why}" if event.delivery.why else "."
    match event:
        case Delivered():
            return f"Shown in {where}."
        case DeliveryFailed(next_step=None):
            return f"Could not be shown in {where}{why}"
        case DeliveryFailed():
            return f"Could not be shown in {where}; the next place of its route is tried{why}"
        case _:
            return f"Could not be shown in {where}, and there is nowhere else to go but the inbox{why}"


def _where(delivery: DeliveryRecord) -> str:
    place = _PLACES.get(delivery.surface, delivery.surface)
    return f"{place} ({delivery.address})" if delivery.address and delivery.surface != "terminal" else place


def _of_job(event: JobChanged | Progressed) -> str:
    if isinstance(event, Progressed):
        return event.text
    after = event.after
    if event.before is None and not after.is_waiting:
        return "The job began."
    why = f": {after.block_reason}" if after.block_reason else "."
    return f"The job is {after.status.replace('_', ' ')}{why}"
