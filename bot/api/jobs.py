"""Jobs over HTTP: what they wait for, steering them, and their progress."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from bot.api.bodies import JobBody, ProgressBody
from bot.api.callers import Caller, Scope
from bot.api.common import command_key, job_name, json_response, key_reused, page_of, question_cursor
from bot.api.documents import takes
from bot.api.plain import described_router
from bot.api.problems import Problem, refused
from bot.api.reading import checked, read_json
from bot.api.services import Services
from bot.api.wire import STATUS_WORDS, job_json, question_json
from core.commands import ReportProgress, SteerJob
from core.decisions import Refused
from core.engine import Replayed
from core.job import Job
from core.kinds import JobStatus
from core.phrasing import listing, shown
from core.ports import CommandKey, JobFilter, JobKey, QuestionFilter
from core.question import Status
from core.wording import no_job

#: Seed 1's words and the engine's own; both name the same states.
_STATUSES: Mapping[str, Status | None] = {
    "all": None,
    **{status.value: status for status in Status},
    **{word: status for status, word in STATUS_WORDS.items()},
}


class JobCalls:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._engine = services.engine
        self._reader = services.reader
        self._callers = services.callers

    async def several(
        self,
        request: Request,
        ready: bool = False,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        cursor: str | None = None,
    ) -> Response:
        caller = await self._callers.of(request, Scope.READ, Scope.ANSWER)
        owner = None if caller.sees_everything else caller.principal
        where = JobFilter(caller.key.workspace_id, owner, ready=ready)
        after = job_name(cursor) if cursor is not None else None
        page, last = page_of(await self._reader.jobs(where, limit=limit + 1, after=after), limit)
        following = last.id if last is not None else None
        return json_response({"jobs": [job_json(job) for job in page], "nextCursor": following})

    async def one(self, request: Request, job_id: str) -> Response:
        caller = await self._callers.of(request, Scope.READ, Scope.ANSWER)
        return json_response(job_json(await self._visible(caller, job_id)))

    async def questions(
        self,
        request: Request,
        job_id: str,
        status: str = "all",
        limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
        cursor: str | None = None,
    ) -> Response:
        caller = await self._callers.of(request, Scope.READ, Scope.ANSWER)
        job = await self._visible(caller, job_id)
        if status not in _STATUSES:
            detail = f"There is no status {shown(status)}. Use one of {listing(list(_STATUSES))}."
            raise Problem(422, "status_unknown", detail)
        where = QuestionFilter(job.workspace_id, _STATUSES[status], job_id=job.id)
        found = await self._reader.questions(where, limit=limit + 1, after=question_cursor(cursor))
        page, last = page_of(found, limit)
        questions = [question_json(question, self._services.view) for question in page if caller.sees(question)]
        return json_response({"questions": questions, "nextCursor": last.id if last is not None else None})

    async def steer(self, request: Request, job_id: str) -> Response:
        caller = await self._callers.of(request, Scope.ASK)
        body = checked(JobBody, await read_json(request, empty={}))
        command = SteerJob(
            caller.key.workspace_id,
            job_name(job_id),
            caller.actor,
            status=JobStatus(body.status) if body.status is not None else None,
            reason=body.reason,
            on_timeout=body.timeout_rule,
            max_open_holding=body.max_open_holding,
            sets_max_open_holding="max_open_holding" in body.model_fields_set,
        )
        return json_response(job_json(await self._carried_out(command)))

    async def progress(self, request: Request, job_id: str) -> Response:
        caller = await self._callers.of(request, Scope.ASK)
        raw = await read_json(request)
        body = checked(ProgressBody, raw)
        command = ReportProgress(caller.key.workspace_id, job_name(job_id), caller.actor, body.text)
        key = command_key(request, caller, "progress", None, raw)
        return json_response(job_json(await self._carried_out(command, key)), 202)

    async def _visible(self, caller: Caller, raw_id: str) -> Job:
        job_id = job_name(raw_id)
        job = await self._reader.job(JobKey(caller.key.workspace_id, job_id))
        if job is None or not caller.sees_job(job):
            raise Problem(404, "job_not_found", no_job(job_id))
        return job

    async def _carried_out(self, command: SteerJob | ReportProgress, key: CommandKey | None = None) -> Job:
        done = await self._engine.handle(command, key=key)
        if isinstance(done, Replayed):
            if not done.same:
                raise key_reused()
        elif isinstance(done.decision, Refused):
            raise refused(done.decision)
        job = await self._reader.job(JobKey(command.workspace_id, command.job_id))
        if job is None:
            raise Problem(404, "job_not_found", no_job(command.job_id))
        return job


def routes(services: Services) -> list[BaseRoute]:
    router, calls = described_router("jobs"), JobCalls(services)
    router.add_api_route("/api/jobs", calls.several, summary="Jobs; with ready=true those that can go on")
    router.add_api_route(
        "/api/jobs/{job_id:job}/questions", calls.questions, summary="All questions of a job, oldest first"
    )
    router.add_api_route(
        "/api/jobs/{job_id:job}/progress",
        calls.progress,
        methods=["POST"],
        status_code=202,
        openapi_extra=takes(ProgressBody),
        summary="Say how far a job has come",
    )
    router.add_api_route("/api/jobs/{job_id:whole_job}", calls.one, summary="One job and what it waits for")
    router.add_api_route(
        "/api/jobs/{job_id:whole_job}",
        calls.steer,
        methods=["PATCH"],
        openapi_extra=takes(JobBody),
        summary="Set a job's status or policy",
    )
    return router.routes
