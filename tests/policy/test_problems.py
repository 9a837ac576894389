"""Everything that can be wrong with a policy is told, where it is and all at once."""

import pytest

from adapters.policy import DEFAULT_TEXT, PolicyProblems, read_policy
from core.roster import Roster
from tests.policy.people import DANA, TEAM, person, roster_of


def problems(text: str, roster: Roster = TEAM, *, lenient: bool = False) -> list[tuple[str, str]]:
    try:
        read_policy(text, roster, version=1, lenient=lenient)
    except PolicyProblems as found:
        return [(problem.where, problem.sentence) for problem in found.problems]
    return []


def answer(more: str = "", by: str = '[{ role = "lead" }]') -> str:
    return f'[[answer]]\nname = "a"\nby = {by}\n{more}\n'


def ladder(step: str, more: str = "") -> str:
    return f'[[ladder]]\nname = "l"\nsteps = [{{ {step} }}]\n{more}\n'


def schedule(more: str, zone: str = "UTC") -> str:
    return f'[schedules.s]\nzone = "{zone}"\n{more}\n'


def rotation(people: str = '["Dana"]', starts: str = "2026-01-05T09:00:00", every: str = '"1w"', more: str = "") -> str:
    return schedule(f"rotations = [{{ people = {people}, starts = {starts}, every = {every}{more} }}]")


def shift(start: str, end: str, who: str = "Dana") -> str:
    return schedule(f'shifts = [{{ person = "{who}", start = {start}, end = {end} }}]')


GROUP = '[groups]\nrelease = ["Dana", "Erik"]\n'
APPROVAL = 'kind = "approval"'
QUORUM = "Quorum goes with approvals: add kind = 'approval'."

CASES: list[tuple[str, str, str]] = [
    # the text
    ("x =", "line 1", "This is not TOML: Invalid value at the end of the text."),
    ('[groups]\na = ["x"\nb = 2', "line 3", "This is not TOML: Unclosed array."),
    ("[groups]\n[groups]", "line 2", "This is not TOML: Cannot declare ('groups',) twice."),
    ("#" * 262_145, "text", "The text is larger than 256 kB."),
    ("#" + "ä" * 131_072, "text", "The text is larger than 256 kB."),
    ("x = " + "[" * 20_000, "text", "The text is nested too deeply."),
    ("x = 1\n" + "a." * 2001 + "a = 1", "line 2", "This line has too many dots."),
    ('x = "\ud800"', "line 1", "This line has half a character, which no file can hold."),
    ("x = " + "9" * 5000, "text", "This is not TOML: Exceeds the limit (4300 digits)"),
    (
        "\n".join(f'[[route]]\nname = "{n}"\nkind = "approval"\nto = ["inbox"]' for n in range(501)),
        "text",
        "There are more than 500 rules.",
    ),
    # keys and types
    ("[[anwser]]", "anwser", "There is no “anwser” here. Did you mean “answer”?"),
    ('"x y" = 1', '"x y"', "There is no “x y” here. There is “unknown_recipients”, “groups”,"),
    (answer("foureyes = true"), "answer[0].foureyes", "There is no “foureyes” here. Did you mean “four_eyes”?"),
    (
        answer(by='[{ rol = "lead", group = "g" }]') + '[groups]\ng = ["Dana"]',
        "answer[0].by[0].rol",
        "There is no “rol”",
    ),
    (answer("solo = 1"), "answer[0].solo", "Write true or false; this is a number."),
    (answer("tool = 1"), "answer[0].tool", "Write a text or a list of texts; this is a number."),
    (answer("tool = [true]"), "answer[0].tool[0]", "Write a text in quotation marks; this is true or false."),
    (answer("tool = []"), "answer[0].tool", "This list is empty. Name at least one, or leave the key out."),
    (answer('tool = ""'), "answer[0].tool", "This text is empty."),
    (answer('tool = " x"'), "answer[0].tool", "This text begins or ends with a space."),
    (answer(f'tool = "{"x" * 201}"'), "answer[0].tool", "This text is longer than 200 characters."),
    (answer('tool = "a\\u0000"'), "answer[0].tool", "This text has characters that cannot be seen."),
    (answer("rejections = 1.5"), "answer[0].rejections", "Write a whole number; this is a number."),
    ("answer = 1", "answer", "Write a list; this is a number."),
    ("answer = [1]", "answer[0]", "Write a table such as { … = … }; this is a number."),
    ("groups = []", "groups", "Write a table, [groups]; this is a list."),
    ("schedules.s = 2026-01-01", "schedules.s", "Write a table, [schedules.NAME]; this is a date."),
    ('unknown_recipients = "drop"', "unknown_recipients", "Write “refuse” or “ask anyway”."),
    ("unknown_recipients = 1", "unknown_recipients", "Write a text in quotation marks; this is a number."),
    # groups
    ('[groups]\ng = ["Danna"]', "groups.g[0]", "Nobody is called “Danna”. Did you mean “Dana”?"),
    ('[groups]\ng = ["Zebulon"]', "groups.g[0]", "Nobody is called “Zebulon”."),
    ("[groups]\ng = []", "groups.g", "A group needs at least one person."),
    ("[groups]\ng = 1", "groups.g", "Write a list of people or a text such as “slack:S0123ABC”; this is a number."),
    ('[groups]\ng = "slack:C0123"', "groups.g", "“C0123” is not the id of a group on slack."),
    ('[groups]\ng = "discord:admins"', "groups.g", "“admins” is not the id of a group on discord."),
    ('[groups]\ng = "Dana"', "groups.g", "“Dana” is not a group. Write a list of people, or"),
    ('[groups]\n"a:b" = ["Dana"]', 'groups."a:b"', "A name has no colon"),
    ('[groups]\n"" = ["Dana"]', 'groups.""', "This text is empty."),
    # schedules
    (schedule("rotations = []"), "schedules.s", "Nobody is ever on call here."),
    ("[schedules.s]\nshifts = [{}]", "schedules.s.zone", "This is missing. Write a time zone such as “Europe/Berlin”."),
    (schedule("", zone="Europe/Berln"), "schedules.s.zone", "“Europe/Berln” is not a time zone. Did you mean “Europe"),
    (rotation(people="[]"), "schedules.s.rotations[0].people", "This list is empty."),
    (rotation(people='["Nobody"]'), "schedules.s.rotations[0].people[0]", "Nobody is called “Nobody”."),
    (schedule("rotations = [{}]"), "schedules.s.rotations[0].people", "This is missing. Name those who take turns."),
    (schedule("rotations = [{}]"), "schedules.s.rotations[0].starts", "This is missing."),
    (schedule("rotations = [{}]"), "schedules.s.rotations[0].every", "This is missing."),
    (rotation(starts="2026-01-05T09:00:00Z"), "schedules.s.rotations[0].starts", "Turns start at a local time"),
    (rotation(starts="2026-01-05"), "schedules.s.rotations[0].starts", "Write a date and time without quotation"),
    (rotation(starts="0001-01-05T00:00:00"), "schedules.s.rotations[0].starts", "The year 1 is out of reach."),
    (rotation(starts='"2026-13-05T09:00"'), "schedules.s.rotations[0].starts", "“2026-13-05T09:00” is not a date"),
    (rotation(every='"12h"'), "schedules.s.rotations[0].every", "“12h” is not the length of a turn."),
    (rotation(every='"60w"'), "schedules.s.rotations[0].every", "“60w” is not the length of a turn."),
    (rotation(more=', hours = "mon-fri 9-25"'), "schedules.s.rotations[0].hours", "“25” is not a time of day."),
    (rotation(more=', hour = "x"'), "schedules.s.rotations[0].hour", "There is no “hour” here. Did you mean “hours”?"),
    (shift("2026-03-02T00:00:00Z", "2026-03-02T01:00:00+01:00"), "schedules.s.shifts[0].end", "The end must be after"),
    (shift("2026-03-02T00:00:00Z", "2026-03-03", "Dana"), "schedules.s.shifts[0].end", "Write a date and time"),
    (
        shift("2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z", "X"),
        "schedules.s.shifts[0].person",
        "Nobody is called “X”.",
    ),
    (schedule("overrides = [{}]"), "schedules.s.overrides[0].person", "This is missing. Name who is on call."),
    # conditions
    (answer('kind = "aproval"'), "answer[0].kind", "“aproval” is not a kind of question. Did you mean “approval”?"),
    (answer('urgency = ["low", "x"]'), "answer[0].urgency[1]", "“x” is not an urgency. There is “low”, “normal”,"),
    (
        answer('risk = "severe"'),
        "answer[0].risk",
        "“severe” is not a risk. There is “low”, “medium”, “high”, “critical” and",
    ),
    # who may answer
    ('[[answer]]\nby = [{ role = "lead" }]', "answer[0].name", "This is missing. Every rule has a name"),
    ('[[answer]]\nname = "a"', "answer[0].by", "This is missing. Say who may answer"),
    (answer(by="[]"), "answer[0].by", "With nobody in it, nobody may answer."),
    (answer(by="[{}]"), "answer[0].by[0]", "Name exactly one: a group, people or a role."),
    (
        answer(by='[{ role = "lead", people = ["Dana"] }]'),
        "answer[0].by[0]",
        "Name exactly one: a group, people or a role.",
    ),
    (answer(by='[{ role = "leader" }]'), "answer[0].by[0].role", "“leader” is not a role. Did you mean “lead”?"),
    (
        GROUP + answer(by='[{ group = "relase" }]'),
        "answer[0].by[0].group",
        "There is no group called “relase”. Did you mean",
    ),
    (
        answer(by='[{ people = ["Nora"] }]'),
        "answer[0].by[0].people[0]",
        "Nobody is called “Nora”. Did you mean “Noor”?",
    ),
    (answer(by="[{ people = [] }]"), "answer[0].by[0].people", "This list is empty."),
    (answer(by='[{ role = "lead", need = 0 }]'), "answer[0].by[0].need", "Write a number from 1 to 100."),
    (
        answer(by='[{ role = "lead", need = true }]'),
        "answer[0].by[0].need",
        "Write a whole number; this is true or false.",
    ),
    (
        GROUP + answer(APPROVAL, by='[{ group = "release", need = 3 }]'),
        "answer[0].by[0].need",
        "3 have to agree, but there are 2 people.",
    ),
    (
        answer(APPROVAL, by='[{ people = ["Dana", "dana@example.com", "p_dana"], need = 2 }]'),
        "answer[0].by[0].need",
        "2 have to agree, but there is 1 person.",
    ),
    (answer(by="[" + '{ role = "lead" },' * 21 + "]"), "answer[0].by", "More than 20 parts are too many."),
    (answer(by='[{ role = "lead", need = 2 }]'), "answer[0]", QUORUM),
    (answer(by='[{ role = "lead" }, { role = "admin" }]'), "answer[0]", QUORUM),
    (answer('kind = ["approval", "blocking"]\nfour_eyes = true'), "answer[0]", QUORUM),
    (answer("rejections = 2"), "answer[0]", QUORUM),
    (answer("rejections = 0"), "answer[0].rejections", "Write a number from 1 to 100."),
    (answer() + answer(), "answer[1].name", "Another rule of this kind is called “a” already."),
    (
        answer() + answer(APPROVAL),
        "answer[1]",
        "This rule is never reached: “a” comes before it and has no conditions.",
    ),
    # routes
    ('[[route]]\nname = "r"', "route[0].to", "This is missing. Say where it goes"),
    ('[[route]]\nname = "r"\nto = []', "route[0].to", "Name at least one place."),
    ('[[route]]\nname = "r"\nto = [[]]', "route[0].to[0]", "Name at least one place."),
    ('[[route]]\nname = "r"\nto = "inbox"', "route[0].to", "Write a list; this is a text."),
    ('[[route]]\nname = "r"\nto = [1]', "route[0].to[0]", "Write a place or a list of places; this is a number."),
    ('[[route]]\nname = "r"\nto = ["fax"]', "route[0].to[0]", "“fax” is not a place. There are “chat”, “dm”,"),
    ('[[route]]\nname = "r"\nto = ["channel"]', "route[0].to[0]", "“channel” is not a place."),
    ('[[route]]\nname = "r"\nto = [["dm", "slack:#ops"]]', "route[0].to[0][1]", "“#ops” is not the id of a channel."),
    ('[[route]]\nname = "r"\nto = ["discord:ops"]', "route[0].to[0]", "“ops” is not the id of a channel."),
    ('[[route]]\nname = "r"\nto = ["teams:C1"]', "route[0].to[0]", "“teams:C1” is not a place."),
    ('[[route]]\nname = "r"\nto = [' + '"dm",' * 21 + "]", "route[0].to", "More than 20 steps are too many."),
    # ladders
    ('[[ladder]]\nname = "l"', "ladder[0].steps", "This is missing. Write at least one"),
    ('[[ladder]]\nname = "l"\nsteps = []', "ladder[0].steps", "This is missing. Write at least one"),
    (
        ladder('remind = "50%"', 'acknowledgement = "soon"'),
        "ladder[0].acknowledgement",
        "“soon” is not a span of time.",
    ),
    (ladder('via = ["dm"]'), "ladder[0].steps[0]", "A step is either remind = … or escalate = …, with its time."),
    (ladder('remind = "1m", escalate = "2m", to = "Dana"'), "ladder[0].steps[0]", "A step is either remind"),
    (ladder('remind = "0%"'), "ladder[0].steps[0].remind", "“0%” is not between 0% and 100%."),
    (ladder('remind = "100%"'), "ladder[0].steps[0].remind", "“100%” is not between 0% and 100%."),
    (ladder('remind = "-5%"'), "ladder[0].steps[0].remind", "“-5%” is not between 0% and 100%."),
    (ladder('remind = "half%"'), "ladder[0].steps[0].remind", "“half%” is not a part of the time limit."),
    (ladder("remind = 50"), "ladder[0].steps[0].remind", "Write a text in quotation marks; this is a number."),
    (ladder('remind = "20 minutes"'), "ladder[0].steps[0].remind", "“20 minutes” is not a span of time."),
    (ladder('remind = "30s"'), "ladder[0].steps[0].remind", "“30s” is shorter than a minute."),
    (ladder('remind = "31d"'), "ladder[0].steps[0].remind", "“31d” is longer than 30 days."),
    (ladder('escalate = "20m"'), "ladder[0].steps[0].to", "This is missing. Say to whom"),
    (ladder('escalate = "20m", to = []'), "ladder[0].steps[0].to", "This list is empty."),
    (ladder('escalate = "20m", to = "on-call:x"'), "ladder[0].steps[0].to", "There is no schedule called “x”."),
    (ladder('escalate = "20m", to = "group:x"'), "ladder[0].steps[0].to", "There is no group called “x”."),
    (ladder('escalate = "20m", to = "role:boss"'), "ladder[0].steps[0].to", "“boss” is not a role."),
    (GROUP + ladder('escalate = "20m", to = "release"'), "ladder[0].steps[0].to", "Did you mean “group:release”?"),
    (ladder('remind = "20m", via = ["pager"]'), "ladder[0].steps[0].via[0]", "“pager” is not a place."),
    (ladder('remind = "20m", via = ["inbox"]'), "ladder[0].steps[0].via[0]", "The inbox is not told anything"),
    (ladder('remind = "20m", via = []'), "ladder[0].steps[0].via", "This list is empty."),
    (ladder('remind = "20m", hold = "no"'), "ladder[0].steps[0].hold", "Write true or false; this is a text."),
    (ladder('remind = "20m", times = 3'), "ladder[0].steps[0].every", "This is missing."),
    (ladder('remind = "20m", every = "5m"'), "ladder[0].steps[0].times", "This is missing."),
    (ladder('remind = "20m", every = "5m", times = 21'), "ladder[0].steps[0].times", "Write a number from 1 to 20."),
    (ladder('remind = "20m", every = "5m", times = 0'), "ladder[0].steps[0].times", "Write a number from 1 to 20."),
    (ladder('remind = "20m", every = "5s", times = 2'), "ladder[0].steps[0].every", "“5s” is shorter than a minute."),
    (ladder('remind = "20m", every = "20d", times = 2'), "ladder[0].steps[0].times", "Repeated so often,"),
    (
        GROUP + ladder('escalate = "20m", to = "Dana", joins = "release"'),
        "ladder[0].steps[0].joins",
        "No answer rule lets a group called “release” decide.",
    ),
    (
        GROUP + answer(by='[{ group = "release" }]') + ladder('remind = "20m", joins = "release"'),
        "ladder[0].steps[0].joins",
        "Only people to whom a question is escalated can join those who decide.",
    ),
    ('[[ladder]]\nname = "l"\nsteps = [' + '{ remind = "5m" },' * 21 + "]", "ladder[0].steps", "More than 20 steps"),
]


@pytest.mark.parametrize(("text", "where", "sentence"), CASES, ids=[f"{n}-{case[1]}" for n, case in enumerate(CASES)])
def test_a_problem_is_told_with_its_place(text: str, where: str, sentence: str) -> None:
    found = problems(text)

    assert any(place == where and sentence in told for place, told in found), found


BROKEN = """
unknown_recipients = "maybe"
colour = "red"

[groups]
release = ["Dana", "Nobody"]
empty = []
kept = "slack:general"
wrong = 7

[schedules.lonely]
zone = "Europe/Berlni"

[schedules.odd]
zone = "UTC"
rotations = [{ people = [], starts = 2026-01-05T09:00:00Z, every = "1h", hours = "someday" }]
shifts = [{ person = "Dana", start = 2026-02-01T00:00:00Z, end = 2026-01-01T00:00:00Z }]

[[answer]]
name = "first"
kind = "aproval"
risk = "huge"
by = [{ group = "relase", need = 2 }, { role = "boss" }, { people = ["Zoe"], need = 0 }]

[[answer]]
name = "all"
by = []

[[answer]]
name = "all"
kind = "approval"
urgency = "now"
by = [{ group = "release", need = 3 }]
four_eyes = "yes"

[[route]]
to = ["slack:#general", ["fax"]]

[[ladder]]
name = "l"
acknowledgement = "90d"
steps = [
  { remind = "150%", via = ["pager"] },
  { escalate = "20m", joins = "nobody", times = 99 },
  { escalate = "20m", to = ["on-call:x", "group:y", "role:z", "Q"] },
]
"""


def test_a_broken_file_tells_everything_at_once_and_each_thing_once() -> None:
    found = problems(BROKEN)

    assert [where for where, _ in found] == [
        "unknown_recipients",
        "groups.release[1]",
        "groups.empty",
        "groups.kept",
        "groups.wrong",
        "schedules.lonely.zone",
        "schedules.lonely",
        "schedules.odd.rotations[0].people",
        "schedules.odd.rotations[0].starts",
        "schedules.odd.rotations[0].every",
        "schedules.odd.rotations[0].hours",
        "schedules.odd.shifts[0].end",
        "answer[0].kind",
        "answer[0].risk",
        "answer[0].by[0].group",
        "answer[0].by[1].role",
        "answer[0].by[2].need",
        "answer[0].by[2].people[0]",
        "answer[1].by",
        "answer[2].urgency",
        "answer[2].by[0].need",
        "answer[2].four_eyes",
        "answer[2].name",
        "answer[2]",
        "route[0].name",
        "route[0].to[0]",
        "route[0].to[1][0]",
        "ladder[0].acknowledgement",
        "ladder[0].steps[0].remind",
        "ladder[0].steps[0].via[0]",
        "ladder[0].steps[1].to",
        "ladder[0].steps[1].joins",
        "ladder[0].steps[1].times",
        "ladder[0].steps[1].every",
        "ladder[0].steps[2].to[0]",
        "ladder[0].steps[2].to[1]",
        "ladder[0].steps[2].to[2]",
        "ladder[0].steps[2].to[3]",
        "colour",
    ]


def test_the_exception_reads_as_a_list() -> None:
    with pytest.raises(PolicyProblems) as refused:
        read_policy('unknown_recipients = "x"\ny = 1', TEAM, version=1)

    assert str(refused.value).splitlines()[0] == "unknown_recipients: Write “refuse” or “ask anyway”."
    assert len(str(refused.value).splitlines()) == 2


def test_very_many_problems_are_counted_rather_than_listed() -> None:
    found = problems("\n".join(f"x{n} = 1" for n in range(1200)))

    assert len(found) == 1001
    assert found[-1] == ("text", "There are 200 more problems.")


def test_very_many_strangers_are_not_all_looked_for() -> None:
    found = problems("[groups]\ng = [" + ",".join(f'"x{n}"' for n in range(20_000)) + "]")

    assert len(found) == 1001
    assert found[-1] == ("text", "There are 19000 more problems.")


def test_two_people_of_one_name_have_to_be_told_apart() -> None:
    roster = roster_of(person("Dana"), person("Dana", id="p_other"))

    assert problems('[groups]\ng = ["dana"]', roster) == [
        ("groups.g[0]", "2 people are called “dana”. Write an id or an address instead of the name.")
    ]
    assert problems('[groups]\ng = ["p_other"]', roster) == []


def test_somebody_who_left_is_nobody() -> None:
    assert problems('[groups]\ng = ["Dana"]', roster_of(person("Dana", is_active=False))) != []


def test_a_file_with_a_byte_order_mark_and_windows_line_ends_is_read() -> None:
    assert problems("\ufeff" + DEFAULT_TEXT.replace("\n", "\r\n"), roster_of(DANA)) == []
