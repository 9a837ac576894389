"""The people and rules as they are now: looked up when they may have changed, closed when they cannot be read."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from structlog.testing import capture_logs

from adapters.memory.database import MemoryDatabase
from adapters.memory.people import MemoryPeople
from bot.household import Household
from core.asking import compose
from core.deadlines import TimeLimits
from core.ids import PersonId
from core.people import Handle, Person, Role
from core.refusals import Reason, Unacceptable
from core.roster import Roster
from tests.support.builders import ASKER, WORKSPACE, draft

ADA = Person(PersonId("p_ada"), "Ada", Role.ADMIN, (Handle("slack", "U0ADA"), Handle("email", "ada@example.com")))
BEN = Person(PersonId("p_ben"), "Ben", Role.APPROVER, (Handle("discord", "U0CY"), Handle("slack", "U0BEN")))
CY = Person(PersonId("p_cy"), "Cy", Role.APPROVER, (Handle("slack", "U0CY"),))

BACKED = """\
[groups]
dba = "slack:S0123ABC"
named = ["Ada"]

[[answer]]
name = "all"
by = [{ group = "dba" }]
"""


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Group:
    """A surface's own group that can be out of order."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.works = True
        self.asked: list[str] = []

    async def members(self, group: str) -> tuple[str, ...]:
        self.asked.append(group)
        if not self.works:
            raise ConnectionError("Slack does not answer")
        return self.addresses


class Slow(MemoryPeople):
    """People that take their time to be read."""

    def __init__(self, database: MemoryDatabase) -> None:
        super().__init__(database)
        self.gate = asyncio.Event()
        self.gate.set()
        self.reading = asyncio.Event()
        self.reads = 0

    async def everybody(self) -> Sequence[Person]:
        found = await super().everybody()
        self.reads += 1
        self.reading.set()
        await self.gate.wait()
        return found


class Home:
    def __init__(self, **fields: Any) -> None:
        self.clock = Clock()
        self.people = Slow(MemoryDatabase())
        self.household = Household(self.people, WORKSPACE, TimeLimits(), clock=self.clock, **fields)

    async def save(self, *people: Person) -> None:
        """As another process does, which tells this one nothing."""
        await self.people.save(people, by="somebody", what="person.changed", detail="")

    async def rule(self, text: str) -> None:
        stored = await self.people.policy()
        await self.people.save_policy(text, before=stored.version if stored else 0, by="somebody", diff="")

    async def names(self) -> list[str]:
        return [person.name for person in (await self.household.roster()).people.values()]

    async def group(self, name: str) -> list[str]:
        return [person.name for person in (await self.household.roster()).members(name)]


def sentences(logs: Sequence[Any]) -> list[str]:
    return [entry["event"] for entry in logs if entry["log_level"] == "error"]


async def test_another_processs_change_counts_after_a_second_and_not_before() -> None:
    home = Home()
    await home.save(ADA)
    first = await home.names()
    await home.save(BEN)

    home.clock.now += 0.999
    before = await home.names()
    home.clock.now += 0.001
    after = await home.names()

    assert (first, before, after) == (["Ada"], ["Ada"], ["Ada", "Ben"])


async def test_a_change_of_ones_own_counts_at_once() -> None:
    home = Home()
    await home.names()
    await home.save(ADA)
    home.household.changed()

    assert await home.names() == ["Ada"]


async def test_nothing_is_read_again_while_nothing_has_changed() -> None:
    home = Home()
    await home.save(ADA)
    for _ in range(10):
        await home.names()
        home.clock.now += 5

    assert home.people.reads == 1


async def test_many_who_want_to_know_at_once_share_one_look() -> None:
    home = Home()
    await home.save(ADA)

    found = await asyncio.gather(*(home.names() for _ in range(20)))

    assert found == [["Ada"]] * 20
    assert home.people.reads == 1


async def test_a_slow_look_does_not_hide_a_change_that_came_meanwhile() -> None:
    home = Home()
    await home.save(ADA)
    home.people.gate.clear()
    slow = asyncio.create_task(home.names())
    await home.people.reading.wait()
    await home.save(BEN)
    home.household.changed()

    later = asyncio.create_task(home.names())
    home.people.gate.set()
    await slow

    assert await later == ["Ada", "Ben"]
    assert await home.names() == ["Ada", "Ben"]


async def test_what_is_known_without_waiting_is_what_was_last_seen() -> None:
    home = Home()
    assert home.household.known == Roster()
    await home.save(ADA)
    await home.names()

    assert list(home.household.known.people) == [ADA.id]


async def test_without_a_policy_the_shipped_one_holds() -> None:
    home = Home()
    await home.save(ADA)
    house = await home.household.house()

    version, text = await home.household.text()

    assert (version, house.ground.rulebook.version) == (0, 0)
    assert text.startswith("# The policy of this workspace")
    assert [rule.name for rule in house.ground.rulebook.answers] == ["approvals", "everything else"]


async def test_a_policy_that_was_stored_holds_from_the_next_look() -> None:
    home = Home()
    await home.save(ADA)
    await home.names()
    await home.rule('[[answer]]\nname = "mine"\nby = [{ role = "admin" }]\n')
    home.clock.now += 1

    house = await home.household.house()

    assert (house.ground.rulebook.version, house.ground.rulebook.answers[0].name) == (1, "mine")


async def test_a_stored_policy_that_cannot_be_read_lets_nobody_answer_and_says_so_loudly() -> None:
    home = Home()
    await home.save(ADA)
    await home.rule('[[answer]]\nname = "broken"\nby = [{ role = "king" }]\n')

    with capture_logs() as logs:
        house = await home.household.house()
    made = compose(draft(), ASKER, house)

    assert sentences(logs) == ["the stored policy cannot be read; nobody may answer"]
    assert logs[0]["where"] == "answer[0].by[0].role"
    assert house.ground.rulebook.answers == ()
    assert house.ground.rulebook.version == 1
    assert isinstance(made, Unacceptable)
    assert made.reason is Reason.NO_RESPONDER


async def test_somebody_who_left_does_not_break_a_policy_that_names_them() -> None:
    home = Home()
    await home.save(ADA, BEN)
    await home.rule('[groups]\nall = ["Ada", "Ben", "Zed"]\n[[answer]]\nname = "x"\nby = [{ group = "all" }]\n')

    with capture_logs() as logs:
        members = await home.group("all")

    assert members == ["Ada", "Ben"]
    assert sentences(logs) == []


async def backed(group: Group, *people: Person) -> Home:
    home = Home(groups={"slack": group}, connected=frozenset({"slack"}))
    await home.save(*people)
    await home.rule(BACKED)
    return home


async def test_a_surfaces_group_has_the_people_with_its_handles() -> None:
    group = Group("U0ADA", "U0NOBODY", "U0BEN")
    home = await backed(group, ADA, BEN, CY)

    assert await home.group("dba") == ["Ada", "Ben"]
    assert await home.group("named") == ["Ada"]
    assert group.asked == ["S0123ABC"]


async def test_an_address_of_another_surface_makes_nobody_a_member() -> None:
    """Ben is called U0CY on Discord, which is Cy's name on Slack."""
    home = await backed(Group("U0CY"), ADA, BEN)
    without_cy = await home.group("dba")
    await home.save(CY)
    home.clock.now += 1

    assert without_cy == []
    assert await home.group("dba") == ["Cy"]


async def test_a_surfaces_group_is_asked_for_once_a_minute() -> None:
    group = Group("U0ADA")
    home = await backed(group, ADA, BEN)
    await home.group("dba")
    group.addresses = ("U0BEN",)

    home.clock.now += 59.9
    before = await home.group("dba")
    home.clock.now += 1.0
    after = await home.group("dba")

    assert (before, after) == (["Ada"], ["Ben"])
    assert len(group.asked) == 2


async def test_a_group_that_cannot_be_read_has_nobody_in_it_and_is_tried_again() -> None:
    group = Group("U0ADA")
    group.works = False
    home = await backed(group, ADA)

    with capture_logs() as logs:
        without = await home.group("dba")
    group.works = True
    home.clock.now += 60
    again = await home.group("dba")

    assert (without, again) == ([], ["Ada"])
    assert sentences(logs) == ["a group cannot be read, so nobody is in it"]
    assert (logs[0]["surface"], logs[0]["group"], logs[0]["why"]) == ("slack", "S0123ABC", "Slack does not answer")


async def test_a_group_that_fails_later_loses_its_people() -> None:
    group = Group("U0ADA")
    home = await backed(group, ADA)
    first = await home.group("dba")
    group.works = False
    home.clock.now += 60

    with capture_logs() as logs:
        second = await home.group("dba")

    assert (first, second) == (["Ada"], [])
    assert len(sentences(logs)) == 1


async def test_a_group_of_a_surface_that_is_not_connected_has_nobody_in_it() -> None:
    home = Home()
    await home.save(ADA)
    await home.rule(BACKED)

    assert await home.group("dba") == []


async def test_somebody_who_was_removed_is_in_no_group() -> None:
    home = await backed(Group("U0ADA", "U0BEN"), replace(ADA, is_active=False), BEN)

    assert await home.group("dba") == ["Ben"]
