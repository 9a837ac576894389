"""A clock that a test winds."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.support.builders import NOW


@dataclass
class Clock:
    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now

    def passes(self, time: timedelta) -> None:
        self.now += time
