"""Questions on the terminal of the server, with the line that answers them."""

import queue
import threading
from collections import deque
from datetime import timedelta
from typing import TextIO

from rich.console import Console
from rich.text import Text

from core.ids import NoticeId
from core.phrasing import moment, shell_word
from core.places import Target
from core.ports import Deferred, Delivery, MessageRef, Posted
from core.prompt import Button, Prompt, Tone
from core.safetext import one_line

NAME = "terminal"
TARGET = Target(NAME, "here")

_MARKS = {
    Tone.OPEN: ("✋", "bold cyan"),
    Tone.WAITING: ("…", "yellow"),
    Tone.DONE: ("✓", "green"),
    Tone.CLOSED: ("✗", "red"),
}
_MOST_QUEUED = 200
_REMEMBERED = 1000


class TerminalSurface:
    """A terminal has no messages to edit, so a revision is one more line about the same question.

    A thread of its own prints: a terminal that is stopped (Ctrl-S, a window nobody reads) must not stop the server.
    """

    def __init__(self, out: TextIO, command: str) -> None:
        self._console = Console(file=out, highlight=False, soft_wrap=True)
        self._command = command
        self._shown: deque[NoticeId] = deque(maxlen=_REMEMBERED)
        self._lines: queue.Queue[Text] = queue.Queue(_MOST_QUEUED)
        threading.Thread(target=self._print, name="terminal", daemon=True).start()

    @property
    def name(self) -> str:
        return NAME

    async def post(self, target: Target, prompt: Prompt, *, key: NoticeId) -> Delivery:
        if key not in self._shown:
            if not self._show(prompt):
                return _busy()
            self._shown.append(key)
        return Posted(MessageRef(prompt.question_id))

    async def revise(self, ref: MessageRef, prompt: Prompt) -> Delivery:
        return Posted(ref) if self._show(prompt) else _busy()

    async def nudge(
        self, target: Target, ref: MessageRef | None, prompt: Prompt, sentence: str, *, key: NoticeId
    ) -> Delivery:
        # The revision that comes with every nudge prints the question again, story and all.
        return Posted(ref or MessageRef(prompt.question_id))

    def flush(self) -> None:
        """Wait until everything is printed."""
        self._lines.join()

    def _print(self) -> None:
        while True:
            self._console.print(self._lines.get())
            self._lines.task_done()

    def _show(self, prompt: Prompt) -> bool:
        try:
            self._lines.put_nowait(self._text(prompt))
        except queue.Full:
            return False
        return True

    def _text(self, prompt: Prompt) -> Text:
        mark, style = _MARKS[prompt.tone]
        line = Text.assemble((f"{mark} ", style), (one_line(prompt.title), "bold"), f": {one_line(prompt.text)}")
        if prompt.tone is Tone.OPEN:
            if prompt.deadline is not None:
                line.append(f"  (until {moment(prompt.deadline)})", "dim")
            if prompt.story:
                line.append(f"\n  {one_line(prompt.story[-1].sentence)}", "yellow")
            line.append(f"\n  {self._answer_line(prompt)}", "dim")
        elif prompt.thread and prompt.tone is Tone.WAITING:
            last = prompt.thread[-1]
            line.append(f"\n  {one_line(last.name)}: {one_line(last.value)}", style)
        else:
            line.append(f"\n  {one_line(prompt.footer)}", style)
        return line

    def _answer_line(self, prompt: Prompt) -> str:
        """A line to paste; what else would do stands behind it as a comment of the shell."""
        labels = [shell_word(one_line(c.label)) for c in prompt.controls if isinstance(c, Button)] or ['"…"']
        others = f"   # or {', '.join(labels[1:])}" if len(labels) > 1 else ""
        return f"{self._command} answer {prompt.question_id} {labels[0]}{others}"


def _busy() -> Deferred:
    return Deferred(timedelta(seconds=5), "the terminal takes no output")
