"""Asking over HTTP."""

import os
import time
from datetime import UTC, datetime

from fastapi import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from bot.api.bodies import AskBody
from bot.api.callers import Caller, Scope
from bot.api.common import REPLAYED, QuestionCalls, command_key, job_name, json_response, same_workspace
from bot.api.documents import takes
from bot.api.hooks import check_callback
from bot.api.plain import plain_router
from bot.api.problems import Problem, refused, unacceptable
from bot.api.reading import checked, read_json
from bot.api.services import Services
from bot.api.wire import Json, maybe_instant
from core.asking import compose
from core.commands import Ask
from core.decisions import Refused
from core.engine import Replayed
from core.ids import JobId, QuestionIds
from core.question import Asker, Question
from core.refusals import Unacceptable


class Asking(QuestionCalls):
    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._ids = QuestionIds(os.urandom)

    async def alone(self, request: Request) -> Response:
        return await self._ask(request, None)

    async def in_job(self, request: Request, job_id: str) -> Response:
        return await self._ask(request, job_id)

    async def _ask(self, request: Request, path_job: str | None) -> Response:
        caller = await self.callers.of(request, Scope.ASK)
        raw = await read_json(request)
        body = checked(AskBody, raw)
        same_workspace(caller, body.workspace_id)
        job_id = _job(path_job, body)
        self._limit(caller, job_id)
        if body.callback_url is not None:
            check_callback(self.services, caller.key, body.callback_url, "/callbackUrl")
        asker = Asker(caller.principal, caller.actor.name, caller.key.id, caller.key.owner)
        spec = compose(body.draft(job_id), asker, await self.services.household.house())
        if isinstance(spec, Unacceptable):
            raise unacceptable(spec)
        new_id = self._ids.next(datetime.now(UTC))
        key = command_key(request, caller, "ask", body.operation_id, raw)
        done = await self.engine.handle(Ask(new_id, spec, by_admin=caller.sees_everything), key=key)
        if isinstance(done, Replayed):
            return json_response(self._created(await self.replayed(done)), 200, REPLAYED)
        if isinstance(done.decision, Refused):
            raise refused(done.decision)
        question = self.outcome_of(done, caller, new_id)
        return json_response(self._created(question), 201, {"Location": f"/api/questions/{new_id}"})

    def _created(self, question: Question) -> Json:
        return {
            "questionId": question.id,
            "timeoutAt": maybe_instant(question.deadline),
            "question": self.shown(question),
        }

    def _limit(self, caller: Caller, job_id: JobId | None) -> None:
        limiter = self.services.limiter
        if limiter is None:
            return
        now = time.monotonic()
        wait = limiter.wait(f"key:{caller.key.id}", now)
        if wait == 0 and job_id is not None:
            # By principal too, so that nobody uses up the limit of a job that is not theirs.
            wait = limiter.wait(f"job:{caller.principal}:{job_id}", now)
        if wait > 0:
            seconds = max(1, round(wait + 0.5))
            detail = f"Too many questions at once. Try again in {seconds} s."
            raise Problem(429, "rate_limited", detail, headers={"Retry-After": str(seconds)})


def _job(path_job: str | None, body: AskBody) -> JobId | None:
    if path_job is not None and body.job_id not in (None, path_job):
        raise Problem(422, "job_id_conflict", "jobId in the body is not the job in the path.", pointer="/jobId")
    named = path_job if path_job is not None else body.job_id
    return job_name(named) if named is not None else None


def routes(services: Services) -> list[BaseRoute]:
    router, calls = plain_router("questions"), Asking(services)
    reads = takes(AskBody)
    router.add_api_route(
        "/api/questions",
        calls.alone,
        methods=["POST"],
        status_code=201,
        openapi_extra=reads,
        summary="Ask a question",
    )
    router.add_api_route(
        "/api/jobs/{job_id:job}/questions",
        calls.in_job,
        methods=["POST"],
        status_code=201,
        openapi_extra=reads,
        summary="Ask a question in a job",
    )
    return router.routes
