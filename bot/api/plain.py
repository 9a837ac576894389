"""Calls that cost what they do: FastAPI describes them, and nothing of it stands between the request and the endpoint.

Measured on this application's hot path, FastAPI's own handling of a request (exit stacks, dependency solving, parameter
models) took twice as long as the endpoints. Ours need none of it: they read the body themselves, because they have to
refuse bad bytes with a sentence.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from bot.api.documents import PROBLEM
from bot.api.problems import Problem


class PlainRoute(APIRoute):
    """The endpoint takes the request and the names in its path, nothing else, and returns the response."""

    def __init__(self, path: str, endpoint: Callable[..., Awaitable[Response]], **description: Any) -> None:
        super().__init__(path, endpoint, **description)

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            request = Request(scope, receive, send)
            try:
                response = await endpoint(request, **request.path_params)
            except Problem as problem:
                response = problem.response()
            await response(scope, receive, send)

        self.app = answer


def plain_router(tag: str) -> APIRouter:
    return APIRouter(tags=[tag], responses=PROBLEM, route_class=PlainRoute)


def described_router(tag: str) -> APIRouter:
    """For calls with parameters in the query, which FastAPI reads and checks."""
    return APIRouter(tags=[tag], responses=PROBLEM)
