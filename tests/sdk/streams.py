"""The stand-in's event stream: positions, frames, breaks in awkward places, and cursors it does not know."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .questions import ASKED_AT

Json = dict[str, Any]

OPENING = b"retry: 2000\n\n: ping\n\n"


@dataclass
class EventStream:
    """Events by position, from 1; a connection ends after so many events, and in the middle of each torn frame."""

    events_per_connection: int | None = None
    torn_frames: set[int] = field(default_factory=set)
    # A cursor that is older is answered with a resync to this position.
    oldest: int = 0
    log: list[tuple[str, Json]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._changed = threading.Condition()
        self._is_open = False
        self.listened = threading.Event()

    def open(self) -> None:
        self._is_open = True

    def close(self) -> None:
        with self._changed:
            self._is_open = False
            self._changed.notify_all()

    def emit(self, type_: str, data: Json) -> int:
        """Something happened; its position."""
        with self._changed:
            self.log.append((type_, json.loads(json.dumps(data))))
            self._changed.notify_all()
            return len(self.log)

    def read(self, cursor: str | None, *, job: str | None) -> Iterator[bytes]:
        position = len(self.log) if cursor is None else int(cursor)
        self.listened.set()
        return self._frames(position, job)

    def _frames(self, position: int, job: str | None) -> Iterator[bytes]:
        yield OPENING
        if position < self.oldest:
            position = self.oldest
            yield frame(position, "resync", {"after": position})
        told = 0
        while told != self.events_per_connection:
            with self._changed:
                while len(self.log) <= position and self._is_open:
                    self._changed.wait()
                if not self._is_open:
                    return
                type_, data = self.log[position]
            position += 1
            if job is not None and data.get("jobId", data["id"]) != job:
                continue
            whole = frame(position, type_, {"type": type_, "timestamp": ASKED_AT, "data": data})
            if position in self.torn_frames:
                self.torn_frames.remove(position)
                yield whole[: len(whole) // 2]
                return
            yield whole
            told += 1


def frame(position: int, event: str, content: Json) -> bytes:
    return f"id: {position}\nevent: {event}\ndata: {json.dumps(content)}\n\n".encode()
