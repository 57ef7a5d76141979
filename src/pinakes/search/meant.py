"""Meant: whether a number in a query names a place, and what the other words say about which one.

``Section 3.0`` and ``32.706-2`` can mean nothing else. ``3.0`` in a sentence is as often a version or a measure: there
it is meant as a place only when the other words name the place too, or nothing (``pump manual 3.1``, ``what does 4.2
say``).
"""

from __future__ import annotations

import re
from pathlib import PurePath

from pinakes.search.understand import Query
from pinakes.stores.embedded.lookup import StoredClause, StoredSection
from pinakes.text.keys import title_key
from pinakes.text.labels import Label
from pinakes.text.stopwords import STOPWORDS

# What the share of words that name the document may add: less than a heading is preferred to a paragraph.
_WORDS_OF_NAME = 0.4
_FUNCTION_WORDS = frozenset().union(*STOPWORDS.values())
# What one says to be shown a place, in the forms that title keys have.
_ASKING = frozenset(
    "say says state states read show open see find explain summarise summarize compare mean means text content "
    "contents sagt steht zeig zeige lies erklare vergleiche inhalt dit montre explique texte dice muestra explica "
    "texto mostra spiega testo zegt staat toon tekst diz".split()
)
# Parts in brackets or after a hyphen, a letter before the dot, three digits after it: no version is written so.
_ONLY_A_PLACE = re.compile(r"\(|\d[-‑–]\d|\A[A-Z]\.\d|\.\d{3}")


def is_meant(label: Label, query: Query, found: StoredSection | StoredClause) -> bool:
    """Whether a reference that leads to a place is meant as a reference, rather than as a number."""
    if label.kind or _ONLY_A_PLACE.search(label.text) or label.text == query.text:
        return True
    heading = found.section.heading if isinstance(found, StoredSection) else ""
    names = {*_names(found), *title_key(heading).split(), *_ASKING}
    return all(word in names or _is_initials(word, found) for word in _asked(query.rest))


def naming(found: StoredSection | StoredClause, words: str) -> float:
    """How well words name a place's document, as in ``FAR 32.706-2`` and ``GDPR art 15``: 0, or 1 and a little."""
    asked, names = _asked(words), _names(found)
    fitting = sum(word in names or _is_initials(word, found) for word in asked)
    return 1.0 + _WORDS_OF_NAME * fitting / len(asked) if fitting else 0.0


def _asked(words: str) -> list[str]:
    """The words that may be names; `of` is in many titles and names none of them, `AI` names the AI Act."""
    written = set(words.split())
    return [
        word
        for word in title_key(words).split()
        if len(word) > 1 and (word not in _FUNCTION_WORDS or word.upper() in written)
    ]


def _names(found: StoredSection | StoredClause) -> set[str]:
    return set(title_key(f"{found.document_title} {PurePath(found.source_path).stem}").split())


def _is_initials(word: str, found: StoredSection | StoredClause) -> bool:
    initials = "".join(part[0] for part in title_key(found.document_title).split())
    return len(word) > 2 and word in initials
