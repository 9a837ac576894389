"""Webhook endpoints and messages in memory."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from adapters.memory.database import MemoryDatabase, Posting
from core.ids import Principal, WorkspaceId
from core.ports import Attempt, MessageRecord, Parcel
from core.webhooks import Again, Arrived, Endpoint, EndpointGone, Fate, GivenUp, Message, MessageState, Sent


class MemoryWebhooks:
    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    async def add_endpoint(self, endpoint: Endpoint) -> None:
        self._database.endpoints[endpoint.id] = endpoint

    async def endpoints(self, workspace_id: WorkspaceId, owner: Principal | None = None) -> Sequence[Endpoint]:
        found = [
            endpoint
            for endpoint in self._database.endpoints.values()
            if endpoint.workspace_id == workspace_id and owner in (None, endpoint.owner)
        ]
        return sorted(found, key=lambda endpoint: (endpoint.created_at, endpoint.id))

    async def remove_endpoint(self, endpoint_id: str) -> bool:
        for posting in self._database.postings.values():
            if posting.message.endpoint_id == endpoint_id:
                _refuse(posting, "the endpoint was removed")
        return self._database.endpoints.pop(endpoint_id, None) is not None

    async def rotate(self, endpoint_id: str, secret: str, *, overlap: timedelta) -> datetime | None:
        endpoint = self._database.endpoints.get(endpoint_id)
        if endpoint is None:
            return None
        until = self._database.now() + overlap
        self._database.endpoints[endpoint_id] = replace(
            endpoint, secret=secret, previous_secret=endpoint.secret, previous_until=until
        )
        return until

    async def queue(self, message: Message) -> None:
        self._database.post(message)

    async def claim(self, *, limit: int, lease: timedelta) -> Sequence[Parcel]:
        now = self._database.now()
        due = [
            posting
            for posting in self._database.postings.values()
            if posting.due_at is not None and posting.due_at <= now and posting.lease.is_free(now)
        ]
        parcels = []
        for posting in sorted(due, key=lambda posting: posting.due_at or now)[:limit]:
            posting.lease.until, posting.lease.fence = now + lease, posting.lease.fence + 1
            posting.attempt += 1
            url, secrets = self._address(posting.message, now)
            parcels.append(Parcel(posting.message, posting.attempt, posting.lease.fence, url, secrets, posting.body))
        return parcels

    def _address(self, message: Message, now: datetime) -> tuple[str, tuple[str, ...]]:
        if message.endpoint_id is not None:
            endpoint = self._database.endpoints[message.endpoint_id]
            return endpoint.url, endpoint.secrets(now)
        key = self._database.keys.get(message.key_id or "")
        secret = key.callback_secret if key is not None else None
        return message.callback_url or "", (secret,) if secret is not None else ()

    async def settle(self, parcel: Parcel, body: bytes, sent: Sent, fate: Fate) -> bool:
        now, posting = self._database.now(), self._database.postings[parcel.message.id]
        if posting.lease.fence != parcel.fence:
            return False
        posting.lease.until, posting.body = None, body
        posting.attempts.append(Attempt(parcel.attempt, now, sent.status, sent.failure, sent.duration))
        match fate:
            case Arrived():
                posting.state, posting.due_at, posting.failure = MessageState.DELIVERED, None, None
            case Again():
                posting.due_at = now + fate.after
            case GivenUp():
                posting.state, posting.due_at, posting.failure = MessageState.DEAD, None, fate.why
            case EndpointGone():
                self._disable(parcel.message, fate.why, now)
        return True

    def _disable(self, gone: Message, why: str, now: datetime) -> None:
        endpoint = self._database.endpoints.get(gone.endpoint_id or "")
        if endpoint is not None:
            self._database.endpoints[endpoint.id] = replace(endpoint, disabled_at=now, disabled_why=why)
        for posting in self._database.postings.values():
            message = posting.message
            if (message.endpoint_id, message.callback_url, message.owner) == (
                gone.endpoint_id,
                gone.callback_url,
                gone.owner,
            ):
                _refuse(posting, why)

    async def next_due(self) -> datetime | None:
        instants = (
            max(posting.due_at, posting.lease.until or posting.due_at)
            for posting in self._database.postings.values()
            if posting.due_at is not None
        )
        return min(instants, default=None)

    async def log(
        self,
        workspace_id: WorkspaceId,
        *,
        limit: int,
        owner: Principal | None = None,
        endpoint_id: str | None = None,
        state: MessageState | None = None,
    ) -> Sequence[MessageRecord]:
        found = [
            posting
            for posting in self._database.postings.values()
            if posting.message.workspace_id == workspace_id
            and owner in (None, posting.message.owner)
            and endpoint_id in (None, posting.message.endpoint_id)
            and state in (None, posting.state)
        ]
        newest = sorted(found, key=lambda posting: (posting.created_at, posting.message.id), reverse=True)
        return [
            MessageRecord(p.message, p.state, p.created_at, p.due_at, p.failure, tuple(p.attempts))
            for p in newest[:limit]
        ]


def _refuse(posting: Posting, why: str) -> None:
    if posting.due_at is not None:
        posting.state, posting.due_at, posting.failure = MessageState.REFUSED, None, why
