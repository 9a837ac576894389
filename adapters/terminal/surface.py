"""Questions on the terminal of the server, with the line that answers them."""

import shlex
from typing import TextIO

from rich.console import Console
from rich.text import Text

from core.ids import NoticeId
from core.phrasing import moment
from core.ports import Delivery, MessageRef, Posted
from core.prompt import Button, Prompt, Tone
from core.question import Target
from core.safetext import one_line

NAME = "terminal"
TARGET = Target(NAME, "here")

_MARKS = {
    Tone.OPEN: ("✋", "bold cyan"),
    Tone.WAITING: ("…", "yellow"),
    Tone.DONE: ("✓", "green"),
    Tone.CLOSED: ("✗", "red"),
}


class TerminalSurface:
    """A terminal has no messages to edit, so a revision is one more line about the same question."""

    def __init__(self, out: TextIO, command: str) -> None:
        self._console = Console(file=out, highlight=False, soft_wrap=True)
        self._command = command
        self._shown: set[NoticeId] = set()

    @property
    def name(self) -> str:
        return NAME

    async def post(self, target: Target, prompt: Prompt, *, key: NoticeId) -> Delivery:
        if key not in self._shown:
            self._shown.add(key)
            self._print(prompt)
        return Posted(MessageRef(prompt.question_id))

    async def revise(self, ref: MessageRef, prompt: Prompt) -> Delivery:
        self._print(prompt)
        return Posted(ref)

    def _print(self, prompt: Prompt) -> None:
        mark, style = _MARKS[prompt.tone]
        line = Text.assemble((f"{mark} ", style), (one_line(prompt.title), "bold"), f": {one_line(prompt.text)}")
        if prompt.tone is Tone.OPEN:
            if prompt.deadline is not None:
                line.append(f"  (until {moment(prompt.deadline)})", "dim")
            line.append(f"\n  {self._answer_line(prompt)}", "dim")
        elif prompt.thread and prompt.tone is Tone.WAITING:
            last = prompt.thread[-1]
            line.append(f"\n  {one_line(last.name)}: {one_line(last.value)}", style)
        else:
            line.append(f"\n  {one_line(prompt.footer)}", style)
        self._console.print(line)

    def _answer_line(self, prompt: Prompt) -> str:
        """A line to paste; what else would do stands behind it as a comment of the shell."""
        labels = [shlex.quote(one_line(c.label)) for c in prompt.controls if isinstance(c, Button)] or ['"…"']
        others = f"   # or {', '.join(labels[1:])}" if len(labels) > 1 else ""
        return f"{self._command} answer {prompt.question_id} {labels[0]}{others}"
