"""A responder asks the asker; the clock stands still until the reply, a day at most.

Every question here was asked at 12:00 UTC on 1 March 2026 and, unless it says otherwise, has half an hour.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.decisions import Accepted, Case, Refused
from core.events import (
    Answered,
    AskedBack,
    Commented,
    Expired,
    Resumed,
)
from core.evolving import evolve
from core.kinds import Kind
from core.people import Actor
from core.question import (
    Comment,
    Pause,
    Status,
)
from core.refusals import Reason
from tests.support.builders import (
    AGENT,
    BY_ASKER,
    BY_DANA,
    EVE,
    HELD,
    IN_JOB,
    NOW,
    OTHER_AGENT,
    POSTGRES,
    acting,
    after,
    answer,
    decide,
    happened,
    opened,
    question_of,
    remark,
    spec,
    tick,
)

DEADLINE = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)


def test_a_responders_remark_asks_back() -> None:
    decision = decide(Case(opened()), remark("Which size?"), after(10))

    comment = Comment(BY_DANA, "Which size?", after(10), asks_back=True)
    assert decision == Accepted((AskedBack(after(10), comment),))


def test_asking_back_pauses_the_clock() -> None:
    comment = Comment(BY_DANA, "Which size?", after(10), asks_back=True)

    question = evolve(opened(), AskedBack(after(10), comment))

    assert question == replace(
        opened(),
        version=2,
        deadline=None,
        pause=Pause(after(10), after(10, hours=24), timedelta(minutes=20)),
        comments=(comment,),
    )


def test_a_paused_question_does_not_expire() -> None:
    case = happened(Case(opened()), (remark(), after(10)))

    assert decide(case, tick(), after(31)) == Accepted(())


def test_a_paused_question_can_still_be_answered() -> None:
    case = happened(Case(opened()), (remark(), after(10)))

    decision = decide(case, answer(), after(40))

    assert decision == Accepted((Answered(after(40), POSTGRES, BY_DANA),))


def test_an_answered_question_is_no_longer_paused() -> None:
    case = happened(Case(opened()), (remark(), after(10)), (answer(), after(40)))

    assert question_of(case).pause is None


def test_the_askers_reply_resumes_the_clock_with_the_remaining_time() -> None:
    case = happened(Case(opened()), (remark(), after(10)), (remark("Large.", AGENT), after(hours=1)))

    question = question_of(case)
    assert (question.pause, question.deadline) == (None, datetime(2026, 3, 1, 13, 20, tzinfo=UTC))


def test_the_askers_reply_is_a_comment_that_resumes() -> None:
    case = happened(Case(opened()), (remark(), after(10)))

    decision = decide(case, remark("Large.", AGENT), after(20))

    comment = Comment(BY_ASKER, "Large.", after(20), asks_back=False)
    assert decision == Accepted((Commented(after(20), comment, resumes=True),))


def test_a_remark_of_the_asker_while_the_clock_runs_leaves_the_deadline() -> None:
    case = happened(Case(opened()), (remark("By the way…", AGENT), after(10)))

    question = question_of(case)
    assert (question.pause, question.deadline) == (None, DEADLINE)


def test_a_comment_is_kept_in_the_thread() -> None:
    comment = Comment(BY_ASKER, "By the way…", after(10), asks_back=False)

    question = evolve(opened(), Commented(after(10), comment))

    assert question == replace(opened(), version=2, comments=(comment,))


def test_an_asker_does_not_ask_back() -> None:
    decision = decide(Case(opened()), remark("Anyone?", AGENT, asks_back=True), after(10))

    comment = Comment(BY_ASKER, "Anyone?", after(10), asks_back=False)
    assert decision == Accepted((Commented(after(10), comment, resumes=False),))


def test_a_remark_that_does_not_ask_back_leaves_the_clock_running() -> None:
    case = happened(Case(opened()), (remark("Looking into it.", asks_back=False), after(10)))

    question = question_of(case)
    assert (question.pause, question.deadline) == (None, DEADLINE)


def test_a_responders_plain_remark_does_not_end_the_pause() -> None:
    case = happened(Case(opened()), (remark(), after(10)), (remark("Still here.", asks_back=False), after(20)))

    assert question_of(case).pause == Pause(after(10), after(10, hours=24), timedelta(minutes=20))


def test_asking_back_twice_does_not_lengthen_the_pause() -> None:
    case = happened(Case(opened()), (remark(), after(10)), (remark("And which colour?"), after(hours=5)))

    question = question_of(case)
    assert question.pause == Pause(after(10), after(10, hours=24), timedelta(minutes=20))
    assert [comment.text for comment in question.comments] == ["Which size?", "And which colour?"]


def test_the_clock_can_be_paused_again_after_a_reply() -> None:
    case = happened(Case(opened()), (remark(), after(10)), (remark("Large.", AGENT), after(20)), (remark(), after(25)))

    # 20 of 30 minutes were left at 12:10 and again at 12:20, so 15 are left at 12:25.
    assert question_of(case).pause == Pause(after(25), after(25, hours=24), timedelta(minutes=15))


def test_a_pause_lasts_a_day_at_most() -> None:
    case = happened(Case(opened()), (remark(), after(10)))

    assert decide(case, tick(), after(10, hours=24) - MOMENT) == Accepted(())


def test_after_a_day_without_reply_the_clock_runs_again() -> None:
    case = happened(Case(opened()), (remark(), after(10)))

    decision = decide(case, tick(), after(10, hours=24))

    assert decision == Accepted((Resumed(after(10, hours=24)),))


def test_after_a_day_the_remaining_time_is_left_from_the_bound_on() -> None:
    case = happened(Case(opened()), (remark(), after(10)), (tick(), after(15, hours=24)))

    question = question_of(case)
    assert (question.pause, question.deadline) == (None, datetime(2026, 3, 2, 12, 30, tzinfo=UTC))


def test_a_pause_and_a_deadline_that_both_passed_settle_at_once() -> None:
    case = happened(Case(opened()), (remark(), after(10)))

    decision = decide(case, tick(), after(hours=26))

    assert decision == Accepted((Resumed(after(hours=26)), Expired(after(hours=26))))


def test_an_answer_after_pause_and_deadline_have_passed_is_refused() -> None:
    case = happened(Case(opened()), (remark(), after(10)))

    decision = decide(case, answer(), after(30, hours=24))

    assert isinstance(decision, Refused)
    assert decision.reason is Reason.EXPIRED


def test_an_unlimited_question_stays_unlimited_after_its_pause() -> None:
    made = spec(Kind.NON_BLOCKING, time_limit=None, default=POSTGRES)

    case = happened(Case(opened(made)), (remark(), after(10)), (tick(), after(hours=48)))

    question = question_of(case)
    assert (question.status, question.pause, question.deadline) == (Status.OPEN, None, None)


@pytest.mark.parametrize("actor", [OTHER_AGENT, acting(EVE)], ids=["agent", "member"])
def test_only_the_asker_and_responders_comment(actor: Actor) -> None:
    assert decide(Case(opened()), remark(by=actor), after(1)) == Refused(
        Reason.NOT_A_RESPONDER, "Only the asker and those who may answer can comment here."
    )


def test_the_201st_comment_is_refused() -> None:
    comments = (Comment(BY_DANA, "…", NOW, asks_back=False),) * 200

    assert decide(Case(replace(opened(), comments=comments)), remark(), after(1)) == Refused(
        Reason.TOO_MANY_COMMENTS, "This question already has 200 comments."
    )


def test_the_200th_comment_is_taken() -> None:
    comments = (Comment(BY_DANA, "…", NOW, asks_back=False),) * 199

    assert isinstance(decide(Case(replace(opened(), comments=comments)), remark(), after(1)), Accepted)


def test_a_pause_keeps_the_job_waiting() -> None:
    decision = decide(Case(opened(IN_JOB), HELD), remark(), after(10))

    assert isinstance(decision, Accepted)
    assert [type(event) for event in decision.events] == [AskedBack]
