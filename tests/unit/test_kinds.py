"""The table of kinds, held against the seeds and the design."""

from datetime import timedelta

import pytest

from core.kinds import ENDED, KINDS, WAITING, DefaultRule, JobStatus, Kind, Priority

MINUTES = 60
HOURS = 3600


def test_the_kinds_are_these_nine() -> None:
    words = [kind.value for kind in Kind]

    assert words == [
        "blocking",
        "approval",
        "error_recovery",
        "non_blocking",
        "clarifying",
        "confirming",
        "preference",
        "educational",
        "celebratory",
    ]


def test_every_kind_has_a_row() -> None:
    assert set(KINDS) == set(Kind)


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [
        (Kind.BLOCKING, 30 * MINUTES),
        (Kind.APPROVAL, 15 * MINUTES),
        (Kind.ERROR_RECOVERY, 10 * MINUTES),
        (Kind.CLARIFYING, 30 * MINUTES),
        (Kind.CONFIRMING, 30 * MINUTES),
        (Kind.PREFERENCE, 24 * HOURS),
        (Kind.EDUCATIONAL, 24 * HOURS),
        (Kind.CELEBRATORY, 24 * HOURS),
    ],
)
def test_time_limit_of_the_kind(kind: Kind, seconds: int) -> None:
    assert KINDS[kind].time_limit == timedelta(seconds=seconds)


def test_a_non_blocking_question_has_no_time_limit() -> None:
    assert KINDS[Kind.NON_BLOCKING].time_limit is None


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (Kind.BLOCKING, JobStatus.WAITING_FOR_INPUT),
        (Kind.APPROVAL, JobStatus.WAITING_FOR_APPROVAL),
        (Kind.ERROR_RECOVERY, JobStatus.WAITING_FOR_INPUT),
        (Kind.NON_BLOCKING, None),
        (Kind.CLARIFYING, None),
        (Kind.CONFIRMING, None),
        (Kind.PREFERENCE, None),
        (Kind.EDUCATIONAL, None),
        (Kind.CELEBRATORY, None),
    ],
)
def test_what_a_job_becomes_while_the_kind_is_open(kind: Kind, status: JobStatus | None) -> None:
    assert KINDS[kind].holds_job_as is status


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        (Kind.BLOCKING, DefaultRule.ALLOWED),
        (Kind.APPROVAL, DefaultRule.FORBIDDEN),
        (Kind.ERROR_RECOVERY, DefaultRule.ALLOWED),
        (Kind.NON_BLOCKING, DefaultRule.REQUIRED),
        (Kind.CLARIFYING, DefaultRule.ALLOWED),
        (Kind.CONFIRMING, DefaultRule.ALLOWED),
        (Kind.PREFERENCE, DefaultRule.ALLOWED),
        (Kind.EDUCATIONAL, DefaultRule.ALLOWED),
        (Kind.CELEBRATORY, DefaultRule.ALLOWED),
    ],
)
def test_whether_the_kind_takes_a_default(kind: Kind, rule: DefaultRule) -> None:
    assert KINDS[kind].default is rule


@pytest.mark.parametrize(
    ("kind", "priority"),
    [
        (Kind.BLOCKING, Priority.HIGH),
        (Kind.APPROVAL, Priority.HIGH),
        (Kind.ERROR_RECOVERY, Priority.HIGH),
        (Kind.NON_BLOCKING, Priority.LOW),
        (Kind.CLARIFYING, Priority.NORMAL),
        (Kind.CONFIRMING, Priority.NORMAL),
        (Kind.PREFERENCE, Priority.LOW),
        (Kind.EDUCATIONAL, Priority.LOW),
        (Kind.CELEBRATORY, Priority.LOW),
    ],
)
def test_priority_of_the_kind(kind: Kind, priority: Priority) -> None:
    assert KINDS[kind].priority is priority


@pytest.mark.parametrize("kind", [Kind.BLOCKING, Kind.APPROVAL, Kind.ERROR_RECOVERY])
def test_a_kind_that_holds_the_job_must_end_some_time(kind: Kind) -> None:
    assert KINDS[kind].may_be_unlimited is False


@pytest.mark.parametrize(
    "kind",
    [Kind.NON_BLOCKING, Kind.CLARIFYING, Kind.CONFIRMING, Kind.PREFERENCE, Kind.EDUCATIONAL, Kind.CELEBRATORY],
)
def test_a_kind_that_lets_the_job_go_on_may_stay_open_for_ever(kind: Kind) -> None:
    assert KINDS[kind].may_be_unlimited is True


def test_the_job_statuses_are_the_words_of_the_contract() -> None:
    words = [status.value for status in JobStatus]

    assert words == [
        "running",
        "waiting_for_input",
        "waiting_for_approval",
        "blocked",
        "completed",
        "failed",
        "cancelled",
    ]


def test_completed_failed_and_cancelled_jobs_have_ended() -> None:
    assert {"completed", "failed", "cancelled"} == ENDED


def test_a_job_waits_for_input_or_for_approval() -> None:
    assert {"waiting_for_input", "waiting_for_approval"} == WAITING
