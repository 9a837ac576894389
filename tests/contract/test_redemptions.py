"""A receipt is redeemed once, whoever keeps the list."""

import asyncio

from tests.support.backends import Backend
from tests.support.builders import AGENT, OTHER_AGENT, question_id


async def test_of_many_who_redeem_at_once_one_succeeds(backend: Backend) -> None:
    tries = await asyncio.gather(
        *(backend.redemptions.redeem("n1", question_id(1), AGENT.principal) for _ in range(20))
    )

    assert sorted(tries) == [False] * 19 + [True]
    assert await backend.redemptions.redeem("n1", question_id(1), OTHER_AGENT.principal) is False


async def test_another_receipt_is_another_matter(backend: Backend) -> None:
    assert await backend.redemptions.redeem("n1", question_id(1), AGENT.principal)
    assert await backend.redemptions.redeem("n2", question_id(1), AGENT.principal)
