"""A surface that keeps what it shows, for whoever runs the engine in process."""

from core.ids import NoticeId
from core.places import Target
from core.ports import Delivery, MessageRef, NotDeliverable, Posted
from core.prompt import Prompt


class MemorySurface:
    def __init__(self, name: str = "memory") -> None:
        self._name = name
        self.messages: dict[MessageRef, Prompt] = {}
        self.nudges: list[tuple[Target, str]] = []
        self._by_key: dict[NoticeId, MessageRef] = {}
        self._nudged: set[NoticeId] = set()

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

    async def nudge(
        self, target: Target, ref: MessageRef | None, prompt: Prompt, sentence: str, *, key: NoticeId
    ) -> Delivery:
        if key not in self._nudged:
            self._nudged.add(key)
            self.nudges.append((target, sentence))
        return Posted(ref or MessageRef(f"{target.address}/nudge/{len(self.nudges)}"))
