"""A surface that keeps what it shows, for whoever runs the engine in process."""

from core.ids import NoticeId
from core.ports import Delivery, MessageRef, NotDeliverable, Posted
from core.prompt import Prompt
from core.question import Target


class MemorySurface:
    def __init__(self, name: str = "memory") -> None:
        self._name = name
        self.messages: dict[MessageRef, Prompt] = {}
        self._by_key: dict[NoticeId, MessageRef] = {}

    @property
    def name(self) -> str:
        return self._name

    async def post(self, target: Target, prompt: Prompt, *, key: NoticeId) -> Delivery:
        ref = self._by_key.setdefault(key, MessageRef(f"{target.address}/{len(self._by_key) + 1}"))
        self.messages[ref] = prompt
        return Posted(ref)

    async def revise(self, ref: MessageRef, prompt: Prompt) -> Delivery:
        if ref not in self.messages:
            return NotDeliverable("there is no such message")
        self.messages[ref] = prompt
        return Posted(ref)
