"""Answering, commenting and cancelling over HTTP."""

from collections.abc import Callable
from datetime import timedelta

from fastapi import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from bot.api.bodies import AnswerBody, CancelBody, CommentBody, ReassignBody, SnoozeBody
from bot.api.callers import Caller, Scope
from bot.api.common import REPLAYED, QuestionCalls, command_key, json_response, question_name
from bot.api.documents import takes
from bot.api.plain import plain_router
from bot.api.reading import checked, read_json
from bot.api.services import Services
from core.commands import Acknowledge, Answer, Reassign, Remark, Remind, Snooze, Withdraw
from core.commands import Steering as SteeringCommand
from core.engine import Replayed
from core.ids import QuestionId
from core.ports import JobKey
from core.question import Question, Status


class Deciding(QuestionCalls):
    async def answer(self, request: Request, id: str) -> Response:
        caller = await self.callers.of(request, Scope.ANSWER)
        raw = await read_json(request)
        body = checked(AnswerBody, raw)
        question_id = question_name(id)
        key = command_key(request, caller, "answer", body.operation_id, raw)
        command = Answer(question_id, caller.actor, body.response.raw(), body.late, body.answered_by)
        done = await self.engine.handle(command, key=key)
        if isinstance(done, Replayed):
            question, headers = await self.replayed(done), REPLAYED
            job_resumed = await self._goes_on(question)
        else:
            question, headers = self.outcome_of(done, caller, question_id), None
            job_resumed = done.job_resumed
        said = {"success": True, "jobResumed": job_resumed, "question": self.shown(question)}
        return json_response(said, 202 if question.status is Status.EXPIRED else 200, headers)

    async def _goes_on(self, question: Question) -> bool:
        """Whether the job this question held goes on by now: what a repeated answer says about it."""
        spec = question.spec
        if spec.job_id is None or spec.rule.holds_job_as is None:
            return False
        job = await self.reader.job(JobKey(spec.workspace_id, spec.job_id))
        return job is not None and not job.is_waiting and not job.has_ended

    async def cancel(self, request: Request, id: str) -> Response:
        caller = await self.callers.of(request, Scope.ASK)
        body = checked(CancelBody, await read_json(request, empty={}))
        asked = await self.visible(caller, id)
        done = await self.engine.handle(Withdraw(asked.id, caller.actor, body.reason))
        question = await self.replayed(done) if isinstance(done, Replayed) else self.outcome_of(done, caller, asked.id)
        return json_response({"success": True, "question": self.shown(question)})

    async def comment(self, request: Request, id: str) -> Response:
        caller = await self.callers.of(request, Scope.ASK, Scope.ANSWER)
        raw = await read_json(request)
        body = checked(CommentBody, raw)
        asked = await self.visible(caller, id)
        key = command_key(request, caller, "comment", body.operation_id, raw)
        done = await self.engine.handle(Remark(asked.id, caller.actor, body.text, body.ask_back), key=key)
        if isinstance(done, Replayed):
            return json_response({"question": self.shown(await self.replayed(done))}, 200, REPLAYED)
        return json_response({"question": self.shown(self.outcome_of(done, caller, asked.id))})


class Steering(QuestionCalls):
    """What people do about a question short of answering it."""

    async def remind(self, request: Request, id: str) -> Response:
        caller = await self.callers.of(request, Scope.ANSWER)
        return await self._steer(caller, id, lambda asked: Remind(asked, caller.actor))

    async def acknowledge(self, request: Request, id: str) -> Response:
        caller = await self.callers.of(request, Scope.ANSWER)
        return await self._steer(caller, id, lambda asked: Acknowledge(asked, caller.actor))

    async def snooze(self, request: Request, id: str) -> Response:
        caller = await self.callers.of(request, Scope.ANSWER)
        body = checked(SnoozeBody, await read_json(request))
        until = body.until or await self.services.now() + timedelta(minutes=body.minutes or 0)
        return await self._steer(caller, id, lambda asked: Snooze(asked, caller.actor, until))

    async def reassign(self, request: Request, id: str) -> Response:
        caller = await self.callers.of(request, Scope.ANSWER)
        body = checked(ReassignBody, await read_json(request))
        return await self._steer(caller, id, lambda asked: Reassign(asked, caller.actor, body.to, body.reason))

    async def _steer(self, caller: Caller, id: str, command: Callable[[QuestionId], SteeringCommand]) -> Response:
        asked = await self.visible(caller, id)
        done = await self.engine.handle(command(asked.id))
        question = await self.replayed(done) if isinstance(done, Replayed) else self.outcome_of(done, caller, asked.id)
        return json_response({"success": True, "question": self.shown(question)})


def routes(services: Services) -> list[BaseRoute]:
    router, calls, steering = plain_router("questions"), Deciding(services), Steering(services)
    for path, call, body, summary in (
        ("answer", calls.answer, AnswerBody, "Answer a question"),
        ("cancel", calls.cancel, CancelBody, "Withdraw a question"),
        ("comments", calls.comment, CommentBody, "Ask the asker back, or reply"),
    ):
        router.add_api_route(
            f"/api/questions/{{id}}/{path}",
            call,
            methods=["POST"],
            openapi_extra=takes(body, required=body is not CancelBody),
            summary=summary,
        )
    for path, call, summary in (
        ("remind", steering.remind, "Nudge those a question is put to"),
        ("acknowledge", steering.acknowledge, "Say that you are looking at it; the next step waits"),
    ):
        router.add_api_route(f"/api/questions/{{id}}/{path}", call, methods=["POST"], summary=summary)
    for path, call, needs, summary in (
        ("snooze", steering.snooze, SnoozeBody, "No reminders for a while; the deadline stays"),
        ("reassign", steering.reassign, ReassignBody, "Put a question to a person or a group"),
    ):
        router.add_api_route(
            f"/api/questions/{{id}}/{path}", call, methods=["POST"], openapi_extra=takes(needs), summary=summary
        )
    return router.routes
