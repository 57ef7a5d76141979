"""The words that references in running text are made of, out of the lexicon of all languages."""

from __future__ import annotations

from pinakes.labels.kinds import CONTAINERS
from pinakes.labels.lexicon import load, one_of

_SIGNS = {"§", "§§"}
_LEXICON = load()
_KINDS = {word: form for word, form in _LEXICON.forms.items() if not form.only_heading and word not in _SIGNS}
_ALL = {**_LEXICON.parts, **_KINDS}
KIND_OF = {word: form.kind for word, form in _ALL.items()}
# What a word means behind an article: `статья 5 часть 2` is no part of the code.
PART_OF = {**KIND_OF, **{word: form.kind for word, form in _LEXICON.parts.items()}}
PLURALS = frozenset(word for word, form in _ALL.items() if form.plural)
# Short forms that are words, names or units of their own unless a full stop follows.
NEED_STOP = frozenset(word for word, form in _ALL.items() if form.stop in ("must", "always"))
# What may be cut short with a full stop; after any other word the sentence ends.
SHORT = NEED_STOP | {word for word, form in _ALL.items() if form.stop == "may"}
# Words that only carry a reference on (`Artikel 6 Absatz 1 Nummer 3`): on their own they are prose.
ONLY_AFTER = frozenset(word for word, form in _ALL.items() if form.only_after)
# Words that stand for a place without its number only: `this provision`.
ONLY_THIS = frozenset(word for word, form in _ALL.items() if form.only_text)
# Kinds whose parts are lettered in capitals: `Annex B`, `Part A`.
LETTERED = CONTAINERS | {"section"}

# White space inside a reference: some blanks, one line break, never an empty line.
S0 = r"(?:[^\S\n]{0,3}(?:\n[^\S\n]{0,8})?)"
S1 = r"(?:[^\S\n]{1,3}(?:\n[^\S\n]{0,8})?|\n[^\S\n]{0,8})"

WORD = one_of(KIND_OF)
