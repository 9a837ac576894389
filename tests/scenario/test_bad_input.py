"""Whatever a client sends gets a stable code and a sentence, never a 500, and the server goes on."""

import json
import socket
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.scenario.talk import APPROVAL, CHOICE, Json, ask, look, ok, problem
from tests.support.servers import RunningServer, running

_LIMIT = 256 * 1024
_FORM: Json = {"question": "Fill it in", "responseType": "form"}


def _nested(levels: int) -> Any:
    value: Any = "deep"
    for _ in range(levels):
        value = [value]
    return value


def _with_options(*options: object, **fields: object) -> Json:
    return {"question": "Which?", "options": list(options)} | fields


def _form(**schema: object) -> Json:
    return _FORM | {"schema": {"type": "object", "properties": {"name": {"type": "string"}}} | schema}


def _field(**field: object) -> Json:
    return _form(properties={"name": field})


#: What cannot be read at all: bytes, status, code.
UNREADABLE: dict[str, tuple[bytes, int, str]] = {
    "no body": (b"", 422, "invalid_request"),
    "half a document": (b'{"question": "x"', 400, "malformed_json"),
    "no JSON": (b"question=x", 400, "malformed_json"),
    "single quotes": (b"{'question': 'x'}", 400, "malformed_json"),
    "a comma too many": (b'{"question": "x",}', 400, "malformed_json"),
    "two documents": (b'{"question": "x"} {"question": "y"}', 400, "malformed_json"),
    "NaN": (b'{"question": "x", "timeoutMinutes": NaN}', 400, "malformed_json"),
    "half a surrogate pair": (rb'{"question": "\ud800"}', 400, "malformed_json"),
    "Latin-1": ('{"question": "Größe?"}'.encode("latin-1"), 400, "not_utf8"),
    "UTF-16": ('{"question": "x"}'.encode("utf-16"), 400, "not_utf8"),
    "bytes of nothing": (b"\xff\xfe\x00\x80", 400, "not_utf8"),
    "NUL in a text": (rb'{"question": "a\u0000b"}', 422, "text_invalid"),
    "NUL in a name": (rb'{"question": "x", "metadata": {"a\u0000b": 1}}', 422, "text_invalid"),
    "a huge whole number": (b'{"question": "x", "metadata": {"n": 9007199254740992}}', 422, "number_out_of_range"),
    "a very huge number": (b'{"question": "x", "metadata": {"n": 1e999}}', 422, "number_out_of_range"),
    "too deep": (json.dumps({"question": "x", "metadata": {"a": _nested(20)}}).encode(), 422, "json_too_deep"),
    "absurdly deep": (b'{"question": "x", "metadata": ' + b"[" * 100_000, 422, "json_too_deep"),
    "too large": (b'{"question": "' + b"x" * _LIMIT + b'"}', 413, "body_too_large"),
    "a list": (b'[{"question": "x"}]', 422, "invalid_request"),
    "a text": (b'"x"', 422, "invalid_request"),
    "null": (b"null", 422, "invalid_request"),
}

#: What can be read and makes no question: body, code, pointer.
NOT_A_QUESTION: dict[str, tuple[Json, str, str]] = {
    "no question": ({}, "invalid_request", "/question"),
    "an empty question": ({"question": ""}, "text_empty", "/question"),
    "a blank question": ({"question": " \n\t"}, "text_empty", "/question"),
    "an overlong question": ({"question": "x" * 10_001}, "text_too_long", "/question"),
    "a number as question": ({"question": 5}, "invalid_request", "/question"),
    "an unknown field": ({"question": "x", "quesiton": "y"}, "invalid_request", "/quesiton"),
    "an unknown kind": ({"question": "x", "type": "urgent"}, "kind_unknown", "/type"),
    "a kind of wrong type": ({"question": "x", "type": 1}, "invalid_request", "/type"),
    "an unknown response type": ({"question": "x", "responseType": "image"}, "shape_conflict", "/responseType"),
    "an approval answered by text": (APPROVAL | {"responseType": "text"}, "shape_conflict", "/responseType"),
    "a blocking approval": (
        {"question": "x", "type": "blocking", "responseType": "approval"},
        "shape_conflict",
        "/responseType",
    ),
    "an approval with options": (APPROVAL | {"options": ["a", "b"]}, "shape_conflict", "/options"),
    "a text with options": (_with_options("a", responseType="text"), "shape_conflict", "/options"),
    "free text in a number": (
        {"question": "x", "responseType": "number", "allowFreeText": True},
        "shape_conflict",
        "/allowFreeText",
    ),
    "a schema beside a text": (_form() | {"responseType": "text"}, "shape_conflict", "/schema"),
    "an action to choose": (CHOICE | {"type": "blocking", "action": {"tool": "t"}}, "shape_conflict", "/action"),
    "a choice of nothing": ({"question": "x", "responseType": "choice"}, "options_missing", "/options"),
    "a choice of an empty list": (_with_options(responseType="choice"), "options_missing", "/options"),
    "several of nothing": ({"question": "x", "responseType": "multi_choice"}, "options_missing", "/options"),
    "two options with one label": (_with_options("a", "a"), "option_duplicate", "/options/1"),
    "two options with one value": (
        _with_options({"label": "a", "value": "v"}, {"label": "b", "value": "v"}),
        "option_duplicate",
        "/options/1",
    ),
    "a value that is another's label": (
        _with_options({"label": "a", "value": "b"}, {"label": "b"}),
        "option_duplicate",
        "/options/1",
    ),
    "an option without label": (_with_options({"value": "v"}), "invalid_request", "/options/0/label"),
    "an option with blank label": (_with_options("a", " "), "text_empty", "/options/1/label"),
    "an overlong label": (_with_options("x" * 201), "text_too_long", "/options/0/label"),
    "an overlong note": (_with_options({"label": "a", "pros": ["x" * 4_001]}), "text_too_long", "/options/0"),
    "too many options": (_with_options(*map(str, range(101))), "shape_conflict", "/options"),
    "an unknown field of an option": (
        _with_options({"label": "a", "colour": "red"}),
        "invalid_request",
        "/options/0/colour",
    ),
    "a boolean of one": (
        _with_options({"label": "yes", "value": True}, responseType="boolean"),
        "shape_conflict",
        "/options",
    ),
    "a boolean of words": (_with_options("yes", "no", responseType="boolean"), "shape_conflict", "/options"),
    "a default for an approval": (
        APPROVAL | {"defaultResponse": {"value": True}},
        "default_forbidden",
        "/defaultResponse",
    ),
    "going on without a default": (
        {"question": "x", "type": "non_blocking"},
        "default_required",
        "/defaultResponse",
    ),
    "a default that is no option": (
        CHOICE | {"defaultResponse": {"value": "MariaDB"}},
        "default_invalid",
        "/defaultResponse/value",
    ),
    "a default of another type": (
        {"question": "x", "defaultResponse": {"type": "number", "value": 1}},
        "default_invalid",
        "/defaultResponse/type",
    ),
    "a default number as text": (
        {"question": "x", "responseType": "number", "defaultResponse": {"value": "1"}},
        "default_invalid",
        "/defaultResponse/value",
    ),
    "a default without value": (
        {"question": "x", "defaultResponse": {"type": "text"}},
        "invalid_request",
        "/defaultResponse/value",
    ),
    "no time at all": ({"question": "x", "timeoutMinutes": 0}, "time_limit_out_of_range", "/timeoutMinutes"),
    "negative time": ({"question": "x", "timeoutMinutes": -5}, "time_limit_out_of_range", "/timeoutMinutes"),
    "too little time": ({"question": "x", "timeoutMinutes": 0.01}, "time_limit_out_of_range", "/timeoutMinutes"),
    "too much time": ({"question": "x", "timeoutMinutes": 1440.01}, "time_limit_out_of_range", "/timeoutMinutes"),
    "ages": ({"question": "x", "timeoutMinutes": 1e300}, "time_limit_out_of_range", "/timeoutMinutes"),
    "for ever, though it holds the job": (
        {"question": "x", "timeoutMinutes": None},
        "time_limit_out_of_range",
        "/timeoutMinutes",
    ),
    "for ever, though it approves": (
        APPROVAL | {"timeoutMinutes": None},
        "time_limit_out_of_range",
        "/timeoutMinutes",
    ),
    "time as text": ({"question": "x", "timeoutMinutes": "5"}, "invalid_request", "/timeoutMinutes"),
    "time as yes": ({"question": "x", "timeoutMinutes": True}, "invalid_request", "/timeoutMinutes"),
    "an unknown urgency": ({"question": "x", "urgency": "now"}, "invalid_request", "/urgency"),
    "an unknown risk": (APPROVAL | {"action": {"tool": "t", "risk": "none"}}, "invalid_request", "/action/risk"),
    "an action without tool": (APPROVAL | {"action": {"arguments": {}}}, "invalid_request", "/action/tool"),
    "arguments in a list": (
        APPROVAL | {"action": {"tool": "t", "arguments": [1]}},
        "invalid_request",
        "/action/arguments",
    ),
    "reminders at once": ({"question": "x", "reminderMinutes": 0}, "invalid_request", "/reminderMinutes"),
    "a tag that is a number": ({"question": "x", "tags": [1]}, "invalid_request", "/tags/0"),
    "tags without end": ({"question": "x", "tags": ["t"] * 51}, "invalid_request", "/tags"),
    "context in a list": ({"question": "x", "context": []}, "invalid_request", "/context"),
    "metadata as text": ({"question": "x", "metadata": "k=v"}, "invalid_request", "/metadata"),
    "a callback to a file": (
        {"question": "x", "callbackUrl": "file:///etc/passwd"},
        "invalid_request",
        "/callbackUrl",
    ),
    "an overlong name": ({"question": "x", "agent": "x" * 201}, "invalid_request", "/agent"),
    "an empty job": ({"question": "x", "jobId": ""}, "invalid_request", "/jobId"),
    "an overlong operation id": ({"question": "x", "operationId": "x" * 256}, "invalid_request", "/operationId"),
    "a form without schema": (_FORM, "schema_invalid", "/schema"),
    "a form that is a list": (_form(type="array"), "schema_invalid", "/schema/type"),
    "a form without fields": (_form(properties={}), "schema_invalid", "/schema/properties"),
    "a form with references": (_form(**{"$ref": "http://example.com/x"}), "schema_invalid", "/schema/$ref"),
    "a form that needs what it has not": (_form(required=["age"]), "schema_invalid", "/schema/required"),
    "a field with a pattern": (_field(type="string", pattern="(a+)+$"), "schema_invalid", "/schema/properties/name"),
    "a field whose default does not fit": (
        _field(type="string", format="email", default="nobody"),
        "schema_invalid",
        "/schema/properties/name",
    ),
    "a field of objects": (_field(type="object"), "schema_invalid", "/schema/properties/name"),
    "a field of negative length": (
        _field(type="string", minLength=-1),
        "schema_invalid",
        "/schema/properties/name",
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_refused(agent: httpx2.Client, name: str) -> None:
    content, status, code = UNREADABLE[name]

    refused = agent.post("/api/questions", content=content)

    assert problem(refused) == (status, code)
    assert agent.get("/healthz").json() == {"status": "ok"}


@pytest.mark.parametrize("name", NOT_A_QUESTION)
def test_what_makes_no_question_is_refused_with_a_pointer_to_the_trouble(agent: httpx2.Client, name: str) -> None:
    body, code, pointer = NOT_A_QUESTION[name]

    refused = agent.post("/api/questions", json=body)

    assert problem(refused) == (422, code)
    assert refused.json()["errors"][0]["pointer"] == pointer
    assert agent.get("/healthz").json() == {"status": "ok"}


def test_bad_questions_leave_no_trace(stranger: httpx2.Client) -> None:
    for content, _, _ in UNREADABLE.values():
        stranger.post("/api/jobs/untouched/questions", content=content)
    for body, _, _ in NOT_A_QUESTION.values():
        stranger.post("/api/jobs/untouched/questions", json=body)

    assert problem(stranger.get("/api/jobs/untouched")) == (404, "job_not_found")
    assert ok(stranger.get("/api/questions/pending"))["questions"] == []


def test_every_wrong_field_is_told_at_once(agent: httpx2.Client) -> None:
    refused = agent.post("/api/questions", json={"urgency": "now", "tags": [1], "a/b~c": 1})

    errors = {error["pointer"]: error["detail"] for error in refused.json()["errors"]}
    assert set(errors) == {"/question", "/urgency", "/tags/0", "/a~1b~0c"}
    assert errors["/question"] == "this field is required"
    assert errors["/a~1b~0c"] == "there is no such field; check its spelling"


def test_a_refusal_has_one_form(agent: httpx2.Client) -> None:
    refused = agent.post("/api/questions", json={"question": "x", "type": "urgent"})

    detail = (
        "There is no kind “urgent”. Use one of “blocking”, “approval”, “error_recovery”, “non_blocking”, "
        "“clarifying”, “confirming”, “preference”, “educational” and “celebratory”."
    )
    assert refused.json() == {
        "type": "urn:handraise:problem:kind_unknown",
        "title": "Unprocessable Entity",
        "status": 422,
        "detail": detail,
        "code": "kind_unknown",
        "errors": [{"pointer": "/type", "detail": detail}],
    }


def test_what_is_just_inside_the_limits_is_taken(agent: httpx2.Client) -> None:
    ask(agent, question="x" * 10_000)
    ask(agent, timeoutMinutes=1440)
    ask(agent, timeoutMinutes=1 / 60)
    ask(agent, metadata={"n": 9007199254740991, "a": _nested(18)})
    ask(agent, _with_options(*map(str, range(100))))
    ask(agent, _with_options("x" * 200))


def test_a_body_of_exactly_the_limit_is_taken(agent: httpx2.Client) -> None:
    start, end = b'{"question": "x", "metadata": {"k": "', b'"}}'
    content = start + b"x" * (_LIMIT - len(start) - len(end)) + end

    assert agent.post("/api/questions", content=content).status_code == 201
    assert problem(agent.post("/api/questions", content=content + b" ")) == (413, "body_too_large")


def test_a_body_without_end_is_cut_off(agent: httpx2.Client) -> None:
    def endless() -> Any:
        for _ in range(4 * _LIMIT // 4096):
            yield b" " * 4096

    try:
        refused = agent.post("/api/questions", content=endless())
    except httpx2.WriteError:
        pass  # the server hung up while we were still sending, which is as good
    else:
        assert problem(refused) == (413, "body_too_large")
    assert agent.get("/healthz").status_code == 200


def test_the_time_limits_of_a_server_left_alone_are_five_minutes_and_a_day(data_dir: Path) -> None:
    with running(data_dir, min_time_limit="5m") as server, server.client() as agent:
        statuses = {
            minutes: agent.post("/api/questions", json={"question": "x", "timeoutMinutes": minutes}).status_code
            for minutes in (4.99, 5, 1440, 1440.5)
        }
        refused = agent.post("/api/questions", json={"question": "x", "timeoutMinutes": 1})

    assert statuses == {4.99: 422, 5: 201, 1440: 201, 1440.5: 422}
    assert refused.json()["detail"] == "The time limit must be between 5 min and 24 h."


# answers, comments, jobs


@pytest.mark.parametrize(
    ("call", "body", "code"),
    [
        ("answer", {}, "invalid_request"),
        ("answer", {"response": None}, "invalid_request"),
        ("answer", {"response": "pg"}, "invalid_request"),
        ("answer", {"response": {}}, "invalid_request"),
        ("answer", {"response": {"value": "pg", "by": "Dana"}}, "invalid_request"),
        ("answer", {"response": {"value": "pg"}, "late": "yes"}, "invalid_request"),
        ("answer", {"response": {"value": "pg"}, "decidedBy": "Dana"}, "invalid_request"),
        ("answer", {"response": {"value": "pg", "text": 5}}, "invalid_request"),
        ("answer", {"response": {"value": "pg"}, "operationId": ""}, "invalid_request"),
        ("comments", {}, "invalid_request"),
        ("comments", {"text": " \n"}, "invalid_request"),
        ("comments", {"text": "x" * 10_001}, "invalid_request"),
        ("comments", {"text": "x", "askBack": "yes"}, "invalid_request"),
        ("cancel", {"reason": 5}, "invalid_request"),
        ("cancel", {"reason": "x" * 2_001}, "invalid_request"),
        ("cancel", {"why": "because"}, "invalid_request"),
    ],
)
def test_bad_bodies_about_a_question_change_nothing(
    agent: httpx2.Client, admin: httpx2.Client, call: str, body: Json, code: str
) -> None:
    question = ask(agent, CHOICE)

    refused = admin.post(f"/api/questions/{question['id']}/{call}", json=body)

    assert problem(refused) == (422, code)
    assert look(agent, question["id"]) == question


@pytest.mark.parametrize("call", ["answer", "comments", "cancel"])
@pytest.mark.parametrize("name", ["half a document", "Latin-1", "NUL in a text", "absurdly deep", "too large"])
def test_unreadable_bodies_about_a_question_change_nothing(
    agent: httpx2.Client, admin: httpx2.Client, call: str, name: str
) -> None:
    content, status, code = UNREADABLE[name]
    question = ask(agent, CHOICE)

    refused = admin.post(f"/api/questions/{question['id']}/{call}", content=content)

    assert problem(refused) == (status, code)
    assert look(agent, question["id"]) == question


@pytest.mark.parametrize(
    "body",
    [
        {"status": "sleeping"},
        {"status": 5},
        {"onTimeout": "explode"},
        {"maxOpenHolding": 0},
        {"maxOpenHolding": 1.5},
        {"maxOpenHolding": "1"},
        {"reason": "x" * 2_001},
        {"owner": "agent:me"},
    ],
)
def test_bad_wishes_about_a_job_are_refused(agent: httpx2.Client, body: Json) -> None:
    refused = agent.patch("/api/jobs/never-born", json=body)

    assert problem(refused) == (422, "invalid_request")
    assert problem(agent.get("/api/jobs/never-born")) == (404, "job_not_found")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/questions/q_nonsense", 404, "question_not_found"),
        ("GET", "/api/questions/q_00000000000000000000000000", 404, "question_not_found"),
        ("GET", "/api/questions/%00", 404, "question_not_found"),
        ("GET", "/api/questions/%FF%FE", 404, "question_not_found"),
        ("GET", "/api/questions/' OR 1=1 --", 404, "question_not_found"),
        ("GET", "/api/questions/q_00000000000000000000000000/history", 404, "question_not_found"),
        ("GET", "/api/questions/nope?wait=50", 404, "question_not_found"),
        ("POST", "/api/questions/q_nonsense/cancel", 404, "question_not_found"),
        ("GET", "/api/questions/pending?limit=0", 422, "invalid_request"),
        ("GET", "/api/questions/pending?limit=201", 422, "invalid_request"),
        ("GET", "/api/questions/pending?limit=many", 422, "invalid_request"),
        ("GET", "/api/questions/pending?limit=99999999999999999999", 422, "invalid_request"),
        ("GET", "/api/questions/pending?cursor=there", 422, "cursor_invalid"),
        ("GET", "/api/questions/pending?type=urgent", 422, "kind_unknown"),
        ("GET", "/api/questions/pending?workspaceId=other", 404, "workspace_not_found"),
        ("GET", "/api/questions/pending?projectId=%00", 422, "project_id_invalid"),
        ("GET", "/api/jobs/nobody-named-this", 404, "job_not_found"),
        ("GET", "/api/jobs/a%00b", 422, "job_id_invalid"),
        ("GET", "/api/jobs/" + "x" * 201, 422, "job_id_invalid"),
        ("GET", "/api/jobs?limit=0", 422, "invalid_request"),
        ("GET", "/api/jobs?cursor=%0A", 422, "job_id_invalid"),
        ("GET", "/api/jobs?ready=perhaps", 422, "invalid_request"),
        ("GET", "/api/nothing", 404, "not_found"),
        ("GET", "/api/questions/", 404, "not_found"),
        ("GET", "/api//questions", 404, "not_found"),
        ("GET", "/favicon.ico", 404, "not_found"),
        ("DELETE", "/api/questions", 405, "method_not_allowed"),
        ("PUT", "/api/jobs/some", 405, "method_not_allowed"),
        ("GET", "/api/jobs/some/progress", 405, "method_not_allowed"),
        ("POST", "/healthz", 405, "method_not_allowed"),
    ],
)
def test_bad_addresses_are_problems_too(agent: httpx2.Client, method: str, path: str, status: int, code: str) -> None:
    assert problem(agent.request(method, path)) == (status, code)


def test_an_unknown_status_is_told_the_known_ones(agent: httpx2.Client) -> None:
    ask(agent, job="filtered")

    refused = agent.get("/api/jobs/filtered/questions", params={"status": "done"})

    assert problem(refused) == (422, "status_unknown")


@pytest.mark.parametrize("key", ["", '""', "x" * 256, "tab\there", '"ümlaut"'.encode()])
def test_a_bad_idempotency_key_is_refused(agent: httpx2.Client, key: str | bytes) -> None:
    refused = agent.post("/api/questions", json=CHOICE, headers=[(b"Idempotency-Key", _bytes(key))])

    assert problem(refused) == (422, "idempotency_key_invalid")


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def test_two_names_for_one_job_are_refused(agent: httpx2.Client) -> None:
    refused = agent.post("/api/jobs/one/questions", json=CHOICE | {"jobId": "two"})

    assert problem(refused) == (422, "job_id_conflict")
    assert refused.json()["errors"][0]["pointer"] == "/jobId"


def test_a_workspace_of_others_does_not_exist(agent: httpx2.Client) -> None:
    refused = agent.post("/api/questions", json=CHOICE | {"workspaceId": "other"})

    assert problem(refused) == (404, "workspace_not_found")


# keys

_CALLS = [
    ("POST", "/api/questions"),
    ("POST", "/api/jobs/j/questions"),
    ("GET", "/api/jobs/j/questions"),
    ("GET", "/api/questions/pending"),
    ("GET", "/api/questions/q_00000000000000000000000000"),
    ("GET", "/api/questions/q_00000000000000000000000000/history"),
    ("POST", "/api/questions/q_00000000000000000000000000/answer"),
    ("POST", "/api/questions/q_00000000000000000000000000/cancel"),
    ("POST", "/api/questions/q_00000000000000000000000000/comments"),
    ("GET", "/api/jobs"),
    ("GET", "/api/jobs/j"),
    ("PATCH", "/api/jobs/j"),
    ("POST", "/api/jobs/j/progress"),
]


@pytest.mark.parametrize(("method", "path"), _CALLS)
def test_every_call_needs_a_key(server: RunningServer, method: str, path: str) -> None:
    with httpx2.Client(base_url=server.url) as nobody:
        refused = nobody.request(method, path)

    assert problem(refused) == (401, "key_missing")
    assert refused.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("", "key_missing"),
        ("Bearer", "key_missing"),
        ("Basic aHI6aHI=", "key_missing"),
        ("hr_something", "key_missing"),
        ("Bearer hr_something", "key_unknown"),
        ("bearer hr_something", "key_unknown"),
        ("Bearer " + "x" * 10_000, "key_unknown"),
        ("Bearer schlüssel", "key_unknown"),
    ],
)
def test_a_bad_key_is_refused(server: RunningServer, header: str, code: str) -> None:
    with httpx2.Client(base_url=server.url) as nobody:
        refused = nobody.get("/api/jobs", headers=[(b"Authorization", header.encode())])

    assert problem(refused) == (401, code)
    assert refused.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [
        ("ask", {"ask", "cancel", "comment", "progress", "steer"}),
        ("read", {"look", "list", "jobs"}),
        ("ask,read", {"ask", "cancel", "comment", "progress", "steer", "look", "list", "jobs"}),
        ("answer", {"answer", "comment", "look", "list", "jobs"}),
    ],
)
def test_a_key_does_what_its_scopes_allow_and_no_more(server: RunningServer, scope: str, allowed: set[str]) -> None:
    question = "/api/questions/q_00000000000000000000000000"
    calls: dict[str, tuple[str, str, Json]] = {
        "ask": ("POST", "/api/questions", CHOICE),
        "cancel": ("POST", f"{question}/cancel", {}),
        "comment": ("POST", f"{question}/comments", {"text": "x"}),
        "progress": ("POST", f"/api/jobs/of-{scope}/progress", {"text": "x"}),
        "steer": ("PATCH", f"/api/jobs/of-{scope}", {"status": "running"}),
        "look": ("GET", question, {}),
        "list": ("GET", "/api/questions/pending", {}),
        "jobs": ("GET", "/api/jobs", {}),
        "answer": ("POST", f"{question}/answer", {"response": {"value": "x"}}),
    }
    key = server.new_key(f"only {scope}", scope, "Admin" if scope == "answer" else None)

    with server.client(key) as client:
        replies = {name: client.request(method, path, json=body) for name, (method, path, body) in calls.items()}

    refused = {name for name, reply in replies.items() if reply.status_code == 403}
    assert refused == set(calls) - allowed
    assert {problem(replies[name]) for name in refused} == {(403, "scope_missing")}
    assert all(replies[name].status_code in (200, 201, 202, 404) for name in allowed)


# what is not even HTTP


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GARBAGE\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /api/questions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/questions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nno colon here\r\n\r\n",
    ],
)
def test_what_is_no_http_is_turned_away_and_the_server_goes_on(
    server: RunningServer, agent: httpx2.Client, request_bytes: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(request_bytes)
        reply = connection.recv(1000)

    assert reply.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 401 "))
    assert agent.get("/healthz").json() == {"status": "ok"}


def test_a_client_that_hangs_up_in_the_middle_harms_nobody(server: RunningServer, agent: httpx2.Client) -> None:
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
            connection.sendall(
                b"POST /api/questions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n"
                + f"Authorization: Bearer {server.agent_key}\r\n\r\n".encode()
                + b'{"question": "cut'
            )

    question = ask(agent)
    assert look(agent, question["id"]) == question
