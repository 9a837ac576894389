"""Both clients, on clocks that do not sleep, behind one blocking surface: each promise is tested for either of them."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import aclosing, closing
from itertools import islice
from typing import Any, Protocol

from handraise import AsyncHandraise, Event, Handraise
from handraise.waiting import AsyncClock, Clock

from .stand_in import AGENT_KEY, StandIn

MOST_PAUSES = 60


class Patience:
    """Pauses without sleeping, and fails instead of waiting for what nobody will send."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        assert len(self.pauses) < MOST_PAUSES, "the client waits though nothing can come"

    async def pause_async(self, seconds: float) -> None:
        self.pause(seconds)


class Client(Protocol):
    """What the tests do with a client; `call` is any of its methods by name."""

    patience: Patience

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any: ...

    def webhook(self, name: str, *args: Any, **kwargs: Any) -> Any: ...

    def listed(self, **kwargs: Any) -> list[Any]: ...

    def first_events(self, count: int, **kwargs: Any) -> list[Event]: ...

    def guarded(self, function: Callable[..., Any], **kwargs: Any) -> Callable[..., Any]: ...


class BlockingClient:
    def __init__(self, server: StandIn, key: str = AGENT_KEY) -> None:
        self.patience = Patience()
        self.handraise = Handraise(key, base_url=server.url, clock=Clock(pause=self.patience.pause))

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.handraise, name)(*args, **kwargs)

    def webhook(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.handraise.webhooks, name)(*args, **kwargs)

    def listed(self, **kwargs: Any) -> list[Any]:
        return list(self.handraise.list(**kwargs))

    def first_events(self, count: int, **kwargs: Any) -> list[Event]:
        with closing(self.handraise.events(**kwargs)) as events:
            return list(islice(events, count))

    def guarded(self, function: Callable[..., Any], **kwargs: Any) -> Callable[..., Any]:
        return self.handraise.requires_approval(**kwargs)(function)

    def close(self) -> None:
        self.handraise.close()


class LoopedClient:
    """The asynchronous client, in an event loop of its own."""

    def __init__(self, server: StandIn, key: str = AGENT_KEY) -> None:
        self.patience = Patience()
        self.handraise = AsyncHandraise(key, base_url=server.url, clock=AsyncClock(pause=self.patience.pause_async))
        self._loop = asyncio.Runner()

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self._loop.run(getattr(self.handraise, name)(*args, **kwargs))

    def webhook(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self._loop.run(getattr(self.handraise.webhooks, name)(*args, **kwargs))

    def listed(self, **kwargs: Any) -> list[Any]:
        async def collect() -> list[Any]:
            return [each async for each in self.handraise.list(**kwargs)]

        return self._loop.run(collect())

    def first_events(self, count: int, **kwargs: Any) -> list[Event]:
        async def collect() -> list[Event]:
            found: list[Event] = []
            async with aclosing(self.handraise.events(**kwargs)) as events:
                async for event in events:
                    found.append(event)
                    if len(found) == count:
                        break
            return found

        return self._loop.run(collect())

    def guarded(self, function: Callable[..., Any], **kwargs: Any) -> Callable[..., Any]:
        async def coroutine(*args: Any, **named: Any) -> Any:
            return function(*args, **named)

        # What people see of a function is its own signature and name, not those of this wrapping.
        coroutine.__wrapped__ = function  # type: ignore[attr-defined]
        coroutine.__module__, coroutine.__qualname__ = function.__module__, function.__qualname__
        guarded = self.handraise.requires_approval(**kwargs)(coroutine)
        return lambda *args, **named: self._loop.run(guarded(*args, **named))

    def close(self) -> None:
        self._loop.run(self.handraise.close())
        self._loop.close()


def each_client(server: StandIn, kind: str, key: str = AGENT_KEY) -> Iterator[Client]:
    client = BlockingClient(server, key) if kind == "blocking" else LoopedClient(server, key)
    try:
        yield client
    finally:
        client.close()
