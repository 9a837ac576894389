"""Which schemas make a form that every surface can show, and what the others are told."""

import pytest

from core.forms import FormProblem, schema_problem
from core.ids import JsonObject, JsonValue


def form(**fields: JsonValue) -> JsonObject:
    return {"type": "object", "properties": fields}


def form_of(count: int) -> JsonObject:
    return {"type": "object", "properties": {f"field {number}": {"type": "boolean"} for number in range(count)}}


@pytest.mark.parametrize(
    "schema",
    [
        form(name={"type": "string"}),
        form(name={"type": "string", "title": "Name", "description": "yours", "minLength": 0, "maxLength": 80}),
        form(mail={"type": "string", "format": "email"}),
        form(link={"type": "string", "format": "uri"}),
        form(day={"type": "string", "format": "date"}),
        form(at={"type": "string", "format": "date-time"}),
        form(size={"type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Medium"]}),
        form(size={"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "m"}]}),
        form(share={"type": "number", "minimum": 0, "maximum": 1.5}),
        form(count={"type": "integer", "minimum": -1, "maximum": 9}),
        form(sure={"type": "boolean"}),
        form(tags={"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1, "maxItems": 2}),
        form(tags={"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}),
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "title": "Who",
            "description": "Who are you?",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
            "additionalProperties": False,
        },
        form_of(50),
    ],
)
def test_a_flat_schema_is_a_form(schema: JsonObject) -> None:
    assert schema_problem(schema) is None


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (
            {**form(name={"type": "string"}), "allOf": [], "$ref": "#/x"},
            FormProblem("A form's schema may not use “$ref” and “allOf”.", "/$ref"),
        ),
        (
            {"properties": {"name": {"type": "string"}}},
            FormProblem('A form\'s schema has "type": "object".', "/type"),
        ),
        (
            {"type": "array", "properties": {"name": {"type": "string"}}},
            FormProblem('A form\'s schema has "type": "object".', "/type"),
        ),
        ({"type": "object"}, FormProblem('A form has 1 to 50 fields under "properties".', "/properties")),
        (form(), FormProblem('A form has 1 to 50 fields under "properties".', "/properties")),
        (
            {"type": "object", "properties": ["name"]},
            FormProblem('A form has 1 to 50 fields under "properties".', "/properties"),
        ),
        (
            form_of(51),
            FormProblem('A form has 1 to 50 fields under "properties".', "/properties"),
        ),
        (
            {**form(name={"type": "string"}), "required": ["nmae"]},
            FormProblem('"required" lists names of the form\'s fields.', "/required"),
        ),
        (
            {**form(name={"type": "string"}), "required": "name"},
            FormProblem('"required" lists names of the form\'s fields.', "/required"),
        ),
        (
            {**form(name={"type": "string"}), "required": [1]},
            FormProblem('"required" lists names of the form\'s fields.', "/required"),
        ),
    ],
)
def test_a_schema_that_is_no_form_is_told_why(schema: JsonObject, problem: FormProblem) -> None:
    assert schema_problem(schema) == problem


ENTRIES = "lists the choices as strings (or, in anyOf and oneOf, as objects with const and title)."


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("string", "describe it with an object."),
        ({}, "its type is one of “string”, “number”, “integer”, “boolean” and “array”."),
        ({"type": "object"}, "its type is one of “string”, “number”, “integer”, “boolean” and “array”."),
        ({"type": ["string"]}, "its type is one of “string”, “number”, “integer”, “boolean” and “array”."),
        ({"type": "string", "pattern": "(a+)+$"}, "a field of type string may not use “pattern”."),
        ({"type": "string", "minimum": 1}, "a field of type string may not use “minimum”."),
        ({"type": "number", "minLength": 1, "enum": [1]}, "a field of type number may not use “enum” and “minLength”."),
        ({"type": "number", "multipleOf": 2}, "a field of type number may not use “multipleOf”."),
        ({"type": "boolean", "enum": [True]}, "a field of type boolean may not use “enum”."),
        ({"type": "string", "format": "regex"}, "its format is one of “email”, “uri”, “date” and “date-time”."),
        ({"type": "array"}, 'a list field names its choices under "items".'),
        ({"type": "array", "items": ["a"]}, 'a list field names its choices under "items".'),
        (
            {"type": "array", "items": {"type": "string"}},
            'a list field names its choices under "items", with "enum" or "anyOf".',
        ),
        ({"type": "array", "items": {"properties": {}}}, "its items may not use “properties”."),
        ({"type": "array", "items": {"type": "number", "enum": ["1"]}}, "its items are strings."),
        ({"type": "string", "enum": []}, "enum " + ENTRIES),
        ({"type": "string", "enum": "a"}, "enum " + ENTRIES),
        ({"type": "string", "enum": ["a", 1]}, "enum " + ENTRIES),
        ({"type": "string", "oneOf": ["a"]}, "oneOf " + ENTRIES),
        ({"type": "string", "oneOf": [{"title": "A"}]}, "oneOf " + ENTRIES),
        ({"type": "string", "oneOf": [{"const": "a", "title": 1}]}, "oneOf " + ENTRIES),
        ({"type": "string", "oneOf": [{"const": "a", "$ref": "#"}]}, "oneOf " + ENTRIES),
        ({"type": "array", "items": {"anyOf": [{"const": 1}]}}, "anyOf " + ENTRIES),
        ({"type": "string", "title": 1}, "title is a text."),
        ({"type": "string", "description": ["a"]}, "description is a text."),
        ({"type": "string", "minLength": -1}, "minLength is a whole number, 0 or more."),
        ({"type": "string", "maxLength": 1.5}, "maxLength is a whole number, 0 or more."),
        ({"type": "string", "maxLength": True}, "maxLength is a whole number, 0 or more."),
        (
            {"type": "array", "items": {"enum": ["a"]}, "minItems": "1"},
            "minItems is a whole number, 0 or more.",
        ),
        ({"type": "array", "items": {"enum": ["a"]}, "maxItems": -2}, "maxItems is a whole number, 0 or more."),
        ({"type": "number", "minimum": "1"}, "minimum is a number."),
        ({"type": "integer", "maximum": True}, "maximum is a number."),
    ],
)
def test_a_field_that_some_surface_could_not_show_is_refused(field: JsonValue, sentence: str) -> None:
    problem = schema_problem(form(answer=field))

    assert problem == FormProblem(f"Field “answer”: {sentence}", "/properties/answer")


def test_the_first_field_that_will_not_do_is_named() -> None:
    problem = schema_problem(form(fine={"type": "boolean"}, first={"type": "x"}, second={"type": "y"}))

    assert problem is not None
    assert problem.pointer == "/properties/first"
