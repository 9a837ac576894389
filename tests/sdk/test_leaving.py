"""Leaving early: closed clients, cancelled tasks and programs that end while people still think."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import pytest
from handraise import AsyncHandraise, Handraise, HandraiseError

from .clients import Client, each_client
from .conftest import PATIENCE, Terminal
from .questions import problem
from .stand_in import AGENT_KEY, StandIn


@pytest.fixture(params=["blocking", "asynchronous"])
def client(request: pytest.FixtureRequest, server: StandIn) -> Iterator[Client]:
    yield from each_client(server, request.param)


def test_a_closed_client_says_so_in_its_own_words(server: StandIn, client: Client) -> None:
    client.call("close")

    with pytest.raises(HandraiseError, match="This client was closed"):
        client.call("job", "build-17")
    with pytest.raises(HandraiseError, match="This client was closed"):
        client.first_events(1)
    client.call("close")
    assert server.requests == []


def test_the_servers_advice_to_wait_is_heeded(server: StandIn, client: Client) -> None:
    server.fail_next("/api/questions", (429, problem(429, "Slow down.")), headers={"Retry-After": "7"})

    client.call("ask", "Which?", wait=None)

    [pause] = client.patience.pauses
    assert 7 <= pause <= 7.125
    assert list(server.questions) == ["q_1"]


def test_on_timeout_is_checked_before_anything_is_waited_for(server: StandIn, client: Client) -> None:
    server.add()

    with pytest.raises(HandraiseError, match='on_timeout is "return" or "raise"'):
        client.call("wait", "q_1", on_timeout="explode")

    assert server.requests == []


async def test_a_cancelled_wait_leaves_the_question_open_and_the_client_usable(server: StandIn) -> None:
    server.longest_hold = 60.0
    async with AsyncHandraise(AGENT_KEY, base_url=server.url) as people:
        asking = asyncio.create_task(people.ask("Which?"))
        assert await asyncio.to_thread(server.polled.wait, PATIENCE)

        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

        assert [question.id async for question in people.list()] == ["q_1"]


async def test_a_time_limit_of_the_event_loop_ends_a_wait(server: StandIn) -> None:
    server.longest_hold = 60.0
    async with AsyncHandraise(AGENT_KEY, base_url=server.url) as people:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await people.ask("Which?")

        assert (await people.pending()).items[0].is_open


async def test_closing_the_client_ends_the_stream_that_another_task_reads(server: StandIn) -> None:
    people = AsyncHandraise(AGENT_KEY, base_url=server.url)

    async def read() -> None:
        async for _ in people.events():
            raise AssertionError("nothing happened")

    reading = asyncio.create_task(read())
    assert await asyncio.to_thread(server.events.listened.wait, PATIENCE)
    await people.close()

    with pytest.raises(HandraiseError):
        await asyncio.wait_for(reading, PATIENCE)


async def test_a_reader_of_events_that_is_cancelled_lets_go_of_its_connection(server: StandIn) -> None:
    async with AsyncHandraise(AGENT_KEY, base_url=server.url) as people:

        async def read() -> None:
            async for _ in people.events():
                raise AssertionError("nothing happened")

        reading = asyncio.create_task(read())
        assert await asyncio.to_thread(server.events.listened.wait, PATIENCE)
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading

        assert reading.cancelled()
        assert (await people.progress("build-17", "still here")).id == "build-17"


ENDS_WHILE_PEOPLE_THINK = """
import asyncio
from handraise import Handraise

people = Handraise()

@people.requires_approval()
async def deploy():
    raise AssertionError("nobody approved")

async def main():
    try:
        async with asyncio.timeout(0.3):
            await deploy()
    except TimeoutError:
        print("gave up")

asyncio.run(main())
"""


def test_a_coroutine_that_waits_for_its_approval_does_not_hold_up_the_end(server: StandIn, terminal: Terminal) -> None:
    server.longest_hold = 60.0

    done = terminal.python("-c", ENDS_WHILE_PEOPLE_THINK)

    assert (done.returncode, done.stdout, done.stderr) == (0, "gave up\n", "")


def test_two_clients_of_one_program_do_not_share_their_fate(server: StandIn) -> None:
    first, second = (Handraise(AGENT_KEY, base_url=server.url) for _ in range(2))
    first.close()

    with second:
        assert second.progress("build-17", "half done").status == "running"
