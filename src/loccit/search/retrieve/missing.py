"""Missing: what a query names that no document has.

No parser finds every place, so a number that was not found says little by itself. A series of its kind that is whole
around it says that it is not there: numbers just below and above it, or an end that is clear. A name or a code is not
there if no text has it, and a question is in another language if its words are in none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from loccit.grammar.labels import Label
from loccit.grammar.text.language import LANGUAGE_NAMES, detect_language
from loccit.index.port.records import Records
from loccit.model import Place
from loccit.search.resolve.numbered_lines import lines_begun
from loccit.search.resolve.places import called_alike, in_style

# With more documents than this, their places are not read.
_FEW_DOCUMENTS = 20
# So many numbers in a row have a clear end.
_IN_A_ROW = 2
_LAST_PART = re.compile(r"\s?[(（][^()（）]*[)）]\s*\Z")
_COUNTED = re.compile(r"(\d{1,9})(?!\d)(.*)|([a-z])(\3*)", re.DOTALL)


def denied(label: Label, lookup: Records, documents: Collection[int] | None) -> tuple[bool, str]:
    """Return whether the series of a label's kind are whole around its number, and its neighbours in words."""
    if documents is None or len(documents) > _FEW_DOCUMENTS:
        return False, ""
    series = [_siblings(label, lookup.places_of_document(document)) for document in sorted(documents)]
    whole = [_is_whole(label, own) for own in series if own] or [False]
    if all(whole) and (lines_begun(label, lookup, documents) or _unknown_holder(label, lookup, documents)):
        whole = [False]
    around = next((words for own in series if (words := _around(label, own))), "")
    return all(whole), around if len(documents) == 1 else ""


def _unknown_holder(label: Label, lookup: Records, documents: Collection[int]) -> bool:
    """Whether a line begins with the number that is around it, and is no place: it may have what is asked for."""
    outer = label.shortened()
    text = _LAST_PART.sub("", label.text)
    if outer is None or text == label.text:
        return False
    known = {
        (document, place.lines.first)
        for document in documents
        for place in lookup.places_of_document(document)
        if place.number == outer.number
    }
    begun = lines_begun(replace(outer, text=text), lookup, documents)
    return any(line.alike and (line.chunk.document, line.lines.first) not in known for line in begun)


def _siblings(label: Label, places: Sequence[Place]) -> dict[tuple[int, str], Place]:
    """The places of a document that are counted as a label is, in the order of their numbers."""
    found: dict[tuple[int, str], Place] = {}
    for place in places:
        alike = place.number[:-1] == label.number[:-1] and called_alike(label.kind, place.kind)
        if not (place.number and alike and in_style(label, place.label)):
            continue
        same = place.number[-1][:1].isdecimal() == label.number[-1][:1].isdecimal()
        if same and (value := _value(place.number[-1])):
            found.setdefault(value, place)
    return dict(sorted(found.items()))


def _value(part: str) -> tuple[int, str] | None:
    match = _COUNTED.fullmatch(part)
    if match is None:
        return None
    # After z come aa, bb, cc.
    return (int(match[1]), match[2]) if match[1] else (ord(match[3]) + 26 * len(match[4]), "")


def _is_whole(label: Label, series: Collection[tuple[int, str]]) -> bool:
    asked = _value(label.number[-1])
    if asked is None:
        return False
    values = {value for value, _ in series}
    value, last = asked[0], max(values)
    if value > last:
        return set(range(last - _IN_A_ROW + 1, last + 1)) <= values
    # After 13 and before 14 comes 13A.
    below = value in values if asked[1] else value - 1 in values
    return below and value + 1 in values


def _around(label: Label, series: dict[tuple[int, str], Place]) -> str:
    """The places with the nearest numbers, in words."""
    asked = _value(label.number[-1])
    if asked is None:
        return ""
    below = [place for value, place in series.items() if value < asked][-1:]
    above = [place for value, place in series.items() if value > asked][:1]
    return " and ".join(place.label for place in (*below, *above))


# -- names, codes and languages ------------------------------------------------------------------------------


# Names that are looked up; words and letters from which on a language can be told, and how many letters are looked at.
_MOST_NAMES, _FEW_WORDS, _FEW_LETTERS, _BEGINNING = 8, 4, 20, 300
_LONGEST_NAME = 60
_TOKEN = re.compile(r"(?<![\w.@/'’-])[^\W\d_]\w*(?:[.-]\w+)*(?![\w@/])")
_CODE = re.compile(r".*_\w|.*\d|.*[a-z][A-Z]")
_BEGINS = re.compile(r"(?:\A|[.?!:;(\"“”„])\W*\Z")


def names_in(text: str, *, capitals: bool = True) -> list[str]:
    """Return the codes in a text and, with ``capitals``, the words that do not owe theirs to where they stand.

    >>> names_in("Does BORG_MODE work in Berlin? And who pays"), names_in("Data Breach Duties")
    (['BORG_MODE', 'Berlin'], [])
    """
    words = list(_TOKEN.finditer(text))
    titled = not capitals or 2 * sum(word.group()[0].isupper() for word in words) > len(words)
    found = [
        word.group()
        for word in words
        if 2 < len(word.group()) <= _LONGEST_NAME
        and (
            _CODE.match(word.group())
            or (not titled and word.group()[0].isupper() and not _BEGINS.search(text[: word.start()]))
        )
    ]
    return list(dict.fromkeys(found))[:_MOST_NAMES]


def describe_language(text: str, languages: Collection[str], known: Callable[[str], bool]) -> str:
    """Say so if a question is in another language than all documents; "" if it is not, or nobody can tell.

    ``known`` tells whether any document has a word. Where they have most of them, the language does not matter.
    """
    words = re.findall(r"[^\W\d_]{3,}", text[:_BEGINNING])
    few = len(words) < _FEW_WORDS or sum(map(len, words)) < _FEW_LETTERS
    if (few and text.isascii()) or not languages:
        return ""
    asked = detect_language(text)
    # Words are looked up last: that costs more than to tell the language.
    if not asked or asked in languages or 2 * sum(map(known, words)) > len(words):
        return ""
    name, *others = (LANGUAGE_NAMES.get(one, one) for one in (asked, *sorted(languages)[:4]))
    return f"The question seems to be in {name}; the documents are in {', '.join(others)}."
