"""What a keeper of webhooks promises, whichever it is."""

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from core.commands import ReportProgress
from core.ids import JobId, WorkspaceId
from core.ports import Parcel
from core.question import Asker
from core.registry import ApiKey
from core.webhooks import Again, Arrived, Endpoint, EndpointGone, Fate, GivenUp, Message, MessageState
from tests.support.backends import Backend
from tests.support.builders import AGENT, OTHER_AGENT, WORKSPACE, answer, ask, question_id, spec
from tests.support.waiting import eventually

LEASE = timedelta(seconds=30)
HERE = Endpoint(
    "wh_1",
    WORKSPACE,
    AGENT.principal,
    "https://a.example/hook",
    ("question.*",),
    "whsec_a",
    datetime(2026, 1, 1, tzinfo=UTC),
)


@dataclass(frozen=True)
class Reply:
    status: int | None
    failure: str | None = None
    retry_after: timedelta | None = None
    duration: timedelta = timedelta(milliseconds=7)


async def _claim(backend: Backend, lease: timedelta = LEASE, limit: int = 100) -> list[Parcel]:
    return list(await backend.webhooks.claim(limit=limit, lease=lease))


async def _settle(backend: Backend, parcel: Parcel, fate: Fate, status: int = 200) -> bool:
    return await backend.webhooks.settle(parcel, b'{"said": "once"}', Reply(status), fate)


async def test_an_event_queues_a_message_for_each_endpoint_that_wants_it(backend: Backend) -> None:
    await backend.webhooks.add_endpoint(HERE)
    await backend.webhooks.add_endpoint(replace(HERE, id="wh_2", patterns=("question.answered", "job.*")))
    await backend.webhooks.add_endpoint(replace(HERE, id="wh_3", owner=OTHER_AGENT.principal, patterns=("*",)))
    engine = backend.engine()
    await engine.handle(ask(1, spec(job="job-1")))
    await engine.handle(answer(1))

    queued = sorted((p.message.event, p.message.endpoint_id, p.message.sequence) for p in await _claim(backend))

    assert queued == [
        ("job.status", "wh_2", 1),
        ("job.status", "wh_2", 2),
        ("question.answered", "wh_1", 2),
        ("question.answered", "wh_2", 2),
        ("question.asked", "wh_1", 1),
    ]


async def test_a_callback_gets_every_event_of_its_question_under_the_secret_of_the_key(backend: Backend) -> None:
    key = ApiKey("k_1", "a", "d", "h", ("ask",), WORKSPACE, HERE.created_at, callback_secret="whsec_k")
    await backend.directory.add_key(key)
    asker = Asker(AGENT.principal, AGENT.name, "k_1")
    await backend.engine().handle(ask(1, spec(asker=asker, callback_url="https://b.example/done")))
    await backend.engine().handle(answer(1))

    parcels = await _claim(backend)

    assert [(p.message.event, p.url, p.secrets) for p in sorted(parcels, key=lambda p: p.message.sequence)] == [
        ("question.asked", "https://b.example/done", ("whsec_k",)),
        ("question.answered", "https://b.example/done", ("whsec_k",)),
    ]


async def test_a_refused_command_queues_nothing(backend: Backend) -> None:
    await backend.webhooks.add_endpoint(HERE)
    await backend.engine().handle(answer(1))

    assert await _claim(backend) == []


async def test_what_arrived_is_done_and_what_failed_comes_again_with_the_same_words(backend: Backend) -> None:
    await backend.webhooks.add_endpoint(HERE)
    await backend.engine().handle(ask(1))
    (first,) = await _claim(backend)
    assert (first.attempt, first.body) == (1, None)

    await _settle(backend, first, Again(timedelta(0)), 500)
    (second,) = await _claim(backend)
    await _settle(backend, second, Arrived())

    assert (second.message, second.attempt, second.body) == (first.message, 2, b'{"said": "once"}')
    assert await _claim(backend) == []
    (record,) = await backend.webhooks.log(WORKSPACE, limit=10)
    assert (record.state, record.due_at) == (MessageState.DELIVERED, None)
    assert [(attempt.number, attempt.status) for attempt in record.attempts] == [(1, 500), (2, 200)]


async def test_a_message_that_waits_is_due_later_and_told_so(backend: Backend) -> None:
    await backend.webhooks.add_endpoint(HERE)
    await backend.engine().handle(ask(1))
    (parcel,) = await _claim(backend)

    await _settle(backend, parcel, Again(timedelta(hours=1)), 503)

    assert await _claim(backend) == []
    due = await backend.webhooks.next_due()
    now = await backend.store.now()
    assert due is not None
    assert now + timedelta(minutes=59) < due <= now + timedelta(hours=1)


async def test_a_dead_letter_stays_to_be_seen(backend: Backend) -> None:
    await backend.webhooks.add_endpoint(HERE)
    await backend.engine().handle(ask(1))
    (parcel,) = await _claim(backend)

    await _settle(backend, parcel, GivenUp("gave up after 8 attempts: status 500"), 500)

    (record,) = await backend.webhooks.log(WORKSPACE, limit=10, endpoint_id="wh_1")
    assert (record.state, record.failure) == (MessageState.DEAD, "gave up after 8 attempts: status 500")
    assert await backend.webhooks.next_due() is None


async def test_a_dead_letter_is_found_however_much_was_sent_after_it(backend: Backend) -> None:
    await backend.webhooks.add_endpoint(HERE)
    await backend.engine().handle(ask(1))
    (parcel,) = await _claim(backend)
    await _settle(backend, parcel, GivenUp("gave up"), 500)
    for number in range(2, 5):
        await backend.engine().handle(ask(number))

    dead = await backend.webhooks.log(WORKSPACE, limit=1, state=MessageState.DEAD)

    assert [record.message.id for record in dead] == [parcel.message.id]


async def test_an_endpoint_that_is_gone_is_disabled_with_all_that_waits_for_it(backend: Backend) -> None:
    await backend.webhooks.add_endpoint(HERE)
    await backend.webhooks.add_endpoint(replace(HERE, id="wh_2"))
    await backend.engine().handle(ask(1))
    await backend.engine().handle(ask(2))
    parcels = await _claim(backend, limit=1, lease=timedelta(0))

    await _settle(backend, parcels[0], EndpointGone(), 410)
    await backend.engine().handle(ask(3))

    gone = parcels[0].message.endpoint_id
    (endpoint,) = [e for e in await backend.webhooks.endpoints(WORKSPACE) if e.id == gone]
    assert endpoint.disabled_why == "the endpoint answered 410 Gone"
    assert {p.message.endpoint_id for p in await _claim(backend)} == {"wh_1", "wh_2"} - {gone}
    states = [record.state for record in await backend.webhooks.log(WORKSPACE, limit=10, endpoint_id=gone)]
    assert states == [MessageState.REFUSED] * 2


async def test_a_removed_endpoint_takes_its_messages_along(backend: Backend) -> None:
    await backend.webhooks.add_endpoint(HERE)
    await backend.engine().handle(ask(1))

    removed = await backend.webhooks.remove_endpoint("wh_1")

    assert (removed, await backend.webhooks.remove_endpoint("wh_1")) == (True, False)
    assert await _claim(backend) == []
    assert await backend.webhooks.endpoints(WORKSPACE) == []


async def test_during_a_rotation_both_secrets_sign(backend: Backend) -> None:
    await backend.webhooks.add_endpoint(HERE)
    await backend.engine().handle(ask(1))

    until = await backend.webhooks.rotate("wh_1", "whsec_b", overlap=timedelta(hours=1))
    (parcel,) = await _claim(backend, lease=timedelta(0))
    await backend.webhooks.rotate("wh_1", "whsec_c", overlap=timedelta(0))

    async def alone() -> bool:
        return [p.secrets for p in await _claim(backend, lease=timedelta(0))] == [("whsec_c",)]

    assert until is not None
    assert parcel.secrets == ("whsec_b", "whsec_a")
    await eventually(alone)
    assert await backend.webhooks.rotate("wh_none", "whsec_d", overlap=LEASE) is None


async def test_a_lease_that_ran_out_goes_to_another_and_the_first_sender_records_nothing(backend: Backend) -> None:
    await backend.webhooks.add_endpoint(HERE)
    await backend.engine().handle(ask(1))
    (first,) = await _claim(backend, lease=timedelta(0))
    (second,) = await _claim(backend)

    assert await _settle(backend, first, Arrived()) is False
    assert await _settle(backend, second, Arrived()) is True


async def test_claims_of_several_senders_never_overlap(backend: Backend) -> None:
    await backend.webhooks.add_endpoint(HERE)
    for number in range(1, 31):
        await backend.engine().handle(ask(number))

    batches = await asyncio.gather(*(_claim(backend, limit=6) for _ in range(6)))

    claimed = [parcel.message.question_id for batch in batches for parcel in batch]
    assert sorted(str(name) for name in claimed) == [question_id(number) for number in range(1, 31)]


async def test_endpoints_and_their_log_are_told_by_owner(backend: Backend) -> None:
    other = replace(HERE, id="wh_2", owner=OTHER_AGENT.principal)
    await backend.webhooks.add_endpoint(HERE)
    await backend.webhooks.add_endpoint(other)
    await backend.engine().handle(ask(1))

    assert await backend.webhooks.endpoints(WORKSPACE, OTHER_AGENT.principal) == [other]
    assert await backend.webhooks.endpoints(WorkspaceId("elsewhere")) == []
    assert await backend.webhooks.log(WORKSPACE, limit=10, owner=OTHER_AGENT.principal) == []
    assert len(await backend.webhooks.log(WORKSPACE, limit=10, owner=AGENT.principal)) == 1


async def test_a_message_leads_back_to_its_event(backend: Backend) -> None:
    await backend.webhooks.add_endpoint(replace(HERE, patterns=("*",)))
    await backend.engine().handle(ask(1))
    await backend.engine().handle(ReportProgress(WORKSPACE, JobId("job-1"), AGENT, "half way"))
    messages: list[Message] = [parcel.message for parcel in await _claim(backend)]

    logged = [await backend.log.of_message(message) for message in messages]

    assert [event.stored.name for event in logged if event is not None] == [m.event for m in messages]
    assert {message.event for message in messages} == {"question.asked", "job.progress"}
