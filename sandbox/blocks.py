"""What Slack takes and what it refuses: every limit of blocks, views and their parts, each problem with its place."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

MESSAGE, MODAL, HOME = "message", "modal", "home"
_MOST_BLOCKS = {MESSAGE: 50, MODAL: 100, HOME: 100}
_TYPES = {
    MESSAGE: {"actions", "context", "divider", "header", "input", "rich_text", "section", "markdown"},
    MODAL: {"actions", "context", "divider", "header", "input", "rich_text", "section"},
    HOME: {"actions", "context", "divider", "header", "input", "rich_text", "section"},
}
#: Undocumented for messages: more than about 13,200 characters were refused as msg_blocks_too_long.
_MOST_TEXT = 13_200
_SELECTS = {
    "static_select": 1,
    "multi_static_select": 100,
    "users_select": 0,
    "conversations_select": 0,
    "channels_select": 0,
}
_INPUTS = {"plain_text_input", "email_text_input", "url_text_input", "number_input", "datepicker", "timepicker"}
_IN_INPUT = {*_SELECTS, *_INPUTS, "radio_buttons", "checkboxes", "rich_text_input", "datetimepicker"}
_IN_ACTIONS = {
    *_SELECTS,
    "button",
    "radio_buttons",
    "checkboxes",
    "overflow",
    "datepicker",
    "timepicker",
    "datetimepicker",
}


@dataclass(frozen=True)
class Problem:
    code: str
    message: str
    pointer: str

    def as_json(self) -> Json:
        return {"code": self.code, "message": self.message, "pointer": self.pointer}


class _Finder:
    """Collects problems below one place of the JSON."""

    def __init__(self, found: list[Problem], at: str = "") -> None:
        self.found, self.at = found, at

    def below(self, name: str | int) -> "_Finder":
        return _Finder(self.found, f"{self.at}/{name}")

    def add(self, code: str, message: str) -> None:
        self.found.append(Problem(code, message, self.at))

    def length(self, holder: Json, name: str, most: int, *, least: int = 0, needed: bool = False) -> None:
        value = holder.get(name)
        if value is None:
            if needed:
                self.add("missing_field", f"missing required field: {name}")
            return
        if not isinstance(value, str):
            self.below(name).add("invalid_type", f"{name} must be a string")
        elif not least <= len(value) <= most:
            self.below(name).add("invalid_length", f"{name} must have {least} to {most} characters, has {len(value)}")


def problems_of(blocks: object, surface: str) -> list[Problem]:
    """Everything that is wrong with the blocks of a message, a modal or a home tab."""
    found: list[Problem] = []
    finder = _Finder(found, "/blocks")
    if not isinstance(blocks, list):
        finder.add("invalid_type", "blocks must be an array")
        return found
    if len(blocks) > _MOST_BLOCKS[surface]:
        finder.add("too_many_blocks", f"no more than {_MOST_BLOCKS[surface]} items allowed, has {len(blocks)}")
    for place, block in enumerate(blocks):
        _block(block, finder.below(place), surface)
    _unlike(blocks, finder)
    if surface == MESSAGE and _written(blocks) > _MOST_TEXT:
        finder.add("msg_blocks_too_long", f"the blocks have {_written(blocks)} characters, {_MOST_TEXT} are taken")
    return found


def view_problems(view: object) -> list[Problem]:
    found: list[Problem] = []
    finder = _Finder(found)
    if not isinstance(view, dict) or view.get("type") not in (MODAL, HOME):
        finder.add("invalid_type", "a view is an object of type modal or home")
        return found
    surface = view["type"]
    known = {"type", "blocks", "private_metadata", "callback_id", "external_id"}
    if surface == MODAL:
        known |= {"title", "submit", "close", "clear_on_close", "notify_on_close", "submit_disabled"}
        _text(view.get("title"), finder.below("title"), 24, plain=True)
        for name in ("submit", "close"):
            if name in view:
                _text(view[name], finder.below(name), 24, plain=True)
        blocks = view.get("blocks")
        has_input = isinstance(blocks, list) and any(isinstance(b, dict) and b.get("type") == "input" for b in blocks)
        if has_input and "submit" not in view:
            finder.add("missing_field", "submit is required where a modal has an input block")
    for name in sorted(view.keys() - known):
        finder.below(name).add("invalid_additional_property", f"a {surface} has no {name}")
    finder.length(view, "private_metadata", 3000)
    finder.length(view, "callback_id", 255)
    finder.length(view, "external_id", 255)
    return found + problems_of(view.get("blocks"), surface)


def _block(block: object, finder: _Finder, surface: str) -> None:
    if not isinstance(block, dict):
        finder.add("invalid_type", "a block must be an object")
        return
    kind = block.get("type")
    if kind not in _TYPES[surface]:
        finder.below("type").add("unsupported_type", f"unsupported block type {kind!r} on a {surface}")
        return
    finder.length(block, "block_id", 255, least=1)
    _BLOCKS[str(kind)](block, finder)


def _section(block: Json, finder: _Finder) -> None:
    text, fields = block.get("text"), block.get("fields")
    if text is None and not fields:
        finder.add("missing_field", "a section needs text or fields")
    if text is not None:
        _text(text, finder.below("text"), 3000)
    if fields is not None:
        if not isinstance(fields, list) or not 1 <= len(fields) <= 10:
            finder.below("fields").add("invalid_length", "a section has 1 to 10 fields")
        else:
            for place, entry in enumerate(fields):
                _text(entry, finder.below("fields").below(place), 2000)
    if "accessory" in block:
        _element(block["accessory"], finder.below("accessory"), {*_IN_ACTIONS, "image"})


def _header(block: Json, finder: _Finder) -> None:
    _text(block.get("text"), finder.below("text"), 150, plain=True)


def _context(block: Json, finder: _Finder) -> None:
    elements = block.get("elements")
    if not isinstance(elements, list) or not 1 <= len(elements) <= 10:
        finder.below("elements").add("invalid_length", "a context has 1 to 10 elements")
        return
    for place, element in enumerate(elements):
        _text(element, finder.below("elements").below(place), 3000)


def _actions(block: Json, finder: _Finder) -> None:
    elements = block.get("elements")
    if not isinstance(elements, list) or not 1 <= len(elements) <= 25:
        finder.below("elements").add("invalid_length", "actions have 1 to 25 elements")
        return
    for place, element in enumerate(elements):
        _element(element, finder.below("elements").below(place), _IN_ACTIONS)


def _input(block: Json, finder: _Finder) -> None:
    _text(block.get("label"), finder.below("label"), 2000, plain=True)
    if "hint" in block:
        _text(block["hint"], finder.below("hint"), 2000, plain=True)
    _element(block.get("element"), finder.below("element"), _IN_INPUT)


def _markdown(block: Json, finder: _Finder) -> None:
    finder.length(block, "text", 12_000, least=1, needed=True)


def _rich_text(block: Json, finder: _Finder) -> None:
    elements = block.get("elements")
    if not isinstance(elements, list) or not elements:
        finder.below("elements").add("missing_field", "rich text has elements")
        return
    for place, element in enumerate(elements):
        _rich_part(element, finder.below("elements").below(place))


_RICH_PARTS = {"rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote"}
_RICH_LEAVES: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "link": ("url",),
    "user": ("user_id",),
    "usergroup": ("usergroup_id",),
    "channel": ("channel_id",),
    "broadcast": ("range",),
    "emoji": ("name",),
    "date": ("timestamp", "format"),
}


def _rich_part(part: object, finder: _Finder) -> None:
    if not isinstance(part, dict) or part.get("type") not in _RICH_PARTS:
        finder.add("unsupported_type", "unknown part of a rich text")
        return
    kind, elements = part["type"], part.get("elements")
    if not isinstance(elements, list) or not elements:
        finder.below("elements").add("missing_field", "it has elements")
        return
    if kind == "rich_text_list" and part.get("style") not in ("bullet", "ordered"):
        finder.below("style").add("invalid_value", "a list is bullet or ordered")
    for place, leaf in enumerate(elements):
        at = finder.below("elements").below(place)
        if kind == "rich_text_list":
            _rich_part(leaf, at)
        elif not isinstance(leaf, dict) or leaf.get("type") not in _RICH_LEAVES:
            at.add("unsupported_type", "unknown element of a rich text")
        elif kind == "rich_text_preformatted" and leaf["type"] not in ("text", "link"):
            at.add("unsupported_type", "preformatted text has text and links only")
        else:
            _rich_leaf(leaf, at)


def _rich_leaf(leaf: Json, finder: _Finder) -> None:
    for name in _RICH_LEAVES[leaf["type"]]:
        if not leaf.get(name):
            finder.add("missing_field", f"missing required field: {name}")
    unknown = leaf.get("style", {}).keys() - {"bold", "italic", "strike", "code", "highlight", "underline"}
    if unknown:
        finder.below("style").add("invalid_additional_property", f"no style {sorted(unknown)}")


_BLOCKS: dict[str, Callable[[Json, _Finder], None]] = {
    "section": _section,
    "header": _header,
    "context": _context,
    "actions": _actions,
    "input": _input,
    "markdown": _markdown,
    "rich_text": _rich_text,
    "divider": lambda block, finder: None,
}


def _text(text: object, finder: _Finder, most: int, *, plain: bool = False, least: int = 1) -> None:
    if not isinstance(text, dict):
        finder.add("missing_field", "a text object is needed")
        return
    if text.get("type") not in (("plain_text",) if plain else ("plain_text", "mrkdwn")):
        finder.below("type").add("invalid_value", f"this text cannot be {text.get('type')!r}")
    allowed = {"type", "text", "emoji"} if text.get("type") == "plain_text" else {"type", "text", "verbatim"}
    for name in sorted(text.keys() - allowed):
        finder.below(name).add("invalid_additional_property", f"a {text.get('type')} has no {name}")
    finder.length(text, "text", most, least=least, needed=True)


def _element(element: object, finder: _Finder, allowed: set[str]) -> None:
    if not isinstance(element, dict) or element.get("type") not in allowed:
        what = element.get("type") if isinstance(element, dict) else element
        finder.add("unsupported_type", f"no element {what!r} here")
        return
    kind = str(element["type"])
    finder.length(element, "action_id", 255, least=1)
    if "placeholder" in element:
        _text(element["placeholder"], finder.below("placeholder"), 150, plain=True)
    if "confirm" in element:
        _confirmation(element["confirm"], finder.below("confirm"))
    if kind == "button":
        _button(element, finder)
    elif kind in ("radio_buttons", "checkboxes", "overflow") or kind.endswith("static_select"):
        _optioned(element, finder, {"overflow": 5, "radio_buttons": 10, "checkboxes": 10}.get(kind, 100))
    elif kind == "plain_text_input":
        _plain_input(element, finder)
    elif kind == "number_input" and not isinstance(element.get("is_decimal_allowed"), bool):
        finder.add("missing_field", "missing required field: is_decimal_allowed")


def _button(element: Json, finder: _Finder) -> None:
    _text(element.get("text"), finder.below("text"), 75, plain=True)
    finder.length(element, "value", 2000)
    finder.length(element, "url", 3000)
    finder.length(element, "accessibility_label", 75)
    if element.get("style") not in (None, "primary", "danger"):
        finder.below("style").add("invalid_value", "a button is primary or danger")
    if "url" in element and not re.match(r"https?://|mailto:", str(element["url"])):
        finder.below("url").add("invalid_value", "this is no address")


def _plain_input(element: Json, finder: _Finder) -> None:
    least, most = element.get("min_length", 0), element.get("max_length", 3000)
    if not isinstance(least, int) or not isinstance(most, int) or not 0 <= least <= most or not 1 <= most <= 3000:
        finder.add("invalid_value", "min_length and max_length lie within 0 and 3000, in this order")
    initial = element.get("initial_value", "")
    if isinstance(most, int) and len(initial) > most:
        finder.below("initial_value").add("invalid_length", f"the initial value has {len(initial)} characters")


def _optioned(element: Json, finder: _Finder, most: int) -> None:
    options = element.get("options")
    groups = element.get("option_groups")
    if groups is not None:
        options = [option for group in groups for option in group.get("options", [])]
    at = finder.below("options")
    if not isinstance(options, list) or not 1 <= len(options) <= most:
        at.add("invalid_length", f"1 to {most} options, has {len(options) if isinstance(options, list) else 'none'}")
        return
    plain = element["type"] not in ("radio_buttons", "checkboxes")
    for place, option in enumerate(options):
        if not isinstance(option, dict):
            at.below(place).add("invalid_type", "an option is an object")
            continue
        _text(option.get("text"), at.below(place).below("text"), 75, plain=plain)
        at.below(place).length(option, "value", 150, least=1, needed=True)
        if "description" in option:
            _text(option["description"], at.below(place).below("description"), 75, plain=plain)
    values = [option.get("value") for option in options if isinstance(option, dict)]
    if len(set(map(str, values))) != len(values):
        at.add("invalid_value", "two options have one value")
    initial = element.get("initial_options") or [o for o in [element.get("initial_option")] if o is not None]
    if any(option not in options for option in initial):
        finder.add("invalid_value", "what is chosen at first is none of the options")


def _confirmation(confirm: object, finder: _Finder) -> None:
    if not isinstance(confirm, dict):
        finder.add("invalid_type", "a confirmation is an object")
        return
    for name, most, plain in (("title", 100, True), ("text", 300, False), ("confirm", 30, True), ("deny", 30, True)):
        _text(confirm.get(name), finder.below(name), most, plain=plain)


def _unlike(blocks: list[Any], finder: _Finder) -> None:
    """Ids stand once; within one block Slack requires it of action ids, and so do we within the whole."""
    for what, ids in (("block_id", _block_ids(blocks)), ("action_id", _action_ids(blocks))):
        seen: set[str] = set()
        for id in ids:
            if id in seen:
                finder.add("duplicate_id", f"{what} {id!r} stands twice")
            seen.add(id)


def _block_ids(blocks: list[Any]) -> Iterator[str]:
    return (block["block_id"] for block in blocks if isinstance(block, dict) and "block_id" in block)


def _action_ids(blocks: list[Any]) -> Iterator[str]:
    return (element["action_id"] for element in elements_of(blocks) if "action_id" in element)


def elements_of(blocks: list[Any]) -> Iterator[Json]:
    """Everything in the blocks that a person can use."""
    for block in blocks:
        if not isinstance(block, dict):
            continue
        held = [*(block.get("elements") or [])] if block.get("type") == "actions" else []
        held += [block[name] for name in ("element", "accessory") if name in block]
        for element in held:
            if isinstance(element, dict):
                yield element


def _written(value: object) -> int:
    """How many characters of text there are in it."""
    if isinstance(value, dict):
        own = value.get("text")
        below = sum(_written(entry) for name, entry in value.items() if not (name == "text" and isinstance(entry, str)))
        return (len(own) if isinstance(own, str) else 0) + below
    if isinstance(value, list):
        return sum(map(_written, value))
    return 0
