"""Following the event stream: where to go on after each break, and how soon."""

import json
import re

from handraise.errors import HandraiseError, InvalidArgument, UnexpectedReply, Unreachable
from handraise.event import RESYNC, Event
from handraise.messages import Call
from handraise.retry import pause_before
from handraise.sse import Frame, FrameParser
from handraise.waiting import OUTAGES, Ticking, Watcher

# The server pings every 15 seconds; one that is silent for longer than this is gone without having said so.
QUIET_LIMIT = 60.0

_POSITION = re.compile(r"[!-~]{1,200}")


class Following:
    """One reader of the stream: it knows the newest position, through any number of connections."""

    def __init__(self, path: str, *, after: int | str | None, clock: Ticking, watcher: Watcher) -> None:
        if after is not None and not _POSITION.fullmatch(str(after)):
            raise InvalidArgument(f"{after!r} is not a position in the stream: give the id of an event.")
        self.position = None if after is None else str(after)
        self._path = path
        self._clock = clock
        self._watcher = watcher
        self._parser = FrameParser()
        self._failures = 0

    def connection(self) -> Call:
        """The request that goes on behind the newest event."""
        self._parser = FrameParser()
        headers = {"Accept-Encoding": "identity", "Cache-Control": "no-store"}
        if self.position is not None:
            headers["Last-Event-ID"] = self.position
        return Call("GET", self._path, headers=headers)

    def read(self, chunk: bytes) -> list[Event]:
        self._failures = 0
        events = []
        frames = self._parser.feed(chunk)
        for frame in frames:
            self._pass_by(frame.last_id)
            events.append(self._event(frame))
        if not frames or frames[-1].last_id != self._parser.last_id:
            # An id without data is a position all the same.
            self._pass_by(self._parser.last_id)
        return events

    def pause_after(self, failure: HandraiseError) -> float:
        """Seconds before the next connection; what will not pass is raised."""
        if not isinstance(failure, OUTAGES):
            raise failure
        self._failures += 1
        if self._failures == 2:
            # A stream that ends is nothing special, as servers restart; one that does not come back is.
            self._watcher.lost_server(failure)
        return pause_before(self._failures, failure, self._clock.jitter)

    def broken_off(self) -> Unreachable:
        return Unreachable("The server ended the stream of events.")

    def _pass_by(self, position: str | None) -> None:
        if position is not None and _POSITION.fullmatch(position):
            self.position = position

    def _event(self, frame: Frame) -> Event:
        try:
            content = json.loads(frame.data)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict):
            raise UnexpectedReply("The stream of events holds one that is not a JSON object.")
        if frame.event == RESYNC:
            after = content.get("after")
            self._pass_by(str(after) if isinstance(after, int) else None)
            content = {"type": RESYNC, "data": content}
        return Event.from_json(self.position or "", content)
