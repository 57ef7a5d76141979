"""References: the labels that running text and queries name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pinakes.labels.grammar import (
    AFTER,
    AFTER_WORDS,
    AROUND,
    BARE_NUMBER,
    DIGITS,
    FORMS,
    INNER,
    NUMBER_END,
    ORDINAL_KIND,
    PAREN,
    PARENS,
    PART_STARTS,
    Numbered,
    after_label,
    around_in_text,
    around_label,
    is_label_number,
    is_lettered,
    kind_word,
    label_of,
    letters_count,
    normalise_parts,
    parts_end,
    read_numbered,
)
from pinakes.labels.kinds import APART, CONTAINERS
from pinakes.labels.lexicon import load, lowered, one_of
from pinakes.labels.model import FoundLabel, Label
from pinakes.labels.numbers import normalise_number, words_value

_LEXICON = load()
_SPOKEN = {word for word, form in FORMS.items() if not form.only_heading}
# Where a reference may begin, in text in small letters.
_SCAN = re.compile(
    rf"(?<![\w§])(?:{one_of({*_SPOKEN, *PART_STARTS, *_LEXICON.ordinals} - {'§', '§§'})})(?![^\W\d_])|§§?"
)
_AROUND = re.compile(AROUND)
_AFTER = re.compile(rf"(?<![\w.,§$€£/-]){AFTER}", re.IGNORECASE)
_AND = one_of({*_LEXICON.conjunctions, *_LEXICON.ranges})
_ENUMERATED = re.compile(
    rf"\s?(?:[,;]\s?)?(?:(?<=[,;\s])(?:{_AND})\s)?(?<=[,;\s])(?P<number>{DIGITS}){NUMBER_END}", re.IGNORECASE
)
_BARE = re.compile(
    rf"(?<![\w.§$€£¥+/:\-‑–])(?<!\d,)"
    rf"(?P<number>{BARE_NUMBER}|\d{{1,9}}[a-z]?(?:[\-‑–]\d{{1,9}}[a-z]?){{0,3}}(?=(?:\.(?=\())?{PAREN})"
    r"|(?-i:[LRD])\.\s?\d{3,4}(?:-\d{1,4}){1,4})"
    rf"{NUMBER_END}(?!,\d\d(?!\d))(?:\.(?=\())?{PARENS}(?!(?!(?<=\))[a-z](?![\w'’]))\w)",
    re.IGNORECASE,
)
# What carries numbers of its own: `Table 4.2` is not section 4.2.
_OTHER_NUMBERING = re.compile(
    r"(?:version|release|table|tabelle|tableau|figure|abbildung|abb|fig|eq)s?\.?\s{0,2}\Z", re.IGNORECASE
)
_PRONOUN = re.compile(r"\s{1,2}(?!(?:of|and|or|to|in|is|on|for|under|through|shall|und|oder)\b)[a-z]")
_BLANK_END = re.compile(r"\s*\Z")
# A letter after `5(2)` without a bracket: `5(2)b`.
_GLUED_LETTER = re.compile(r"(?<=\))[a-z](?![\w'’])")


def find_labels(text: str) -> list[FoundLabel]:
    """Return the references in a text, in order, without overlaps.

    >>> [found.label.section_id for found in find_labels("see Art. 6 (1) f and FAR 32.706-2")]
    ['sec_6_1_f', 'sec_32_706_2']
    """
    found: list[FoundLabel] = []
    position = 0
    for named in _in_order([*_named_references(text), *_enclosed_references(text), *_numbers_first(text)]):
        found += _bare_references(text, position, named.start)
        found.append(named)
        position = named.end
    found += _bare_references(text, position, len(text))
    return found


def _in_order(found: list[FoundLabel]) -> Iterator[FoundLabel]:
    position = 0
    for item in sorted(found, key=lambda item: (item.start, -item.end)):
        if item.start >= position:
            yield item
            position = item.end


def _bare_references(text: str, start: int, end: int) -> Iterator[FoundLabel]:
    """Numbers that stand for themselves: ``32.706-2``, ``4.2(a)``."""
    for match in _BARE.finditer(text, start, end):
        before = max(start, match.start() - 14)
        if is_label_number(match["number"], text, match.end()) and not _OTHER_NUMBERING.search(
            text, before, match.start()
        ):
            label = label_of(match, "", match.group())
            letter = _GLUED_LETTER.match(text, match.end(), end)
            if letter:
                label = Label(label.text + letter.group(), "", (*label.number, letter.group().lower()))
            yield FoundLabel(label, match.start(), letter.end() if letter else match.end())


def _enclosed_references(text: str) -> Iterator[FoundLabel]:
    """``第三十七条第二款``, ``제3조``."""
    if text.isascii():
        return
    for match in _AROUND.finditer(text):
        if around_in_text(match.group()):
            yield FoundLabel(around_label(match.group()), match.start(), match.end())


def _numbers_first(text: str) -> Iterator[FoundLabel]:
    """``5 §``, ``2 luku``."""
    low = lowered(text)
    if not any(word in low for word in AFTER_WORDS):
        return
    for match in _AFTER.finditer(text):
        yield FoundLabel(after_label(match, match.group()), match.start(), match.end())


def _named_references(text: str) -> Iterator[FoundLabel]:
    """References that say what they mean (``Article 6``), and those counted up after them (``Articles 6 and 7``)."""
    position = 0
    for start in _SCAN.finditer(lowered(text)):
        if start.start() < position:
            continue
        ordinal = ORDINAL_KIND.match(text, start.start())
        if ordinal and _is_ordinal(ordinal):
            label = Label(ordinal.group(), kind_word(ordinal["word"]).kind, (words_value(ordinal["number"]),))
            yield FoundLabel(label, ordinal.start(), ordinal.end())
            position = ordinal.end()
            continue
        inner = INNER.match(text, start.start())
        found = read_numbered(text, inner.end()) if inner else None
        if found is None or inner is None or not _is_reference(found, text):
            continue
        label, position = found.label(text, inner.group())
        yield FoundLabel(label, start.start(), position)
        if found.form.plural or found.form.either or found.word == "§§":
            while more := _ENUMERATED.match(text, position):
                position = parts_end(text, more.end())
                number = (*normalise_number(more["number"]), *normalise_parts(text[more.end() : position]))
                at = more.start("number")
                yield FoundLabel(Label(text[at:position].strip(), found.form.kind, number), at, position)


def _is_ordinal(match: re.Match[str]) -> bool:
    """``Zweiter Teil`` and ``first schedule`` name a part of a document; ``the first part`` may be prose."""
    form = kind_word(match["word"])
    capitals = match["number"][0].isupper() and match["word"][0].isupper()
    return not form.plural and (form.kind in APART or (form.kind in CONTAINERS and capitals))


def _is_reference(found: Numbered, text: str) -> bool:
    number = found.number
    # `John's 5 dogs`, but `l'article 5`.
    owned = len(found.word) == 1 and text[found.start - 1 : found.start] in {"'", "’"}
    if found.form.only_heading or owned:
        return False
    if not is_lettered(number):
        return True
    end = parts_end(text, found.end)
    # `Part I think`, but `Article I item 4`.
    if number in {"A", "I"} and end == found.end and _PRONOUN.match(text, end):
        return False
    ends = _BLANK_END.match(text, end) is not None
    return letters_count(found.form.kind, number, ends=ends)
