"""Webhooks: which events an endpoint gets, when a failed message is tried again, and when it is given up.

Law 1. A message is tried until it arrives, its endpoint says that it is gone, or the schedule is at its end; then it is
       a dead letter that somebody can see. Nothing disappears.
Law 2. The id of a message is the same on every attempt.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol, TypeAlias

from core.events import EVENT_NAMES, Event, JobChanged, Progressed, is_told
from core.ids import Principal, QuestionId, WorkspaceId
from core.question import Question

#: After each failure the next pause; behind the last one the message is dead.
SCHEDULE = (
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(hours=1),
    timedelta(hours=6),
    timedelta(hours=24),
)
JITTER = 0.2
#: How long the old secret still signs beside the new one.
OVERLAP = timedelta(hours=24)
GONE = 410


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an agent wants to hear of its questions."""

    id: str
    workspace_id: WorkspaceId
    owner: Principal
    url: str
    patterns: tuple[str, ...]
    secret: str
    created_at: datetime
    previous_secret: str | None = None
    previous_until: datetime | None = None
    disabled_at: datetime | None = None
    disabled_why: str | None = None

    def secrets(self, now: datetime) -> tuple[str, ...]:
        """What signs a message now: during a rotation both, so that the receiver may change over when it likes."""
        overlaps = self.previous_until is not None and now < self.previous_until
        return (self.secret, self.previous_secret) if overlaps and self.previous_secret is not None else (self.secret,)


class MessageState(StrEnum):
    WAITING = "waiting"
    DELIVERED = "delivered"
    DEAD = "dead"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Message:
    """One event on its way to one address: a registered endpoint, or the callback of a question."""

    id: str
    workspace_id: WorkspaceId
    owner: Principal
    event: str
    sequence: int
    endpoint_id: str | None = None
    callback_url: str | None = None
    key_id: str | None = None
    question_id: QuestionId | None = None
    job_id: str | None = None


def pattern_problem(patterns: Sequence[str]) -> str | None:
    known = sorted({*EVENT_NAMES.values(), TEST_EVENT})
    for pattern in patterns:
        if not any(_matches(pattern, name) for name in known):
            return f"No event is called {pattern!r}. Use names such as question.answered, question.* or *."
    return None if patterns else "Name at least one event, such as question.*."


TEST_EVENT = "webhook.test"


def wants(endpoint: Endpoint, name: str) -> bool:
    return endpoint.disabled_at is None and any(_matches(pattern, name) for pattern in endpoint.patterns)


def _matches(pattern: str, name: str) -> bool:
    return pattern in ("*", name) or (pattern.endswith(".*") and name.startswith(pattern[:-1]))


def messages_for(
    event: Event, question: Question | None, sequence: int, endpoints: Sequence[Endpoint]
) -> list[Message]:
    """What this event sends: to the endpoints of whoever it belongs to, and to the question's own callback."""
    if not is_told(event):
        return []
    name = EVENT_NAMES[type(event)]
    if isinstance(event, JobChanged | Progressed):
        job = event.after
        about = hashlib.sha256(job.id.encode()).hexdigest()[:16]
        return [
            Message(
                f"msg_{about}_{job.version}_{endpoint.id}",
                job.workspace_id,
                job.owner,
                name,
                job.version,
                endpoint.id,
                job_id=job.id,
            )
            for endpoint in endpoints
            if endpoint.owner == job.owner and wants(endpoint, name)
        ]
    if question is None:
        return []
    spec = question.spec
    messages = [
        Message(
            f"msg_{question.id}_{sequence}_{endpoint.id}",
            spec.workspace_id,
            spec.asker.principal,
            name,
            sequence,
            endpoint.id,
            question_id=question.id,
        )
        for endpoint in endpoints
        if endpoint.owner == spec.asker.principal and wants(endpoint, name)
    ]
    if spec.callback_url is not None:
        messages.append(
            Message(
                f"msg_{question.id}_{sequence}_callback",
                spec.workspace_id,
                spec.asker.principal,
                name,
                sequence,
                callback_url=spec.callback_url,
                key_id=spec.asker.key_id,
                question_id=question.id,
            )
        )
    return messages


class Sent(Protocol):
    """What became of one attempt."""

    @property
    def status(self) -> int | None: ...
    @property
    def retry_after(self) -> timedelta | None: ...
    @property
    def failure(self) -> str | None: ...
    @property
    def duration(self) -> timedelta: ...


@dataclass(frozen=True, slots=True)
class Arrived:
    pass


@dataclass(frozen=True, slots=True)
class Again:
    after: timedelta


@dataclass(frozen=True, slots=True)
class GivenUp:
    why: str


@dataclass(frozen=True, slots=True)
class EndpointGone:
    why: str = "the endpoint answered 410 Gone"


Fate: TypeAlias = Arrived | Again | GivenUp | EndpointGone


def fate_of(attempt: int, sent: Sent, chance: float) -> Fate:
    """What follows from attempt number `attempt` (from 1); `chance` is a random number from 0 to 1."""
    if sent.status is not None and 200 <= sent.status < 300 and sent.failure is None:
        return Arrived()
    if sent.status == GONE:
        return EndpointGone()
    if attempt > len(SCHEDULE):
        why = sent.failure or f"status {sent.status}"
        return GivenUp(f"gave up after {attempt} attempts: {why}")
    pause = SCHEDULE[attempt - 1] * (1 - JITTER + 2 * JITTER * chance)
    return Again(max(pause, sent.retry_after) if sent.retry_after is not None else pause)
