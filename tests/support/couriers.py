"""Couriers for tests that are about something else than the wire."""

from collections.abc import Sequence
from datetime import timedelta

from adapters.webhooks.sender import Sent


class AlwaysFails:
    async def send(self, url: str, message_id: str, body: bytes, secrets: Sequence[str]) -> Sent:
        return Sent(500, None, "status 500", timedelta(milliseconds=1))
