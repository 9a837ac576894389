"""Whatever fits the OpenAPI document, and whatever just misses it, is answered as the document says and never by 500.

Every call gets generated requests, good and bad, plus the edge values of each field; with an agent's key and with the
admin's, for questions that do not exist and for one that does.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.config import GenerationConfig, ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation, BaseSchema

from tests.scenario.talk import ask, cancel
from tests.support.servers import RunningServer

Case: TypeAlias = schemathesis.Case[Any]
Operation: TypeAlias = APIOperation[Any, Any, Any, Any]

_CALLS = [
    ("POST", "/api/questions"),
    ("GET", "/api/questions/pending"),
    ("GET", "/api/questions/{id}"),
    ("GET", "/api/questions/{id}/history"),
    ("POST", "/api/questions/{id}/answer"),
    ("POST", "/api/questions/{id}/cancel"),
    ("POST", "/api/questions/{id}/comments"),
    ("GET", "/api/jobs"),
    ("GET", "/api/jobs/{jobId}"),
    ("PATCH", "/api/jobs/{jobId}"),
    ("GET", "/api/jobs/{jobId}/questions"),
    ("POST", "/api/jobs/{jobId}/questions"),
    ("POST", "/api/jobs/{jobId}/progress"),
    ("POST", "/api/receipts/redeem"),
    ("GET", "/api/webhooks"),
    ("POST", "/api/webhooks"),
    ("DELETE", "/api/webhooks/{id}"),
    ("POST", "/api/webhooks/{id}/test"),
    ("POST", "/api/webhooks/{id}/rotate"),
    ("GET", "/api/webhooks/{id}/deliveries"),
    ("POST", "/api/questions/{id}/remind"),
    ("POST", "/api/questions/{id}/acknowledge"),
    ("POST", "/api/questions/{id}/snooze"),
    ("POST", "/api/questions/{id}/reassign"),
    ("GET", "/api/people"),
    ("POST", "/api/people"),
    ("PATCH", "/api/people/{id}"),
    ("DELETE", "/api/people/{id}"),
    ("POST", "/api/people/{id}/away"),
    ("POST", "/api/people/{id}/link-code"),
    ("POST", "/api/people/{id}/handles"),
    ("GET", "/api/audit"),
    ("GET", "/api/policy"),
    ("PUT", "/api/policy"),
    ("POST", "/api/policy/diff"),
    ("POST", "/api/policy/explain"),
]
_BODILESS = ("/test", "/rotate", "/remind", "/acknowledge", "/link-code")
#: They answer without end, so they are tried in test_streams instead.
_STREAMS = [("GET", "/api/events"), ("GET", "/api/jobs/{jobId}/events")]
_GENERATION = GenerationConfig(max_examples=20, deterministic=True, database="none")
_EXAMPLES = settings(
    max_examples=20, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)
_CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


def _checks(*names: str) -> list[Any]:
    load_all_checks()
    return CHECKS.get_by_names(list(names))


@pytest.fixture(scope="module")
def document(server: RunningServer) -> BaseSchema:
    project = ProjectConfig(base_url=server.url, generation=_GENERATION)
    config = SchemathesisConfig(seed=1, projects=ProjectsConfig(default=project))
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json", config=config)


@pytest.fixture(params=["agent", "admin"])
def key(request: pytest.FixtureRequest, server: RunningServer) -> str:
    return server.agent_key if request.param == "agent" else server.admin_key


def _try(operation: Operation, mode: GenerationMode, check: Callable[[Case], None]) -> None:
    @given(case=operation.as_strategy(generation_mode=mode))
    @_EXAMPLES
    def run(case: Case) -> None:
        check(case)

    run()


def test_every_call_of_the_document_is_tried(document: BaseSchema) -> None:
    found = [result.ok() for result in document.get_all_operations() if isinstance(result, Ok)]

    assert sorted((operation.method.upper(), operation.path) for operation in found) == sorted(_CALLS + _STREAMS)


@pytest.mark.parametrize(("method", "path"), _CALLS)
def test_requests_that_fit_the_document_are_answered_as_it_says(
    document: BaseSchema, key: str, method: str, path: str
) -> None:
    checks = _checks(*_CHECKS)

    def check(case: Case) -> None:
        case.call_and_validate(headers={"Authorization": f"Bearer {key}"}, checks=checks)

    _try(document[path][method], GenerationMode.POSITIVE, check)


@pytest.mark.parametrize(
    ("method", "path"),
    [call for call in _CALLS if call[0] not in ("GET", "DELETE") and not call[1].endswith(_BODILESS)],
)
def test_bodies_that_break_the_document_are_refused(
    document: BaseSchema, server: RunningServer, method: str, path: str
) -> None:
    checks = _checks(*_CHECKS)
    refused = 0

    def check(case: Case) -> None:
        nonlocal refused
        reply = case.call_and_validate(headers={"Authorization": f"Bearer {server.admin_key}"}, checks=checks)
        if _has_bad_body(case):
            assert 400 <= reply.status_code < 500, case.as_curl_command()
            refused += 1

    _try(document[path][method], GenerationMode.NEGATIVE, check)

    assert refused > 0


def _has_bad_body(case: Case) -> bool:
    body = case.meta.components.get(ParameterLocation.BODY) if case.meta is not None else None
    return body is not None and body.mode is GenerationMode.NEGATIVE


@pytest.mark.parametrize(("method", "path"), _CALLS)
def test_the_edge_values_of_every_field_are_answered_as_the_document_says(
    document: BaseSchema, key: str, method: str, path: str
) -> None:
    checks = _checks(*_CHECKS)
    cases = document.iter_coverage_cases(
        document[path][method], generation_modes=list(GenerationMode), generation_config=_GENERATION
    )

    tried = 0
    for case in cases:
        case.call_and_validate(headers={"Authorization": f"Bearer {key}"}, checks=checks)
        tried += 1

    assert tried > 0


@pytest.mark.parametrize(("method", "path"), [call for call in _CALLS if "{id}" in call[1]])
def test_requests_about_a_question_that_exists_are_answered_as_the_document_says(
    document: BaseSchema, agent: httpx2.Client, key: str, method: str, path: str
) -> None:
    checks = _checks(*_CHECKS)

    def check(case: Case) -> None:
        question = ask(agent, options=["PostgreSQL", "SQLite"], allowFreeText=True)
        if method == "GET":
            cancel(agent, question["id"])  # nobody wants to wait for each of them
        case.path_parameters = {"id": question["id"]}
        case.call_and_validate(headers={"Authorization": f"Bearer {key}"}, checks=checks)

    _try(document[path][method], GenerationMode.POSITIVE, check)


@pytest.mark.parametrize(("method", "path"), _CALLS)
def test_nothing_is_said_to_a_request_without_a_key(
    document: BaseSchema, server: RunningServer, method: str, path: str
) -> None:
    checks = _checks(*_CHECKS)
    statuses: set[int] = set()

    def check(case: Case) -> None:
        case.headers.clear()
        statuses.add(case.call_and_validate(checks=checks).status_code)

    _try(document[path][method], GenerationMode.POSITIVE, check)

    assert statuses == {401}
