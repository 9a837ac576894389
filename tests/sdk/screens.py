"""A terminal as a person sits before it: what the command writes there, what stands on it then, and keys to press."""

import os
import pty
import re
import select
import subprocess
from types import TracebackType

from .conftest import COMMAND, PATIENCE, Terminal

CTRL_C = b"\x03"

# All that a line which renews itself needs: erase the line, go up, hide or show the cursor, colours, line ends.
_OBEYED = re.compile(r"\x1b\[2K|\x1b\[1A|\x1b\[\?25[lh]|\x1b\[[0-9;]*m|\r|\n")


class Screen:
    """The command on a terminal of its own, with 200 columns."""

    def __init__(self, terminal: Terminal, *words: str) -> None:
        self._master, slave = pty.openpty()
        self.command = subprocess.Popen(
            [COMMAND, *words],
            cwd=terminal.folder,
            env={"TERM": "xterm", "COLUMNS": "200", **terminal.environment()},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            # Its own session with this terminal, so that Ctrl-C reaches it as from a keyboard.
            preexec_fn=lambda: os.login_tty(0),
        )
        os.close(slave)
        self.received = ""

    def __enter__(self) -> "Screen":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.command.kill()
        self.command.wait()
        os.close(self._master)

    def until(self, text: str) -> None:
        """Read on until this has been written."""
        while text not in self.received:
            assert self._read(), f"{text!r} never came:\n{self.received}"

    def press(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def to_the_end(self) -> int:
        """Read all that is still to come; the exit code."""
        while self._read():
            pass
        return self.command.wait(PATIENCE)

    def lines(self) -> list[str]:
        """What stands on the screen; a sequence that no line of ours needs fails the test."""
        return lines_on_screen(self.received)

    def _read(self) -> bool:
        readable, _, _ = select.select([self._master], [], [], PATIENCE)
        assert readable, f"nothing more came:\n{self.received}"
        try:
            chunk = os.read(self._master, 65536)
        except OSError:  # how Linux says that the other end was closed
            return False
        self.received += chunk.decode("utf-8", "replace")
        return bool(chunk)


def lines_on_screen(received: str) -> list[str]:
    rows, row, column = [""], 0, 0
    position = 0
    while position < len(received):
        sequence = _OBEYED.match(received, position)
        if sequence is None:
            character = received[position]
            assert character.isprintable(), f"{character!r} reached the terminal"
            rows[row] = rows[row][:column].ljust(column) + character + rows[row][column + 1 :]
            column += 1
            position += 1
            continue
        match sequence[0]:
            case "\n":
                row += 1
                rows += [""] * (row == len(rows))
            case "\r":
                column = 0
            case "\x1b[2K":
                rows[row] = ""
            case "\x1b[1A":
                row = max(0, row - 1)
        position = sequence.end()
    return [line.rstrip() for line in rows]
