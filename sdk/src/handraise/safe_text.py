"""Text written by others, made harmless for a terminal: what would steer or hide is shown instead of obeyed."""

import unicodedata

_LETTERLIKE_CONTROLS = 0x2400
_DELETE, _DELETE_SYMBOL = 0x7F, "\u2421"
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Blank on screen though Unicode calls them letters, marks or symbols.
_BLANKS = frozenset([0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0])
_SPARE_SELECTORS = (range(0x180B, 0x1810), range(0xFE00, 0xFE0E), range(0xE0100, 0xE01F0))


def visible(text: str) -> str:
    """The text with control, bidi and invisible characters made visible; line ends and tabs stay."""
    return "".join(character if character in "\n\t" else _shown(character) for character in text)


def one_line(text: str, width: int | None = None) -> str:
    """The text on one line, safe, and shortened to `width` characters where one is given."""
    line = visible(" ".join(text.split()))
    return line if width is None or len(line) <= width else line[: width - 1].rstrip() + "\u2026"


def quoted(text: str) -> str:
    """Every line indented, so that none of them can pass for a line of ours."""
    return "\n".join(f"    {line}" for line in visible(text).split("\n"))


def _shown(character: str) -> str:
    code = ord(character)
    if 0x20 <= code < _DELETE:
        return character
    if code < 0x20:
        return chr(_LETTERLIKE_CONTROLS + code)
    if code == _DELETE:
        return _DELETE_SYMBOL
    if unicodedata.category(character) in _HIDDEN_CATEGORIES or code in _BLANKS:
        return f"<U+{code:04X}>"
    if any(code in selectors for selectors in _SPARE_SELECTORS):
        return f"<U+{code:04X}>"
    return character
