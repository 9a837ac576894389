"""A job as a value: the agent's piece of work that a question may hold up."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from handraise.errors import UnexpectedReply
from handraise.wire import Json, instant, member, text


@dataclass(frozen=True, slots=True)
class Job:
    """A job as the server last told it; `json` holds all that it told."""

    id: str
    json: Json = field(repr=False)

    @classmethod
    def from_json(cls, json: object) -> Self:
        job_id = json.get("id") if isinstance(json, dict) else None
        if not isinstance(json, dict) or not isinstance(job_id, str):
            raise UnexpectedReply("The server did not answer with a job.")
        return cls(job_id, json)

    @property
    def status(self) -> str | None:
        return text(self.json, "status")

    @property
    def resume_status(self) -> str | None:
        """What it goes back to when nothing holds it any more."""
        return text(self.json, "resumeStatus")

    @property
    def block_reason(self) -> str | None:
        return text(self.json, "blockReason")

    @property
    def on_timeout(self) -> str | None:
        """Whether a question that expires fails the job or blocks it."""
        return text(self.json, "onTimeout")

    @property
    def open_question_id(self) -> str | None:
        """The question that has held it longest."""
        return text(self._human_input, "openQuestionId")

    @property
    def open_question_count(self) -> int:
        count = self._human_input.get("openQuestionCount")
        return count if isinstance(count, int) else 0

    @property
    def awaiting_since(self) -> datetime | None:
        return instant(self._human_input, "awaitingSince")

    @property
    def requested_by_role(self) -> str | None:
        return text(self._human_input, "requestedByRole")

    @property
    def _human_input(self) -> Json:
        return member(self.json, "humanInput")
