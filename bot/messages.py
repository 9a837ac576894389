"""What a webhook says: the same envelope as the event stream, put into words once and kept."""

from pydantic_core import to_json

from bot.api.wire import View, envelope_json, instant
from core.ports import EventLog, Store
from core.webhooks import TEST_EVENT, Message


class MessageWords:
    def __init__(self, log: EventLog, store: Store, view: View) -> None:
        self._log = log
        self._store = store
        self._view = view

    async def compose(self, message: Message) -> bytes | None:
        if message.event == TEST_EVENT:
            now = instant(await self._store.now())
            return to_json({"type": TEST_EVENT, "timestamp": now, "data": {"webhookId": message.endpoint_id}})
        logged = await self._log.of_message(message)
        return to_json(envelope_json(logged, self._view)) if logged is not None else None
