"""What people do to a question in these tests, and the JSON that results."""

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]

ASKED_AT = "2026-11-18T08:00:00.000Z"
DECIDED_AT = "2026-11-18T09:00:00.000Z"
DANA = {"type": "person", "id": "p_1", "name": "Dana", "surface": "slack"}


def problem(status: int, detail: str, code: str = "broken", **extra: Any) -> Json:
    return {"type": "about:blank", "title": "Refused", "status": status, "detail": detail, "code": code, **extra}


class PersonActs:
    """Acts that settle a question, as methods to call or as acts for the next poll."""

    def answer(self, question: Json, value: Any, *, text: str | None = None, **response: Any) -> None:
        given = {"type": question["responseType"], "value": value, **response}
        if text is not None:
            given["text"] = text
        _settle(question, "answered", "answered", DANA, response=given)

    def withdraw(self, question: Json, *, reason: str | None = None) -> None:
        _settle(question, "cancelled", "withdrawn", {"type": "asker", "name": "builder"}, reason=reason)

    def expire(self, question: Json) -> None:
        _settle(question, "timeout", "expired", {"type": "deadline"})

    def let_default_stand(self, question: Json) -> None:
        _settle(question, "timeout", "defaulted", {"type": "default"}, response=question["defaultResponse"])


def answering(value: Any, **more: Any) -> Callable[[Json], None]:
    return lambda question: PersonActs().answer(question, value, **more)


def asking_back(text: str) -> Callable[[Json], None]:
    return lambda question: question["comments"].append(
        {"by": {"type": "person", "name": "Dana"}, "text": text, "at": ASKED_AT, "askBack": True}
    )


def _settle(question: Json, status: str, kind: str, decided_by: Json, **members: Any) -> None:
    question["status"] = status
    question["outcome"] = {"kind": kind, "decidedBy": decided_by, "decidedAt": DECIDED_AT, **members}
