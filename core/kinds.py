"""The kinds of question, as a table. A kind is a row here, never a branch elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum


class Kind(StrEnum):
    BLOCKING = "blocking"
    APPROVAL = "approval"
    ERROR_RECOVERY = "error_recovery"
    NON_BLOCKING = "non_blocking"
    CLARIFYING = "clarifying"
    CONFIRMING = "confirming"
    PREFERENCE = "preference"
    EDUCATIONAL = "educational"
    CELEBRATORY = "celebratory"


class JobStatus(StrEnum):
    RUNNING = "running"
    WAITING_FOR_INPUT = "waiting_for_input"
    WAITING_FOR_APPROVAL = "waiting_for_approval"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class DefaultRule(StrEnum):
    REQUIRED = "required"
    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"


class Priority(StrEnum):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class KindRule:
    """What a kind means. At the deadline the default stands if there is one; without one nothing was decided."""

    holds_job_as: JobStatus | None
    time_limit: timedelta | None
    may_be_unlimited: bool
    default: DefaultRule
    priority: Priority


def _holding(status: JobStatus, minutes: int, default: DefaultRule) -> KindRule:
    return KindRule(status, timedelta(minutes=minutes), False, default, Priority.HIGH)


def _going_on(limit: timedelta | None, default: DefaultRule, priority: Priority) -> KindRule:
    return KindRule(None, limit, True, default, priority)


KINDS: Mapping[Kind, KindRule] = {
    Kind.BLOCKING: _holding(JobStatus.WAITING_FOR_INPUT, 30, DefaultRule.ALLOWED),
    Kind.APPROVAL: _holding(JobStatus.WAITING_FOR_APPROVAL, 15, DefaultRule.FORBIDDEN),
    Kind.ERROR_RECOVERY: _holding(JobStatus.WAITING_FOR_INPUT, 10, DefaultRule.ALLOWED),
    Kind.NON_BLOCKING: _going_on(None, DefaultRule.REQUIRED, Priority.LOW),
    Kind.CLARIFYING: _going_on(timedelta(minutes=30), DefaultRule.ALLOWED, Priority.NORMAL),
    Kind.CONFIRMING: _going_on(timedelta(minutes=30), DefaultRule.ALLOWED, Priority.NORMAL),
    Kind.PREFERENCE: _going_on(timedelta(hours=24), DefaultRule.ALLOWED, Priority.LOW),
    Kind.EDUCATIONAL: _going_on(timedelta(hours=24), DefaultRule.ALLOWED, Priority.LOW),
    Kind.CELEBRATORY: _going_on(timedelta(hours=24), DefaultRule.ALLOWED, Priority.LOW),
}

ENDED = frozenset({JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.CANCELLED})
WAITING = frozenset({JobStatus.WAITING_FOR_INPUT, JobStatus.WAITING_FOR_APPROVAL})
