"""Blocks as HTML that looks like Slack, made from the very JSON that the app posted."""

import time
from datetime import UTC, datetime

from markupsafe import Markup, escape

from sandbox.mrkdwn import Piece, pieces_of
from sandbox.world import Json, Workspace

_FORMATS = {
    "{time}": "%H:%M",
    "{time_secs}": "%H:%M:%S",
    "{date_num}": "%Y-%m-%d",
    "{date_short}": "%b %d, %Y",
    "{date}": "%B %d, %Y",
    "{date_short_pretty}": "%b %d, %Y",
    "{date_pretty}": "%B %d, %Y",
}


class Painter:
    """Draws for one person: what they filled in is kept by the browser, what others see is the same."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def blocks(self, blocks: list[Json], where: str) -> Markup:
        """`where` tells the page what a button belongs to."""
        return Markup("").join(self._block(block, where) for block in blocks)

    def text(self, text: str) -> Markup:
        return Markup('<div class="mrkdwn">{}</div>').format(self._mrkdwn(text))

    def _block(self, block: Json, where: str) -> Markup:
        match block["type"]:
            case "divider":
                return Markup("<hr>")
            case "header":
                return Markup("<h3>{}</h3>").format(block["text"]["text"])
            case "section":
                return self._section(block, where)
            case "context":
                inside = Markup(" ").join(self._words(element) for element in block["elements"])
                return Markup('<div class="context">{}</div>').format(inside)
            case "actions":
                inside = Markup("").join(self._element(element, block, where) for element in block["elements"])
                return Markup('<div class="actions">{}</div>').format(inside)
            case "input":
                return self._input(block, where)
            case "rich_text":
                return Markup('<div class="rich">{}</div>').format(self._rich(block["elements"]))
            case _:
                return Markup("<pre>{}</pre>").format(str(block.get("text", block["type"])))

    def _section(self, block: Json, where: str) -> Markup:
        text = self._words(block["text"]) if "text" in block else Markup("")
        fields = Markup("").join(Markup("<div>{}</div>").format(self._words(f)) for f in block.get("fields", []))
        held = Markup('<div class="fields">{}</div>').format(fields) if fields else Markup("")
        side = self._element(block["accessory"], block, where) if "accessory" in block else Markup("")
        return Markup('<div class="section"><div>{}{}</div>{}</div>').format(text, held, side)

    def _words(self, text: Json) -> Markup:
        if text["type"] == "plain_text":
            return Markup('<span class="plain">{}</span>').format(text["text"])
        return Markup('<span class="mrkdwn">{}</span>').format(self._mrkdwn(text["text"]))

    def _mrkdwn(self, text: str) -> Markup:
        styled = Markup("")
        for piece in pieces_of(text):
            styled += self._piece(piece)
        return styled

    def _piece(self, piece: Piece) -> Markup:
        match piece.kind:
            case "text":
                return _styled(piece.text)
            case "link":
                return Markup('<a href="{}" target="_blank" rel="noreferrer">{}</a>').format(piece.target, piece.text)
            case "date":
                return Markup("<time>{}</time>").format(_dated(piece.target, piece.text))
            case "user":
                user = self._workspace.users.get(piece.target)
                return Markup('<b class="mention">@{}</b>').format(user.name if user is not None else piece.target)
            case "emoji":
                return Markup('<span class="emoji">{}</span>').format(_EMOJI.get(piece.target, piece.text))
            case _:
                return Markup('<b class="mention">{}</b>').format(piece.text)

    def _rich(self, elements: list[Json]) -> Markup:
        return Markup("").join(self._rich_part(element) for element in elements)

    def _rich_part(self, part: Json) -> Markup:
        match part["type"]:
            case "rich_text_section":
                return Markup('<div class="line">{}</div>').format(self._leaves(part["elements"]))
            case "rich_text_preformatted":
                return Markup("<pre>{}</pre>").format(self._leaves(part["elements"]))
            case "rich_text_quote":
                return Markup("<blockquote>{}</blockquote>").format(self._leaves(part["elements"]))
            case _:
                tag = Markup("ol" if part["style"] == "ordered" else "ul")
                items = Markup("").join(
                    Markup("<li>{}</li>").format(self._leaves(item["elements"])) for item in part["elements"]
                )
                indent = part.get("indent", 0)
                return Markup('<{} class="indent-{}">{}</{}>').format(tag, indent, items, tag)

    def _leaves(self, leaves: list[Json]) -> Markup:
        return Markup("").join(self._leaf(leaf) for leaf in leaves)

    def _leaf(self, leaf: Json) -> Markup:
        match leaf["type"]:
            case "text":
                told = escape(leaf["text"])
            case "link":
                told = Markup('<a href="{}" target="_blank" rel="noreferrer">{}</a>').format(
                    leaf["url"], leaf.get("text") or leaf["url"]
                )
            case "date":
                told = Markup("<time>{}</time>").format(_format(leaf["timestamp"], leaf["format"]))
            case "user":
                user = self._workspace.users.get(leaf["user_id"])
                told = Markup('<b class="mention">@{}</b>').format(user.name if user is not None else leaf["user_id"])
            case "emoji":
                told = Markup('<span class="emoji">{}</span>').format(_EMOJI.get(leaf["name"], f":{leaf['name']}:"))
            case _:
                told = Markup('<b class="mention">{}</b>').format(leaf.get("range") or "somebody")
        for style, tag in (("code", "code"), ("bold", "b"), ("italic", "i"), ("strike", "s")):
            if leaf.get("style", {}).get(style):
                told = Markup("<{}>{}</{}>").format(Markup(tag), told, Markup(tag))
        return told

    def _element(self, element: Json, block: Json, where: str) -> Markup:
        if element["type"] == "button":
            return self._button(element, where)
        if element["type"] == "overflow" or element["type"].endswith("select"):
            return self._menu(element, where, live=block["type"] != "input")
        return Markup("<em>{}</em>").format(element["type"])

    def _button(self, element: Json, where: str) -> Markup:
        confirm = element.get("confirm")
        asked = f"{confirm['title']['text']}\n\n{confirm['text']['text']}" if confirm else ""
        return Markup(
            '<button type="button" class="{}" data-press="{}" data-where="{}" data-url="{}" data-confirm="{}">'
            "{}</button>"
        ).format(
            element.get("style", ""),
            element["action_id"],
            where,
            element.get("url", ""),
            asked,
            element["text"]["text"],
        )

    def _menu(self, element: Json, where: str, *, live: bool) -> Markup:
        options = element.get("options") or [o for group in element.get("option_groups", []) for o in group["options"]]
        initial = (element.get("initial_option") or {}).get("value")
        first = element.get("placeholder", {}).get("text", "Choose an option")
        told = Markup('<option value="">{}</option>').format(first)
        for option in options:
            chosen = Markup(" selected") if option["value"] == initial else Markup("")
            told += Markup('<option value="{}"{}>{}</option>').format(option["value"], chosen, option["text"]["text"])
        several = Markup(" multiple") if element["type"].startswith("multi") else Markup("")
        if not live:
            return Markup('<select name="{}"{}>{}</select>').format(element["action_id"], several, told)
        return Markup('<select data-select="{}" data-where="{}"{} aria-label="{}">{}</select>').format(
            element["action_id"], where, several, first, told
        )

    def _input(self, block: Json, where: str) -> Markup:
        element, label = block["element"], block["label"]["text"]
        hint = Markup('<div class="hint">{}</div>').format(block["hint"]["text"]) if "hint" in block else Markup("")
        optional = Markup(' <span class="hint">(optional)</span>') if block.get("optional") else Markup("")
        return Markup(
            '<div class="input" data-label="{}"><div class="label">{}{}</div>{}{}<p class="error"></p></div>'
        ).format(label, label, optional, self._field(element, label, where, block), hint)

    def _field(self, element: Json, label: str, where: str, block: Json) -> Markup:
        kind, initial = element["type"], element.get("initial_value", "")
        if kind in ("radio_buttons", "checkboxes"):
            return self._ticks(element, label)
        if kind.endswith("select"):
            menu = self._menu(element, where, live=False)
            return Markup(str(menu).replace(f'name="{escape(element["action_id"])}"', f'name="{escape(label)}"', 1))
        if kind == "plain_text_input" and element.get("multiline"):
            return Markup('<textarea name="{}" rows="5" aria-label="{}">{}</textarea>').format(label, label, initial)
        type = {"number_input": "text", "datepicker": "date", "email_text_input": "email"}.get(kind, "text")
        if kind == "datepicker":
            initial = element.get("initial_date", "")
        return Markup('<input name="{}" type="{}" value="{}" aria-label="{}">').format(label, type, initial, label)

    def _ticks(self, element: Json, label: str) -> Markup:
        type = "radio" if element["type"] == "radio_buttons" else "checkbox"
        first = element.get("initial_options") or [o for o in [element.get("initial_option")] if o]
        chosen = {option["value"] for option in first}
        told = Markup("")
        for option in element["options"]:
            about = self._words(option["description"]) if "description" in option else Markup("")
            mark = Markup(" checked") if option["value"] in chosen else Markup("")
            told += Markup(
                '<label class="tick"><input type="{}" name="{}" value="{}"{}><span>{}<small>{}</small></span></label>'
            ).format(type, label, option["value"], mark, self._words(option["text"]), about)
        return told


_EMOJI = {
    "white_check_mark": "✅",
    "x": "❌",
    "warning": "⚠️",
    "hourglass_flowing_sand": "⏳",
    "raised_hand": "✋",
    "rotating_light": "🚨",
    "star": "⭐",
    "lock": "🔒",
    "speech_balloon": "💬",
    "eyes": "👀",
    "no_entry": "⛔",
    "tada": "🎉",
}
_MARKS = (("```", "pre"), ("`", "code"), ("*", "b"), ("_", "i"), ("~", "s"))


def _styled(text: str) -> Markup:
    """Bold, italic, code and quotes, as far as an app's own short texts use them."""
    for mark, tag in _MARKS:
        before, found, rest = text.partition(mark)
        inside, closed, after = rest.partition(mark)
        if found and closed and inside.strip() == inside and inside:
            middle = escape(inside) if tag in ("pre", "code") else _styled(inside)
            return _styled(before) + Markup("<{}>{}</{}>").format(Markup(tag), middle, Markup(tag)) + _styled(after)
    return Markup("<br>").join(text.split("\n"))


def _dated(token: str, fallback: str) -> str:
    parts = token.split("^")
    return _format(int(parts[1]), parts[2]) if len(parts) > 2 and parts[1].isdigit() else fallback


def _format(timestamp: int, format: str) -> str:
    at = datetime.fromtimestamp(int(timestamp), UTC)
    for token, pattern in _FORMATS.items():
        format = format.replace(token, at.strftime(pattern))
    return format.replace("{ago}", _ago(int(timestamp) - time.time()))


def _ago(seconds: float) -> str:
    amount = abs(seconds)
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if amount >= size:
            count = round(amount / size)
            words = f"{count} {unit}{'' if count == 1 else 's'}"
            return f"in {words}" if seconds > 0 else f"{words} ago"
    return "in a moment" if seconds > 0 else "just now"
