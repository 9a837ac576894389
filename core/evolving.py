"""What each event makes of a question. It changes and judges nothing; every event counts one version."""

from dataclasses import replace
from datetime import datetime
from typing import assert_never

from core.deadlines import deadline_after, pause, resumed_deadline
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
    Expired,
    Held,
    LateAnswered,
    QuestionEvent,
    Reassigned,
    Reminded,
    Resumed,
    Snoozed,
    Undeliverable,
    Voted,
    VoteVoided,
    Withdrawn,
)
from core.ladder import not_before, plan, shifted, superseded
from core.places import Target
from core.question import (
    Acknowledgement,
    Decider,
    LateAnswer,
    Milestone,
    Outcome,
    OutcomeKind,
    Planned,
    Question,
    Status,
    Vote,
)
from core.wording import voided_sentence

#: The story of a question is told on every surface; more than this nobody reads.
_LONGEST_STORY = 50


def evolve(question: Question | None, event: QuestionEvent) -> Question:
    """The question after one event."""
    if isinstance(event, Asked):
        return _asked(event)
    if question is None:
        raise ValueError(f"{type(event).__name__} cannot come before Asked")
    question = replace(question, version=question.version + 1)
    match event:
        case Answered() | Defaulted() | Expired() | Withdrawn():
            return _ended(question, event)
        case AskedBack():
            paused = question.pause or pause(question, event.at)
            return replace(question, comments=(*question.comments, event.comment), pause=paused, deadline=None)
        case Commented():
            commented = replace(question, comments=(*question.comments, event.comment))
            return _running(commented, event.at) if event.resumes else commented
        case Resumed():
            return _running(question, event.at)
        case LateAnswered():
            late = LateAnswer(event.answer, event.by, event.at)
            return replace(question, late_answers=(*question.late_answers, late))
        case Delivered() | Undeliverable():
            return replace(question, deliveries=(*question.deliveries, event.delivery))
        case DeliveryFailed():
            return _rerouted(replace(question, deliveries=(*question.deliveries, event.delivery)), event.next_step)
        case Voted():
            others = tuple(vote for vote in question.votes if vote.by.id != event.vote.by.id)
            return replace(question, votes=(*others, event.vote), counted=event.counted)
        case VoteVoided():
            votes = tuple(vote for vote in question.votes if vote.by.id != event.person_id)
            left = replace(question, votes=votes, counted=event.counted)
            return _told(left, event.at, voided_sentence(event.name))
        case _:
            return _on_ladder(question, event)


def _on_ladder(
    question: Question, event: Reminded | Escalated | Held | Acknowledged | Snoozed | Reassigned
) -> Question:
    question = _told(question, event.at, event.sentence)
    match event:
        case Reminded():
            # Somebody's own nudge replaces no step: while the clock stands, what looks ripe is not.
            gone = superseded(question, event.at) | {event.step} if event.step is not None else set()
            return replace(
                question,
                agenda=tuple(planned for planned in question.agenda if planned.step not in gone),
                nudged_at=event.at,
                targets=_with_targets(question.targets, event.targets),
            )
        case Escalated():
            joined = tuple((event.joins, person) for person in event.people) if event.joins is not None else ()
            return replace(
                question,
                agenda=tuple(planned for planned in question.agenda if planned.step != event.step),
                targets=_with_targets(question.targets, event.targets),
                asked=tuple(dict.fromkeys((*question.asked, *event.people))),
                joined=(*question.joined, *joined),
            )
        case Held():
            later = event.extended - question.extended
            deadline = None if question.deadline is None else question.deadline + later
            agenda = tuple(_held(planned, event) for planned in question.agenda)
            return replace(question, agenda=agenda, deadline=deadline, extended=event.extended)
        case Acknowledged():
            acknowledged = Acknowledgement(event.by, event.at, event.until)
            agenda = not_before(question.agenda, _by_its_clock(question, event.until, event.at))
            return replace(question, agenda=agenda, acknowledged=acknowledged)
        case Snoozed():
            agenda = not_before(question.agenda, _by_its_clock(question, event.until, event.at))
            return replace(question, agenda=agenda)
        case Reassigned():
            return replace(
                question,
                asked=event.people,
                targets=_with_targets(question.targets, event.targets),
                acknowledged=None,
            )
        case _:
            assert_never(event)


def _rerouted(question: Question, next_step: int | None) -> Question:
    if next_step is None:
        return question
    targets = _with_targets(question.targets, question.spec.route[next_step])
    return replace(question, route_step=next_step, targets=targets)


def _asked(event: Asked) -> Question:
    spec = event.spec
    deadline = None if spec.time_limit is None else deadline_after(event.at, spec.time_limit)
    first = spec.route[0] if spec.route else ()
    return Question(
        event.question_id,
        spec,
        event.at,
        1,
        Status.OPEN,
        deadline=deadline,
        targets=_with_targets(spec.targets, first),
        asked=spec.asked,
        agenda=plan(spec, event.at),
    )


def _with_targets(known: tuple[Target, ...], more: tuple[Target, ...]) -> tuple[Target, ...]:
    return tuple(dict.fromkeys((*known, *more))) if more else known


def _held(planned: Planned, event: Held) -> Planned:
    if planned.step != event.step:
        return planned
    longer = event.until - planned.due
    if event.looking:
        return replace(planned, due=event.until, spared=planned.spared + longer)
    return replace(planned, due=event.until, held=planned.held + longer)


def _told(question: Question, at: datetime, sentence: str) -> Question:
    return replace(question, story=(*question.story, Milestone(at, sentence))[-_LONGEST_STORY:])


def _ended(question: Question, event: Answered | Defaulted | Expired | Withdrawn) -> Question:
    status, outcome = _ending(event)
    ended = replace(question, status=status, outcome=outcome, pause=None, agenda=())
    if not isinstance(event, Answered) or not question.votes:
        return ended
    others = tuple(vote for vote in question.votes if vote.by.id != event.by.id)
    last = Vote(event.by, event.answer, event.at, event.decided_digest, event.claimed_by)
    return replace(ended, votes=(*others, last), counted=event.counted)


def _ending(event: Answered | Defaulted | Expired | Withdrawn) -> tuple[Status, Outcome]:
    match event:
        case Answered():
            return Status.ANSWERED, Outcome(
                OutcomeKind.ANSWERED,
                event.by,
                event.at,
                answer=event.answer,
                deciders=event.deciders or (event.by,),
                reason=event.answer.text,
                decided_digest=event.decided_digest,
                claimed_by=event.claimed_by,
            )
        case Defaulted():
            by = Decider("default")
            return Status.EXPIRED, Outcome(OutcomeKind.DEFAULTED, by, event.at, answer=event.answer)
        case Expired():
            return Status.EXPIRED, Outcome(OutcomeKind.EXPIRED, Decider("deadline"), event.at)
        case Withdrawn():
            return Status.WITHDRAWN, Outcome(OutcomeKind.WITHDRAWN, event.by, event.at, reason=event.reason)


def _by_its_clock(question: Question, until: datetime, now: datetime) -> datetime:
    """Where the agenda stands still, the place of an instant in it: resuming moves it on by the whole pause."""
    return until if question.pause is None else until - (now - question.pause.since)


def _running(question: Question, now: datetime) -> Question:
    if question.pause is None:
        return question
    stood = min(now, question.pause.until) - question.pause.since
    deadline = resumed_deadline(question.pause, now)
    return replace(question, deadline=deadline, pause=None, agenda=shifted(question.agenda, stood))
