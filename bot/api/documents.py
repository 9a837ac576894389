"""The OpenAPI document: request bodies the routes read themselves, and the problem every call may answer with."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.json_schema import models_json_schema

from bot.api import bodies

_BODIES: tuple[type[BaseModel], ...] = (
    bodies.AskBody,
    bodies.AnswerBody,
    bodies.CancelBody,
    bodies.CommentBody,
    bodies.JobBody,
    bodies.ProgressBody,
    bodies.WebhookBody,
    bodies.RedeemBody,
    bodies.SnoozeBody,
    bodies.ReassignBody,
    bodies.PersonBody,
    bodies.AwayBody,
    bodies.LinkBody,
    bodies.PolicyBody,
    bodies.ExplainBody,
)


class ProblemError(BaseModel):
    pointer: str
    detail: str


class ProblemDocument(BaseModel):
    model_config = ConfigDict(extra="allow", title="Problem")

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[ProblemError] = []


PROBLEM: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "description": "What is wrong and what to do about it",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    },
    "503": {
        "description": "Not available just now; try again",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    },
}


def takes(body: type[BaseModel], *, required: bool = True) -> dict[str, JsonValue]:
    """The part of an operation that says which body it reads."""
    schema: JsonValue = {"$ref": f"#/components/schemas/{body.__name__}"}
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": schema}}}}


def install(app: FastAPI) -> None:
    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # FastAPI's own way to replace the document


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(title=app.title, version=app.version, routes=app.routes, description=app.description)
    _, definitions = models_json_schema(
        [*((body, "validation") for body in _BODIES), (ProblemDocument, "serialization")],
        ref_template="#/components/schemas/{model}",
    )
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    schemas.update(definitions["$defs"])
    schemas["Problem"] = schemas.pop("ProblemDocument")
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "description": "hr_…"}}
    # Names in paths are camelCase on the outside, as everything is.
    document["paths"] = {path.replace("{job_id}", "{jobId}"): calls for path, calls in document["paths"].items()}
    for path, operations in document["paths"].items():
        for operation in operations.values():
            operation["responses"].pop("422", None)  # said by 4XX
            for parameter in operation.get("parameters", ()):
                parameter["name"] = "jobId" if parameter["name"] == "job_id" else parameter["name"]
            if path.startswith("/api/"):
                operation["security"] = [{"key": []}]
    return document
