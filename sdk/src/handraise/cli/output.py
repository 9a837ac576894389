"""Two streams: results on stdout, everything said to people on stderr."""

import json
import os
import sys
from typing import TextIO

from handraise.safe_text import visible


def prepare_streams() -> None:
    """Characters the terminal's encoding lacks are escaped instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def discard_stdout() -> None:
    """Nobody takes what is still to be written, nor what waits in the buffer until the program ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(message: str) -> None:
    _write(sys.stderr, visible(message))


def print_json(value: object) -> None:
    """Exactly the data; escaping all but ASCII also keeps a terminal safe."""
    _write(sys.stdout, json.dumps(value, indent=2 if sys.stdout.isatty() else None))


def print_json_line(value: object) -> None:
    """One of several, each on a line of its own."""
    _write(sys.stdout, json.dumps(value))


def print_line(line: str) -> None:
    _write(sys.stdout, visible(line))


def print_value(value: object) -> None:
    """An answer as a shell wants it: exact in a pipe, harmless on a terminal."""
    text = as_text(value)
    _write(sys.stdout, visible(text) if sys.stdout.isatty() else text)


def as_text(value: object) -> str:
    """Strings as they are, all else as compact JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _write(stream: TextIO, line: str) -> None:
    stream.write(line + "\n")
    stream.flush()
