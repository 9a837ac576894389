"""The HTTP application: every call in one list, every error a problem document."""

from collections.abc import Sequence

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from bot.api import (
    asking,
    deciding,
    documents,
    hooks,
    jobs,
    looking,
    paths,
    people,
    policy,
    problems,
    receipts,
    streaming,
)
from bot.api.common import json_response
from bot.api.services import Services
from bot.metrics import Metrics

_ABOUT = (
    "Agents ask, people answer. Send your key as a bearer token. Times are RFC 3339 in UTC. "
    "Every error is application/problem+json with a stable code and a sentence that says what to do."
)


def create_app(services: Services, metrics: Metrics, pages: Sequence[BaseRoute], version: str) -> FastAPI:
    app = FastAPI(
        title="handraise",
        version=version,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # Looking up tracing providers for each request costs a tenth of it; /metrics says what there is to say.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    problems.install(app)
    paths.install()
    documents.install(app)
    for group in (asking, looking, deciding, streaming, jobs, hooks, receipts, people, policy):
        app.router.routes.extend(group.routes(services))

    async def healthz(_: Request) -> Response:
        return json_response({"status": "ok"})

    async def readyz(_: Request) -> Response:
        troubles = await services.troubles()
        return json_response({"ready": not troubles, "troubles": troubles}, 503 if troubles else 200)

    async def exposition(_: Request) -> Response:
        return Response(metrics.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")

    for path, call in (("/healthz", healthz), ("/readyz", readyz), ("/metrics", exposition)):
        app.router.add_route(path, call, methods=["GET"], include_in_schema=False)
    app.router.routes.extend(pages)
    return app
