"""The wait: slices, outages and limits, on a clock that only moves when the wait lets it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from handraise.errors import HandraiseError, NotFound, RateLimited, ServerFailure, Unreachable
from handraise.messages import Call, Reply
from handraise.question import Question
from handraise.retry import advised_pause, is_worth_repeating, pause_before
from handraise.steps import Steps, run
from handraise.waiting import Clock, wait_until_settled

OPEN = Question("q_1", {"id": "q_1", "status": "pending"})
ANSWERED = Question("q_1", {"id": "q_1", "status": "answered", "outcome": {"kind": "answered"}})


class World:
    """A server and a clock: each poll plays the next turn, and a hold takes the time that was asked for."""

    def __init__(self, *turns: Any, hold: float | None = None) -> None:
        self.time = 1000.0
        self.turns = list(turns)
        self.hold = hold
        self.slices: list[int] = []
        self.pauses: list[float] = []
        self.outages = 0
        self.seen: list[Any] = []

    def poll(self, seconds: int) -> Steps[Any]:
        yield from ()
        self.slices.append(seconds)
        turn = self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]
        if isinstance(turn, Exception):
            raise turn
        if turn is OPEN:
            self.time += seconds if self.hold is None else self.hold
        return turn

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.time += seconds

    def saw(self, question: Any) -> None:
        self.seen.append(question)

    def lost_server(self, failure: HandraiseError) -> None:
        self.outages += 1

    def wait(self, limit: float | None) -> Any:
        clock = Clock(now=lambda: self.time, pause=self.pause, jitter=lambda low, high: high)
        steps = wait_until_settled(
            self.poll, self, limit=None if limit is None else timedelta(seconds=limit), clock=clock
        )
        return run(steps, self.send, self.pause)

    def send(self, call: Call, timeout: float) -> Reply:
        raise AssertionError("the polls of this world are played, not sent")


def test_a_wait_without_limit_polls_in_slices_until_the_answer() -> None:
    world = World(OPEN, OPEN, ANSWERED)

    assert world.wait(None) is ANSWERED
    assert world.slices == [50, 50, 50]
    assert world.seen == [OPEN, OPEN, ANSWERED]


def test_a_limited_wait_ends_on_time_with_the_open_question() -> None:
    world = World(OPEN)

    assert world.wait(120.5) is OPEN
    assert world.slices == [50, 50, 21]


def test_a_server_that_does_not_hold_is_not_asked_in_a_tight_loop() -> None:
    world = World(OPEN, hold=0.0)

    world.wait(2.0)

    assert world.pauses == [0.5, 0.5, 0.5, 0.5]


def test_an_outage_is_told_once_and_survived() -> None:
    away = Unreachable("away", may_have_arrived=True)
    world = World(away, ServerFailure(503, {}), ServerFailure(500, {}), RateLimited(429, {}), OPEN, away, ANSWERED)

    assert world.wait(None) is ANSWERED
    assert world.outages == 2
    assert world.pauses == [0.25, 0.5, 1.0, 2.0, 0.25]


def test_five_minutes_of_silence_end_a_wait_without_limit() -> None:
    world = World(Unreachable("away"))

    with pytest.raises(Unreachable):
        world.wait(None)

    assert 300 <= world.time - 1000 <= 310


def test_a_limited_wait_outlasts_any_outage_but_not_its_limit() -> None:
    world = World(Unreachable("away"))

    with pytest.raises(Unreachable):
        world.wait(600.0)

    assert world.time - 1000 == 600


def test_a_refusal_ends_the_wait_at_once() -> None:
    world = World(NotFound(404, {}))

    with pytest.raises(NotFound):
        world.wait(None)

    assert world.pauses == []


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (Unreachable("x"), True),
        (Unreachable("x", may_have_arrived=True), True),
        (RateLimited(429, {}), True),
        (RateLimited(429, {}, retry_after=60.0), True),
        (RateLimited(429, {}, retry_after=3600.0), False),
        (ServerFailure(503, {}), True),
        (ServerFailure(502, {}), True),
        (ServerFailure(500, {}), False),
        (NotFound(404, {}), False),
    ],
)
def test_only_what_may_pass_soon_is_repeated(failure: Any, expected: bool) -> None:
    assert is_worth_repeating(failure) is expected


def test_pauses_double_are_bounded_and_heed_advice() -> None:
    highest: Callable[[float, float], float] = lambda low, high: high  # noqa: E731
    away = Unreachable("x")

    assert [pause_before(n, away, highest) for n in (1, 2, 3, 9, 5000)] == [0.25, 0.5, 1.0, 10.0, 10.0]
    assert pause_before(1, RateLimited(429, {}, retry_after=7.0), highest) == 7.125


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("soon", None),
        ("nan", None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
    ],
)
def test_both_spellings_of_retry_after_are_read(header: str | None, seconds: float | None) -> None:
    assert advised_pause(header) == seconds
