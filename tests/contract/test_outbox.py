"""What an outbox promises, whichever it is."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from core.places import Target
from core.ports import Deferred, MessageRef, NotDeliverable, Notice, Posted
from tests.support.backends import Backend
from tests.support.builders import answer, ask, question_id, spec
from tests.support.waiting import eventually

LEASE = timedelta(seconds=30)
HERE, THERE = Target("memory", "here"), Target("memory", "there")


async def _asked(backend: Backend, *targets: Target, number: int = 1) -> None:
    await backend.engine().handle(ask(number, spec(targets=targets)))


async def _claim(backend: Backend, lease: timedelta = LEASE) -> list[Notice]:
    return list(await backend.outbox.claim(["memory"], limit=10, lease=lease))


async def test_asking_wants_every_target_at_the_first_version(backend: Backend) -> None:
    await _asked(backend, HERE, THERE)

    claimed = await _claim(backend)

    assert sorted((notice.target.address, notice.version, notice.ref) for notice in claimed) == [
        ("here", 1, None),
        ("there", 1, None),
    ]
    assert await _claim(backend) == []


async def test_a_question_without_targets_wants_nothing(backend: Backend) -> None:
    await _asked(backend)

    assert await _claim(backend) == []


async def test_what_was_delivered_is_not_wanted_again_until_the_question_changes(backend: Backend) -> None:
    await _asked(backend, HERE)
    (notice,) = await _claim(backend)

    recorded = await backend.outbox.settle(notice, Posted(MessageRef("m1")))
    quiet = await _claim(backend)
    await backend.engine().handle(answer(1))
    (revision,) = await _claim(backend)

    assert (recorded, quiet) == (True, [])
    assert (revision.id, revision.version, revision.ref) == (notice.id, 2, MessageRef("m1"))


async def test_a_change_during_delivery_makes_the_notice_ready_again(backend: Backend) -> None:
    await _asked(backend, HERE)
    (notice,) = await _claim(backend)
    await backend.engine().handle(answer(1))

    while_claimed = await _claim(backend)
    await backend.outbox.settle(notice, Posted(MessageRef("m1")))
    (again,) = await _claim(backend)

    assert while_claimed == []
    assert (again.version, again.ref) == (2, MessageRef("m1"))


async def test_a_deferred_notice_waits_and_counts_its_attempts(backend: Backend) -> None:
    await _asked(backend, HERE)
    (first,) = await _claim(backend)
    await backend.outbox.settle(first, Deferred(timedelta(hours=1), "busy"))
    assert await _claim(backend) == []
    await backend.engine().handle(ask(2, spec(targets=(THERE,))))
    (other,) = await _claim(backend)
    await backend.outbox.settle(other, Deferred(timedelta(0), "busy"))

    (again,) = await _claim(backend)

    assert (other.attempt, again.attempt, again.question_id) == (1, 2, question_id(2))


async def test_what_cannot_be_delivered_is_given_up(backend: Backend) -> None:
    await _asked(backend, HERE)
    (notice,) = await _claim(backend)

    await backend.outbox.settle(notice, NotDeliverable("archived"))

    assert await _claim(backend) == []


async def test_a_lease_that_ran_out_goes_to_another_and_the_first_holder_records_nothing(backend: Backend) -> None:
    await _asked(backend, HERE)
    (first,) = await _claim(backend, lease=timedelta(milliseconds=1))
    taken: list[Notice] = []

    async def taken_over() -> bool:
        taken.extend(await _claim(backend))
        return bool(taken)

    await eventually(taken_over)

    assert taken == [replace(first, fence=2, attempt=2)]
    assert await backend.outbox.settle(first, Posted(MessageRef("lost"))) is False
    assert await backend.outbox.settle(taken[0], Posted(MessageRef("kept"))) is True


async def test_claims_of_several_claimers_never_overlap(backend: Backend) -> None:
    for number in range(1, 31):
        await _asked(backend, HERE, number=number)

    batches = await asyncio.gather(*(_claim(backend) for _ in range(6)))

    names = [notice.question_id for batch in batches for notice in batch]
    assert sorted(names) == [question_id(number) for number in range(1, 31)]


async def test_only_notices_of_the_surfaces_at_hand_are_claimed(backend: Backend) -> None:
    await _asked(backend, Target("elsewhere", "there"), HERE)

    (claimed,) = await _claim(backend)

    assert claimed.target == HERE
