"""The same person on three surfaces is one person, five hundred times, on every store that needs no server."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.answers import ApprovalShape, RawAnswer
from core.commands import Answer
from core.decisions import Accepted, Refused
from core.engine import Engine, Handled
from core.events import Answered
from core.ids import PersonId
from core.kinds import Kind
from core.people import Handle, Person, Role
from core.policies import Panel, Policy
from core.question import Question, Status
from core.refusals import Reason
from core.roster import Roster
from core.waiters import Waiters
from tests.support.backends import Backend, memory_backend, sql_backend, sqlite_url
from tests.support.builders import acting, ask, question_id, spec

TIMES = 500
SURFACES = ("slack", "discord", "web", "api")

DANA = Person(PersonId("p_dana"), "Dana", Role.APPROVER, (Handle("web", "dana"),))
#: Dana as Slack knew her before anybody noticed.
U0DANA = Person(PersonId("p_u0dana"), "dana.k", Role.APPROVER, (Handle("slack", "U0DANA"),))
EVE = Person(PersonId("p_eve"), "Eve", Role.APPROVER)
TWO_OF_THEM = Policy((Panel("two approvers", 2, roles=(Role.APPROVER,)),))


@pytest.fixture(params=["memory", "sqlite"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    if request.param == "memory":
        yield memory_backend()
        return
    with sql_backend(sqlite_url(tmp_path)) as opened:
        yield opened
        assert opened.connections_in_use() == 0


def _engine(backend: Backend) -> Engine:
    async def everybody() -> Roster:
        return Roster({person.id: person for person in await backend.people.everybody()})

    return Engine(backend.store, backend.reader, Waiters(), everybody)


async def _save(backend: Backend, *people: Person) -> None:
    await backend.people.save(people, by="test", what="person.changed", detail="")


async def _two_turn_out_to_be_one(backend: Backend) -> None:
    handles = (*DANA.handles, *U0DANA.handles)
    gone = replace(U0DANA, handles=(), is_active=False, merged_into=DANA.id)
    await _save(backend, gone, replace(DANA, handles=handles))


async def _ask(engine: Engine, number: int) -> None:
    await engine.handle(ask(number, spec(Kind.APPROVAL, ApprovalShape(), policy=TWO_OF_THEM)))


async def _press(engine: Engine, number: int, who: Person, surface: str) -> Handled:
    done = await engine.handle(Answer(question_id(number), acting(who, surface), RawAnswer(True)))
    assert isinstance(done, Handled)
    return done


async def _question(backend: Backend, number: int) -> Question:
    question = await backend.reader.question(question_id(number))
    assert question is not None
    return question


def _deciders(question: Question) -> list[str]:
    assert question.outcome is not None
    return sorted(decider.id or "" for decider in question.outcome.deciders)


async def _life(backend: Backend, engine: Engine, number: int) -> None:
    """Dana presses on every surface, on each third under the id she had in Slack; then Eve presses once."""
    for place in range(len(SURFACES)):
        surface = SURFACES[(number + place) % len(SURFACES)]
        who = U0DANA if (number + place) % 3 == 0 else DANA
        pressed = await _press(engine, number, who, surface)
        assert isinstance(pressed.decision, Accepted)
        assert pressed.question is not None
        assert (pressed.question.status, pressed.question.tally.have) == (Status.OPEN, 1)
    assert [vote.by.id for vote in (await _question(backend, number)).votes] == [DANA.id]
    await _press(engine, number, EVE, "web")
    question = await _question(backend, number)
    assert question.status is Status.ANSWERED
    assert _deciders(question) == [DANA.id, EVE.id]


async def test_three_presses_of_one_person_count_once(backend: Backend) -> None:
    engine = _engine(backend)
    await _save(backend, DANA, U0DANA, EVE)
    numbers = range(1, TIMES + 1)
    await asyncio.gather(*(_ask(engine, number) for number in numbers))
    # In every second question she has pressed in Slack already when it turns out who that is.
    early = [number for number in numbers if number % 2 == 0]
    for pressed in await asyncio.gather(*(_press(engine, number, U0DANA, "slack") for number in early)):
        assert pressed.question is not None
        assert pressed.question.tally.have == 1
    await _two_turn_out_to_be_one(backend)

    await asyncio.gather(*(_life(backend, engine, number) for number in numbers))


async def test_two_ids_that_both_pressed_are_one_voice_once_it_is_known(backend: Backend) -> None:
    engine, third = _engine(backend), replace(EVE, id=PersonId("p_finn"), name="Finn")
    await _save(backend, DANA, U0DANA, EVE, third)
    policy = Policy((Panel("three approvers", 3, roles=(Role.APPROVER,)),))
    await engine.handle(ask(1, spec(Kind.APPROVAL, ApprovalShape(), policy=policy)))
    await _press(engine, 1, U0DANA, "slack")
    await _press(engine, 1, DANA, "web")
    await _two_turn_out_to_be_one(backend)

    pressed = await _press(engine, 1, EVE, "discord")

    assert pressed.question is not None
    assert (pressed.question.status, pressed.question.tally.have) == (Status.OPEN, 2)
    await _press(engine, 1, third, "discord")
    assert _deciders(await _question(backend, 1)) == [DANA.id, EVE.id, third.id]


async def test_presses_at_the_same_moment_count_once(backend: Backend) -> None:
    engine = _engine(backend)
    await _save(backend, DANA, U0DANA, EVE)
    await _two_turn_out_to_be_one(backend)
    for number in range(1, 51):
        await _ask(engine, number)
        people = (U0DANA, DANA, DANA, U0DANA)

        pressed = await asyncio.gather(*(_press(engine, number, *each) for each in zip(people, SURFACES, strict=True)))

        assert all(isinstance(each.decision, Accepted) for each in pressed)
        question = await _question(backend, number)
        assert (question.status, question.tally.have, len(question.votes)) == (Status.OPEN, 1, 1)


async def test_one_person_everywhere_and_another_at_the_same_moment_decide_once(backend: Backend) -> None:
    engine = _engine(backend)
    await _save(backend, DANA, U0DANA, EVE)
    await _two_turn_out_to_be_one(backend)
    for number in range(1, 51):
        await _ask(engine, number)
        presses = [(U0DANA, "slack"), (DANA, "discord"), (DANA, "web")]
        presses.insert(number % 4, (EVE, "web"))

        pressed = await asyncio.gather(*(_press(engine, number, *each) for each in presses))

        settling = [event for each in pressed for event in each.decision.events if isinstance(event, Answered)]
        assert len(settling) == 1
        assert _deciders(await _question(backend, number)) == [DANA.id, EVE.id]
        refused = {each.decision.reason for each in pressed if isinstance(each.decision, Refused)}
        assert refused <= {Reason.ALREADY_ANSWERED}
