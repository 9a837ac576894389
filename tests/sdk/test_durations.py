"""Durations as people type them."""

from datetime import timedelta

import pytest
from handraise.drafts import minutes_in
from handraise.durations import duration_in, spoken


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [("45s", 45.0), ("30m", 1800.0), ("2h", 7200.0), ("1.5h", 5400.0), ("1h30m", 5400.0), ("1d", 86400.0), ("0", 0.0)],
)
def test_a_duration_with_its_unit_is_understood(typed: str, seconds: float) -> None:
    assert duration_in(typed) == timedelta(seconds=seconds)


@pytest.mark.parametrize("typed", ["30", "", "m", "-5m", "5 m", "1e3s", "five minutes", "٣m", "5m5", "infs"])
def test_anything_else_is_refused_with_examples(typed: str) -> None:
    with pytest.raises(ValueError, match=r"such as 45s, 30m, 2h or 1\.5h"):
        duration_in(typed)


def test_more_than_a_year_is_refused() -> None:
    with pytest.raises(ValueError, match="more than a year"):
        duration_in("9999d")


def test_minutes_are_whole_where_they_can_be() -> None:
    whole = minutes_in(timedelta(minutes=30))

    assert (whole, type(whole)) == (30, int)
    assert minutes_in(timedelta(seconds=45)) == 0.75
    assert minutes_in(None) is None


@pytest.mark.parametrize(("seconds", "words"), [(0.4, "0s"), (45, "45s"), (90, "1m 30s"), (90061, "1d 1h")])
def test_time_is_spoken_in_its_two_largest_units(seconds: float, words: str) -> None:
    assert spoken(timedelta(seconds=seconds)) == words
