"""On a real terminal, text of others is shown and never obeyed; in a pipe it is exact."""

import pytest

from .conftest import Terminal
from .screens import Screen
from .stand_in import StandIn

STEERING = "\x1b]0;owned\x07 \x1b[31mred\u202e"


def screen_after(terminal: Terminal, *words: str) -> str:
    """What a terminal receives on both streams."""
    with Screen(terminal, *words) as screen:
        screen.to_the_end()
    return screen.received


@pytest.mark.parametrize("words", [["check", "q_1"], ["check", "q_1", "--json"]])
def test_an_answer_cannot_steer_the_terminal(server: StandIn, terminal: Terminal, words: list[str]) -> None:
    server.answer(server.add(), STEERING, text=STEERING)

    screen = screen_after(terminal, *words)

    assert "owned" in screen
    assert not {"\x1b", "\x07", "\u202e"} & set(screen)


def test_a_question_in_the_table_cannot_steer_the_terminal(server: StandIn, terminal: Terminal) -> None:
    server.add(question=f"[bold]{STEERING}")

    screen = screen_after(terminal, "questions")

    assert "[bold]␛]0;owned␇ ␛[31mred<U+202E>" in screen


def test_in_a_pipe_the_answer_is_exact(server: StandIn, terminal: Terminal) -> None:
    server.answer(server.add(), STEERING)

    assert terminal.run("check", "q_1").stdout == f"{STEERING}\n"
