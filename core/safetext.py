"""Text from agents is data: whatever is invisible in it or would reorder, hide or move other text is made visible."""

import unicodedata

#: Characters that show nothing, though their category does not say so (Unicode's default-ignorables and blanks).
_BLANK = frozenset(
    [
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
        *range(0x180B, 0x1810),
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    ]
)
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_LAYOUT = frozenset("\n\t")


def visible(text: str) -> str:
    """The text with every hidden character spelled out as ⟨U+202E⟩; line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if _is_plain(character) else f"⟨U+{ord(character):04X}⟩" for character in text)


def one_line(text: str) -> str:
    return " ".join(visible(text).split())


def _is_plain(character: str) -> bool:
    if character in _LAYOUT:
        return True
    return unicodedata.category(character) not in _HIDDEN_CATEGORIES and ord(character) not in _BLANK
