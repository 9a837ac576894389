"""docs/policy.md keeps its word: its examples are read, and do what the sentences below them say."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from adapters.policy import read_policy
from adapters.policy.ladders import LADDER_KEYS
from adapters.policy.rules import ANSWER_KEYS, ROUTE_KEYS
from adapters.policy.timetables import SCHEDULE_KEYS
from core.freezing import SOMEBODY, Frozen, Ground, freeze
from core.ids import PersonId, Principal
from core.kinds import Kind
from core.question import Asker, Urgency
from core.roster import Roster
from core.rulebook import Circumstances, Rulebook
from core.schedules import on_call
from tests.policy.people import DANA, ERIK, MIA, NOOR, OLU, TEAM
from tests.support.servers import ROOT

DOCS = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^## Example: ([^\n]+)\n[^#]*?```toml\n(.*?)```", DOCS, re.MULTILINE | re.DOTALL))
NOW = datetime(2026, 1, 7, 12, tzinfo=UTC)


def book_of(example: str) -> Rulebook:
    return read_policy(EXAMPLES[example], TEAM, version=1)


def asked(example: str, case: Circumstances, owner: PersonId | None = None) -> Frozen:
    book = book_of(example)
    groups = {name: group.members for name, group in book.groups.items()}
    roster = Roster(TEAM.people, groups, book.schedules, TEAM.connected)
    asker = Asker(Principal("agent:ci"), "ci", owner=owner or SOMEBODY)
    result = freeze(case, asker, Ground(book, roster, NOW, {"slack": "C1"}), limit=timedelta(minutes=30))
    assert isinstance(result, Frozen)
    return result


def test_there_are_the_three_examples() -> None:
    assert list(EXAMPLES) == ["small team", "platform team with on-call", "regulated approvals"]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_are_read(example: str) -> None:
    assert len(book_of(example).answers) >= 3
    section = DOCS.partition(f"## Example: {example}\n")[2].partition("```toml")[0]
    assert all(person.name in section for person in TEAM.people.values())


def test_every_key_is_explained() -> None:
    keys = {
        *ANSWER_KEYS,
        *ROUTE_KEYS,
        *LADDER_KEYS,
        *SCHEDULE_KEYS,
        "unknown_recipients",
        "need",
        "group",
        "people",
        "role",
    }
    keys |= {
        "remind",
        "escalate",
        "via",
        "joins",
        "hold",
        "times",
        "every",
        "starts",
        "hours",
        "person",
        "start",
        "end",
    }

    assert [key for key in keys if not re.search(rf"`[^`\n]*\b{key}\b[^`\n]*`", DOCS)] == []


def test_the_kinds_are_all_there() -> None:
    assert [kind for kind in Kind if f"`{kind.value}`" not in DOCS] == []


def test_the_small_team() -> None:
    risky = asked("small team", Circumstances(Kind.APPROVAL, risk="high"))
    ordinary = asked("small team", Circumstances(Kind.APPROVAL, risk="low"))

    assert set(risky.asked) == {DANA.id, ERIK.id}
    assert set(ordinary.asked) == {DANA.id, ERIK.id, MIA.id, NOOR.id}
    assert OLU.id in asked("small team", Circumstances(Kind.BLOCKING)).asked
    assert [step.after for step in risky.ladder] == [timedelta(minutes=15), timedelta(minutes=24)]


def test_the_platform_team() -> None:
    urgent = Circumstances(Kind.APPROVAL, Urgency.URGENT, "high", "deploy_web")
    result = asked("platform team with on-call", urgent)

    assert set(result.asked) == {ERIK.id, MIA.id, NOOR.id}
    assert [target.address for target in result.route[0]] == ["C0PLATFORM"]
    assert {target.surface for target in result.route[1]} == {"email"}  # it is also what they like best
    assert [step.after // timedelta(minutes=1) for step in result.ladder] == [2, 7, 12, 20]
    assert [step.joins for step in result.ladder] == ["platform"] * 4
    book = book_of("platform team with on-call")
    assert book.refuses_unknown
    assert on_call(book.schedules["platform"], NOW) == (MIA.id,)
    assert on_call(book.schedules["platform"], datetime(2026, 2, 23, 12, tzinfo=UTC)) == (ERIK.id,)
    assert on_call(book.schedules["platform"], datetime(2026, 2, 25, 12, tzinfo=UTC)) == (NOOR.id,)


def test_regulated_approvals() -> None:
    unstated = Circumstances(Kind.APPROVAL, tool="deploy")
    result = asked("regulated approvals", unstated)

    assert (result.policy.need, result.policy.rejections) == (3, 1)
    assert set(result.asked) == {MIA.id, NOOR.id, ERIK.id, DANA.id}
    assert set(asked("regulated approvals", unstated, owner=MIA.id).asked) == {NOOR.id, ERIK.id, DANA.id}
    assert asked("regulated approvals", Circumstances(Kind.APPROVAL, risk="low", tool="payments")).policy.need == 2
