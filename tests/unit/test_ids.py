"""Ids of questions: ULIDs, so that they sort by the time of asking."""

from datetime import UTC, datetime, timedelta

from core.ids import question_id
from tests.support.builders import NOW


def test_the_first_instant_without_entropy_is_all_zeros() -> None:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)

    assert question_id(epoch, bytes(10)) == "q_00000000000000000000000000"


def test_time_fills_the_first_ten_letters_in_crockford_base32() -> None:
    # 1234567890123 ms = 1*32**8 + 3*32**7 + 29*32**6 + 24*32**5 + 31*32**4 + 22*32**3 + 1*32**2 + 6*32 + 11
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=1_234_567_890_123)

    assert question_id(instant, bytes(10))[2:12] == "013XRZP16B"


def test_entropy_fills_the_last_sixteen_letters() -> None:
    identity = question_id(NOW, b"\xff" * 10)

    assert identity[12:] == "Z" * 16


def test_only_ten_bytes_of_entropy_count() -> None:
    assert question_id(NOW, b"\x01" * 10 + b"\xff") == question_id(NOW, b"\x01" * 10)


def test_a_question_asked_a_millisecond_later_sorts_after() -> None:
    earlier = question_id(NOW, b"\xff" * 10)
    later = question_id(NOW + timedelta(milliseconds=1), bytes(10))

    assert earlier < later
