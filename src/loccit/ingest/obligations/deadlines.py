"""Deadlines: the periods and dates that a sentence states."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import NamedTuple

from loccit.ingest.obligations.lexicon import Lexicon, has_any, load
from loccit.ingest.obligations.numbers import joined_words, number_form, read_number
from loccit.model.obligation import Deadline

# How much text before and after a number can say what it is for.
_BEFORE = 90
_EVENT = 110
# `30, 60, 90 or 180 days`, `3–5 days`
_LISTED = re.compile(
    r"(?<![\w.,§(/$€£–-])(\d{1,4})(?:\s*,\s*|\s*,?\s+(?:or|and|to|oder|und|bis)\s+|\s?[–—-]\s?)$"
)
_NUMBER_OF_PLACE = re.compile(
    r"(?:sections?|articles?|paragraphs?|clauses?|parts?|§§?|Abs\.|Absatz|Nr\.|Nummer|Artikel|Satz)\s*$",
    re.IGNORECASE,
)
_MOST_LISTED = 6
_CLAUSE_END = re.compile(r"[,;:.()]|\s(?:and|or|but|und|oder|sowie|shall|must|will|may|unless|except)\b")
# The longest plausible period: anything longer counts something else.
_LONGEST = {"minute": 1e6, "hour": 1e5, "day": 4e4, "week": 6e3, "month": 2e3, "quarter": 400, "year": 200}
_ISO = re.compile(r"(?<![\w-])(?:1[89]|20|21)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?![\w-])")


_NAMED_YEAR = re.compile(r"calendar|fiscal|Kalender|Geschäfts|Wirtschafts|Haushalts", re.IGNORECASE)
_IN = re.compile(r"\b(?:in|any|each)\s*$", re.IGNORECASE)
_HALF = re.compile(r"\bhalbe[nrs]?\b", re.IGNORECASE)
# `will have (10) days`, but not the number of an item.
_IN_BRACKET = re.compile(r"\w\s\($")
_DIGIT = re.compile(r"\d")


class Found(NamedTuple):
    """A deadline and its position in the sentence."""

    start: int
    end: int
    deadline: Deadline


def find_deadlines(sentence: str, lexicon: Lexicon) -> list[Found]:
    """Return the periods and dates of a sentence, and deadline words without either, in order."""
    folded = sentence.casefold()
    found = list(_periods(sentence, lexicon)) if has_any(folded, lexicon.time_hints) else []
    if _DIGIT.search(sentence):
        found += _dates(sentence, folded, lexicon)
    if not has_any(folded, lexicon.vague_hints):
        return sorted(found)
    taken = [(item.start, item.end) for item in found]
    for match in lexicon.forms["vague_deadlines"].finditer(sentence):
        if not any(start < match.end() and match.start() < end for start, end in taken):
            found.append(Found(match.start(), match.end(), Deadline(match.group())))
    return sorted(found)


@cache
def _period_form(language: str) -> re.Pattern[str]:
    lexicon = load(language)
    if lexicon is None:
        return re.compile("(?!)")
    days = "".join(f"|(?P<{kind}>{forms})" for kind, forms in lexicon.kinds_of_day.items())
    units = "|".join(f"(?P<{name.replace(' ', '_')}>{forms})" for name, forms in lexicon.units.items())
    return re.compile(
        rf"(?P<number>{number_form(language)})(?:\s*\((?P<again>\d{{1,4}})\)|(?P<bracket>\)))?[\s-]{{1,2}}"
        rf"(?:(?:{lexicon.between}{days})\s+){{0,3}}(?:{units})\b(?P<owner>[’'](?:\s|$))?",
        re.IGNORECASE,
    )


@cache
def _ordinal_form(language: str) -> re.Pattern[str]:
    lexicon = load(language)
    if lexicon is None:
        return re.compile("(?!)")
    days = "".join(f"|(?P<{kind}>{forms})" for kind, forms in lexicon.kinds_of_day.items())
    units = "|".join(f"(?P<{name.replace(' ', '_')}>{forms})" for name, forms in lexicon.units.items())
    words = "|".join(sorted(lexicon.ordinals, key=len, reverse=True))
    figures = r"\d{1,3}(?:st|nd|rd|th)" if language == "en" else r"\d{1,3}\."
    anniversary = "|(?P<anniversary>anniversary)" if language == "en" else ""
    return re.compile(
        rf"\b(?P<number>{words}|{figures})\s+(?:\(\w{{1,6}}\)\s+)?(?:(?:{lexicon.between}{days})\s+){{0,2}}"
        rf"(?:{units}{anniversary})\b",
        re.IGNORECASE,
    )


@cache
def _adjective_form(language: str) -> re.Pattern[str]:
    lexicon = load(language)
    if lexicon is None or not lexicon.adjectives:
        return re.compile("(?!)")
    units = "|".join(f"(?P<{name}>{form})" for name, form in lexicon.adjectives.items())
    # In lower case: `16-Jährige` are people.
    return re.compile(rf"\b(?P<number>(?i:{joined_words(language)})|\d{{1,3}})-?(?:{units})\w{{1,2}}\b")


def _periods(sentence: str, lexicon: Lexicon) -> Iterator[Found]:
    for match in _period_form(lexicon.language).finditer(sentence):
        value = float(match["again"]) if match["again"] else read_number(match["number"], lexicon)
        unit = _unit(match, lexicon)
        if value is None or not 0 < value <= _LONGEST[unit.split()[-1]]:
            continue
        before = sentence[max(0, match.start() - _BEFORE) : match.start()]
        if lexicon.forms["not_after"].match(sentence[match.end() : match.end() + 40].lstrip(" ,")):
            continue
        if match["bracket"] and not _IN_BRACKET.search(before):
            continue
        if lexicon.forms["not_before"].search(before) or _is_name(match, before, unit, lexicon):
            continue
        if _HALF.search(match.group()):
            value /= 2
        yield from _period(sentence, match, value, unit, before, lexicon)
    for match in _adjective_form(lexicon.language).finditer(sentence):
        value = read_number(match["number"], lexicon)
        if value:
            before = sentence[max(0, match.start() - _BEFORE) : match.start()]
            yield from _period(sentence, match, value, _unit(match, lexicon), before, lexicon)
    for match in _ordinal_form(lexicon.language).finditer(sentence):
        number = match["number"].casefold()
        counted = lexicon.ordinals.get(number) or int(re.sub(r"\D", "", number) or 0)
        if counted > 1 and lexicon.forms["ordinal_after"].match(sentence, match.end()):
            unit = "year" if match.groupdict().get("anniversary") else _unit(match, lexicon)
            before = sentence[max(0, match.start() - _BEFORE) : match.start()]
            if lexicon.language == "de" and not re.search(
                r"\b(?:Ende|Ablauf|am|zum|bis)\b[^,;]{0,12}$", before
            ):
                continue
            yield _found(sentence, match.start(), match.end(), float(counted), unit, "until", lexicon)


def _is_name(match: re.Match[str], before: str, unit: str, lexicon: Lexicon) -> bool:
    """Whether a part of the calendar is meant (*in one fiscal year*), or a number is that of a place."""
    if unit == "quarter" and re.search(r"\bfirst\s*$", before, re.IGNORECASE):
        return True
    if _NAMED_YEAR.search(match.group()) and read_number(match["number"], lexicon) == 1:
        return bool(_IN.search(before)) or not any(form.search(before) for _, form in lexicon.relations)
    return match["number"][0].isdigit() and bool(_NUMBER_OF_PLACE.search(before))


def _period(
    sentence: str, match: re.Match[str], value: float, unit: str, before: str, lexicon: Lexicon
) -> Iterator[Found]:
    listed: list[tuple[int, float]] = []
    at = match.start()
    while match["number"].isdigit() and len(listed) < _MOST_LISTED:
        other = _LISTED.search(sentence, max(0, at - 12), at)
        if not other or _NUMBER_OF_PLACE.search(sentence[max(0, other.start() - 12) : other.start()]):
            break
        at = other.start()
        listed.append((at, float(other[1])))
    if listed:
        before = sentence[max(0, at - _BEFORE) : at]
    relation = next((name for name, form in lexicon.relations if form.search(before)), "")
    for start, number in reversed(listed):
        yield _found(sentence, start, match.end(), number, unit, relation, lexicon)
    yield _found(sentence, match.start(), match.end(), value, unit, relation, lexicon)


def _found(
    sentence: str, start: int, end: int, value: float, unit: str, relation: str, lexicon: Lexicon
) -> Found:
    how, event = _event(sentence, end, lexicon)
    if how and relation in ("", "for") and how.startswith(("prior", "before", "vor", "in advance")):
        relation = "before"
    elif how and not relation:
        relation = "after"
    return Found(start, end, Deadline(sentence[start:end].strip(), value, unit, "", relation, event))


def _event(sentence: str, end: int, lexicon: Lexicon) -> tuple[str, str]:
    """What a period counts from or up to: the words after it, to the end of their clause."""
    match = lexicon.forms["events"].match(sentence, end)
    if not match:
        return "", ""
    rest = sentence[match.end() : match.end() + _EVENT]
    stop = _CLAUSE_END.search(rest)
    words = rest[: stop.start()] if stop else rest.rpartition(" ")[0]
    return match["how"].casefold(), f"{match['how']} {words}".strip()


def _unit(match: re.Match[str], lexicon: Lexicon) -> str:
    groups = match.groupdict()
    unit = next(name for name in lexicon.units if groups.get(name.replace(" ", "_")))
    kind = next((name for name in lexicon.kinds_of_day if groups.get(name)), "")
    return f"{kind} {unit}" if kind and unit == "day" else unit


def _dates(sentence: str, folded: str, lexicon: Lexicon) -> Iterator[Found]:
    named = lexicon.dates if has_any(folded, lexicon.date_hints) else ()
    for form in (*named, _ISO) if "-" in sentence else named:
        for match in form.finditer(sentence):
            normal = match.group() if form is _ISO else _date(match, lexicon)
            if normal and (relation := _role(sentence, match, normal, lexicon)):
                yield Found(
                    match.start(),
                    match.end(),
                    Deadline(match.group().strip(), date=normal, relation=relation),
                )


def _date(match: re.Match[str], lexicon: Lexicon) -> str:
    name = match["month"].casefold().rstrip(".")
    months = [forms.casefold().split("|") for forms in lexicon.months]
    month = int(name) if name.isdigit() else next(n for n, forms in enumerate(months, 1) if name in forms)
    try:
        read = date(int(match["year"] or 2000), month, int(match["day"]))
    except ValueError:
        return ""
    return read.isoformat() if match["year"] else f"--{read:%m-%d}"


def _role(sentence: str, match: re.Match[str], normal: str, lexicon: Lexicon) -> str:
    """What a date does: limit something, or just say when a paper was written, which is ignored."""
    before = sentence[max(0, match.start() - _BEFORE) : match.start()]
    behind = sentence[match.end() : match.end() + 60]
    if lexicon.forms["date_of_law"].match(behind):
        return ""
    relation = next((name for name, form in lexicon.date_cues if form.search(before)), "")
    if lexicon.language == "de":
        if (
            relation == "from"
            and re.search(r"\bvom\s*$", before)
            and not re.match(r"\s+(?:an|bis)\b", behind)
        ):
            return ""
        if (
            not relation
            and re.search(r"\b(?:am|zum|auf\s+den)\s*$", before)
            and re.match(r"[^.;]{0,40}\b(?:in\s+Kraft|außer\s+Kraft|fällig|wirksam)", behind)
        ):
            return "on"
        return relation
    if relation != "from" and lexicon.forms["not_date_cues"].search(before):
        return ""
    if normal.startswith("--") and relation not in ("until", "before"):
        return ""
    return relation
