"""Answers to forms: what fits, and the sentence for what does not."""

import pytest

from core.answers import AnswerValue, FormShape, Invalid, RawAnswer, fit
from core.forms import FormProblem, form_problem, schema_problem
from core.ids import JsonObject, JsonValue


def form(**fields: JsonValue) -> JsonObject:
    return {"type": "object", "properties": fields}


TEXT: JsonObject = {"type": "string"}
WHO: JsonObject = {**form(name=TEXT, age={"type": "integer"}), "required": ["name", "age"]}


@pytest.mark.parametrize(
    ("field", "answer"),
    [
        ({"type": "string", "minLength": 2, "maxLength": 3}, "ab"),
        ({"type": "string", "minLength": 2, "maxLength": 3}, "abc"),
        ({"type": "string", "format": "email"}, "dana@example.org"),
        ({"type": "string", "format": "uri"}, "https://example.org/x"),
        ({"type": "string", "format": "date"}, "2026-03-01"),
        ({"type": "string", "format": "date-time"}, "2026-03-01T12:00:00Z"),
        ({"type": "string", "enum": ["s", "m"]}, "m"),
        ({"type": "string", "oneOf": [{"const": "s", "title": "Small"}]}, "s"),
        ({"type": "number", "minimum": 0, "maximum": 1}, 0),
        ({"type": "number", "minimum": 0, "maximum": 1}, 1),
        ({"type": "integer"}, 7),
        ({"type": "boolean"}, False),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1, "maxItems": 2}, ["a", "b"]),
    ],
)
def test_a_value_that_fits_its_field_is_taken(field: JsonValue, answer: JsonValue) -> None:
    assert form_problem(form(answer=field), {"answer": answer}) is None


def test_a_field_that_is_not_required_may_be_left_out() -> None:
    assert form_problem(form(name=TEXT), {}) is None


@pytest.mark.parametrize(
    ("field", "answer", "sentence"),
    [
        (TEXT, 7, "“answer” must be of type string."),
        ({"type": "number"}, "7", "“answer” must be of type number."),
        ({"type": "number"}, True, "“answer” must be of type number."),
        ({"type": "integer"}, 1.5, "“answer” must be of type integer."),
        ({"type": "boolean"}, "true", "“answer” must be of type boolean."),
        ({"type": "array", "items": {"enum": ["a"]}}, "a", "“answer” must be of type array."),
        ({"type": "string", "minLength": 2}, "a", "“answer” must have at least 2 characters."),
        ({"type": "string", "maxLength": 2}, "abc", "“answer” must have at most 2 characters."),
        ({"type": "string", "format": "email"}, "dana", "“answer” must be a valid email."),
        ({"type": "string", "format": "uri"}, "not a uri", "“answer” must be a valid uri."),
        ({"type": "string", "format": "date"}, "1 March", "“answer” must be a valid date."),
        ({"type": "string", "format": "date-time"}, "2026-03-01", "“answer” must be a valid date-time."),
        ({"type": "string", "enum": ["s", "m"]}, "xl", "“answer” must be one of “s” and “m”."),
        (
            {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "m"}]},
            "xl",
            "“answer” must be one of “s” and “m”.",
        ),
        ({"type": "number", "minimum": 0.5}, 0, "“answer” must be at least 0.5."),
        ({"type": "integer", "maximum": 9}, 10, "“answer” must be at most 9."),
        ({"type": "array", "items": {"enum": ["a"]}, "minItems": 1}, [], "“answer” must have at least 1 entries."),
        (
            {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1},
            ["a", "b"],
            "“answer” must have at most 1 entries.",
        ),
    ],
)
def test_a_value_that_does_not_fit_its_field_is_told_what_would(
    field: JsonValue, answer: JsonValue, sentence: str
) -> None:
    assert form_problem(form(answer=field), {"answer": answer}) == FormProblem(sentence, "/answer")


@pytest.mark.parametrize("items", [{"enum": ["a", "b"]}, {"anyOf": [{"const": "a"}, {"const": "b", "title": "B"}]}])
def test_an_entry_that_is_no_choice_is_pointed_at(items: JsonObject) -> None:
    problem = form_problem(form(tags={"type": "array", "items": items}), {"tags": ["a", "c"]})

    assert problem == FormProblem("“tags” must be one of “a” and “b”.", "/tags/1")


def test_missing_fields_are_all_named() -> None:
    assert form_problem(WHO, {}) == FormProblem("“name” and “age” must be filled in.", "")


def test_a_field_the_form_does_not_have_is_refused() -> None:
    problem = form_problem(form(name=TEXT, age={"type": "integer"}), {"nmae": "Dana"})

    assert problem == FormProblem("The form has no field “nmae”; its fields are “name” and “age”.", "")


def test_a_form_cannot_be_opened_to_other_fields() -> None:
    problem = form_problem({**form(name=TEXT), "additionalProperties": True}, {"nmae": "Dana"})

    assert problem == FormProblem("The form has no field “nmae”; its fields are “name”.", "")


def test_an_answer_that_fills_in_the_form_fits() -> None:
    fitted = fit(FormShape(WHO), RawAnswer({"name": "Dana", "age": 40}))

    assert fitted == AnswerValue({"name": "Dana", "age": 40})


def test_the_refusal_points_into_the_response() -> None:
    refused = fit(FormShape(WHO), RawAnswer({"name": "Dana", "age": "40"}))

    assert refused == Invalid("“age” must be of type integer.", "/response/value/age")


def test_a_refusal_about_the_whole_form_points_at_the_value() -> None:
    refused = fit(FormShape(WHO), RawAnswer({"age": 40}))

    assert refused == Invalid("“name” must be filled in.", "/response/value")


def test_a_fields_default_that_fits_is_fine() -> None:
    assert schema_problem(form(count={"type": "integer", "default": 3})) is None


def test_a_fields_default_that_does_not_fit_is_refused_when_asking() -> None:
    problem = schema_problem(form(count={"type": "integer", "default": "three"}))

    assert problem is not None
    assert problem.pointer == "/properties/count"
