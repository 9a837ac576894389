"""What Slack makes of a text: mentions, links, dates and styles come alive, everything else stays text."""

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

_ANGLE = re.compile(r"<([^<>\n]*)>")
_ADDRESS = re.compile(r"(?:https?://|mailto:)\S+")
_BARE_ADDRESS = re.compile(r"https?://[^\s<>|]+|\b[\w.+-]+@[\w-]+\.[a-z]{2,}\b", re.IGNORECASE)
#: Slack also makes links of what merely looks like a host.
_BARE_HOST = re.compile(r"\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|example)\b(?:/\S*)?", re.IGNORECASE)
_EMOJI = re.compile(r":[a-z0-9_+'-]+:")
_STYLES = (("```", "code block"), ("`", "code"), ("*", "bold"), ("_", "italic"), ("~", "strike"))


@dataclass(frozen=True)
class Piece:
    """`kind` is text, user, usergroup, channel, broadcast, link, date, emoji or a style."""

    kind: str
    text: str
    #: Where a link leads, whom a mention means.
    target: str = ""

    @property
    def is_mention(self) -> bool:
        return self.kind in ("user", "usergroup", "broadcast", "channel")


def pieces_of(text: str, *, verbatim: bool = False) -> Iterator[Piece]:
    """What stands in a mrkdwn text. With `verbatim` Slack makes no links of bare addresses."""
    at = 0
    for match in _ANGLE.finditer(text):
        yield from _loose(text[at : match.start()], verbatim)
        yield _live(match[1])
        at = match.end()
    yield from _loose(text[at:], verbatim)


def _live(inside: str) -> Piece:
    what, _, label = inside.partition("|")
    if what.startswith("@"):
        return Piece("user", label or what, what[1:])
    if what.startswith("#"):
        return Piece("channel", label or what, what[1:])
    if what.startswith("!date^"):
        return Piece("date", html.unescape(label), what)
    if what.startswith("!subteam^"):
        return Piece("usergroup", label or what, what.removeprefix("!subteam^"))
    if what.startswith("!"):
        return Piece("broadcast", label or what, what[1:])
    if _ADDRESS.fullmatch(what):
        return Piece("link", html.unescape(label or what), html.unescape(what))
    return Piece("text", html.unescape(f"<{inside}>"))


def _loose(text: str, verbatim: bool) -> Iterator[Piece]:
    at = 0
    finders = [_EMOJI] if verbatim else [_EMOJI, _BARE_ADDRESS, _BARE_HOST]
    found = sorted((match for finder in finders for match in finder.finditer(text)), key=lambda match: match.start())
    for match in found:
        if match.start() < at:
            continue
        yield from _plain(text[at : match.start()])
        if match.re is _EMOJI:
            yield Piece("emoji", match[0], match[0].strip(":"))
        else:
            yield Piece("link", html.unescape(match[0]), html.unescape(match[0]))
        at = match.end()
    yield from _plain(text[at:])


def _plain(text: str) -> Iterator[Piece]:
    if text:
        yield Piece("text", html.unescape(text))


def is_styled(text: str) -> bool:
    """Whether a part of the text would be bold, italic, struck or code."""
    return any(re.search(rf"(?<!\w){re.escape(mark)}\S(?:.*?\S)?{re.escape(mark)}(?!\w)", text) for mark, _ in _STYLES)


def everything_in(blocks: list[Json]) -> Iterator[Piece]:
    """All that people see in blocks, in order, with what is alive in it."""
    for block in blocks:
        yield from _of(block)


def _of(value: Any) -> Iterator[Piece]:
    if isinstance(value, list):
        for entry in value:
            yield from _of(entry)
    if not isinstance(value, dict):
        return
    kind = str(value.get("type"))
    if kind == "mrkdwn":
        yield from pieces_of(str(value.get("text", "")), verbatim=bool(value.get("verbatim")))
    elif kind == "plain_text":
        yield from _plain_text(value)
    elif kind in _LEAVES:
        yield _LEAVES[kind](value)
    else:
        for name, below in value.items():
            if name not in ("type", "value", "action_id", "block_id", "style"):
                yield from _of(below)
        if kind == "button" and "url" in value:
            yield Piece("link", str(value["text"]["text"]), str(value["url"]))


#: The leaves of a rich text: what they say is said by Slack or is plain, never parsed.
_LEAVES: dict[str, Callable[[Json], Piece]] = {
    "text": lambda leaf: Piece("text", str(leaf.get("text", ""))),
    "link": lambda leaf: Piece("link", str(leaf.get("text") or leaf["url"]), str(leaf["url"])),
    "user": lambda leaf: Piece("user", leaf["user_id"], leaf["user_id"]),
    "usergroup": lambda leaf: Piece("usergroup", leaf["usergroup_id"], leaf["usergroup_id"]),
    "channel": lambda leaf: Piece("channel", leaf["channel_id"], leaf["channel_id"]),
    "broadcast": lambda leaf: Piece("broadcast", leaf["range"], leaf["range"]),
    "emoji": lambda leaf: Piece("emoji", f":{leaf['name']}:", leaf["name"]),
    "date": lambda leaf: Piece("date", str(leaf.get("fallback", "")), str(leaf["timestamp"])),
}


def _plain_text(value: Json) -> Iterator[Piece]:
    text = str(value.get("text", ""))
    if value.get("emoji", True) is False:
        yield Piece("text", text)
        return
    yield from pieces_of(html.escape(text, quote=False), verbatim=True)


def words_of(blocks: list[Json]) -> str:
    """What a person reads."""
    return " ".join(piece.text for piece in everything_in(blocks))
