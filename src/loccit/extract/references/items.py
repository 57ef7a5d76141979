"""Numbers of a reference: one, a list or a range (``12 to 14``, ``6(1), 7 and 9(2)(a)``, ``(a) or (b)``).

The vocabulary of references in running text comes from the lexicons of all languages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from loccit.grammar.labels.lexicon import load, one_of
from loccit.grammar.labels.model import CONTAINERS, is_sub
from loccit.grammar.labels.numbers import roman_value
from loccit.grammar.labels.ranges import Number, level_of, through
from loccit.grammar.labels.readers import parse_whole
from loccit.structure.places.chain import number_key

_SIGNS = {"§", "§§"}
_LEXICON = load()
_KINDS = {word: form for word, form in _LEXICON.forms.items() if not form.only_heading and word not in _SIGNS}
_ALL = {**_LEXICON.parts, **_KINDS}
KIND_OF = {word: form.kind for word, form in _ALL.items()}
# What a word means after an article: `статья 5 часть 2` is not a part of the code.
PART_OF = {**KIND_OF, **{word: form.kind for word, form in _LEXICON.parts.items()}}
PLURALS = frozenset(word for word, form in _ALL.items() if form.plural)
# Abbreviations that are words, names or units unless a full stop follows.
NEED_STOP = frozenset(word for word, form in _ALL.items() if form.stop in ("must", "always"))
# What may be abbreviated with a full stop; after any other word the sentence ends.
SHORT = NEED_STOP | {word for word, form in _ALL.items() if form.stop == "may"}
# Words that only continue a reference (`Artikel 6 Absatz 1 Nummer 3`): on their own they are prose.
ONLY_AFTER = frozenset(word for word, form in _ALL.items() if form.only_after)
# Those of them that may also be named alone, where the text around has that number: `nach Nummer 2`.
ALONE = frozenset({"nummer", "nummern", "nr", "satz", "sätze"})
# Words that stand for a place only without a number: `this provision`.
ONLY_THIS = frozenset(word for word, form in _ALL.items() if form.only_text)
# Kinds whose parts have capital letters: `Annex B`, `Part A`.
LETTERED = CONTAINERS | {"section"}

# White space inside a reference: some blanks, one line break, never an empty line.
S0 = r"(?:[^\S\n]{0,3}(?:\n[^\S\n]{0,8})?)"
S1 = r"(?:[^\S\n]{1,3}(?:\n[^\S\n]{0,8})?|\n[^\S\n]{0,8})"

WORD = one_of(KIND_OF)

_END = r"(?![A-Za-z0-9])"
_DIGITS = (
    rf"\d{{1,5}}[A-Za-z]{{0,2}}{_END}(?:\.(?:\d{{1,5}}[A-Za-z]?|[a-z](?![.'’])){_END}){{0,8}}"
    rf"(?:[-‑]\d{{1,4}}[A-Za-z]?{_END}){{0,3}}"
)
_TOKEN = r"(?:\d{1,3}[a-z]?|[A-Za-z]|aa|bb|cc|dd|ee|ff|gg|hh|[ivxl]{2,6}|[IVXL]{2,6})"
_PARENS = rf"(?:[^\S\n]?\({_TOKEN}\))"
_NUMBER = re.compile(rf"(?P<base>{_DIGITS})(?P<parens>{_PARENS}{{0,12}})(?![/%]\d?|:\d|[.\-‑]\d|\.[a-z]\.)")
_ROMAN = re.compile(rf"(?P<base>[IVXLC]{{1,7}})(?![\w'’])(?P<parens>{_PARENS}{{0,12}})")
_SMALL_ROMAN = re.compile(rf"(?P<base>[ivx]{{2,6}})(?![\w'’])(?P<parens>{_PARENS}{{0,12}})")
_LETTER = re.compile(rf"(?P<base>[A-Z])(?![\w'’])(?P<parens>{_PARENS}{{0,12}})")
_BRACKETS = re.compile(rf"(?P<base>)(?P<parens>\({_TOKEN}\){_PARENS}{{0,11}})")
_SMALL_LETTER = re.compile(r"(?P<base>)(?P<parens>(?:[a-z]|aa|bb|cc)\)?)(?![\w'’])")
# `Art. 6 (1) f GDPR`: a bare letter, unless it is the article `a` before a word.
_BARE_LETTER = re.compile(r"[^\S\n]?[a-z](?=[^\S\n][A-Z]{2}|[,.;)\]]|$)", re.MULTILINE)
# Not `§ 5 f.`, and the one after it; `§ 5 i. V. m.`, in connection with.
_APART = re.compile(
    rf"[^\S\n](?!f\.|i\.|e\.)(?P<letter>[a-z])(?={S1}(?:Abs\.|Abs[aä]tz|Satz|Sätze|Nr\.|Nummer|Buchst|Bst\.|Ziff|lit\.|des\b|der\b|und\b|oder\b"
    r"|sowie\b|bis\b|in\s+Verbindung|i\.\s?V)|(?P<stop>[,;)]|\.(?:\s|$)|$))"
)
_GERMAN_SIGN = re.compile(r"(?:§§?|\bArtikel[ns]?|\bArt\.)\s*$")
_PART = re.compile(r"\w+")

_AND = rf"(?:,{S0}|{S1}){one_of(load().conjunctions)}{S1}"
_JOIN = re.compile(rf"(?P<and>{_AND})|(?P<to>{S1}{one_of(load().ranges)}{S1}|{S0}[–—]{S0})|(?P<comma>,{S0})")
_HYPHEN_RANGE = re.compile(r"(\d{1,5})[-‑](\d{1,5})")
# A number before one of these counts something, and is no reference.
COUNTED = re.compile(
    rf"{S0}(?:%|°|€|£|\$|×|x\d)|{S1}(?:(?:(?:working|business|calendar|full|consecutive)\s)?(?:days?|weeks?|months?|years?"
    rf"|hours?|minutes?|seconds?)|and{S1}later|or{S1}later|or{S1}higher|per\b|percent|million|billion|thousand|members?"
    r"|persons?|people|times|copies|points?|knots|litres?|met(?:re|er)s?|kW|kg|g|mm|cm|km|m|ms|s|GB|MB|kB|kPa|bar|V|A|W|Hz|EUR|USD|euros?"
    r"|dollars?|January|February|March|April|May\s\d|June|July|August|September|October|November|December|Tagen?|Wochen?"
    r"|Monate?n?|Jahre?n?|Stunden?|Uhr|Meter|Prozent|jours|mois|ans|heures)\b"
)
# Words that direct the reader to another place.
_PLACED = (
    rf"(?:prescribed|described|defined|specified|set{S1}(?:out|forth)|provided|stated|required|listed|authorized|explained"
    rf"|identified|contained|established|given|permitted|discussed|covered|addressed){S1}(?:for{S1})?(?:in|at|under)"
)
SEE = rf"see(?:{S1}also)?|refer(?:red)?{S1}to|{_PLACED}|siehe|vgl\.|voir|cf\."
_MAX_ITEMS = 60


@dataclass(frozen=True, slots=True)
class Item:
    """One number: its parts as written (the base normalised), and how many of them make up the base.

    ``until`` is set on the first of a range: the parts of its last member. ``written`` is the number in the text.
    """

    parts: Number
    base: int
    start: int
    end: int
    until: Number = ()
    written: str = ""


def read_items(text: str, at: int, kind: str, plural: bool, after: bool = False) -> list[Item]:
    """Read the numbers at ``at``; an empty list if there are none.

    ``after``: the words continue a reference, in which letters may lack brackets.
    """
    first = _first(text, at, kind, plural, after)
    if first is None:
        return []
    items, sure = [first], 1
    while len(items) < _MAX_ITEMS:
        join = _JOIN.match(text, items[-1].end)
        if join is None:
            break
        item = _next(text, join.end(), kind, items[-1], bool(join["to"]))
        if item is None:
            break
        if join["to"]:
            if items[-1].until or not _rises(items[-1].parts, item.parts):
                break
            items[-1] = replace(items[-1], end=item.end, until=item.parts)
        else:
            if not plural and not item.parts[item.base :] and not _rises(items[-1].parts, item.parts):
                break
            items.append(item)
        if not join["comma"] or plural or not item.base:
            sure = len(items)
    # `under section 5, 30 of them`: commas alone make a list only of plurals.
    return items[:sure]


def _first(text: str, at: int, kind: str, plural: bool, after: bool) -> Item | None:
    if match := _NUMBER.match(text, at):
        span = _HYPHEN_RANGE.fullmatch(match["base"])
        if span and plural and not match["parens"] and int(span[1]) < int(span[2]):
            return Item((span[1],), 1, at, match.end(), (span[2],), span[1])
        return _item(text, match)
    if kind == "paragraph" or not is_sub(kind):
        match = _ROMAN.match(text, at)
        if match and roman_value(match["base"]) is not None and not is_sub(kind):
            return _item(text, match)
        match = _SMALL_ROMAN.match(text, at)
        if match and kind in LETTERED and kind != "section" and roman_value(match["base"]) is not None:
            return _item(text, match)
        match = _LETTER.match(text, at)
        if match and kind in LETTERED:
            return _item(text, match)
    match = _BRACKETS.match(text, at) if kind not in CONTAINERS else None
    if match is None and kind == "point":
        match = _SMALL_LETTER.match(text, at)
        if match and not after and not match["parens"].endswith(")"):
            match = None
    return _item(text, match) if match else None


def _next(text: str, at: int, kind: str, before: Item, ranged: bool) -> Item | None:
    if before.base:
        for pattern in (_NUMBER, _ROMAN, _LETTER):
            match = pattern.match(text, at)
            if match is None:
                continue
            item = _item(text, match)
            alike = before.parts[0][:1].isdigit() == item.parts[0][:1].isdigit()
            if not alike or (pattern is not _NUMBER and kind not in LETTERED):
                return None
            is_year = (
                len(match["base"]) == 4 and len(before.parts[0]) < 3 and match["base"][:2] in {"19", "20"}
            )
            return None if is_year or COUNTED.match(text, match.end()) else item
    match = _BRACKETS.match(text, at)
    if match is None and kind == "point" and not before.base:
        match = _SMALL_LETTER.match(text, at)
    if match is None or len(before.parts) == before.base:
        return None
    tokens = tuple(_PART.findall(match["parens"]))
    level = level_of(before.parts[before.base :], tokens[0])
    if level is None:
        return None
    parts = (*before.parts[: before.base + level], *tokens)
    return Item(parts, before.base, at, match.end(), written=match.group())


def _item(text: str, match: re.Match[str]) -> Item:
    base: Number = ()
    end = match.end()
    if match["base"]:
        written = match["base"]
        if written.isdecimal() and not match["parens"] and (apart := _letter_apart(text, match.start(), end)):
            written, end = f"{written}{apart['letter']}", apart.end()
        label = parse_whole(written if written[0].isdigit() else f"{written}.")
        base = label.number if label else (written.lower(),)
    tokens = _PART.findall(match["parens"])
    if match["base"] and tokens and (bare := _BARE_LETTER.match(text, end)):
        tokens.append(bare.group().strip())
        end = bare.end()
    return Item((*base, *tokens), len(base), match.start(), end, written=text[match.start() : end])


def _letter_apart(text: str, start: int, end: int) -> re.Match[str] | None:
    """The letter of a number that German acts write apart: ``§ 4 a Abs. 1``."""
    apart = _APART.match(text, end)
    if apart and apart["stop"] and not _GERMAN_SIGN.search(text[max(0, start - 12) : start]):
        return None
    return apart


def _rises(first: Number, last: Number) -> bool:
    """Whether a number comes after another: in its last part, or at least not before it."""
    if len(first) != len(last):
        return number_key(first[:1]) <= number_key(last[:1])
    if first[:-1] == last[:-1]:
        return bool(through(first, last, 2)) or first < last
    return number_key(first) < number_key(last)
