"""History: every settled question, sifted, and as a file for whoever wants to count them."""

import csv
import io
from collections.abc import AsyncIterator, Sequence
from urllib.parse import urlencode

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from adapters.web.rendering import iso, page_headers
from bot.api.common import question_cursor
from bot.api.wire import question_json
from bot.web.ground import Pages, Refusal, query
from bot.web.visitors import Visitor
from core.browsing import Sieve, agent_of
from core.ids import JobId, QuestionId
from core.kinds import Kind
from core.question import OutcomeKind, Question
from core.wording import answer_words, decider_words, outcome_sentence

_PAGE = 50
_CHUNK = 200
_FILTERS = {"type": 40, "project": 200, "agent": 200, "job": 200, "words": 200, "ended": 20}
_COLUMNS = (
    *("id", "asked_at", "agent", "job", "project", "type", "question", "ended", "answer"),
    *("reason", "decided_by", "decided_at", "surface", "seconds_waited", "action_digest"),
)


class History(Pages):
    async def show(self, request: Request, visitor: Visitor) -> Response:
        given = query(request, _FILTERS)
        before = question_cursor(request.query_params.get("before"))
        found: list[Question] = []
        async for question in self._settled(visitor, self._sieve(given), before):
            found.append(question)
            if len(found) > _PAGE:
                break
        active = {name: value for name, value in given.items() if value}
        shown = found[:_PAGE]
        return self.page(
            visitor,
            "history.html",
            rows=[(question, agent_of(question), _word(question), _ending(question)) for question in shown],
            given=given,
            active=active,
            kinds=[kind.value for kind in Kind],
            endings=[kind.value for kind in OutcomeKind],
            more=f"/history?{urlencode({**active, 'before': shown[-1].id})}" if len(found) > _PAGE else None,
            export=urlencode(active),
        )

    async def export(self, request: Request, visitor: Visitor) -> Response:
        given = query(request, _FILTERS)
        format = request.path_params["format"]
        if format not in ("csv", "json"):
            raise Refusal("History is exported as csv or json.", 404)
        found = self._settled(visitor, self._sieve(given), None)
        lines, kind = (_csv(found), "text/csv; charset=utf-8") if format == "csv" else (self._json(found), _JSON)
        headers = page_headers() | {"Content-Disposition": f'attachment; filename="handraise-history.{format}"'}
        return StreamingResponse(lines, media_type=kind, headers=headers)

    async def _json(self, found: AsyncIterator[Question]) -> AsyncIterator[bytes]:
        begin = b"["
        async for question in found:
            yield begin + b"\n" + to_json(question_json(question, self.services.view))
            begin = b","
        yield b"[]\n" if begin == b"[" else b"\n]\n"

    def _sieve(self, given: dict[str, str]) -> Sieve:
        kind, ended = given["type"], given["ended"]
        return Sieve(
            self.site.workspace_id,
            Kind(kind) if kind in set(Kind) else None,
            given["project"] or None,
            given["agent"] or None,
            JobId(given["job"]) if given["job"] else None,
            given["words"] or None,
            ended=OutcomeKind(ended) if ended in set(OutcomeKind) else None,
        )

    async def _settled(self, visitor: Visitor, sieve: Sieve, before: QuestionId | None) -> AsyncIterator[Question]:
        while chunk := await self.site.browser.settled(sieve, limit=_CHUNK, before=before):
            for question in chunk:
                if await self.sees(visitor, question):
                    yield question
            before = chunk[-1].id

    def routes(self) -> list[Route]:
        return [
            Route("/history", self.reading(self.show)),
            Route("/history.{format}", self.reading(self.export)),
        ]


_JSON = "application/json"


async def _csv(found: AsyncIterator[Question]) -> AsyncIterator[bytes]:
    yield _line(_COLUMNS)
    async for question in found:
        yield _line([_cell(value) for value in _row(question)])


def _row(question: Question) -> list[object]:
    spec, outcome = question.spec, question.outcome
    about: list[object] = [question.id, iso(question.asked_at), agent_of(question), spec.job_id, spec.project_id]
    asked = [*about, spec.kind.value, spec.text]
    if outcome is None:
        return asked
    by = outcome.deciders or (outcome.decided_by,)
    return [
        *asked,
        outcome.kind.value,
        answer_words(spec.shape, outcome.answer) if outcome.answer is not None else None,
        (outcome.answer.text if outcome.answer is not None else None) or outcome.reason,
        "; ".join(decider.name or decider_words(decider) for decider in by),
        iso(outcome.decided_at),
        outcome.decided_by.surface,
        round((outcome.decided_at - question.asked_at).total_seconds(), 3),
        outcome.decided_digest or (spec.action.digest if spec.action is not None else None),
    ]


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    # Spreadsheets take such a text for a formula, and agents write texts.
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _line(cells: Sequence[str]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer).writerow(cells)
    return buffer.getvalue().encode()


def _word(question: Question) -> str:
    """How it ended in one word; what was approved or rejected says so."""
    outcome = question.outcome
    if outcome is None:
        return ""
    if outcome.kind is OutcomeKind.ANSWERED and question.is_approval and outcome.answer is not None:
        return "approved" if outcome.answer.value is True else "rejected"
    return outcome.kind.value


def _ending(question: Question) -> str:
    return outcome_sentence(question, question.outcome) if question.outcome is not None else ""
