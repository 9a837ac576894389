"""Looking through questions as people do."""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    LargeBinary,
    Select,
    String,
    cast,
    func,
    literal,
    or_,
    select,
    tuple_,
)

from adapters.sql import tables
from adapters.sql.access import Access
from adapters.sql.rows import AnyRow, asked_mark, millis, question_from
from core.browsing import Place, Sieve
from core.ids import PersonId, QuestionId, WorkspaceId
from core.question import OutcomeKind, Question, Status

_Q = tables.questions
_PRESSING = (_Q.c.rank, _Q.c.deadline_at, _Q.c.id)
_QUESTION = select(*_PRESSING, _Q.c.spec, _Q.c.life, _Q.c.asked_at, _Q.c.version, _Q.c.status)
#: Rows that the database lets through and the sieve does not are mostly few; so many more are read to make up.
_SPARE = 20
#: Where they are many after all, each page is so many times as long, but never so long that others wait for it.
_GROWTH, _LONGEST_PAGE = 4, 500
_STATUS = {
    OutcomeKind.ANSWERED: Status.ANSWERED,
    OutcomeKind.DEFAULTED: Status.EXPIRED,
    OutcomeKind.EXPIRED: Status.EXPIRED,
    OutcomeKind.WITHDRAWN: Status.WITHDRAWN,
}

_Query: TypeAlias = Select[*tuple[Any, ...]]
_Condition: TypeAlias = ColumnElement[bool]


class _Page(NamedTuple):
    found: list[Question]
    #: The row that the next page begins behind, if there may be one.
    last: AnyRow | None


class SqlBrowser:
    def __init__(self, access: Access) -> None:
        self._access = access

    async def waiting(self, sieve: Sieve, *, limit: int, after: Place | None = None) -> Sequence[Question]:
        query = self._sifted(_QUESTION.where(tables.IS_OPEN), sieve).order_by(*_PRESSING)
        first = query
        if after is not None:
            deadline = millis(after.deadline) if after.deadline is not None else tables.NEVER
            first = query.where(_is_behind(after.rank, deadline, after.question_id))
        return await self._gather(query, first, lambda row: _is_behind(row.rank, row.deadline_at, row.id), sieve, limit)

    async def count_put_to(self, workspace_id: WorkspaceId, person_id: PersonId) -> int:
        query = (
            select(func.count())
            .select_from(_Q)
            .where(_Q.c.workspace_id == workspace_id, tables.IS_OPEN, _is_put_to(person_id))
        )
        return await self._access.read(lambda connection: connection.execute(query).scalar_one())

    async def settled(self, sieve: Sieve, *, limit: int, before: QuestionId | None = None) -> Sequence[Question]:
        query = self._sifted(_QUESTION.where(tables.IS_SETTLED), sieve).order_by(_Q.c.id.desc())
        if sieve.ended is not None:
            query = query.where(_Q.c.status == _STATUS[sieve.ended].value)
        first = query.where(_Q.c.id < before) if before is not None else query
        return await self._gather(query, first, lambda row: _Q.c.id < row.id, sieve, limit)

    async def _gather(
        self, query: _Query, first: _Query, behind: Callable[[AnyRow], _Condition], sieve: Sieve, limit: int
    ) -> list[Question]:
        """The first so many that the sieve lets through, page by page."""
        found: list[Question] = []
        page, length = first, limit + _SPARE
        while True:
            passed, last = await self._read(page.limit(length), sieve, length)
            found += passed
            if len(found) >= limit or last is None:
                return found[:limit]
            page, length = query.where(behind(last)), max(length, min(length * _GROWTH, _LONGEST_PAGE))

    async def _read(self, query: _Query, sieve: Sieve, length: int) -> _Page:
        def read(connection: Connection) -> _Page:
            rows = connection.execute(query).all()
            # Most of reading is in making a question of a row; the words are looked for before.
            questions = [question_from(row) for row in rows if sieve.words is None or _mentions(row, sieve)]
            last = rows[-1] if len(rows) == length else None
            return _Page([question for question in questions if sieve.lets_through(question)], last)

        return await self._access.read(read)

    def _sifted(self, query: _Query, sieve: Sieve) -> _Query:
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
        if sieve.words is not None and sieve.words.isascii() and sieve.words.isprintable():
            query = query.where(self._may_mention(sieve.words))
        return query

    def _may_mention(self, words: str) -> _Condition:
        """False only where these words of plain letters cannot stand in the question."""
        written = json.dumps(words)[1:-1]
        return or_(
            _Q.c.spec.icontains(written, autoescape=True),
            _Q.c.id.icontains(words, autoescape=True),
            # Strasse is in Straße: which other letters mean plain ones not every database knows, but it knows whether
            # there are any, as they are or as JSON may write them.
            self._octets(_Q.c.spec) != func.length(_Q.c.spec),
            _Q.c.spec.contains("\\u", autoescape=True),
        )

    def _octets(self, column: ColumnElement[str]) -> ColumnElement[int]:
        # SQLite has octet_length since 2023 only.
        if self._access.database.is_sqlite:
            return func.length(cast(column, LargeBinary))
        return func.octet_length(column)


def _is_behind(rank: int, deadline: int, question_id: QuestionId) -> _Condition:
    place = tuple_(literal(rank, Integer), literal(deadline, BigInteger), literal(question_id, String))
    return tuple_(*_PRESSING) > place


def _is_put_to(person_id: PersonId) -> _Condition:
    return _Q.c.asked.contains(asked_mark(person_id), autoescape=True)


def _mentions(row: AnyRow, sieve: Sieve) -> bool:
    return sieve.is_mentioned_in(json.loads(row.spec)["text"], QuestionId(row.id))
