"""Limits, deadlines and pauses. Every question here was asked at 12:00 UTC on 1 March 2026."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.deadlines import (
    LONGEST_PAUSE,
    TimeLimits,
    deadline_after,
    kind_limit,
    limit_problem,
    next_due,
    pause,
    resumed_deadline,
)
from core.kinds import KINDS, Kind
from core.question import Pause, Question
from tests.support.builders import NOW, after, answered, expired, opened, spec, withdrawn

FIVE_MINUTES_TO_A_DAY = TimeLimits(timedelta(minutes=5), timedelta(hours=24))


def test_limits_are_five_minutes_to_a_day_unless_set() -> None:
    assert TimeLimits() == FIVE_MINUTES_TO_A_DAY


def test_the_kinds_own_limit_stands_when_the_installation_allows_it() -> None:
    assert kind_limit(KINDS[Kind.ERROR_RECOVERY], FIVE_MINUTES_TO_A_DAY) == timedelta(minutes=10)


def test_the_kinds_own_limit_is_raised_to_the_shortest_allowed() -> None:
    limits = TimeLimits(timedelta(hours=1), timedelta(hours=24))

    assert kind_limit(KINDS[Kind.BLOCKING], limits) == timedelta(hours=1)


def test_the_kinds_own_limit_is_lowered_to_the_longest_allowed() -> None:
    limits = TimeLimits(timedelta(seconds=1), timedelta(minutes=2))

    assert kind_limit(KINDS[Kind.BLOCKING], limits) == timedelta(minutes=2)


def test_a_kind_without_limit_gets_none_from_the_installation() -> None:
    assert kind_limit(KINDS[Kind.NON_BLOCKING], FIVE_MINUTES_TO_A_DAY) is None


@pytest.mark.parametrize(
    "limit",
    [timedelta(minutes=5), timedelta(minutes=7, seconds=30), timedelta(hours=24)],
)
def test_a_limit_from_five_minutes_to_a_day_is_fine(limit: timedelta) -> None:
    assert limit_problem(limit, KINDS[Kind.BLOCKING], FIVE_MINUTES_TO_A_DAY) is None


@pytest.mark.parametrize(
    "limit",
    [
        timedelta(minutes=-1),
        timedelta(0),
        timedelta(minutes=5) - timedelta(microseconds=1),
        timedelta(hours=24) + timedelta(microseconds=1),
    ],
)
def test_a_limit_outside_is_refused_with_the_bounds(limit: timedelta) -> None:
    problem = limit_problem(limit, KINDS[Kind.NON_BLOCKING], FIVE_MINUTES_TO_A_DAY)

    assert problem == "The time limit must be between 5 min and 24 h."


def test_the_bounds_in_the_refusal_are_those_of_the_installation() -> None:
    limits = TimeLimits(timedelta(seconds=1), timedelta(minutes=90))

    problem = limit_problem(timedelta(hours=2), KINDS[Kind.BLOCKING], limits)

    assert problem == "The time limit must be between 1 s and 1 h 30 min."


@pytest.mark.parametrize("kind", [Kind.BLOCKING, Kind.APPROVAL, Kind.ERROR_RECOVERY])
def test_a_holding_kind_without_limit_is_refused(kind: Kind) -> None:
    problem = limit_problem(None, KINDS[kind], FIVE_MINUTES_TO_A_DAY)

    assert problem == "This kind of question needs a time limit between 5 min and 24 h."


def test_a_kind_that_holds_nothing_may_go_without_limit() -> None:
    assert limit_problem(None, KINDS[Kind.PREFERENCE], FIVE_MINUTES_TO_A_DAY) is None


@pytest.mark.parametrize(
    ("limit", "deadline"),
    [
        (timedelta(minutes=30), datetime(2026, 3, 1, 12, 30, tzinfo=UTC)),
        (timedelta(milliseconds=1), datetime(2026, 3, 1, 12, 0, 0, 1_000, tzinfo=UTC)),
        (timedelta(microseconds=1), datetime(2026, 3, 1, 12, 0, 0, 1_000, tzinfo=UTC)),
        (timedelta(microseconds=1_001), datetime(2026, 3, 1, 12, 0, 0, 2_000, tzinfo=UTC)),
    ],
)
def test_a_deadline_falls_on_a_whole_millisecond_and_never_too_early(limit: timedelta, deadline: datetime) -> None:
    assert deadline_after(NOW, limit) == deadline


def test_a_pause_is_bounded_by_a_day() -> None:
    assert timedelta(hours=24) == LONGEST_PAUSE


def test_a_pause_keeps_the_remaining_time() -> None:
    question = opened(spec(time_limit=timedelta(minutes=30)))

    paused = pause(question, after(minutes=10))

    assert paused == Pause(
        since=datetime(2026, 3, 1, 12, 10, tzinfo=UTC),
        until=datetime(2026, 3, 2, 12, 10, tzinfo=UTC),
        remaining=timedelta(minutes=20),
    )


def test_a_pause_of_an_unlimited_question_has_no_remaining_time() -> None:
    question = opened(spec(Kind.NON_BLOCKING, time_limit=None))

    paused = pause(question, after(minutes=10))

    assert paused == Pause(
        since=datetime(2026, 3, 1, 12, 10, tzinfo=UTC),
        until=datetime(2026, 3, 2, 12, 10, tzinfo=UTC),
        remaining=None,
    )


def test_the_clock_resumes_with_the_remaining_time() -> None:
    paused = Pause(after(10), after(10, hours=24), timedelta(minutes=20))

    deadline = resumed_deadline(paused, datetime(2026, 3, 1, 15, 0, tzinfo=UTC))

    assert deadline == datetime(2026, 3, 1, 15, 20, tzinfo=UTC)


def test_a_pause_that_ran_out_ended_at_its_bound() -> None:
    paused = Pause(after(10), after(10, hours=24), timedelta(minutes=20))

    deadline = resumed_deadline(paused, datetime(2026, 3, 5, 0, 0, tzinfo=UTC))

    assert deadline == datetime(2026, 3, 2, 12, 30, tzinfo=UTC)


def test_an_unlimited_question_resumes_without_a_deadline() -> None:
    paused = Pause(after(10), after(10, hours=24), None)

    assert resumed_deadline(paused, after(20)) is None


def test_an_open_question_is_due_at_its_deadline() -> None:
    question = opened(spec(time_limit=timedelta(minutes=30)))

    assert next_due(question) == datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def test_an_unlimited_question_is_never_due() -> None:
    assert next_due(opened(spec(Kind.NON_BLOCKING, time_limit=None))) is None


def test_a_paused_question_is_due_when_its_pause_runs_out() -> None:
    question = replace(opened(), pause=Pause(after(10), after(10, hours=24), timedelta(minutes=20)))

    assert next_due(question) == datetime(2026, 3, 2, 12, 10, tzinfo=UTC)


@pytest.mark.parametrize("question", [answered(), expired(), withdrawn()], ids=["answered", "expired", "withdrawn"])
def test_a_closed_question_is_never_due(question: Question) -> None:
    assert next_due(question) is None
