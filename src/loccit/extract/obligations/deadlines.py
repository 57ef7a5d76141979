"""Deadlines: the periods and dates that a sentence states."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import NamedTuple

from loccit.extract.obligations.bounds import Bound, find_bound, is_negated_verb
from loccit.extract.obligations.lexicon import Lexicon, has_any, load
from loccit.extract.obligations.numbers import joined_words, number_form, read_number
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
# How far before a number the one that it is joined with can begin.
_JOINED = 60
_CLAUSE_END = re.compile(r"[,;:.()]|\s(?:and|or|but|und|oder|sowie|shall|must|will|may|unless|except)\b")
# The longest plausible period: anything longer counts something else.
_LONGEST = {"minute": 1e6, "hour": 1e5, "day": 4e4, "week": 6e3, "month": 2e3, "quarter": 400, "year": 200}
_ISO = re.compile(r"(?<![\w-])(?:1[89]|20|21)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?![\w-])")


_NAMED_YEAR = re.compile(r"calendar|fiscal|Kalender|Geschäfts|Wirtschafts|Haushalts", re.IGNORECASE)
_IN = re.compile(r"\b(?:in|any|each)\s*$", re.IGNORECASE)
# After `shall not be submitted` these mean their opposite; `by` and `until` do not.
_TURNS = re.compile(r"(?:before|prior\s+to|after|beyond|vor|nach)\b", re.IGNORECASE)
# By the end of the tenth day, or by the tenth day.
_END_OF = re.compile(r"\b(?:(?:the\s+)?end\s+of|Ende\s+de[rs])\s+(?:the\s+)?$")
_ON = re.compile(r"\b(?:on\s+the|am|zum)\s+$")
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
    # `within a week`; elsewhere the article counts nothing: `8 hours a day`.
    one = r"|(?<=\bwithin\s)an?(?=\s)(?!\s+\w+\s+or\s+(?:two|so|more|less)\b)" if language == "en" else ""
    return re.compile(
        rf"(?P<number>{number_form(language)}{one})(?:\s*\((?P<again>\d{{1,4}})\)|(?P<bracket>\)))?[\s-]{{1,2}}"
        rf"(?:(?:{lexicon.between}{days})\s+){{0,3}}(?:{units})\b(?P<owner>[’'](?:\s|$))?",
        re.IGNORECASE,
    )


@cache
def _joined_form(language: str) -> re.Pattern[str]:
    """The first number of two that share a unit."""
    lexicon = load(language)
    if lexicon is None:
        return re.compile("(?!)")
    return re.compile(
        rf"(?P<number>{number_form(language)})\s*,?\s+(?:or|nor|and|but|und|oder|noch)\s+"
        rf"(?:(?P<than>(?:not?\s+|nicht\s+)?(?:{lexicon.comparison}))\s+)?$",
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
        number = "one" if match["number"].casefold() in ("a", "an") else match["number"]
        value = float(match["again"]) if match["again"] else read_number(number, lexicon)
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
            before = _END_OF.sub("", before)
            relation = _cue(before, lexicon)[0] or ("on" if _ON.search(before) else "")
            event = _event(sentence, match.end(), lexicon)[1]
            deadline = Deadline(match.group().strip(), float(counted), unit, "", relation, event)
            yield Found(match.start(), match.end(), deadline)


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
    joined = None if listed else _joined_form(lexicon.language).search(sentence, max(0, at - _JOINED), at)
    if joined and (first := read_number(joined["number"], lexicon)):
        between = lexicon.forms["between_words"].search(sentence, max(0, joined.start() - 12), joined.start())
        if joined["than"] or between:
            # `not less than 10 nor more than 60 days`, `between ten and twenty days`
            yield _bounded(
                sentence, joined.start(), match, first, unit, "at least" if between else "", lexicon
            )
            yield _bounded(sentence, at, match, value, unit, "at most" if between else "", lexicon)
            return
    if len(listed) == 1 and lexicon.forms["between_words"].search(sentence, max(0, at - 12), at):
        yield _bounded(sentence, at, match, listed[0][1], unit, "at least", lexicon)
        yield _bounded(sentence, match.start(), match, value, unit, "at most", lexicon)
        return
    relation = _relation(sentence, at, match.end(), lexicon)
    for start, number in (*reversed(listed), (match.start(), value)):
        yield _found(sentence, start, match.end(), number, unit, relation, lexicon)


def _bounded(
    sentence: str, start: int, match: re.Match[str], value: float, unit: str, bound: str, lexicon: Lexicon
) -> Found:
    """One end of a range."""
    relation = Bound(bound) if bound else _relation(sentence, start, match.end(), lexicon)
    return _found(sentence, start, match.end(), value, unit, relation, lexicon)


def _relation(sentence: str, start: int, end: int, lexicon: Lexicon) -> Bound:
    """What a period is to what it is said of: a bound, or the first of the relations that fits."""
    before = sentence[max(0, start - _BEFORE) : start]
    every, *others = lexicon.relations
    if every[1].search(before):
        return Bound(every[0])
    bound = find_bound(sentence, start, end, lexicon)
    return bound if bound.name else Bound(next((name for name, form in others if form.search(before)), ""))


def _found(
    sentence: str, start: int, end: int, value: float, unit: str, relation: Bound, lexicon: Lexicon
) -> Found:
    how, event = _event(sentence, end, lexicon)
    name = relation.name
    if how == "of" and not (relation.of_time or name in ("within", "before", "after")):
        # `within 30 days of receipt` counts from something, `11 hours of rest` does not.
        how = event = ""
    if how.startswith(("prior", "before", "vor", "in advance")):
        name = relation.before_event().name if name not in ("", "for") else "before"
    elif how and not name:
        name = "for" if how.startswith("ending") else "after"
    elif relation.of_time and name == "at most":
        name = "within"
    return Found(start, end, Deadline(sentence[start:end].strip(), value, unit, "", name, event))


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
    relation, turned = _cue(before, lexicon)
    if turned:
        return relation
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


def _cue(before: str, lexicon: Lexicon) -> tuple[str, bool]:
    """What the words before a date make of it, and whether a negated verb turned them around."""
    relation, cue = next(
        ((name, found) for name, form in lexicon.date_cues if (found := form.search(before))), ("", None)
    )
    if cue and _TURNS.match(cue.group()) and is_negated_verb(before[: cue.start()], lexicon):
        return "from" if relation == "before" else "until", True
    return relation, False
