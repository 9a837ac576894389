"""The hub between the log and its listeners."""

import asyncio
from contextlib import aclosing

from core.ports import EventFilter, LoggedEvent
from core.stream import EventHub, Resync, Silence
from tests.support.backends import Backend, memory_backend
from tests.support.builders import WORKSPACE, ask

EVERYTHING = EventFilter(WORKSPACE)


def _hub(backend: Backend) -> EventHub:
    return EventHub(backend.log, WORKSPACE)


async def _ask(backend: Backend, *numbers: int) -> None:
    engine = backend.engine()
    for number in numbers:
        await engine.handle(ask(number))


async def _positions(hub: EventHub, cursor: int, count: int) -> list[int]:
    heard: list[int] = []
    async with aclosing(hub.listen(EVERYTHING, lambda _: True, cursor, patience=30)) as stream:
        async for event in stream:
            if isinstance(event, LoggedEvent):
                heard.append(event.position)
            if len(heard) == count:
                break
    return heard


async def test_a_listener_catches_up_and_then_hears_what_happens_once() -> None:
    backend = memory_backend()
    hub = _hub(backend)
    await _ask(backend, 1, 2)

    listening = asyncio.create_task(_positions(hub, 0, 4))
    while hub.listeners == 0:  # noqa: ASYNC110
        await asyncio.sleep(0)
    await _ask(backend, 3)
    await hub.pump()
    await _ask(backend, 4)
    await hub.pump()

    assert await listening == [1, 2, 3, 4]


async def test_a_listener_that_does_not_read_is_let_go_and_misses_nothing_when_it_comes_back() -> None:
    backend = memory_backend()
    hub = _hub(backend)
    stream = hub.listen(EVERYTHING, lambda _: True, 0, patience=30)
    living = asyncio.ensure_future(anext(stream))
    while hub.listeners == 0:  # noqa: ASYNC110
        await asyncio.sleep(0)
    await _ask(backend, 1)
    await hub.pump()
    first = await living
    assert isinstance(first, LoggedEvent)

    for start in range(2, 1502, 100):
        await _ask(backend, *range(start, start + 100))
        await hub.pump()
    heard = [event.position async for event in stream if isinstance(event, LoggedEvent)]

    assert hub.listeners == 0
    assert len(heard) < 1500
    last = heard[-1] if heard else first.position
    rest = await _positions(hub, last, 1501 - last)
    assert [first.position, *heard, *rest] == list(range(1, 1502))


async def test_one_slow_listener_does_not_hold_up_another() -> None:
    backend = memory_backend()
    hub = _hub(backend)
    slow = hub.listen(EVERYTHING, lambda _: True, 0, patience=30)
    await _ask(backend, 1)
    await anext(slow)
    quick = asyncio.create_task(_positions(hub, 0, 1300))
    while hub.listeners < 2:  # noqa: ASYNC110
        await asyncio.sleep(0)

    for start in range(2, 1302, 50):
        await _ask(backend, *range(start, start + 50))
        await hub.pump()
        await asyncio.sleep(0.001)

    assert await quick == list(range(1, 1301))
    await slow.aclose()


async def test_a_cursor_beyond_everything_is_told_where_to_begin() -> None:
    backend = memory_backend()
    await _ask(backend, 1)

    stream = _hub(backend).listen(EVERYTHING, lambda _: True, 77, patience=30)

    assert await anext(stream) == Resync(1)
    await stream.aclose()


async def test_silence_is_broken_now_and_then() -> None:
    stream = _hub(memory_backend()).listen(EVERYTHING, lambda _: True, 0, patience=0.001)

    assert await anext(stream) == Silence()
    await stream.aclose()


async def test_everybody_is_let_go_when_the_program_stops() -> None:
    backend = memory_backend()
    hub = _hub(backend)
    listening = asyncio.create_task(_positions(hub, 0, 1))
    while hub.listeners == 0:  # noqa: ASYNC110
        await asyncio.sleep(0)
    await asyncio.sleep(0)

    hub.stop()

    assert await asyncio.wait_for(listening, 30) == []


async def test_with_nobody_listening_the_log_is_left_alone() -> None:
    backend = memory_backend()
    hub = _hub(backend)
    await _ask(backend, 1)
    await hub.pump()

    assert await _positions(hub, 0, 1) == [1]
    assert hub.listeners == 0
