"""A question as a value: how it stands, what was answered and by whom."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Self

from handraise.errors import UnexpectedReply
from handraise.wire import Json, instant, member, members, text

# The id becomes part of commands that people paste into a shell.
_ID = re.compile(r"[A-Za-z0-9_.-]{1,200}")


class Standing(Enum):
    OPEN = "open"
    ANSWERED = "answered"
    APPROVED = "approved"
    REJECTED = "rejected"
    DEFAULTED = "defaulted"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


# Every pair not listed is refused: a reply this client does not understand must never read as a yes.
_STANDINGS = {
    ("pending", None): Standing.OPEN,
    ("answered", None): Standing.ANSWERED,
    ("answered", "answered"): Standing.ANSWERED,
    ("timeout", None): Standing.EXPIRED,
    ("timeout", "expired"): Standing.EXPIRED,
    ("timeout", "defaulted"): Standing.DEFAULTED,
    ("cancelled", None): Standing.WITHDRAWN,
    ("cancelled", "withdrawn"): Standing.WITHDRAWN,
}
# Who can approve: a person, or a rule or standing approval that a person granted.
_APPROVERS = frozenset({"person", "rule"})
_WITH_VALUE = frozenset({Standing.ANSWERED, Standing.APPROVED, Standing.REJECTED, Standing.DEFAULTED})


@dataclass(frozen=True, slots=True)
class Decider:
    """Who or what decided: a person on a surface, the default, the deadline, a rule or the asker."""

    type: str | None
    id: str | None
    name: str | None
    surface: str | None

    @classmethod
    def from_json(cls, json: Json) -> Self:
        return cls(text(json, "type"), text(json, "id"), text(json, "name"), text(json, "surface"))

    def __str__(self) -> str:
        if self.type in ("default", "deadline"):
            return f"the {self.type}"
        name = self.name or self.id
        if self.type == "rule":
            return f"the rule {name}" if name else "a rule"
        if name is None:
            return "the asker" if self.type == "asker" else "somebody"
        return f"{name} on {self.surface}" if self.surface else name


@dataclass(frozen=True, slots=True)
class Comment:
    by: Decider
    text: str
    asks_back: bool

    @classmethod
    def from_json(cls, json: Json) -> Self:
        return cls(Decider.from_json(member(json, "by")), text(json, "text") or "", json.get("askBack") is True)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the server last told it; `json` holds all that it told."""

    id: str
    json: Json = field(repr=False)

    @classmethod
    def from_json(cls, json: object) -> Self:
        question_id = json.get("id") if isinstance(json, dict) else None
        if not isinstance(json, dict) or not isinstance(question_id, str) or not _ID.fullmatch(question_id):
            raise UnexpectedReply("The server did not answer with a question.")
        return cls(question_id, json)

    @property
    def text(self) -> str:
        return text(self.json, "question") or ""

    @property
    def kind(self) -> str | None:
        return text(self.json, "type")

    @property
    def response_type(self) -> str | None:
        return text(self.json, "responseType")

    @property
    def status(self) -> str | None:
        return text(self.json, "status")

    @property
    def job_id(self) -> str | None:
        return text(self.json, "jobId")

    @property
    def url(self) -> str | None:
        """The page where people see and answer it."""
        return text(self.json, "url")

    @property
    def deadline(self) -> datetime | None:
        return instant(self.json, "timeoutAt")

    @property
    def is_clock_paused(self) -> bool:
        """Somebody asked back: the time limit stands still until the asker replies."""
        return member(self.json, "clock").get("paused") is True

    @property
    def comments(self) -> tuple[Comment, ...]:
        return tuple(map(Comment.from_json, members(self.json, "comments")))

    @property
    def standing(self) -> Standing:
        kind = member(self.json, "outcome").get("kind")
        found = _STANDINGS.get((str(self.status), None if kind is None else str(kind)))
        if found is None:
            raise UnexpectedReply(f"{self.id} has a status this client does not know: {self.status!r} with {kind!r}.")
        if found in (Standing.ANSWERED, Standing.DEFAULTED) and self.is_approval:
            return self._approval_standing(found)
        return found

    @property
    def is_open(self) -> bool:
        return self.standing is Standing.OPEN

    @property
    def is_approval(self) -> bool:
        """An approval by its answer shape, or a yes-or-no asked as an approval."""
        return self.response_type == "approval" or (self.kind == "approval" and self.response_type in ("boolean", None))

    @property
    def is_approved(self) -> bool:
        """A person approved it, or a rule that a person granted. Silence, a default and every other value do not."""
        return self.standing is Standing.APPROVED

    @property
    def goes_on(self) -> bool:
        """It holds nothing up: the asker uses the default now, and may hear of an answer later."""
        return self.is_open and self.kind == "non_blocking" and bool(self._default) and not self.is_approval

    @property
    def has_defaulted(self) -> bool:
        """Its time ran out and the server put the default in place of an answer."""
        return self.outcome.get("kind") == "defaulted"

    @property
    def is_default(self) -> bool:
        """Nobody answered: `value` is the default."""
        return self.goes_on or (self.has_defaulted and self.standing in _WITH_VALUE)

    @property
    def value(self) -> object:
        """What to go on with: the answer, or where `is_default` says so the default; None where there is neither."""
        if self.goes_on:
            return self._default.get("value")
        return self._response.get("value") if self.standing in _WITH_VALUE else None

    @property
    def asked_whom(self) -> str | None:
        """The person or route it was addressed to."""
        return text(self.json, "to")

    @property
    def note(self) -> str | None:
        """What the person wrote beside the answer."""
        return text(self._response, "text")

    @property
    def arguments(self) -> Json | None:
        """The action's arguments as approved, which a person may have changed."""
        for told in (self._response, member(self.json, "action")):
            if isinstance(told.get("arguments"), dict):
                return member(told, "arguments")
        return None

    @property
    def has_changed_arguments(self) -> bool:
        changed = self._response.get("arguments")
        return changed is not None and changed != member(self.json, "action").get("arguments")

    @property
    def decided_by(self) -> Decider:
        return Decider.from_json(member(self.outcome, "decidedBy"))

    @property
    def decided_at(self) -> datetime | None:
        return instant(self.outcome, "decidedAt")

    @property
    def reason(self) -> str | None:
        return text(self.outcome, "reason")

    @property
    def outcome(self) -> Json:
        """How it ended, as the server tells it; empty while it is open."""
        return member(self.json, "outcome")

    @property
    def _response(self) -> Json:
        return member(self.outcome, "response") or member(self.json, "response")

    @property
    def _default(self) -> Json:
        return member(self.json, "defaultResponse")

    def _approval_standing(self, found: Standing) -> Standing:
        """Silence is never consent: only an answer of somebody who can approve does, and only the exact value true."""
        if self._response.get("value") is not True:
            return Standing.REJECTED
        if found is not Standing.ANSWERED:
            return Standing.EXPIRED
        if self.decided_by.type not in _APPROVERS:
            raise UnexpectedReply(f"{self.id} is told as approved, but not by a person or a rule: that is no approval.")
        return Standing.APPROVED
