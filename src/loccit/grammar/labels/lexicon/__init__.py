"""The vocabulary of labels: one JSON file per language, and ``kinds.json`` with what applies to all.

All languages are read at once, since documents quote one another. The notation of a file:

- ``kinds`` names what stands on its own (``article``), ``parts`` what is counted below it (``paragraph``): singular
  forms, then plural forms after a slash. ``_`` stands for a blank.
- ``word.`` is cut short: in running text it needs its full stop, ``word.?`` may go without, ``word.!`` always needs it.
- ``+word`` only carries a reference on (*Artikel 6 Absatz 1 Nummer 3*), ``^word`` counts in headings only, and
  ``~word`` only in running text.
- ``after`` has kinds that stand behind their number (``3 luku``, ``5 §``), ``around`` those that enclose it
  (``第三条``).
- ``numbers`` are words that stand behind a kind (``Article premier``), ``ordinals`` those before it (``Zweiter Teil``);
  ``sole`` is what stands for a number where there is only one. ``number_joins`` are the words between two of them.
- ``and``, ``to`` and ``of`` join references. ``genitive`` says that *of* goes without saying: *пункт 3 статьи 5*.
- ``asked`` are further words that name a place or document in a query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

_TURKISH_AND_LONG = str.maketrans({"İ": "i", "ı": "i", "ſ": "s"})


@dataclass(frozen=True, slots=True)
class Form:
    """One written form of a kind; ``stop`` is ``may``, ``must`` or ``always`` if it is an abbreviation, else empty."""

    word: str
    kind: str
    plural: bool
    stop: str = ""
    only_after: bool = False
    only_heading: bool = False
    only_text: bool = False
    either: bool = False
    """Whether singular and plural are the same."""


@dataclass(frozen=True, slots=True)
class Around:
    """A language that encloses the number: ``第`` 三 ``条``; ``again`` precedes the number of a later insertion."""

    before: str
    again: str
    kinds: dict[str, str]
    parts: dict[str, str]


@dataclass(slots=True)
class Lexicon:
    """All languages together. Words are in lower case."""

    kinds: dict[str, dict[str, Any]] = field(default_factory=dict)
    forms: dict[str, Form] = field(default_factory=dict)
    """Kinds that precede their number, by word."""
    parts: dict[str, Form] = field(default_factory=dict)
    """Parts of a numbered place, by word."""
    after: dict[str, Form] = field(default_factory=dict)
    around: list[Around] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    ordinals: dict[str, int] = field(default_factory=dict)
    sole: set[str] = field(default_factory=set)
    number_joins: set[str] = field(default_factory=set)
    conjunctions: set[str] = field(default_factory=set)
    ranges: set[str] = field(default_factory=set)
    prepositions: set[str] = field(default_factory=set)
    genitive_parts: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)

    def kinds_with(self, key: str, value: object) -> frozenset[str]:
        """The kinds with a property in ``kinds.json``."""
        return frozenset(kind for kind, facts in self.kinds.items() if facts.get(key) == value)


@cache
def load() -> Lexicon:
    """Read the files, once."""
    lexicon = Lexicon()
    texts = {
        item.name: item.read_text(encoding="utf-8")
        for item in files(__name__).iterdir()
        if item.name.endswith(".json")
    }
    lexicon.kinds = json.loads(texts.pop("kinds.json"))
    # English comes first: if two languages share a word, its meaning counts.
    for name in sorted(texts, key=lambda name: (name != "en.json", name)):
        _add(lexicon, json.loads(texts[name]))
    return lexicon


def _add(lexicon: Lexicon, language: dict[str, Any]) -> None:
    for table, into in (("kinds", lexicon.forms), ("parts", lexicon.parts), ("after", lexicon.after)):
        for kind, written in language.get(table, {}).items():
            for form in _forms(kind, written):
                known = into.setdefault(form.word, form)
                if known.kind == kind and known.plural != form.plural:
                    into[form.word] = replace(known, plural=False, either=True)
                if table == "parts" and language.get("genitive"):
                    lexicon.genitive_parts.add(form.word)
    if around := language.get("around"):
        units = (
            {unit: kind for kind, all in around[table].items() for unit in all.split()}
            for table in ("kinds", "parts")
        )
        lexicon.around.append(Around(around["before"], around["again"], *units))
    for table, values in (("numbers", lexicon.numbers), ("ordinals", lexicon.ordinals)):
        for entry in filter(None, language.get(table, "").split(",")):
            value, *words = entry.split()
            for word in words:
                values.setdefault(lowered(word), int(value))
    for table, words_of in (
        ("sole", lexicon.sole),
        ("number_joins", lexicon.number_joins),
        ("and", lexicon.conjunctions),
        ("to", lexicon.ranges),
        ("of", lexicon.prepositions),
        ("asked", lexicon.asked),
    ):
        words_of.update(_words(language.get(table, "")))


def _words(written: str) -> list[str]:
    return [lowered(word).replace("_", " ") for word in written.split()]


def _forms(kind: str, written: str) -> Iterator[Form]:
    singular, _, plural = written.partition("/")
    for words, is_plural in ((singular, False), (plural, True)):
        for word in _words(words):
            mark = word[0] if word[0] in "+^~" else ""
            bare = word.removeprefix(mark)
            stem, stop = next(
                (bare.removesuffix(ending), name)
                for ending, name in ((".?", "may"), (".!", "always"), (".", "must"), ("", ""))
                if bare.endswith(ending)
            )
            yield Form(stem, kind, is_plural, stop, mark == "+", mark == "^", mark == "~")


def lowered(text: str) -> str:
    """The text in lower case, character for character: scanning it is much faster than ignoring case."""
    return text.translate(_TURKISH_AND_LONG).lower()


def one_of(words: Iterable[str]) -> str:
    """A pattern for a set of words that shares their prefixes, so that most text fails at the first letter."""
    tree: dict[str, Any] = {}
    for word in words:
        node = tree
        for letter in word:
            node = node.setdefault(letter, {})
        node[""] = {}
    return _pattern(tree)


def _pattern(tree: dict[str, Any]) -> str:
    branches = [_escape(letter) + _pattern(below) for letter, below in sorted(tree.items()) if letter]
    if not branches:
        return ""
    joined = branches[0] if len(branches) == 1 and "" not in tree else f"(?:{'|'.join(branches)})"
    return f"{joined}?" if "" in tree else joined


def _escape(letter: str) -> str:
    return r"\s" if letter == " " else re.escape(letter)
