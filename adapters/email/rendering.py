"""A letter as plain text and as HTML. The HTML loads nothing, runs nothing and has one link, which is ours."""

import re
from collections.abc import Iterable
from html import escape
from itertools import groupby
from typing import assert_never

from adapters.email.letter import Block, Code, Heading, Letter, Option, Page, Pairs, Sentence, Small, Who, Words

_INDENT = "    "
# What mail programs make a link of by themselves. An element in its middle keeps them from it, and copies as nothing.
_LINKED = re.compile(r":(?=//)|(?<=\w)[.@](?=\w)")

_BODY = (
    "margin:0;padding:24px 16px;font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;"
    "font-size:16px;line-height:1.5"
)
_WRAP = "white-space:pre-wrap;overflow-wrap:anywhere;word-break:break-word"
_MONO = "font-family:ui-monospace,Menlo,Consolas,'Liberation Mono',monospace;font-size:13px;line-height:1.45"
_LINE = "rgba(128,128,128,.4)"
_STYLES = {
    "first": "margin:0 0 16px;padding:12px 14px;border-radius:6px;background:rgba(210,140,0,.16);font-weight:600",
    "sentence": "margin:0 0 12px",
    "who": "margin:0 0 4px;font-size:14px;opacity:.75",
    "words": f"margin:0 0 16px;padding-left:14px;border-left:3px solid #5b84dd;font-size:18px;{_WRAP}",
    "heading": "margin:24px 0 8px;font-size:14px;font-weight:600;opacity:.75",
    "option": f"margin:0 0 10px;padding:10px 14px;border:1px solid {_LINE};border-radius:6px",
    "note": f"margin:4px 0 0;{_WRAP}",
    "mark": "font-size:13px;font-weight:400;opacity:.75",
    "table": "border-collapse:collapse;width:100%",
    "name": f"width:24%;padding:3px 16px 3px 0;vertical-align:top;font-size:14px;opacity:.75;{_WRAP}",
    "value": f"padding:3px 0;vertical-align:top;font-size:14px;{_WRAP}",
    "code": f"margin:0;padding:10px 14px;border:1px solid {_LINE};border-radius:6px;{_MONO};{_WRAP}",
    "plus": "background:rgba(46,160,67,.2)",
    "minus": "background:rgba(220,60,60,.2)",
    "page": "margin:20px 0",
    "link": (
        "display:inline-block;padding:10px 18px;border-radius:6px;background:#2458c5;color:#ffffff;"
        "font-weight:600;text-decoration:none"
    ),
    "small": f"margin:24px 0 0;padding-top:12px;border-top:1px solid {_LINE};font-size:13px;opacity:.75",
}
_SIGNS = {"+": "plus", "-": "minus"}
_HEAD = (
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
    '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">'
    '<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">'
    "<title>handraise</title>"
)


def as_text(letter: Letter) -> str:
    """Words of others are always indented: what stands at the left margin is ours."""
    return "\n".join(line.rstrip() for block in letter.blocks for line in _text_lines(block)).strip("\n") + "\n"


def _text_lines(block: Block) -> list[str]:
    match block:
        case Sentence() | Small():
            return [block.text, ""]
        case Who():
            return [f"✋ {block.text}", ""]
        case Words() | Code():
            return [*_indented(block.text), ""]
        case Heading():
            return [block.text, "-" * len(block.text)]
        case Pairs():
            return [line for name, value in block.pairs for line in _indented(f"{name}: {_hanging(value)}")] + [""]
        case Option():
            notes = [block.description, block.implications and f"Implies: {block.implications}"]
            notes += [f"+ {pro}" for pro in block.pros] + [f"- {con}" for con in block.cons]
            mark = " (recommended)" if block.is_recommended else ""
            told = "".join(f"\n{_INDENT}{_hanging(note)}" for note in notes if note)
            return [*_indented(f"* {block.label}{mark}{told}"), ""]
        case Page():
            return [f"{block.label}: {block.url}", ""]
        case _:
            assert_never(block)


def _indented(text: str) -> list[str]:
    return [f"{_INDENT}{line}" for line in text.split("\n")]


def _hanging(text: str) -> str:
    return text.replace("\n", f"\n{_INDENT}")


def as_html(letter: Letter) -> str:
    body = "\n".join(_html(block) for block in letter.blocks)
    frame = f'<div style="max-width:640px;margin:0 auto">\n{body}\n</div>'
    return f'<!doctype html>\n<html lang="en"><head>{_HEAD}</head>\n<body style="{_BODY}">\n{frame}\n</body></html>\n'


def _html(block: Block) -> str:
    match block:
        case Sentence():
            return _tag("p", "first" if block.is_first else "sentence", _data(block.text))
        case Who():
            return _tag("p", "who", _data(block.text))
        case Words():
            return _tag("div", "words", _lines(block.text))
        case Heading():
            return _tag("h2", "heading", _data(block.text))
        case Pairs():
            return f'<table role="presentation" style="{_STYLES["table"]}">{"".join(_rows(block.pairs))}</table>'
        case Option():
            return _tag("div", "option", _option(block))
        case Code():
            return _tag("pre", "code", _diff(block.text) if block.is_diff else _data(block.text))
        case Page():
            anchor = f'<a href="{escape(block.url)}" style="{_STYLES["link"]}">{escape(block.label)}</a>'
            return _tag("p", "page", anchor)
        case Small():
            return _tag("p", "small", _data(block.text))
        case _:
            assert_never(block)


def _tag(name: str, style: str, inner: str) -> str:
    return f'<{name} style="{_STYLES[style]}">{inner}</{name}>'


def _data(text: str) -> str:
    return _LINKED.sub(r"<span>\g<0></span>", escape(text))


def _lines(text: str) -> str:
    # Some mail programs do not know pre-wrap, and all of them know <br>.
    return _data(text).replace("\n", "<br>")


def _rows(pairs: Iterable[tuple[str, str]]) -> Iterable[str]:
    for name, value in pairs:
        yield f"<tr>{_tag('td', 'name', _data(name))}{_tag('td', 'value', _lines(value))}</tr>"


def _option(option: Option) -> str:
    mark = f" {_tag('span', 'mark', '(recommended)')}" if option.is_recommended else ""
    notes = [option.description, option.implications and f"Implies: {option.implications}"]
    notes += [f"+ {pro}" for pro in option.pros] + [f"− {con}" for con in option.cons]
    return f"<b>{_data(option.label)}</b>{mark}" + "".join(_tag("div", "note", _lines(note)) for note in notes if note)


def _diff(text: str) -> str:
    runs = groupby(text.split("\n"), key=lambda line: _SIGNS.get(line[:1]))
    return "\n".join(_run(style, _data("\n".join(lines))) for style, lines in runs)


def _run(style: str | None, inner: str) -> str:
    return _tag("span", style, inner) if style else inner
