"""The few calls every scenario makes."""

from typing import Any

import httpx2

Json = dict[str, Any]

#: The shortest time limit the test servers allow, in minutes.
ONE_SECOND = 1 / 60
#: Longer than any test has to wait for something that is bound to happen.
LONG = 50

ADMIN = {"type": "person", "id": "p_admin", "name": "Admin", "surface": "api"}
AGENT = {"type": "asker", "id": "agent:agent", "name": "agent", "surface": "api"}
DEFAULT = {"type": "default", "id": None, "name": None, "surface": None}
DEADLINE = {"type": "deadline", "id": None, "name": None, "surface": None}

CHOICE: Json = {
    "question": "Which database?",
    "responseType": "choice",
    "options": [{"id": "pg", "label": "PostgreSQL", "value": "postgresql"}, {"id": "lite", "label": "SQLite"}],
}
APPROVAL: Json = {"question": "Create 5 Linear tickets?", "type": "approval"}


def ask(client: httpx2.Client, body: Json | None = None, *, job: str | None = None, **fields: Any) -> Json:
    """Ask, and give back the question; `fields` come on top of `body`."""
    path = "/api/questions" if job is None else f"/api/jobs/{job}/questions"
    answer = client.post(path, json={"question": "Which database?"} | (body or {}) | fields)
    assert answer.status_code == 201, answer.text
    question: Json = answer.json()["question"]
    return question


def answer(client: httpx2.Client, question_id: str, value: object, **more: Any) -> httpx2.Response:
    """Answer with a value; `more` goes beside `response`, except for what belongs into it."""
    inside = {name: more.pop(name) for name in ("text", "type", "arguments") if name in more}
    return client.post(f"/api/questions/{question_id}/answer", json={"response": {"value": value} | inside} | more)


def cancel(client: httpx2.Client, question_id: str, **body: Any) -> httpx2.Response:
    return client.post(f"/api/questions/{question_id}/cancel", json=body)


def comment(client: httpx2.Client, question_id: str, text: str, **more: Any) -> httpx2.Response:
    return client.post(f"/api/questions/{question_id}/comments", json={"text": text} | more)


def look(client: httpx2.Client, question_id: str) -> Json:
    return ok(client.get(f"/api/questions/{question_id}"))


def settled(client: httpx2.Client, question_id: str) -> Json:
    """The question once it has settled."""
    question = ok(client.get(f"/api/questions/{question_id}", params={"wait": LONG}))
    assert question["status"] != "pending"
    return question


def job_of(client: httpx2.Client, job_id: str) -> Json:
    return ok(client.get(f"/api/jobs/{job_id}"))


def history(client: httpx2.Client, question_id: str) -> list[Json]:
    events: list[Json] = ok(client.get(f"/api/questions/{question_id}/history"))["events"]
    return events


def happened(client: httpx2.Client, question_id: str) -> list[str]:
    """The names of what happened to the question, in order."""
    return [event["type"] for event in history(client, question_id)]


def ok(response: httpx2.Response) -> Json:
    assert response.status_code == 200, response.text
    body: Json = response.json()
    return body


def problem(response: httpx2.Response) -> tuple[int, str]:
    """Status and code of a refusal, after making sure that it has the form every refusal has."""
    body = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert body["status"] == response.status_code
    assert body["type"] == f"urn:handraise:problem:{body['code']}"
    assert body["title"]
    assert body["detail"]
    return response.status_code, body["code"]


def pick(question: Json, *names: str) -> Json:
    return {name: question[name] for name in names}
