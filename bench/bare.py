"""The framework alone: one page with nothing in it. `python -m bench.bare PORT`."""

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route


async def page(_: Request) -> Response:
    return HTMLResponse("<!doctype html><title>bare</title><p>hello")


if __name__ == "__main__":
    app = Starlette(routes=[Route("/", page)])
    uvicorn.run(app, port=int(sys.argv[1]), http="httptools", loop="uvloop", log_level="error", access_log=False)
