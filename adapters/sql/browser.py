"""Looking through questions as people do."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import BigInteger, Integer, Select, String, func, literal, select, tuple_

from adapters.sql import tables
from adapters.sql.access import Access
from adapters.sql.rows import asked_mark, millis, question_from
from core.browsing import Place, Sieve, place_of
from core.ids import PersonId, QuestionId, WorkspaceId
from core.question import OutcomeKind, Question, Status

_Q = tables.questions
_QUESTION = select(_Q.c.id, _Q.c.spec, _Q.c.life, _Q.c.asked_at, _Q.c.version, _Q.c.status)
#: Rows that the database lets through and the sieve does not are few; so many more are read at once to make up.
_SPARE = 20
_STATUS = {
    OutcomeKind.ANSWERED: Status.ANSWERED,
    OutcomeKind.DEFAULTED: Status.EXPIRED,
    OutcomeKind.EXPIRED: Status.EXPIRED,
    OutcomeKind.WITHDRAWN: Status.WITHDRAWN,
}

_Query = Select[*tuple[Any, ...]]


class SqlBrowser:
    def __init__(self, access: Access) -> None:
        self._access = access

    async def waiting(self, sieve: Sieve, *, limit: int, after: Place | None = None) -> Sequence[Question]:
        order = (_Q.c.rank, _Q.c.deadline_at, _Q.c.id)
        found: list[Question] = []
        while True:
            query = _sifted(_QUESTION.where(tables.IS_OPEN), sieve)
            if after is not None:
                deadline = millis(after.deadline) if after.deadline is not None else tables.NEVER
                place = tuple_(
                    literal(after.rank, Integer), literal(deadline, BigInteger), literal(after.question_id, String)
                )
                query = query.where(tuple_(*order) > place)
            page = await self._read(query.order_by(*order).limit(limit + _SPARE))
            found += [question for question in page if sieve.lets_through(question)]
            if len(found) >= limit or len(page) < limit + _SPARE:
                return found[:limit]
            after = place_of(page[-1])

    async def count_put_to(self, workspace_id: WorkspaceId, person_id: PersonId) -> int:
        query = (
            select(func.count())
            .select_from(_Q)
            .where(_Q.c.workspace_id == workspace_id, tables.IS_OPEN, _is_put_to(person_id))
        )
        return await self._access.read(lambda connection: connection.execute(query).scalar_one())

    async def settled(self, sieve: Sieve, *, limit: int, before: QuestionId | None = None) -> Sequence[Question]:
        found: list[Question] = []
        while True:
            query = _sifted(_QUESTION.where(tables.IS_SETTLED), sieve)
            if sieve.ended is not None:
                query = query.where(_Q.c.status == _STATUS[sieve.ended].value)
            if before is not None:
                query = query.where(_Q.c.id < before)
            page = await self._read(query.order_by(_Q.c.id.desc()).limit(limit + _SPARE))
            found += [question for question in page if sieve.lets_through(question)]
            if len(found) >= limit or len(page) < limit + _SPARE:
                return found[:limit]
            before = page[-1].id

    async def _read(self, query: _Query) -> list[Question]:
        return await self._access.read(lambda connection: [question_from(row) for row in connection.execute(query)])


def _sifted(query: _Query, sieve: Sieve) -> _Query:
    """What the database can tell; the sieve itself has the last word."""
    query = query.where(_Q.c.workspace_id == sieve.workspace_id)
    if sieve.kind is not None:
        query = query.where(_Q.c.kind == sieve.kind.value)
    if sieve.project_id is not None:
        query = query.where(_Q.c.project_id == sieve.project_id)
    if sieve.agent is not None:
        query = query.where(_Q.c.agent == sieve.agent)
    if sieve.job_id is not None:
        query = query.where(_Q.c.job_id == sieve.job_id)
    if sieve.put_to is not None:
        query = query.where(_is_put_to(sieve.put_to))
    if sieve.words is not None and sieve.words.isascii():
        # As it stands in the stored JSON. Other letters have cases that not every database knows; those are left
        # to the sieve.
        written = json.dumps(sieve.words)[1:-1]
        query = query.where(_Q.c.spec.icontains(written, autoescape=True) | _Q.c.id.icontains(written, autoescape=True))
    return query


def _is_put_to(person_id: PersonId) -> Any:
    return _Q.c.asked.contains(asked_mark(person_id), autoescape=True)
