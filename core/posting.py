"""Sending messages: claim what is due, put the event into words once, send, and record what became of it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Protocol

from core.decisions import Case
from core.ids import Principal, WorkspaceId
from core.ports import Parcel, Webhooks
from core.webhooks import Message, Sent, fate_of

#: Longer than an attempt may take, so that no message is sent twice at the same time.
LEASE = timedelta(seconds=45)
_AT_ONCE = 20


class Courier(Protocol):
    async def send(self, url: str, message_id: str, body: bytes, secrets: Sequence[str]) -> Sent: ...


class Postman:
    def __init__(
        self,
        webhooks: Webhooks,
        courier: Courier,
        compose: Callable[[Message], Awaitable[bytes | None]],
        workspace_id: WorkspaceId,
        chance: Callable[[], float],
    ) -> None:
        self._webhooks = webhooks
        self._courier = courier
        self._compose = compose
        self._workspace_id = workspace_id
        self._chance = chance
        self._addressees: frozenset[Principal] = frozenset()
        self.wake: Callable[[], None] = lambda: None

    def noticed(self, after: Case) -> None:
        """Something happened here; if it sends a message, that should not wait for the next look."""
        asked = after.question is not None and (
            after.question.spec.callback_url is not None or after.question.spec.asker.principal in self._addressees
        )
        if asked or (after.job is not None and after.job.owner in self._addressees):
            self.wake()

    async def refresh(self) -> None:
        """Learn anew who has endpoints."""
        endpoints = await self._webhooks.endpoints(self._workspace_id)
        self._addressees = frozenset(endpoint.owner for endpoint in endpoints if endpoint.disabled_at is None)

    async def deliver(self) -> int:
        """Send everything that is due; how many attempts that took."""
        sent = 0
        while parcels := await self._webhooks.claim(limit=_AT_ONCE, lease=LEASE):
            await asyncio.gather(*(self._one(parcel) for parcel in parcels))
            sent += len(parcels)
        return sent

    async def _one(self, parcel: Parcel) -> None:
        body = parcel.body if parcel.body is not None else await self._compose(parcel.message)
        if body is None:
            body = b"{}"  # what it was about is gone; the receiver still learns that something happened
        sent = await self._courier.send(parcel.url, parcel.message.id, body, parcel.secrets)
        await self._webhooks.settle(parcel, body, sent, fate_of(parcel.attempt, sent, self._chance()))
