"""Jobs: what holds them, what lets them go on, what blocks or fails them, and who may steer them."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core import job as jobs
from core.commands import FinishClosing, ReportProgress
from core.decisions import Accepted, Decision, Refused
from core.events import JobChanged, Progressed
from core.ids import JobId, Principal
from core.job import Holding, Job, OnTimeout, Progress
from core.kinds import JobStatus
from core.people import Actor
from core.refusals import Reason
from core.steering import decide_job
from tests.support.builders import (
    AGENT,
    DANA,
    EVE,
    NOW,
    OTHER_AGENT,
    WORKSPACE,
    a_job,
    acting,
    after,
    opened,
    question_id,
    spec,
    steer,
)

INPUT = JobStatus.WAITING_FOR_INPUT
APPROVAL = JobStatus.WAITING_FOR_APPROVAL
ENDINGS = [JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.CANCELLED]


def holding(number: int, status: JobStatus = INPUT, slot: int | None = None) -> Holding:
    return Holding(question_id(number), status, NOW, slot=slot)


def held(*entries: Holding, resume: JobStatus = JobStatus.RUNNING, **fields: object) -> Job:
    waits_for_approval = any(entry.status is APPROVAL for entry in entries)
    job = a_job(status=APPROVAL if waits_for_approval else INPUT, resume_status=resume, holding=entries)
    return replace(job, **fields)  # type: ignore[arg-type]


def changed(decision: Decision) -> Job:
    """The job after a decision that changed it and nothing else."""
    assert isinstance(decision, Accepted)
    (event,) = decision.events
    assert isinstance(event, JobChanged)
    return event.after


# A new job


def test_a_new_job_runs_fails_on_timeout_and_takes_any_number_of_questions() -> None:
    job = jobs.begin(WORKSPACE, JobId("nightly"), Principal("agent:builder"), NOW)

    assert job == Job(
        workspace_id=WORKSPACE,
        id=JobId("nightly"),
        owner=Principal("agent:builder"),
        created_at=NOW,
        updated_at=NOW,
        status=JobStatus.RUNNING,
        version=0,
        resume_status=None,
        block_reason=None,
        on_timeout=OnTimeout.FAIL,
        max_open_holding=None,
        holding=(),
        progress=None,
        closing=False,
    )


def test_a_question_that_expires_fails_or_blocks_its_job() -> None:
    assert [rule.value for rule in OnTimeout] == ["fail", "block"]


@pytest.mark.parametrize("status", ENDINGS)
def test_a_completed_failed_or_cancelled_job_has_ended(status: JobStatus) -> None:
    assert a_job(status=status).has_ended


@pytest.mark.parametrize("status", [JobStatus.RUNNING, INPUT, APPROVAL, JobStatus.BLOCKED])
def test_any_other_job_has_not(status: JobStatus) -> None:
    assert not a_job(status=status).has_ended


# Holding


@pytest.mark.parametrize("status", [INPUT, APPROVAL])
def test_a_held_job_waits_and_remembers_what_it_was_doing(status: JobStatus) -> None:
    job = jobs.hold(a_job(), opened(), status, after(1))

    assert job == a_job(
        status=status,
        resume_status=JobStatus.RUNNING,
        holding=(Holding(question_id(1), status, after(1)),),
        updated_at=after(1),
    )


def test_a_blocked_job_that_is_held_goes_back_to_blocked() -> None:
    job = jobs.hold(a_job(status=JobStatus.BLOCKED), opened(), INPUT, NOW)

    assert job.resume_status is JobStatus.BLOCKED


def test_a_second_question_does_not_make_the_job_resume_to_waiting() -> None:
    first = jobs.hold(a_job(), opened(number=1), INPUT, NOW)

    second = jobs.hold(first, opened(number=2), INPUT, NOW)

    assert (second.resume_status, [entry.question_id for entry in second.holding]) == (
        JobStatus.RUNNING,
        [question_id(1), question_id(2)],
    )


@pytest.mark.parametrize("order", [(INPUT, APPROVAL), (APPROVAL, INPUT)])
def test_a_job_held_by_both_waits_for_approval(order: tuple[JobStatus, JobStatus]) -> None:
    first = jobs.hold(a_job(), opened(number=1), order[0], NOW)

    second = jobs.hold(first, opened(number=2), order[1], NOW)

    assert second.status is APPROVAL


@pytest.mark.parametrize(
    ("agent", "phase", "role"), [("builder", "build", "builder"), (None, "build", "build"), (None, None, None)]
)
def test_what_holds_a_job_names_the_agents_role(agent: str | None, phase: str | None, role: str | None) -> None:
    job = jobs.hold(a_job(), opened(spec(agent=agent, phase=phase)), INPUT, NOW)

    assert job.holding[0].role == role


def test_without_a_bound_no_slot_is_taken() -> None:
    assert jobs.hold(a_job(), opened(), INPUT, NOW).holding[0].slot is None


def test_with_a_bound_the_first_free_slot_is_taken() -> None:
    job = held(holding(1, slot=1), holding(3, slot=3), max_open_holding=3)

    assert jobs.hold(job, opened(number=4), INPUT, NOW).holding[-1].slot == 2


@pytest.mark.parametrize(("bound", "full"), [(None, False), (3, False), (2, True), (1, True)])
def test_a_job_is_full_when_as_many_hold_it_as_may(bound: int | None, full: bool) -> None:
    job = held(holding(1), holding(2), max_open_holding=bound)

    assert jobs.is_full(job) is full


# Releasing


@pytest.mark.parametrize("resume", [JobStatus.RUNNING, JobStatus.BLOCKED])
def test_the_last_question_lets_the_job_go_on_where_it_stood(resume: JobStatus) -> None:
    job = jobs.release(held(holding(1), resume=resume), question_id(1), INPUT, after(5))

    assert job == a_job(status=resume, updated_at=after(5))


def test_the_job_goes_on_waiting_while_another_question_holds_it() -> None:
    job = jobs.release(held(holding(1), holding(2)), question_id(1), INPUT, after(5))

    assert job == held(holding(2), updated_at=after(5))


def test_a_job_whose_approval_settled_waits_for_the_input_that_is_left() -> None:
    job = jobs.release(held(holding(1, APPROVAL), holding(2)), question_id(1), INPUT, NOW)

    assert job.status is INPUT


def test_a_question_that_holds_nothing_releases_nothing() -> None:
    before = held(holding(1))

    assert jobs.release(before, question_id(9), INPUT, after(5)) is before


# Expiry


def test_a_question_that_expired_fails_the_job() -> None:
    job = jobs.expire(held(holding(1)), question_id(1), INPUT, "it expired", after(30))

    assert job == a_job(status=JobStatus.FAILED, block_reason="it expired", closing=True, updated_at=after(30))


def test_a_failed_job_is_held_by_nothing_any_more() -> None:
    job = jobs.expire(held(holding(1), holding(2)), question_id(1), INPUT, "it expired", after(30))

    assert (job.status, job.holding, job.closing) == (JobStatus.FAILED, (), True)


def test_a_question_that_expired_blocks_the_job_whose_policy_says_so() -> None:
    job = jobs.expire(held(holding(1), on_timeout=OnTimeout.BLOCK), question_id(1), INPUT, "it expired", after(30))

    assert job == a_job(
        status=JobStatus.BLOCKED, block_reason="it expired", on_timeout=OnTimeout.BLOCK, updated_at=after(30)
    )


def test_a_job_held_by_another_question_is_blocked_once_that_settles() -> None:
    before = held(holding(1), holding(2), on_timeout=OnTimeout.BLOCK)

    waiting = jobs.expire(before, question_id(1), INPUT, "it expired", after(30))
    settled = jobs.release(waiting, question_id(2), INPUT, after(40))

    assert (waiting.status, settled.status, settled.block_reason) == (INPUT, JobStatus.BLOCKED, "it expired")


# What its owner wants


@pytest.mark.parametrize("status", ENDINGS)
def test_ending_a_job_lets_go_of_its_questions_and_has_them_withdrawn(status: JobStatus) -> None:
    job = changed(decide_job(held(holding(1), version=4), steer(status=status, reason="enough"), after(5)))

    assert job == a_job(status=status, block_reason="enough", closing=True, updated_at=after(5), version=5)


def test_a_running_job_can_be_blocked_with_a_reason() -> None:
    job = changed(decide_job(a_job(), steer(status=JobStatus.BLOCKED, reason="no budget"), after(5)))

    assert job == a_job(status=JobStatus.BLOCKED, block_reason="no budget", updated_at=after(5), version=1)


def test_a_blocked_job_set_back_to_running_forgets_why_it_was_blocked() -> None:
    before = a_job(status=JobStatus.BLOCKED, block_reason="no budget")

    job = changed(decide_job(before, steer(status=JobStatus.RUNNING), after(5)))

    assert (job.status, job.block_reason) == (JobStatus.RUNNING, None)


def test_only_a_blocked_job_says_why() -> None:
    job = changed(decide_job(a_job(), steer(status=JobStatus.RUNNING, reason="go on"), after(5)))

    assert job.block_reason is None


def test_a_wish_takes_effect_when_the_last_question_settles() -> None:
    waiting = changed(decide_job(held(holding(1)), steer(status=JobStatus.BLOCKED, reason="later"), after(5)))
    settled = jobs.release(waiting, question_id(1), INPUT, after(10))

    assert (waiting.status, settled.status, settled.block_reason) == (INPUT, JobStatus.BLOCKED, "later")


@pytest.mark.parametrize("status", ENDINGS)
def test_an_ended_job_can_be_set_back_to_running(status: JobStatus) -> None:
    job = changed(decide_job(a_job(status=status), steer(status=JobStatus.RUNNING), after(5)))

    assert (job.status, job.has_ended) == (JobStatus.RUNNING, False)


@pytest.mark.parametrize("status", [INPUT, APPROVAL])
def test_waiting_cannot_be_set_by_hand(status: JobStatus) -> None:
    assert decide_job(a_job(), steer(status=status), NOW) == Refused(
        Reason.JOB_STATUS_NOT_SETTABLE,
        "A job waits while a question of it is open; ask the question instead of setting the status.",
        pointer="/status",
    )


def test_what_becomes_of_the_job_on_timeout_can_be_set() -> None:
    job = changed(decide_job(a_job(), steer(on_timeout=OnTimeout.BLOCK), after(5)))

    assert job == a_job(on_timeout=OnTimeout.BLOCK, updated_at=after(5), version=1)


def test_the_number_of_holding_questions_can_be_bounded() -> None:
    job = changed(decide_job(a_job(), steer(sets_max_open_holding=True, max_open_holding=1), after(5)))

    assert job == a_job(max_open_holding=1, updated_at=after(5), version=1)


def test_the_bound_can_be_lifted() -> None:
    job = changed(decide_job(a_job(max_open_holding=1), steer(sets_max_open_holding=True), after(5)))

    assert job.max_open_holding is None


def test_the_bound_stays_when_something_else_is_set() -> None:
    job = changed(decide_job(a_job(max_open_holding=1), steer(status=JobStatus.BLOCKED), after(5)))

    assert job.max_open_holding == 1


def test_setting_what_is_already_set_changes_nothing() -> None:
    assert decide_job(a_job(), steer(on_timeout=OnTimeout.FAIL), after(5)) == Accepted(())


def test_steering_a_job_for_the_first_time_makes_it_the_actors() -> None:
    decision = decide_job(None, steer(on_timeout=OnTimeout.BLOCK), after(5))

    made = Job(
        WORKSPACE,
        JobId("nightly"),
        Principal("agent:builder"),
        created_at=after(5),
        updated_at=after(5),
        on_timeout=OnTimeout.BLOCK,
        version=1,
    )
    assert decision == Accepted((JobChanged(after(5), None, made),))


@pytest.mark.parametrize("stranger", [OTHER_AGENT, acting(EVE)], ids=["agent", "member"])
def test_a_stranger_finds_no_job_to_steer(stranger: Actor) -> None:
    assert decide_job(a_job(), steer(stranger, status=JobStatus.CANCELLED), NOW) == Refused(
        Reason.JOB_NOT_FOUND, "There is no job “nightly”, or it belongs to another agent."
    )


def test_an_admin_steers_any_job_and_it_stays_its_owners() -> None:
    job = changed(decide_job(a_job(), steer(acting(DANA), status=JobStatus.CANCELLED), after(5)))

    assert (job.status, job.owner) == (JobStatus.CANCELLED, "agent:builder")


# Progress


def report(by: Actor = AGENT, text: str = "3/10 documents") -> ReportProgress:
    return ReportProgress(WORKSPACE, JobId("nightly"), by, text)


def test_progress_is_kept_with_its_time() -> None:
    decision = decide_job(a_job(version=2), report(), after(5))

    done = a_job(version=3, progress=Progress("3/10 documents", after(5)), updated_at=after(5))
    assert decision == Accepted((Progressed(after(5), a_job(version=2), done, "3/10 documents"),))


def test_progress_does_not_release_a_waiting_job() -> None:
    decision = decide_job(held(holding(1)), report(), after(5))

    assert isinstance(decision, Accepted)
    (event,) = decision.events
    assert isinstance(event, Progressed)
    assert (event.after.status, event.after.holding) == (INPUT, (holding(1),))


def test_reporting_progress_for_the_first_time_makes_the_job() -> None:
    decision = decide_job(None, report(), after(5))

    assert isinstance(decision, Accepted)
    (event,) = decision.events
    assert isinstance(event, Progressed)
    assert (event.before, event.after.owner, event.after.status) == (None, "agent:builder", JobStatus.RUNNING)


@pytest.mark.parametrize("status", ENDINGS)
def test_an_ended_job_makes_no_progress(status: JobStatus) -> None:
    assert decide_job(a_job(status=status), report(), NOW) == Refused(
        Reason.JOB_ENDED,
        f"Job “nightly” has ended ({status.value}). Ask in another job, or set this one back to running first.",
    )


def test_a_stranger_reports_no_progress() -> None:
    assert decide_job(a_job(), report(OTHER_AGENT), NOW) == Refused(
        Reason.JOB_NOT_FOUND, "There is no job “nightly”, or it belongs to another agent."
    )


# Closing


FINISH = FinishClosing(WORKSPACE, JobId("nightly"))


def test_a_job_whose_questions_are_all_withdrawn_has_closed() -> None:
    before = a_job(status=JobStatus.COMPLETED, closing=True, version=3)

    decision = decide_job(before, FINISH, after(5))

    closed = a_job(status=JobStatus.COMPLETED, closing=False, version=4)
    assert decision == Accepted((JobChanged(after(5), before, closed),))


@pytest.mark.parametrize("job", [None, a_job(status=JobStatus.COMPLETED)], ids=["unknown", "closed"])
def test_closing_again_changes_nothing(job: Job | None) -> None:
    assert decide_job(job, FINISH, NOW) == Accepted(())


# Whether it is news


@pytest.mark.parametrize(
    ("before", "moved"),
    [
        (None, True),
        (a_job(status=JobStatus.BLOCKED), True),
        (a_job(updated_at=datetime(2020, 1, 1, tzinfo=UTC)), False),
    ],
    ids=["new", "other status", "same status"],
)
def test_a_job_has_moved_when_its_status_is_another(before: Job | None, moved: bool) -> None:
    assert JobChanged(NOW, before, a_job()).moved is moved


def test_holders_beyond_the_list_are_counted_and_released_one_by_one() -> None:
    job = a_job()
    for number in range(1, jobs.LISTED + 3):
        job = jobs.hold(job, opened(number=number), INPUT, NOW)
    job = jobs.hold(job, opened(number=900), APPROVAL, NOW)

    assert (len(job.holding), job.unlisted_inputs, job.unlisted_approvals) == (jobs.LISTED, 2, 1)
    assert (job.held_by, job.status) == (jobs.LISTED + 3, APPROVAL)

    job = jobs.release(job, question_id(900), APPROVAL, NOW)
    assert (job.unlisted_approvals, job.status) == (0, INPUT)
    for number in range(1, jobs.LISTED + 3):
        job = jobs.release(job, question_id(number), INPUT, NOW)
    assert (job.held_by, job.status) == (0, JobStatus.RUNNING)


def test_a_question_that_does_not_hold_the_job_releases_nothing() -> None:
    job = held(holding(1))

    assert jobs.release(job, question_id(7), INPUT, after(5)) is job
