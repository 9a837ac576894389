"""The outbox in memory."""

from collections.abc import Collection, Sequence
from datetime import timedelta

from adapters.memory.database import MemoryDatabase, Wanted
from core.ports import Deferred, Delivery, MessageRef, NotDeliverable, Notice, Posted, notice_id


class MemoryOutbox:
    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    async def claim(self, surfaces: Collection[str], *, limit: int, lease: timedelta) -> Sequence[Notice]:
        now = self._database.now()
        ready = [
            (wanted.ready_at, name)
            for name, wanted in self._database.notices.items()
            if wanted.target.surface in surfaces
            and wanted.ready_at is not None
            and wanted.ready_at <= now
            and wanted.lease.is_free(now)
        ]
        claimed = []
        for _, name in sorted(ready)[:limit]:
            wanted = self._database.notices[name]
            wanted.lease.until, wanted.lease.fence = now + lease, wanted.lease.fence + 1
            wanted.attempt += 1
            claimed.append(
                Notice(
                    name,
                    wanted.question_id,
                    wanted.target,
                    wanted.version,
                    wanted.attempt,
                    wanted.lease.fence,
                    self._ref(wanted),
                    wanted.nudge,
                )
            )
        return claimed

    def _ref(self, wanted: Wanted) -> MessageRef | None:
        """The message at the target; a nudge stands beside that of its question."""
        shown = self._database.notices.get(notice_id(wanted.question_id, wanted.target), wanted)
        return shown.ref

    async def settle(self, notice: Notice, delivery: Delivery) -> bool:
        now, wanted = self._database.now(), self._database.notices.get(notice.id)
        if wanted is None or wanted.lease.fence != notice.fence:
            return False
        wanted.lease.until = None
        match delivery:
            case Posted():
                wanted.ref, wanted.attempt = delivery.ref, 0
                wanted.ready_at = now if wanted.version > notice.version else None
            case Deferred():
                wanted.ready_at = now + delivery.retry_after
            case NotDeliverable():
                wanted.ready_at = None
        return True
