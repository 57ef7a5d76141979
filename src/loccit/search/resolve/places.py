"""Resolve: which places a reference leads to, in the documents that the query names, or else in all.

``Section 3.0`` and ``32.706-2`` can only mean a place. ``3.0`` in a sentence may as well be a version or a measurement:
it counts as a place only if the other words name that place too, or nothing at all (``pump manual 3.1``, ``what does
4.2 say``).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePath

from loccit.grammar.labels import LEAF_KINDS, Label, parse_heading, roman_value
from loccit.grammar.labels.lexicon import lowered
from loccit.grammar.labels.model import APART, CONTAINERS
from loccit.grammar.text.keys import title_key
from loccit.index.port.filters import among
from loccit.index.port.names import MOST
from loccit.index.port.records import NumberedPlace, Records, StoredPlace
from loccit.model import Place
from loccit.search.resolve.numbered_lines import find_codes, sections_with_code
from loccit.search.understand.designators import numeral_style
from loccit.search.understand.names import NameIndex
from loccit.search.understand.query import AFTER_OF, ASKING, Query, content_words

# Parts in brackets or after a hyphen, a letter before the dot, three digits after it: versions are not
# written like this.
_ONLY_A_PLACE = re.compile(r"\(|\d[-‑–]\d|\A[A-Z]\.\d|\.\d{3}")


def is_bare(query: Query) -> bool:
    """Whether a query asks for the place that it names, not for something about it: `Bylaw 14.5`, `4.2 of the lease`.

    Whatever word stands before a number, it may be what the documents call their places.
    """
    spans = [(at, at + len(one.text)) for one in query.references if (at := query.text.find(one.text)) >= 0]
    if not spans or not content_words(query.rest):
        return not content_words(query.rest)
    before, after = query.text[: min(spans)[0]], query.text[max(end for _, end in spans) :]
    asking = len(before.split()) <= _WORDS_OF_KIND or not ASKING.isdisjoint(title_key(query.text).split())
    led = not content_words(before) or (asking and len(content_words(before)) <= _WORDS_OF_KIND)
    return led and (not content_words(after) or AFTER_OF.match(after.lstrip()) is not None)


def to_explain(query: Query) -> list[str]:
    """Return the words beside a reference, without the one before it: documents may call their places so.

    What is written in capitals is the name of a work: `NCAA 10.1`.
    """
    before = query.text.partition(query.references[0].text)[0].split() if query.references else []
    kind = title_key(before[-1]) if before and not before[-1].isupper() else ""
    return [word for word in content_words(query.rest) if word != kind]


def only_a_place(label: Label) -> bool:
    """Whether a number is written in a way that only numbers of places are."""
    return _ONLY_A_PLACE.search(label.text) is not None


def explains(found: StoredPlace, words: Sequence[str]) -> bool:
    """Whether all of these words are in the names of a place and its document."""
    if not words:
        return True
    stem = PurePath(found.source_path).stem
    names = set(title_key(f"{found.document_title} {stem} {found.place.heading}").split())
    initials = "".join(part[0] for part in title_key(found.document_title).split())
    return all(word in names or (len(word) > 2 and word in initials) for word in words)


# -- which places a reference leads to -----------------------------------------------------------------------


# Bonus for a label printed as it was asked for: more than for the right kind of place.
_PRINTED_ALIKE = 3.0
# Words that a document may print before its numbers: `NCAA Bylaw 14.5`.
_WORDS_OF_KIND = 2
# Bonus for words that name the document, and the part of it that depends on their share: less than the
# preference for headings.
_NAMED, _WORDS_OF_NAME = 1.0, 0.4
# Bonus for the word that was asked for: less than any of these. What is printed in another script comes last.
_SAME_WORD, _OTHER_SCRIPT = 0.3, 0.9
# Limit of places that the references of one query may lead to; a query names sixteen at most.
_MAX_PLACES = 160
# In no more documents than this, places are compared one by one.
_FEW_DOCUMENTS = 5
ALL_KINDS: list[str] = sorted(LEAF_KINDS | CONTAINERS | APART)
"""Every kind of place that is numbered throughout a document."""
_WORDS = re.compile(r"[^\W\d_]+")
_INTERCHANGEABLE = frozenset({"", "section", "clause", "paragraph"})
_ROMAN = re.compile(r"(?<![^\W_])[IVXLCivxlc]{1,7}(?![^\W_])")
_DOTTED = re.compile(r"\d+[a-z]?(?:[.\-‑–][0-9a-z]+)*", re.IGNORECASE)
# Letters before the first part: `D.7`, `AC-2(3)`, but not `3.10`.
_LETTERED = re.compile(r"[A-Z]{1,7}[.(\-\s]")
_STEP = re.compile(r"[^\W_]+")
_BLANK_BRACKET = re.compile(r"\s+[(（]")
_SEPARATOR = re.compile(r"[.\-‑–]")


def words_of(label: str) -> list[str]:
    """The words that a label is printed with: `Чл. 5` and `12-modda` have one, and `§ 5` has a sign."""
    return [word.rstrip(".,:-") for word in re.split(r"\s|(?<=\d)[-‐‑]", lowered(label))]


@dataclass(frozen=True, slots=True)
class ResolvedPlace:
    """A place that a reference leads to; ``rest`` are the last parts that the tree does not have.

    ``fit`` is how well it matches the reference. ``documents`` counts the documents in which the reference leads
    somewhere, in the script that it is written in, and ``called_so`` those where the place is called so: a bare number
    is a section too, but no article. ``places`` counts the equally good places in its own document.
    """

    found: StoredPlace
    label: Label
    rest: tuple[str, ...]
    fit: float
    documents: int = 1
    places: int = 1
    called_so: int = 1

    @property
    def place(self) -> Place:
        """The place, without its document."""
        return self.found.place

    @property
    def is_called_so(self) -> bool:
        """Whether people call the place by this reference."""
        return not self.rest and _is_called(self.label, self.place.kind, self.place.label)

    @property
    def alike(self) -> bool:
        """Whether the number is printed as it was asked for: `2.2` is, `§ 2(2)` is not."""
        return _printed_alike(self.label, self.place.label)


class Resolver:
    """Resolves the references of queries to the places of one library."""

    def __init__(self, lookup: Records, names: NameIndex | None = None) -> None:
        self._lookup = lookup
        self._names = names

    def resolve_all(self, query: Query, documents: Collection[int] | None) -> list[ResolvedPlace]:
        """Return the places that a query's references lead to, the best first for each reference."""
        words = content_words(query.rest)
        within = searched(query, documents)
        naming = self._names.fitting(words) if self._names and words and query.references else {}
        most = _MAX_PLACES // max(1, len(query.references))
        per_label = [self.resolve(label, naming, within, most) for label in query.references]
        if len(per_label) > 1:
            per_label = _narrow_to_containers(per_label)
        return [resolved for found in per_label for resolved in found]

    def has(self, label: Label, documents: Collection[int] | None) -> bool:
        """Whether any place has this number."""
        return bool(self._numbered(label, {}, documents))

    def kinds_printed(self, word: str, documents: Collection[int]) -> set[str]:
        """Return the kinds of the places that these documents print with a word."""
        return {
            place.kind
            for document in documents
            for place in self._lookup.places_of_document(document)
            if word in words_of(place.label)
        }

    def resolve(
        self,
        label: Label,
        naming: Mapping[int, float],
        documents: Collection[int] | None,
        most: int = _MAX_PLACES,
    ) -> list[ResolvedPlace]:
        """Follow a reference as deep as the tree of places goes: ``4.2(a)`` leads at least to ``4.2``.

        ``naming`` has, for documents, the share of the query's words in their names.
        """
        rest: tuple[str, ...] = ()
        current: Label | None = label
        # `python 3.10` is not section 3; only a reference to a part of a section leads to the section.
        follows = bool(label.kind) or "(" in label.text or is_few(documents) or _LETTERED.match(label.text)
        while current is not None:
            if found := self._numbered(current, naming, documents):
                return self._best(found, current, rest, naming, documents, most)
            # `2.0 Revisions` contains 2.1, and is what people mean by section 2.
            whole = replace(current, number=(*current.number, "0")) if len(current.number) == 1 else None
            if whole and (found := self._numbered(whole, naming, documents)):
                return self._best(found, whole, rest, naming, documents, most)
            if not follows:
                return []
            rest = (*current.number[-1:], *rest)
            current = current.shortened()
        return []

    def _numbered(
        self, label: Label, naming: Mapping[int, float], documents: Collection[int] | None
    ) -> list[NumberedPlace]:
        """The places with a number, from the documents with the best-fitting names first: there may be too many."""
        best = max(naming.values(), default=0.0)
        fitting = {document for document, share in naming.items() if share == best}
        fitting = among(fitting, documents)
        ways: list[Collection[int] | None] = [fitting, documents] if fitting else [documents]
        found = self._of_kinds(label, agreeing_kinds(label.kind), ways)
        if label.kind and is_few(documents) and found and not any(_agree(label, item) for item in found):
            # `§ 20` is no `Art. 20` where there are other articles.
            found = [item for item in found if not self._prints(label, item.document)]
        if not found and len(label.number) > 1 and label.kind not in LEAF_KINDS:
            # Whatever word stands before it, a number in parts is hardly anything else.
            found = [
                item for item in self._of_kinds(label, ALL_KINDS, ways) if _printed_alike(label, item.label)
            ]
        return found or self._below(label, documents) or self._otherwise(label, documents)

    def _of_kinds(
        self, label: Label, kinds: Sequence[str], ways: Sequence[Collection[int] | None]
    ) -> list[NumberedPlace]:
        """The places of some kinds with a number as printed: item 2 is not II, but Chapter 2 may be Chapter II."""
        every = dict.fromkeys(
            place
            for within in ways
            for key in _keys(label)
            for place in self._lookup.numbered(key, kinds, within)
        )
        alike = [place for place in every if in_style(label, place.label)]
        return alike or [place for place in every if place.kind and place.kind == label.kind]

    def _below(self, label: Label, documents: Collection[int] | None) -> list[NumberedPlace]:
        """The places that are counted anew inside others: item 7 under heading D for `D.7`."""
        outer_label = label.shortened()
        if outer_label is None or not (is_few(documents) or _LETTERED.match(label.text)):
            return []
        outer = self._numbered(outer_label, {}, documents)[:_MAX_PLACES]
        within = among({place.document for place in outer}, documents)
        keys = (label.number[-1], label.key) if within else ()
        inner = [place for key in keys for place in self._lookup.numbered(key, agreeing_kinds(""), within)]
        spans = self._lookup.places_at(
            [(place.document, place.ordinal) for place in (*outer, *inner)][:_MAX_PLACES]
        )
        at = {(place.document, place.place.ordinal): place for place in spans}
        holders = [at[key] for place in outer if (key := (place.document, place.ordinal)) in at]
        return [
            place
            for place in inner
            if (own := at.get((place.document, place.ordinal)))
            and any(_holds(holder, own) for holder in holders)
        ]

    def _otherwise(self, label: Label, documents: Collection[int] | None) -> list[NumberedPlace]:
        """The only place of a named document with this number, whatever it is called, or all that are called the same.

        A word that the document prints on other places is not read as another one. Codes may be known only from the
        titles that begin with them.
        """
        if is_few(documents) and (found := self._of_kinds(label, ALL_KINDS, [documents])):
            printed: dict[int, set[tuple[str, str]]] = defaultdict(set)
            for item in found:
                printed[item.document].add((item.kind, item.label))
            return [
                item
                for item in found
                if len(printed[item.document]) == 1 and not self._prints(label, item.document)
            ]
        code = next(iter(find_codes(_BLANK_BRACKET.sub("(", label.text))), "")
        while "(" in code and _steps(code) != _steps(label.key):
            code = code[: code.rindex("(")]
        if not code or _steps(code) != _steps(label.key):
            return []
        return [
            NumberedPlace(
                item.document,
                item.place.ordinal,
                item.source_path,
                item.place.kind,
                item.place.heading,
                item.place.is_heading,
            )
            for item in sections_with_code(code, self._lookup, documents)
        ]

    def _prints(self, label: Label, document: int) -> bool:
        """Whether a document has places of the kind, or with the word, that a label begins with."""
        word = _letters(label.text)[0]
        word = "" if word.isascii() and roman_value(word) else word
        return any(
            place.kind == label.kind if label.kind else word in words_of(place.label)
            for place in self._lookup.places_of_document(document)
            if label.kind or word
        )

    def _best(
        self,
        found: Sequence[NumberedPlace],
        label: Label,
        rest: tuple[str, ...],
        naming: Mapping[int, float],
        documents: Collection[int] | None,
        most: int,
    ) -> list[ResolvedPlace]:
        asked = _letters(label.text)
        fits = [
            _kind_fit(label.kind, item)
            + _SAME_WORD * _same_numeral(label, item.label)
            + _PRINTED_ALIKE * _printed_alike(label, item.label)
            + _same_letters(asked, _letters(item.label))
            + _naming(naming, item.document)
            for item in found
        ]
        top = max(fits)
        script = [item for item in found if _same_letters(asked, _letters(item.label)) >= 0] or found
        counted = len({item.document for item in script})
        called_so = len({item.document for item in script if _is_called(label, item.kind, item.label)})
        if documents is None and len(found) > MOST:
            # Some of them may be left out.
            everywhere = self._lookup.documents_with_number(label.key, agreeing_kinds(label.kind))
            called_so = everywhere if called_so == len({item.document for item in found}) else 0
            counted = everywhere
        # Within one document only the best reading counts: `Article 1`, not also `Section 1`.
        own: dict[int, float] = defaultdict(float)
        for item, fit in zip(found, fits, strict=True):
            own[item.document] = max(own[item.document], fit)
        kept = [
            (item, fit)
            for item, fit in zip(found, fits, strict=True)
            # `Article 4 GDPR` is not also section 4 of a manual.
            if fit > top - 1.0 and fit == own[item.document]
        ]
        counts = Counter(item.document for item, _ in kept)
        ranked = sorted(kept, key=lambda item: -item[1])[:most]
        fit_of = {(item.document, item.ordinal): fit for item, fit in ranked}
        return [
            ResolvedPlace(
                place,
                label,
                rest,
                fit_of[place.document, place.place.ordinal],
                counted,
                counts[place.document],
                called_so,
            )
            for place in self._lookup.places_at(list(fit_of))
        ]


def with_whole_works(query: Query, names: NameIndex, lookup: Records) -> Query:
    """Return a query that means all files of the works that it names, if a place is in none of the files so named."""

    def has(label: Label, documents: Collection[int]) -> bool:
        return bool(lookup.numbered(label.key, agreeing_kinds(label.kind), documents))

    missing = [label for label in query.references if query.called and not has(label, query.named)]
    if not missing:
        return query
    wider = [replace(name, documents=names.whole_work(name.text, name.documents)) for name in query.called]
    everywhere = frozenset().union(*(name.documents for name in wider))
    found = everywhere != query.named and any(has(label, everywhere) for label in missing)
    return replace(query, called=tuple(wider)) if found else query


def titled(text: str, lookup: Records, documents: Collection[int] | None) -> list[StoredPlace]:
    """Return the headings with this title, or with this label and title: `I. Schedules`."""
    if found := lookup.places_by_title(title_key(text), documents):
        return found
    _, title = parse_heading(text)
    same = lookup.places_by_title(title_key(title), documents) if title != text.strip() and title else []
    return [item for item in same if title_key(item.place.heading) == title_key(text)]


def searched(query: Query, documents: Collection[int] | None) -> Collection[int] | None:
    """Return the documents that a query's references are about: those that it names, if they are in scope."""
    named = query.named
    if not named:
        return documents
    within = among(named, documents)
    return within or documents


def _naming(naming: Mapping[int, float], document: int) -> float:
    share = naming.get(document)
    return 0.0 if share is None else _NAMED + _WORDS_OF_NAME * share


def agreeing_kinds(asked: str) -> list[str]:
    """Return the kinds of places that may be meant: people use section, article and clause interchangeably."""
    return sorted(LEAF_KINDS) if asked in LEAF_KINDS else [asked]


def _kind_fit(asked: str, place: NumberedPlace) -> float:
    """Prefer the exact kind, and a heading over a numbered paragraph."""
    heading = 0.5 if place.is_heading else 0.0
    if asked == place.kind:
        return 4.0 + heading
    return (2.0 if not asked or not place.kind else 0.0) + heading


def _is_called(asked: Label, kind: str, printed: str) -> bool:
    """Whether people call a place by a reference: a bare number is a section, but no article or rule."""
    (word, script), (other, other_script) = _letters(asked.text), _letters(printed)
    if word and other:
        # `Art. 3` is `Article 3`, but not `Artículo 3`.
        return script == other_script and (word.startswith(other) or other.startswith(word))
    return called_alike(asked.kind, kind) and (not script or not other_script or script == other_script)


def called_alike(kind: str, other: str) -> bool:
    """Whether people call a place of one kind by another: a bare number is a section, but no article."""
    return kind == other or {kind, other} <= _INTERCHANGEABLE


def _same_letters(asked: tuple[str, str], printed: tuple[str, str]) -> float:
    """Prefer the word that was asked for, and the script."""
    if not asked[1] or not printed[1]:
        return 0.0
    return _SAME_WORD * (asked == printed) if asked[1] == printed[1] else -_OTHER_SCRIPT


@lru_cache(maxsize=1 << 12)
def _letters(label: str) -> tuple[str, str]:
    """The first word of a label that is no number, and its script; nothing for a bare number."""
    word = next((word for word in _WORDS.findall(label) if len(word) > 1 or not word.isascii()), "")
    script = unicodedata.name(word[0], "").partition(" ")[0] if word else ""
    # In Chinese the number stands inside the word.
    return ("" if script == "CJK" else word.casefold(), script)


def _printed_alike(asked: Label, printed: str) -> bool:
    """Whether a number is printed with dots if it was asked for with dots."""
    return _dots(asked.text) == _dots(printed)


@lru_cache(maxsize=1 << 12)
def _dots(label: str) -> str:
    match = _DOTTED.search(label)
    return "".join(_SEPARATOR.findall(match.group())).replace("‑", "-").replace("–", "-") if match else ""


def is_few(documents: Collection[int] | None) -> bool:
    """Whether a look-up is in documents that somebody named, so that their places can be compared."""
    return documents is not None and 0 < len(documents) <= _FEW_DOCUMENTS


def _roman(label: Label) -> str:
    """The numeral that a number was read from, as it was written."""
    numerals = (match.group().lower() for match in _ROMAN.finditer(label.text))
    return next((one for one in numerals if str(roman_value(one)) == label.number[0]), "")


def _keys(label: Label) -> list[str]:
    """The number as it was read, and as it stands there.

    An I that follows H is no numeral; `220-bis` is 220bis, but `2(a)` is not 2A.
    """
    keys = [label.key]
    if written := _roman(label):
        keys.append("_".join((written, *label.number[1:])))
    joined = len(label.number) > 1 and label.number[-1].isalpha() and label.number[-2].isdecimal()
    if joined and "(" not in label.text:
        keys.append("_".join((*label.number[:-2], label.number[-2] + label.number[-1])))
    return keys


def _steps(number: str) -> list[str]:
    return [step.lower() for step in _STEP.findall(number)]


def in_style(label: Label, printed: str) -> bool:
    """Whether a number is printed in the signs that it was asked for with: Roman numerals are not decimal ones."""
    styles = {numeral_style(text, label.number[0]) for text in (label.text, printed)}
    return not styles >= {"roman", "decimal"}


def _agree(label: Label, item: NumberedPlace) -> bool:
    return not item.kind or item.kind == label.kind or called_alike(label.kind, item.kind)


def _same_numeral(asked: Label, printed: str) -> bool:
    """Whether a number that was asked for as `I` is printed so."""
    written = _roman(asked)
    return bool(written) and written in (match.group().lower() for match in _ROMAN.finditer(printed))


def _holds(outer: StoredPlace, inner: StoredPlace) -> bool:
    return outer.document == inner.document and outer.place.start < inner.place.start < outer.place.end


def _narrow_to_containers(per_label: list[list[ResolvedPlace]]) -> list[list[ResolvedPlace]]:
    """Read `chapter 2, section 1` as the section within that chapter, if there is one."""
    everything = [item for found in per_label for item in found]
    by_document: dict[int, list[ResolvedPlace]] = defaultdict(list)
    for item in everything:
        by_document[item.found.document].append(item)
    inside: set[int] = set()
    containers: set[int] = set()
    for own in by_document.values():
        for outer in own:
            held = [id(inner) for inner in own if _contains(outer, inner)]
            inside.update(held)
            if held:
                containers.add(id(outer))
    if not inside:
        return per_label
    narrowed = [item for item in everything if id(item) in inside]
    # What the container tells apart is not ambiguous any more.
    known = Counter((item.found.document, item.label.text) for item in narrowed)
    return [
        [replace(item, places=known[item.found.document, item.label.text]) for item in narrowed],
        [item for item in everything if id(item) in containers - inside],
        [
            item
            for item in everything
            if id(item) not in inside | containers and (item.found.document, item.label.text) not in known
        ],
    ]


def _contains(outer: ResolvedPlace, inner: ResolvedPlace) -> bool:
    return (
        outer is not inner
        and outer.place is not inner.place
        and outer.place.start <= inner.place.start
        and inner.place.end <= outer.place.end
        and (outer.place.start, outer.place.end) != (inner.place.start, inner.place.end)
    )
