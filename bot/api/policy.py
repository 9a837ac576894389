"""The policy over HTTP: read it, see what a change would do, change it, and have it explained."""

from fastapi import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from adapters.policy import PolicyProblems, rulebook_json
from bot.api.bodies import ExplainBody, PolicyBody
from bot.api.callers import Scope
from bot.api.common import json_response
from bot.api.documents import takes
from bot.api.plain import plain_router
from bot.api.problems import Problem
from bot.api.reading import checked, read_json
from bot.api.services import Services
from bot.policy import Draft, SomebodyWasFirst
from core.explaining import explanation_json
from core.refusals import Reason


class PolicyCalls:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._office = services.policy_office

    async def show(self, request: Request) -> Response:
        await self._services.callers.of(request, Scope.ANSWER, Scope.ADMIN)
        version, text = await self._office.current()
        await self._services.household.roster()
        rules = rulebook_json(self._services.household.rulebook)
        return json_response({"version": version, "text": text, "rules": rules})

    async def diff(self, request: Request) -> Response:
        await self._services.callers.of(request, Scope.ANSWER, Scope.ADMIN)
        draft = await self._draft(checked(PolicyBody, await read_json(request)))
        return json_response({"version": draft.before, "diff": draft.diff, "text": draft.text})

    async def change(self, request: Request) -> Response:
        caller = await self._services.callers.of(request, Scope.ADMIN)
        body = checked(PolicyBody, await read_json(request))
        draft = await self._draft(body)
        try:
            version = await self._office.apply(draft, by=caller.actor.name, expected=body.version)
        except SomebodyWasFirst as first:
            extra = {"version": first.version}
            raise Problem(409, "policy_changed", str(first), extra=extra) from None
        return json_response({"version": version, "diff": draft.diff, "text": draft.text})

    async def explain(self, request: Request) -> Response:
        caller = await self._services.callers.of(request, Scope.ASK, Scope.ANSWER, Scope.ADMIN)
        body = checked(ExplainBody, await read_json(request, empty={}))
        if body.text is not None and not caller.answers:
            raise Problem(403, "not_allowed", "Only people try out a policy.", pointer="/text")
        try:
            draft = await self._office.draft(body.text) if body.text is not None else None
        except PolicyProblems as broken:
            raise _unusable(broken) from None
        try:
            found = await self._office.explain(
                body.circumstances(),
                at=body.at,
                limit=body.limit,
                owner=body.owner,
                on_behalf_of=body.on_behalf_of,
                draft=draft,
            )
        except OverflowError:
            raise Problem(422, "invalid_request", "This is too far away to plan for.", pointer="/at") from None
        return json_response(explanation_json(found))

    async def _draft(self, body: PolicyBody) -> Draft:
        try:
            if body.text is not None:
                return await self._office.draft(body.text)
            return await self._office.edited(body.changes or {})
        except PolicyProblems as broken:
            raise _unusable(broken) from None


def _unusable(broken: PolicyProblems) -> Problem:
    errors = [{"pointer": problem.where, "detail": problem.sentence} for problem in broken.problems]
    count = len(errors)
    detail = f"The policy has {count} problem{'s' if count != 1 else ''}; the first: {errors[0]['detail']}"
    return Problem(422, Reason.POLICY_INVALID, detail, errors=errors)


def routes(services: Services) -> list[BaseRoute]:
    router, calls = plain_router("policy"), PolicyCalls(services)
    body = takes(PolicyBody)
    router.add_api_route("/api/policy", calls.show, methods=["GET"], summary="The policy as text and as rules")
    router.add_api_route("/api/policy", calls.change, methods=["PUT"], openapi_extra=body, summary="Change the policy")
    router.add_api_route(
        "/api/policy/diff", calls.diff, methods=["POST"], openapi_extra=body, summary="What a change would change"
    )
    router.add_api_route(
        "/api/policy/explain",
        calls.explain,
        methods=["POST"],
        openapi_extra=takes(ExplainBody, required=False),
        summary="Who would be asked, when and why",
    )
    return router.routes
