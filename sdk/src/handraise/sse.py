"""Server-sent events from bytes, however they are cut: the parsing rules of the HTML standard, and no I/O."""

import codecs
import re
from dataclasses import dataclass

from handraise.errors import UnexpectedReply

MOST_CHARACTERS = 16 * 1024 * 1024

_LINE_END = re.compile(r"\r\n|\n|\r")
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Frame:
    event: str
    data: str
    # The newest id that the stream has named so far.
    last_id: str | None


class FrameParser:
    """Feed it what arrives, and it gives the frames that are complete; `last_id` is known even without a frame.

    A frame that the stream breaks off in is never given. The `retry` field is ignored: the client has its own pauses.
    """

    def __init__(self) -> None:
        self.last_id: str | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._is_at_start = True
        self._ended_with_return = False
        self._line = ""
        self._id: str | None = None
        self._event = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[Frame]:
        written = self._decoder.decode(chunk)
        if not written:
            return []
        if self._is_at_start:
            self._is_at_start = False
            written = written.removeprefix(_BYTE_ORDER_MARK)
        if self._ended_with_return:
            # The carriage return has ended its line already, so that no frame waits for the next byte.
            written = written.removeprefix("\n")
        self._ended_with_return = written.endswith("\r") or (self._ended_with_return and not written)
        *lines, rest = _LINE_END.split(written)
        frames = [frame for line in self._completed(lines) if (frame := self._take(line)) is not None]
        self._line += rest
        if len(self._line) + self._size > MOST_CHARACTERS:
            raise UnexpectedReply("The stream of events sent one that is larger than this client takes.")
        return frames

    def _completed(self, lines: list[str]) -> list[str]:
        if not lines:
            return []
        lines[0], self._line = self._line + lines[0], ""
        return lines

    def _take(self, line: str) -> Frame | None:
        if not line:
            return self._dispatched()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
            self._size += len(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        return None

    def _dispatched(self) -> Frame | None:
        # Not before its frame is complete: whoever goes on behind this id must have had what it stands for.
        self.last_id = self._id
        event, data = self._event or "message", self._data
        self._event, self._data, self._size = "", [], 0
        return Frame(event, "\n".join(data), self.last_id) if data else None
