"""Understand: what a query names literally, before anything is looked up.

Names of documents are recognised and removed first, because they contain numbers and words that look like references
(`Part12`, `BOE-A-2012-7257`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from loccit.errors import UsageError
from loccit.grammar.labels import Label, parse_whole
from loccit.grammar.labels.names import FUNCTION_WORDS, name_tokens
from loccit.grammar.labels.places import FoundPlaces, find_places
from loccit.grammar.text.keys import title_key
from loccit.search.understand.designators import glued, readings
from loccit.search.understand.names import Called, NameIndex
from loccit.search.understand.query_syntax import QUOTED, TypedParts, describe_typed, read_typed
from loccit.search.understand.spelling import Correction, corrected_text, find_misspelled_kinds

_MAX_REFERENCES = 16
# Two words of a title identify a document, or one after `of`.
_WORDS_OF_A_NAME = 2
_LONGEST_OF = 16
_OF = r"(?:of|in|from|under|des|der|vom|von|im|aus|du|de|del|della|di|do|da|van)\s+(?:the\s+|la\s+)?"
AFTER_OF = re.compile(_OF + r"\w", re.I)
"""Words that lead from a part to the whole, with the beginning of its name."""
_ENDS_IN_OF = re.compile(r"(?<!\w)" + _OF + r"\Z", re.I)
# Words used to ask for a place, in the form of title keys.
ASKING = frozenset(
    "say says state states read show open see find explain summarise summarize compare mean means text content "
    "contents sagt steht zeig zeige lies erklare vergleiche inhalt dit montre explique texte dice muestra explica "
    "texto mostra spiega testo zegt staat toon tekst diz".split()
)


@dataclass(frozen=True, slots=True)
class Query:
    """A query with what it names: quoted phrases, documents, places, and the remaining words.

    ``text`` is what is searched for; ``original`` is the query as given, with filters and exclusions. ``called`` are
    documents that are certainly named; their names are not part of ``rest``. ``misread`` are misspelled words for
    places, with how they were read.
    """

    text: str
    phrases: tuple[str, ...]
    references: tuple[Label, ...]
    rest: str
    title_key: str
    original: str = ""
    called: tuple[Called, ...] = ()
    filters: dict[str, list[str]] = field(default_factory=dict)
    excluded_filters: dict[str, list[str]] = field(default_factory=dict)
    excluded_words: tuple[str, ...] = ()
    excluded_phrases: tuple[str, ...] = ()
    misread: tuple[Correction, ...] = ()

    @property
    def is_only_phrases(self) -> bool:
        """Whether there is nothing but quoted text."""
        return bool(self.phrases) and not re.search(r"\w", QUOTED.sub(" ", self.text))

    @property
    def named(self) -> frozenset[int]:
        """The documents that the query names."""
        return frozenset().union(*(name.documents for name in self.called))

    @property
    def preferred(self) -> frozenset[int]:
        """The documents that it names as one writes names."""
        return frozenset().union(*(name.documents for name in self.called if name.is_written_as_name))

    @property
    def is_only_names(self) -> bool:
        """Whether the query names documents and nothing else."""
        return bool(self.called) and not (self.references or self.phrases or content_words(self.rest))


def understand(
    text: str,
    *,
    typed: bool = True,
    names: NameIndex | None = None,
    known: Callable[[str], bool] | None = None,
    called: str = "query",
) -> Query:
    """Parse a query; one that cannot be searched is refused. Without ``typed``, all of it is plain text.

    ``known`` recognises words of the library, which are not treated as misspelled. ``called`` is the name of the query
    in messages.
    """
    if not isinstance(text, str):
        raise UsageError(f"The {called} must be text, not {type(text).__name__}.")
    clean = clean_text(text)
    if not re.search(r"\w", clean):
        raise UsageError(f"The {called} is empty: give at least one word, number or quoted phrase.")
    parts = read_typed(clean) if typed else TypedParts(clean)
    if not re.search(r"\w", parts.text):
        raise UsageError(
            f"The query has only filters and exclusions ({describe_typed(parts)}): add at least one "
            "word to look for. To search for the text itself, put it in quotation marks."
        )
    quoted = [match.group()[1:-1].strip() for match in QUOTED.finditer(parts.text)]
    unquoted = QUOTED.sub(lambda match: " " * len(match.group()), parts.text)
    found = _outside_labels(names.find(unquoted), unquoted) if names else []
    sure = [name for name in found if name.sure]
    plain = _blanked(unquoted, sure)
    misread = find_misspelled_kinds(plain, known)
    plain = corrected_text(plain, misread)
    places = [_uncut(plain, place) for place in find_places(plain)]
    references = tuple(dict.fromkeys(label for place in places for label in place.labels))
    if not references and not sure and (whole := parse_whole(parts.text)):
        references = (whole,)
    rest = _without(plain, places)
    if names and not sure:
        sure = _meant(rest, [name for name in found if not name.sure], names, located=bool(references))
        rest = "" if sure else rest
    return Query(
        text=parts.text,
        phrases=tuple(phrase for phrase in quoted if re.search(r"\w", phrase)),
        references=references[:_MAX_REFERENCES],
        rest=rest,
        title_key=title_key(parts.text),
        original=clean,
        called=tuple(sure),
        filters=parts.filters,
        excluded_filters=parts.excluded_filters,
        excluded_words=parts.excluded_words,
        excluded_phrases=parts.excluded_phrases,
        misread=misread,
    )


def clean_text(text: str) -> str:
    """Remove control characters and lone surrogates, and normalise white space."""
    kept = (
        " " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cs")
    )
    return " ".join("".join(kept).split())


def content_words(text: str) -> list[str]:
    """The words that may be names; `of` is in many titles and names none, `AI` names the AI Act."""
    written = set(text.split())
    return [
        word
        for word in title_key(text).split()
        if word not in ASKING
        and (len(word) > 1 or word.isdecimal())
        and (word not in FUNCTION_WORDS or word.upper() in written)
    ]


def _meant(rest: str, unsure: Sequence[Called], names: NameIndex, *, located: bool) -> list[Called]:
    """Names made of ordinary words, if nothing but them accompanies a reference; otherwise words of a title."""
    words = content_words(rest)
    covered = {token.text for name in unsure for token in name_tokens(name.text)}
    if unsure and all(token.text in covered for word in words for token in name_tokens(word)):
        return list(unsure)
    if not located or not words or not (len(words) >= _WORDS_OF_A_NAME or AFTER_OF.match(rest)):
        return []
    documents = names.with_all(words)
    return [Called(" ".join(words), 0, 0, documents, sure=True)] if documents else []


def _outside_labels(names: Sequence[Called], text: str) -> list[Called]:
    """Drop names that are the number of a place: in `§ 77z–2(a)`, `77z–2` names no document."""
    labels = find_places(text) if names else []
    return [
        name
        for name in names
        if not any(label.start < name.start and name.end <= label.end for label in labels)
    ]


def _blanked(text: str, names: Sequence[Called]) -> str:
    """A query without the names of documents, and without the `of` before them: `paragraph 4 of Rainy Sky`."""
    for name in names:
        of = _ENDS_IN_OF.search(text, max(0, name.start - _LONGEST_OF), name.start)
        start = of.start() if of else name.start
        text = text[:start] + " " * (name.end - start) + text[name.end :]
    return text


def _uncut(text: str, place: FoundPlaces) -> FoundPlaces:
    """The place with its whole number: `art. 220-bis` is not 220, and `35/a` not 35."""
    more = glued(text, place.end)
    if not more or len(place.labels) != 1:
        return place
    (label,) = place.labels
    *outer, last = label.number
    base, *parts = readings(last + more)[0]
    whole = replace(label, text=label.text + more, number=(*outer, base, *parts))
    return FoundPlaces((whole,), place.start, place.end + len(more))


def _without(text: str, places: Sequence[FoundPlaces]) -> str:
    parts, position = [], 0
    for place in places:
        parts.append(text[position : place.start])
        position = place.end
    return " ".join(" ".join([*parts, text[position:]]).split())
