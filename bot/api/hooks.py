"""Webhook endpoints over HTTP: an agent registers where it wants to hear, and reads what became of it."""

import secrets
from urllib.parse import urlsplit

from fastapi import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from bot.api.bodies import WebhookBody
from bot.api.callers import Caller, Scope
from bot.api.common import json_response
from bot.api.documents import takes
from bot.api.plain import plain_router
from bot.api.problems import Problem
from bot.api.reading import checked, read_json
from bot.api.services import Services
from bot.api.wire import Json, instant, maybe_instant
from core.phrasing import shown
from core.ports import MessageRecord
from core.registry import ApiKey
from core.webhooks import OVERLAP, TEST_EVENT, Endpoint, Message, pattern_problem

MOST_ENDPOINTS = 20
_LOGGED = 100


def check_callback(services: Services, key: ApiKey, url: str, pointer: str) -> None:
    """Refuse an address that we may not or must not send to."""
    objection = services.objection_to_url(url)
    if objection is not None:
        raise Problem(422, "url_refused", objection, pointer=pointer)
    host = urlsplit(url).hostname or ""
    if key.callback_hosts and host.lower() not in key.callback_hosts:
        allowed = ", ".join(key.callback_hosts)
        raise Problem(422, "url_refused", f"This key's callbacks go to {allowed} only.", pointer=pointer)


class Hooks:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._webhooks = services.webhooks

    async def several(self, request: Request) -> Response:
        caller = await self._caller(request)
        return json_response({"webhooks": [_endpoint_json(endpoint) for endpoint in await self._own(caller)]})

    async def create(self, request: Request) -> Response:
        caller = await self._caller(request)
        body = checked(WebhookBody, await read_json(request))
        check_callback(self._services, caller.key, body.url, "/url")
        problem = pattern_problem(body.events)
        if problem is not None:
            raise Problem(422, "event_unknown", problem, pointer="/events")
        own = await self._webhooks.endpoints(caller.key.workspace_id, caller.principal)
        if len(own) >= MOST_ENDPOINTS:
            detail = f"An agent has at most {MOST_ENDPOINTS} webhooks. Delete one first."
            raise Problem(409, "too_many_webhooks", detail)
        endpoint = Endpoint(
            "wh_" + secrets.token_hex(8),
            caller.key.workspace_id,
            caller.principal,
            body.url,
            tuple(dict.fromkeys(body.events)),
            self._services.new_webhook_secret(),
            await self._services.now(),
        )
        await self._webhooks.add_endpoint(endpoint)
        await self._services.postman.refresh()
        return json_response({**_endpoint_json(endpoint), "secret": endpoint.secret}, 201)

    async def delete(self, request: Request, id: str) -> Response:
        endpoint = await self._named(await self._caller(request), id)
        await self._webhooks.remove_endpoint(endpoint.id)
        await self._services.postman.refresh()
        return json_response({"success": True, "id": endpoint.id})

    async def rotate(self, request: Request, id: str) -> Response:
        endpoint = await self._named(await self._caller(request), id)
        secret = self._services.new_webhook_secret()
        until = await self._webhooks.rotate(endpoint.id, secret, overlap=OVERLAP)
        return json_response({"id": endpoint.id, "secret": secret, "previousUntil": maybe_instant(until)})

    async def test(self, request: Request, id: str) -> Response:
        endpoint = await self._named(await self._caller(request), id)
        message = test_message(endpoint)
        await self._webhooks.queue(message)
        self._services.postman.wake()
        return json_response({"messageId": message.id}, 202)

    async def deliveries(self, request: Request, id: str) -> Response:
        endpoint = await self._named(await self._caller(request), id)
        found = await self._webhooks.log(endpoint.workspace_id, limit=_LOGGED, endpoint_id=endpoint.id)
        return json_response({"deliveries": [record_json(record) for record in found]})

    async def _caller(self, request: Request) -> Caller:
        return await self._services.callers.of(request, Scope.ASK)

    async def _own(self, caller: Caller) -> list[Endpoint]:
        owner = None if caller.sees_everything else caller.principal
        return list(await self._webhooks.endpoints(caller.key.workspace_id, owner))

    async def _named(self, caller: Caller, name: str) -> Endpoint:
        for endpoint in await self._own(caller):
            if endpoint.id == name:
                return endpoint
        raise Problem(404, "webhook_not_found", f"There is no webhook {shown(name)}, or it belongs to another agent.")


def test_message(endpoint: Endpoint) -> Message:
    """A message that no event caused, to see whether it arrives."""
    name = f"msg_test_{secrets.token_hex(8)}_{endpoint.id}"
    return Message(name, endpoint.workspace_id, endpoint.owner, TEST_EVENT, 0, endpoint.id)


def _endpoint_json(endpoint: Endpoint) -> Json:
    return {
        "id": endpoint.id,
        "url": endpoint.url,
        "events": list(endpoint.patterns),
        "owner": endpoint.owner,
        "createdAt": instant(endpoint.created_at),
        "disabledAt": maybe_instant(endpoint.disabled_at),
        "disabledWhy": endpoint.disabled_why,
        "previousSecretUntil": maybe_instant(endpoint.previous_until),
    }


def record_json(record: MessageRecord) -> Json:
    message = record.message
    return {
        "id": message.id,
        "type": message.event,
        "state": record.state.value,
        "endpointId": message.endpoint_id,
        "callbackUrl": message.callback_url,
        "questionId": message.question_id,
        "jobId": message.job_id,
        "sequence": message.sequence,
        "createdAt": instant(record.created_at),
        "nextAttemptAt": maybe_instant(record.due_at),
        "failure": record.failure,
        "attempts": [
            {
                "number": attempt.number,
                "at": instant(attempt.at),
                "status": attempt.status,
                "failure": attempt.failure,
                "milliseconds": round(attempt.duration.total_seconds() * 1000),
            }
            for attempt in record.attempts
        ],
    }


def routes(services: Services) -> list[BaseRoute]:
    router, calls = plain_router("webhooks"), Hooks(services)
    router.add_api_route("/api/webhooks", calls.several, summary="Your webhooks")
    router.add_api_route(
        "/api/webhooks",
        calls.create,
        methods=["POST"],
        status_code=201,
        openapi_extra=takes(WebhookBody),
        summary="Register a webhook; its secret is shown once",
    )
    router.add_api_route("/api/webhooks/{id}", calls.delete, methods=["DELETE"], summary="Remove a webhook")
    router.add_api_route(
        "/api/webhooks/{id}/test",
        calls.test,
        methods=["POST"],
        status_code=202,
        summary="Send a test message",
    )
    router.add_api_route(
        "/api/webhooks/{id}/rotate",
        calls.rotate,
        methods=["POST"],
        summary="A new secret; the old one signs as well for a day",
    )
    router.add_api_route("/api/webhooks/{id}/deliveries", calls.deliveries, summary="What became of the messages")
    return router.routes
