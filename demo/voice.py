"""What an agent says on the terminal: every line carries its name, and nothing people wrote can steer the terminal."""

from rich.console import Console
from rich.text import Text

_NAME_WIDTH = 8
_BAR = " │ "


class Voice:
    def __init__(self, console: Console, name: str, colour: str) -> None:
        self._console = console
        self._name = name
        self._colour = colour

    def say(self, words: str, style: str = "") -> None:
        margin = (f"{self._name:<{_NAME_WIDTH}}{_BAR}", self._colour)
        for line in words.split("\n"):
            for part in self._fitted(Text(harmless(line), style)):
                self._console.print(Text.assemble(margin, part))

    def _fitted(self, line: Text) -> list[Text]:
        # A program or a file that reads the output wants whole sentences.
        if not self._console.is_terminal or not line.plain:
            return [line]
        return list(line.wrap(self._console, max(20, self._console.width - _NAME_WIDTH - len(_BAR))))


def harmless(words: str) -> str:
    return "".join(character if character.isprintable() else "\ufffd" for character in words)
