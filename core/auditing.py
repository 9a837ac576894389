"""A second pair of eyes: open questions whose next step is overdue, or that nobody is going to look at in time.

It shares nothing with the sweeper but the questions: what is due is worked out anew from each of them, and compared
with what the store will bring up. A few at a time, round and round, so that it costs the same however many are open.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from core.deadlines import next_due
from core.ids import QuestionId
from core.phrasing import span
from core.ports import Planning, Reader, Store

#: The sweeper is never this late while it works.
GRACE = timedelta(minutes=1)
AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class Neglected:
    question_id: QuestionId
    why: str


class Auditor:
    def __init__(self, reader: Reader, store: Store) -> None:
        self._reader = reader
        self._store = store
        self._after: QuestionId | None = None

    async def examine(self) -> list[Neglected]:
        """What is wrong among the questions that are overdue and the next few of all that are open."""
        now = await self._store.now()
        late = await self._reader.overdue(now - GRACE, limit=AT_ONCE)
        some = await self._reader.planned(limit=AT_ONCE, after=self._after)
        self._after = some[-1].question.id if len(some) == AT_ONCE else None
        found: dict[QuestionId, Neglected] = {}
        for planning in (*late, *some):
            why = _trouble(planning, now)
            if why is not None:
                found[planning.question.id] = Neglected(planning.question.id, why)
        return list(found.values())


def _trouble(planning: Planning, now: datetime) -> str | None:
    due = next_due(planning.question)
    if due is None:
        return None
    if due < now - GRACE:
        return f"its next step is overdue by {span(_whole(now - due))}"
    if planning.due is None:
        return "nobody is going to look at it: the store has no due time for it"
    if planning.due > due + GRACE:
        return f"the store brings it up {span(_whole(planning.due - due))} too late"
    return None


def _whole(duration: timedelta) -> timedelta:
    return timedelta(seconds=int(duration.total_seconds()))
