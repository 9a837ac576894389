"""Changes by program: what was asked for changes, and comments stay beside what they are about."""

import tomllib
from datetime import UTC, datetime, timedelta

import pytest

from adapters.policy import DEFAULT_TEXT, PolicyProblems, edit_policy, policy_diff, read_policy, with_shifts
from core.ids import JsonValue, PersonId
from core.schedules import Shift
from tests.policy.people import DANA, ERIK, TEAM

TEXT = """# The policy of the platform team.

[groups] # who is who
release = ["Dana", "Erik"] # ask Dana first
# spare = ["Olu"]

# on call
[schedules.platform]
zone = "Europe/Berlin" # where we are
rotations = [
  # weekly
  { people = ["Dana", "Erik"], starts = 2026-01-05T09:00:00, every = "1w" },
]

# Who may answer.

# production is special
[[answer]]
name = "production deploys"
kind = "approval" # these are voted on
by = [{ group = "release", need = 2 }]

# all the rest
[[answer]]
name = "v1.2 and the rest"
by = [{ role = "member" }]

# Where questions go.

[[route]]
name = "everything"
to = ["inbox"]
# the end
"""


def changes(diff: str) -> list[str]:
    return [line for line in diff.splitlines()[2:] if line[:1] in "+-"]


def changed(path: str, value: JsonValue, text: str = TEXT) -> list[str]:
    return changes(policy_diff(text, edit_policy(text, {path: value})))


def test_a_change_touches_its_own_line() -> None:
    assert changed("groups.release", ["Dana"]) == [
        '-release = ["Dana", "Erik"] # ask Dana first',
        '+release = ["Dana"] # ask Dana first',
    ]
    assert changed("schedules.platform.zone", "UTC") == [
        '-zone = "Europe/Berlin" # where we are',
        '+zone = "UTC" # where we are',
    ]
    assert changed("answer.v1.2 and the rest.by", [{"role": "lead"}]) == [
        '-by = [{ role = "member" }]',
        '+by = [{ role = "lead" }]',
    ]


def test_what_is_new_goes_to_the_end_of_its_table_and_above_the_comment_of_the_next() -> None:
    new = edit_policy(TEXT, {"groups.on call": "slack:S01", "answer.production deploys.four_eyes": True})

    assert '# ask Dana first\n"on call" = "slack:S01"\n# spare = ["Olu"]\n\n# on call\n' in new
    assert "need = 2 }]\nfour_eyes = true\n\n# all the rest\n[[answer]]\n" in new


def test_instants_come_as_texts_and_are_written_as_dates() -> None:
    override: JsonValue = {"person": "Erik", "start": "2026-03-01T00:00:00Z", "end": "2026-03-02T00:00:00Z"}

    assert changed("schedules.platform.overrides", [override]) == [
        '+overrides = [{ person = "Erik", start = 2026-03-01T00:00:00Z, end = 2026-03-02T00:00:00Z }]'
    ]
    several = edit_policy(TEXT, {"schedules.platform.overrides": [override, override]})
    row = '  { person = "Erik", start = 2026-03-01T00:00:00Z, end = 2026-03-02T00:00:00Z },\n'
    assert f"]\noverrides = [\n{row}{row}]\n\n# Who may answer." in several


def test_removing_a_rule_takes_its_own_comment_along_and_no_other() -> None:
    gone = [
        "# production is special",
        "[[answer]]",
        'name = "production deploys"',
        'kind = "approval" # these are voted on',
    ]

    assert changed("answer.production deploys", None) == [
        *(f"-{line}" for line in gone),
        '-by = [{ group = "release", need = 2 }]',
        "-",
    ]
    last = edit_policy(TEXT, {"route.everything": None})
    assert last.endswith("# Where questions go.\n\n# the end\n")
    assert "route" not in tomllib.loads(last)


def test_removing_tables_and_keys() -> None:
    assert changed("answer.production deploys.kind", None) == ['-kind = "approval" # these are voted on']
    assert changed("groups.release", None) == ['-release = ["Dana", "Erik"] # ask Dana first']
    assert "# Who may answer." in edit_policy(TEXT, {"schedules.platform": None})
    assert changed("unknown_recipients", None, 'unknown_recipients = "refuse"\n') == ['-unknown_recipients = "refuse"']


def test_a_new_rule_goes_before_the_one_that_fits_everything() -> None:
    new = edit_policy(TEXT, {"answer.hot fixes": {"kind": "approval", "by": [{"role": "lead"}]}})

    rule = '[[answer]]\nname = "hot fixes"\nkind = "approval"\nby = [{ role = "lead" }]\n'
    assert f"need = 2 }}]\n\n{rule}\n# all the rest\n[[answer]]\n" in new
    assert [rule.name for rule in read_policy(new, TEAM, version=1).answers] == [
        "production deploys",
        "hot fixes",
        "v1.2 and the rest",
    ]
    first = edit_policy(TEXT, {"route.mail": {"kind": "approval", "to": ["email", "inbox"]}})
    assert '# Where questions go.\n\n[[route]]\nname = "mail"' in first
    assert [rule.name for rule in read_policy(first, TEAM, version=1).routes] == ["mail", "everything"]


def test_a_whole_rule_or_schedule_can_be_replaced() -> None:
    new = edit_policy(
        TEXT,
        {
            "answer.production deploys": {"tool": "deploy", "by": [{"role": "lead"}]},
            "schedules.platform": {"zone": "UTC", "shifts": []},
            "schedules.data": {"zone": "UTC", "shifts": []},
        },
    )

    data = tomllib.loads(new)
    assert data["answer"][0] == {"name": "production deploys", "by": [{"role": "lead"}], "tool": "deploy"}
    assert data["schedules"] == {name: {"zone": "UTC", "shifts": []} for name in ("platform", "data")}
    assert "# production is special\n[[answer]]" in new


def test_a_policy_can_be_written_from_nothing() -> None:
    new = edit_policy(
        "",
        {
            "unknown_recipients": "refuse",
            "groups.release": ["Dana", "Erik"],
            "answer.all": {"by": [{"group": "release"}]},
            "ladder.all": {"steps": [{"remind": "50%"}]},
        },
    )

    assert new == (
        'unknown_recipients = "refuse"\n\n[groups]\nrelease = ["Dana", "Erik"]\n\n[[answer]]\nname = "all"\n'
        'by = [{ group = "release" }]\n\n[[ladder]]\nname = "all"\nsteps = [{ remind = "50%" }]\n'
    )
    assert read_policy(new, TEAM, version=1).groups["release"].members == (DANA.id, ERIK.id)


@pytest.mark.parametrize(
    "text",
    [
        'answer = [{ name = "a", by = [] }]',
        '[[answer]]\nname = "a"',
        '  [[answer]]\n  name = "a" # x\n  [[answer.by]]\n  role = "lead"\n',
        '[[answer]]\r\nname = "a"\r\n\r\n# c\r\n[groups]\r\ng = ["x"]\r\n',
        '\ufeff[[answer]]\nname = "a"\n',
        'groups.x = ["y"]\n[[answer]]\nname = "a"\n',
        '[schedules.a]\nzone = "UTC"\n[[answer]]\nname = "a"\n[schedules.b]\nzone = "UTC"\n',
    ],
)
def test_other_ways_to_write_the_same_are_understood(text: str) -> None:
    new = edit_policy(text, {"answer.a.by": [{"role": "member"}], "groups.new": ["Dana"], "answer.b": {"tool": "x"}})

    data = tomllib.loads(new)
    assert {"name": "a", "by": [{"role": "member"}]} in data["answer"]
    assert {"name": "b", "tool": "x"} in data["answer"]
    assert data["groups"]["new"] == ["Dana"]


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("", 1, "There is no “” in a policy."),
        ("grups.release", [], "There is no “grups” in a policy. Did you mean “groups”?"),
        ("groups", {}, "Say which one: groups.NAME."),
        ("groups.", [], "Say which one: groups.NAME."),
        ("groups.x", None, "There is no “x” to remove."),
        ("unknown_recipients", None, "There is no “unknown_recipients” to remove."),
        ("unknown_recipients.x", 1, "There is no “unknown_recipients” in a policy."),
        ("answer.production.kind", "approval", "Nothing is called “production” there."),
        ("answer.production deploys.foureyes", True, "There is no “foureyes” in it. Did you mean “four_eyes”?"),
        ("answer.production deploys.solo", None, "There is no “solo” to remove."),
        ("answer.nothing", None, "Give a whole rule as a table, or add the key to the path."),
        ("answer.production deploys", True, "Give a whole rule as a table, or add the key to the path."),
        ("schedules.platform", "UTC", "Give a whole schedule as a table, or add the key to the path."),
        ("schedules.platfrm.zone", "UTC", "Nothing is called “platfrm” there. Did you mean “platform”?"),
        ("schedules.nothing", None, "There is no “nothing” to remove."),
        ("groups.x", ["Dana", None], "Only the whole value may be null, which removes it."),
        ("groups.x", float("inf"), "Infinity is not a value here."),
    ],
)
def test_a_bad_path_is_refused(path: str, value: JsonValue, sentence: str) -> None:
    with pytest.raises(PolicyProblems) as refused:
        edit_policy(TEXT, {path: value})

    assert [problem.where for problem in refused.value.problems] == [path]
    assert refused.value.problems[0].sentence.startswith(sentence)


def test_all_bad_paths_are_told_at_once() -> None:
    with pytest.raises(PolicyProblems) as refused:
        edit_policy(TEXT, {"x": 1, "groups.release": ["Dana"], "y": 2})

    assert [problem.where for problem in refused.value.problems] == ["x", "y"]


@pytest.mark.parametrize("text", ["x =", "answer = 3", "answer = [1]", "groups = 1", "schedules.a = 1"])
def test_a_text_that_is_no_policy_is_refused(text: str) -> None:
    with pytest.raises(PolicyProblems):
        edit_policy(text, {"answer.a.by": [], "groups.g": ["Dana"], "schedules.s": {}})


def test_no_change_changes_nothing() -> None:
    for text in (TEXT, DEFAULT_TEXT, ""):
        assert edit_policy(text, {}) == text


def test_a_first_rule_begins_the_text() -> None:
    assert edit_policy("", {"route.all": {"to": ["inbox"]}}) == '[[route]]\nname = "all"\nto = ["inbox"]\n'


def name_of(person: PersonId) -> str:
    return TEAM.people[person].name


def shifts(count: int) -> list[Shift]:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    day = timedelta(days=1)
    return [Shift((DANA, ERIK)[n % 2].id, start + day * n, start + day * (n + 1)) for n in range(count)]


def test_a_calendar_becomes_shifts_of_a_new_schedule() -> None:
    new = with_shifts(TEXT, "imported", "Europe/Paris", shifts(3), name_of)

    schedule = read_policy(new, TEAM, version=1).schedules["imported"]
    assert (schedule.zone, schedule.shifts) == ("Europe/Paris", tuple(shifts(3)))
    assert '[schedules.imported]\nzone = "Europe/Paris"\nshifts = [\n  { person = "Dana", start = 2026-01-01T' in new


def test_a_calendar_replaces_the_shifts_and_nothing_else() -> None:
    first = with_shifts(TEXT, "platform", "UTC", shifts(5), name_of)
    second = with_shifts(first, "platform", "UTC", shifts(2), name_of)

    before, after = (read_policy(text, TEAM, version=1).schedules["platform"] for text in (TEXT, second))
    assert after.shifts == tuple(shifts(2))
    assert (after.zone, after.rotations) == (before.zone, before.rotations)
    assert "# weekly" in second


def test_a_calendar_of_a_year_is_taken() -> None:
    new = with_shifts(DEFAULT_TEXT, "a b.c", "UTC", shifts(366), name_of)

    assert len(read_policy(new, TEAM, version=1).schedules["a b.c"].shifts) == 366


def test_the_diff_is_empty_when_equal_and_names_both_sides() -> None:
    assert policy_diff(TEXT, TEXT) == ""
    assert policy_diff("a = 1\n", "a = 2\n") == "--- current\n+++ new\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"
    assert policy_diff("a = 1", "a = 1\n").endswith("-a = 1\n\\ No newline at end of file\n+a = 1\n")
    assert policy_diff("", "a = 1\n") == "--- current\n+++ new\n@@ -0,0 +1 @@\n+a = 1\n"
