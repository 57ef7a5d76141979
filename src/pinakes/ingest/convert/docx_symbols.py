"""Characters that Word draws with symbol fonts, as the Unicode characters they look like."""

from __future__ import annotations

_GREEK_UPPER = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
_GREEK_LOWER = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_SYMBOL = {
    **{0x41 + index: letter for index, letter in enumerate(_GREEK_UPPER)},
    **{0x61 + index: letter for index, letter in enumerate(_GREEK_LOWER)},
    **{code: chr(code) for code in range(0x20, 0x40)},
    0x22: "∀", 0x24: "∃", 0x27: "∋", 0x2A: "∗", 0x2D: "−", 0x40: "≅", 0x5B: "[", 0x5D: "]",
    0x5F: "_", 0x7B: "{", 0x7C: "|", 0x7D: "}", 0x7E: "∼", 0xA2: "′", 0xA3: "≤", 0xA5: "∞",
    0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓", 0xB0: "°", 0xB1: "±", 0xB2: "″",
    0xB3: "≥", 0xB4: "×", 0xB5: "∝", 0xB6: "∂", 0xB7: "•", 0xB8: "÷", 0xB9: "≠", 0xBA: "≡",
    0xBB: "≈", 0xBC: "…", 0xC5: "⊕", 0xC6: "∅", 0xC7: "∩", 0xC8: "∪", 0xCC: "⊂", 0xCE: "∈",
    0xCF: "∉", 0xD0: "∠", 0xD1: "∇", 0xD2: "®", 0xD3: "©", 0xD4: "™", 0xD5: "∏", 0xD6: "√",
    0xD7: "⋅", 0xD8: "¬", 0xD9: "∧", 0xDA: "∨", 0xDB: "⇔", 0xDC: "⇐", 0xDE: "⇒", 0xE2: "®",
    0xE3: "©", 0xE4: "™", 0xE5: "∑", 0xF2: "∫",
}  # fmt: skip
_WINGDINGS = {
    0x21: "✏", 0x28: "☎", 0x29: "✆", 0x2A: "✉", 0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6E: "■",
    0x6F: "☐", 0x71: "❑", 0x72: "❒", 0x75: "◆", 0x76: "❖", 0x77: "◆", 0x78: "☒", 0x9E: "·",
    0x9F: "•", 0xA1: "○", 0xA7: "▪", 0xA8: "☐", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑",
    0xE2: "↓", 0xE8: "➔", 0xEF: "⇦", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
_WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0xA3: "☐", 0x97: "•"}
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}
# Symbol fonts sit in this part of the private use area.
_PRIVATE = range(0xF000, 0xF100)


def symbol(code: int, font: str) -> str:
    """The character for a code of a font; empty when it is a private one that cannot be known."""
    known = _FONTS.get(font.casefold())
    if known is not None:
        return known.get(code - 0xF000 if code in _PRIVATE else code, "")
    if code in _PRIVATE:
        return "•" if code == 0xF0B7 else ""
    printable = 0x20 <= code < 0xD800 or 0xF900 <= code < 0x110000
    return chr(code) if printable else ""


def translate(text: str, font: str) -> str:
    """Running text with its private characters replaced; everything else is left alone."""
    if not any(ord(character) in _PRIVATE for character in text):
        return text
    return "".join(symbol(ord(c), font) if ord(c) in _PRIVATE else c for c in text)
