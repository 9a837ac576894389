"""What a mail says, before it becomes text or HTML. Everything here is visible, and what is left out is named."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import TypeAlias

from core.phrasing import moment
from core.prompt import Choice, Fact, Prompt, ShownAction, Tone
from core.question import Milestone
from core.safetext import one_line, visible

SETTLED = frozenset({Tone.DONE, Tone.CLOSED})
#: How many characters of other people's words a notice holds unless told otherwise.
ROOM = 40_000

_SUBJECT = 120
_NAME = 100
_LABEL = 250
_QUESTION = 10_000
_CODE = 12_000
_NOTE = 2_000
_MOST_FACTS = 40
_MOST_COMMENTS = 20
_REMINDED = 500


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words of ours, on one line."""

    text: str
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class Who:
    text: str


@dataclass(frozen=True, slots=True)
class Words:
    """What somebody else wrote, with its line breaks."""

    text: str


@dataclass(frozen=True, slots=True)
class Heading:
    text: str


@dataclass(frozen=True, slots=True)
class Pairs:
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Option:
    label: str
    is_recommended: bool
    description: str | None
    implications: str | None
    pros: tuple[str, ...]
    cons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Code:
    text: str
    is_diff: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """The one link of a mail."""

    url: str
    label: str


@dataclass(frozen=True, slots=True)
class Small:
    text: str


Block: TypeAlias = Sentence | Who | Words | Heading | Pairs | Option | Code | Page | Small


@dataclass(frozen=True, slots=True)
class Letter:
    subject: str
    blocks: tuple[Block, ...]


class _Room:
    """How much may still be said. Whoever does not fit is cut, and the cut says so in its place."""

    def __init__(self, total: int) -> None:
        self._left = total
        self.has_cut = False

    @property
    def is_full(self) -> bool:
        return self._left <= 0

    def fit(self, text: str, most: int) -> str:
        text = visible(text).strip("\n")
        kept = max(0, min(most, self._left))
        self._left -= min(len(text), kept)
        if len(text) <= kept:
            return text
        self.has_cut = True
        return f"{text[:kept]}… [{len(text) - kept:,} more characters on the page]"

    def fit_line(self, text: str, most: int) -> str:
        return " ".join(self.fit(one_line(text), most).split())

    def missing(self, count: int, what: str) -> list[Block]:
        if count <= 0:
            return []
        self.has_cut = True
        return [Sentence(f"[{count:,} {what}{'s' if count > 1 else ''} left out here; the page shows everything.]")]


def subject_of(prompt: Prompt) -> str:
    """One line that never changes while the question lives, because mail programs thread by it."""
    line = one_line(f"{prompt.title}: {prompt.text}")
    return line if len(line) <= _SUBJECT else line[: _SUBJECT - 1] + "…"


def notice(prompt: Prompt, url: str, *, sentence: str | None = None, room: int = ROOM) -> Letter:
    """The whole question as far as there is room, in the order in which a person wants to know it."""
    space = _Room(room)
    head: list[Block] = []
    if sentence is not None:
        head.append(Sentence(space.fit_line(sentence, _REMINDED), is_first=True))
    head += [Who(space.fit_line(prompt.title, _NAME)), Words(space.fit(prompt.text, _QUESTION))]
    if prompt.footer:
        head.append(Sentence(space.fit_line(prompt.footer, _NOTE)))
    if prompt.deadline is not None:
        head.append(Sentence(f"Answer by {moment(prompt.deadline.astimezone(UTC))}."))
    if prompt.who:
        head.append(Sentence(space.fit_line(prompt.who, _NOTE)))
    rest = [
        *_action(prompt.action, space),
        *_options(prompt.choices, space),
        *_story(prompt.story, space),
        *_facts(prompt.facts, space),
        *_thread(prompt.thread, space),
    ]
    # Only now is it known whether anything had to be left out.
    if space.has_cut:
        head.append(Sentence("This mail does not show everything. Read the page before you decide."))
    told = "Nothing is decided by mail, and replies to it are not read: answer on the page."
    end = Small(f"Question {prompt.question_id}. {told}")
    return Letter(subject_of(prompt), (*head, Page(url, "Open the question"), *rest, end))


def closing(prompt: Prompt, url: str) -> Letter:
    space = _Room(ROOM)
    blocks: tuple[Block, ...] = (
        Sentence("This question is settled. There is nothing left to do.", is_first=True),
        Sentence(space.fit_line(prompt.footer, _NOTE)),
        Who(space.fit_line(prompt.title, _NAME)),
        Words(space.fit(prompt.text, _NOTE)),
        Page(url, "Look at the question"),
        Small(f"Question {prompt.question_id}."),
    )
    return Letter(subject_of(prompt), blocks)


def _action(action: ShownAction | None, space: _Room) -> list[Block]:
    if action is None:
        return []
    named = [("tool", space.fit_line(action.tool, _LABEL))]
    if action.risk:
        named.append(("risk", space.fit_line(action.risk, _LABEL)))
    arguments = json.dumps(action.arguments, indent=2, ensure_ascii=False)
    blocks: list[Block] = [
        Heading("What is to be approved"),
        Pairs((*named, ("digest", space.fit_line(action.digest, _LABEL)))),
        Heading("Arguments"),
        Code(space.fit(arguments, _CODE)),
    ]
    if action.diff:
        blocks += [Heading("Diff"), Code(space.fit(action.diff, _CODE), is_diff=True)]
    return blocks


def _options(choices: Sequence[Choice], space: _Room) -> list[Block]:
    shown: list[Block] = []
    for choice in choices:
        if space.is_full:
            break
        shown.append(
            Option(
                space.fit_line(choice.label, _LABEL),
                choice.recommended,
                _fitted(choice.description, space),
                _fitted(choice.implications, space),
                _all_fitted(choice.pros, space),
                _all_fitted(choice.cons, space),
            )
        )
    return [*_under("Options", shown), *space.missing(len(choices) - len(shown), "option")]


def _fitted(text: str | None, space: _Room) -> str | None:
    return space.fit(text, _NOTE) if text else None


def _all_fitted(texts: Sequence[str], space: _Room) -> tuple[str, ...]:
    """As many as there is room for; the one at the edge says that there is more."""
    fitted: list[str] = []
    for text in texts:
        if space.is_full:
            space.has_cut = True
            return (*fitted, f"[{len(texts) - len(fitted):,} more on the page]")
        fitted.append(space.fit(text, _NOTE))
    return tuple(fitted)


def _facts(facts: Sequence[Fact], space: _Room) -> list[Block]:
    pairs = _pairs(facts[:_MOST_FACTS], space)
    shown: list[Block] = [Pairs(pairs)] if pairs else []
    return [*_under("Details", shown), *space.missing(len(facts) - len(pairs), "detail")]


def _story(story: Sequence[Milestone], space: _Room) -> list[Block]:
    """What was done so far to get an answer, so that whoever it comes to last knows as much as the first."""
    pairs = _pairs([Fact(moment(told.at), told.sentence) for told in story[-_MOST_COMMENTS:]], space)
    shown: list[Block] = [Pairs(pairs)] if pairs else []
    return [*_under("So far", shown), *space.missing(len(story) - len(pairs), "step")]


def _thread(thread: Sequence[Fact], space: _Room) -> list[Block]:
    """The newest remarks, because the older ones have been answered by them."""
    pairs = _pairs(thread[-_MOST_COMMENTS:], space)
    shown: list[Block] = [Pairs(pairs)] if pairs else []
    return [*_under("Thread", shown), *space.missing(len(thread) - len(pairs), "remark")]


def _pairs(facts: Sequence[Fact], space: _Room) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    for fact in facts:
        if space.is_full:
            break
        pairs.append((space.fit_line(fact.name, _NAME), space.fit(fact.value, _NOTE)))
    return tuple(pairs)


def _under(heading: str, blocks: Sequence[Block]) -> list[Block]:
    return [Heading(heading), *blocks] if blocks else []
