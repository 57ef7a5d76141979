"""Headings: the label that is printed in front of a title."""

from __future__ import annotations

import re

from pinakes.labels.grammar import (
    AFTER,
    AROUND,
    BARE_NUMBER,
    ORDINAL_KIND,
    PARENS,
    PART_NUMBER,
    Numbered,
    after_label,
    around_label,
    is_label_number,
    is_lettered,
    kind_word,
    label_of,
    letters_count,
    normalise_parts,
    read_numbered,
)
from pinakes.labels.kinds import CONTAINERS
from pinakes.labels.model import Label
from pinakes.labels.numbers import CHINESE, normalise_number, roman_value, words_value

_MARK = r"[.:)：．]?\s{0,9}(?:[-‑–—:|]\s{0,9})?"
_MARKED = re.compile(rf"\s{{0,9}}(?P<mark>{_MARK})")
_BLANK = re.compile(r"\s{0,9}")
_ENCLOSED = re.compile(rf"\s{{0,9}}(?P<label>{AROUND})(?=\s|\Z|[(（【\[:：.、—])\s{{0,9}}{_MARK}")
_AFTER = re.compile(rf"\s{{0,9}}(?P<label>{AFTER})(?=\s|\Z|[:])\s{{0,9}}(?P<mark>{_MARK})", re.IGNORECASE)
_BARE = re.compile(
    rf"\s{{0,9}}(?P<label>(?P<number>{BARE_NUMBER}|\d{{1,6}}[a-z]?(?:[\-‑–]\d{{1,6}}[a-z]?){{0,6}}){PARENS})"
    r"(?P<mark>[.)]?(?:\s{0,9}[-–—:]\s{1,9}|\s{1,9}|\Z))",
    re.IGNORECASE,
)
_LETTER = re.compile(r"\s{0,9}(?P<label>[A-Z]|[IVXLC]{2,9})(?P<mark>[.)])\s{1,9}(?=\S)")
_CHINESE = re.compile(rf"\s{{0,9}}(?P<label>{CHINESE}{{1,3}})[、．.]\s{{0,9}}(?=\S)")
# A number that counts from the heading above: `(a) Payment`, `iv) Costs`.
_RELATIVE = re.compile(
    rf"\s{{0,9}}(?P<label>\({PART_NUMBER}\)|[(（]{CHINESE}{{1,3}}[)）]|(?-i:[a-z]|[ivx]{{2,6}})\))(?:\s{{1,9}}|\Z|(?<=[)）])(?=[\u3000-\u9fff]))",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:1[89]|2[01])\d\d")
_DIMENSION = re.compile(r"[1-9][dgk]", re.IGNORECASE)


def parse_heading(heading: str) -> tuple[Label | None, str]:
    """Split a heading into its printed label and its title.

    >>> label, title = parse_heading("Article 6 Lawfulness of processing")
    >>> label.text, label.section_id, title
    ('Article 6', 'sec_6', 'Lawfulness of processing')
    """
    found = _named(heading) or _matched(heading)
    return (found[0], heading[found[1] :].strip()) if found else (None, heading.strip())


def _named(heading: str) -> tuple[Label, int] | None:
    """A label that says its kind, and where the title begins."""
    blank = _BLANK.match(heading)
    at = blank.end() if blank else 0
    numbered = read_numbered(heading, at)
    if numbered:
        label, end = numbered.label(heading)
        mark = _MARKED.match(heading, end)
        begin = mark.end() if mark else end
        marked = bool(mark and mark["mark"].strip()) or numbered.open
        return (label, begin) if _is_kind_heading(numbered, marked, heading[begin:]) else None
    ordinal = ORDINAL_KIND.match(heading, at)
    if ordinal:
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
    """Keep ``Part of the work``, ``Part I think`` and ``Title a ship`` from reading as labels."""
    number = found.number
    if not is_lettered(number):
        return True
    ends = not rest or marked
    # A label stands before punctuation or a capital.
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
    if _YEAR.fullmatch(number) or not is_label_number(number, match.string, match.end("label")):
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
