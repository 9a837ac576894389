"""Somebody on three surfaces and the API is one person: linked with one-time codes, and one vote however they press."""

import random
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest

from adapters.memory.surface import MemorySurface
from bot.household import Household
from bot.people import CODE_LASTS, PeopleOffice, PersonChange
from core.answers import ApprovalShape, RawAnswer
from core.commands import Answer, Ask
from core.deadlines import TimeLimits
from core.decisions import Accepted
from core.delivery import Deliverer
from core.engine import Engine, Handled
from core.events import Answered, Voted
from core.ids import PersonId, QuestionId
from core.kinds import Kind
from core.membership import NotPossible
from core.people import Actor, Handle, Person, Role, person_principal
from core.places import Target
from core.policies import Panel, Policy
from core.prompt import Tone
from core.question import Question
from core.waiters import Waiters
from tests.support.backends import Backend, memory_backend
from tests.support.builders import WORKSPACE, question_id, spec

SURFACES = ("slack", "discord", "web")
TARGETS = tuple(Target(name, "C1") for name in SURFACES)
TWO_APPROVERS = Policy((Panel("an approver", 2, roles=(Role.APPROVER,)),), rule="two")


class Place:
    """A workspace with three chat surfaces, in memory."""

    def __init__(self) -> None:
        self.backend: Backend = memory_backend()
        self.household = Household(self.backend.people, WORKSPACE, TimeLimits(), connected=frozenset(SURFACES))
        self.office = PeopleOffice(self.household)
        self.engine = Engine(self.backend.store, self.backend.reader, Waiters(), self.household.roster)
        self.surfaces = {name: MemorySurface(name) for name in SURFACES}
        self._deliverer = Deliverer(
            self.backend.outbox, self.backend.store, self.backend.reader, self.engine, self.surfaces
        )
        self._numbers = count(1)

    async def person(self, name: str, role: str = "approver", *handles: str) -> Person:
        return await self.office.add(PersonChange(name, role, handles), by="test")

    async def linked(self, person: Person, *handles: Handle) -> Person:
        """The person types a code at each of these handles."""
        for handle in handles:
            await self.office.link(await self.office.link_code(person), handle)
        return await self.office.find(person.id)

    async def acting(self, handle: Handle) -> Actor:
        """Whoever pressed a button there, as a surface finds them."""
        roster = await self.household.roster()
        person = next(p for p in roster.people.values() if p.is_active and handle in p.handles)
        return Actor(person_principal(person.id), person.name, handle.surface, person)

    async def by_key(self, person_id: PersonId) -> Actor:
        """The same with a key, which keeps the id it was made for."""
        roster = await self.household.roster()
        return Actor(person_principal(person_id), "key", "api", replace(roster.people[person_id], handles=()))

    async def ask(self, policy: Policy = TWO_APPROVERS) -> Question:
        of = spec(Kind.APPROVAL, ApprovalShape(), policy=policy, time_limit=None, targets=TARGETS)
        done = await self.engine.handle(Ask(question_id(next(self._numbers)), of))
        await self._deliverer.deliver()
        assert isinstance(done, Handled)
        assert done.question is not None
        return done.question

    async def says(self, question_id: QuestionId, actor: Actor, value: bool = True) -> Question:
        done = await self.engine.handle(Answer(question_id, actor, RawAnswer(value)))
        await self._deliverer.deliver()
        assert isinstance(done, Handled)
        assert isinstance(done.decision, Accepted), done.decision
        assert done.question is not None
        return done.question


HANDLES = (Handle("slack", "U0AMY"), Handle("discord", "99"), Handle("web", "amy"))


async def test_one_person_in_four_places_counts_once_five_hundred_times() -> None:
    place, chance = Place(), random.Random(7)
    ben = await place.person("Ben", "approver", "slack:U0BEN")
    amy = await place.linked(await place.person("Amy"), *HANDLES)
    assert amy.handles == HANDLES
    everywhere = [*[await place.acting(handle) for handle in HANDLES], await place.by_key(amy.id)]
    for _ in range(500):
        question = await place.ask()
        presses = [chance.choice(everywhere) for _ in range(chance.randrange(1, 6))] + everywhere
        chance.shuffle(presses)
        for actor in presses:
            after = await place.says(question.id, actor)
            assert after.is_open
            assert (after.tally.have, after.tally.need) == (1, 2)

        settled = await place.says(question.id, await place.acting(Handle("slack", "U0BEN")))

        assert settled.outcome is not None
        assert [decider.id for decider in settled.outcome.deciders] == [amy.id, ben.id]
        told = [stored.event for stored in await place.backend.reader.history(question.id)]
        assert sum(isinstance(event, Voted) for event in told) == 1
        assert sum(isinstance(event, Answered) for event in told) == 1
    for surface in place.surfaces.values():
        assert len(surface.messages) == 500
        assert {prompt.tone for prompt in surface.messages.values()} == {Tone.DONE}


async def test_somebody_known_under_three_ids_turns_out_to_be_one_and_has_one_vote() -> None:
    place = Place()
    doubles = [await place.person(f"Amy {h.surface}", "approver", f"{h.surface}:{h.address}") for h in HANDLES]
    amy, ben = await place.person("Amy"), await place.person("Ben")
    question = await place.ask()
    first = await place.says(question.id, await place.acting(HANDLES[0]))

    amy = await place.linked(amy, *HANDLES)
    for handle in HANDLES:
        again = await place.says(question.id, await place.acting(handle))
        assert (again.is_open, again.tally.have) == (True, 1)
    for double in doubles:
        again = await place.says(question.id, await place.by_key(double.id))
        assert (again.is_open, again.tally.have) == (True, 1)
    done = await place.says(question.id, await place.by_key(ben.id))

    assert first.tally.have == 1
    assert amy.handles == HANDLES
    roster = await place.office.roster()
    assert [roster.canonical(double.id) for double in doubles] == [amy.id] * 3
    assert [p.name for p in roster.people.values() if p.is_active] == ["Amy", "Ben"]
    assert done.outcome is not None
    assert sorted(decider.id or "" for decider in done.outcome.deciders) == [amy.id, ben.id]


async def test_two_votes_that_turn_out_to_be_one_persons_do_not_decide() -> None:
    place = Place()
    amy, double = await place.person("Amy"), await place.person("Amélie", "approver", "slack:U0AMY")
    question = await place.ask(Policy((Panel("an approver", 3, roles=(Role.APPROVER,)),)))
    ben = await place.person("Ben")
    await place.says(question.id, await place.by_key(amy.id))
    both = await place.says(question.id, await place.by_key(double.id))

    await place.linked(amy, HANDLES[0])
    after = await place.says(question.id, await place.by_key(ben.id))

    assert both.tally.have == 2
    assert (after.is_open, after.tally.have) == (True, 2)


async def test_merged_people_go_on_being_one_when_they_are_merged_again() -> None:
    place = Place()
    first = await place.person("First", "member", "slack:U1")
    second = await place.person("Second", "member", "discord:2")
    third = await place.person("Third", "member", "web:three")

    await place.linked(second, Handle("slack", "U1"))
    whole = await place.linked(third, Handle("discord", "2"))

    roster = await place.office.roster()
    assert roster.canonical(first.id) == roster.canonical(second.id) == third.id
    assert set(whole.handles) == {Handle("slack", "U1"), Handle("discord", "2"), Handle("web", "three")}


async def test_a_code_works_once_and_however_it_is_typed() -> None:
    place = Place()
    amy = await place.person("Amy")
    code = await place.office.link_code(amy)

    linked = await place.office.link(f" {code.lower().replace('-', ' ')} ", HANDLES[0])
    with pytest.raises(NotPossible, match="used before"):
        await place.office.link(code, HANDLES[1])

    assert linked.handles == (HANDLES[0],)


async def test_a_newer_code_voids_the_older() -> None:
    place = Place()
    amy = await place.person("Amy")
    older, newer = await place.office.link_code(amy), await place.office.link_code(amy)

    with pytest.raises(NotPossible):
        await place.office.link(older, HANDLES[0])

    assert (await place.office.link(newer, HANDLES[0])).id == amy.id


async def test_the_code_of_somebody_who_left_links_nothing() -> None:
    place = Place()
    amy = await place.person("Amy")
    code = await place.office.link_code(amy)
    await place.office.remove(amy, by="test")

    with pytest.raises(NotPossible):
        await place.office.link(code, HANDLES[0])

    assert all(person.handles == () for person in await place.backend.people.everybody())


async def test_wrong_codes_slow_their_handle_down_and_no_other() -> None:
    place = Place()
    amy = await place.person("Amy")
    for number in range(5):
        with pytest.raises(NotPossible, match="not known"):
            await place.office.link(f"WRONG{number}", HANDLES[0])
    code = await place.office.link_code(amy)

    with pytest.raises(NotPossible, match="Too many wrong codes"):
        await place.office.link(code, HANDLES[0])

    assert (await place.office.link(code, HANDLES[1])).handles == (HANDLES[1],)
    assert timedelta(minutes=10) == CODE_LASTS


async def test_a_code_lets_nobody_swallow_somebody_who_may_more() -> None:
    place = Place()
    mallory = await place.person("Mallory", "member")
    lead = await place.person("Lee", "lead", "slack:U0LEE")
    code = await place.office.link_code(mallory)

    with pytest.raises(NotPossible, match="belongs to Lee"):
        await place.office.link(code, Handle("slack", "U0LEE"))

    assert await place.office.find(lead.id) == lead
    assert (await place.office.find(mallory.id)).handles == ()


async def test_a_handle_of_somebody_who_left_is_taken_over_without_their_votes() -> None:
    place = Place()
    left = await place.person("Left", "approver", "slack:U0OLD")
    amy, ben = await place.person("Amy"), await place.person("Ben")
    question = await place.ask()
    await place.says(question.id, await place.acting(Handle("slack", "U0OLD")))
    await place.office.remove(left, by="test")

    heir = await place.linked(amy, Handle("slack", "U0OLD"))
    after = await place.says(question.id, await place.by_key(ben.id))

    assert heir.handles == (Handle("slack", "U0OLD"),)
    assert (after.is_open, after.tally.have) == (True, 1)
    assert (await place.office.roster()).active(left.id) is None
