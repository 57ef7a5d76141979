"""The verbatim form of texts: the wording, ignoring case, line breaks and kinds of quotes."""

from __future__ import annotations

from loccit.expressions import expression

VARIANTS = ("'’‘‚‛ʼ＇`", '"“”„‟«»', "-‐‑‒–—−")
"""Equivalent characters; the first of each group represents all."""

UNPARTED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Characters of scripts that do not separate words, as a regular expression range: each counts as a word."""

PARAGRAPH_END = expression(r"\n[^\S\n]*\n\s*")
END = "\0"
"""A separator that occurs in no verbatim form."""


_UNPARTED = expression(f"[{UNPARTED}]")


def is_of_word(sign: str) -> bool:
    """Whether a character belongs to a word that continues with the adjacent characters.

    >>> [is_of_word(sign) for sign in "a7字-"]
    [True, True, False, False]
    """
    return sign.isalnum() and not _UNPARTED.match(sign)


def fold_case(text: str) -> str:
    """Return a text in lower case, character for character."""
    lowered = text.lower()
    if text.isascii():
        return lowered
    if "İ" in text:
        lowered = text.replace("İ", "i").lower()
    return lowered.replace("ς", "σ")


def verbatim_form(text: str) -> str:
    """Return a text in lower case, with one kind of quotes and dashes, one paragraph per line, and single spaces.

    >>> verbatim_form("The  “Harbour\\n Office”\\n \\n\\nis\\u00a0open – always")
    'the "harbour office"\\nis open - always'
    """
    folded = fold_case(text).replace(END, "\ufffd")
    for signs in VARIANTS:
        for other in signs[1:]:
            folded = folded.replace(other, signs[0])
    return "\n".join(" ".join(paragraph.split()) for paragraph in PARAGRAPH_END.split(folded))
