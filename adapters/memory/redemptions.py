"""Redeemed receipts in memory."""

from adapters.memory.database import MemoryDatabase
from core.ids import Principal, QuestionId


class MemoryRedemptions:
    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    async def redeem(self, nonce: str, question_id: QuestionId, by: Principal) -> bool:
        if nonce in self._database.redeemed:
            return False
        self._database.redeemed[nonce] = (question_id, by)
        return True
