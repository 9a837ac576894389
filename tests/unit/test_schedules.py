"""Who is on call, held against a model that walks minute by minute and hands over when the wall says so."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.hours import Hours, is_within, parse_windows
from core.ids import PersonId
from core.schedules import Override, Rotation, Schedule, Shift, Turn, next_on_call, on_call, turns

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
ANN, BEN, CLEO, DAN = (PersonId(name) for name in ("ann", "ben", "cleo", "dan"))
#: Monday, 5 January 2026, at nine on the wall.
MONDAY = datetime.fromisoformat("2026-01-05T09:00")
WEEKLY = Rotation((ANN, BEN, CLEO), MONDAY, 7)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def berlin(*rotations: Rotation, overrides: tuple[Override, ...] = (), shifts: tuple[Shift, ...] = ()) -> Schedule:
    return Schedule("support", "Europe/Berlin", rotations, overrides, shifts)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-01-05T07:59:59Z", ()),  # nobody before the first handover
        ("2026-01-05T08:00Z", (ANN,)),
        ("2026-01-12T07:59:59Z", (ANN,)),
        ("2026-01-12T08:00Z", (BEN,)),
        ("2026-01-26T08:00Z", (ANN,)),  # round again
        ("2026-03-30T06:59Z", (CLEO,)),  # summer time: nine is seven in UTC now
        ("2026-03-30T07:00Z", (ANN,)),
        ("2026-12-28T08:00Z", (ANN,)),
        ("2027-01-04T08:00Z", (BEN,)),
    ],
)
def test_a_weekly_rotation_hands_over_at_nine_in_summer_and_in_winter(at: str, expected: tuple[PersonId, ...]) -> None:
    assert on_call(berlin(WEEKLY), utc(at)) == expected


@pytest.mark.parametrize(
    ("zone", "change"),
    [
        ("Europe/Berlin", "2026-03-29T01:00Z"),
        ("Europe/Berlin", "2026-10-25T01:00Z"),
        ("America/New_York", "2026-03-08T07:00Z"),
        ("America/New_York", "2026-11-01T06:00Z"),
        ("Australia/Lord_Howe", "2026-04-04T15:00Z"),
        ("Australia/Lord_Howe", "2026-10-03T15:30Z"),
        ("Asia/Kolkata", "2026-03-29T01:00Z"),
        ("Pacific/Apia", "2011-12-30T10:00Z"),
    ],
)
@pytest.mark.parametrize("clock", ["00:00", "01:45", "02:00", "02:30", "09:00"])
def test_around_clock_changes_every_minute_is_as_the_model_has_it(zone: str, change: str, clock: str) -> None:
    first = utc(change) - timedelta(hours=50)
    day = first.astimezone(ZoneInfo(zone)).date()
    starts = datetime.fromisoformat(f"{day}T{clock}") - 3 * DAY
    schedule = Schedule("model", zone, (Rotation((ANN, BEN, CLEO, DAN), starts, 1),))
    number = 0
    for step in range(100 * 60):
        at = first + MINUTE * step
        wall = at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        number = max(number, (wall - starts) // DAY)  # a clock that goes back gives no turn back

        assert on_call(schedule, at) == ((ANN, BEN, CLEO, DAN)[number % 4],), at


@settings(max_examples=25)
@given(
    st.integers(0, 59), st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"])
)
def test_all_year_exactly_one_person_is_on_call(offset: int, zone: str) -> None:
    schedule = Schedule("year", zone, (WEEKLY,))
    begin = utc("2026-01-06T00:00Z") + MINUTE * offset

    for step in range(0, 365 * 24 * 60, 611):
        assert len(on_call(schedule, begin + MINUTE * step)) == 1


def test_windows_restrict_a_rotation() -> None:
    schedule = berlin(Rotation((ANN, BEN), MONDAY, 7, parse_windows("mon-fri 09:00-17:00")))

    assert on_call(schedule, utc("2026-01-05T12:00Z")) == (ANN,)
    assert on_call(schedule, utc("2026-01-05T16:00Z")) == ()
    assert next_on_call(schedule, utc("2026-01-09T16:00Z")) == utc("2026-01-12T08:00Z")


def test_shifts_come_before_rotations_and_nobody_comes_twice() -> None:
    shifts = tuple(Shift(who, utc("2026-01-06T00:00Z"), utc("2026-01-07T00:00Z")) for who in (DAN, ANN))
    schedule = berlin(WEEKLY, Rotation((BEN,), MONDAY, 7), shifts=shifts)

    assert on_call(schedule, utc("2026-01-06T12:00Z")) == (DAN, ANN, BEN)
    assert on_call(schedule, utc("2026-01-07T00:00Z")) == (ANN, BEN)


def test_an_override_replaces_everybody_and_a_later_one_replaces_it() -> None:
    schedule = berlin(
        WEEKLY,
        overrides=(
            Override(DAN, utc("2026-01-06T00:00Z"), utc("2026-01-08T00:00Z")),
            Override(CLEO, utc("2026-01-07T00:00Z"), utc("2026-01-07T12:00Z")),
        ),
        shifts=(Shift(BEN, utc("2026-01-06T00:00Z"), utc("2026-01-09T00:00Z")),),
    )

    assert on_call(schedule, utc("2026-01-06T12:00Z")) == (DAN,)
    assert on_call(schedule, utc("2026-01-07T06:00Z")) == (CLEO,)
    assert on_call(schedule, utc("2026-01-07T12:00Z")) == (DAN,)
    assert on_call(schedule, utc("2026-01-08T00:00Z")) == (BEN, ANN)


def test_an_override_holds_before_the_rotation_starts() -> None:
    early = Override(DAN, utc("2026-01-01T00:00Z"), utc("2026-01-02T00:00Z"))

    assert next_on_call(berlin(WEEKLY, overrides=(early,)), utc("2025-12-31T00:00Z")) == utc("2026-01-01T00:00Z")
    assert next_on_call(berlin(WEEKLY, overrides=(early,)), utc("2026-01-02T00:00Z")) == utc("2026-01-05T08:00Z")


@pytest.mark.parametrize(
    "schedule",
    [
        berlin(),
        berlin(shifts=(Shift(ANN, utc("2025-01-01T00:00Z"), utc("2025-01-02T00:00Z")),)),
        berlin(Rotation((ANN,), datetime.fromisoformat("2028-01-01T00:00"), 7)),
    ],
)
def test_a_schedule_that_names_nobody_for_a_year_names_nobody(schedule: Schedule) -> None:
    assert next_on_call(schedule, utc("2026-01-01T00:00Z")) is None


def test_the_coming_weeks() -> None:
    schedule = berlin(WEEKLY, overrides=(Override(DAN, utc("2026-03-28T12:00Z"), utc("2026-03-29T12:00Z")),))

    assert turns(schedule, utc("2026-03-24T00:00Z"), utc("2026-04-08T00:00Z")) == (
        Turn(CLEO, utc("2026-03-24T00:00Z"), utc("2026-03-28T12:00Z")),
        Turn(DAN, utc("2026-03-28T12:00Z"), utc("2026-03-29T12:00Z")),
        Turn(CLEO, utc("2026-03-29T12:00Z"), utc("2026-03-30T07:00Z")),
        Turn(ANN, utc("2026-03-30T07:00Z"), utc("2026-04-06T07:00Z")),
        Turn(BEN, utc("2026-04-06T07:00Z"), utc("2026-04-08T00:00Z")),
    )


def test_somebody_alone_has_one_long_turn() -> None:
    alone = berlin(Rotation((ANN,), MONDAY, 1))

    assert turns(alone, utc("2026-01-01T00:00Z"), utc("2026-02-01T00:00Z")) == (
        Turn(ANN, utc("2026-01-05T08:00Z"), utc("2026-02-01T00:00Z")),
    )
    assert turns(alone, utc("2026-02-01T00:00Z"), utc("2026-02-01T00:00Z")) == ()


people = st.sampled_from([ANN, BEN, CLEO, DAN])
spans = st.builds(
    lambda begin, length: (utc("2026-03-20T00:00Z") + begin * MINUTE * 30, length * MINUTE * 30),
    st.integers(0, 900),
    st.integers(1, 200),
)
windows = st.sampled_from(["", "daily 22:00-02:30", "mon-fri 09:00-17:00", "sun 0-24"]).map(parse_windows)
rotations = st.builds(
    Rotation,
    st.lists(people, min_size=1, max_size=4).map(tuple),
    st.integers(-2000, 700).map(lambda step: datetime.fromisoformat("2026-03-20T00:00") + step * MINUTE * 30),
    st.integers(1, 10),
    windows,
)
schedules = st.builds(
    Schedule,
    st.just("any"),
    st.sampled_from(["Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata", "America/New_York"]),
    st.lists(rotations, max_size=3).map(tuple),
    st.lists(st.builds(lambda who, span: Override(who, span[0], span[0] + span[1]), people, spans), max_size=3).map(
        tuple
    ),
    st.lists(st.builds(lambda who, span: Shift(who, span[0], span[0] + span[1]), people, spans), max_size=4).map(tuple),
)


@settings(max_examples=60, deadline=None)
@given(schedules)
def test_what_is_shown_is_who_is_on_call(schedule: Schedule) -> None:
    begin, end = utc("2026-03-22T00:00Z"), utc("2026-04-08T00:00Z")

    shown = turns(schedule, begin, end)

    for step in range((end - begin) // (MINUTE * 30)):
        at = begin + step * MINUTE * 30
        assert set(on_call(schedule, at)) == {turn.person for turn in shown if turn.start <= at < turn.end}
    assert list(shown) == sorted(shown, key=lambda turn: turn.start)
    assert all(begin <= turn.start < turn.end <= end for turn in shown)


@settings(max_examples=60, deadline=None)
@given(schedules, st.integers(0, 900))
def test_the_next_instant_with_somebody_is_the_first(schedule: Schedule, step: int) -> None:
    at = utc("2026-03-20T00:00Z") + step * MINUTE * 30

    found = next_on_call(schedule, at)

    if found is None:
        assert not schedule.rotations
    else:
        assert on_call(schedule, found)
    until = found or at + 30 * DAY
    assert not any(on_call(schedule, at + (until - at) * share / 61) for share in range(61) if until > at)


def test_a_long_list_of_shifts_is_shown_in_no_time() -> None:
    begin = utc("2026-03-01T00:00Z")
    shifts = tuple(Shift((ANN, BEN, CLEO)[n % 3], begin + n * MINUTE, begin + (n + 1) * MINUTE) for n in range(5000))

    assert len(turns(berlin(shifts=shifts), begin, begin + 5 * DAY)) == 5000


@pytest.mark.parametrize(
    ("people", "starts", "turn_days", "wrong"),
    [
        ((), MONDAY, 7, "at least one person"),
        ((ANN,), MONDAY.replace(tzinfo=UTC), 7, "local time"),
        ((ANN,), MONDAY, 0, "between 1 and 366 days"),
        ((ANN,), MONDAY, 10**9, "between 1 and 366 days"),
    ],
)
def test_a_rotation_that_makes_no_sense_is_none(
    people: tuple[PersonId, ...], starts: datetime, turn_days: int, wrong: str
) -> None:
    with pytest.raises(ValueError, match=wrong):
        Rotation(people, starts, turn_days)


@pytest.mark.parametrize("kind", [Override, Shift, Turn])
def test_what_ends_before_it_starts_is_nothing(kind: type[Override | Shift | Turn]) -> None:
    with pytest.raises(ValueError, match="after the start"):
        kind(ANN, utc("2026-01-02T00:00Z"), utc("2026-01-02T00:00Z"))
    with pytest.raises(ValueError, match="time zone"):
        kind(ANN, MONDAY, MONDAY + DAY)


def test_a_handover_does_not_wait_for_the_end_of_a_window() -> None:
    nights = Rotation((ANN, BEN), datetime.fromisoformat("2026-01-05T00:00"), 1, parse_windows("daily 22:00-06:00"))
    schedule = berlin(nights)

    assert is_within(Hours("Europe/Berlin", nights.windows), utc("2026-01-05T23:30Z"))
    assert on_call(schedule, utc("2026-01-05T22:30Z")) == (ANN,)
    assert on_call(schedule, utc("2026-01-05T23:30Z")) == (BEN,)
