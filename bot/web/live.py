"""What the pages hear while they are open: which question or job changed, and how it ended."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from adapters.web.posted import Posted
from bot.web.ground import Pages, said
from bot.web.visitors import Visitor
from core.browsing import Sieve, agent_of
from core.events import Asked, Escalated, JobChanged, Progressed, Reassigned
from core.ids import PersonId
from core.ports import EventFilter, LoggedEvent
from core.question import Question, Urgency
from core.safetext import one_line
from core.stream import Resync, Silence
from core.visibility import sees
from core.wording import outcome_sentence

_PING_SECONDS = 15.0
_RETRY_MILLISECONDS = 1500
#: A page that comes back after a long time reads the present instead of everything that it missed.
_MOST_MISSED = 2000
#: Pages in the foreground say so more often than this.
LOOK_LASTS = timedelta(seconds=60)
_MOST_QUESTIONS = 100
_TEXT = 160


class Live(Pages):
    async def stream(self, request: Request, visitor: Visitor) -> Response:
        newest = await self.services.hub.newest()
        given = request.headers.get("last-event-id") or request.query_params.get("after", "")
        after = int(given) if given.isascii() and given.isdigit() and len(given) < 18 else newest
        if not newest - _MOST_MISSED <= after <= newest:
            after = newest
        frames = self._frames(request, visitor, after)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}
        return StreamingResponse(frames, media_type="text/event-stream", headers=headers)

    async def _frames(self, request: Request, visitor: Visitor, after: int) -> AsyncIterator[bytes]:
        household, me = self.services.household, visitor.person.id
        hello = b"event: hello\ndata: %s\n\n" % to_json({"me": me})
        yield b"retry: %d\nid: %d\n%s" % (_RETRY_MILLISECONDS, after, hello)

        def wants(logged: LoggedEvent) -> bool:
            person = household.known.active(me)
            if person is None or logged.question is None:
                return isinstance(logged.stored.event, JobChanged | Progressed)
            return sees(person, logged.question, household.known, datetime.now(UTC))

        where = EventFilter(self.site.workspace_id)
        async with aclosing(self.services.hub.listen(where, wants, after, patience=_PING_SECONDS)) as everything:
            async for heard in everything:
                current = await self.site.visitors.of(request)
                if current is None:
                    yield b"event: signed_out\ndata: {}\n\n"
                    return
                match heard:
                    case Silence():
                        yield b": ping\n\n"
                    case Resync():
                        yield b"id: %d\n%s" % (heard.after, hello)
                    case LoggedEvent():
                        frame = await self._frame(current, heard)
                        if frame is not None:
                            yield frame

    async def _frame(self, visitor: Visitor, logged: LoggedEvent) -> bytes | None:
        if logged.question is not None:
            return _frame(logged.position, "question", _news(visitor.person.id, logged, logged.question))
        event = logged.stored.event
        if not isinstance(event, JobChanged | Progressed):
            return None
        has_ended = isinstance(event, JobChanged) and event.after.has_ended
        questions: Sequence[Question] = ()
        if has_ended or not visitor.is_lead:
            sieve = Sieve(self.site.workspace_id, job_id=event.after.id)
            questions = [
                *await self.site.browser.waiting(sieve, limit=_MOST_QUESTIONS),
                *await self.site.browser.settled(sieve, limit=_MOST_QUESTIONS),
            ]
        if not visitor.is_lead and not [question for question in questions if await self.sees(visitor, question)]:
            return None
        mine = has_ended and any(_decided(visitor.person.id, question) for question in questions)
        about: dict[str, object] = {"job": event.after.id, "status": event.after.status.value, "answered": mine}
        return _frame(logged.position, "job", about)

    async def look(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        """The inbox is before somebody's eyes."""
        await self.site.visitors.sessions.look(visitor.digest, lasts=LOOK_LASTS)
        return said(200, "ok", "")

    def routes(self) -> list[Route]:
        return [
            Route("/live", self.reading(self.stream)),
            Route("/looking", self.changing(self.look), methods=["POST"]),
        ]


def _decided(me: PersonId, question: Question) -> bool:
    outcome = question.outcome
    return outcome is not None and any(by.id == me for by in (outcome.decided_by, *outcome.deciders))


def _news(me: PersonId, logged: LoggedEvent, question: Question) -> dict[str, object]:
    event = logged.stored.event
    calls_me = isinstance(event, Asked) and me in question.asked
    calls_me = calls_me or (isinstance(event, Escalated | Reassigned) and me in event.people)
    return {
        "id": question.id,
        "name": logged.stored.name,
        "version": question.version,
        "open": question.is_open,
        "mine": question.is_open and me in question.awaited,
        "callsMe": calls_me and question.is_open,
        "urgent": question.spec.urgency is Urgency.URGENT,
        "agent": one_line(agent_of(question)),
        "text": one_line(question.spec.text)[:_TEXT],
        "job": question.spec.job_id,
        "ending": one_line(outcome_sentence(question, question.outcome)) if question.outcome is not None else "",
    }


def _frame(position: int, name: str, about: dict[str, object]) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (position, name.encode(), to_json(about))
