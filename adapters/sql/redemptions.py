"""Receipts that were redeemed: a unique row each, so that one caller wins."""

from sqlalchemy import Connection
from sqlalchemy.dialects import postgresql, sqlite

from adapters.sql import tables
from adapters.sql.access import Access
from adapters.sql.batch import database_now
from adapters.sql.rows import millis
from core.ids import Principal, QuestionId

_R = tables.redeemed_receipts


class SqlRedemptions:
    def __init__(self, access: Access) -> None:
        self._access = access

    async def redeem(self, nonce: str, question_id: QuestionId, by: Principal) -> bool:
        def redeem(connection: Connection) -> bool:
            dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
            now = millis(database_now(connection))
            row = {"nonce": nonce, "question_id": question_id, "redeemed_by": by, "at": now}
            added = dialect.insert(_R).values(row).on_conflict_do_nothing().returning(_R.c.nonce)
            return connection.execute(added).first() is not None

        return await self._access.write(redeem)
