"""Mentions: how a reference is composed of units (``point (c)`` + ``of paragraph 1`` + ``of this Article``).

Numbers may occur without a word before them: ``see 4.2.1``, ``(see 32.102(e))``, ``in accordance with 31.205-6``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from loccit.extract.references.items import (
    ALONE,
    COUNTED,
    KIND_OF,
    NEED_STOP,
    ONLY_AFTER,
    ONLY_THIS,
    PART_OF,
    PLURALS,
    S0,
    S1,
    SEE,
    SHORT,
    WORD,
    Item,
    read_items,
)
from loccit.extract.references.places import Places
from loccit.grammar.labels.grammar import AROUND, around_in_text, around_label, read_numbered
from loccit.grammar.labels.lexicon import lowered, one_of
from loccit.grammar.labels.model import depth, is_sub
from loccit.grammar.labels.numbers import NUMBER_WORD, normalise_number

_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth last premier deuxième troisième".split()
)
_ORDINAL = rf"(?:{one_of(_ORDINALS)}|\d(?:st|nd|rd|th))"
_STEPS = "preceding previous foregoing next".split()
_STEP = one_of(_STEPS)
_HERE = "this present présent présente".split()
_HERE += [f"{stem}{ending}" for stem in ("diese", "vorliegende") for ending in ("", "s", "r", "m", "n")]
_THIS = one_of(_HERE)
_STARTS = (
    rf"(?P<word>{WORD})\b(?!\(s\))\.?(?={S0}(?:\d|\([0-9A-Za-z]{{1,6}}\)|(?-i:[IVXLC]+|[A-Z])\b|[a-z]\)|[ivx]+\b|[a-z]\b|[(（]?{NUMBER_WORD}))"
    r"|(?P<sign>§§?)(?=\s?\d)"
    rf"|(?P<this>{_THIS}){S1}(?P<this_word>{WORD})\b"
    rf"|(?P<ordinal>{_ORDINAL})(?:{S1}(?:and|or|to){S1}{_ORDINAL})?{S1}(?P<ordinal_word>sub-?paragraphs?|paragraphs?|alinéas?|indents?)\b"
    rf"|(?P<step>{_STEP}){S1}(?P<step_word>{WORD})\b"
)
_ANCHOR = re.compile(rf"(?<![\w§/#@.$-])(?:{_STARTS})", re.IGNORECASE)
# Where a reference may begin, in lower-case text.
_BEGINNINGS = one_of([*(KIND_OF.keys() - ONLY_AFTER), *ALONE, *_ORDINALS, *_STEPS, *_HERE])
_SCAN = re.compile(rf"\b(?:{_BEGINNINGS})\b|§|\b\d(?:st|nd|rd|th)\b|第|제(?=\s?\d)")
_ENCLOSED = re.compile(AROUND)
# The number may precede the sign: `5 §`, `12 a §`.
_SIGN_AFTER = re.compile(r"(?<![\w.,§])(?P<number>\d{1,4}(?:\s?[a-z])?)\.?\s?\Z")
# What leads to a part that is named alone: `nach Nummer 2`, `die in Nummer 1 genannten`.
_LEADS_TO_PART = re.compile(
    rf"(?:\b(?:nach|in|der|den|des|die|und|oder|sowie|mit|gemäß|gemäss|von|bis|vorbehaltlich|entgegen|satz{S1}\d{{1,2}})|,){S1}$",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"[.)][^\S\n]")
_GAP = re.compile(S0)
# Genitives come without a preposition: `Absatz 1 dieses Artikels`.
_OF = re.compile(
    rf"{S1}(?=dieses\b|dieser\b)|{S1}de{S1}l['’]|{S1}(?:de{S1}la|du){S1}(?=présent)"
    rf"|{S1}(?:of|in|from|des|der|von|de|du|dans){S1}(?:(?:the|la|le){S1})?",
    re.IGNORECASE,
)
_SAID = re.compile(
    rf"(?:that|the{S1}same|the{S1}said|said|such|jener|desselben){S1}(?P<word>{WORD})\b", re.IGNORECASE
)
_AT = re.compile(
    rf"(?:(?:clauses?|provisions?|sections?|subsections?){S1}(?:at|in){S1})?(?:(?-i:[A-Z]{{2,8}}){S1})?(?=\d{{1,4}}\.\d)",
    re.IGNORECASE,
)
_ON = re.compile(rf",?{S1}(?=(?P<word>{WORD})\b)", re.IGNORECASE)
_MAX_UNITS = 8


@dataclass(frozen=True, slots=True)
class Unit:
    """One level of a reference.

    ``how`` is ``number``, ``this``, ``said`` (*that Article*), ``ordinal`` (*the first subparagraph*) or ``step``
    (*the preceding paragraph*).
    """

    kind: str
    how: str
    start: int
    end: int
    items: tuple[Item, ...] = ()
    word: str = ""

    @property
    def relative(self) -> bool:
        """Whether it says nothing of the article or section that it is a part of."""
        if self.how != "number":
            return self.how != "said"
        item = self.items[0]
        return item.base == 0 or (is_sub(self.kind) and item.base == 1)


@dataclass(frozen=True, slots=True)
class Mention:
    """A reference as written; ``units`` go from the outermost level to the innermost.

    ``lead`` is the unit whose numbers stand first in the text, and are the ones a list or range goes through.
    """

    units: tuple[Unit, ...]
    lead: Unit
    start: int
    end: int

    @property
    def relative(self) -> bool:
        """Whether its meaning depends on its position."""
        return all(unit.relative for unit in self.units)


def find_mentions(text: str, low: str, start: int = 0) -> Iterator[Mention]:
    """Yield the mentions in a text in order, without overlaps; ``low`` is the text in lower case."""
    done = start
    for place in _SCAN.finditer(low, start):
        if place.start() < done:
            continue
        match = _ANCHOR.match(text, place.start())
        mention = _read_mention(text, match) if match else _read_otherwise(text, place.start(), done)
        if mention is not None:
            done = mention.end
            yield mention


def _read_mention(text: str, match: re.Match[str]) -> Mention | None:
    first = _read_unit(text, match, after=False)
    return read_chain(text, first) if first is not None else None


def _read_otherwise(text: str, at: int, done: int) -> Mention | None:
    """A reference that does not begin with its kind: ``第三十七条第二款``, ``5 §``."""
    if text[at] == "§":
        number = _SIGN_AFTER.search(text, max(done, at - 8), at)
        if number is None:
            return None
        base = normalise_number(number["number"])
        item = Item(base, len(base), number.start(), at + 1, written=number["number"])
        return read_chain(text, Unit("section", "number", number.start(), at + 1, (item,), "§"))
    match = _ENCLOSED.match(text, at)
    if match is None or not around_in_text(match.group()):
        return None
    label = around_label(match.group())
    item = Item(label.number, 1, at, match.end(), written=match.group())
    unit = Unit(label.kind, "number", at, match.end(), (item,), match.group()[0])
    return Mention((unit,), unit, at, match.end())


def read_chain(text: str, first: Unit) -> Mention:
    """Read what follows a first unit: deeper levels (`, point (a)`) and higher ones (`of Article 6`)."""
    groups = [_with_deeper(text, first)]
    while sum(map(len, groups)) < _MAX_UNITS:
        innermost = groups[-1]
        above = _higher(text, innermost[-1].end, innermost[0])
        if above is None:
            break
        groups.append(_with_deeper(text, above))
    units = tuple(unit for group in reversed(groups) for unit in group)
    return Mention(units, groups[0][-1], first.start, groups[-1][-1].end)


def _with_deeper(text: str, unit: Unit) -> list[Unit]:
    group = [unit]
    while len(group) < _MAX_UNITS and group[-1].how in ("number", "said", "this"):
        match = _ON.match(text, group[-1].end)
        if match is None or not _goes_deeper(PART_OF[_known(match["word"])], group):
            break
        if len(group[-1].items) > 1:
            break
        anchor = _ANCHOR.match(text, match.end())
        deeper = _read_unit(text, anchor, after=True) if anchor else None
        if deeper is None or deeper.how != "number" or (unit.relative and "," in match.group()):
            break
        if deeper.items[0].base > 1:
            # `Ziffer 3.1, Ziffer 3.2` are two places.
            break
        group.append(deeper)
    return group


def _goes_deeper(kind: str, group: list[Unit]) -> bool:
    """Whether a part can be one of the last unit of a group."""
    # `Satz 1 Nummer 2`: a sentence contains what its paragraph does.
    above = next((one.kind for one in reversed(group) if one.kind != "sentence"), "paragraph")
    # Points have items in some acts, items have points in others: `Nummer 1 Buchstabe a`.
    turned = {kind, above} == {"point", "item"} and all(one.kind != kind for one in group)
    return depth(kind) > max(1, depth(above)) or turned


def _higher(text: str, at: int, below: Unit) -> Unit | None:
    """The unit after an *of*, if it can contain the previous one."""
    match = _OF.match(text, at)
    if match is None:
        return None
    start = match.end()
    if said := _SAID.match(text, start):
        unit: Unit | None = Unit(KIND_OF[_known(said["word"])], "said", start, said.end(), word=said["word"])
    else:
        unit = _bare(text, start) if is_sub(below.kind) or below.items[:1] == () else None
        anchor = None if unit else _ANCHOR.match(text, start)
        unit = unit or (_read_unit(text, anchor, after=False) if anchor else None)
    if unit is None or (unit.how != "ordinal" and depth(unit.kind) > max(depth(below.kind), 1)):
        return None
    return unit if unit.how != "ordinal" or depth(below.kind) > 2 else None


def _bare(text: str, at: int) -> Unit | None:
    """A number without a kind: ``of 32.102``, ``of the clause at 52.232-16``."""
    match = _AT.match(text, at)
    if match is None:
        return None
    items = read_items(text, match.end(), "", plural=False)
    return Unit("", "number", at, items[-1].end, tuple(items)) if items else None


def _read_unit(text: str, match: re.Match[str], after: bool) -> Unit | None:
    if match["ordinal"]:
        word = match["ordinal_word"].lower().rstrip("s")
        return Unit("sentence", "ordinal", match.start(), match.end(), word=word)
    if match["step"]:
        word = _known(match["step_word"])
        known = KIND_OF[word]
        plain = word not in PLURALS and word not in ONLY_AFTER | NEED_STOP | ONLY_THIS
        return Unit(known, "step", match.start(), match.end(), word=match["step"].lower()) if plain else None
    if match["this"]:
        return _this(text, match)
    word = _known(match["word"] or match["sign"])
    kind = (PART_OF if after else KIND_OF).get(word, "section")
    ends_in_stop = text[match.end() - 1] == "."
    if ends_in_stop and word not in SHORT:
        return None
    if not after and word in ONLY_AFTER:
        before = text[max(0, match.start() - 24) : match.start()]
        if word not in ALONE or not _LEADS_TO_PART.search(before):
            return None
    # `Art 6` with its capital is not the word art; the other abbreviations need their full stop.
    if (
        word in NEED_STOP
        and not ends_in_stop
        and not (word == "art" and match["word"][0] == "A")
        and not after
    ):
        return None
    return _numbered(text, match.start(), match.end(), kind, word in PLURALS or word == "§§", after, word)


def _numbered(text: str, start: int, at: int, kind: str, plural: bool, after: bool, word: str) -> Unit | None:
    gap = _GAP.match(text, at)
    begin = gap.end() if gap else at
    items = read_items(text, begin, kind, plural, after) or _said_number(text, start, begin, after)
    if not items:
        return None
    first = items[0]
    if "\n" in text[at:begin] and _LIST_MARK.match(text, first.end):
        # A list that goes on in the next line: `see the sections` and below it `4. Click`.
        return None
    if is_sub(kind) and first.base > 1:
        # `paragraph 4.2` and `subsection 32.706-2` count through the document, like sections.
        kind = {"subsection": "section", "item": "clause"}.get(kind, kind)
    return Unit(kind, "number", start, items[-1].end, tuple(items), word)


def _said_number(text: str, start: int, begin: int, after: bool) -> list[Item]:
    """A number in words or in its own brackets: ``Section Two``, ``المادة (الرابعة)``."""
    # A small letter may begin prose: `in section one sees`.
    if after or text[begin : begin + 1].islower():
        return []
    found = read_numbered(text, start)
    if found is None or not (found.open or found.number.replace(" ", "").isalpha()):
        return []
    base = normalise_number(found.number)
    if not base[0].isdecimal():
        return []
    return [Item(base, len(base), begin, found.end, written=text[begin : found.end])]


def _known(word: str) -> str:
    """A word in the form of the lexicon."""
    return " ".join(lowered(word).split())


def _this(text: str, match: re.Match[str]) -> Unit | None:
    word = _known(match["this_word"])
    if word in PLURALS or word in ONLY_AFTER or word in NEED_STOP:
        return None
    kind = KIND_OF[word]
    numbered = _numbered(text, match.start(), match.end(), kind, False, False, word)
    if numbered is not None and text[match.end() : match.end() + 1] in (" ", "\xa0", "\n"):
        return numbered
    return Unit(kind, "this", match.start(), match.end(), word=match["this_word"])


# -- numbers without a word -------------------------------------------------------------------------------------


_DECIMAL = re.compile(r"(?<![\w.,/$€£¥#@:=<>~+\-–§])\d{1,4}\.\d{1,4}(?=[^\w%]|$|[a-z](?![a-z]))")
_SURE = re.compile(
    rf"\b(?:{SEE}|pursuant{S1}to|accordance{S1}with|comply{S1}with"
    rf"|(?:clauses?|provisions?|procedures|requirements|policies|definitions?|exceptions?|criteria|limitations?){S1}(?:at|in|of))"
    rf"{S1}(?:the{S1})?(?:(?-i:[A-Z]{{2,8}}){S1})?$",
    re.IGNORECASE,
)
_MAYBE = re.compile(rf"\b(?:under|in|at|by|of|per|to|with|from|and|or|through|FAR){S1}(?:[A-Z]{{2,8}}{S1})?$")
# Two numbers, the second of three digits or more: the form of codes such as 32.706-2, seldom of an amount.
_CODE = re.compile(r"[1-9]\d{0,2}\.\d{3,4}[a-z]?(?:[-‑]\d{1,3})*")
_LOOK_BACK = 60


def find_bare(text: str, start: int, places: Places) -> Iterator[Mention]:
    """Yield numbers that are references because of an introducing word, or a section with that very label."""
    done = start
    for match in _DECIMAL.finditer(text, start):
        if match.start() < done:
            continue
        items = read_items(text, match.start(), "", plural=False)
        items = [item for item in items if item.base > 1 or item.parts[item.base :]]
        if items and _is_reference(text, items[0], places):
            mention = read_chain(text, Unit("", "number", match.start(), items[-1].end, tuple(items)))
            done = mention.end
            yield mention


def _is_reference(text: str, item: Item, places: Places) -> bool:
    if COUNTED.match(text, item.end):
        return False
    written = text[item.start : item.end]
    before = text[max(0, item.start - _LOOK_BACK) : item.start]
    known = not isinstance(places.numbered("", item.parts, item.base, item.start), str)
    simple = item.base == 2 and len(item.parts) == 2 and "-" not in written and not _CODE.match(written)
    sure = bool(_SURE.search(before))
    if simple:
        # An amount or a version looks the same: only words that direct the reader make it a reference.
        return sure and (known or not _looks_dated(item))
    if known:
        return True
    if _looks_dated(item):
        return False
    return sure or (bool(_MAYBE.search(before)) and bool(_CODE.match(written)))


def _looks_dated(item: Item) -> bool:
    """A date (12.05.2019) or an address (10.0.0.1)."""
    base = item.parts[: item.base]
    return (len(base) == 3 and len(base[2]) == 4) or (
        len(base) == 4 and all(part.isdecimal() for part in base)
    )


# -- mentions side by side --------------------------------------------------------------------------------------


_IN_CONNECTION = rf"(?:jeweils{S1})?(?:auch{S1})?in{S1}Verbindung{S1}mit{S1}"
_ALSO = re.compile(rf",?{S1}(?:(?:and|or|und|oder|sowie|bzw\.){S1})?(?:{_IN_CONNECTION})?")
CONNECTED = re.compile(rf",?{S1}(?:{_IN_CONNECTION}|sowie{S1})")
_OR = re.compile(rf",?{S1}(?:and|or|und|oder|et|ou){S1}(?:in{S1}|the{S1})?")


def distinctive(mention: Mention) -> bool:
    """Whether a number has a form that two documents would hardly share: ``32.706-2``."""
    items = [item for unit in mention.units for item in unit.items]
    return any(item.base > 1 and any(len(part) > 2 for part in item.parts[: item.base]) for item in items)


def share(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Let neighbours share what one of them says.

    *Paragraph (a) or paragraph (b) of this section* share its ending, *§ 4 Absatz 1 und Absatz 3* its beginning.
    """
    shared: list[Mention] = []
    for mention, after in zip_longest(mentions, mentions[1:]):
        outer: tuple[Unit, ...] = ()
        if mention.relative and after and len(mention.units) == 1 and after.lead.kind == mention.lead.kind:
            outer = after.units[: after.units.index(after.lead)] if joined(text, mention, after) else ()
        if mention.relative and not outer and shared and joined(text, shared[-1], mention, _ALSO):
            outer = _outer(shared[-1], mention.units[0])
        shared.append(replace(mention, units=(*outer, *mention.units)))
    return shared


def _outer(before: Mention, first: Unit) -> tuple[Unit, ...]:
    """The units above that of a kind in the mention before it, if they say which section is meant."""
    if before.relative or first.how != "number":
        return ()
    at = next((i for i, unit in enumerate(before.units) if unit.kind == first.kind), 0)
    return tuple(replace(unit, items=unit.items[-1:]) for unit in before.units[:at])


def in_order(mentions: list[Mention]) -> list[Mention]:
    """Sort mentions, and drop those that begin inside another."""
    ordered: list[Mention] = []
    for mention in sorted(mentions, key=lambda mention: mention.start):
        if not ordered or mention.start >= ordered[-1].end:
            ordered.append(mention)
    return ordered


def joined(text: str, one: Mention, other: Mention, join: re.Pattern[str] = _OR) -> bool:
    """Whether only *and* or *or*, or what another pattern says, is between two mentions."""
    match = join.match(text, one.end)
    return match is not None and match.end() == other.start
