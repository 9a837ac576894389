"""How a question stands, who decided, and which exit code that is."""

from typing import Any

import pytest
from handraise.cli.exit_codes import exit_code_for, exit_code_for_failure
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
from handraise.question import Standing, decider, standing


def settled(status: str, kind: str | None, value: Any = None, shape: str = "text", type_: str = "blocking") -> Any:
    outcome = None if kind is None else {"kind": kind, "response": {"type": shape, "value": value}}
    return {"status": status, "outcome": outcome, "responseType": shape, "type": type_}


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
def test_every_state_has_its_standing_and_exit_code(question: Any, expected: Standing, exit_code: int) -> None:
    assert standing(question) is expected
    assert exit_code_for(expected) == exit_code


@pytest.mark.parametrize("value", ["true", 1, None, "approved", {}])
def test_only_the_exact_value_true_approves(value: object) -> None:
    assert standing(settled("answered", "answered", value, "approval")) is Standing.REJECTED


def test_a_default_never_approves() -> None:
    assert standing(settled("timeout", "defaulted", True, "approval")) is Standing.EXPIRED


@pytest.mark.parametrize("question", [{}, {"status": "done"}, settled("timeout", "answered"), {"status": ["answered"]}])
def test_a_state_this_client_does_not_know_is_never_read_as_an_answer(question: Any) -> None:
    with pytest.raises(UnexpectedReply):
        standing(question)


@pytest.mark.parametrize(
    ("decided_by", "words"),
    [
        ({"type": "person", "name": "Dana", "surface": "slack"}, "Dana on slack"),
        ({"type": "person", "id": "p_1"}, "p_1"),
        ({"type": "default", "name": "x"}, "the default"),
        ({"type": "deadline"}, "the deadline"),
        ({"type": "asker"}, "the asker"),
        ({}, "somebody"),
    ],
)
def test_the_decider_is_named(decided_by: Any, words: str) -> None:
    assert decider({"outcome": {"decidedBy": decided_by}}) == words


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
