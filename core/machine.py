"""Every rule about a question's status lives in this file.

Law 1. `decide` judges and changes nothing; `evolve` changes and judges nothing. Both are pure: time is an argument.
Law 2. Time speaks first. Whatever a deadline, a bounded pause or the end of the job has already brought about is
       settled before the command is looked at, so an answer that comes after the deadline but before the sweep
       finds a closed question.
Law 3. A command leads only where TRANSITIONS says. A command that has no entry for a status is refused.
Law 4. Silence is never consent: a deadline leads to EXPIRED, and only a person's command leads to ANSWERED.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias, assert_never

from core import job as jobs
from core.answers import AnswerValue, Invalid, fit
from core.commands import (
    Answer,
    Ask,
    QuestionCommand,
    RecordDelivery,
    Remark,
    Tick,
    Withdraw,
)
from core.deadlines import deadline_after, next_due, pause, resumed_deadline
from core.digests import digest_problem, edited_digest
from core.events import (
    Answered,
    Asked,
    AskedBack,
    Commented,
    Defaulted,
    Delivered,
    Event,
    Expired,
    JobChanged,
    LateAnswered,
    Progressed,
    QuestionEvent,
    Resumed,
    Undeliverable,
    Withdrawn,
)
from core.job import Job
from core.kinds import DefaultRule, JobStatus
from core.people import Actor
from core.policies import objection
from core.question import (
    Comment,
    Decider,
    DeliveryState,
    LateAnswer,
    Outcome,
    OutcomeKind,
    Question,
    Status,
    person_decider,
)
from core.refusals import Reason
from core.wording import (
    closed_sentence,
    conflict_sentence,
    ended_sentence,
    expired_in_job,
    job_ended_reason,
    late_offer,
    no_job,
    no_question,
)

TRANSITIONS: Mapping[Status | None, Mapping[type, frozenset[Status]]] = {
    None: {Ask: frozenset({Status.OPEN})},
    Status.OPEN: {
        Answer: frozenset({Status.ANSWERED}),
        Remark: frozenset({Status.OPEN}),
        Withdraw: frozenset({Status.WITHDRAWN}),
        RecordDelivery: frozenset({Status.OPEN}),
        Tick: frozenset({Status.OPEN, Status.EXPIRED, Status.WITHDRAWN}),
    },
    Status.ANSWERED: {
        RecordDelivery: frozenset({Status.ANSWERED}),
        Tick: frozenset({Status.ANSWERED}),
    },
    Status.EXPIRED: {
        Answer: frozenset({Status.EXPIRED}),  # as a late answer, which decides nothing
        RecordDelivery: frozenset({Status.EXPIRED}),
        Tick: frozenset({Status.EXPIRED}),
    },
    Status.WITHDRAWN: {
        Withdraw: frozenset({Status.WITHDRAWN}),
        RecordDelivery: frozenset({Status.WITHDRAWN}),
        Tick: frozenset({Status.WITHDRAWN}),
    },
}

MAX_COMMENTS = 200
MAX_LATE_ANSWERS = 50


@dataclass(frozen=True, slots=True)
class Case:
    """What a decision looks at: a question and the job it may hold. Either may not exist yet."""

    question: Question | None = None
    job: Job | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """The command was refused; `events` is what time had already brought about, and it is kept."""

    reason: Reason
    sentence: str
    events: tuple[Event, ...] = ()
    pointer: str = ""


Decision: TypeAlias = Accepted | Refused


def decide(case: Case, command: QuestionCommand, now: datetime) -> Decision:
    elapsed = elapse(case, now)
    decision = _judge(apply(case, elapsed), command, now)
    return replace(decision, events=elapsed + decision.events)


def elapse(case: Case, now: datetime) -> tuple[Event, ...]:
    """What time and the job's end have brought about by themselves."""
    question = case.question
    if question is None or not question.is_open:
        return ()
    if case.job is not None and case.job.has_ended:
        owner = Decider("asker", case.job.owner)
        return (Withdrawn(now, owner, job_ended_reason(case.job)),)
    due = next_due(question)
    if due is None or now < due:
        return ()
    if question.pause is not None:
        resumed = Resumed(now)
        return (resumed, *elapse(apply(case, (resumed,)), now))
    # The second half holds even for a question that no entrance could have let in: silence never approves.
    if question.spec.default is not None and question.spec.rule.default is not DefaultRule.FORBIDDEN:
        return (Defaulted(now, question.spec.default), *_released(case, now))
    return (Expired(now), *_job_after_expiry(case, now))


def _judge(case: Case, command: QuestionCommand, now: datetime) -> Decision:
    question = case.question
    if isinstance(command, Ask):
        if question is not None:
            return Refused(Reason.CONFLICT_OPEN, f"There is already a question {question.id}.")
        return _ask(case, command, now)
    if question is None:
        return Refused(Reason.QUESTION_NOT_FOUND, no_question(command.question_id))
    if type(command) not in TRANSITIONS[question.status]:
        return _closed(question)
    match command:
        case Answer():
            return _answer(case, question, command, now)
        case Remark():
            return _remark(question, command, now)
        case Withdraw():
            return _withdraw(case, question, command, now)
        case RecordDelivery():
            posted = command.delivery.state is DeliveryState.POSTED
            return Accepted(((Delivered if posted else Undeliverable)(now, command.delivery),))
        case Tick():
            return Accepted(())
        case _:
            assert_never(command)


def _closed(question: Question) -> Refused:
    reason = {
        Status.ANSWERED: Reason.ALREADY_ANSWERED,
        Status.EXPIRED: Reason.EXPIRED,
        Status.WITHDRAWN: Reason.WITHDRAWN,
    }[question.status]
    return Refused(reason, closed_sentence(question))


def _ask(case: Case, command: Ask, now: datetime) -> Decision:
    spec, job = command.spec, case.job
    asked = Asked(now, command.question_id, spec)
    if spec.job_id is None:
        return Accepted((asked,))
    if job is None:
        job = jobs.begin(spec.workspace_id, spec.job_id, spec.asker.principal, now)
    elif job.owner != spec.asker.principal and not command.by_admin:
        return Refused(Reason.JOB_NOT_FOUND, no_job(spec.job_id))
    if job.has_ended:
        return Refused(Reason.JOB_ENDED, ended_sentence(job))
    holds_as = spec.rule.holds_job_as
    if holds_as is None:
        # The job is written even so: a job that ends at this very moment must not gain an open question.
        return Accepted((asked, job_changed(case.job, replace(job, updated_at=now), now)))
    if jobs.is_full(job):
        return Refused(Reason.CONFLICT_OPEN, conflict_sentence(job))
    held = jobs.hold(job, evolve(None, asked), holds_as, now)
    return Accepted((asked, job_changed(case.job, held, now)))


def _answer(case: Case, question: Question, command: Answer, now: datetime) -> Decision:
    spec = question.spec
    forbidden = objection(spec.policy, spec.asker.principal, command.actor)
    if forbidden is not None or command.actor.person is None:
        return Refused(Reason.NOT_A_RESPONDER, forbidden or "Only people answer questions.")
    if not question.is_open and not command.late:
        return Refused(Reason.EXPIRED, late_offer(question))
    answer = fit(spec.shape, command.raw)
    if isinstance(answer, Invalid):
        return Refused(Reason.INVALID_ANSWER, answer.sentence, pointer=answer.pointer)
    unclear = digest_problem(answer.arguments) if answer.arguments is not None else None
    if unclear is not None:
        return Refused(Reason.INVALID_ANSWER, unclear, pointer="/response/arguments")
    person = command.actor.person
    by = person_decider(person.id, person.name, command.actor.surface)
    if not question.is_open:
        if len(question.late_answers) >= MAX_LATE_ANSWERS:
            return Refused(Reason.TOO_MANY_COMMENTS, "This question has its fill of late answers.")
        return Accepted((LateAnswered(now, answer, by),))
    answered = Answered(now, answer, by, _decided_digest(question, answer), command.claimed_by)
    return Accepted((answered, *_released(case, now)))


def _decided_digest(question: Question, answer: AnswerValue) -> str | None:
    action = question.spec.action
    if action is None or answer.arguments is None:
        return None
    return edited_digest(action, answer.arguments)


def _remark(question: Question, command: Remark, now: datetime) -> Decision:
    actor, spec = command.actor, question.spec
    is_asker = actor.principal == spec.asker.principal
    if not is_asker and objection(spec.policy, spec.asker.principal, actor) is not None:
        return Refused(Reason.NOT_A_RESPONDER, "Only the asker and those who may answer can comment here.")
    unblocks = is_asker and question.pause is not None  # however long the thread, the clock must run again
    if len(question.comments) >= MAX_COMMENTS and not unblocks:
        return Refused(Reason.TOO_MANY_COMMENTS, f"This question already has {MAX_COMMENTS} comments.")
    author = Decider("asker" if is_asker else "person", _actor_id(actor), actor.name, actor.surface)
    asks_back = not is_asker and command.asks_back is not False
    comment = Comment(author, command.text, now, asks_back)
    if asks_back:
        return Accepted((AskedBack(now, comment),))
    return Accepted((Commented(now, comment, resumes=is_asker and question.pause is not None),))


def _withdraw(case: Case, question: Question, command: Withdraw, now: datetime) -> Decision:
    actor = command.actor
    is_asker = actor.principal == question.spec.asker.principal
    if not is_asker and not actor.is_admin:
        return Refused(Reason.NOT_ALLOWED, "Only the asker or an admin can withdraw this question.")
    if not question.is_open:
        return Accepted(())
    by = Decider("asker" if is_asker else "person", _actor_id(actor), actor.name, actor.surface)
    return Accepted((Withdrawn(now, by, command.reason), *_released(case, now)))


def _actor_id(actor: Actor) -> str:
    return actor.person.id if actor.person is not None else actor.principal


def _released(case: Case, now: datetime) -> tuple[JobChanged, ...]:
    """The job goes on once the question that held it has settled."""
    held_as = _holds_as(case)
    if case.job is None or case.question is None or held_as is None:
        return ()
    released = jobs.release(case.job, case.question.id, held_as, now)
    return () if released is case.job else (job_changed(case.job, released, now),)


def _job_after_expiry(case: Case, now: datetime) -> tuple[JobChanged, ...]:
    held_as = _holds_as(case)
    if case.job is None or case.question is None or held_as is None:
        return ()
    after = jobs.expire(case.job, case.question.id, held_as, expired_in_job(case.question.id), now)
    return (job_changed(case.job, after, now),)


def _holds_as(case: Case) -> JobStatus | None:
    return case.question.spec.rule.holds_job_as if case.question is not None else None


def job_changed(before: Job | None, after: Job, now: datetime) -> JobChanged:
    return JobChanged(now, before, replace(after, version=after.version + 1))


def apply(case: Case, events: tuple[Event, ...]) -> Case:
    """The case after these events."""
    for event in events:
        if isinstance(event, (JobChanged, Progressed)):
            case = replace(case, job=event.after)
        else:
            case = replace(case, question=evolve(case.question, event))
    return case


def evolve(question: Question | None, event: QuestionEvent) -> Question:
    """The question after one event. Every event counts one version."""
    if isinstance(event, Asked):
        limit = event.spec.time_limit
        deadline = None if limit is None else deadline_after(event.at, limit)
        return Question(event.question_id, event.spec, event.at, 1, Status.OPEN, deadline=deadline)
    if question is None:
        raise ValueError(f"{type(event).__name__} cannot come before Asked")
    question = replace(question, version=question.version + 1)
    match event:
        case Answered():
            outcome = Outcome(
                OutcomeKind.ANSWERED,
                event.by,
                event.at,
                answer=event.answer,
                deciders=(event.by,),
                reason=event.answer.text,
                decided_digest=event.decided_digest,
                claimed_by=event.claimed_by,
            )
            return _ended(question, Status.ANSWERED, outcome)
        case Defaulted():
            by = Decider("default")
            return _ended(question, Status.EXPIRED, Outcome(OutcomeKind.DEFAULTED, by, event.at, answer=event.answer))
        case Expired():
            outcome = Outcome(OutcomeKind.EXPIRED, Decider("deadline"), event.at)
            return _ended(question, Status.EXPIRED, outcome)
        case Withdrawn():
            outcome = Outcome(OutcomeKind.WITHDRAWN, event.by, event.at, reason=event.reason)
            return _ended(question, Status.WITHDRAWN, outcome)
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
        case _:
            assert_never(event)


def _ended(question: Question, status: Status, outcome: Outcome) -> Question:
    return replace(question, status=status, outcome=outcome, pause=None)


def _running(question: Question, now: datetime) -> Question:
    if question.pause is None:
        return question
    return replace(question, deadline=resumed_deadline(question.pause, now), pause=None)
