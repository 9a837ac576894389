"""Form fields as every surface draws them."""

from core.fields import Field, FieldKind, fields_of, form_answer, number_from
from core.forms import form_problem, schema_problem
from core.ids import JsonObject

_SCHEMA: JsonObject = {
    "type": "object",
    "required": ["name", "regions"],
    "properties": {
        "name": {"type": "string", "title": "Company", "description": "As on the invoice", "minLength": 2},
        "mail": {"type": "string", "format": "email"},
        "plan": {"type": "string", "enum": ["t", "b"], "enumNames": ["Team", "Business"], "default": "t"},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l"}]},
        "seats": {"type": "integer", "minimum": 1, "maximum": 9},
        "share": {"type": "number"},
        "trial": {"type": "boolean"},
        "regions": {"type": "array", "items": {"anyOf": [{"const": "eu", "title": "Europe"}]}, "maxItems": 2},
    },
}


def test_a_field_tells_all_that_is_needed_to_draw_it() -> None:
    assert schema_problem(_SCHEMA) is None
    name, mail, plan, size, seats, share, trial, regions = fields_of(_SCHEMA)
    assert name == Field("name", FieldKind.TEXT, "Company", True, "As on the invoice", least=2)
    assert (mail.format, mail.label) == ("email", "mail")
    assert (plan.kind, plan.choices, plan.default) == (FieldKind.ONE_OF, (("t", "Team"), ("b", "Business")), "t")
    assert size.choices == (("s", "Small"), ("l", "l"))
    assert (seats.kind, seats.least, seats.most) == (FieldKind.INTEGER, 1, 9)
    assert (share.kind, trial.kind) == (FieldKind.NUMBER, FieldKind.YES_NO)
    assert (regions.kind, regions.choices, regions.required) == (FieldKind.SOME_OF, (("eu", "Europe"),), True)


def test_what_was_typed_becomes_json_of_the_right_types() -> None:
    typed = {"name": ["Acme"], "seats": ["4"], "share": ["1.5"], "trial": ["true"], "regions": ["eu"], "mail": [""]}
    answer = form_answer(fields_of(_SCHEMA), typed)
    assert answer == {"name": "Acme", "seats": 4, "share": 1.5, "trial": True, "regions": ["eu"]}
    assert form_problem(_SCHEMA, answer) is None


def test_what_is_no_number_is_found_by_the_schema_and_not_lost() -> None:
    answer = form_answer(fields_of(_SCHEMA), {"name": ["Acme"], "regions": ["eu"], "seats": ["four"]})
    problem = form_problem(_SCHEMA, answer)
    assert answer["seats"] == "four"
    assert problem is not None
    assert "seats" in problem.sentence


def test_numbers_are_read_as_they_are_written() -> None:
    assert [number_from(text) for text in ("3", " 4 ", "2.5", "1e3", "x", "")] == [3, 4, 2.5, 1000.0, "x", ""]
