"""Blocking work beside an event loop."""

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """What the work returns or raises, while the event loop goes on.

    A wait for people may take days. Unlike the threads of asyncio's own pool, this one holds up neither a loop that was
    cancelled nor a program that ends.
    """
    # Most programs that import this package never run an event loop.
    import asyncio
    from concurrent.futures import Future

    outcome: Future[T] = Future()

    def carry_out() -> None:
        if not outcome.set_running_or_notify_cancel():
            return
        try:
            outcome.set_result(work())
        except BaseException as failure:
            outcome.set_exception(failure)

    threading.Thread(target=carry_out, name="handraise", daemon=True).start()
    return await asyncio.wrap_future(outcome)
