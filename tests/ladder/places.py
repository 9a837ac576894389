"""A surface that keeps what it was told, and refuses where it is told to: honest, and it never forgets a call."""

from dataclasses import dataclass

from core.ids import NoticeId
from core.places import Target
from core.ports import Delivery, MessageRef, NotDeliverable, Posted
from core.prompt import Prompt


@dataclass(frozen=True)
class Said:
    address: str
    sentence: str
    ref: MessageRef | None
    key: NoticeId


class Board:
    def __init__(self, name: str = "slack") -> None:
        self._name = name
        #: Addresses that cannot be reached, and why.
        self.closed: dict[str, str] = {}
        #: What to answer instead, once for each entry and in order, whatever the address.
        self.instead: list[Delivery | Exception] = []
        self.tried: list[str] = []
        self.shown: dict[MessageRef, Prompt] = {}
        self.said: list[Said] = []

    @property
    def name(self) -> str:
        return self._name

    async def post(self, target: Target, prompt: Prompt, *, key: NoticeId) -> Delivery:
        self.tried.append(target.address)
        return self._answer(target) or self._put(MessageRef(target.address), prompt)

    async def revise(self, ref: MessageRef, prompt: Prompt) -> Delivery:
        return self._put(ref, prompt)

    async def nudge(
        self, target: Target, ref: MessageRef | None, prompt: Prompt, sentence: str, *, key: NoticeId
    ) -> Delivery:
        refused = self._answer(target)
        if refused is not None:
            return refused
        self.said.append(Said(target.address, sentence, ref, key))
        return Posted(ref or MessageRef(f"{target.address} {len(self.said)}"))

    def _answer(self, target: Target) -> Delivery | None:
        if self.instead:
            instead = self.instead.pop(0)
            if isinstance(instead, Exception):
                raise instead
            return instead
        why = self.closed.get(target.address)
        return NotDeliverable(why) if why is not None else None

    def _put(self, ref: MessageRef, prompt: Prompt) -> Posted:
        self.shown[ref] = prompt
        return Posted(ref)

    def at(self, address: str) -> Prompt:
        return self.shown[MessageRef(address)]

    @property
    def addresses(self) -> set[str]:
        return {ref.value for ref in self.shown}
