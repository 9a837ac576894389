"""Shifts out of calendar files: as Google and Outlook write them, and as somebody writes them who means harm."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.icalendar import LARGEST_BYTES, MOST_SHIFTS, shifts_from
from core.ids import PersonId
from core.schedules import Shift

ANN, BEN = PersonId("ann"), PersonId("ben")
PEOPLE = {"ann@example.org": ANN, "ben@example.org": BEN, "ann": ANN, "ben": BEN, "ben de boer": BEN}
MARCH = (datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC))
YEAR = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
UNREADABLE = "This file cannot be read as a calendar. It should be an iCalendar file (.ics)."


def who(name: str) -> PersonId | None:
    return PEOPLE.get(name.lower())


def event(*lines: str, uid: str = "1", summary: str = "Ann") -> str:
    return "\r\n".join(["BEGIN:VEVENT", f"UID:{uid}", f"SUMMARY:{summary}", *lines, "END:VEVENT"])


def calendar(*components: str) -> str:
    return "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:test", *components, "END:VCALENDAR", ""])


def read(
    *components: str, horizon: tuple[datetime, datetime] = MARCH, zone: str = "Europe/Berlin"
) -> tuple[tuple[Shift, ...], tuple[str, ...]]:
    return shifts_from(calendar(*components), who, start=horizon[0], end=horizon[1], zone=zone)


def times(shifts: tuple[Shift, ...]) -> list[tuple[str, str]]:
    return [(f"{shift.start:%m-%dT%H:%M}", f"{shift.end:%m-%dT%H:%M}") for shift in shifts]


def zone_of(name: str, offset: str = "+0300", rule: str = "") -> str:
    return "\r\n".join(
        [
            *("BEGIN:VTIMEZONE", f"TZID:{name}", "BEGIN:STANDARD", "DTSTART:19700101T000000"),
            *(f"TZOFFSETFROM:{offset}", f"TZOFFSETTO:{offset}", *([rule] if rule else [])),
            *("END:STANDARD", "END:VTIMEZONE"),
        ]
    )


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("DTSTART:20260302T080000Z", "DTEND:20260302T160000Z"), ("03-02T08:00", "03-02T16:00")),
        (("DTSTART:20260302T080000Z", "DURATION:PT8H"), ("03-02T08:00", "03-02T16:00")),
        # Floating: on the walls of the schedule's zone.
        (("DTSTART:20260302T090000", "DTEND:20260302T170000"), ("03-02T08:00", "03-02T16:00")),
        (("DTSTART:20260330T090000", "DTEND:20260330T170000"), ("03-30T07:00", "03-30T15:00")),
        # With a zone, by IANA's name, by Microsoft's and by the name some programs put before it.
        (
            ("DTSTART;TZID=America/New_York:20260309T090000", "DTEND;TZID=America/New_York:20260309T170000"),
            ("03-09T13:00", "03-09T21:00"),
        ),
        (
            ("DTSTART;TZID=W. Europe Standard Time:20260302T090000", "DURATION:PT8H"),
            ("03-02T08:00", "03-02T16:00"),
        ),
        (
            ("DTSTART;TZID=/freeassociation.sourceforge.net/Europe/Berlin:20260302T090000", "DURATION:PT8H"),
            ("03-02T08:00", "03-02T16:00"),
        ),
        # Whole days, one of them 23 hours long.
        (("DTSTART;VALUE=DATE:20260302", "DTEND;VALUE=DATE:20260304"), ("03-01T23:00", "03-03T23:00")),
        (("DTSTART;VALUE=DATE:20260329",), ("03-28T23:00", "03-29T22:00")),
        # In the hour that is skipped: with the offset before it.
        (("DTSTART:20260329T023000", "DTEND:20260329T060000"), ("03-29T01:30", "03-29T04:00")),
    ],
)
def test_when_a_shift_is(lines: tuple[str, ...], expected: tuple[str, str]) -> None:
    shifts, problems = read(event(*lines))

    assert problems == ()
    assert times(shifts) == [expected]
    assert shifts[0].person == ANN


def test_a_weekly_shift_stays_at_its_local_time_with_one_left_out_one_moved_and_one_cancelled() -> None:
    berlin = "TZID=Europe/Berlin"
    shifts, problems = read(
        event(
            f"DTSTART;{berlin}:20260302T090000",
            f"DTEND;{berlin}:20260302T170000",
            "RRULE:FREQ=WEEKLY",
            f"EXDATE;{berlin}:20260309T090000",
        ),
        event(
            f"RECURRENCE-ID;{berlin}:20260316T090000",
            f"DTSTART;{berlin}:20260317T120000",
            f"DTEND;{berlin}:20260317T130000",
            summary="Ben",
        ),
        event(
            f"RECURRENCE-ID;{berlin}:20260323T090000",
            f"DTSTART;{berlin}:20260323T090000",
            f"DTEND;{berlin}:20260323T170000",
            "STATUS:CANCELLED",
        ),
    )

    assert problems == ()
    assert times(shifts) == [
        ("03-02T08:00", "03-02T16:00"),
        ("03-17T11:00", "03-17T12:00"),
        ("03-30T07:00", "03-30T15:00"),  # summer time
    ]
    assert [shift.person for shift in shifts] == [ANN, BEN, ANN]


@pytest.mark.parametrize("before", [True, False])
def test_a_zone_described_in_the_file_holds_for_this_file_only(before: bool) -> None:
    shift = event("DTSTART;TZID=Our Office:20260302T090000", "DURATION:PT8H")
    described = zone_of("Our Office")

    shifts, problems = read(*((described, shift) if before else (shift, described)))

    assert (times(shifts), problems) == ([("03-02T06:00", "03-02T14:00")], ())
    assert read(zone_of("Our Office", "+0500"), shift)[0] == (
        Shift(ANN, datetime(2026, 3, 2, 4, tzinfo=UTC), datetime(2026, 3, 2, 12, tzinfo=UTC)),
    )
    assert read(shift) == (
        (),
        ("The event “Ann”: the time zone “Our Office” is not known, and the file does not describe it.",),
    )


def test_a_file_cannot_move_the_zones_of_another() -> None:
    read(zone_of("W. Europe Standard Time", "+1400"))

    shifts, _ = read(event("DTSTART;TZID=W. Europe Standard Time:20260302T090000", "DURATION:PT8H"))

    assert times(shifts) == [("03-02T08:00", "03-02T16:00")]


def test_outlooks_zone_with_its_rules_is_understood() -> None:
    described = "\r\n".join(
        [
            *("BEGIN:VTIMEZONE", "TZID:Central", "BEGIN:STANDARD", "DTSTART:16010101T030000"),
            *("TZOFFSETFROM:+0200", "TZOFFSETTO:+0100", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10", "END:STANDARD"),
            *("BEGIN:DAYLIGHT", "DTSTART:16010101T020000", "TZOFFSETFROM:+0100", "TZOFFSETTO:+0200"),
            *("RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3", "END:DAYLIGHT", "END:VTIMEZONE"),
        ]
    )
    shift = event("DTSTART;TZID=Central:20260323T090000", "DTEND;TZID=Central:20260323T170000", "RRULE:FREQ=WEEKLY")

    shifts, problems = read(described, shift)

    assert (times(shifts), problems) == ([("03-23T08:00", "03-23T16:00"), ("03-30T07:00", "03-30T15:00")], ())


@pytest.mark.parametrize(
    ("lines", "summary", "person"),
    [
        (("ATTENDEE;CN=Ben:mailto:Ben@example.org",), "Ann", BEN),
        (("ATTENDEE:mailto:room@example.org", "ATTENDEE:MAILTO:ben@example.org"), "Ann", BEN),
        (("ATTENDEE;EMAIL=ben@example.org:urn:uuid:1",), "Ann", BEN),
        (("ORGANIZER:mailto:ben@example.org",), "Ann", BEN),
        (("ORGANIZER:mailto:boss@example.org",), "On call: Ann", ANN),
        ((), "On call (ann@example.org)", ANN),
        ((), "Ann for Ben de Boer", BEN),  # the longer name is the surer one
        ((), "Primary - ben.", BEN),
    ],
)
def test_who_is_on_call(lines: tuple[str, ...], summary: str, person: PersonId) -> None:
    shifts, problems = read(event("DTSTART:20260302T080000Z", "DURATION:PT8H", *lines, summary=summary))

    assert ([shift.person for shift in shifts], problems) == ([person], ())


def test_all_problems_are_told_at_once_and_the_rest_is_taken() -> None:
    utc = ("DTSTART:20260302T080000Z", "DTEND:20260302T160000Z")
    shifts, problems = read(
        event(*utc),
        event(*utc, "RRULE:FREQ=DAILY", uid="2", summary="Zoe"),
        event("DTSTART:20260302T080000Z", uid="3", summary="No end"),
        event("DTSTART:20260302T080000Z", "DTEND:20260302T070000Z", uid="4", summary="Ann backwards"),
        event("DTSTART:20260302T080000Z", "DTEND;VALUE=DATE:20260303", uid="12", summary="Ann mixed"),
        event(*utc, "RRULE:FREQ=YEARLY;BYDAY=60MO", uid="13", summary="Ann strangely"),
        event("DTSTART:2026-03-02", "DURATION:PT1H", uid="5", summary="Ann unreadable"),
        event("DURATION:PT1H", uid="6", summary="Ann some time"),
        event(*utc, "RRULE:FREQ=SECONDLY", uid="7", summary="Ann always"),
        event(*utc, "RRULE:FREQ=DAILY;BYHOUR=1,2,3", uid="8", summary="Ann often"),
        event(*utc, "RRULE:FREQ=DAILY", "RRULE:FREQ=WEEKLY", uid="9", summary="Ann twice"),
        event("DTSTART;TZID=Mars/Olympus:20260302T080000", "DURATION:PT1H", uid="10", summary="Ann far away"),
        event(*utc, "STATUS:CANCELLED", uid="11", summary="Zoe too"),
    )

    assert times(shifts) == [("03-02T08:00", "03-02T16:00")]
    repeats = "repeats in a way that is not supported. A shift may repeat by days, weeks, months or years."
    assert sorted(problems) == sorted(
        [
            "The event “Zoe” names nobody who is known here, neither by mail address nor by name.",
            "The event “No end” has no end. Give it an end or a duration.",
            "The event “Ann backwards” does not end after its start.",
            "The event “Ann mixed” does not end after its start.",
            "The event “Ann strangely” cannot be worked out: its times or its repetition make no sense.",
            "The event “Ann unreadable”: its DTSTART cannot be read.",
            "The event “Ann some time” has no start.",
            f"The event “Ann always” {repeats}",
            f"The event “Ann often” {repeats}",
            "The event “Ann twice” says twice when it is or how it repeats; it may say so once.",
            "The event “Ann far away”: the time zone “Mars/Olympus” is not known, and the file does not describe it.",
        ]
    )


def test_only_shifts_that_touch_the_horizon_count_and_they_stay_whole() -> None:
    def of_day(day: str, following: str, uid: str) -> str:
        return event(f"DTSTART;VALUE=DATE:{day}", f"DTEND;VALUE=DATE:{following}", uid=uid)

    shifts, problems = read(
        of_day("20260228", "20260301", "1"),  # ends an hour before the horizon in UTC: the zone is Berlin
        of_day("20260228", "20260302", "2"),
        of_day("20260331", "20260402", "3"),
        of_day("20260402", "20260403", "4"),
    )

    assert (times(shifts), problems) == ([("02-27T23:00", "03-01T23:00"), ("03-30T22:00", "04-01T22:00")], ())


def test_a_rule_without_end_ends_with_the_horizon() -> None:
    shifts, problems = read(event("DTSTART:20200101T080000Z", "DURATION:PT8H", "RRULE:FREQ=DAILY"), horizon=YEAR)

    assert (len(shifts), problems) == (365, ())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "There is no calendar in this file; it should begin with “BEGIN:VCALENDAR”."),
        ("<html>\n<body>Please sign in</body>\n</html>", UNREADABLE),
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR\nEND:VEVENT\nEND:X\n", UNREADABLE),
        (
            event("DTSTART:20260302T080000Z") + "\r\n",
            "There is no calendar in this file; it should begin with “BEGIN:VCALENDAR”.",
        ),
        ("x" * (LARGEST_BYTES + 1), "This calendar is larger than 2 MB."),
        ("ä" * (LARGEST_BYTES // 2 + 1), "This calendar is larger than 2 MB."),
    ],
)
def test_a_file_that_is_no_calendar_has_one_clear_problem(text: str, problem: str) -> None:
    assert shifts_from(text, who, start=MARCH[0], end=MARCH[1], zone="UTC") == ((), (problem,))


def test_a_path_is_not_a_calendar(tmp_path: Path) -> None:
    secret = tmp_path / "secret.ics"
    secret.write_text(calendar(event("DTSTART:20260302T080000Z", "DURATION:PT8H")), encoding="utf-8")

    shifts, problems = shifts_from(str(secret), who, start=MARCH[0], end=MARCH[1], zone="UTC")

    assert (shifts, problems) == ((), (UNREADABLE,))


def test_there_are_only_so_many_shifts_and_problems() -> None:
    lines = ("DTSTART:19710101T080000Z", "DTEND:20260101T080000Z", "RRULE:FREQ=DAILY")

    shifts, problems = read(event(*lines), horizon=YEAR)

    assert len(shifts) == MOST_SHIFTS
    assert problems == ("There are more than 5,000 shifts in this calendar; the rest is left out.",)

    many = [event("DTSTART:20260302T080000Z", uid=str(n), summary=f"Event {n}") for n in range(150)]
    _, problems = read(*many)

    assert (len(problems), problems[-1]) == (101, "There are 50 more problems like these.")


@pytest.mark.parametrize(
    "components",
    [
        [zone_of("Bad", rule="RRULE:FREQ=SECONDLY"), event("DTSTART;TZID=Bad:20260302T080000", "DURATION:PT1H")],
        [zone_of("Bad", rule="RRULE:FREQ=YEARLY;BYDAY=MO"), event("DTSTART;TZID=Bad:20260302T080000", "DURATION:PT1H")],
        [zone_of(f"Bad {n}", rule="RRULE:FREQ=YEARLY") for n in range(500)],
    ],
)
def test_zones_made_to_keep_us_busy_are_refused(components: list[str]) -> None:
    problem = "The time zones this file brings along (VTIMEZONE) are not such as calendars write them."

    assert read(*components) == ((), (problem,))


def test_rules_that_never_come_up_do_not_keep_us_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.icalendar.shifts._LONGEST_SECONDS", 0.1)
    lines = ("DTSTART:20260101T080000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30")
    began = datetime.now(UTC)

    _, problems = read(*(event(*lines, uid=str(n)) for n in range(5000)))

    assert problems == ("This calendar takes too long to work out. Export fewer events, or only those to come.",)
    assert datetime.now(UTC) - began < timedelta(seconds=60)


def test_a_file_nested_as_deep_as_it_is_long_is_read() -> None:
    deep = "BEGIN:VEVENT\r\n" * 20000 + "END:VEVENT\r\n" * 20000

    assert read(deep.strip()) == ((), ("An event without a title has no start.",))


def test_what_who_raises_is_not_hidden() -> None:
    def broken(name: str) -> PersonId | None:
        raise LookupError(name)

    text = calendar(event("DTSTART:20260302T080000Z", "DURATION:PT8H"))
    with pytest.raises(LookupError):
        shifts_from(text, broken, start=MARCH[0], end=MARCH[1], zone="UTC")


LINES = [
    "DTSTART:20260302T080000Z",
    "DTSTART;VALUE=DATE:20260302",
    "DTSTART;TZID=Europe/Berlin:20260302T080000",
    "DTSTART;VALUE=PERIOD:20260302T080000Z/PT1H",
    "DTSTART:2026-03-02",
    "DTSTART;TZID=Nowhere:20260302T080000",
    "DTEND:tomorrow",
    "EXDATE:never",
    "DTEND:20260302T090000Z",
    "DTEND;VALUE=DATE:20260303",
    "DTEND:99991231T235959Z",
    "DURATION:PT1H",
    "DURATION:-P1D",
    "DURATION:P99999999W",
    "RRULE:FREQ=WEEKLY;BYDAY=MO,9XX",
    "RRULE:FREQ=MONTHLY;COUNT=3",
    "RRULE:FREQ=DAILY;UNTIL=20260310",
    "RRULE:FREQ=YEARLY;BYDAY=60MO",
    "RRULE:nonsense",
    "RRULE:",
    "EXDATE:20260303T080000Z",
    "EXDATE;VALUE=DATE:20260303",
    "RDATE;VALUE=PERIOD:20260305T080000Z/PT2H",
    "RECURRENCE-ID:20260302T080000Z",
    "RECURRENCE-ID;RANGE=THISANDFUTURE:20260302T080000Z",
    "SEQUENCE:x",
    "STATUS:CANCELLED",
    "ATTENDEE:mailto:ann@example.org",
    "ATTENDEE",
    "ORGANIZER:",
    "no line at all",
    "BEGIN:VALARM",
    "END:VEVENT",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(st.sampled_from(LINES), max_size=7), max_size=3), st.booleans())
def test_any_file_gives_shifts_or_sentences(events: list[list[str]], same: bool) -> None:
    shifts, problems = read(*(event(*lines, uid="1" if same else str(n)) for n, lines in enumerate(events)))

    assert all(shift.start < MARCH[1] and shift.end > MARCH[0] for shift in shifts)
    assert all(problem.endswith(".") for problem in problems)
