"""Errors as application/problem+json: a stable code for programs, a sentence that says what to do for people."""

from collections.abc import Mapping
from http import HTTPStatus
from uuid import uuid4

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from core.decisions import Refused
from core.ports import StoreUnavailable
from core.refusals import Reason, Unacceptable

_log = structlog.get_logger()

#: How each refusal is said in HTTP. What is not listed is a request that cannot be carried out as sent: 422.
STATUS_OF_REASON: Mapping[Reason, int] = {
    Reason.QUESTION_NOT_FOUND: 404,
    Reason.JOB_NOT_FOUND: 404,
    Reason.ALREADY_ANSWERED: 409,
    Reason.EXPIRED: 409,
    Reason.WITHDRAWN: 409,
    Reason.CONFLICT_OPEN: 409,
    Reason.JOB_ENDED: 409,
    Reason.TOO_MANY_COMMENTS: 409,
    Reason.NOT_A_RESPONDER: 403,
    Reason.NOT_ALLOWED: 403,
    Reason.TOO_SOON: 429,
}


class Problem(Exception):
    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        pointer: str | None = None,
        errors: list[dict[str, str]] | None = None,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail
        self.errors = errors or ([{"pointer": pointer, "detail": detail}] if pointer else None)
        self.headers, self.extra = headers, extra

    def response(self) -> Response:
        body: dict[str, object] = {
            "type": f"urn:handraise:problem:{self.code}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        if self.errors:
            body["errors"] = self.errors
        body.update(self.extra or {})
        return Response(to_json(body), self.status, dict(self.headers or {}), "application/problem+json")


def refused(refusal: Refused, extra: Mapping[str, object] | None = None) -> Problem:
    status = STATUS_OF_REASON.get(refusal.reason, 422)
    return Problem(status, refusal.reason, refusal.sentence, pointer=refusal.pointer or None, extra=extra)


def unacceptable(fault: Unacceptable) -> Problem:
    return Problem(422, fault.reason, fault.sentence, pointer=fault.pointer)


def invalid_request(failure: ValidationError | RequestValidationError, prefix: str = "") -> Problem:
    errors = [{"pointer": prefix + _pointer(error["loc"]), "detail": _detail(error)} for error in failure.errors()[:20]]
    first = errors[0]
    return Problem(422, "invalid_request", f"{first['pointer'] or 'The body'}: {first['detail']}", errors=errors)


_UNION_MEMBERS = {"str", "int", "float", "bool", "OptionBody", "list", "dict"}


def _pointer(location: tuple[int | str, ...]) -> str:
    # Where a field takes several types, pydantic adds the type it tried to the location.
    steps = [str(step) for step in location if str(step) not in _UNION_MEMBERS and "[" not in str(step)]
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)


def _detail(error: Mapping[str, object]) -> str:
    match error["type"]:
        case "missing":
            return "this field is required"
        case "extra_forbidden":
            return "there is no such field; check its spelling"
        case _:
            return str(error["msg"]).removeprefix("Value error, ")


def _methods(request: Request) -> list[str]:
    """Everything that works at this path; several calls may share it."""
    found: set[str] = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= route.methods or set()
    return sorted(found)


def install(app: FastAPI) -> None:
    """Make every error of the application, ours or the framework's, a problem document."""

    @app.exception_handler(Problem)
    async def _problem(_: Request, problem: Problem) -> Response:
        return problem.response()

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, failure: RequestValidationError) -> Response:
        return invalid_request(failure).response()

    @app.exception_handler(HTTPException)
    async def _http(request: Request, failure: HTTPException) -> Response:
        if failure.status_code == 404:
            detail = f"There is nothing at {request.url.path}; GET /openapi.json lists every call."
            return Problem(404, "not_found", detail).response()
        code = HTTPStatus(failure.status_code).name.lower()
        if failure.status_code == 405:
            allowed = ", ".join(_methods(request))
            detail = f"{request.method} does not work here; use {allowed}."
            return Problem(405, code, detail, headers={"Allow": allowed}).response()
        return Problem(failure.status_code, code, str(failure.detail), headers=failure.headers).response()

    @app.exception_handler(StoreUnavailable)
    async def _unavailable(_: Request, failure: StoreUnavailable) -> Response:
        _log.error("the database did not take a command", why=str(failure))
        detail = (
            "The database is not available, and it is not certain that nothing was recorded. "
            "Repeat the request with the same Idempotency-Key."
        )
        return Problem(503, "database_unavailable", detail, headers={"Retry-After": "1"}).response()

    @app.exception_handler(Exception)
    async def _unexpected(request: Request, failure: Exception) -> Response:
        reference = uuid4().hex[:12]
        _log.error("unexpected", reference=reference, path=request.url.path, exc_info=failure)
        detail = f"Something went wrong on our side. The log has it under {reference}."
        return Problem(500, "internal_error", detail).response()
