"""Something that happened, as the event stream and webhooks tell it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from handraise.errors import UnexpectedReply
from handraise.question import Question
from handraise.wire import Json, instant, member, text

# The stream could not go on from the cursor it was given: what happened in between is to be read anew.
RESYNC = "resync"


@dataclass(frozen=True, slots=True)
class Event:
    """`id` is the position in the stream, or the id of the webhook message; `json` is the whole of it."""

    id: str
    type: str
    json: Json = field(repr=False)

    @classmethod
    def from_json(cls, event_id: str, json: object) -> Self:
        kind = text(json, "type") if isinstance(json, dict) else None
        if not isinstance(json, dict) or kind is None or not isinstance(json.get("data"), dict):
            raise UnexpectedReply("This is not an event: it needs a type and data.")
        return cls(event_id, kind, json)

    @property
    def timestamp(self) -> datetime | None:
        return instant(self.json, "timestamp")

    @property
    def data(self) -> Json:
        return member(self.json, "data")

    @property
    def sequence(self) -> int | None:
        """Counts the events of one question, in the order they happened."""
        sequence = self.data.get("sequence")
        return sequence if isinstance(sequence, int) else None

    @property
    def question(self) -> Question | None:
        """The question it is about, as it stood when this was sent."""
        if not self.type.startswith("question."):
            return None
        try:
            return Question.from_json(self.data)
        except UnexpectedReply:
            return None

    @property
    def job_id(self) -> str | None:
        return text(self.data, "id") if self.type.startswith("job.") else text(self.data, "jobId")
