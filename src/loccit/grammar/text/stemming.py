"""Stemming by language, with Snowball, cached and thread-safe."""

from __future__ import annotations

import threading
from typing import Any

import Stemmer

from loccit.grammar.text.folding import fold

ALGORITHMS = {
    "ar": "arabic",
    "hy": "armenian",
    "eu": "basque",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "nl": "dutch",
    "en": "english",
    "eo": "esperanto",
    "et": "estonian",
    "fi": "finnish",
    "fr": "french",
    "de": "german",
    "el": "greek",
    "hi": "hindi",
    "hu": "hungarian",
    "id": "indonesian",
    "ga": "irish",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nb": "norwegian",
    "nn": "norwegian",
    "no": "norwegian",
    "fa": "persian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "es": "spanish",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
_AVAILABLE = frozenset(Stemmer.algorithms())
_local = threading.local()


def stemmer_version() -> str:
    """Version of the stemmers: stems may differ between versions, so an index remembers it."""
    return str(Stemmer.version())


def algorithm_for(language: str) -> str:
    """The stemmer for a language code (``en``, ``pt-BR``), or "" if there is none."""
    name = ALGORITHMS.get(language.replace("_", "-").partition("-")[0].lower(), "")
    return name if name in _AVAILABLE else ""


def stem(word: str, algorithm: str) -> str:
    """The stem of a lower-case word."""
    if not algorithm:
        return word
    # Stemmer objects have an internal buffer, so each thread has its own.
    stemmers: dict[str, Any] | None = getattr(_local, "stemmers", None)
    if stemmers is None:
        stemmers = _local.stemmers = {}
    stemmer = stemmers.get(algorithm)
    if stemmer is None:
        stemmer = stemmers[algorithm] = Stemmer.Stemmer(algorithm, 0)  # 0: we cache whole words ourselves
    return str(stemmer.stemWord(word)) or word


def index_forms(word: str, algorithm: str) -> tuple[str, ...]:
    """The terms under which a lower-case word is indexed: its stem without accents.

    Stemmers recognise suffixes by their accents, while people leave accents out; if stemming before and after folding
    differ (French ``activité``), both stems are kept, so that either spelling finds the other.
    """
    folded = fold(word)
    if not algorithm:
        return (folded,)
    last = stem(folded, algorithm)
    if folded == word:
        return (last,)
    first = fold(stem(word, algorithm))
    return (first,) if first == last else (first, last)
