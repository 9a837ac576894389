"""Ids of questions: ULIDs, so that they sort by the time of asking."""

from datetime import UTC, datetime, timedelta

from core.ids import QuestionIds
from tests.support.builders import NOW

LATER = NOW + timedelta(milliseconds=1)


def _zeros(count: int) -> bytes:
    return bytes(count)


def _ones(count: int) -> bytes:
    return b"\xff" * count


def test_time_fills_the_first_ten_letters_in_crockford_base32() -> None:
    # 1234567890123 ms = 1*32**8 + 3*32**7 + 29*32**6 + 24*32**5 + 31*32**4 + 22*32**3 + 1*32**2 + 6*32 + 11
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=1_234_567_890_123)

    assert QuestionIds(_zeros).next(instant) == "q_013XRZP16B0000000000000000"


def test_entropy_fills_the_last_sixteen_letters() -> None:
    assert QuestionIds(_ones).next(NOW)[12:] == "Z" * 16


def test_a_question_asked_a_millisecond_later_sorts_after() -> None:
    assert QuestionIds(_ones).next(NOW) < QuestionIds(_zeros).next(LATER)


def test_questions_of_the_same_millisecond_sort_in_the_order_they_were_asked() -> None:
    ids = QuestionIds(_zeros)
    first, second = ids.next(NOW), ids.next(NOW)

    assert (first[12:], second[12:]) == ("0" * 16, "0" * 15 + "1")


def test_the_order_holds_when_entropy_runs_over_and_when_the_clock_goes_back() -> None:
    ids = QuestionIds(_ones)
    asked = [ids.next(LATER), ids.next(LATER), ids.next(NOW), ids.next(NOW)]

    assert asked == sorted(asked)
    assert len(set(asked)) == 4
