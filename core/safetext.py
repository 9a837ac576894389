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
_EMOJI_STYLES = frozenset("\ufe0e\ufe0f")
_KEYCAPS = frozenset("0123456789#*")
_JOINER = "\u200d"
_LAYOUT = frozenset("\n\t")


def visible(text: str) -> str:
    """The text with every hidden character spelled out as ⟨U+202E⟩; line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(
        character if _is_plain(character) or _is_part_of_emoji(text, place) else f"⟨U+{ord(character):04X}⟩"
        for place, character in enumerate(text)
    )


def one_line(text: str) -> str:
    return " ".join(visible(text).split())


def _is_part_of_emoji(text: str, place: int) -> bool:
    """Whether an invisible character joins or colours a visible symbol, as in ⚠️, 1️⃣ and 👩‍💻, and so hides nothing."""
    before = text[place - 1] if place > 0 else ""
    if text[place] in _EMOJI_STYLES:
        return before in _KEYCAPS or _is_symbol(before)
    after = text[place + 1] if place + 1 < len(text) else ""
    return text[place] == _JOINER and (_is_symbol(before) or before in _EMOJI_STYLES) and _is_symbol(after)


def _is_symbol(character: str) -> bool:
    return character != "" and unicodedata.category(character) in ("So", "Sk", "Sm")


def _is_plain(character: str) -> bool:
    if character in _LAYOUT:
        return True
    return unicodedata.category(character) not in _HIDDEN_CATEGORIES and ord(character) not in _BLANK
