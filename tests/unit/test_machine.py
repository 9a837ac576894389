"""Asking and withdrawing, the end of the job, and delivery: the plain steps of a question and its job.

Every question here was asked at 12:00 UTC on 1 March 2026 and, unless it says otherwise, has half an hour.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.decisions import Accepted, Case, Refused
from core.events import (
    Asked,
    Delivered,
    JobChanged,
    Undeliverable,
    Withdrawn,
)
from core.evolving import evolve
from core.ids import JobId, Principal
from core.job import Holding, Job
from core.kinds import JobStatus, Kind
from core.people import Actor
from core.places import Target
from core.question import (
    Decider,
    DeliveryRecord,
    DeliveryState,
    Outcome,
    OutcomeKind,
    Question,
    Status,
)
from core.refusals import Reason
from tests.support.builders import (
    BY_ASKER,
    DANA,
    EVE,
    HELD,
    IN_JOB,
    NOW,
    OTHER_AGENT,
    WORKSPACE,
    a_job,
    acting,
    after,
    answer,
    answered,
    ask,
    decide,
    happened,
    opened,
    question_id,
    question_of,
    record_delivery,
    remark,
    spec,
    tick,
    withdraw,
    withdrawn,
)

DEADLINE = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


# Asking


def test_asking_opens_the_question() -> None:
    assert decide(Case(), ask(), NOW) == Accepted((Asked(NOW, question_id(1), spec()),))


def test_an_asked_question_is_open_at_version_one_with_its_deadline() -> None:
    question = evolve(None, Asked(NOW, question_id(1), spec()))

    assert question == Question(question_id(1), spec(), NOW, 1, Status.OPEN, deadline=DEADLINE)


def test_a_deadline_is_rounded_up_to_the_millisecond() -> None:
    made = spec(time_limit=timedelta(seconds=1, microseconds=1))

    question = evolve(None, Asked(NOW, question_id(1), made))

    assert question.deadline == datetime(2026, 3, 1, 12, 0, 1, 1_000, tzinfo=UTC)


def test_a_question_without_limit_has_no_deadline() -> None:
    made = spec(Kind.NON_BLOCKING, time_limit=None)

    assert evolve(None, Asked(NOW, question_id(1), made)).deadline is None


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (Kind.BLOCKING, JobStatus.WAITING_FOR_INPUT),
        (Kind.ERROR_RECOVERY, JobStatus.WAITING_FOR_INPUT),
        (Kind.APPROVAL, JobStatus.WAITING_FOR_APPROVAL),
    ],
)
def test_a_holding_question_makes_its_job_wait(kind: Kind, status: JobStatus) -> None:
    made = spec(kind, job="nightly")

    decision = decide(Case(job=a_job(version=3)), ask(of=made), after(2))

    waiting = a_job(
        status=status,
        resume_status=JobStatus.RUNNING,
        holding=(Holding(question_id(1), status, after(2)),),
        updated_at=after(2),
        version=4,
    )
    assert decision == Accepted(
        (Asked(after(2), question_id(1), made), JobChanged(after(2), a_job(version=3), waiting))
    )


@pytest.mark.parametrize(
    "kind",
    [Kind.NON_BLOCKING, Kind.CLARIFYING, Kind.CONFIRMING, Kind.PREFERENCE, Kind.EDUCATIONAL, Kind.CELEBRATORY],
)
def test_any_other_question_lets_its_job_go_on(kind: Kind) -> None:
    made = spec(kind, job="nightly")

    decision = decide(Case(job=a_job(version=3)), ask(of=made), after(2))

    # The job is written all the same, so that it cannot end unnoticed at this very moment.
    written = a_job(updated_at=after(2), version=4)
    assert decision == Accepted(
        (Asked(after(2), question_id(1), made), JobChanged(after(2), a_job(version=3), written))
    )


def test_a_job_comes_into_being_when_first_named_and_belongs_to_the_asker() -> None:
    case = happened(Case(), (ask(of=IN_JOB), NOW))

    assert case.job == Job(
        workspace_id=WORKSPACE,
        id=JobId("nightly"),
        owner=Principal("agent:builder"),
        created_at=NOW,
        updated_at=NOW,
        status=JobStatus.WAITING_FOR_INPUT,
        resume_status=JobStatus.RUNNING,
        holding=(Holding(question_id(1), JobStatus.WAITING_FOR_INPUT, NOW),),
        version=1,
    )


def test_asking_in_another_agents_job_finds_no_such_job() -> None:
    job = a_job(owner=OTHER_AGENT.principal)

    assert decide(Case(job=job), ask(of=IN_JOB), NOW) == Refused(
        Reason.JOB_NOT_FOUND, "There is no job “nightly”, or it belongs to another agent."
    )


@pytest.mark.parametrize("status", [JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.CANCELLED])
@pytest.mark.parametrize("kind", [Kind.BLOCKING, Kind.NON_BLOCKING])
def test_asking_in_an_ended_job_is_refused(status: JobStatus, kind: Kind) -> None:
    decision = decide(Case(job=a_job(status=status)), ask(of=spec(kind, job="nightly")), NOW)

    assert decision == Refused(
        Reason.JOB_ENDED,
        f"Job “nightly” has ended ({status.value}). Ask in another job, or set this one back to running first.",
    )


def test_a_holding_question_too_many_is_refused_with_the_one_that_holds() -> None:
    case = Case(job=replace(HELD, max_open_holding=1))

    assert decide(case, ask(2, IN_JOB), after(1)) == Refused(
        Reason.CONFLICT_OPEN,
        "Job “nightly” already waits for “q_00000000000000000000000001” and its policy allows no more. "
        "Wait for the answer or cancel it first.",
    )


def test_a_question_that_holds_nothing_may_be_asked_in_a_full_job() -> None:
    case = Case(job=replace(HELD, max_open_holding=1))

    decision = decide(case, ask(2, spec(Kind.PREFERENCE, job="nightly")), after(1))

    assert isinstance(decision, Accepted)


def test_a_job_takes_the_next_question_when_the_first_has_settled() -> None:
    case = happened(Case(job=a_job(max_open_holding=1)), (ask(of=IN_JOB), NOW), (answer(), after(1)))

    decision = decide(Case(job=case.job), ask(2, IN_JOB), after(2))

    assert isinstance(decision, Accepted)


def test_without_a_bound_any_number_of_questions_hold_a_job() -> None:
    decision = decide(Case(job=HELD), ask(2, IN_JOB), after(1))

    assert isinstance(decision, Accepted)


# Withdrawing


def test_the_asker_withdraws_with_a_reason() -> None:
    decision = decide(Case(opened()), withdraw(reason="found it"), after(1))

    assert decision == Accepted((Withdrawn(after(1), BY_ASKER, "found it"),))


def test_a_withdrawn_question_says_who_and_why() -> None:
    question = evolve(opened(), Withdrawn(after(1), BY_ASKER, "found it"))

    outcome = Outcome(OutcomeKind.WITHDRAWN, BY_ASKER, after(1), reason="found it")
    assert question == replace(opened(), version=2, status=Status.WITHDRAWN, outcome=outcome)


def test_an_admin_withdraws_as_a_person() -> None:
    decision = decide(Case(opened()), withdraw(acting(DANA, "slack")), after(1))

    assert decision == Accepted((Withdrawn(after(1), Decider("person", "p_dana", "Dana", "slack")),))


@pytest.mark.parametrize("actor", [OTHER_AGENT, acting(EVE)], ids=["agent", "member"])
@pytest.mark.parametrize("question", [opened(), withdrawn()], ids=["open", "withdrawn"])
def test_nobody_else_withdraws(actor: Actor, question: Question) -> None:
    assert decide(Case(question), withdraw(actor), after(2)) == Refused(
        Reason.NOT_ALLOWED, "Only the asker or an admin can withdraw this question."
    )


def test_withdrawing_again_changes_nothing() -> None:
    assert decide(Case(withdrawn()), withdraw(reason="again"), after(2)) == Accepted(())


def test_an_answered_question_cannot_be_withdrawn() -> None:
    assert decide(Case(answered()), withdraw(), after(2)) == Refused(
        Reason.ALREADY_ANSWERED,
        "This question is closed. Dana (api) answered “PostgreSQL” at 2026-03-01 12:01:00 UTC.",
    )


def test_withdrawing_lets_the_job_go_on() -> None:
    case = happened(Case(opened(IN_JOB), HELD), (withdraw(), after(5)))

    assert case.job == a_job(status=JobStatus.RUNNING, updated_at=after(5), version=2)


def test_withdrawing_ends_the_pause() -> None:
    case = happened(Case(opened()), (remark(), after(10)), (withdraw(), after(20)))

    assert question_of(case).pause is None


# The end of the job


@pytest.mark.parametrize("status", [JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.CANCELLED])
def test_a_job_that_ended_withdraws_its_open_question(status: JobStatus) -> None:
    case = Case(opened(IN_JOB), a_job(status=status, closing=True))

    decision = decide(case, tick(), after(1))

    by = Decider("asker", "agent:builder")
    assert decision == Accepted((Withdrawn(after(1), by, f"job “nightly” ended ({status.value})"),))


def test_an_answer_to_a_question_of_an_ended_job_finds_it_withdrawn() -> None:
    case = Case(opened(IN_JOB), a_job(status=JobStatus.COMPLETED, closing=True))

    assert decide(case, answer(), after(1)) == Refused(
        Reason.WITHDRAWN,
        "This question is closed. agent:builder withdrew it at 2026-03-01 12:01:00 UTC: "
        "job “nightly” ended (completed).",
        events=(Withdrawn(after(1), Decider("asker", "agent:builder"), "job “nightly” ended (completed)"),),
    )


def test_an_answer_given_before_the_job_ended_stays() -> None:
    case = Case(answered(IN_JOB), a_job(status=JobStatus.COMPLETED, closing=True))

    assert decide(case, tick(), after(5)) == Accepted(())


@pytest.mark.parametrize("status", [JobStatus.RUNNING, JobStatus.BLOCKED])
def test_a_job_that_goes_on_withdraws_nothing(status: JobStatus) -> None:
    case = Case(opened(spec(Kind.CLARIFYING, job="nightly")), a_job(status=status))

    assert decide(case, tick(), after(1)) == Accepted(())


# Delivery


def test_a_posted_question_was_delivered() -> None:
    decision = decide(Case(opened()), record_delivery(DeliveryState.POSTED), after(1))

    assert decision == Accepted(
        (Delivered(after(1), DeliveryRecord("slack", DeliveryState.POSTED, NOW, address="C1")),)
    )


def test_a_failed_delivery_makes_it_undeliverable() -> None:
    case = Case(opened(spec(route=((Target("slack", "C1"),),))))

    decision = decide(case, record_delivery(DeliveryState.FAILED), after(1))

    record = DeliveryRecord("slack", DeliveryState.FAILED, NOW, address="C1")
    assert decision == Accepted((Undeliverable(after(1), record),))


def test_an_undeliverable_question_stays_open() -> None:
    record = DeliveryRecord("slack", DeliveryState.FAILED, NOW)

    question = evolve(opened(), Undeliverable(after(1), record))

    assert question == replace(opened(), version=2, deliveries=(record,))
