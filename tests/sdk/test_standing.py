"""How a question stands, who decided, and which exit code that is."""

from typing import Any

import pytest
from handraise.cli.exit_codes import exit_code_for, exit_code_for_failure, exit_code_for_lost
from handraise.credentials import CredentialsError
from handraise.errors import (
    AuthError,
    Conflict,
    HandraiseError,
    InvalidArgument,
    InvalidRequest,
    NotFound,
    RateLimited,
    ServerFailure,
    UnexpectedReply,
    Unreachable,
)
from handraise.question import Decider, Question, Standing


def settled(
    status: str, kind: str | None, value: Any = None, shape: str = "text", type_: str = "blocking", **more: Any
) -> Question:
    outcome = None
    if kind is not None:
        by = {"type": "person" if kind == "answered" else "default", "name": "Dana"}
        outcome = {"kind": kind, "response": {"type": shape, "value": value}, "decidedBy": by}
    json = {"id": "q_1", "status": status, "outcome": outcome, "responseType": shape, "type": type_, **more}
    return Question.from_json(json)


@pytest.mark.parametrize(
    ("question", "expected", "exit_code"),
    [
        (settled("pending", None), Standing.OPEN, 75),
        (settled("answered", "answered", "pg"), Standing.ANSWERED, 0),
        (settled("answered", "answered", False, "boolean"), Standing.ANSWERED, 0),
        (settled("answered", "answered", False, "boolean", "approval"), Standing.REJECTED, 1),
        (settled("answered", "answered", True, "approval"), Standing.APPROVED, 0),
        (settled("answered", "answered", False, "approval"), Standing.REJECTED, 1),
        (settled("timeout", "defaulted", "pg"), Standing.DEFAULTED, 0),
        (settled("timeout", "expired"), Standing.EXPIRED, 4),
        (settled("timeout", None), Standing.EXPIRED, 4),
        (settled("cancelled", "withdrawn"), Standing.WITHDRAWN, 3),
        (settled("cancelled", None), Standing.WITHDRAWN, 3),
    ],
)
def test_every_state_has_its_standing_and_exit_code(question: Question, expected: Standing, exit_code: int) -> None:
    assert question.standing is expected
    assert exit_code_for(expected) == exit_code


@pytest.mark.parametrize("value", ["true", 1, None, "approved", {}])
def test_only_the_exact_value_true_approves(value: object) -> None:
    assert settled("answered", "answered", value, "approval").standing is Standing.REJECTED


@pytest.mark.parametrize("decided_by", [None, {}, {"type": "asker"}, {"type": "default"}, {"type": "deadline"}])
def test_an_approval_by_nobody_who_can_approve_is_not_understood(decided_by: Any) -> None:
    question = settled("answered", "answered", True, "approval")
    question.json["outcome"]["decidedBy"] = decided_by

    with pytest.raises(UnexpectedReply, match="no approval"):
        _ = question.is_approved


def test_a_default_that_rejects_is_marked_as_default() -> None:
    question = settled("timeout", "defaulted", False, "approval")

    assert (question.standing, question.is_default, question.value) == (Standing.REJECTED, True, False)


def test_a_default_never_approves() -> None:
    question = settled("timeout", "defaulted", True, "approval")

    assert question.standing is Standing.EXPIRED
    assert not question.is_approved
    assert question.value is None


def test_an_open_non_blocking_question_offers_its_default_and_says_so() -> None:
    default = {"type": "text", "value": "main"}
    question = settled("pending", None, type_="non_blocking", defaultResponse=default)

    assert (question.value, question.is_default, question.standing) == ("main", True, Standing.OPEN)


def test_a_default_of_an_open_approval_is_never_offered() -> None:
    default = {"type": "approval", "value": True}
    question = settled("pending", None, shape="approval", type_="non_blocking", defaultResponse=default)

    assert (question.value, question.is_default) == (None, False)


def test_a_yes_to_a_plain_question_approves_nothing() -> None:
    question = settled("answered", "answered", True, "boolean")

    assert (question.value, question.is_approved) == (True, False)


def test_an_answer_is_not_a_default() -> None:
    question = settled("answered", "answered", "dev", defaultResponse={"type": "text", "value": "main"})

    assert (question.value, question.is_default) == ("dev", False)


@pytest.mark.parametrize(
    ("given", "arguments", "is_changed"),
    [({}, {"n": 5}, False), ({"arguments": {"n": 3}}, {"n": 3}, True), ({"arguments": {}}, {}, True)],
)
def test_the_approved_arguments_are_those_the_person_left(given: Any, arguments: Any, is_changed: bool) -> None:
    response = {"type": "approval", "value": True, **given}
    outcome = {"kind": "answered", "response": response, "decidedBy": {"type": "person"}}
    question = settled("answered", "answered", shape="approval", action={"arguments": {"n": 5}})
    question.json["outcome"] = outcome

    assert (question.arguments, question.has_changed_arguments) == (arguments, is_changed)


@pytest.mark.parametrize("json", [{}, {"status": "done"}, {"status": ["answered"]}, {"status": "ANSWERED"}])
def test_a_status_this_client_does_not_know_is_never_read_as_an_answer(json: Any) -> None:
    with pytest.raises(UnexpectedReply):
        _ = Question("q_1", json).standing


def test_a_status_that_contradicts_its_outcome_is_refused() -> None:
    with pytest.raises(UnexpectedReply):
        _ = settled("timeout", "answered").standing


@pytest.mark.parametrize("json", [None, [], {}, {"id": 3}, {"id": ""}, {"id": "q_1; rm x"}, {"id": "q_1\n"}])
def test_what_has_no_plain_id_is_not_a_question(json: object) -> None:
    with pytest.raises(UnexpectedReply):
        Question.from_json(json)


@pytest.mark.parametrize(
    ("decided_by", "words"),
    [
        ({"type": "person", "name": "Dana", "surface": "slack"}, "Dana on slack"),
        ({"type": "person", "id": "p_1"}, "p_1"),
        ({"type": "default", "name": "x"}, "the default"),
        ({"type": "deadline"}, "the deadline"),
        ({"type": "asker"}, "the asker"),
        ({"type": "rule", "name": "deploys at night"}, "the rule deploys at night"),
        ({"type": "rule"}, "a rule"),
        ({}, "somebody"),
    ],
)
def test_the_decider_is_named(decided_by: Any, words: str) -> None:
    assert str(Decider.from_json(decided_by)) == words


@pytest.mark.parametrize(
    ("failure", "exit_code"),
    [
        (AuthError(401, {}), 77),
        (AuthError(403, {}), 77),
        (NotFound(404, {}), 2),
        (Conflict(409, {}), 2),
        (InvalidRequest(422, {}), 2),
        (InvalidArgument("no"), 2),
        (CredentialsError("none"), 2),
        (RateLimited(429, {}), 69),
        (ServerFailure(500, {}), 69),
        (Unreachable("away"), 69),
        (UnexpectedReply("html"), 69),
    ],
)
def test_every_failure_has_its_exit_code(failure: HandraiseError, exit_code: int) -> None:
    assert exit_code_for_failure(failure) == exit_code


@pytest.mark.parametrize(
    ("standing", "exit_code"),
    [
        (Standing.ANSWERED, 1),
        (Standing.APPROVED, 1),
        (Standing.REJECTED, 1),
        (Standing.WITHDRAWN, 3),
        (Standing.EXPIRED, 4),
        (Standing.DEFAULTED, 4),
    ],
)
def test_coming_too_late_never_looks_like_success(standing: Standing, exit_code: int) -> None:
    assert exit_code_for_lost(standing) == exit_code
