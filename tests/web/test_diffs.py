"""Diffs, line by line."""

import difflib

import pytest

from adapters.web.diffs import diff_lines

_BEFORE = "a\nb\nc\nd\n"
_AFTER = "a\nB\nc\nd\ne\n"


def kinds(diff: str) -> list[str]:
    return [line.kind for line in diff_lines(diff)]


def test_every_line_of_a_diff_says_what_it_is_and_where_it_stands() -> None:
    diff = "".join(difflib.unified_diff(_BEFORE.splitlines(True), _AFTER.splitlines(True), "a/x", "b/x"))
    lines = list(diff_lines(diff))
    assert [line.kind for line in lines] == [
        *("file", "file", "hunk", "same", "removed", "added", "same", "same", "added"),
    ]
    assert [(line.before, line.after) for line in lines[3:]] == [
        *((1, 1), (2, None), (None, 2), (3, 3), (4, 4), (None, 5)),
    ]
    assert "".join(line.text + "\n" for line in lines) == diff


def test_a_change_cannot_pass_for_a_heading() -> None:
    """A removed line that begins with dashes looks like the name of a file and is none."""
    assert kinds("--- a\n+++ b\n@@ -1,2 +1,2 @@\n--- secret\n+++ public\n same") == [
        *("file", "file", "hunk", "removed", "added", "same"),
    ]


def test_what_follows_a_hunk_is_no_part_of_it() -> None:
    assert kinds("@@ -1 +1 @@\n-a\n+b\n+c") == ["hunk", "removed", "added", "added"]
    assert kinds("@@ -1 +1 @@\n-a\n+b\ndiff --git a/y b/y\n--- a/y") == ["hunk", "removed", "added", "file", "file"]


@pytest.mark.parametrize("diff", ["", "no diff at all", "@@ broken @@", "@@ -999999999999 +1 @@", "\\ No newline"])
def test_whatever_an_agent_sends_is_shown_line_by_line(diff: str) -> None:
    assert "\n".join(line.text for line in diff_lines(diff)) == diff
