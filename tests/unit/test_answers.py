"""Every answer shape with what fits it, what does not, and the sentence that says what would."""

import math

import pytest

from core.answers import (
    AnswerShape,
    AnswerValue,
    ApprovalShape,
    BooleanShape,
    ChoiceShape,
    FormShape,
    Invalid,
    MultiChoiceShape,
    NumberShape,
    Option,
    OptionValue,
    RawAnswer,
    TextShape,
    fit,
    options_of,
)
from core.ids import JsonObject, JsonValue

POSTGRES = Option("PostgreSQL", "pg", id="a")
SQLITE = Option("SQLite", "lite", id="b")
DATABASES = (POSTGRES, SQLITE)
NAME_FORM: JsonObject = {"type": "object", "properties": {"name": {"type": "string"}}}

CHOICE = ChoiceShape(DATABASES)
OPEN_CHOICE = ChoiceShape(DATABASES, allow_free_text=True)
CHOICES = MultiChoiceShape(DATABASES)
OPEN_CHOICES = MultiChoiceShape(DATABASES, allow_free_text=True)
SHIP_OR_HOLD = BooleanShape((Option("Ship it", True, id="go"), Option("Hold", False, id="stop")))

NO_TEXT = "Answer with a text that is not empty."
NO_BOOLEAN = "Answer with true or false."
NO_APPROVAL = "Answer an approval with true (approve) or false (reject)."
NO_NUMBER = "Answer with a number."
NO_LIST = "Answer with a list of one or more of “PostgreSQL” and “SQLite”."
NO_OBJECT = "Answer with an object that has the form's fields."


def _at_value(sentence: str) -> Invalid:
    return Invalid(sentence, "/response/value")


@pytest.mark.parametrize(
    ("shape", "given", "meant"),
    [
        (TextShape(), "PostgreSQL", "PostgreSQL"),
        (TextShape(), "  indented\nlines  ", "  indented\nlines  "),
        (TextShape(), "x" * 20_000, "x" * 20_000),
        (CHOICE, "pg", "pg"),
        (CHOICE, "a", "pg"),
        (CHOICE, "PostgreSQL", "pg"),
        (CHOICE, " postgresql ", "pg"),
        (CHOICE, "B", "lite"),
        (OPEN_CHOICE, "pg", "pg"),
        (OPEN_CHOICE, "SQLite", "lite"),
        (OPEN_CHOICE, "MySQL, we have it already", "MySQL, we have it already"),
        (CHOICES, ["pg"], ["pg"]),
        (CHOICES, ["b", "PostgreSQL"], ["lite", "pg"]),
        (CHOICES, ["pg", "a"], ["pg"]),
        (OPEN_CHOICES, ["pg", "MySQL"], ["pg", "MySQL"]),
        (OPEN_CHOICES, ["pg", "MySQL", "Oracle", "MySQL"], ["pg", "MySQL", "Oracle"]),
        (BooleanShape(), True, True),
        (BooleanShape(), False, False),
        (SHIP_OR_HOLD, False, False),
        (SHIP_OR_HOLD, "go", True),
        (SHIP_OR_HOLD, "Hold", False),
        (SHIP_OR_HOLD, "ship IT", True),
        (ApprovalShape(), True, True),
        (ApprovalShape(), False, False),
        (NumberShape(), 0, 0),
        (NumberShape(), -3, -3),
        (NumberShape(), 2.5, 2.5),
    ],
)
def test_a_reply_that_fits_becomes_the_answer_it_stands_for(
    shape: AnswerShape, given: JsonValue, meant: JsonValue
) -> None:
    assert fit(shape, RawAnswer(given)) == AnswerValue(meant)


@pytest.mark.parametrize(
    ("shape", "given", "sentence"),
    [
        (TextShape(), "", NO_TEXT),
        (TextShape(), " \n\t", NO_TEXT),
        (TextShape(), None, NO_TEXT),
        (TextShape(), 7, NO_TEXT),
        (TextShape(), True, NO_TEXT),
        (TextShape(), ["PostgreSQL"], NO_TEXT),
        (TextShape(), {"text": "PostgreSQL"}, NO_TEXT),
        (TextShape(), "x" * 20_001, "The answer is longer than 20,000 characters; shorten it."),
        (CHOICE, "MySQL", "“MySQL” is not an option. Pick one of “PostgreSQL” and “SQLite”."),
        (CHOICE, "", "“” is not an option. Pick one of “PostgreSQL” and “SQLite”."),
        (CHOICE, 1, "1 is not an option. Pick one of “PostgreSQL” and “SQLite”."),
        (
            OPEN_CHOICE,
            1,
            "1 is not an option. Pick one of “PostgreSQL” and “SQLite”, or write something else.",
        ),
        (OPEN_CHOICE, " ", NO_TEXT),
        (OPEN_CHOICE, "x" * 20_001, "The answer is longer than 20,000 characters; shorten it."),
        (CHOICES, [], NO_LIST),
        (CHOICES, "pg", NO_LIST),
        (CHOICES, None, NO_LIST),
        (CHOICES, {"pg": True}, NO_LIST),
        (CHOICES, ["pg", "MySQL"], "“MySQL” is not an option. Pick one of “PostgreSQL” and “SQLite”."),
        (CHOICES, ["pg", "lite", "pg"], "The list has more entries than there are options."),
        (OPEN_CHOICES, ["pg", " "], NO_TEXT),
        (OPEN_CHOICES, ["x"] * 103, "The list has more entries than there are options."),
        (BooleanShape(), "true", NO_BOOLEAN),
        (BooleanShape(), 1, NO_BOOLEAN),
        (BooleanShape(), None, NO_BOOLEAN),
        (SHIP_OR_HOLD, "maybe", NO_BOOLEAN),
        (ApprovalShape(), "approve", NO_APPROVAL),
        (ApprovalShape(), 1, NO_APPROVAL),
        (ApprovalShape(), None, NO_APPROVAL),
        (NumberShape(), "7", NO_NUMBER),
        (NumberShape(), True, NO_NUMBER),
        (NumberShape(), None, NO_NUMBER),
        (NumberShape(), math.nan, NO_NUMBER),
        (NumberShape(), math.inf, NO_NUMBER),
        (NumberShape(), -math.inf, NO_NUMBER),
        (FormShape(NAME_FORM), "Dana", NO_OBJECT),
        (FormShape(NAME_FORM), ["Dana"], NO_OBJECT),
        (FormShape(NAME_FORM), None, NO_OBJECT),
    ],
)
def test_a_reply_that_does_not_fit_is_told_what_would(shape: AnswerShape, given: JsonValue, sentence: str) -> None:
    assert fit(shape, RawAnswer(given)) == _at_value(sentence)


@pytest.mark.parametrize(
    "shape",
    [TextShape(), CHOICE, CHOICES, BooleanShape(), ApprovalShape(), NumberShape(), FormShape(NAME_FORM)],
)
def test_a_reply_of_another_type_is_refused(shape: AnswerShape) -> None:
    refused = fit(shape, RawAnswer("pg", type="verdict"))

    assert refused == Invalid(f"This question takes an answer of type {shape.type}, not “verdict”.", "/response/type")


@pytest.mark.parametrize(
    ("shape", "type_", "value"),
    [
        (TextShape(), "text", "yes"),
        (CHOICE, "choice", "pg"),
        (CHOICES, "multi_choice", ["pg"]),
        (BooleanShape(), "boolean", True),
        (ApprovalShape(), "approval", True),
        (NumberShape(), "number", 7),
    ],
)
def test_a_reply_may_name_the_type_of_the_question(shape: AnswerShape, type_: str, value: JsonValue) -> None:
    assert fit(shape, RawAnswer(value, type=type_)) == AnswerValue(value)


def test_a_form_is_answered_with_type_form() -> None:
    assert FormShape(NAME_FORM).type == "form"


def test_an_explanation_comes_with_the_answer() -> None:
    assert fit(CHOICE, RawAnswer("pg", "it is there already")) == AnswerValue("pg", "it is there already")


def test_an_empty_explanation_is_none() -> None:
    assert fit(CHOICE, RawAnswer("pg", "")) == AnswerValue("pg", None)


def test_an_explanation_of_20000_characters_is_kept() -> None:
    assert fit(BooleanShape(), RawAnswer(True, "x" * 20_000)) == AnswerValue(True, "x" * 20_000)


def test_a_longer_explanation_is_refused() -> None:
    refused = fit(BooleanShape(), RawAnswer(True, "x" * 20_001))

    assert refused == Invalid("The text is longer than 20,000 characters; shorten it.", "/response/text")


def test_an_approval_that_may_be_edited_takes_other_arguments() -> None:
    fitted = fit(ApprovalShape(editable=True), RawAnswer(True, "three are enough", {"count": 3}))

    assert fitted == AnswerValue(True, "three are enough", {"count": 3})


def test_edited_arguments_are_refused_where_editing_is_not_offered() -> None:
    refused = fit(ApprovalShape(), RawAnswer(True, None, {"count": 3}))

    assert refused == Invalid(
        "The arguments of this action may not be edited; approve or reject it as shown.", "/response/arguments"
    )


def test_edited_arguments_do_not_go_with_a_rejection() -> None:
    refused = fit(ApprovalShape(editable=True), RawAnswer(False, None, {"count": 3}))

    assert refused == Invalid("Edited arguments go with an approval, not with a rejection.", "/response/arguments")


@pytest.mark.parametrize("shape", [TextShape(), CHOICE, CHOICES, BooleanShape(), NumberShape(), FormShape(NAME_FORM)])
def test_only_an_approval_takes_edited_arguments(shape: AnswerShape) -> None:
    refused = fit(shape, RawAnswer("pg", None, {"count": 3}))

    assert refused == Invalid("Only an approval takes edited arguments.", "/response/arguments")


def test_an_exact_name_wins_over_one_that_differs_in_case() -> None:
    shape = ChoiceShape((Option("prod", "upper"), Option("PROD", "lower")))

    assert fit(shape, RawAnswer("PROD")) == AnswerValue("lower")


def test_a_name_that_fits_two_options_but_for_its_case_is_refused() -> None:
    shape = ChoiceShape((Option("prod", "one"), Option("PROD", "two")))

    assert fit(shape, RawAnswer("Prod")) == _at_value("“Prod” is not an option. Pick one of “prod” and “PROD”.")


def test_a_number_is_the_same_with_and_without_a_point() -> None:
    assert fit(ChoiceShape((Option("two", 2.0),)), RawAnswer(2)) == AnswerValue(2.0)


@pytest.mark.parametrize("value", [True, "1"])
def test_an_option_of_one_type_is_not_named_by_a_value_of_another(value: OptionValue) -> None:
    shape = ChoiceShape((Option("one", 1),))

    assert isinstance(fit(shape, RawAnswer(value)), Invalid)


@pytest.mark.parametrize("value", [7, 2.5, True, "seven"])
def test_an_option_may_stand_for_any_plain_value(value: OptionValue) -> None:
    shape = ChoiceShape((Option("Lucky", value),))

    assert fit(shape, RawAnswer("Lucky")) == AnswerValue(value)


def test_very_many_options_are_counted_in_the_refusal() -> None:
    shape = ChoiceShape(tuple(Option(f"o{number}", number) for number in range(1, 15)))

    assert fit(shape, RawAnswer("o15")) == _at_value(
        "“o15” is not an option. Pick one of “o1”, “o2”, “o3”, “o4”, “o5”, “o6”, “o7”, “o8”, “o9”, “o10”, “o11”, "
        "“o12” and 2 more."
    )


def test_an_option_is_called_by_value_then_id_then_label() -> None:
    assert POSTGRES.names == ("pg", "a", "PostgreSQL")


def test_an_option_without_id_is_called_by_value_then_label() -> None:
    assert Option("PostgreSQL", "pg").names == ("pg", "PostgreSQL")


@pytest.mark.parametrize("shape", [CHOICE, CHOICES, BooleanShape(DATABASES)])
def test_shapes_with_options_show_them(shape: AnswerShape) -> None:
    assert options_of(shape) == (POSTGRES, SQLITE)


@pytest.mark.parametrize("shape", [TextShape(), ApprovalShape(), NumberShape(), FormShape(NAME_FORM)])
def test_shapes_without_options_show_none(shape: AnswerShape) -> None:
    assert options_of(shape) == ()
