"""What a person types becomes the answer's JSON value."""

import pytest
from handraise.values import json_object, value_for


@pytest.mark.parametrize(
    ("shape", "typed", "value"),
    [
        ("text", " as it is ", " as it is "),
        ("choice", "PostgreSQL", "PostgreSQL"),
        ("choice", "3", "3"),
        ("multi_choice", "a, b,,c", ["a", "b", "c"]),
        ("multi_choice", '["a, b", 3]', ["a, b", 3]),
        ("multi_choice", "", []),
        ("boolean", "Yes", True),
        ("boolean", "n", False),
        ("approval", "approve", True),
        ("approval", "APPROVED", True),
        ("approval", "y", True),
        ("approval", "rejected", False),
        ("approval", "no", False),
        ("number", "3", 3),
        ("number", "-2.5", -2.5),
        ("form", '{"name": "x", "n": 1}', {"name": "x", "n": 1}),
    ],
)
def test_a_fitting_answer_is_converted(shape: str, typed: str, value: object) -> None:
    assert value_for(shape, typed) == value


@pytest.mark.parametrize(
    ("shape", "typed", "advice"),
    [
        ("boolean", "maybe", "write yes, y or true"),
        ("approval", "ok", "write approve, yes or y"),
        ("approval", "", "write approve"),
        ("number", "true", "such as 3 or 2.5"),
        ("number", "NaN", "such as 3 or 2.5"),
        ("number", "1e999", "such as 3 or 2.5"),
        ("multi_choice", "[1", "separated by commas"),
        ("form", "[]", "must be a JSON object"),
        ("form", "name=x", "must be a JSON object"),
        ("hologram", "x", "does not know the answer shape"),
    ],
)
def test_an_unfitting_answer_is_refused_with_what_would_fit(shape: str, typed: str, advice: str) -> None:
    with pytest.raises(ValueError, match=advice):
        value_for(shape, typed)


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": Infinity}', "[" * 100_000, '"text"'])
def test_only_standard_json_objects_pass(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        json_object(text)
