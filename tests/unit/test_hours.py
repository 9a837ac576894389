"""Windows in local time, held against a model that looks at every minute and knows no shortcut."""

from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.hours import (
    MOST_WINDOWS,
    Hours,
    Window,
    instant_of,
    is_within,
    next_outside,
    next_within,
    parse_windows,
    stretches,
    windows_text,
    zone_problem,
)

MINUTE = timedelta(minutes=1)
OFFICE = parse_windows("mon-fri 09:00-17:00, sat 10:00-12:00")
#: A zone and an instant shortly before its clocks change.
CHANGES = [
    ("Europe/Berlin", "2026-03-29T01:00Z"),
    ("Europe/Berlin", "2026-10-25T01:00Z"),
    ("America/New_York", "2026-03-08T07:00Z"),
    ("America/New_York", "2026-11-01T06:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T15:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30Z"),
    ("Asia/Kolkata", "2026-03-29T01:00Z"),
    ("America/Havana", "2026-11-01T05:00Z"),  # goes back to midnight
    ("Asia/Beirut", "2026-03-28T22:00Z"),  # skips midnight
    ("Pacific/Apia", "2011-12-30T10:00Z"),  # skips a whole day
]


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def hours(text: str, zone: str = "Europe/Berlin") -> Hours:
    return Hours(zone, parse_windows(text))


# The model: the week as a set of minutes, the clock of the zone, and patience.


def minutes_of_the_week(windows: tuple[Window, ...]) -> set[int]:
    found = set()
    for window in windows:
        start, end = (at.hour * 60 + at.minute for at in (window.start, window.end))
        length = end - start if end > start else end - start + 1440
        for day in window.days:
            found |= {(day * 1440 + start + step) % 10080 for step in range(length)}
    return found


def model_is_within(minutes: set[int], zone: str, at: datetime) -> bool:
    wall = at.astimezone(ZoneInfo(zone))
    return wall.weekday() * 1440 + wall.hour * 60 + wall.minute in minutes


clocks = st.builds(time, st.integers(0, 23), st.sampled_from([0, 15, 30, 45, 59]))
some_windows = st.lists(
    st.builds(Window, st.lists(st.integers(0, 6), min_size=1, max_size=7).map(tuple), clocks, clocks),
    min_size=1,
    max_size=4,
).map(tuple)
zones = st.sampled_from([zone for zone, _ in CHANGES])
instants = st.datetimes(datetime(2011, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
calendars = st.builds(Hours, zones, some_windows)


@pytest.mark.parametrize(("zone", "change"), CHANGES)
@pytest.mark.parametrize(
    "text",
    [
        "daily 02:00-03:00",
        "daily 02:30-04:00",
        "daily 01:00-02:30",
        "daily 22:00-02:15",
        "daily 00:00-01:30",
        "sat 00:00-24:00",
        "sun 00:00-24:00, mon 09:00-17:00",
        "mon-fri 09:00-17:00",
    ],
)
def test_around_clock_changes_every_minute_is_as_the_model_has_it(zone: str, change: str, text: str) -> None:
    calendar = hours(text, zone)
    minutes = minutes_of_the_week(calendar.windows)
    steps = [utc(change) - timedelta(hours=26) + MINUTE * step for step in range(52 * 60)]

    inside = [model_is_within(minutes, zone, at) for at in steps]

    assert [is_within(calendar, at) for at in steps] == inside
    for expected, found in ((True, next_within), (False, next_outside)):
        following = None
        for at, is_inside in reversed(list(zip(steps, inside, strict=True))):
            following = at if is_inside is expected else following
            if following is not None and at.minute % 5 == 0:
                assert found(calendar, at) == following
    covered = [at for since, until in stretches(calendar, steps[0], steps[-1]) for at in minutes_between(since, until)]
    assert covered == [at for at, is_inside in zip(steps[:-1], inside, strict=False) if is_inside]


def minutes_between(since: datetime, until: datetime) -> list[datetime]:
    return [since + MINUTE * step for step in range((until - since) // MINUTE)]


@given(calendars, instants)
def test_the_next_instant_inside_is_inside_and_nothing_before_it_is(calendar: Hours, at: datetime) -> None:
    found = next_within(calendar, at)

    assert is_within(calendar, found)
    assert found >= at
    assert found.tzinfo is UTC
    assert not any(is_within(calendar, at + (found - at) * share / 97) for share in range(97) if found > at)


@given(calendars, instants)
def test_the_next_instant_outside_is_outside_unless_there_is_none(calendar: Hours, at: datetime) -> None:
    found = next_outside(calendar, at)

    if len(minutes_of_the_week(calendar.windows)) == 10080:
        assert found == at
    else:
        assert not is_within(calendar, found)
        between = (at + (found - at) * share / 97 for share in range(97))
        assert all(is_within(calendar, instant) for instant in between if instant < found)


@settings(max_examples=30)
@given(calendars, instants)
def test_stretches_are_where_the_calendar_is_inside(calendar: Hours, at: datetime) -> None:
    end = at + timedelta(days=9)

    found = list(stretches(calendar, at, end))

    for step in range(9 * 48):
        then = at + timedelta(minutes=30) * step
        assert is_within(calendar, then) is any(since <= then < until for since, until in found)
    assert all(first[1] < second[0] for first, second in pairwise(found))


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-03-02T08:00Z", "2026-03-02T08:00Z"),  # Monday at nine, the first instant
        ("2026-03-02T07:59:59Z", "2026-03-02T08:00Z"),
        ("2026-03-02T16:00Z", "2026-03-03T08:00Z"),  # five o'clock is outside again
        ("2026-03-06T20:00Z", "2026-03-07T09:00Z"),  # Friday evening to Saturday at ten
        ("2026-03-07T11:00Z", "2026-03-09T08:00Z"),  # over the weekend
        ("2026-03-28T12:00Z", "2026-03-30T07:00Z"),  # over the clock change: nine is an hour earlier
        ("2026-12-31T20:00Z", "2027-01-01T08:00Z"),  # over the end of the year
        ("2026-03-02T10:00+05:30", "2026-03-02T08:00Z"),  # whatever zone the instant is written in
    ],
)
def test_next_office_hours_in_berlin(at: str, expected: str) -> None:
    assert next_within(Hours("Europe/Berlin", OFFICE), datetime.fromisoformat(at)) == utc(expected)


@pytest.mark.parametrize(
    ("text", "zone", "at", "expected"),
    [
        # Starts in the hour that is skipped: when the skip is.
        ("sun 02:30-04:00", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-29T01:00Z"),
        ("sun 02:15-04:00", "Australia/Lord_Howe", "2026-10-03T12:00Z", "2026-10-03T15:30Z"),
        # Lies in it altogether: next week.
        ("sun 02:00-03:00", "Europe/Berlin", "2026-03-28T12:00Z", "2026-04-05T00:00Z"),
        # In the hour that happens twice: the first time, and again.
        ("sun 02:00-03:00", "Europe/Berlin", "2026-10-24T12:00Z", "2026-10-25T00:00Z"),
        ("sun 02:15-02:30", "Europe/Berlin", "2026-10-25T00:30Z", "2026-10-25T01:15Z"),
        ("sun 01:30-01:45", "Australia/Lord_Howe", "2026-04-04T14:45Z", "2026-04-04T15:00Z"),
        # A Friday that was left out.
        ("fri 10:00-11:00", "Pacific/Apia", "2011-12-29T12:00Z", "2012-01-05T20:00Z"),
    ],
)
def test_windows_where_clocks_change(text: str, zone: str, at: str, expected: str) -> None:
    assert next_within(hours(text, zone), utc(at)) == utc(expected)


def test_an_hour_that_happens_twice_is_covered_twice_and_without_a_break() -> None:
    night = stretches(hours("sun 02:00-03:00"), utc("2026-10-24T00:00Z"), utc("2026-10-26T00:00Z"))

    assert list(night) == [(utc("2026-10-25T00:00Z"), utc("2026-10-25T02:00Z"))]


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-03-02T12:00Z", "2026-03-02T12:00Z"),
        ("2026-03-02T21:00Z", "2026-03-03T06:00Z"),
        ("2026-03-03T05:59Z", "2026-03-03T06:00Z"),
        ("2026-03-28T22:00Z", "2026-03-29T05:00Z"),  # a short night
        ("2026-10-24T21:00Z", "2026-10-25T06:00Z"),  # a long one
    ],
)
def test_quiet_hours_end_in_the_morning(at: str, expected: str) -> None:
    assert next_outside(hours("daily 22:00-07:00"), utc(at)) == utc(expected)


@pytest.mark.parametrize("text", ["daily 00:00-24:00", "daily 09:00-09:00", "mon-fri 0-24, sat,sun 0-24", ""])
def test_quiet_hours_without_an_end_hold_nothing(text: str) -> None:
    at = utc("2026-03-02T12:00Z")

    assert next_outside(hours(text), at) == at


def test_no_windows_is_always() -> None:
    at = utc("2026-03-02T03:00Z")

    assert is_within(Hours("Europe/Berlin"), at)
    assert next_within(Hours("Europe/Berlin"), at) == at


@pytest.mark.parametrize(
    ("wall", "zone", "expected"),
    [
        ("2026-07-01T09:00", "Europe/Berlin", "2026-07-01T07:00Z"),
        ("2026-03-29T02:00", "Europe/Berlin", "2026-03-29T01:00Z"),
        ("2026-03-29T02:59", "Europe/Berlin", "2026-03-29T01:00Z"),
        ("2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30Z"),
        ("2026-10-04T02:15", "Australia/Lord_Howe", "2026-10-03T15:30Z"),
        ("2011-12-30T12:00", "Pacific/Apia", "2011-12-30T10:00Z"),
    ],
)
def test_local_times_as_instants(wall: str, zone: str, expected: str) -> None:
    assert instant_of(datetime.fromisoformat(wall), zone) == utc(expected)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("mon-fri 09:00-17:00, sat 10:00-12:00", "mon-fri 09:00-17:00, sat 10:00-12:00"),
        ("daily 22:00-07:00", "daily 22:00-07:00"),
        ("mon,wed 9-17", "mon,wed 09:00-17:00"),
        ("Monday - Friday 9:00 – 17:30;  SAT 10-12", "mon-fri 09:00-17:30, sat 10:00-12:00"),
        ("weekdays 9-12, weekends 0-24", "mon-fri 09:00-12:00, sat,sun 00:00-24:00"),
        ("fri-mon 18:00-0:00", "mon,fri-sun 18:00-24:00"),
        ("mon-sun 8-20", "daily 08:00-20:00"),
        ("wed,mon, tue 8-20", "mon-wed 08:00-20:00"),
        ("  ", ""),
    ],
)
def test_windows_as_people_write_them(text: str, canonical: str) -> None:
    assert windows_text(parse_windows(text)) == canonical


@given(some_windows)
def test_what_is_written_is_read_back_the_same(windows: tuple[Window, ...]) -> None:
    assert parse_windows(windows_text(windows)) == windows
    assert windows_text(parse_windows(windows_text(windows))) == windows_text(windows)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("9-17", "“9-17” is not understood."),
        ("mon 9", "“mon 9” is not understood."),
        ("mon 9-17 tue 9-17", "“mon 9-17 tue 9-17” is not understood."),
        ("mon 9-17, noon", "“noon” is not understood."),
        ("mo 9-17", "“mo” is not a day."),
        ("mon-daily 9-17", "“daily” is not a day."),
        ("mon 9-25", "“25” is not a time of day."),
        ("mon 24-9", "“24” is not a time of day."),
        ("mon 9:60-10", "“9:60” is not a time of day."),
    ],
)
def test_what_is_wrong_is_said_with_what_would_be_right(text: str, wrong: str) -> None:
    with pytest.raises(ValueError, match="Write days and times such as “mon-fri 09:00-17:00") as refused:
        parse_windows(text)

    assert str(refused.value).startswith(wrong)


@given(st.text(alphabet="montuewdfri -,;:0123456789–", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        windows = parse_windows(text)
    except ValueError:
        return
    assert parse_windows(windows_text(windows)) == windows


def test_there_are_only_so_many_windows() -> None:
    assert len(parse_windows(", ".join(["mon 9-17"] * MOST_WINDOWS))) == MOST_WINDOWS
    with pytest.raises(ValueError, match="at most 50"):
        parse_windows(", ".join(["mon 9-17"] * (MOST_WINDOWS + 1)))


@pytest.mark.parametrize(
    ("days", "start"), [((), time(9)), ((7,), time(9)), ((0,), time(9, 0, 1)), ((0,), time(9, tzinfo=UTC))]
)
def test_a_window_that_makes_no_sense_is_none(days: tuple[int, ...], start: time) -> None:
    with pytest.raises(ValueError, match=r"A window"):
        Window(days, start, time(17))


def test_an_instant_without_a_zone_is_none() -> None:
    with pytest.raises(ValueError, match="needs its time zone"):
        is_within(Hours("UTC", OFFICE), datetime(2026, 3, 2, 9))  # noqa: DTZ001


@pytest.mark.parametrize("name", ["Europe/Berlin", "UTC", "America/Argentina/Buenos_Aires", "Australia/Lord_Howe"])
def test_time_zones_there_are(name: str) -> None:
    assert zone_problem(name) is None


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Europe/Berln", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        ("Berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("utc", "UTC"),
    ],
)
def test_a_name_that_is_nearly_right(name: str, meant: str) -> None:
    assert zone_problem(name) == f"“{name}” is not a time zone. Did you mean “{meant}”?"


@pytest.mark.parametrize("name", ["", "CEST", "../../etc/passwd", "+02:00", "\0"])
def test_a_name_nothing_is_near_to(name: str) -> None:
    assert zone_problem(name) == f"“{name}” is not a time zone. Write one such as “Europe/Berlin” or “UTC”."
