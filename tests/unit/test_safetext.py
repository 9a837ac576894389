"""Hidden characters are spelled out; everything people can see stays as it was written."""

import pytest

from core.safetext import one_line, visible


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Deploy v1.2 to production?",
        "Zürich, 東京, Ελλάδα, שלום",
        "a\u00a0b",
        "👍 done",
        "e\u0301",
        "<!channel> @everyone `code`",
        "first\nsecond\tcolumn",
    ],
)
def test_text_people_can_see_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\u202e", "⟨U+202E⟩"),
        ("\u202a", "⟨U+202A⟩"),
        ("\u2066", "⟨U+2066⟩"),
        ("\u2069", "⟨U+2069⟩"),
        ("\u200f", "⟨U+200F⟩"),
    ],
)
def test_characters_that_reorder_text_are_spelled_out(hidden: str, shown: str) -> None:
    assert visible(f"safe{hidden}txt.exe") == f"safe{shown}txt.exe"


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\u200b", "⟨U+200B⟩"),
        ("\u2060", "⟨U+2060⟩"),
        ("\ufeff", "⟨U+FEFF⟩"),
        ("\u00ad", "⟨U+00AD⟩"),
        ("\u034f", "⟨U+034F⟩"),
        ("\u115f", "⟨U+115F⟩"),
        ("\u1160", "⟨U+1160⟩"),
        ("\u17b4", "⟨U+17B4⟩"),
        ("\u17b5", "⟨U+17B5⟩"),
        ("\u180b", "⟨U+180B⟩"),
        ("\u180f", "⟨U+180F⟩"),
        ("\u2800", "⟨U+2800⟩"),
        ("\u3164", "⟨U+3164⟩"),
        ("\uffa0", "⟨U+FFA0⟩"),
        ("\ufe00", "⟨U+FE00⟩"),
        ("\ufe0e", "⟨U+FE0E⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("\U000e0100", "⟨U+E0100⟩"),
        ("\U000e01ef", "⟨U+E01EF⟩"),
    ],
)
def test_characters_that_show_nothing_are_spelled_out(hidden: str, shown: str) -> None:
    assert visible(f"rm{hidden} -rf") == f"rm{shown} -rf"


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\x00", "⟨U+0000⟩"),
        ("\x08", "⟨U+0008⟩"),
        ("\x1b", "⟨U+001B⟩"),
        ("\x7f", "⟨U+007F⟩"),
        ("\x85", "⟨U+0085⟩"),
        ("\u2028", "⟨U+2028⟩"),
        ("\u2029", "⟨U+2029⟩"),
        ("\ue000", "⟨U+E000⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("\uffff", "⟨U+FFFF⟩"),
    ],
)
def test_control_private_and_unassigned_characters_are_spelled_out(hidden: str, shown: str) -> None:
    assert visible(f"a{hidden}[2Jb") == f"a{shown}[2Jb"


def test_every_hidden_character_of_a_text_is_spelled_out() -> None:
    assert visible("\u200bü\u200b\u202e") == "⟨U+200B⟩ü⟨U+200B⟩⟨U+202E⟩"


def test_one_line_joins_lines_and_tabs_with_single_spaces() -> None:
    assert one_line("  first\n\n second\tthird  ") == "first second third"


def test_one_line_spells_out_hidden_characters_too() -> None:
    assert one_line("first\n\u202esecond") == "first ⟨U+202E⟩second"


@pytest.mark.parametrize("emoji", ["⚠️", "1️⃣", "👩‍💻", "❤️‍🔥"])
def test_emoji_stay_whole(emoji: str) -> None:
    assert visible(f"Careful {emoji}!") == f"Careful {emoji}!"


def test_what_joins_no_emoji_is_spelled_out() -> None:
    assert visible("ad\u200dmin\ufe0f") == "ad⟨U+200D⟩min⟨U+FE0F⟩"


def test_a_line_break_of_windows_is_one() -> None:
    assert visible("a\r\nb\rc") == "a\nb⟨U+000D⟩c"
