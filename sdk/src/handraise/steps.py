"""What a call does, apart from how: steps that a blocking or an asynchronous client carries out.

A call is a generator that yields what it needs done and is sent the outcome, so every decision is written once.
"""

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar

from handraise.errors import HandraiseError
from handraise.messages import Call, Reply

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Send:
    """Send this once; what comes back is sent to the generator, a failure is raised in it."""

    call: Call
    timeout: float


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


Steps: TypeAlias = Generator[Send | Pause, Reply | None, T]


def sent(call: Call, timeout: float) -> Steps[Reply]:
    """The reply to one request."""
    reply = yield Send(call, timeout)
    if reply is None:
        raise TypeError("a request was carried out without a reply")
    return reply


def run(steps: Steps[T], send: Callable[[Call, float], Reply], pause: Callable[[float], None]) -> T:
    advance: Callable[[], Send | Pause] = partial(next, steps)
    while True:
        try:
            step = advance()
        except StopIteration as end:
            value: T = end.value
            return value
        reply = None
        try:
            if isinstance(step, Send):
                reply = send(step.call, step.timeout)
            else:
                pause(step.seconds)
        except HandraiseError as failure:
            advance = partial(steps.throw, failure)
        else:
            advance = partial(steps.send, reply)


async def run_async(
    steps: Steps[T], send: Callable[[Call, float], Awaitable[Reply]], pause: Callable[[float], Awaitable[None]]
) -> T:
    advance: Callable[[], Send | Pause] = partial(next, steps)
    while True:
        try:
            step = advance()
        except StopIteration as end:
            value: T = end.value
            return value
        reply = None
        try:
            if isinstance(step, Send):
                reply = await send(step.call, step.timeout)
            else:
                await pause(step.seconds)
        except HandraiseError as failure:
            advance = partial(steps.throw, failure)
        else:
            advance = partial(steps.send, reply)
