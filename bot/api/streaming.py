"""Live events over HTTP: server-sent events for agents, a WebSocket for browsers and seed 0's clients.

Both are resumed by position. A key hears what it may see and nothing else.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from fastapi import Request
from pydantic_core import to_json
from starlette.requests import HTTPConnection
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from bot.api.callers import Caller, Scope
from bot.api.common import job_name, project_name
from bot.api.plain import plain_router
from bot.api.problems import Problem
from bot.api.services import Services
from bot.api.wire import envelope_json
from core.ids import JobId, Principal
from core.ports import EventFilter, JobKey, LoggedEvent
from core.stream import Resync, Silence
from core.wording import no_job

PING_SECONDS = 15.0
_RETRY_MILLISECONDS = 2000
_BEHIND_EVERYTHING = 2**63 - 1
_BEARER_PROTOCOL = "handraise.bearer."
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@dataclass(frozen=True)
class Hearing:
    """What one caller listens to."""

    where: EventFilter
    wants: Callable[[LoggedEvent], bool]
    cursor: int
    #: Whether the key still stands; a key that is revoked hears nothing more.
    still_allowed: Callable[[], Awaitable[bool]]


class Streaming:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def all_events(self, request: Request) -> Response:
        caller = await self._services.callers.of(request, Scope.READ, Scope.ANSWER)
        return self._stream(self._hearing(request.headers, caller, cursor=await self._cursor(request)))

    async def job_events(self, request: Request, job_id: str) -> Response:
        caller = await self._services.callers.of(request, Scope.READ, Scope.ANSWER)
        name = job_name(job_id)
        job = await self._services.reader.job(JobKey(caller.key.workspace_id, name))
        if job is None or not caller.sees_job(job):
            raise Problem(404, "job_not_found", no_job(name))
        cursor = await self._cursor(request)
        return self._stream(self._hearing(request.headers, caller, cursor=cursor, job_id=name))

    async def _cursor(self, connection: HTTPConnection) -> int:
        """Where to begin. Without a wish that is now, settled before the reply begins, so that nothing is missed."""
        given = connection.headers.get("last-event-id") or connection.query_params.get("after")
        if not given:
            return await self._services.hub.newest()
        # Whatever is no position of ours lies behind everything, so that its bearer is told to begin anew.
        return int(given) if given.isascii() and given.isdigit() and len(given) < 19 else _BEHIND_EVERYTHING

    def _hearing(
        self,
        headers: Mapping[str, str],
        caller: Caller,
        *,
        cursor: int,
        job_id: JobId | None = None,
        project_id: str | None = None,
    ) -> Hearing:
        hears_others = caller.answers
        owner: Principal | None = None if hears_others else caller.principal
        where = EventFilter(caller.key.workspace_id, owner, job_id)

        def wants(logged: LoggedEvent) -> bool:
            if job_id is not None and logged.stored.job_id != job_id:
                return False
            question = logged.question
            if question is None:
                return project_id is None and logged.job is not None and caller.sees_job(logged.job)
            return caller.sees(question) and project_id in (None, question.spec.project_id)

        async def still_allowed() -> bool:
            try:
                await self._services.callers.identified(headers, Scope.READ, Scope.ANSWER)
            except Problem:
                return False
            return True

        return Hearing(where, wants, cursor, still_allowed)

    async def _heard(self, hearing: Hearing) -> AsyncGenerator[LoggedEvent | Resync | Silence]:
        hub = self._services.hub
        async with aclosing(
            hub.listen(hearing.where, hearing.wants, hearing.cursor, patience=PING_SECONDS)
        ) as everything:
            async for heard in everything:
                if not await hearing.still_allowed():
                    return
                yield heard

    def _stream(self, hearing: Hearing) -> Response:
        return StreamingResponse(self._frames(hearing), media_type="text/event-stream", headers=_HEADERS)

    async def _frames(self, hearing: Hearing) -> AsyncIterator[bytes]:
        # The position comes first, so that whoever is cut off before the first event misses nothing either.
        known = b"" if hearing.cursor == _BEHIND_EVERYTHING else b"id: %d\n" % hearing.cursor
        yield b"retry: %d\n%s\n" % (_RETRY_MILLISECONDS, known)
        async for heard in self._heard(hearing):
            match heard:
                case Silence():
                    yield b": ping\n\n"
                case Resync():
                    yield _frame(heard.after, "resync", to_json({"after": heard.after}))
                case LoggedEvent():
                    body = to_json(envelope_json(heard, self._services.view))
                    yield _frame(heard.position, heard.stored.name, body)

    async def socket(self, socket: WebSocket) -> None:
        """The same events as messages; the key comes as a header, or as a subprotocol where headers cannot be set."""
        offered = [name for name in socket.scope.get("subprotocols", ()) if name.startswith(_BEARER_PROTOCOL)]
        headers = dict(socket.headers)
        if offered:
            headers["authorization"] = f"Bearer {offered[0].removeprefix(_BEARER_PROTOCOL)}"
        try:
            caller = await self._services.callers.identified(headers, Scope.READ, Scope.ANSWER)
            project = project_name(socket.query_params.get("projectId"))
            hearing = self._hearing(headers, caller, cursor=await self._cursor(socket), project_id=project)
        except Problem as problem:
            await socket.send_denial_response(problem.response())
            return
        await socket.accept(subprotocol=offered[0] if offered else None)
        try:
            async for heard in self._heard(hearing):
                match heard:
                    case Silence():
                        await socket.send_json({"type": "ping"})
                    case Resync():
                        await socket.send_json({"type": "resync", "id": heard.after, "data": {"after": heard.after}})
                    case LoggedEvent():
                        body = envelope_json(heard, self._services.view)
                        await socket.send_text(to_json({"id": heard.position, **body}).decode())
            await socket.close(1012, "come back in a moment")
        except (WebSocketDisconnect, RuntimeError):
            return  # the other side is gone


def _frame(position: int, name: str, body: bytes) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (position, name.encode(), body)


_AFTER = {
    "parameters": [
        {
            "name": "after",
            "in": "query",
            "required": False,
            "description": "Begin behind this position; Last-Event-ID says the same",
            "schema": {"type": "integer", "minimum": 0},
        }
    ],
    "responses": {"200": {"description": "Events as they happen", "content": {"text/event-stream": {}}}},
}


def routes(services: Services) -> list[BaseRoute]:
    router, calls = plain_router("events"), Streaming(services)
    router.add_api_route("/api/events", calls.all_events, openapi_extra=_AFTER, summary="What happens, as it happens")
    router.add_api_route(
        "/api/jobs/{job_id:job}/events", calls.job_events, openapi_extra=_AFTER, summary="What happens in a job"
    )
    return [*router.routes, WebSocketRoute("/api/ws", calls.socket)]
