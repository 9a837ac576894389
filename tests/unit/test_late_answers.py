"""Answers that come after the deadline are kept and decide nothing.

Every question here was asked at 12:00 UTC on 1 March 2026 and, unless it says otherwise, has half an hour.
"""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.answers import AnswerValue, NumberShape
from core.decisions import Accepted, Case, Refused
from core.events import (
    Answered,
    Expired,
    LateAnswered,
)
from core.evolving import evolve
from core.kinds import JobStatus, Kind
from core.people import Actor
from core.question import (
    LateAnswer,
)
from core.refusals import Reason
from tests.support.builders import (
    AGENT,
    BY_DANA,
    EVE,
    HELD,
    IN_JOB,
    OTHER_AGENT,
    POSTGRES,
    acting,
    after,
    answer,
    answered,
    decide,
    expired,
    happened,
    job_of,
    opened,
    spec,
    tick,
    withdrawn,
)

DEADLINE = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def test_an_answer_to_an_expired_question_is_told_that_it_may_be_sent_on() -> None:
    assert decide(Case(expired()), answer(), after(40)) == Refused(
        Reason.EXPIRED,
        "This question is closed. Nobody answered by 2026-03-01 12:30:00 UTC; nothing was decided. "
        "You can still send your answer on as a late answer.",
    )


def test_a_late_answer_is_kept() -> None:
    decision = decide(Case(expired()), answer(late=True), after(40))

    assert decision == Accepted((LateAnswered(after(40), POSTGRES, BY_DANA),))


def test_a_late_answer_decides_nothing() -> None:
    question = evolve(expired(), LateAnswered(after(40), POSTGRES, BY_DANA))

    assert question == replace(expired(), version=3, late_answers=(LateAnswer(POSTGRES, BY_DANA, after(40)),))


def test_a_default_that_stands_can_be_followed_by_a_late_answer() -> None:
    case = happened(Case(opened(spec(Kind.CLARIFYING, default=POSTGRES))), (tick(), DEADLINE))

    decision = decide(case, answer(value="SQLite", late=True), after(40))

    assert decision == Accepted((LateAnswered(after(40), AnswerValue("SQLite"), BY_DANA),))


def test_a_late_answer_does_not_revive_the_job() -> None:
    case = happened(Case(opened(IN_JOB), HELD), (tick(), DEADLINE), (answer(late=True), after(40)))

    assert (job_of(case).status, job_of(case).version) == (JobStatus.FAILED, 2)


def test_a_late_answer_before_the_sweep_settles_the_deadline_first() -> None:
    decision = decide(Case(opened()), answer(late=True), after(40))

    assert decision == Accepted((Expired(after(40)), LateAnswered(after(40), POSTGRES, BY_DANA)))


def test_an_answer_marked_late_while_the_question_is_open_is_an_answer() -> None:
    decision = decide(Case(opened()), answer(late=True), after(1))

    assert decision == Accepted((Answered(after(1), POSTGRES, BY_DANA),))


@pytest.mark.parametrize("actor", [AGENT, OTHER_AGENT, acting(EVE)], ids=["asker", "agent", "member"])
def test_only_responders_answer_late(actor: Actor) -> None:
    decision = decide(Case(expired()), answer(by=actor, late=True), after(40))

    assert isinstance(decision, Refused)
    assert decision.reason is Reason.NOT_A_RESPONDER


def test_a_late_answer_has_to_fit_as_well() -> None:
    case = Case(expired(spec(shape=NumberShape())))

    assert decide(case, answer(value="seven", late=True), after(40)) == Refused(
        Reason.INVALID_ANSWER, "Answer with a number.", pointer="/response/value"
    )


def test_an_answered_question_takes_no_late_answer() -> None:
    decision = decide(Case(answered()), answer(late=True), after(40))

    assert isinstance(decision, Refused)
    assert decision.reason is Reason.ALREADY_ANSWERED


def test_a_withdrawn_question_takes_no_late_answer() -> None:
    assert decide(Case(withdrawn()), answer(late=True), after(40)) == Refused(
        Reason.WITHDRAWN, "This question is closed. builder (api) withdrew it at 2026-03-01 12:01:00 UTC."
    )


@pytest.mark.parametrize(("kept", "accepted"), [(49, True), (50, False)])
def test_a_question_keeps_fifty_late_answers(kept: int, accepted: bool) -> None:
    late = (LateAnswer(POSTGRES, BY_DANA, after(40)),) * kept

    decision = decide(Case(replace(expired(), late_answers=late)), answer(late=True), after(50))

    assert isinstance(decision, Accepted) is accepted


def test_the_51st_late_answer_is_told_that_there_are_enough() -> None:
    late = (LateAnswer(POSTGRES, BY_DANA, after(40)),) * 50

    assert decide(Case(replace(expired(), late_answers=late)), answer(late=True), after(50)) == Refused(
        Reason.TOO_MANY_COMMENTS, "This question has its fill of late answers."
    )
