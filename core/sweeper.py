"""One pass over what is due: claim it, let time speak, and again until nothing is left."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

from core.commands import Tick
from core.engine import Engine
from core.ports import Claim, StaleClaim, Store

#: Long enough for a slow batch, short enough that another process soon takes over from a dead one.
LEASE = timedelta(seconds=30)
_AT_ONCE = 200


class Sweeper:
    def __init__(self, store: Store, engine: Engine, *, on_failure: Callable[[Claim, Exception], None]) -> None:
        self._store = store
        self._engine = engine
        self._on_failure = on_failure

    async def sweep(self) -> int:
        """Settle everything that is due now; how many ticks that took."""
        ticked = 0
        while claims := await self._store.claim_due(limit=_AT_ONCE, lease=LEASE):
            await asyncio.gather(*(self._tick(claim) for claim in claims))
            ticked += len(claims)
        return ticked

    async def _tick(self, claim: Claim) -> None:
        try:
            await self._engine.handle(Tick(claim.question_id), fence=claim.fence)
        except StaleClaim:
            return  # somebody else holds a newer claim and does it
        except Exception as failure:
            # One question must not keep the others from their deadlines; its lease runs out and it comes up again.
            self._on_failure(claim, failure)
