"""Words that a database's own text analysis leaves unchanged.

Our terms are already analysed, and may contain anything but spaces. Databases whose analysis cannot be turned off would
split them at punctuation, stem them again, or drop them as stop words. Encoded as lower-case letters that end in q, a
term is one word to all of them, not a stop word, and has no suffix that a stemmer knows.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

_PLAIN = re.compile(r"[a-z]{1,60}")
_PREFIX, _END = "zq", "q"
# Longer words are cut or ignored by full-text engines.
_LONGEST = 64
_LETTERS = "abcdefghijklmnop"


def whole_word(term: str) -> str:
    """Return a term as one word of letters; different terms give different words.

    >>> whole_word("retent"), whole_word("a.b")
    ('retentq', 'zqgbcogcq')
    """
    if _PLAIN.fullmatch(term) and not term.startswith(_PREFIX):
        return term + _END
    raw = term.encode("utf-8", "surrogatepass")
    written = _PREFIX + _spelled(raw) + _END
    if len(written) <= _LONGEST:
        return written
    # The letter z is in no encoding, so that a digest is never taken for a short term.
    return _PREFIX + "z" + _spelled(hashlib.sha256(raw).digest()[:16]) + _END


def whole_words(terms: str | Iterable[str]) -> list[str]:
    """Return the words of terms separated by spaces, or of a list of them, in order."""
    found = terms.split(" ") if isinstance(terms, str) else terms
    return [whole_word(term) for term in found if term]


def _spelled(raw: bytes) -> str:
    return "".join(_LETTERS[byte >> 4] + _LETTERS[byte & 15] for byte in raw)
