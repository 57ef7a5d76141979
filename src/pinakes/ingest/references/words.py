"""The words that references are made of: the kinds of parts, and how deep each of them lies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

# Canonical kind -> (singular forms, plural forms), all languages together: statutes quote one another.
_FORMS: dict[str, tuple[str, str]] = {
    "article": (
        "article art artikel artikels artículo articolo artigo",
        "articles arts artikeln artículos articoli",
    ),
    "section": ("section sec sect sección sezione", "sections secs sects secciones"),
    "rule": ("rule", "rules"),
    "regulation": ("regulation reg", "regulations regs"),
    "recital": (
        "recital erwägungsgrund considérant",
        "recitals erwägungsgründe erwägungsgründen considérants",
    ),
    "clause": ("clause cl klausel cláusula provision", "clauses cls klauseln cláusulas provisions"),
    "chapter": (
        "chapter chap ch kapitel kapitels chapitre capítulo",
        "chapters chaps kapiteln chapitres capítulos",
    ),
    "part": ("part pt teil teils partie parte", "parts pts teile teilen parties partes"),
    "subpart": ("subpart", "subparts"),
    "title": ("title titel titels titre título titolo", "titles titeln titres títulos"),
    "subtitle": ("subtitle", "subtitles"),
    "subchapter": ("subchapter", "subchapters"),
    "division": ("division abschnitt abschnitts", "divisions abschnitte abschnitten"),
    "book": ("book buch livre libro", "books livres"),
    "annex": ("annex anhang anlage annexe anexo allegato bijlage", "annexes anhänge anlagen anexos"),
    "appendix": ("appendix app", "appendices"),
    "schedule": ("schedule sched", "schedules"),
    "exhibit": ("exhibit", "exhibits"),
    "paragraph": (
        "paragraph para paragraphe absatz absatzes abs alinéa apartado",
        "paragraphs paras paragraphes absätze absätzen alinéas apartados",
    ),
    "subsection": ("subsection sub-section", "subsections sub-sections"),
    "subparagraph": ("subparagraph sub-paragraph", "subparagraphs sub-paragraphs"),
    "subclause": ("subclause sub-clause", "subclauses sub-clauses"),
    "point": (
        "point letter lit litera buchstabe buchstabens lettre letra",
        "points letters buchstaben lettres letras",
    ),
    "item": ("item nummer nr", "items nummern nrn"),
    "sentence": ("satz unterabsatz unterabs", "sätze"),
}
KIND_OF = {word: kind for kind, forms in _FORMS.items() for words in forms for word in words.split()}
PLURALS = frozenset(word for _, plural in _FORMS.values() for word in plural.split())
# Short forms that are words, names or units of their own unless a full stop follows.
NEED_STOP = frozenset("cl cls ch chap pt pts app sched abs lit reg regs art nr".split())
# What may be cut short with a full stop; after any other word the sentence ends.
SHORT = NEED_STOP | frozenset("sec secs sect sects arts para paras nrn unterabs".split())
# Words that only carry a reference on (`Artikel 6 Absatz 1 Nummer 3`): on their own they are prose.
ONLY_AFTER = frozenset(
    "letter letters lettre lettres letra letras item items nummer nummern nr nrn satz sätze".split()
    + "unterabsatz unterabs".split()
)

CONTAINERS = frozenset(
    "title subtitle part subpart book division chapter subchapter annex appendix schedule exhibit".split()
)
LEAVES = frozenset("article section rule regulation recital clause".split())
# Levels below a numbered leaf; `sentence` stands for unnumbered parts, which have no place of their own.
_DEPTH = {
    "subsection": 2,
    "paragraph": 2,
    "subparagraph": 3,
    "subclause": 4,
    "point": 4,
    "item": 4,
    "sentence": 5,
}
# Kinds whose parts are lettered in capitals: `Annex B`, `Part A`.
LETTERED = CONTAINERS | {"section"}

# White space inside a reference: some blanks, one line break, never an empty line.
S0 = r"(?:[^\S\n]{0,3}(?:\n[^\S\n]{0,8})?)"
S1 = r"(?:[^\S\n]{1,3}(?:\n[^\S\n]{0,8})?|\n[^\S\n]{0,8})"


def one_of(words: Iterable[str]) -> str:
    """A pattern for a set of words that shares their beginnings, so that most text fails at the first letter."""
    tree: dict[str, Any] = {}
    for word in words:
        node = tree
        for letter in word:
            node = node.setdefault(letter, {})
        node[""] = {}
    return _pattern(tree)


def _pattern(tree: dict[str, Any]) -> str:
    branches = [re.escape(letter) + _pattern(below) for letter, below in sorted(tree.items()) if letter]
    if not branches:
        return ""
    joined = branches[0] if len(branches) == 1 and "" not in tree else f"(?:{'|'.join(branches)})"
    return f"{joined}?" if "" in tree else joined


WORD = one_of(KIND_OF)


def lowered(text: str) -> str:
    """The text in small letters, character for character: scanning it is much faster than ignoring case."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


def depth(kind: str) -> int:
    """How deep a kind lies: 0 for what contains articles, 1 for articles, more below them."""
    return 0 if kind in CONTAINERS else _DEPTH.get(kind, 1)


def is_sub(kind: str) -> bool:
    """Whether a kind names a part below a numbered leaf."""
    return kind in _DEPTH
