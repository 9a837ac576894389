"""Live events: one reader of the log for the whole process, and a queue for everybody who listens.

A listener first catches up from the log, then lives from its queue. Whoever does not read fast enough is let go and
comes back with the last position it saw; nothing is lost, because the log has it.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field

from core.ids import WorkspaceId
from core.ports import EventFilter, EventLog, LoggedEvent

_PAGE = 200
_QUEUED = 1000


@dataclass(eq=False)
class Listener:
    wants: Callable[[LoggedEvent], bool]
    queue: asyncio.Queue[LoggedEvent | None] = field(default_factory=lambda: asyncio.Queue(_QUEUED + 1))

    def offer(self, event: LoggedEvent) -> bool:
        """False when the listener is too slow and has to go."""
        if self.queue.qsize() >= _QUEUED:
            return False
        self.queue.put_nowait(event)
        return True

    def end(self) -> None:
        if not self.queue.full():
            self.queue.put_nowait(None)


@dataclass(frozen=True, slots=True)
class Resync:
    """The cursor is not one of ours: go on from `after`, and read the present state anew."""

    after: int


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing happened for a while."""


class EventHub:
    def __init__(self, log: EventLog, workspace_id: WorkspaceId) -> None:
        self._log = log
        self._everything = EventFilter(workspace_id)
        self._listeners: set[Listener] = set()
        self._position: int | None = None
        self._stopping = False
        self.wake: Callable[[], None] = lambda: None

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    def noticed(self) -> None:
        """Something was committed here; whoever listens should not wait for the next look."""
        if self._listeners:
            self.wake()

    async def pump(self) -> None:
        """Hand on what has happened since the last time. With nobody listening there is nothing to do."""
        if not self._listeners:
            self._position = None
            return
        if self._position is None:
            self._position = await self._log.newest()
        while events := await self._log.after(self._position, self._everything, limit=_PAGE):
            for event in events:
                self._hand_on(event)
            self._position = events[-1].position

    def _hand_on(self, event: LoggedEvent) -> None:
        for listener in list(self._listeners):
            if listener.wants(event) and not listener.offer(event):
                self._listeners.discard(listener)
                listener.queue.put_nowait(None)

    async def newest(self) -> int:
        """The position from which nothing that happens from now on is missed."""
        return await self._log.newest()

    async def listen(
        self, where: EventFilter, wants: Callable[[LoggedEvent], bool], cursor: int, *, patience: float
    ) -> AsyncGenerator[LoggedEvent | Resync | Silence]:
        """Everything behind `cursor`, then whatever happens. Ends when the listener is let go."""
        listener = Listener(wants)
        self._listeners.add(listener)
        try:
            newest = await self._log.newest()
            if self._position is None:
                self._position = newest
            last = cursor
            if cursor > newest:
                last = newest
                yield Resync(newest)
            while events := await self._log.after(last, where, limit=_PAGE):
                for event in events:
                    last = event.position
                    if wants(event):
                        yield event
            async for heard in self._live(listener, patience):
                if isinstance(heard, Silence):
                    yield heard
                elif heard.position > last:
                    last = heard.position
                    yield heard
        finally:
            self._listeners.discard(listener)

    async def _live(self, listener: Listener, patience: float) -> AsyncIterator[LoggedEvent | Silence]:
        while not self._stopping:
            try:
                event = await asyncio.wait_for(listener.queue.get(), patience)
            except TimeoutError:
                yield Silence()
                continue
            if event is None:
                return
            yield event

    def stop(self) -> None:
        """The program is stopping: everybody is let go and comes back to another one."""
        self._stopping = True
        for listener in self._listeners:
            listener.end()
