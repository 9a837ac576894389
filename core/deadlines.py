"""The only arithmetic on time: limits, deadlines, pauses and the next instant somebody has to look."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from core.kinds import KindRule
from core.phrasing import span
from core.question import Pause, Question

#: An asker who never replies must not keep a question from its deadline for ever.
LONGEST_PAUSE = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class TimeLimits:
    shortest: timedelta = timedelta(minutes=5)
    longest: timedelta = timedelta(hours=24)


def kind_limit(rule: KindRule, limits: TimeLimits) -> timedelta | None:
    """The kind's own time limit, brought inside what this installation allows."""
    if rule.time_limit is None:
        return None
    return min(max(rule.time_limit, limits.shortest), limits.longest)


def limit_problem(limit: timedelta | None, rule: KindRule, limits: TimeLimits) -> str | None:
    """Why a requested time limit will not do, if it will not."""
    allowed = f"between {span(limits.shortest)} and {span(limits.longest)}"
    if limit is None:
        return None if rule.may_be_unlimited else f"This kind of question needs a time limit {allowed}."
    if not limits.shortest <= limit <= limits.longest:
        return f"The time limit must be {allowed}."
    return None


_TICK = timedelta(milliseconds=1)


def deadline_after(at: datetime, limit: timedelta) -> datetime:
    """The instant at which the limit is over, in whole milliseconds: stores keep no finer ones."""
    return at + -(-limit // _TICK) * _TICK


def pause(question: Question, now: datetime) -> Pause:
    remaining = None if question.deadline is None else question.deadline - now
    return Pause(since=now, until=now + LONGEST_PAUSE, remaining=remaining)


def resumed_deadline(paused: Pause, now: datetime) -> datetime | None:
    """The deadline once the clock runs again; a pause that ran out ended at its bound, not when it was noticed."""
    return None if paused.remaining is None else min(now, paused.until) + paused.remaining


def next_due(question: Question) -> datetime | None:
    """The next instant at which time alone changes this question."""
    if not question.is_open:
        return None
    if question.pause is not None:
        return question.pause.until
    dues = [planned.due for planned in question.agenda]
    if question.deadline is not None:
        dues.append(question.deadline)
    return min(dues, default=None)
