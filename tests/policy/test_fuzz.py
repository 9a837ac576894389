"""Whatever the text is, it is read or refused; nothing else happens."""

import json
from datetime import UTC, date, datetime, time
from typing import Any

import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.policy import DEFAULT_TEXT, PolicyProblems, edit_policy, policy_diff, read_policy, rulebook_json
from core.rulebook import Rulebook
from tests.policy.people import TEAM
from tests.policy.test_editing import TEXT
from tests.policy.test_reading import FULL

WORDS = st.sampled_from(
    [
        "approval",
        "blocking",
        "high",
        "lead",
        "member",
        "Dana",
        "Erik",
        "release",
        "slack:C1",
        "slack:S1",
        "dm",
        "inbox",
        "chat",
        "email",
        "50%",
        "20m",
        "1w",
        "100%",
        "on-call:s",
        "group:release",
        "role:lead",
        "mon-fri 09:00-17:00",
        "Europe/Berlin",
        "UTC",
        "refuse",
        "asked",
        "*",
        "[",
        "",
        ":",
        "group:",
        "2026-01-05T09:00:00Z",
    ]
)
KEYS = st.sampled_from(
    [
        "name",
        "kind",
        "urgency",
        "risk",
        "tool",
        "to",
        "by",
        "need",
        "group",
        "people",
        "role",
        "four_eyes",
        "rejections",
        "solo",
        "steps",
        "remind",
        "escalate",
        "via",
        "joins",
        "hold",
        "every",
        "times",
        "acknowledgement",
        "zone",
        "rotations",
        "overrides",
        "shifts",
        "person",
        "start",
        "end",
        "starts",
        "hours",
        "release",
        "s",
        "x y",
    ]
)
SCALARS = (
    WORDS
    | st.booleans()
    | st.integers(-3, 200)
    | st.floats(allow_nan=False)
    | st.datetimes()
    | st.datetimes(timezones=st.just(UTC))
    | st.dates()
    | st.times()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
TABLES = st.dictionaries(KEYS, VALUES, max_size=6)
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "unknown_recipients": VALUES,
        "groups": TABLES | VALUES,
        "schedules": st.dictionaries(KEYS, TABLES, max_size=2) | VALUES,
        "answer": st.lists(TABLES, max_size=3) | VALUES,
        "route": st.lists(TABLES, max_size=3) | VALUES,
        "ladder": st.lists(TABLES, max_size=3) | VALUES,
        "x": VALUES,
    },
)
#: Parts of real policies, so that mutations meet the grammar rather than only noise.
SNIPPETS = st.sampled_from(
    ['"', "[", "]", "{", "}", "=", ".", ",", "\n", "#", "[[answer]]", "50%", "= 1", "\\", "\x00", "ä"]
)


PATHS = (
    "unknown_recipients",
    "groups.release",
    "groups.x",
    "schedules.platform",
    "schedules.platform.shifts",
    "schedules.y",
    "answer.production deploys",
    "answer.production deploys.kind",
    "answer.z",
    "route.everything",
)


def read_or_refused(text: str, *, lenient: bool = False) -> Rulebook | None:
    try:
        return read_policy(text, TEAM, version=1, lenient=lenient)
    except PolicyProblems as refused:
        problems = refused.problems
    assert problems
    assert all(problem.where and problem.sentence for problem in problems)
    return None


@settings(max_examples=300, deadline=None)
@given(policy=POLICIES, lenient=st.booleans())
def test_any_toml_is_read_or_refused(policy: dict[str, Any], lenient: bool) -> None:
    book = read_or_refused(tomlkit.dumps(policy), lenient=lenient)

    if book is not None:
        json.dumps(rulebook_json(book))


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    read_or_refused(text)


@settings(max_examples=300, deadline=None)
@given(
    text=st.sampled_from([DEFAULT_TEXT, FULL, TEXT]),
    cuts=st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 12), SNIPPETS | st.text(max_size=3)), min_size=1, max_size=4
    ),
)
def test_any_mutation_is_read_or_refused_and_edited_or_refused(text: str, cuts: list[tuple[float, int, str]]) -> None:
    for at, length, instead in cuts:
        place = int(at * len(text))
        text = text[:place] + instead + text[place + length :]

    read_or_refused(text)
    try:
        new = edit_policy(text, {"groups.new": ["Dana"], "answer.new": {"kind": "approval", "by": [{"role": "lead"}]}})
    except PolicyProblems:
        return
    assert policy_diff(text, new) != ""


@settings(max_examples=200, deadline=None)
@given(
    changes=st.dictionaries(
        st.sampled_from(PATHS) | st.text(max_size=20),
        st.none() | VALUES.map(lambda value: json.loads(json.dumps(value, default=_iso))),
        max_size=4,
    )
)
def test_any_change_is_made_or_refused(changes: dict[str, Any]) -> None:
    try:
        new = edit_policy(TEXT, changes)
    except PolicyProblems:
        return
    read_or_refused(new)
    for comment in ("# The policy of the platform team.", "# Who may answer.", "# Where questions go.", "# the end"):
        assert comment in new


def _iso(value: date | datetime | time) -> str:
    return value.isoformat()
