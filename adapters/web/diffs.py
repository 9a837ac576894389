"""A unified diff, line by line: what it is and where it stands, for colouring and counting."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")


@dataclass(frozen=True, slots=True)
class DiffLine:
    #: file, hunk, added, removed, same or note
    kind: str
    text: str
    before: int | None = None
    after: int | None = None


def diff_lines(diff: str) -> Iterator[DiffLine]:
    """Only a line inside a hunk is added or removed; an agent cannot pass a change off as a heading."""
    old = new = left_old = left_new = 0
    for line in diff.replace("\r\n", "\n").removesuffix("\n").split("\n"):
        sign, inside = line[:1], left_old > 0 or left_new > 0
        hunk = _HUNK.match(line) if not inside else None
        if hunk is not None:
            old, left_old, new, left_new = (int(number) if number is not None else 1 for number in hunk.groups())
            yield DiffLine("hunk", line)
        elif inside and sign == "+":
            yield DiffLine("added", line, None, new)
            new, left_new = new + 1, left_new - 1
        elif inside and sign == "-":
            yield DiffLine("removed", line, old, None)
            old, left_old = old + 1, left_old - 1
        elif inside and sign in (" ", ""):
            yield DiffLine("same", line, old, new)
            old, new, left_old, left_new = old + 1, new + 1, left_old - 1, left_new - 1
        elif line.startswith("\\"):
            yield DiffLine("note", line)
        else:
            left_old = left_new = 0
            yield DiffLine("file" if line.startswith(("---", "+++", "diff ", "index ")) else _loose(sign), line)


def _loose(sign: str) -> str:
    """Some tools write diffs without hunks; a sign still means what it says."""
    return {"+": "added", "-": "removed"}.get(sign, "same")
