"""The inbox: what waits, most pressing first, and deciding several at once."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.posted import Posted
from adapters.web.sheets import Sheet, sheet_for
from bot.web.ground import Pages, Refusal, form_key, query, said
from bot.web.visitors import Visitor
from core.batching import MOST_TOGETHER, Together, Verdict, together
from core.browsing import Place, Sieve, place_of
from core.commands import Answer
from core.decisions import Refused
from core.engine import Replayed
from core.ids import CommandId, JobId, QuestionId
from core.kinds import Kind
from core.ports import CommandKey
from core.question import Question, Status
from core.wording import outcome_sentence

_PAGE = 40
#: A page looks past this many questions of others at most: so many at a time, so many times.
_CHUNK, _MOST_CHUNKS = 60, 40
_FILTERS = {"type": 40, "project": 200, "agent": 200, "job": 200, "mine": 1, "words": 200}
_SENT_BEFORE = "This was sent before and counts once."
_SENT_OTHERWISE = "This form was sent before with another decision, and that one counts."


class Inbox(Pages):
    async def show(self, request: Request, visitor: Visitor) -> Response:
        given = query(request, _FILTERS)
        sieve = self._sieve(visitor, given)
        questions, following = await self._visible(visitor, sieve, _place(request.query_params.get("after", "")))
        sheets = await self._sheets(visitor, questions)
        active = {name: value for name, value in given.items() if value}
        return self.page(
            visitor,
            "inbox.html",
            sheets=sheets,
            given=given,
            active=active,
            kinds=[kind.value for kind in Kind],
            count=await self.reader.count_open(self.site.workspace_id),
            mine=await self.count_mine(visitor),
            more=f"/?{urlencode({**active, 'after': _word(following)})}" if following is not None else None,
            is_first="after" not in request.query_params,
        )

    async def count(self, request: Request, visitor: Visitor) -> Response:
        return said(200, "ok", "", mine=await self.count_mine(visitor), position=visitor.position)

    async def count_mine(self, visitor: Visitor) -> int:
        return await self.site.browser.count_put_to(self.site.workspace_id, visitor.person.id)

    def _sieve(self, visitor: Visitor, given: dict[str, str]) -> Sieve:
        kind = given["type"]
        return Sieve(
            self.site.workspace_id,
            Kind(kind) if kind in set(Kind) else None,
            given["project"] or None,
            given["agent"] or None,
            JobId(given["job"]) if given["job"] else None,
            given["words"] or None,
            visitor.person.id if given["mine"] else None,
        )

    async def _visible(
        self, visitor: Visitor, sieve: Sieve, after: Place | None
    ) -> tuple[list[Question], Question | None]:
        """A page of what this person may see, and its last question if more may follow."""
        found: list[Question] = []
        for _ in range(_MOST_CHUNKS):
            chunk = await self.site.browser.waiting(sieve, limit=_CHUNK, after=after)
            for question in chunk:
                if await self.sees(visitor, question):
                    found.append(question)
                    if len(found) > _PAGE:
                        return found[:_PAGE], found[_PAGE - 1]
            if len(chunk) < _CHUNK:
                return found, None
            after = place_of(chunk[-1])
        return found, found[-1] if found else None

    async def _sheets(self, visitor: Visitor, questions: Sequence[Question]) -> list[Sheet]:
        roster, now = await self.services.household.roster(), await self.services.now()
        return [sheet_for(question, visitor.actor, roster, now) for question in questions]

    async def preflight(self, request: Request, visitor: Visitor) -> Response:
        """What one decision would decide, before anybody decides it."""
        chosen = await self._chosen(visitor, request.query_params.getlist("id"))
        return self.page(visitor, "batch.html", **await self._considered(visitor, chosen))

    async def decide(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        chosen = await self._chosen(visitor, posted.all("id"))
        able = await self._answerable(visitor, chosen)
        # What somebody closed meanwhile goes along: the engine tells who did, or that this form did it before.
        given = together([replace(question, status=Status.OPEN) for question in able])
        verdict = next((verdict for verdict in given.verdicts if verdict.word == posted.text("verdict")), None)
        if verdict is None:
            raise Refusal("Choose one of the decisions.", 422)
        results = [await self._decided(visitor, question, verdict, posted) for question in given.included]
        results += [(question, False, why) for question, why in (*given.excluded, *_barred(chosen, able))]
        return self.page(visitor, "batch_done.html", results=results, verdict=verdict)

    async def _decided(
        self, visitor: Visitor, question: Question, verdict: Verdict, posted: Posted
    ) -> tuple[Question, bool, str]:
        raw = replace(verdict.answer, text=posted.maybe("text"))
        key = form_key(visitor, "batch", question.id, posted)
        own = CommandKey(CommandId(f"{key.id}:{question.id}"), key.fingerprint) if key is not None else None
        done = await self.engine.handle(Answer(question.id, visitor.actor, raw), key=own)
        if isinstance(done, Replayed):
            return question, done.same, _SENT_BEFORE if done.same else _SENT_OTHERWISE
        if isinstance(done.decision, Refused):
            return question, False, done.decision.sentence
        after = done.question or question
        if after.outcome is None:
            return after, True, "Your word counts; more are needed."
        return after, True, outcome_sentence(after, after.outcome)

    async def _considered(self, visitor: Visitor, chosen: list[Question]) -> dict[str, Any]:
        able = await self._answerable(visitor, chosen)
        found: Together = together(able)
        return {
            "included": await self._sheets(visitor, found.included),
            "excluded": [*found.excluded, *_barred(chosen, able)],
            "verdicts": found.verdicts,
            "most": MOST_TOGETHER,
        }

    async def _answerable(self, visitor: Visitor, chosen: list[Question]) -> list[Question]:
        sheets = await self._sheets(visitor, chosen)
        return [sheet.question for sheet in sheets if not sheet.objection]

    async def _chosen(self, visitor: Visitor, ids: list[str]) -> list[Question]:
        if not ids:
            raise Refusal("Select some questions first.", 422)
        if len(ids) > MOST_TOGETHER:
            raise Refusal(f"At most {MOST_TOGETHER} questions are decided together; select fewer.", 422)
        return [await self.shown_question(visitor, raw_id) for raw_id in dict.fromkeys(ids)]

    def routes(self) -> list[Route]:
        return [
            Route("/", self.reading(self.show)),
            Route("/count", self.reading(self.count)),
            Route("/batch", self.reading(self.preflight)),
            Route("/batch", self.changing(self.decide), methods=["POST"]),
        ]


def _barred(chosen: Sequence[Question], able: Sequence[Question]) -> list[tuple[Question, str]]:
    known = {question.id for question in able}
    return [(question, "You may not answer this one.") for question in chosen if question.id not in known]


def _word(question: Question) -> str:
    place = place_of(question)
    stamp = round(place.deadline.timestamp() * 1000) if place.deadline is not None else ""
    return f"{place.rank}.{stamp}.{place.question_id}"


def _place(word: str) -> Place | None:
    rank, _, rest = word.partition(".")
    stamp, _, question_id = rest.partition(".")
    if not (rank.isascii() and rank.isdigit() and len(rank) == 1 and question_id.isascii()):
        return None
    if stamp and not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 14):
        return None
    deadline = datetime.fromtimestamp(int(stamp) / 1000, UTC) if stamp else None
    return Place(int(rank), deadline, QuestionId(question_id[:40]))
