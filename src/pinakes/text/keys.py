"""Forms of a text under which it is looked up."""

from __future__ import annotations

import re
import unicodedata

from pinakes.text.folding import fold, lower

_NOT_WORD = re.compile(r"[^\w]+")
_MAX_TYPED = 100


def title_key(text: str) -> str:
    """Reduce a heading or a query to its words, so that case, accents and punctuation do not matter.

    >>> title_key("Right to erasure (‘right to be forgotten’).")
    'right to erasure right to be forgotten'
    """
    if text.isascii():
        return _NOT_WORD.sub(" ", text.lower()).strip()[:300].rstrip()
    # Taken apart before folding too: a letter of mathematics has no case until it is a plain one.
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    plain = "".join(c for c in folded if not unicodedata.combining(c))
    return _NOT_WORD.sub(" ", plain).strip()[:300].rstrip()


def typed_key(text: str) -> str:
    """Return a text as it is compared with what somebody types: whatever its case, accents and spaces."""
    return " ".join(fold(lower(text[:_MAX_TYPED])).split())


def slug(text: str, limit: int = 60) -> str:
    """Make an id of words: ``Payment Terms`` becomes ``payment_terms``."""
    words = re.findall(r"\w+", text.casefold())
    return "_".join(words)[:limit].strip("_")
