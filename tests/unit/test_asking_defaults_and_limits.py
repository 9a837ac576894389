"""Which drafts need, may have or must not have a default, and how long a question may wait."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.answers import (
    AnswerValue,
    RawAnswer,
)
from core.asking import Draft, DraftAction, DraftOption
from core.deadlines import TimeLimits
from core.refusals import Reason, Unacceptable
from tests.support.builders import HOUSE, composed, draft, refused

# The default: silence never approves


NO_DEFAULT = Unacceptable(
    Reason.DEFAULT_FORBIDDEN,
    "An approval has no default: silence never approves. Leave defaultResponse out.",
    "/defaultResponse",
)


@pytest.mark.parametrize("value", [True, False, "approve"])
def test_an_approval_takes_no_default_whatever_it_says(value: bool | str) -> None:
    assert refused(draft(kind="approval", default=RawAnswer(value))) == NO_DEFAULT


@pytest.mark.parametrize(
    "asked",
    [
        draft(response_type="approval", default=RawAnswer(True)),
        draft(action=DraftAction("linear.create"), default=RawAnswer(True)),
        draft(kind="approval", time_limit=timedelta(hours=24), default=RawAnswer(True)),
    ],
    ids=["by response type", "by action", "with a long limit"],
)
def test_an_approval_takes_no_default_however_it_is_asked_for(asked: Draft) -> None:
    assert refused(asked) == NO_DEFAULT


def test_a_non_blocking_question_needs_a_default() -> None:
    assert refused(draft(kind="non_blocking")) == Unacceptable(
        Reason.DEFAULT_REQUIRED,
        "A non_blocking question goes on with its default at once, so give a defaultResponse.",
        "/defaultResponse",
    )


@pytest.mark.parametrize(
    "kind",
    ["blocking", "error_recovery", "clarifying", "confirming", "preference", "educational", "celebratory"],
)
def test_other_kinds_may_have_a_default(kind: str) -> None:
    made = composed(draft(kind=kind, default=RawAnswer("PostgreSQL", "as always")))

    assert made.default == AnswerValue("PostgreSQL", "as always")


@pytest.mark.parametrize(
    "kind",
    ["blocking", "approval", "error_recovery", "clarifying", "confirming", "preference", "educational", "celebratory"],
)
def test_other_kinds_may_go_without_a_default(kind: str) -> None:
    assert composed(draft(kind=kind)).default is None


def test_a_default_may_name_its_option_and_becomes_the_value() -> None:
    options = (DraftOption("PostgreSQL", "pg", id="a"),)

    assert composed(draft(options=options, default=RawAnswer("a"))).default == AnswerValue("pg")


def test_a_false_default_is_a_default() -> None:
    made = composed(draft(kind="non_blocking", response_type="boolean", default=RawAnswer(False)))

    assert made.default == AnswerValue(False)


@pytest.mark.parametrize(
    ("asked", "sentence", "pointer"),
    [
        (
            draft(options=(DraftOption("A"),), default=RawAnswer("B")),
            "The default does not fit: “B” is not an option. Pick one of “A”.",
            "/defaultResponse/value",
        ),
        (
            draft(response_type="number", default=RawAnswer(7, type="text")),
            "The default does not fit: This question takes an answer of type number, not “text”.",
            "/defaultResponse/type",
        ),
        (
            draft(default=RawAnswer("x", None, {"count": 1})),
            "The default does not fit: Only an approval takes edited arguments.",
            "/defaultResponse/arguments",
        ),
    ],
)
def test_a_default_that_does_not_fit_is_refused_when_asking(asked: Draft, sentence: str, pointer: str) -> None:
    assert refused(asked) == Unacceptable(Reason.DEFAULT_INVALID, sentence, pointer)


# The time limit


@pytest.mark.parametrize(
    ("kind", "limit"),
    [
        ("blocking", timedelta(minutes=30)),
        ("approval", timedelta(minutes=15)),
        ("error_recovery", timedelta(minutes=10)),
        ("non_blocking", None),
        ("clarifying", timedelta(minutes=30)),
        ("confirming", timedelta(minutes=30)),
        ("preference", timedelta(hours=24)),
        ("educational", timedelta(hours=24)),
        ("celebratory", timedelta(hours=24)),
    ],
)
def test_without_a_time_limit_the_kinds_own_is_taken(kind: str, limit: timedelta | None) -> None:
    default = RawAnswer("PostgreSQL") if kind == "non_blocking" else None

    assert composed(draft(kind=kind, default=default)).time_limit == limit


@pytest.mark.parametrize("limit", [timedelta(minutes=5), timedelta(seconds=450), timedelta(hours=24)])
def test_a_time_limit_within_the_bounds_is_taken(limit: timedelta) -> None:
    assert composed(draft(time_limit=limit)).time_limit == limit


@pytest.mark.parametrize(
    "limit", [timedelta(0), timedelta(minutes=-5), timedelta(seconds=299), timedelta(hours=24, seconds=1)]
)
def test_a_time_limit_outside_five_minutes_to_a_day_is_refused(limit: timedelta) -> None:
    assert refused(draft(time_limit=limit)) == Unacceptable(
        Reason.TIME_LIMIT_OUT_OF_RANGE, "The time limit must be between 5 min and 24 h.", "/timeoutMinutes"
    )


@pytest.mark.parametrize("kind", ["blocking", "approval", "error_recovery"])
def test_a_question_that_holds_the_job_cannot_wait_for_ever(kind: str) -> None:
    assert refused(draft(kind=kind, time_limit=None)) == Unacceptable(
        Reason.TIME_LIMIT_OUT_OF_RANGE,
        "This kind of question needs a time limit between 5 min and 24 h.",
        "/timeoutMinutes",
    )


@pytest.mark.parametrize("kind", ["clarifying", "confirming", "preference", "educational", "celebratory"])
def test_a_question_that_holds_nothing_may_wait_for_ever(kind: str) -> None:
    assert composed(draft(kind=kind, time_limit=None)).time_limit is None


def test_a_non_blocking_question_may_have_a_limit() -> None:
    asked = draft(kind="non_blocking", default=RawAnswer("PostgreSQL"), time_limit=timedelta(hours=1))

    assert composed(asked).time_limit == timedelta(hours=1)


def test_the_limits_of_the_house_are_the_ones_that_count() -> None:
    tries = replace(HOUSE, limits=TimeLimits(timedelta(seconds=1), timedelta(hours=24)))

    assert composed(draft(time_limit=timedelta(seconds=1)), tries).time_limit == timedelta(seconds=1)
