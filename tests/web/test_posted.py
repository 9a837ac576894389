"""From what a form sends to the answer it stands for."""

from typing import Any
from urllib.parse import urlencode

import pytest

from adapters.web.posted import Posted, answer_from
from core.answers import (
    AnswerShape,
    ApprovalShape,
    BooleanShape,
    ChoiceShape,
    FormShape,
    Invalid,
    MultiChoiceShape,
    NumberShape,
    Option,
    RawAnswer,
    TextShape,
)
from core.ids import JsonObject

_OPTIONS = (Option("PostgreSQL", "pg"), Option("SQLite", "lite"))


def posted(*pairs: tuple[str, str]) -> Posted:
    return Posted.from_body(urlencode(pairs).encode())


@pytest.mark.parametrize(
    ("shape", "pairs", "value"),
    [
        (TextShape(), [("value", "line one\r\nline two")], "line one\nline two"),
        (BooleanShape(), [("value", "true")], True),
        (BooleanShape(), [("value", "false")], False),
        (NumberShape(), [("value", "3")], 3),
        (NumberShape(), [("value", "2.5")], 2.5),
        (NumberShape(), [("value", "many")], "many"),
        (ApprovalShape(), [("value", "true")], True),
        (ApprovalShape(), [("value", "false")], False),
        (ChoiceShape(_OPTIONS), [("option", "1")], "lite"),
        (ChoiceShape(_OPTIONS, True), [("option", "free"), ("free", "DuckDB")], "DuckDB"),
        (ChoiceShape(_OPTIONS, True), [("option", "0"), ("free", "")], "pg"),
        (MultiChoiceShape(_OPTIONS), [("option", "0"), ("option", "1")], ["pg", "lite"]),
        (MultiChoiceShape(_OPTIONS, True), [("option", "0"), ("option", "free"), ("free", "Oracle")], ["pg", "Oracle"]),
    ],
)
def test_each_shape_reads_its_own_form(shape: AnswerShape, pairs: list[tuple[str, str]], value: Any) -> None:
    found = answer_from(shape, posted(*pairs, ("text", "because")))
    assert found == RawAnswer(value, "because")


def test_a_form_is_read_by_its_schema() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "seats": {"type": "integer"},
            "share": {"type": "number"},
            "trial": {"type": "boolean"},
            "plan": {"type": "string", "enum": ["team", "business"]},
            "regions": {"type": "array", "items": {"enum": ["eu", "us"]}},
            "note": {"type": "string"},
        },
    }
    sent = posted(
        *(("f.name", "Acme"), ("f.seats", "25"), ("f.share", "0.5"), ("f.trial", "false"), ("f.plan", "team")),
        *(("f.regions", "eu"), ("f.regions", "us"), ("f.note", "  "), ("f.unknown", "x")),
    )
    found = answer_from(FormShape(schema), sent)
    assert isinstance(found, RawAnswer)
    assert found.value == {
        **{"name": "Acme", "seats": 25, "share": 0.5, "trial": False, "plan": "team"},
        "regions": ["eu", "us"],
    }


def test_edited_arguments_go_with_an_approval_and_not_with_a_rejection() -> None:
    approved = answer_from(ApprovalShape(True), posted(("value", "true"), ("arguments", '{"region": "us"}')))
    rejected = answer_from(ApprovalShape(True), posted(("value", "false"), ("arguments", '{"region": "us"}')))
    assert approved == RawAnswer(True, None, {"region": "us"})
    assert rejected == RawAnswer(False)


@pytest.mark.parametrize("text", ["{", "[]", "3", '{"a": NaN}', "[" * 100_000])
def test_arguments_that_are_no_json_object_are_told_so(text: str) -> None:
    found = answer_from(ApprovalShape(True), posted(("value", "true"), ("arguments", text)))
    assert isinstance(found, Invalid)
    assert "edited arguments" in found.sentence


@pytest.mark.parametrize(
    ("shape", "pairs"),
    [
        (ApprovalShape(), []),
        (ApprovalShape(), [("value", "maybe")]),
        (ChoiceShape(_OPTIONS), []),
        (ChoiceShape(_OPTIONS), [("option", "2")]),
        (ChoiceShape(_OPTIONS), [("option", "-1")]),
        (ChoiceShape(_OPTIONS), [("option", "²")]),
    ],
)
def test_a_form_that_says_nothing_decides_nothing(shape: AnswerShape, pairs: list[tuple[str, str]]) -> None:
    assert isinstance(answer_from(shape, posted(*pairs)), Invalid)


@pytest.mark.parametrize("body", [b"value=%FF", b"\xff", b"value=a%00b", b"&".join(b"a=%d" % n for n in range(2000))])
def test_what_no_form_of_ours_sends_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        Posted.from_body(body)
