"""Asking over HTTP: what comes back, how long it may take, and asking the same thing twice."""

import asyncio
import hashlib
from datetime import datetime, timedelta

import httpx2
import pytest

from tests.scenario.talk import CHOICE, Json, ask, look, ok, pick, problem
from tests.support.servers import RunningServer

_DEFAULT = {"type": "text", "value": "main"}


def _span(question: Json) -> timedelta:
    return datetime.fromisoformat(question["timeoutAt"]) - datetime.fromisoformat(question["createdAt"])


def test_every_field_of_a_choice_comes_back(agent: httpx2.Client) -> None:
    body = {
        "question": "Which database?",
        "type": "blocking",
        "responseType": "choice",
        "options": [
            {
                "id": "pg",
                "label": "PostgreSQL",
                "value": "postgresql",
                "description": "A server",
                "recommended": True,
                "implications": "One more thing to run",
                "pros": ["fast", "shared"],
                "cons": ["a server"],
            },
            {
                "id": "lite",
                "label": "SQLite",
                "value": "sqlite",
                "description": None,
                "recommended": False,
                "implications": None,
                "pros": [],
                "cons": [],
            },
        ],
        "context": {"jobType": "build", "projectName": "shop", "currentStep": "schema", "errorDetails": "none"},
        "timeoutMinutes": 15.5,
        "defaultResponse": {"type": "choice", "value": "sqlite", "text": "it is there already"},
        "allowFreeText": True,
        "to": "release-managers",
        "urgency": "high",
        "reminderMinutes": 5,
        "tags": ["db", "schema"],
        "metadata": {"k": "v", "nothing": None, "nested": {"list": [1, 2.5, None, True], "nothing": None}},
        "callbackUrl": "https://example.com/hook",
        "agent": "builder",
        "phase": "build",
        "category": "architectureDecisions",
        "projectId": "shop",
        "workspaceId": "default",
        "operationId": "every-field",
    }

    question = ask(agent, body, job="every-field")

    assert pick(question, *body) == body
    assert look(agent, question["id"]) == question


def test_every_field_of_an_approval_comes_back(agent: httpx2.Client) -> None:
    action = {
        "tool": "linear.create",
        "arguments": {"title": "Fix it", "count": 5, "due": None},
        "diff": "- a\n+ b",
        "risk": "high",
        "editable": True,
    }
    canonical = (
        b'{"arguments":{"count":5,"due":null,"title":"Fix it"},"diff":"- a\\n+ b","risk":"high","tool":"linear.create"}'
    )

    question = ask(agent, question="Create 5 tickets?", type="approval", responseType="approval", action=action)

    assert question["action"] == action | {"digest": "sha256:" + hashlib.sha256(canonical).hexdigest()}
    assert pick(question, "type", "responseType", "options", "defaultResponse") == {
        "type": "approval",
        "responseType": "approval",
        "options": None,
        "defaultResponse": None,
    }
    assert look(agent, question["id"]) == question


def test_a_new_question_is_all_there(server: RunningServer, agent: httpx2.Client) -> None:
    response = agent.post("/api/questions", json={"question": "Which branch?"})

    body = response.json()
    question = body["question"]
    url = f"{server.url}/q/{question['id']}"
    assert response.status_code == 201
    assert response.headers["location"] == f"/api/questions/{question['id']}"
    assert body == {"questionId": question["id"], "timeoutAt": question["timeoutAt"], "question": question}
    assert question == {
        "id": question["id"],
        "jobId": None,
        "workspaceId": "default",
        "projectId": None,
        "type": "blocking",
        "responseType": "text",
        "question": "Which branch?",
        "status": "pending",
        "version": 1,
        "createdAt": question["createdAt"],
        "timeoutAt": question["timeoutAt"],
        "clock": {"paused": False},
        "votes": {"have": 0, "need": 1},
        "response": None,
        "respondedBy": None,
        "respondedAt": None,
        "outcome": None,
        "comments": [],
        "lateAnswers": [],
        "deliveryState": "posted",
        "deliveries": [{"surface": "web", "state": "posted", "at": question["createdAt"], "link": url}],
        "url": url,
        "options": None,
        "allowFreeText": False,
        "schema": None,
        "context": None,
        "timeoutMinutes": 30,
        "defaultResponse": None,
        "action": None,
        "to": None,
        "urgency": "normal",
        "priority": "high",
        "reminderMinutes": None,
        "tags": [],
        "metadata": None,
        "callbackUrl": None,
        "agent": None,
        "phase": None,
        "category": None,
        "operationId": None,
        "askedBy": "agent",
        "onBehalfOf": None,
        "responders": {
            "text": "May answer: any member.",
            "rule": "everything else",
            "policyVersion": 0,
            "panels": [{"name": "any member", "need": 1, "people": [], "roles": ["member"]}],
            "fourEyes": False,
            "solo": False,
        },
        "asked": ["p_admin"],
        "acknowledged": None,
        "nextStepAt": question["nextStepAt"],
        "story": [],
    }
    first_reminder = datetime.fromisoformat(question["createdAt"]) + timedelta(minutes=15)
    assert datetime.fromisoformat(question["nextStepAt"]) == first_reminder


def test_instants_are_utc_with_milliseconds(agent: httpx2.Client) -> None:
    question = ask(agent)

    instant = datetime.strptime(question["createdAt"], "%Y-%m-%dT%H:%M:%S.%f%z")
    assert instant.utcoffset() == timedelta(0)
    assert len(question["createdAt"]) == len("2026-03-01T12:00:00.000Z")
    assert question["createdAt"].endswith("Z")


def test_the_place_of_a_new_question_leads_to_it(agent: httpx2.Client) -> None:
    created = agent.post("/api/questions", json={"question": "Which branch?"})

    found = agent.get(created.headers["location"])

    assert ok(found) == created.json()["question"]


@pytest.mark.parametrize(
    ("kind", "minutes", "priority"),
    [
        ("blocking", 30, "high"),
        ("approval", 15, "high"),
        ("error_recovery", 10, "high"),
        ("non_blocking", None, "low"),
        ("clarifying", 30, "normal"),
        ("confirming", 30, "normal"),
        ("preference", 1440, "low"),
        ("educational", 1440, "low"),
        ("celebratory", 1440, "low"),
    ],
)
def test_each_kind_has_its_own_time_limit(agent: httpx2.Client, kind: str, minutes: int | None, priority: str) -> None:
    extra: Json = {"defaultResponse": _DEFAULT} if kind == "non_blocking" else {}

    question = ask(agent, extra, type=kind)

    assert pick(question, "type", "timeoutMinutes", "priority") == {
        "type": kind,
        "timeoutMinutes": minutes,
        "priority": priority,
    }
    if minutes is None:
        assert question["timeoutAt"] is None
    else:
        assert _span(question) == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("body", "type_", "response_type"),
    [
        ({}, "blocking", "text"),
        ({"options": ["a", "b"]}, "blocking", "choice"),
        ({"type": "approval"}, "approval", "approval"),
        ({"responseType": "approval"}, "approval", "approval"),
        ({"action": {"tool": "shell.run"}}, "approval", "approval"),
        ({"schema": {"type": "object", "properties": {"name": {"type": "string"}}}}, "blocking", "form"),
        ({"responseType": "number"}, "blocking", "number"),
        ({"responseType": "boolean", "type": "confirming"}, "confirming", "boolean"),
    ],
)
def test_what_is_left_out_follows_from_the_rest(
    agent: httpx2.Client, body: Json, type_: str, response_type: str
) -> None:
    question = ask(agent, body)

    assert (question["type"], question["responseType"]) == (type_, response_type)


def test_a_time_limit_may_be_a_fraction_of_a_minute(agent: httpx2.Client) -> None:
    question = ask(agent, timeoutMinutes=2.25)

    assert _span(question) == timedelta(minutes=2, seconds=15)
    assert question["timeoutMinutes"] == 2.25


def test_a_kind_that_holds_no_job_may_have_no_time_limit(agent: httpx2.Client) -> None:
    question = ask(agent, type="clarifying", timeoutMinutes=None)

    assert pick(question, "timeoutAt", "timeoutMinutes") == {"timeoutAt": None, "timeoutMinutes": None}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ({"label": "PostgreSQL"}, "PostgreSQL"),
        ({"label": "PostgreSQL", "id": "pg"}, "pg"),
        ({"label": "PostgreSQL", "id": "pg", "value": "postgresql"}, "postgresql"),
        ({"label": "Five", "value": 5}, 5),
        ("PostgreSQL", "PostgreSQL"),
    ],
)
def test_an_option_is_worth_its_value_or_its_id_or_its_label(
    agent: httpx2.Client, option: Json | str, value: object
) -> None:
    question = ask(agent, options=[option, "something else"])

    assert question["options"][0]["value"] == value


def test_a_default_may_name_an_option_by_its_label(agent: httpx2.Client) -> None:
    question = ask(agent, CHOICE, defaultResponse={"value": "PostgreSQL"})

    assert question["defaultResponse"] == {"type": "choice", "value": "postgresql"}


def test_snake_case_is_understood_everywhere(agent: httpx2.Client) -> None:
    body = {
        "question": "Which database?",
        "response_type": "choice",
        "options": ["PostgreSQL", "SQLite"],
        "timeout_minutes": 7,
        "default_response": {"value": "SQLite"},
        "allow_free_text": True,
        "reminder_minutes": 2,
        "callback_url": "https://example.com/hook",
        "project_id": "shop",
        "workspace_id": "default",
        "job_id": "snake",
        "operation_id": "snake-case",
    }

    question = ask(agent, body)

    assert pick(
        question,
        "responseType",
        "timeoutMinutes",
        "defaultResponse",
        "allowFreeText",
        "reminderMinutes",
        "callbackUrl",
        "projectId",
        "workspaceId",
        "jobId",
        "operationId",
    ) == {
        "responseType": "choice",
        "timeoutMinutes": 7,
        "defaultResponse": {"type": "choice", "value": "SQLite"},
        "allowFreeText": True,
        "reminderMinutes": 2,
        "callbackUrl": "https://example.com/hook",
        "projectId": "shop",
        "workspaceId": "default",
        "jobId": "snake",
        "operationId": "snake-case",
    }


def test_text_in_any_script_comes_back_unchanged(agent: httpx2.Client) -> None:
    text = "Größe? 数据库 🗄️ \u202eevil\u202c line\nbreak\ttab \\u0041 \" ' < >"

    question = ask(agent, question=text, context={"ключ": text})

    found = look(agent, question["id"])
    assert pick(found, "question", "context") == {"question": text, "context": {"ключ": text}}


def test_open_questions_are_listed_oldest_first_page_by_page(agent: httpx2.Client) -> None:
    asked = [ask(agent, question=f"Page {number}?", projectId="pages")["id"] for number in range(5)]

    found: list[list[str]] = []
    where: dict[str, str] = {"projectId": "pages", "limit": "2"}
    while True:
        page = ok(agent.get("/api/questions/pending", params=where))
        found.append([question["id"] for question in page["questions"]])
        if page["nextCursor"] is None:
            break
        where["cursor"] = page["nextCursor"]

    assert found == [asked[:2], asked[2:4], asked[4:]]


def test_open_questions_are_listed_by_kind_and_workspace(agent: httpx2.Client) -> None:
    approval = ask(agent, type="approval", projectId="filters")
    ask(agent, type="blocking", projectId="filters")

    where = {"workspaceId": "default", "type": "approval", "projectId": "filters"}
    page = ok(agent.get("/api/questions/pending", params=where))

    assert page == {"questions": [approval], "nextCursor": None}


def test_an_agent_sees_its_own_open_questions_and_the_admin_all(
    agent: httpx2.Client, stranger: httpx2.Client, admin: httpx2.Client
) -> None:
    mine = ask(agent, projectId="whose")
    theirs = ask(stranger, projectId="whose")

    seen = {
        name: [question["id"] for question in ok(client.get(path))["questions"]]
        for path in ["/api/questions/pending?projectId=whose"]
        for name, client in (("agent", agent), ("stranger", stranger), ("admin", admin))
    }

    assert seen == {"agent": [mine["id"]], "stranger": [theirs["id"]], "admin": [mine["id"], theirs["id"]]}


# the same request again


@pytest.mark.parametrize("path", ["/api/questions", "/api/jobs/repeated/questions"])
def test_the_same_key_and_body_give_the_same_question(agent: httpx2.Client, path: str) -> None:
    headers = {"Idempotency-Key": f"again {path}"}
    first = agent.post(path, json=CHOICE, headers=headers)

    second = agent.post(path, json=CHOICE, headers=headers)

    assert (first.status_code, second.status_code) == (201, 200)
    assert (first.headers.get("idempotency-replayed"), second.headers["idempotency-replayed"]) == (None, "true")
    assert second.json() == first.json()


def test_an_operation_id_works_as_a_key(agent: httpx2.Client) -> None:
    body = CHOICE | {"operationId": "op-1"}
    first = agent.post("/api/questions", json=body)

    second = agent.post("/api/questions", json=body)

    assert (first.status_code, second.status_code) == (201, 200)
    assert second.headers["idempotency-replayed"] == "true"
    assert second.json() == first.json()


def test_a_key_means_the_same_bare_and_quoted(agent: httpx2.Client) -> None:
    first = agent.post("/api/questions", json=CHOICE, headers={"Idempotency-Key": "bare"})

    second = agent.post("/api/questions", json=CHOICE, headers={"Idempotency-Key": '"bare"'})

    assert second.status_code == 200
    assert second.json()["questionId"] == first.json()["questionId"]


def test_the_order_of_fields_does_not_make_another_body(agent: httpx2.Client) -> None:
    headers = {"Idempotency-Key": "order"}
    first = agent.post("/api/questions", content=b'{"question": "Go?", "tags": ["a"]}', headers=headers)

    second = agent.post("/api/questions", content=b'{"tags":["a"],"question":"Go?"}', headers=headers)

    assert (first.status_code, second.status_code) == (201, 200)


@pytest.mark.parametrize("named_by", ["header", "operationId"])
def test_the_same_key_with_another_body_is_refused(agent: httpx2.Client, named_by: str) -> None:
    name = f"other body by {named_by}"
    headers = {"Idempotency-Key": name} if named_by == "header" else {}
    extra = {"operationId": name} if named_by == "operationId" else {}
    agent.post("/api/questions", json=CHOICE | extra, headers=headers)

    second = agent.post("/api/questions", json=CHOICE | extra | {"question": "Which cache?"}, headers=headers)

    assert problem(second) == (422, "idempotency_key_reused")


def test_the_same_key_in_another_job_is_refused(agent: httpx2.Client) -> None:
    headers = {"Idempotency-Key": "another job"}
    agent.post("/api/jobs/first-job/questions", json=CHOICE, headers=headers)

    second = agent.post("/api/jobs/second-job/questions", json=CHOICE, headers=headers)

    assert problem(second) == (422, "idempotency_key_reused")


def test_a_replay_shows_the_question_as_it_is_now(agent: httpx2.Client, admin: httpx2.Client) -> None:
    headers = {"Idempotency-Key": "answered meanwhile"}
    first = agent.post("/api/questions", json=CHOICE, headers=headers).json()
    admin.post(f"/api/questions/{first['questionId']}/answer", json={"response": {"value": "pg"}})

    second = agent.post("/api/questions", json=CHOICE, headers=headers)

    assert second.status_code == 200
    assert second.json()["question"] == look(agent, first["questionId"])
    assert second.json()["question"]["status"] == "answered"


def test_two_agents_may_use_the_same_key(agent: httpx2.Client, stranger: httpx2.Client) -> None:
    headers = {"Idempotency-Key": "shared"}

    answers = [client.post("/api/questions", json=CHOICE, headers=headers) for client in (agent, stranger)]

    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json()["questionId"] != answers[1].json()["questionId"]


def test_a_new_key_of_the_same_agent_repeats_what_the_old_one_asked(
    server: RunningServer, agent: httpx2.Client
) -> None:
    headers = {"Idempotency-Key": "rotated"}
    first = agent.post("/api/questions", json=CHOICE, headers=headers)

    with server.client(server.new_key("agent", "ask,read")) as rotated:
        second = rotated.post("/api/questions", json=CHOICE, headers=headers)

    assert second.status_code == 200
    assert second.json() == first.json()


def test_a_refused_ask_leaves_its_key_free(agent: httpx2.Client) -> None:
    headers = {"Idempotency-Key": "second try"}
    refused = agent.post("/api/questions", json={"question": " "}, headers=headers)

    accepted = agent.post("/api/questions", json=CHOICE, headers=headers)

    assert (refused.status_code, accepted.status_code) == (422, 201)


async def test_sixteen_simultaneous_asks_under_one_key_make_one_question(server: RunningServer) -> None:
    headers = {"Idempotency-Key": "at once"}
    async with server.async_client() as client:
        answers = await asyncio.gather(
            *(client.post("/api/jobs/at-once/questions", json=CHOICE, headers=headers) for _ in range(16))
        )
        in_job = (await client.get("/api/jobs/at-once/questions")).json()["questions"]

    assert sorted(answer.status_code for answer in answers) == [200] * 15 + [201]
    assert {answer.json()["questionId"] for answer in answers} == {in_job[0]["id"]}
    assert len(in_job) == 1
