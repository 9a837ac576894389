"""Every rule about a question's status lives in this file.

Law 1. `decide` judges and changes nothing; `evolve` changes and judges nothing. Both are pure: time and the people as
       they are now are arguments.
Law 2. Time speaks first. Whatever a deadline, a step of the ladder, a bounded pause or the end of the job has already
       brought about is settled before the command is looked at, so an answer that comes after the deadline but before
       the sweep finds a closed question.
Law 3. A command leads only where TRANSITIONS says. A command that has no entry for a status is refused.
Law 4. Silence is never consent: a deadline leads to EXPIRED, and only a person's command leads to ANSWERED.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from core import job as jobs
from core.commands import (
    Acknowledge,
    Answer,
    Ask,
    QuestionCommand,
    Reassign,
    RecordDelivery,
    Remark,
    Remind,
    Snooze,
    Tick,
    Withdraw,
)
from core.deadlines import next_due
from core.deciding import judge_answer
from core.decisions import Accepted, Case, Decision, Refused
from core.delivering import judge_delivery
from core.events import (
    Asked,
    AskedBack,
    Commented,
    Defaulted,
    Event,
    Expired,
    JobChanged,
    Progressed,
    Resumed,
    Withdrawn,
)
from core.evolving import evolve
from core.job import Job
from core.kinds import DefaultRule, JobStatus
from core.ladder import due_step, hold, spare, take
from core.nudging import steer
from core.people import Actor
from core.policies import objection
from core.question import Comment, Decider, Question, Status
from core.refusals import Reason
from core.roster import Roster
from core.wording import (
    closed_sentence,
    conflict_sentence,
    ended_sentence,
    expired_in_job,
    job_ended_reason,
    no_job,
    no_question,
)

TRANSITIONS: Mapping[Status | None, Mapping[type, frozenset[Status]]] = {
    None: {Ask: frozenset({Status.OPEN})},
    Status.OPEN: {
        Answer: frozenset({Status.OPEN, Status.ANSWERED}),  # open while it takes more than one
        Remark: frozenset({Status.OPEN}),
        Withdraw: frozenset({Status.WITHDRAWN}),
        Acknowledge: frozenset({Status.OPEN}),
        Snooze: frozenset({Status.OPEN}),
        Remind: frozenset({Status.OPEN}),
        Reassign: frozenset({Status.OPEN}),
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


def decide(case: Case, command: QuestionCommand, now: datetime, roster: Roster) -> Decision:
    elapsed = elapse(case, now, roster)
    decision = _judge(apply(case, elapsed), command, now, roster)
    return replace(decision, events=elapsed + decision.events)


def elapse(case: Case, now: datetime, roster: Roster) -> tuple[Event, ...]:
    """What time and the job's end have brought about by themselves, one thing after the other."""
    happened: tuple[Event, ...] = ()
    while events := _elapse_once(case, now, roster):
        happened, case = happened + events, apply(case, events)
    return happened


def _elapse_once(case: Case, now: datetime, roster: Roster) -> tuple[Event, ...]:
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
        return (Resumed(now),)
    if question.deadline is not None and question.deadline <= now:
        return _at_deadline(case, question, now)
    planned = due_step(question, now)
    if planned is None:
        return ()
    held = hold(question, planned, roster, now, now) or spare(question, planned, roster, now)
    return (held,) if held is not None else (take(question, planned, roster, now),)


def _at_deadline(case: Case, question: Question, now: datetime) -> tuple[Event, ...]:
    # The second half holds even for a question that no entrance could have let in: silence never approves.
    if question.spec.default is not None and question.spec.rule.default is not DefaultRule.FORBIDDEN:
        return (Defaulted(now, question.spec.default), *_released(case, now))
    return (Expired(now), *_job_after_expiry(case, now))


def _judge(case: Case, command: QuestionCommand, now: datetime, roster: Roster) -> Decision:
    question = case.question
    if isinstance(command, Ask):
        if question is not None:
            return Refused(Reason.CONFLICT_OPEN, f"There is already a question {question.id}.")
        return _ask(case, command, now, roster)
    if question is None:
        return Refused(Reason.QUESTION_NOT_FOUND, no_question(command.question_id))
    if type(command) not in TRANSITIONS[question.status]:
        return _closed(question)
    match command:
        case Answer():
            decision = judge_answer(question, command, now, roster)
            return _releasing(case, decision, now)
        case Remark():
            return _remark(question, command, now, roster)
        case Withdraw():
            return _withdraw(case, question, command, now)
        case RecordDelivery():
            return Accepted((judge_delivery(question, command.delivery, now),))
        case Tick():
            return Accepted(())
        case _:
            return steer(question, command, now, roster)


def _releasing(case: Case, decision: Decision, now: datetime) -> Decision:
    """The decision, and what it means for the job if it settles the question."""
    after = apply(case, decision.events)
    if after.question is None or after.question.is_open or (case.question is not None and not case.question.is_open):
        return decision
    return replace(decision, events=decision.events + _released(case, now))


def _closed(question: Question) -> Refused:
    reason = {
        Status.ANSWERED: Reason.ALREADY_ANSWERED,
        Status.EXPIRED: Reason.EXPIRED,
        Status.WITHDRAWN: Reason.WITHDRAWN,
    }[question.status]
    return Refused(reason, closed_sentence(question))


def _ask(case: Case, command: Ask, now: datetime, roster: Roster) -> Decision:
    spec, job = command.spec, case.job
    asked = Asked(now, command.question_id, spec)
    told = (asked, *_foreseen(evolve(None, asked), now, roster))
    if spec.job_id is None:
        return Accepted(told)
    if job is None:
        job = jobs.begin(spec.workspace_id, spec.job_id, spec.asker.principal, now)
    elif job.owner != spec.asker.principal and not command.by_admin:
        return Refused(Reason.JOB_NOT_FOUND, no_job(spec.job_id))
    if job.has_ended:
        return Refused(Reason.JOB_ENDED, ended_sentence(job))
    holds_as = spec.rule.holds_job_as
    if holds_as is None:
        # The job is written even so: a job that ends at this very moment must not gain an open question.
        return Accepted((*told, job_changed(case.job, replace(job, updated_at=now), now)))
    if jobs.is_full(job):
        return Refused(Reason.CONFLICT_OPEN, conflict_sentence(job))
    held = jobs.hold(job, evolve(None, asked), holds_as, now)
    return Accepted((*told, job_changed(case.job, held, now)))


def _foreseen(question: Question, now: datetime, roster: Roster) -> tuple[Event, ...]:
    """The steps that will wait for working hours, told at once so that the deadline the asker hears is the real one."""
    held: list[Event] = []
    for planned in question.agenda:
        waits = hold(question, planned, roster, planned.due, now)
        if waits is not None:
            held.append(waits)
            question = evolve(question, waits)
    return tuple(held)


def _remark(question: Question, command: Remark, now: datetime, roster: Roster) -> Decision:
    actor, spec = command.actor, question.spec
    is_asker = actor.principal == spec.asker.principal
    if not is_asker and objection(question.policy, spec.asker.principal, actor, roster, now) is not None:
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
