"""Which failures deserve another try, and after how long.

A call that is repeated may be sent twice: reads and cancels by nature, the others by their idempotency key.
"""

import random
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from handraise.errors import HandraiseError, PassingFailure, Unreachable

FIRST_PAUSE = 0.25
LONGEST_PAUSE = 10.0
LONGEST_ADVISED_PAUSE = 60.0
PASSING_STATUSES = frozenset({429, 502, 503, 504})

Jitter = Callable[[float, float], float]


def is_worth_repeating(failure: HandraiseError) -> bool:
    """Whether the same request may succeed soon."""
    if isinstance(failure, PassingFailure):
        return failure.status in PASSING_STATUSES and (failure.retry_after or 0.0) <= LONGEST_ADVISED_PAUSE
    return isinstance(failure, Unreachable)


def pause_before(attempt: int, failure: HandraiseError, jitter: Jitter = random.uniform) -> float:
    """Seconds before the next try; `attempt` counts the failures so far, from 1. The server's advice is a floor."""
    doubled = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(attempt - 1, 10))
    if isinstance(failure, PassingFailure) and failure.retry_after is not None:
        return min(failure.retry_after, LONGEST_ADVISED_PAUSE) + jitter(0.0, doubled / 2)
    return jitter(doubled / 2, doubled)


def advised_pause(retry_after: str | None) -> float | None:
    """The seconds a Retry-After header asks for, in either of its two spellings."""
    if retry_after is None:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            moment = parsedate_to_datetime(retry_after)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - datetime.now(UTC)).total_seconds()
    is_a_number = seconds == seconds
    return max(0.0, seconds) if is_a_number else None
