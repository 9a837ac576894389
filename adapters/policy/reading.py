"""From text to rules. Whatever is wrong is found in one go."""

import re
import tomllib
from functools import partial
from importlib.resources import files

from adapters.policy.fields import Fields
from adapters.policy.ladders import read_ladder
from adapters.policy.parties import Parties, People, read_groups
from adapters.policy.problems import Findings, PolicyProblems, Problem
from adapters.policy.rules import read_answer, read_route, read_rules
from adapters.policy.timetables import read_schedules
from core.roster import Roster
from core.rulebook import Rulebook

LARGEST_BYTES = 256 * 1024
MOST_RULES = 500
SECTIONS = ("answer", "route", "ladder")
#: What happens to a question that is addressed to somebody nobody has heard of.
UNKNOWN_RECIPIENTS = {"refuse": True, "ask anyway": False}
DEFAULT_TEXT = files("adapters.policy").joinpath("default.toml").read_text(encoding="utf-8")

#: Reading a key takes time with the square of its parts, and all of a key is on one line.
_MOST_DOTS = 2000
_LINE = re.compile(r" \(at line (\d+), column \d+\)$")
_END = " (at end of document)"


def read_policy(text: str, roster: Roster, *, version: int, lenient: bool = False) -> Rulebook:
    """The rules a text says. Raises `PolicyProblems` with everything that is wrong.

    `lenient` is for what was stored earlier: people who are not there any more are left out; nothing else is forgiven.
    """
    findings = Findings()
    root = Fields(parsed(text), "", findings)
    refuses = _refuses_unknown(root)
    people = People(roster, findings, lenient=lenient)
    groups, sizes = read_groups(root, people)
    schedules = read_schedules(root, people)
    parties = Parties(people, tuple(groups), tuple(schedules), sizes)
    answers = read_rules(root, "answer", lambda fields: read_answer(fields, parties))
    routes = read_rules(root, "route", read_route)
    joinable = {seats.group for rule in answers for seats in rule.seats if seats.group is not None}
    ladders = read_rules(root, "ladder", partial(read_ladder, parties=parties, joinable=joinable))
    if len(answers) + len(routes) + len(ladders) > MOST_RULES:
        findings.add("text", f"There are more than {MOST_RULES} rules.")
    root.finish()
    findings.raise_if_any()
    return Rulebook(version, groups, schedules, answers, routes, ladders, refuses)


def _refuses_unknown(root: Fields) -> bool:
    word = root.text("unknown_recipients")
    if word is None:
        return False
    if word.text not in UNKNOWN_RECIPIENTS:
        root.problem("unknown_recipients", f"Write {' or '.join(f'“{each}”' for each in UNKNOWN_RECIPIENTS)}.")
    return UNKNOWN_RECIPIENTS.get(word.text, False)


def parsed(text: str) -> dict[str, object]:
    """The text as TOML. Raises `PolicyProblems` where it is none, or so large or odd that reading it is a risk."""
    text = text.removeprefix("\ufeff")
    if len(text) > LARGEST_BYTES or len(text.encode("utf-8", "replace")) > LARGEST_BYTES:
        raise _unreadable("text", f"The text is larger than {LARGEST_BYTES // 1024} kB.")
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _MOST_DOTS:
            raise _unreadable(f"line {number}", "This line has too many dots.")
        if not line.isascii() and any("\ud800" <= character <= "\udfff" for character in line):
            raise _unreadable(f"line {number}", "This line has half a character, which no file can hold.")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise _unreadable("text", "The text is nested too deeply.") from None
    except ValueError as problem:  # not only TOMLDecodeError: numbers of thousands of digits raise it as well
        raise _syntax(str(problem), text) from None


def _syntax(message: str, text: str) -> PolicyProblems:
    match = _LINE.search(message)
    if match is not None:
        return _unreadable(f"line {match[1]}", f"This is not TOML: {message[: match.start()]}.")
    if message.endswith(_END):
        last = len(text.rstrip("\n").split("\n"))
        return _unreadable(f"line {last}", f"This is not TOML: {message.removesuffix(_END)} at the end of the text.")
    return _unreadable("text", f"This is not TOML: {message.partition(';')[0]}.")


def _unreadable(where: str, sentence: str) -> PolicyProblems:
    return PolicyProblems((Problem(where, sentence),))
