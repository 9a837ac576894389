"""A policy that was stored earlier is read although people have left since; nothing else is forgiven."""

from adapters.policy import read_policy
from tests.policy.people import DANA, TEAM
from tests.policy.test_problems import BROKEN, problems

STORED = """
[groups]
release = ["Dana", "Gone"]

[schedules.s]
zone = "UTC"
rotations = [{ people = ["Gone"], starts = 2026-01-05T09:00:00, every = "1w" }]
shifts = [{ person = "Gone", start = 2026-01-01T00:00:00Z, end = 2026-01-02T00:00:00Z }]

[[answer]]
name = "a"
kind = "approval"
by = [{ group = "release", need = 2 }, { people = ["Gone"] }]

[[ladder]]
name = "l"
steps = [{ escalate = "20m", to = ["Gone", "Dana"] }, { escalate = "30m", to = ["Gone"] }]
"""


def test_what_was_stored_is_read_without_the_people_who_left() -> None:
    assert len(problems(STORED)) == 6

    book = read_policy(STORED, TEAM, version=3, lenient=True)

    assert book.version == 3
    assert book.groups["release"].members == (DANA.id,)
    assert (book.schedules["s"].rotations, book.schedules["s"].shifts) == ((), ())
    # The seats stay, so that nobody fills them: leaving them out would let fewer people decide.
    assert [seats.people for seats in book.answers[0].seats] == [(), ()]
    assert [seats.need for seats in book.answers[0].seats] == [2, 1]
    assert [step.audience for step in book.ladders[0].steps] == [("person:p_dana",), ()]


def test_nothing_else_is_forgiven_in_what_was_stored() -> None:
    lenient = problems(BROKEN, lenient=True)

    strangers = {"groups.release[1]", "answer[0].by[2].people[0]", "ladder[0].steps[2].to[3]"}
    assert [each for each in problems(BROKEN) if each[0] not in strangers] == lenient


def test_people_who_turned_out_to_be_one_do_not_lock_the_stored_policy() -> None:
    text = '[[answer]]\nname = "a"\nkind = "approval"\nby = [{ people = ["Dana", "p_dana"], need = 2 }]'

    assert len(problems(text)) == 1
    assert problems(text, lenient=True) == []
