"""People look through questions in one order and page by page, wherever they are kept."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from core.answers import AnswerValue
from core.browsing import Sieve, place_of
from core.commands import Remark
from core.ids import WorkspaceId
from core.kinds import Kind
from core.people import Person
from core.question import OutcomeKind, Urgency
from tests.support.backends import Backend
from tests.support.builders import AGENT, DANA, EVE, WORKSPACE, acting, question_id, spec
from tests.support.inboxes import (
    EVERYTHING,
    answered,
    asked,
    do,
    escalated,
    handed_to_dana,
    numbers_of,
    pages_of_settled,
    pages_of_waiting,
    run_out,
    settled,
    waiting,
    withdrawn,
)

MINUTE = timedelta(minutes=1)
ELSEWHERE = WorkspaceId("elsewhere")
HIGH, LOW, URGENT = Urgency.HIGH, Urgency.LOW, Urgency.URGENT


async def mixed(backend: Backend, amount: int) -> list[int]:
    """Questions of every urgency, with and without a deadline; their numbers as they are to be shown."""
    urgencies, limits = tuple(Urgency), (None, 10 * MINUTE, 60 * MINUTE)
    places: dict[int, tuple[int, int, int]] = {}
    for number in range(1, amount + 1):
        urgency, limit = number * 7 % len(urgencies), number * 5 % len(limits)
        await asked(backend, number, spec(Kind.PREFERENCE, urgency=urgencies[urgency], time_limit=limits[limit]))
        places[number] = (-urgency, limit or len(limits), number)
    return sorted(places, key=lambda number: places[number])


def joined(pages: list[list[int]]) -> list[int]:
    return [number for page in pages for number in page]


async def test_nothing_waits_and_nothing_has_settled_at_first(backend: Backend) -> None:
    assert await waiting(backend) == []
    assert await settled(backend) == []
    assert await backend.browser.count_put_to(WORKSPACE, DANA.id) == 0


async def test_the_urgent_come_first_then_what_ends_soonest_then_the_oldest(backend: Backend) -> None:
    await asked(backend, 1, urgency=LOW, time_limit=5 * MINUTE)
    await asked(backend, 7, time_limit=None)
    await asked(backend, 2, time_limit=None)
    await asked(backend, 3, time_limit=60 * MINUTE)
    await asked(backend, 4, time_limit=10 * MINUTE)
    await asked(backend, 5, urgency=URGENT, time_limit=None)
    await asked(backend, 6, urgency=HIGH, time_limit=60 * MINUTE)

    assert await waiting(backend) == [5, 6, 4, 3, 2, 7, 1]


async def test_questions_come_whole(backend: Backend) -> None:
    await asked(backend, 1, context={"deep": [1, None, "ü✋"]}, asked=(DANA.id,))
    await asked(backend, 2, project_id="shop")
    await do(backend, Remark(question_id(1), acting(DANA), "Which size?"))
    await answered(backend, 2)

    (open_one,) = await backend.browser.waiting(EVERYTHING, limit=5)
    (settled_one,) = await backend.browser.settled(EVERYTHING, limit=5)

    assert open_one == await backend.reader.question(question_id(1))
    assert settled_one == await backend.reader.question(question_id(2))


async def test_a_question_whose_clock_stands_still_waits_behind_those_with_a_deadline(backend: Backend) -> None:
    await asked(backend, 1, time_limit=10 * MINUTE)
    await asked(backend, 2, time_limit=60 * MINUTE)

    await do(backend, Remark(question_id(1), acting(DANA), "Which size?"))
    standing = await waiting(backend)
    await do(backend, Remark(question_id(1), AGENT, "The small one."))

    assert standing == [2, 1]
    assert await waiting(backend) == [1, 2]


async def test_what_was_settled_in_whatever_way_waits_no_more(backend: Backend) -> None:
    await asked(backend, 1)
    await asked(backend, 2)
    await asked(backend, 3)
    await run_out(backend, 4)
    await answered(backend, 1)
    await withdrawn(backend, 2)

    assert await waiting(backend) == [3]
    assert await settled(backend) == [4, 2, 1]


async def test_other_workspaces_never_show(backend: Backend) -> None:
    for number, workspace in enumerate((WORKSPACE, ELSEWHERE, WORKSPACE, ELSEWHERE), start=1):
        await asked(backend, number, workspace_id=workspace, asked=(DANA.id,))
    await answered(backend, 3, 4)

    for workspace, own in ((WORKSPACE, (1, 3)), (ELSEWHERE, (2, 4))):
        sieve = Sieve(workspace)
        assert (await waiting(backend, sieve), await settled(backend, sieve)) == ([own[0]], [own[1]])
        assert await backend.browser.count_put_to(workspace, DANA.id) == 1


async def test_pages_of_any_length_show_everything_exactly_once(backend: Backend) -> None:
    order = await mixed(backend, 31)

    pages = {length: await pages_of_waiting(backend, length) for length in (1, 2, 7, 31, 50)}

    assert {length: joined(found) for length, found in pages.items()} == dict.fromkeys(pages, order)
    assert {length: len(found) for length, found in pages.items()} == {1: 31, 2: 16, 7: 5, 31: 1, 50: 1}


async def test_what_is_settled_between_pages_leaves_no_gap(backend: Backend) -> None:
    order = await mixed(backend, 12)
    first = await backend.browser.waiting(EVERYTHING, limit=5)

    # The very question that the next page begins behind, and one on either side of it.
    await answered(backend, order[2], order[4], order[6])
    second = await backend.browser.waiting(EVERYTHING, limit=50, after=place_of(first[-1]))

    assert numbers_of(first) == order[:5]
    assert numbers_of(second) == [order[5], *order[7:]]


async def test_what_is_asked_between_pages_shows_behind_the_page_only(backend: Backend) -> None:
    order = await mixed(backend, 12)
    first = await backend.browser.waiting(EVERYTHING, limit=5)

    await asked(backend, 100, urgency=URGENT, time_limit=MINUTE)
    await asked(backend, 101, urgency=LOW, time_limit=None)
    second = await backend.browser.waiting(EVERYTHING, limit=50, after=place_of(first[-1]))

    assert numbers_of(second) == [*order[5:], 101]


@pytest.mark.parametrize("words", ["Straße", "principal", "builds"])
async def test_few_among_many_are_found_in_full_pages(backend: Backend, words: str) -> None:
    """More than a database is asked for at once, and what it cannot tell apart by itself."""
    texts = {number: f"Where {words}?" if number % 17 == 0 else "Where? Ü" for number in range(1, 121)}
    await asyncio.gather(*(asked(backend, number, text=text, time_limit=None) for number, text in texts.items()))
    sieve = Sieve(WORKSPACE, words=words)

    open_ones = await pages_of_waiting(backend, 3, sieve)
    await answered(backend, *texts)
    settled_ones = await pages_of_settled(backend, 3, sieve)

    assert open_ones == [[17, 34, 51], [68, 85, 102], [119]]
    assert settled_ones == [[119, 102, 85], [68, 51, 34], [17]]


async def test_what_has_settled_shows_those_asked_last_first_page_by_page(backend: Backend) -> None:
    for number in range(1, 9):
        await asked(backend, number, urgency=URGENT if number == 1 else LOW)
    await answered(backend, 7, 2, 4, 1, 8, 5, 3)

    pages = {length: await pages_of_settled(backend, length) for length in (1, 3, 7, 20)}

    assert pages == {
        1: [[8], [7], [5], [4], [3], [2], [1]],
        3: [[8, 7, 5], [4, 3, 2], [1]],
        7: [[8, 7, 5, 4, 3, 2, 1]],
        20: [[8, 7, 5, 4, 3, 2, 1]],
    }


async def test_what_settles_between_pages_neither_repeats_nor_hides_anything(backend: Backend) -> None:
    for number in range(1, 9):
        await asked(backend, number)
    await answered(backend, 1, 3, 5, 7)
    first = await backend.browser.settled(EVERYTHING, limit=2)

    await answered(backend, 8, 2)
    second = await backend.browser.settled(EVERYTHING, limit=10, before=first[-1].id)

    assert (numbers_of(first), numbers_of(second)) == ([7, 5], [3, 2, 1])


async def test_every_way_to_end_is_found_by_itself(backend: Backend) -> None:
    for number in (1, 2, 3, 4):
        await asked(backend, number)
    await answered(backend, 1, 3)
    await withdrawn(backend, 2)
    await run_out(backend, 5)
    await run_out(backend, 6, default=AnswerValue("SQLite"))
    await run_out(backend, 7)

    found = {ended: await settled(backend, replace(EVERYTHING, ended=ended)) for ended in (None, *OutcomeKind)}

    assert found == {
        None: [7, 6, 5, 3, 2, 1],
        OutcomeKind.ANSWERED: [3, 1],
        OutcomeKind.DEFAULTED: [6],
        OutcomeKind.EXPIRED: [7, 5],
        OutcomeKind.WITHDRAWN: [2],
    }


async def test_one_way_to_end_is_shown_page_by_page(backend: Backend) -> None:
    for number in (1, 3, 5):
        await run_out(backend, number, default=AnswerValue("SQLite"))
    for number in (2, 4, 6):
        await run_out(backend, number)

    pages = await pages_of_settled(backend, 2, replace(EVERYTHING, ended=OutcomeKind.DEFAULTED))

    assert pages == [[5, 3], [1]]


async def test_the_count_goes_up_with_asking_and_down_with_every_ending(backend: Backend) -> None:
    counts: list[tuple[int, int]] = []

    async def count(*people: Person) -> None:
        each = [await backend.browser.count_put_to(WORKSPACE, person.id) for person in people]
        counts.append((each[0], each[1]))

    await asked(backend, 1, asked=(DANA.id,))
    await asked(backend, 2, asked=(EVE.id, DANA.id))
    await count(DANA, EVE)
    await asked(backend, 3, asked=(EVE.id,))
    await asked(backend, 4)
    await count(DANA, EVE)
    await run_out(backend, 5, asked=(DANA.id, EVE.id))
    await count(DANA, EVE)
    await answered(backend, 1)
    await count(DANA, EVE)
    await withdrawn(backend, 2)
    await count(DANA, EVE)

    assert counts == [(2, 1), (2, 2), (2, 2), (1, 2), (0, 1)]


async def test_handing_over_and_escalating_count_at_once(backend: Backend) -> None:
    await asked(backend, 1, asked=(EVE.id,))
    await asked(backend, 2, asked=(EVE.id,))

    await handed_to_dana(backend, 1)
    await escalated(backend, 2, DANA)

    assert await backend.browser.count_put_to(WORKSPACE, DANA.id) == 2
    assert await backend.browser.count_put_to(WORKSPACE, EVE.id) == 1
    assert await waiting(backend, Sieve(WORKSPACE, put_to=DANA.id)) == [1, 2]
    assert await waiting(backend, Sieve(WORKSPACE, put_to=EVE.id)) == [2]
