"""How often somebody may do something. One number per name: the time at which its bucket is full again."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Rate:
    count: int
    period: timedelta


class RateLimiter:
    """`count` at once, then `count` in each period, evenly. Time is an argument, in seconds of any steady clock."""

    def __init__(self, rate: Rate) -> None:
        self._interval = rate.period.total_seconds() / rate.count
        self._burst = rate.period.total_seconds()
        self._full_at: dict[str, float] = {}

    def wait(self, name: str, now: float) -> float:
        """Seconds until `name` may do it; 0.0 means now, and counts."""
        full_at = max(self._full_at.get(name, now), now) + self._interval
        excess = full_at - now - self._burst
        # Rounding must not make the last of a full burst wait.
        if excess > self._interval / 1000:
            return excess
        self._full_at[name] = full_at
        if len(self._full_at) > 10_000:
            self._full_at = {key: at for key, at in self._full_at.items() if at > now}
        return 0.0
