"""The options of a draft: what they are called and what is too much."""

import pytest

from core.answers import (
    ChoiceShape,
    Option,
)
from core.asking import DraftOption
from core.refusals import Reason, Unacceptable
from tests.support.builders import composed, draft, refused


@pytest.mark.parametrize(
    ("sent", "value"),
    [
        (DraftOption("PostgreSQL", "pg", id="a"), "pg"),
        (DraftOption("PostgreSQL", id="a"), "a"),
        (DraftOption("PostgreSQL"), "PostgreSQL"),
        (DraftOption("Off", False, id="a"), False),
        (DraftOption("None", 0), 0),
        (DraftOption("Empty", ""), ""),
    ],
)
def test_the_value_of_an_option_is_its_value_else_its_id_else_its_label(sent: DraftOption, value: object) -> None:
    shape = composed(draft(options=(sent,))).shape

    assert isinstance(shape, ChoiceShape)
    assert [option.value for option in shape.options] == [value]


def test_everything_said_about_an_option_is_kept() -> None:
    sent = DraftOption("A", 1, "a", "first", True, "none", ("fast",), ("dear",))

    assert composed(draft(options=(sent,))).shape == ChoiceShape(
        (
            Option(
                "A",
                1,
                id="a",
                description="first",
                recommended=True,
                implications="none",
                pros=("fast",),
                cons=("dear",),
            ),
        )
    )


@pytest.mark.parametrize(
    ("second", "name"),
    [
        (DraftOption("A"), "“A”"),
        (DraftOption("B", "A"), "“A”"),
        (DraftOption("B", id="A"), "“A”"),
        (DraftOption("B", "one"), "“one”"),
        (DraftOption("B", id="first"), "“first”"),
    ],
)
def test_two_options_with_one_name_are_refused(second: DraftOption, name: str) -> None:
    options = (DraftOption("C"), DraftOption("A", "one", id="first"), second)

    assert refused(draft(options=options)) == Unacceptable(
        Reason.OPTION_DUPLICATE, f"Options 2 and 3 are both called {name}; name them apart.", "/options/2"
    )


def test_one_option_may_use_the_same_word_for_id_value_and_label() -> None:
    made = composed(draft(options=(DraftOption("a", "a", id="a"),)))

    assert made.shape == ChoiceShape((Option("a", "a", id="a"),))


def test_an_option_without_label_is_refused() -> None:
    assert refused(draft(options=(DraftOption("A"), DraftOption(" ")))) == Unacceptable(
        Reason.TEXT_EMPTY, "Option 2 has no label.", "/options/1/label"
    )


def test_a_label_longer_than_200_characters_is_refused() -> None:
    assert refused(draft(options=(DraftOption("x" * 201),))) == Unacceptable(
        Reason.TEXT_TOO_LONG,
        "The label of option 1 is longer than 200 characters; use its description.",
        "/options/0/label",
    )


@pytest.mark.parametrize(
    "option",
    [
        DraftOption("A", description="x" * 4_001),
        DraftOption("A", implications="x" * 4_001),
        DraftOption("A", pros=("fast", "x" * 4_001)),
        DraftOption("A", cons=("x" * 4_001,)),
    ],
    ids=["description", "implications", "pros", "cons"],
)
def test_a_note_longer_than_4000_characters_is_refused(option: DraftOption) -> None:
    assert refused(draft(options=(option,))) == Unacceptable(
        Reason.TEXT_TOO_LONG, "A note on option 1 is longer than 4,000 characters; shorten it.", "/options/0"
    )


def test_labels_notes_and_options_may_be_as_long_as_their_limits() -> None:
    first = DraftOption("x" * 200, description="x" * 4_000)
    options = (first, *(DraftOption(f"o{number}") for number in range(99)))

    shape = composed(draft(options=options)).shape

    assert isinstance(shape, ChoiceShape)
    assert len(shape.options) == 100
