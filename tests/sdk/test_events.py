"""The event stream: mended after every break, nothing lost, nothing twice."""

from collections.abc import Iterator

import pytest
from handraise import AuthError, Event, InvalidArgument, NotFound, UnexpectedReply
from handraise.following import Following
from handraise.waiting import Clock, Unmoved

from .clients import Client, each_client
from .questions import problem
from .stand_in import DROP, StandIn
from .streams import frame


@pytest.fixture(params=["blocking", "asynchronous"])
def client(request: pytest.FixtureRequest, server: StandIn) -> Iterator[Client]:
    yield from each_client(server, request.param)


def positions(events: list[Event]) -> list[str]:
    return [event.id for event in events]


def cursors(server: StandIn) -> list[str | None]:
    return [seen.headers.get("last-event-id") for seen in server.requests]


def test_an_event_is_a_value_with_its_question(server: StandIn, client: Client) -> None:
    question = server.add()
    server.answer(question, "pg")
    server.events.emit("question.answered", {**question, "sequence": 2})

    [event] = client.first_events(1, after=0)

    assert (event.id, event.type, event.sequence, event.job_id) == ("1", "question.answered", 2, "build-17")
    assert event.timestamp is not None
    assert event.timestamp.isoformat() == "2026-11-18T08:00:00+00:00"
    assert event.question is not None
    assert (event.question.id, event.question.value) == ("q_1", "pg")
    assert event.data["question"] == "Which database?"


def test_the_event_of_a_job_has_no_question(server: StandIn, client: Client) -> None:
    client.call("progress", "build-17", "half done")

    [event] = client.first_events(1, after=0)

    assert (event.type, event.question, event.job_id) == ("job.progress", None, "build-17")


def test_every_break_is_mended_behind_the_newest_event(server: StandIn, client: Client) -> None:
    for _ in range(6):
        server.events.emit("question.asked", server.add())
    server.events.events_per_connection = 2
    server.events.torn_frames = {3, 6}
    server.fail_next("/api/events", DROP, (503, problem(503, "Stopping.")), (429, problem(429, "Slow down.")))

    events = client.first_events(6, after="0")

    assert positions(events) == ["1", "2", "3", "4", "5", "6"]
    assert cursors(server) == ["0", "0", "0", "0", "2", "2", "4", "5"]


def test_without_a_cursor_it_begins_now(server: StandIn, client: Client) -> None:
    server.events.emit("question.asked", server.add())
    server.events.events_per_connection = 0

    with pytest.raises(AssertionError, match="nothing can come"):
        client.first_events(1)

    assert set(cursors(server)) == {None}


def test_a_cursor_that_is_too_old_is_told_and_passed(server: StandIn, client: Client) -> None:
    for _ in range(5):
        server.events.emit("question.asked", server.add())
    server.events.oldest = 3
    server.events.events_per_connection = 1

    events = client.first_events(3, after=1)

    assert [(event.id, event.type) for event in events] == [
        ("3", "resync"),
        ("4", "question.asked"),
        ("5", "question.asked"),
    ]
    assert events[0].data == {"after": 3}
    assert cursors(server) == ["1", "4"]


def test_a_jobs_stream_holds_only_its_own(server: StandIn, client: Client) -> None:
    server.events.emit("question.asked", server.add(jobId="other"))
    server.events.emit("question.asked", server.add())

    [event] = client.first_events(1, after=0, job="build-17")

    assert (event.id, server.requests[0].path) == ("2", "/api/jobs/build-17/events")


def test_a_refusal_ends_the_stream(server: StandIn, client: Client) -> None:
    server.fail_next("/api/events", (401, problem(401, "This key is not known.")))
    server.fail_next("/api/jobs", (404, problem(404, "No such job.")))

    with pytest.raises(AuthError):
        client.first_events(1)
    with pytest.raises(NotFound):
        client.first_events(1, job="build-9")
    assert client.patience.pauses == []


def test_a_server_that_has_nothing_more_to_say_ends_the_stream(server: StandIn, client: Client) -> None:
    server.fail_next("/api/events", (204, ""))

    assert client.first_events(1) == []


def test_what_is_no_stream_is_refused(server: StandIn, client: Client) -> None:
    server.fail_next("/api/events", (200, {"events": []}))

    with pytest.raises(UnexpectedReply, match="application/json where a stream of events belongs"):
        client.first_events(1)


@pytest.mark.parametrize("after", ["", "1\r\nX: y", "é", "1 2"])
def test_a_cursor_that_cannot_be_one_is_refused_before_anything_is_sent(
    server: StandIn, client: Client, after: str
) -> None:
    with pytest.raises(InvalidArgument):
        client.first_events(1, after=after)

    assert server.requests == []


def following(after: int | None = None) -> Following:
    return Following("/api/events", after=after, clock=Clock(), watcher=Unmoved())


@pytest.mark.parametrize("data", ["[]", "{", "nothing", '{"type": 3, "data": {}}', '{"type": "x"}', "[" * 100_000])
def test_a_frame_that_is_no_event_is_refused(data: str) -> None:
    with pytest.raises(UnexpectedReply):
        following().read(f"id: 1\ndata: {data}\n\n".encode())


def test_an_id_without_an_event_is_a_position_too() -> None:
    reader = following()
    reader.connection()

    assert reader.read(b"id: 41\n\n") == []
    assert reader.connection().headers["Last-Event-ID"] == "41"


def test_an_id_that_cannot_be_a_header_is_not_sent_back() -> None:
    reader = following(7)
    reader.connection()

    reader.read("id: ключ\n\n".encode())

    assert reader.position == "7"


def test_a_resync_without_an_id_of_its_own_still_moves_the_cursor() -> None:
    reader = following(7)
    reader.connection()

    [event] = reader.read(frame(0, "resync", {"after": 3}).removeprefix(b"id: 0\n"))

    assert (event.id, reader.position) == ("3", "3")
