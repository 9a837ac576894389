"""Text from others can neither steer a terminal nor hide on it."""

import pytest
from handraise.safe_text import one_line, quoted, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x07\x00\x7f\r", "␇␀␡␍"),
        ("\x9b2J", "<U+009B>2J"),
        ("abc\u202ecba", "abc<U+202E>cba"),
        ("\u2066x\u2069", "<U+2066>x<U+2069>"),
        ("zero\u200bwidth", "zero<U+200B>width"),
        ("tag\U000e0041", "tag<U+E0041>"),
        ("filler\u3164", "filler<U+3164>"),
        ("lone \ud800", "lone <U+D800>"),
        ("line\u2028end", "line<U+2028>end"),
    ],
)
def test_steering_and_hidden_characters_are_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize("text", ["plain", "two\nlines\tand a tab", "Größe 数据库 שלום", "✔️ done", "[bold]x[/bold]"])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_one_line_folds_and_shortens() -> None:
    assert one_line("a\n\tb   c\x1b") == "a b c␛"
    assert one_line("abcdefghij", 6) == "abcde…"


def test_no_quoted_line_can_pass_for_one_of_ours() -> None:
    assert quoted("fine\nhandraise: approved") == "    fine\n    handraise: approved"
