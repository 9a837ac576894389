"""Silence is never consent: what a deadline does, also when nobody has swept yet.

Every question here was asked at 12:00 UTC on 1 March 2026 and, unless it says otherwise, has half an hour.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.answers import AnswerValue, ApprovalShape
from core.commands import Answer
from core.decisions import Accepted, Case, Refused
from core.events import (
    Answered,
    Defaulted,
    Expired,
    JobChanged,
)
from core.job import OnTimeout
from core.kinds import JobStatus, Kind
from core.machine import TRANSITIONS
from core.question import (
    Decider,
    Outcome,
    OutcomeKind,
    Status,
)
from core.refusals import Reason
from tests.support.builders import (
    BY_DANA,
    HELD,
    IN_JOB,
    POSTGRES,
    a_job,
    after,
    answer,
    decide,
    expired,
    happened,
    job_of,
    opened,
    question_of,
    remark,
    spec,
    tick,
    withdraw,
)

DEADLINE = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)


# Silence


def test_nothing_happens_before_the_deadline() -> None:
    assert decide(Case(opened()), tick(), DEADLINE - MOMENT) == Accepted(())


def test_at_the_deadline_the_question_expires() -> None:
    assert decide(Case(opened()), tick(), DEADLINE) == Accepted((Expired(DEADLINE),))


def test_an_approval_expires_at_its_deadline() -> None:
    case = Case(opened(spec(Kind.APPROVAL, ApprovalShape())))

    assert decide(case, tick(), after(15)) == Accepted((Expired(after(15)),))


def test_an_expired_approval_has_no_answer_and_was_decided_by_the_deadline() -> None:
    made = spec(Kind.APPROVAL, ApprovalShape())

    case = happened(Case(opened(made)), (tick(), after(15)))

    outcome = Outcome(OutcomeKind.EXPIRED, Decider("deadline"), after(15), answer=None, deciders=())
    assert case.question == replace(opened(made), version=2, status=Status.EXPIRED, outcome=outcome)


def test_at_the_deadline_the_default_stands() -> None:
    case = Case(opened(spec(default=POSTGRES)))

    assert decide(case, tick(), DEADLINE) == Accepted((Defaulted(DEADLINE, POSTGRES),))


def test_a_default_never_passes_for_a_persons_answer() -> None:
    made = spec(default=POSTGRES)

    case = happened(Case(opened(made)), (tick(), DEADLINE))

    outcome = Outcome(OutcomeKind.DEFAULTED, Decider("default"), DEADLINE, answer=POSTGRES, deciders=())
    assert case.question == replace(opened(made), version=2, status=Status.EXPIRED, outcome=outcome)


def test_a_question_without_limit_stays_open_for_ever() -> None:
    case = Case(opened(spec(Kind.NON_BLOCKING, time_limit=None, default=POSTGRES)))

    assert decide(case, tick(), after(hours=24 * 365)) == Accepted(())


def test_a_closed_question_does_not_expire_again() -> None:
    assert decide(Case(expired()), tick(), after(hours=48)) == Accepted(())


def test_only_an_answer_leads_to_answered() -> None:
    leading = {
        (status, command)
        for status, commands in TRANSITIONS.items()
        for command, ends in commands.items()
        if Status.ANSWERED in ends and status is not Status.ANSWERED
    }

    assert leading == {(Status.OPEN, Answer)}


# Silence and the job


def test_expiry_fails_the_job() -> None:
    case = happened(Case(opened(IN_JOB), HELD), (tick(), DEADLINE))

    assert case.job == a_job(
        status=JobStatus.FAILED,
        block_reason="question q_00000000000000000000000001 expired without an answer",
        closing=True,
        updated_at=DEADLINE,
        version=2,
    )


def test_expiry_blocks_the_job_where_its_policy_says_so() -> None:
    case = happened(Case(opened(IN_JOB), replace(HELD, on_timeout=OnTimeout.BLOCK)), (tick(), DEADLINE))

    assert case.job == a_job(
        status=JobStatus.BLOCKED,
        block_reason="question q_00000000000000000000000001 expired without an answer",
        on_timeout=OnTimeout.BLOCK,
        updated_at=DEADLINE,
        version=2,
    )


@pytest.mark.parametrize("rule", list(OnTimeout))
def test_a_default_lets_the_job_go_on_whatever_its_policy(rule: OnTimeout) -> None:
    made = spec(job="nightly", default=POSTGRES)

    case = happened(Case(opened(made), replace(HELD, on_timeout=rule)), (tick(), DEADLINE))

    assert (question_of(case).status, job_of(case).status) == (Status.EXPIRED, JobStatus.RUNNING)


@pytest.mark.parametrize("rule", list(OnTimeout))
def test_expiry_of_a_question_that_holds_nothing_leaves_the_job_alone(rule: OnTimeout) -> None:
    made = spec(Kind.CLARIFYING, job="nightly")

    decision = decide(Case(opened(made), a_job(on_timeout=rule)), tick(), DEADLINE)

    assert decision == Accepted((Expired(DEADLINE),))


# The deadline has passed, but nobody has swept yet


def test_an_answer_a_moment_before_the_deadline_counts() -> None:
    decision = decide(Case(opened()), answer(), DEADLINE - MOMENT)

    assert decision == Accepted((Answered(DEADLINE - MOMENT, POSTGRES, BY_DANA),))


def test_an_answer_at_the_deadline_finds_it_expired() -> None:
    assert decide(Case(opened()), answer(), DEADLINE) == Refused(
        Reason.EXPIRED,
        "This question is closed. Nobody answered by 2026-03-01 12:30:00 UTC; nothing was decided. "
        "You can still send your answer on as a late answer.",
        events=(Expired(DEADLINE),),
    )


def test_an_answer_after_the_deadline_finds_the_default_standing() -> None:
    case = Case(opened(spec(default=AnswerValue("SQLite"))))

    assert decide(case, answer(), after(31)) == Refused(
        Reason.EXPIRED,
        "This question is closed. Nobody answered by 2026-03-01 12:31:00 UTC, so the default “SQLite” stands. "
        "You can still send your answer on as a late answer.",
        events=(Defaulted(after(31), AnswerValue("SQLite")),),
    )


def test_an_approval_given_after_the_deadline_is_no_approval() -> None:
    case = Case(opened(spec(Kind.APPROVAL, ApprovalShape())))

    after_it = happened(case, (answer(value=True), after(16)))

    outcome = question_of(after_it).outcome
    assert outcome is not None
    assert (outcome.kind, outcome.answer) == (OutcomeKind.EXPIRED, None)


def test_what_the_deadline_did_to_the_job_is_kept_though_the_answer_is_refused() -> None:
    decision = decide(Case(opened(IN_JOB), HELD), answer(), DEADLINE)

    assert isinstance(decision, Refused)
    assert [type(event) for event in decision.events] == [Expired, JobChanged]


def test_a_withdrawal_after_the_deadline_finds_it_expired() -> None:
    assert decide(Case(opened()), withdraw(), after(31)) == Refused(
        Reason.EXPIRED,
        "This question is closed. Nobody answered by 2026-03-01 12:31:00 UTC; nothing was decided.",
        events=(Expired(after(31)),),
    )


def test_a_remark_after_the_deadline_finds_it_expired() -> None:
    assert decide(Case(opened()), remark(), after(31)) == Refused(
        Reason.EXPIRED,
        "This question is closed. Nobody answered by 2026-03-01 12:31:00 UTC; nothing was decided.",
        events=(Expired(after(31)),),
    )
