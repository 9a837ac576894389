"""One pass over the outbox: claim what is ready, show it on its surface, record what became of it."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import timedelta

from core.commands import RecordDelivery
from core.engine import Engine
from core.ports import Deferred, Delivery, NotDeliverable, Notice, Outbox, Posted, Reader, Store, Surface
from core.prompt import Prompt, prompt_for
from core.question import DeliveryRecord, DeliveryState, Question

LEASE = timedelta(seconds=60)
_AT_ONCE = 50
_ATTEMPTS = 12
_FIRST_PAUSE = timedelta(seconds=1)
_LONGEST_PAUSE = timedelta(minutes=5)


class Deliverer:
    def __init__(
        self,
        outbox: Outbox,
        store: Store,
        reader: Reader,
        engine: Engine,
        surfaces: Mapping[str, Surface],
        absent: Collection[str] = (),
    ) -> None:
        self._outbox = outbox
        self._store = store
        self._reader = reader
        self._engine = engine
        self._surfaces = surfaces
        #: Surfaces that rules may name though they are not connected here: what goes there fails at once.
        self._absent = frozenset(absent) - surfaces.keys()

    async def deliver(self) -> int:
        """Bring every ready target up to date; how many notices that took."""
        handled = 0
        claimable = self._surfaces.keys() | self._absent
        if not claimable:
            return handled
        while notices := await self._outbox.claim(claimable, limit=_AT_ONCE, lease=LEASE):
            for notice in notices:
                await self._one(notice)
            handled += len(notices)
        return handled

    async def _one(self, notice: Notice) -> None:
        question = await self._reader.question(notice.question_id)
        if question is None:
            await self._outbox.settle(notice, NotDeliverable("the question is gone"))
            return
        pointless = _pointless(notice, question)
        if pointless is not None:
            await self._outbox.settle(notice, NotDeliverable(pointless))
            return
        # What is shown is the question as it is now, which may be newer than what the notice asked for.
        shown = replace(notice, version=max(notice.version, question.version))
        surface = self._surfaces.get(notice.target.surface)
        if surface is None:
            delivery: Delivery = NotDeliverable(f"{notice.target.surface} is not connected here")
        else:
            delivery = await self._show(surface, notice, prompt_for(question))
        if isinstance(delivery, Deferred) and notice.attempt >= _ATTEMPTS:
            delivery = NotDeliverable(f"gave up after {notice.attempt} attempts: {delivery.why}")
        is_first = notice.ref is None and notice.nudge is None
        if is_first and isinstance(delivery, NotDeliverable):
            # Before the notice is given up: a failure nobody hears of would leave the question unseen for ever.
            await self._engine.handle(RecordDelivery(question.id, await self._record(notice, delivery)))
        recorded = await self._outbox.settle(shown, delivery)
        if recorded and is_first and isinstance(delivery, Posted):
            await self._engine.handle(RecordDelivery(question.id, await self._record(notice, delivery)))

    @staticmethod
    async def _show(surface: Surface, notice: Notice, prompt: Prompt) -> Delivery:
        try:
            if notice.nudge is not None:
                return await surface.nudge(notice.target, notice.ref, prompt, notice.nudge, key=notice.id)
            if notice.ref is None:
                return await surface.post(notice.target, prompt, key=notice.id)
            return await surface.revise(notice.ref, prompt)
        except Exception as failure:
            # A surface that breaks holds up neither the others nor this one for ever.
            pause = min(_FIRST_PAUSE * 2**notice.attempt, _LONGEST_PAUSE)
            return Deferred(pause, f"{type(failure).__name__}: {failure}")

    async def _record(self, notice: Notice, delivery: Posted | NotDeliverable) -> DeliveryRecord:
        now = await self._store.now()
        if isinstance(delivery, Posted):
            return DeliveryRecord(
                notice.target.surface, DeliveryState.POSTED, now, delivery.link, address=notice.target.address
            )
        return DeliveryRecord(
            notice.target.surface, DeliveryState.FAILED, now, why=delivery.why, address=notice.target.address
        )


def _pointless(notice: Notice, question: Question) -> str | None:
    """Why nothing is to be shown, if nothing is."""
    # After a first attempt a message may be there that we never heard of, and it has to learn how it ended.
    if not question.is_open and notice.ref is None and notice.attempt == 1:
        return "it was settled before"
    if notice.nudge is not None and not question.is_open:
        return "it was settled before"
    if notice.nudge is not None and notice.ref is None:
        return "the message that is still to come tells the whole story"
    return None
