"""Readers of labels: before a title, in running text, and alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from loccit.expressions import expression
from loccit.grammar.labels.grammar import (
    AFTER,
    AFTER_WORDS,
    AROUND,
    BARE_NUMBER,
    DIGITS,
    FORMS,
    INNER,
    INSERTED,
    NUMBER_END,
    ORDINAL_KIND,
    PAREN,
    PARENS,
    PART_NUMBER,
    PART_STARTS,
    ROMAN,
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
from loccit.grammar.labels.lexicon import load, lowered, one_of
from loccit.grammar.labels.model import APART, CONTAINERS, FoundLabel, Label
from loccit.grammar.labels.numbers import CHINESE, normalise_number, roman_value, words_value

_MARK = r"[.:)：．]?\s{0,9}(?:[-‑–—:|]\s{0,9})?"
_MARKED = expression(rf"\s{{0,9}}(?P<mark>{_MARK})")
_BLANK = expression(r"\s{0,9}")
_ENCLOSED = expression(rf"\s{{0,9}}(?P<label>{AROUND})(?=\s|\Z|[(（【\[:：.、—])\s{{0,9}}{_MARK}")
_AFTER = expression(rf"\s{{0,9}}(?P<label>{AFTER})(?=\s|\Z|[:])\s{{0,9}}(?P<mark>{_MARK})", re.IGNORECASE)
_BARE = expression(
    rf"\s{{0,9}}(?P<label>(?P<number>{BARE_NUMBER}|\d{{1,6}}(?-i:[A-Z]){{2,3}}(?=\.)"
    rf"|\d{{1,6}}[a-z]?{INSERTED}?(?:[\-‑–]\d{{1,6}}[a-z]?){{0,6}}){PARENS})"
    r"(?P<mark>(?:\.\.?|\))?(?:\s{0,9}[-–—:]\s{1,9}|\s{1,9}|\Z))",
    re.IGNORECASE,
)
_LETTER = expression(r"\s{0,9}(?P<label>[A-Z]|[IVXLC]{2,9})(?P<mark>[.)])\s{1,9}(?=\S)")
_CHINESE = expression(rf"\s{{0,9}}(?P<label>{CHINESE}{{1,3}})[、．.]\s{{0,9}}(?=\S)")
# A number that counts from the heading above: `(a) Payment`, `iv) Costs`.
_RELATIVE = expression(
    rf"\s{{0,9}}(?P<label>\({PART_NUMBER}\)|[(（]{CHINESE}{{1,3}}[)）]|(?-i:[a-z]|[ivx]{{2,6}})\))(?:\s{{1,9}}|\Z|(?<=[)）])(?=[\u3000-\u9fff]))",
    re.IGNORECASE,
)
_DATE = expression(r"\d{1,2}\.?\s(?:de\s)?[^\W\d_]{3,12}\.?,?\s(?:de\s)?\d{4}\b")
_YEAR = expression(r"(?:1[89]|2[01])\d\d")
_DIMENSION = expression(r"[1-9][dgk]", re.IGNORECASE)


# The same headings and beginnings of lines are read in several stages.
@lru_cache(maxsize=1 << 12)
def parse_heading(heading: str) -> tuple[Label | None, str]:
    """Split a heading into its printed label and its title.

    >>> label, title = parse_heading("Article 6 Lawfulness of processing")
    >>> label.text, label.section_id, title
    ('Article 6', 'sec_6', 'Lawfulness of processing')
    """
    found = _named(heading) or _matched(heading)
    return (found[0], heading[found[1] :].strip()) if found else (None, heading.strip())


def _named(heading: str) -> tuple[Label, int] | None:
    """A label with its kind, and where the title begins."""
    blank = _BLANK.match(heading)
    at = blank.end() if blank else 0
    if numbered := read_numbered(heading, at):
        label, end = numbered.label(heading)
        mark = _MARKED.match(heading, end)
        begin = mark.end() if mark else end
        marked = bool(mark and mark["mark"].strip()) or numbered.open
        return (label, begin) if _is_kind_heading(numbered, marked, heading[begin:]) else None
    if ordinal := ORDINAL_KIND.match(heading, at):
        mark = _MARKED.match(heading, ordinal.end())
        begin = mark.end() if mark else ordinal.end()
        if _is_ordinal_heading(ordinal, bool(mark and mark["mark"].strip()), heading[begin:]):
            return Label(
                ordinal.group(), kind_word(ordinal["word"]).kind, (words_value(ordinal["number"]),)
            ), begin
    return None


def _matched(heading: str) -> tuple[Label, int] | None:
    """A label without a kind before it, and where the title begins."""
    label: Label | None = None
    if match := _ENCLOSED.match(heading):
        label = around_label(match["label"])
    elif match := _AFTER.match(heading):
        label = after_label(match, match["label"])
    elif (match := _BARE.match(heading)) and _is_bare_heading(match, heading[match.end() :]):
        label = label_of(match, "", match["label"])
    elif ((match := _LETTER.match(heading)) and _is_letter_heading(match, heading[match.end() :])) or (
        match := _CHINESE.match(heading)
    ):
        label = Label(match["label"], "", normalise_number(match["label"]))
    elif match := _RELATIVE.match(heading):
        label = Label(match["label"], "", normalise_parts(match["label"]), relative=True)
    return (label, match.end()) if label and match else None


def _is_kind_heading(found: Numbered, marked: bool, rest: str) -> bool:
    """Exclude ``Part of the work``, ``Part I think`` and ``Title a ship``."""
    number = found.number
    if not is_lettered(number):
        return True
    ends = not rest or marked
    # A label precedes punctuation or a capital.
    before_title = (bool(words_value(number)) or number[0].isupper()) and not rest[:1].islower()
    return (ends or before_title) and letters_count(found.form.kind, number, ends=ends)


def _is_ordinal_heading(match: re.Match[str], marked: bool, rest: str) -> bool:
    """Tell ``Zweiter Teil`` and ``FIRST SCHEDULE`` from ``First part of the story``."""
    form = kind_word(match["word"])
    goes_on = rest[:1].islower() and not marked
    return form.kind in CONTAINERS and not form.plural and not match["number"][0].islower() and not goes_on


def _is_bare_heading(match: re.Match[str], rest: str) -> bool:
    """Tell ``4 Payment`` and ``4.2 payment`` from ``2021 results``, ``10 things to know`` and ``1.5 GB``."""
    number, marked = match["number"], match["mark"][:1] in {".", ")"}
    if (
        _YEAR.fullmatch(number)
        or _DATE.match(match.string)
        or not is_label_number(number, match.string, match.end("label"))
    ):
        return False
    if "." in number or match["parts"]:
        return True
    if not number.isalnum():
        return not rest
    if marked:
        return True
    if len(number) > 3 or _DIMENSION.fullmatch(number):
        return False
    return not rest or rest[0] in "([" or (rest[0].isalpha() and not rest[0].islower())


def _is_letter_heading(match: re.Match[str], rest: str) -> bool:
    """Tell ``C. Costs`` from ``C. elegans`` and from the initials of a name."""
    letters = match["label"]
    if len(letters) > 1 and roman_value(letters) is None:
        return False
    return match["mark"] == ")" or (not rest[0].islower() and not re.match(r"[A-Z]\.", rest))


# -- a text that is nothing but a number ------------------------------------------------------------------------


_WHOLE = expression(
    rf"\s*(?P<number>{DIGITS}|{BARE_NUMBER}|(?:{ROMAN}|[a-z])(?=[.()])|{CHINESE}{{1,9}}(?=[、.])|(?=[(（]))(?:\.(?=\())?{PARENS}"
    r"[.)、]?\s*",
    re.IGNORECASE,
)


def parse_whole(text: str) -> Label | None:
    """Read a text that is nothing but a number (``403``, ``(a)``) as a label."""
    if len(text) > 100:
        return None
    match = _WHOLE.fullmatch(text)
    if not match or not (match["number"] or match["parts"]):
        return None
    number = match["number"]
    if number.isalpha() and number.isascii() and len(number) > 1 and roman_value(number) is None:
        return None
    if not is_label_number(number, text, match.end()):
        return None
    if number.islower() and number.isalpha():
        return Label(text.strip(), "", (number, *normalise_parts(match["parts"])))
    return label_of(match, "", match.group())


# -- labels in running text -------------------------------------------------------------------------------------


_LEXICON = load()
_SPOKEN = {word for word, form in FORMS.items() if not form.only_heading}
# Where a reference may begin, in lower-case text.
_SCAN = expression(
    rf"(?<![\w§])(?:{one_of({*_SPOKEN, *PART_STARTS, *_LEXICON.ordinals} - {'§', '§§'})})(?![^\W\d_])|§§?"
)
_AROUND = expression(AROUND)
_NUMBER_FIRST = expression(rf"(?<![\w.,§$€£/-]){AFTER}", re.IGNORECASE)
_AND = one_of({*_LEXICON.conjunctions, *_LEXICON.ranges})
_ENUMERATED = expression(
    rf"\s?(?:[,;]\s?)?(?:(?<=[,;\s])(?:{_AND})\s)?(?<=[,;\s])(?P<number>{DIGITS}){NUMBER_END}", re.IGNORECASE
)
_BARE_REFERENCE = expression(
    rf"(?<![\w.§$€£¥+/:\-‑–])(?<!\d,)"
    rf"(?P<number>{BARE_NUMBER}"
    rf"|\d{{1,9}}(?:(?-i:[A-Z]){{2,3}}|[a-z]?(?:[\-‑–]\d{{1,9}}[a-z]?){{0,3}})(?=(?:\.(?=\())?{PAREN})"
    r"|(?-i:[LRD])\.\s?\d{3,4}(?:-\d{1,4}){1,4})"
    rf"{NUMBER_END}(?!,\d\d(?!\d))(?:\.(?=\())?{PARENS}(?!(?!(?<=\))[a-z](?![\w'’]))\w)",
    re.IGNORECASE,
)
# Things with numbers of their own: `Table 4.2` is not section 4.2.
_OTHER_NUMBERING = expression(
    r"(?:version|release|table|tabelle|tableau|figure|abbildung|abb|fig|eq)s?\.?\s{0,2}\Z", re.IGNORECASE
)
_PRONOUN = expression(r"\s{1,2}(?!(?:of|and|or|to|in|is|on|for|under|through|shall|und|oder)\b)[a-z]")
_BLANK_END = expression(r"\s*\Z")
# A letter after `5(2)` without a bracket: `5(2)b`.
_GLUED_LETTER = expression(r"(?<=\))[a-z](?![\w'’])")


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
    """Independent numbers: ``32.706-2``, ``4.2(a)``."""
    for match in _BARE_REFERENCE.finditer(text, start, end):
        before = max(start, match.start() - 14)
        if is_label_number(match["number"], text, match.end()) and not _OTHER_NUMBERING.search(
            text, before, match.start()
        ):
            label = label_of(match, "", match.group())
            if letter := _GLUED_LETTER.match(text, match.end(), end):
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
    for match in _NUMBER_FIRST.finditer(text):
        yield FoundLabel(after_label(match, match.group()), match.start(), match.end())


def _named_references(text: str) -> Iterator[FoundLabel]:
    """References with a kind (``Article 6``), and those enumerated after them (``Articles 6 and 7``)."""
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
