"""What is wrong with a policy: where, and a sentence for people. Everything at once, so nobody mends in rounds."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from core.phrasing import names_of, shown

#: A file made of mistakes is not worth a longer list.
_MOST_PROBLEMS = 1000
#: Looking for the nearest name takes time with each; who has more typing errors than this has other problems.
_MOST_SUGGESTIONS = 100
_LONGEST_NAME = 64
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Problem:
    #: `answer[0].by[1].group`, or `line 12` where the text is no TOML.
    where: str
    sentence: str


class PolicyProblems(Exception):
    """The text is not a policy; `problems` has all the reasons."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{problem.where}: {problem.sentence}" for problem in self.problems))


class Findings:
    """Collects problems while reading goes on."""

    def __init__(self) -> None:
        self._found: list[Problem] = []
        self._left_out = 0
        self._suggestions = 0

    def add(self, where: str, sentence: str) -> None:
        if not self.is_full:
            self._found.append(Problem(where, sentence))
        else:
            self._left_out += 1

    @property
    def is_full(self) -> bool:
        """Whether it is pointless to look for more."""
        return len(self._found) >= _MOST_PROBLEMS

    def nearest(self, name: str, known: Iterable[str]) -> str:
        """` Did you mean …?` where something is called nearly that, otherwise nothing."""
        self._suggestions += 1
        if self._suggestions > _MOST_SUGGESTIONS or len(name) > _LONGEST_NAME:
            return ""
        folded = {each.casefold(): each for each in known}
        near = difflib.get_close_matches(name.casefold(), folded, n=1)
        return f" Did you mean {shown(folded[near[0]])}?" if near else ""

    def raise_if_any(self) -> None:
        if not self._found:
            return
        more = [Problem("text", f"There are {self._left_out} more problems.")] if self._left_out else []
        raise PolicyProblems((*self._found, *more))


def below(where: str, key: str) -> str:
    """The place of a key: `answer[0].by`, `groups."release team"`."""
    written = key if _BARE.fullmatch(key) and len(key) <= _LONGEST_NAME else f'"{key[:_LONGEST_NAME]}"'
    return f"{where}.{written}" if where else written


def one_of(known: Iterable[str]) -> str:
    return names_of([shown(each) for each in known])
