"""Lists and ranges of places: ``§§ 3-5``, ``Sections 201 to 203``, ``paragraphs (a) to (c) of Section 5``.

Single labels are read in :mod:`loccit.grammar.labels.readers`. Here labels that belong together are joined, and a range
becomes its members, or its two ends if it is too long to mean each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loccit.expressions import expression
from loccit.grammar.labels.lexicon import load, one_of
from loccit.grammar.labels.model import FoundLabel, Label
from loccit.grammar.labels.numbers import normalise_number, roman_numeral
from loccit.grammar.labels.ranges import Number, level_of, through
from loccit.grammar.labels.readers import find_labels

MAX_MEMBERS = 8
"""The maximum number of members in a range or list; a longer range stands for its two ends."""

_MAX_LABELS = 100
_LONGEST = 60  # characters of a written range; nobody types longer ones

_LEXICON = load()
_TO = one_of(_LEXICON.ranges)
_AND = one_of(_LEXICON.conjunctions)
_DASH = "[-‑–—]"
_RANGE_TEXT = rf"\s{{1,2}}{_TO}\s{{1,2}}|\s?(?:{_DASH}|[至到~～])\s?"
_LIST_TEXT = rf",\s{{0,2}}(?:{_AND}\s{{1,2}})?|\s{{1,2}}{_AND}\s{{1,2}}"
_RANGE = expression(_RANGE_TEXT, re.IGNORECASE)
_JOIN = expression(rf"(?P<to>{_RANGE_TEXT})|{_LIST_TEXT}", re.IGNORECASE)

_TOKEN = r"(?:\d{1,3}[a-z]?|[a-z]|[ivxl]{2,6})"
_PAREN = expression(rf"\(\s?(?P<token>{_TOKEN})\s?\)", re.IGNORECASE)
_ITEM = expression(rf"\(?(?P<token>{_TOKEN})\)?", re.IGNORECASE)
_BARE = expression(rf"(?P<token>{_TOKEN})(?![\w'’(])", re.IGNORECASE)
# The last number of a range whose first one was read as a label: `Chapters II to IV`, `artículos 12 a 14`.
_LAST = expression(r"(?P<number>\d{1,5}[a-z]?(?:\.\d{1,5}[a-z]?)*|[IVXLC]{1,9}|[A-Z])(?![\w%(]|\.\d)")
_ENDS_THERE = expression(
    r"\s{0,2}(?:\Z|[,;.:?!)]|(?:of|in|and|or|und|oder|et|ou|der|des|du|de|del|do|della)\b|(?-i:[A-Z]{2}))",
    re.IGNORECASE,
)
_DASHED = expression(
    rf"(?P<first>[0-9a-z]+(?:\.[0-9a-z]+)*){_DASH}(?P<last>[0-9a-z]+(?:\.[0-9a-z]+)*)\Z", re.IGNORECASE
)
_PLURAL = expression(r"§§|\d|(?:artikel|kapitel)\b|[^\W\d]+s\.?\s", re.IGNORECASE)
_ABBREVIATED = expression(r"§|[^\W\d]+\.\s", re.IGNORECASE)
_PLURAL_HEAD = expression(r"§(?=§)|(?<=[^\W\d]{3})s(?=\.?\s)")
_LAST_TOKEN = expression(r"[^\W_]+(?=\)?\Z)")
# A part named by a word rather than brackets: `Abs. 1`, `lit. a`.
_SPOKEN_PART = expression(rf"[^\W\d]\.?\s{{1,2}}{_TOKEN}\Z", re.IGNORECASE)

# `points (a), (b) and (d) of Article 6(1)`: what precedes a label, within this many characters.
_REACH = 120
_PART_WORD = one_of(
    {*_LEXICON.parts, *(word for word in _LEXICON.forms if word.endswith(("section", "clause")))}
)
_BEFORE = expression(
    rf"(?<!\w){_PART_WORD}s?\.?\s{{1,2}}"
    rf"(?P<items>\(?{_TOKEN}\)?(?:(?:{_RANGE_TEXT}|{_LIST_TEXT})\(?{_TOKEN}\)?){{1,{MAX_MEMBERS}}})"
    rf"\s{{1,2}}{one_of(_LEXICON.prepositions)}\s{{1,2}}(?:the\s)?\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FoundPlaces:
    """What one span of a text names: a label, or each member of a list or range."""

    labels: tuple[Label, ...]
    start: int
    end: int


def find_places(text: str) -> list[FoundPlaces]:
    """Return what a text refers to, in order, without overlaps; of very many references the first ones.

    >>> [[label.section_id for label in place.labels] for place in find_places("§§ 3-5, points (a) to (c) of § 9")]
    [['sec_3', 'sec_4', 'sec_5'], ['sec_9_a', 'sec_9_b', 'sec_9_c']]
    """
    found = find_labels(text)[:_MAX_LABELS]
    places: list[FoundPlaces] = []
    position = 0
    while position < len(found):
        item = found[position]
        position += 1
        last = found[position] if position < len(found) else None
        if last is not None and (members := _joined(text, item, last)):
            places.append(_place(item, members, last.end))
            position += 1
            continue
        place = _before(text, item)
        if place is not None:
            # Places read so far that are part of this one are dropped.
            while places and places[-1].end > place.start:
                places.pop()
        places.append(place or _dashed(item, found) or _continued(text, item))
        # `Sections II to 3-5`: the end of a range is not a separate place.
        while position < len(found) and found[position].start < places[-1].end:
            position += 1
    return places


# -- from one label to the next ------------------------------------------------------------------------------


def _joined(text: str, first: FoundLabel, last: FoundLabel) -> list[Number]:
    """The members, if two labels are the ends of a range: ``Sections 201 to 203``, ``§ 3 bis § 5``."""
    join = _RANGE.match(text, first.end, last.start)
    alike = last.label.kind in ("", first.label.kind) and first.label.kind
    return (
        through(first.label.number, last.label.number, MAX_MEMBERS)
        if alike and join and join.end() == last.start
        else []
    )


def _dashed(item: FoundLabel, found: Sequence[FoundLabel]) -> FoundPlaces | None:
    """A dash inside a plural is a short range, unless it belongs to the numbers: ``§§ 2-201, 2-202``."""
    match = _DASHED.search(item.label.text) if len(item.label.text) <= _LONGEST else None
    if not match or not item.label.kind or not _PLURAL.match(item.label.text):
        return None
    first, last = normalise_number(match["first"]), normalise_number(match["last"])
    members = through(first, last, 1000)
    if not 1 < len(members) <= MAX_MEMBERS:
        return None
    others = [other.label.number for other in found if other is not item]
    if any(len(number) > len(first) and number[: len(first)] == first for number in others):
        return None
    head = Label(item.label.text[: match.end("first")], item.label.kind, first)
    return _place(FoundLabel(head, item.start, item.end), members, item.end)


def _continued(text: str, item: FoundLabel) -> FoundPlaces:
    """A label and its continuation: ``Article 6(1)(a) to (f)``, ``Section 5(a) and (c)``, ``Chapters II-IV``."""
    numbers, end = [item.label.number], item.end
    while len(numbers) < MAX_MEMBERS and (join := _JOIN.match(text, end)):
        step = _sibling(text, join.end(), item, numbers[-1], ranged=bool(join["to"]))
        if step is None:
            break
        number, end = step
        numbers += through(numbers[-1], number, MAX_MEMBERS)[1:] if join["to"] else [number]
    return _place(item, numbers[:MAX_MEMBERS], end)


def _sibling(
    text: str, at: int, item: FoundLabel, number: Number, *, ranged: bool
) -> tuple[Number, int] | None:
    """Read another number at a position, in the style of the previous one; a range has to rise."""
    written = text[item.start : item.end]
    if bracket := _PAREN.match(text, at):
        token = bracket["token"].lower()
        level = level_of(number[1:], token) if "(" in written else None
        following = () if level is None else (*number[: level + 1], token)
        end = bracket.end()
    elif not ranged or not item.label.kind:
        return None
    elif _SPOKEN_PART.search(written) and len(number) > 1:
        # `Art. 6 Abs. 1 lit. a bis f`
        bare = _BARE.match(text, at)
        following, end = ((*number[:-1], bare["token"].lower()), bare.end()) if bare else ((), 0)
    else:
        last = _LAST.match(text, at)
        several = _PLURAL.match(written) or _ABBREVIATED.match(written)
        if not last or not (several or _ENDS_THERE.match(text, last.end())):
            return None
        following, end = normalise_number(last["number"]), last.end()
    if not following or (ranged and not through(number, following, MAX_MEMBERS)):
        return None
    return following, end


def _before(text: str, item: FoundLabel) -> FoundPlaces | None:
    """``points (a), (b) and (d) of Article 6(1)`` is three parts of that article."""
    match = _BEFORE.search(text, max(0, item.start - _REACH), item.start)
    if not match:
        return None
    numbers = [(*item.label.number, part) for part in _parts(match["items"])][:MAX_MEMBERS]
    labels = tuple(Label(f"{item.label.text}({number[-1]})", item.label.kind, number) for number in numbers)
    return FoundPlaces(labels, match.start(), item.end)


def _parts(items: str) -> Iterator[str]:
    """The members of a list such as ``(a), (b) to (d)``."""
    before, position, ranged = "", 0, False
    while match := _ITEM.match(items, position):
        token = match["token"].lower()
        members = through((before,), (token,), MAX_MEMBERS) if ranged else []
        yield from (number[-1] for number in members[1:] or [(token,)])
        join = _JOIN.match(items, match.end())
        if not join:
            return
        before, position, ranged = token, join.end(), bool(join["to"])


def _place(first: FoundLabel, numbers: Sequence[Number], end: int) -> FoundPlaces:
    label = first.label
    if len(numbers) < 2:
        return FoundPlaces((label,), first.start, end)
    labels = (Label(_written(label, number), label.kind, number) for number in dict.fromkeys(numbers))
    return FoundPlaces(tuple(labels), first.start, end)


def _written(label: Label, number: Number) -> str:
    """A member as it would be written alone: ``Section 202``, ``Chapter III``, ``Article 6(1)(b)``."""
    token = _LAST_TOKEN.search(label.text)
    if token is None or number[:-1] != label.number[:-1]:
        return number[0] + "".join(f"({part})" for part in number[1:])
    last = number[-1]
    if token.group().isupper():
        last = (roman_numeral(int(last)) if last.isdecimal() else last).upper()
    text = label.text[: token.start()] + last + label.text[token.end() :]
    return _PLURAL_HEAD.sub("", text, count=1).replace("ppendice ", "ppendix ")
