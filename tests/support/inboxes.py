"""Filling an inbox and looking through it, on any backend."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from core.browsing import Sieve, place_of
from core.commands import Ask, Reassign, Tick, Withdraw
from core.decisions import Accepted
from core.engine import Handled
from core.events import Escalated
from core.ids import QuestionId
from core.machine import apply
from core.people import Person
from core.ports import Change, Scope, Snapshot, Verdict
from core.question import Question, Spec
from tests.support.backends import Backend
from tests.support.builders import AGENT, DANA, WORKSPACE, acting, answer, question_id, spec
from tests.support.waiting import eventually

EVERYTHING = Sieve(WORKSPACE)
AT_ONCE = timedelta(milliseconds=1)
MANY = 500


async def asked(backend: Backend, number: int, of: Spec | None = None, **fields: Any) -> Question:
    done = await backend.engine().handle(Ask(question_id(number), of if of is not None else spec(**fields)))
    assert isinstance(done, Handled)
    assert isinstance(done.decision, Accepted), done.decision
    assert done.question is not None
    return done.question


async def do(backend: Backend, command: Any) -> None:
    done = await backend.engine().handle(command)
    assert isinstance(done, Handled)
    assert isinstance(done.decision, Accepted), done.decision


async def answered(backend: Backend, *numbers: int) -> None:
    await asyncio.gather(*(do(backend, answer(number)) for number in numbers))


async def withdrawn(backend: Backend, number: int) -> None:
    await do(backend, Withdraw(question_id(number), AGENT))


async def run_out(backend: Backend, number: int, **fields: Any) -> None:
    """A question that nobody answers in time, its time being short."""
    await asked(backend, number, time_limit=AT_ONCE, **fields)
    await time_is_up(backend, number)


async def time_is_up(backend: Backend, number: int) -> None:
    """The deadline of this question passes."""
    question = await backend.reader.question(question_id(number))
    assert question is not None

    async def is_over() -> bool:
        return question.deadline is not None and await backend.store.now() >= question.deadline

    await eventually(is_over)
    await do(backend, Tick(question.id))


async def handed_to_dana(backend: Backend, number: int) -> None:
    await do(backend, Reassign(question_id(number), acting(DANA), "Dana"))


async def escalated(backend: Backend, number: int, to: Person) -> None:
    """A rung of a ladder, without the minute that the shortest of them takes."""

    def climb(snapshot: Snapshot) -> Verdict:
        events = (Escalated(snapshot.now, 0, f"It went on to {to.name}.", (to.id,)),)
        return Verdict(Accepted(events), Change(snapshot.case, apply(snapshot.case, events), events))

    await backend.store.transact(Scope(question_id(number)), climb)


def numbers_of(questions: Sequence[Question]) -> list[int]:
    return [int(question.id.removeprefix("q_")) for question in questions]


async def waiting(backend: Backend, sieve: Sieve = EVERYTHING) -> list[int]:
    return numbers_of(await backend.browser.waiting(sieve, limit=MANY))


async def settled(backend: Backend, sieve: Sieve = EVERYTHING) -> list[int]:
    return numbers_of(await backend.browser.settled(sieve, limit=MANY))


async def pages_of_waiting(backend: Backend, limit: int, sieve: Sieve = EVERYTHING) -> list[list[int]]:
    pages, after = list[list[int]](), None
    while page := await backend.browser.waiting(sieve, limit=limit, after=after):
        pages.append(numbers_of(page))
        assert len(pages) <= MANY, "there is no end to the pages"
        after = place_of(page[-1])
    return pages


async def pages_of_settled(backend: Backend, limit: int, sieve: Sieve = EVERYTHING) -> list[list[int]]:
    pages: list[list[int]] = []
    before: QuestionId | None = None
    while page := await backend.browser.settled(sieve, limit=limit, before=before):
        pages.append(numbers_of(page))
        assert len(pages) <= MANY, "there is no end to the pages"
        before = page[-1].id
    return pages
