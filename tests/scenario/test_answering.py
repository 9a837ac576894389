"""Answering over HTTP: every shape, who may, who is too late, asking back and cancelling."""

import hashlib
from datetime import datetime, timedelta
from typing import Any

import httpx2
import pytest

from tests.scenario.talk import (
    ADMIN,
    AGENT,
    APPROVAL,
    CHOICE,
    DEADLINE,
    ONE_SECOND,
    Json,
    answer,
    ask,
    cancel,
    comment,
    happened,
    history,
    look,
    ok,
    pick,
    problem,
    settled,
)
from tests.support.servers import RunningServer

_MULTI = CHOICE | {"responseType": "multi_choice"}
_FREE = CHOICE | {"allowFreeText": True}
_BOOLEAN: Json = {"question": "Verbose?", "responseType": "boolean"}
_WORDS = _BOOLEAN | {"options": [{"label": "Talk", "value": True}, {"label": "Hush", "value": False}]}
_NUMBER: Json = {"question": "How many?", "responseType": "number"}
_RATING: Json = {"question": "How good?", "options": [{"label": "Good", "value": 1}, {"label": "Bad", "value": -1}]}
_FORM: Json = {
    "question": "Who takes it over?",
    "schema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 2},
            "mail": {"type": "string", "format": "email"},
            "since": {"type": "string", "format": "date"},
            "hours": {"type": "integer", "maximum": 40},
            "days": {"type": "array", "items": {"type": "string", "enum": ["mon", "tue"]}},
        },
        "required": ["name"],
    },
}
_ACTION = {"tool": "linear.create", "arguments": {"count": 5}, "risk": "high", "editable": True}
_EDITABLE = APPROVAL | {"action": _ACTION}


def _at(instant: str) -> datetime:
    return datetime.fromisoformat(instant)


@pytest.mark.parametrize(
    ("body", "said", "response"),
    [
        ({}, {"value": "main"}, {"type": "text", "value": "main"}),
        ({}, {"value": " main\n", "text": "why"}, {"type": "text", "value": " main\n", "text": "why"}),
        (CHOICE, {"type": "choice", "value": "postgresql"}, {"type": "choice", "value": "postgresql"}),
        (CHOICE, {"value": "pg"}, {"type": "choice", "value": "postgresql"}),
        (CHOICE, {"value": "PostgreSQL"}, {"type": "choice", "value": "postgresql"}),
        (CHOICE, {"value": " postgreSQL "}, {"type": "choice", "value": "postgresql"}),
        (CHOICE, {"value": "SQLite"}, {"type": "choice", "value": "lite"}),
        (_RATING, {"value": -1}, {"type": "choice", "value": -1}),
        (_RATING, {"value": "Bad"}, {"type": "choice", "value": -1}),
        (_FREE, {"value": "MariaDB"}, {"type": "choice", "value": "MariaDB"}),
        (_FREE, {"value": "pg"}, {"type": "choice", "value": "postgresql"}),
        (_MULTI, {"value": ["lite", "PostgreSQL"]}, {"type": "multi_choice", "value": ["lite", "postgresql"]}),
        (_MULTI, {"value": ["pg", "PostgreSQL"]}, {"type": "multi_choice", "value": ["postgresql"]}),
        (_BOOLEAN, {"value": False}, {"type": "boolean", "value": False}),
        (_WORDS, {"value": "Talk"}, {"type": "boolean", "value": True}),
        (_NUMBER, {"value": 7}, {"type": "number", "value": 7}),
        (_NUMBER, {"value": -0.5}, {"type": "number", "value": -0.5}),
        (_FORM, {"value": {"name": "Dana"}}, {"type": "form", "value": {"name": "Dana"}}),
        (
            _FORM,
            {"value": {"name": "Dana", "mail": "d@example.com", "since": "2026-03-01", "hours": 8, "days": ["mon"]}},
            {
                "type": "form",
                "value": {
                    "name": "Dana",
                    "mail": "d@example.com",
                    "since": "2026-03-01",
                    "hours": 8,
                    "days": ["mon"],
                },
            },
        ),
        (APPROVAL, {"value": True}, {"type": "approval", "value": True}),
        (APPROVAL, {"value": False, "text": "not now"}, {"type": "approval", "value": False, "text": "not now"}),
    ],
)
def test_an_answer_that_fits_is_taken(
    agent: httpx2.Client, admin: httpx2.Client, body: Json, said: Json, response: Json
) -> None:
    question = ask(agent, body)

    answered = admin.post(f"/api/questions/{question['id']}/answer", json={"response": said})

    found = look(agent, question["id"])
    decided_at = found["outcome"]["decidedAt"]
    assert ok(answered) == {"success": True, "jobResumed": False, "question": found}
    assert ("receipt" in found["outcome"]) == (body is APPROVAL)
    found["outcome"].pop("receipt", None)
    assert pick(found, "status", "version", "votes", "response", "respondedBy", "respondedAt", "outcome") == {
        "status": "answered",
        "version": 2,
        "votes": {"have": 1, "need": 1},
        "response": response,
        "respondedBy": "Admin",
        "respondedAt": decided_at,
        "outcome": {
            "kind": "answered",
            "response": response,
            "decidedBy": ADMIN,
            "deciders": [ADMIN],
            "decidedAt": decided_at,
            "reason": said.get("text"),
        },
    }


@pytest.mark.parametrize(
    ("body", "said", "pointer"),
    [
        ({}, {"value": 5}, "/response/value"),
        ({}, {"value": " \n"}, "/response/value"),
        ({}, {"value": None}, "/response/value"),
        ({}, {"value": "x" * 20_001}, "/response/value"),
        ({}, {"value": "x", "text": "x" * 20_001}, "/response/text"),
        ({}, {"value": "x", "type": "choice"}, "/response/type"),
        ({}, {"value": "x", "arguments": {}}, "/response/arguments"),
        (CHOICE, {"value": "MariaDB"}, "/response/value"),
        (CHOICE, {"value": 0}, "/response/value"),
        (CHOICE, {"value": ["pg"]}, "/response/value"),
        (_RATING, {"value": True}, "/response/value"),
        (_FREE, {"value": "  "}, "/response/value"),
        (_FREE, {"value": 7}, "/response/value"),
        (_MULTI, {"value": []}, "/response/value"),
        (_MULTI, {"value": "pg"}, "/response/value"),
        (_MULTI, {"value": ["pg", "MariaDB"]}, "/response/value"),
        (_BOOLEAN, {"value": "true"}, "/response/value"),
        (_BOOLEAN, {"value": 1}, "/response/value"),
        (_NUMBER, {"value": "7"}, "/response/value"),
        (_NUMBER, {"value": True}, "/response/value"),
        (_FORM, {"value": "Dana"}, "/response/value"),
        (_FORM, {"value": {}}, "/response/value"),
        (_FORM, {"value": {"name": "D"}}, "/response/value/name"),
        (_FORM, {"value": {"name": "Dana", "age": 30}}, "/response/value"),
        (_FORM, {"value": {"name": "Dana", "mail": "nobody"}}, "/response/value/mail"),
        (_FORM, {"value": {"name": "Dana", "since": "yesterday"}}, "/response/value/since"),
        (_FORM, {"value": {"name": "Dana", "hours": 7.5}}, "/response/value/hours"),
        (_FORM, {"value": {"name": "Dana", "days": ["sun"]}}, "/response/value/days/0"),
        (APPROVAL, {"value": "yes"}, "/response/value"),
        (APPROVAL, {"value": 1}, "/response/value"),
        (APPROVAL, {"value": True, "arguments": {"count": 1}}, "/response/arguments"),
        (_EDITABLE, {"value": False, "arguments": {"count": 1}}, "/response/arguments"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_and_the_question_stays_open(
    agent: httpx2.Client, admin: httpx2.Client, body: Json, said: Json, pointer: str
) -> None:
    question = ask(agent, body)

    refused = admin.post(f"/api/questions/{question['id']}/answer", json={"response": said})

    assert problem(refused) == (422, "question_invalid_answer")
    assert refused.json()["errors"] == [{"pointer": pointer, "detail": refused.json()["detail"]}]
    assert look(agent, question["id"]) == question


def test_a_refusal_says_what_would_do(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, CHOICE)

    refused = answer(admin, question["id"], "MariaDB")

    assert refused.json()["detail"] == "“MariaDB” is not an option. Pick one of “PostgreSQL” and “SQLite”."


def test_second_answer_is_told_who_won(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, CHOICE)
    winner = ok(answer(admin, question["id"], "pg", text="we know it"))["question"]

    loser = answer(admin, question["id"], "lite")

    decided_at = _at(winner["outcome"]["decidedAt"])
    assert loser.status_code == 409
    assert loser.headers["content-type"] == "application/problem+json"
    assert loser.json() == {
        "type": "urn:handraise:problem:question_already_answered",
        "title": "Conflict",
        "status": 409,
        "detail": (
            f"This question is closed. Admin (api) answered “PostgreSQL” at {decided_at:%Y-%m-%d %H:%M:%S} UTC."
        ),
        "code": "question_already_answered",
        "question": winner,
        "outcome": winner["outcome"],
    }


def test_the_same_answer_under_the_same_key_is_taken_once(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, CHOICE)
    first = answer(admin, question["id"], "pg", operationId="answer-once")

    second = answer(admin, question["id"], "pg", operationId="answer-once")

    assert (first.status_code, second.status_code) == (200, 200)
    assert second.headers["idempotency-replayed"] == "true"
    assert second.json()["question"] == first.json()["question"]
    assert happened(agent, question["id"]) == ["question.asked", "question.answered"]


def test_another_answer_under_the_same_key_is_refused(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, CHOICE)
    answer(admin, question["id"], "pg", operationId="answer-twice")

    second = answer(admin, question["id"], "lite", operationId="answer-twice")

    assert problem(second) == (422, "idempotency_key_reused")


def test_the_history_tells_who_asked_and_who_answered_what(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, CHOICE)
    answered = ok(answer(admin, question["id"], "pg", text="we know it"))["question"]

    assert history(agent, question["id"]) == [
        {"sequence": 1, "type": "question.asked", "at": question["createdAt"], "askedBy": "agent"},
        {
            "sequence": 2,
            "type": "question.answered",
            "at": answered["respondedAt"],
            "response": {"type": "choice", "value": "postgresql", "text": "we know it"},
            "by": ADMIN,
        },
    ]


# who may


def test_an_agent_cannot_answer(agent: httpx2.Client) -> None:
    question = ask(agent)

    assert problem(answer(agent, question["id"], "main")) == (403, "scope_missing")


def test_a_person_cannot_answer_their_own_question(admin: httpx2.Client) -> None:
    question = ask(admin)

    refused = answer(admin, question["id"], "main")

    assert problem(refused) == (403, "not_a_responder")
    assert refused.json()["detail"] == "You asked this question; somebody else has to answer it."
    assert look(admin, question["id"])["status"] == "pending"


def test_a_key_of_an_agent_cannot_answer_even_as_admin(server: RunningServer, agent: httpx2.Client) -> None:
    question = ask(agent)

    with server.client(server.new_key("robot", "ask,admin")) as robot:
        refused = answer(robot, question["id"], "main")

    assert problem(refused) == (403, "not_a_responder")
    assert refused.json()["detail"] == "Agents do not answer questions; use a key that belongs to a person."


def test_an_admins_key_in_the_hands_of_a_member_opens_nothing(server: RunningServer, agent: httpx2.Client) -> None:
    question = ask(agent, APPROVAL)

    with server.client(server.new_key("bob", "answer,admin", "Bob")) as bob:
        refused = answer(bob, question["id"], True)

    assert problem(refused) == (404, "question_not_found")
    assert look(agent, question["id"]) == question


def test_to_a_member_who_may_not_answer_the_question_does_not_exist(
    agent: httpx2.Client, member: httpx2.Client
) -> None:
    question = ask(agent, APPROVAL)

    answers = [
        answer(member, question["id"], True),
        comment(member, question["id"], "what?"),
        member.get(f"/api/questions/{question['id']}"),
        member.get(f"/api/questions/{question['id']}/history"),
    ]

    assert [problem(refused) for refused in answers] == [(404, "question_not_found")] * 4
    listed = ok(member.get("/api/questions/pending", params={"limit": 200}))["questions"]
    assert question["id"] not in [other["id"] for other in listed]
    assert look(agent, question["id"]) == question


def test_to_another_agent_the_question_does_not_exist(agent: httpx2.Client, stranger: httpx2.Client) -> None:
    question = ask(agent)

    answers = [
        stranger.get(f"/api/questions/{question['id']}"),
        stranger.get(f"/api/questions/{question['id']}", params={"wait": 50}),
        stranger.get(f"/api/questions/{question['id']}/history"),
        cancel(stranger, question["id"]),
        comment(stranger, question["id"], "what?"),
    ]

    assert [problem(refused) for refused in answers] == [(404, "question_not_found")] * 5
    assert look(agent, question["id"]) == question


def test_answering_what_does_not_exist_is_404(admin: httpx2.Client) -> None:
    assert problem(answer(admin, "q_00000000000000000000000000", "main")) == (404, "question_not_found")


def test_a_second_key_of_the_same_person_answers_in_their_name(server: RunningServer, agent: httpx2.Client) -> None:
    question = ask(agent)

    with server.client(server.new_key("admin's phone", "answer", "Admin")) as phone:
        ok(answer(phone, question["id"], "main"))

    assert look(agent, question["id"])["outcome"]["decidedBy"] == ADMIN


# approvals


def test_an_approval_is_bound_to_what_was_shown(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, _EDITABLE)
    shown = b'{"arguments":{"count":5},"risk":"high","tool":"linear.create"}'

    outcome = ok(answer(admin, question["id"], True))["question"]["outcome"]

    assert outcome["actionDigest"] == question["action"]["digest"] == "sha256:" + hashlib.sha256(shown).hexdigest()
    assert "decidedDigest" not in outcome


def test_edited_arguments_come_back_with_their_own_digest(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, _EDITABLE)
    shown = b'{"arguments":{"count":5},"risk":"high","tool":"linear.create"}'
    edited = b'{"arguments":{"count":3,"due":null},"risk":"high","tool":"linear.create"}'

    ok(answer(admin, question["id"], True, arguments={"count": 3, "due": None}, text="three will do"))

    outcome = look(agent, question["id"])["outcome"]
    assert pick(outcome, "response", "reason", "actionDigest", "decidedDigest") == {
        "response": {
            "type": "approval",
            "value": True,
            "text": "three will do",
            "arguments": {"count": 3, "due": None},
        },
        "reason": "three will do",
        "actionDigest": "sha256:" + hashlib.sha256(shown).hexdigest(),
        "decidedDigest": "sha256:" + hashlib.sha256(edited).hexdigest(),
    }


# late answers


def test_a_late_answer_is_kept_and_decides_nothing(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, APPROVAL | {"timeoutMinutes": ONE_SECOND})
    expired = settled(agent, question["id"])

    refused = answer(admin, question["id"], True)
    late = answer(admin, question["id"], True, text="sorry", late=True)

    found = look(agent, question["id"])
    assert problem(refused) == (409, "question_expired")
    assert pick(refused.json(), "question", "outcome") == {"question": expired, "outcome": expired["outcome"]}
    assert refused.json()["outcome"]["decidedBy"] == DEADLINE
    assert late.status_code == 202
    assert late.json() == {"success": True, "jobResumed": False, "question": found}
    assert found == expired | {
        "version": 3,
        "lateAnswers": [
            {
                "response": {"type": "approval", "value": True, "text": "sorry"},
                "by": ADMIN,
                "at": found["lateAnswers"][0]["at"],
            }
        ],
    }
    assert happened(agent, question["id"]) == ["question.asked", "question.expired", "question.late_answer"]


def test_a_late_answer_has_to_fit_as_well(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, APPROVAL | {"timeoutMinutes": ONE_SECOND})
    settled(agent, question["id"])

    refused = answer(admin, question["id"], "yes", late=True)

    assert problem(refused) == (422, "question_invalid_answer")


def test_an_answer_marked_late_still_decides_an_open_question(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent)

    answered = answer(admin, question["id"], "main", late=True)

    assert ok(answered)["question"]["status"] == "answered"


@pytest.mark.parametrize("end", ["answered", "cancelled"])
def test_what_was_settled_by_somebody_takes_no_late_answer(
    agent: httpx2.Client, admin: httpx2.Client, end: str
) -> None:
    question = ask(agent)
    ok(answer(admin, question["id"], "main") if end == "answered" else cancel(agent, question["id"]))
    code = {"answered": "question_already_answered", "cancelled": "question_withdrawn"}[end]

    refused = answer(admin, question["id"], "trunk", late=True)

    assert problem(refused) == (409, code)
    assert look(agent, question["id"])["lateAnswers"] == []


# asking back


def test_asking_back_stops_the_clock_and_the_reply_starts_it_again(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, CHOICE)

    paused = ok(comment(admin, question["id"], "For which service?"))["question"]
    resumed = ok(comment(agent, question["id"], "The shop."))["question"]

    asked_back, replied = paused["comments"][0], resumed["comments"][1]
    left = _at(question["timeoutAt"]) - _at(asked_back["at"])
    assert asked_back == {"by": ADMIN, "text": "For which service?", "at": asked_back["at"], "askBack": True}
    assert replied == {"by": AGENT, "text": "The shop.", "at": replied["at"], "askBack": False}
    assert pick(paused, "status", "timeoutAt") == {"status": "pending", "timeoutAt": None}
    assert paused["clock"]["paused"] is True
    assert paused["clock"]["since"] == asked_back["at"]
    assert _at(paused["clock"]["until"]) - _at(asked_back["at"]) == timedelta(hours=24)
    assert paused["clock"]["remainingMinutes"] == pytest.approx(left / timedelta(minutes=1))
    assert resumed["clock"] == {"paused": False}
    assert _at(resumed["timeoutAt"]) == _at(replied["at"]) + left
    assert happened(agent, question["id"]) == ["question.asked", "question.asked_back", "question.commented"]


def test_a_paused_question_outlives_its_deadline(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, timeoutMinutes=2 * ONE_SECOND)
    ok(comment(admin, question["id"], "For which service?"))

    # Time itself has to pass here: longer than the question had.
    waited = ok(agent.get(f"/api/questions/{question['id']}", params={"wait": 2.5}))
    ok(comment(agent, question["id"], "The shop."))
    ended = settled(agent, question["id"])

    assert waited["status"] == "pending"
    assert pick(ended, "status", "outcome")["status"] == "timeout"
    assert happened(agent, question["id"]) == [
        "question.asked",
        "question.asked_back",
        "question.commented",
        "question.expired",
    ]


def test_asking_back_twice_keeps_the_first_pause(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, CHOICE)
    first = ok(comment(admin, question["id"], "For which service?"))["question"]

    second = ok(comment(admin, question["id"], "And for how long?"))["question"]

    assert second["clock"] == first["clock"]


def test_a_paused_question_can_be_answered(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, CHOICE)
    comment(admin, question["id"], "For which service?")

    answered = ok(answer(admin, question["id"], "pg"))["question"]

    assert pick(answered, "status", "clock") == {"status": "answered", "clock": {"paused": False}}


@pytest.mark.parametrize("who", ["asker", "responder who asks nothing"])
def test_a_plain_comment_leaves_the_clock_alone(agent: httpx2.Client, admin: httpx2.Client, who: str) -> None:
    question = ask(agent, CHOICE)
    extra: dict[str, Any] = {} if who == "asker" else {"askBack": False}

    said = ok(comment(agent if who == "asker" else admin, question["id"], "By the way.", **extra))["question"]

    assert pick(said, "clock", "timeoutAt") == {"clock": {"paused": False}, "timeoutAt": question["timeoutAt"]}
    assert [remark["askBack"] for remark in said["comments"]] == [False]


def test_the_same_comment_under_the_same_key_is_taken_once(agent: httpx2.Client) -> None:
    question = ask(agent)
    comment(agent, question["id"], "By the way.", operationId="comment-once")

    second = comment(agent, question["id"], "By the way.", operationId="comment-once")

    assert second.headers["idempotency-replayed"] == "true"
    assert [remark["text"] for remark in ok(second)["question"]["comments"]] == ["By the way."]


def test_a_settled_question_takes_no_comments(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent)
    answer(admin, question["id"], "main")

    assert problem(comment(agent, question["id"], "Thanks!")) == (409, "question_already_answered")


# cancelling


def test_cancelling_twice_is_cancelling_once(agent: httpx2.Client) -> None:
    question = ask(agent)
    first = ok(cancel(agent, question["id"], reason="found it"))["question"]

    second = ok(cancel(agent, question["id"], reason="another reason"))["question"]

    assert second == first
    assert pick(first, "status", "response", "respondedBy", "outcome") == {
        "status": "cancelled",
        "response": None,
        "respondedBy": None,
        "outcome": {
            "kind": "withdrawn",
            "response": None,
            "decidedBy": AGENT,
            "deciders": [],
            "decidedAt": first["outcome"]["decidedAt"],
            "reason": "found it",
        },
    }
    assert happened(agent, question["id"]) == ["question.asked", "question.withdrawn"]


def test_a_cancelled_question_refuses_answers_and_says_who_withdrew_it(
    agent: httpx2.Client, admin: httpx2.Client
) -> None:
    question = ask(agent)
    cancel(agent, question["id"])

    refused = answer(admin, question["id"], "main")

    assert problem(refused) == (409, "question_withdrawn")
    assert refused.json()["outcome"]["decidedBy"] == AGENT


def test_an_answered_question_cannot_be_cancelled(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent)
    answer(admin, question["id"], "main")

    refused = cancel(agent, question["id"])

    assert problem(refused) == (409, "question_already_answered")
    assert refused.json()["outcome"]["decidedBy"] == ADMIN


def test_the_admin_may_cancel_what_an_agent_asked(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent)

    cancelled = ok(cancel(admin, question["id"]))["question"]

    assert cancelled["outcome"]["decidedBy"] == ADMIN


def test_cancelling_needs_no_body(agent: httpx2.Client) -> None:
    question = ask(agent)

    response = agent.post(f"/api/questions/{question['id']}/cancel")

    assert ok(response)["question"]["status"] == "cancelled"
