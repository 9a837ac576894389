"""Looking at questions over HTTP, and waiting for one to settle."""

import re
from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from bot.api.callers import Caller, Scope
from bot.api.common import (
    QuestionCalls,
    json_response,
    kind_named,
    page_of,
    project_name,
    question_cursor,
    same_workspace,
)
from bot.api.plain import described_router, plain_router
from bot.api.problems import Problem
from bot.api.services import Services
from bot.api.wire import event_json
from core.ids import QuestionId
from core.ports import QuestionFilter
from core.question import Question, Status

LONGEST_WAIT = 55
#: A page looks past this many questions of others at most: so many at a time, so many times.
_CHUNK, _MOST_CHUNKS = 50, 40
_PREFERRED_WAIT = re.compile(r"\bwait\s*=\s*\"?(\d{1,6})\"?(?:\s*[,;]|\s*$)", re.IGNORECASE)


class Looking(QuestionCalls):
    async def pending(
        self,
        request: Request,
        workspace_id: Annotated[str | None, Query(alias="workspaceId")] = None,
        kind: Annotated[str | None, Query(alias="type")] = None,
        project_id: Annotated[str | None, Query(alias="projectId")] = None,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        cursor: str | None = None,
    ) -> Response:
        caller = await self.callers.of(request, Scope.READ, Scope.ANSWER)
        same_workspace(caller, workspace_id)
        where = QuestionFilter(
            caller.key.workspace_id,
            Status.OPEN,
            kind_named(kind),
            project_name(project_id),
            # Whoever may answer nothing here pages through their own questions, not past everybody's.
            asker=None if caller.answers else caller.principal,
        )
        found, rest = await self._seen(caller, where, limit + 1, question_cursor(cursor))
        page, last = page_of(found, limit)
        following = last.id if last is not None else rest
        return json_response({"questions": [self.shown(question) for question in page], "nextCursor": following})

    async def _seen(
        self, caller: Caller, where: QuestionFilter, wanted: int, after: QuestionId | None
    ) -> tuple[list[Question], QuestionId | None]:
        """So many questions that the caller sees, past those of others; and where to go on if it took too long."""
        found: list[Question] = []
        for _ in range(_MOST_CHUNKS):
            chunk = await self.reader.questions(where, limit=max(wanted, _CHUNK), after=after)
            found += [question for question in chunk if caller.sees(question)]
            if len(found) >= wanted or len(chunk) < max(wanted, _CHUNK):
                return found[:wanted], None
            after = chunk[-1].id
        return found, after

    async def one(self, request: Request, id: str) -> Response:
        caller = await self.callers.of(request, Scope.READ, Scope.ANSWER)
        headers: dict[str, str] = {}
        wait = _wanted_wait(request)
        if wait is None:
            preferred = _PREFERRED_WAIT.search(request.headers.get("prefer", ""))
            if preferred is not None:
                wait = min(float(preferred[1]), LONGEST_WAIT)
                headers["Preference-Applied"] = f"wait={wait:g}"
        question = await (self._settled(caller, id, wait) if wait else self.visible(caller, id))
        if question.is_open and wait:
            headers["Retry-After"] = "0"
            if self.services.waiters.is_stopping:
                # This process is going away: come back in a moment, on a new connection.
                headers |= {"Retry-After": "1", "Connection": "close"}
        return json_response(self.shown(question), headers=headers)

    async def _settled(self, caller: Caller, raw_id: str, seconds: float) -> Question:
        """The question as soon as it settles, or as it is when the time is up."""
        with self.services.waiters.watch(QuestionId(raw_id)) as watch:
            question = await self.visible(caller, raw_id)
            if not question.is_open:
                return question
            return await watch.settled(seconds) or await self.visible(caller, raw_id)

    async def history(self, request: Request, id: str) -> Response:
        caller = await self.callers.of(request, Scope.READ, Scope.ANSWER)
        question = await self.visible(caller, id)
        events = await self.reader.history(question.id)
        return json_response({"events": [event_json(event, question.spec.shape) for event in events]})


def _wanted_wait(request: Request) -> float | None:
    given = request.query_params.get("wait")
    if given is None:
        return None
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST_WAIT:  # also false for nan
        detail = f"wait is a number of seconds from 0 to {LONGEST_WAIT}; ask again for longer."
        raise Problem(422, "invalid_request", detail, pointer="/query/wait")
    return seconds


_WAIT = {
    "parameters": [
        {
            "name": "wait",
            "in": "query",
            "required": False,
            "description": "Answer as soon as the question settles, else after this many seconds",
            "schema": {"type": "number", "minimum": 0, "maximum": LONGEST_WAIT},
        }
    ]
}


def routes(services: Services) -> list[BaseRoute]:
    listed, single, calls = described_router("questions"), plain_router("questions"), Looking(services)
    listed.add_api_route("/api/questions/pending", calls.pending, summary="Open questions, oldest first")
    single.add_api_route(
        "/api/questions/{id}", calls.one, openapi_extra=_WAIT, summary="One question; waits for its outcome if asked to"
    )
    single.add_api_route("/api/questions/{id}/history", calls.history, summary="Everything that happened to a question")
    return [*listed.routes, *single.routes]
