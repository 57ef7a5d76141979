"""Names given in brackets: ``Acme Holdings Limited (the "Company")``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from loccit.extract.definitions.forms import closing_bracket
from loccit.extract.definitions.terms import QUOTED, clean_term
from loccit.extract.definitions.units import Unit

_NAMED = re.compile(rf"(?:[*_]{{1,3}})?(?:{QUOTED})(?:[*_]{{1,3}})?|\*\*[^*\n]{{1,100}}\*\*")
OPENING = re.compile(r"\((?<=\s\()(?=[^()\n]{0,80}?[\"“‘«„»'‚*])")
_GIVING = frozenset(
    """
    the this a an each collectively together individually hereinafter hereafter herein jointly severally all
    both called nachfolgend folgenden ci-après ci-apres adelante seguito denominado denominada dénommé
    dénommée dénommés l le la les el genannt der die das
    """.split()
)
_NEUTRAL = frozenset(
    """
    as amended and or such referred to any of them in this agreement contract act deed policy section
    with im also for purposes party parties being from time collective defined bezeichnet gemeinsam auch
    on en ultérieurement so
    """.split()
)
_JOINTS = frozenset(("or", "and", "also"))
# `the "Lender" and, together with the others, the "Lenders"`: the words between explain the second name.
_TOGETHER = re.compile(r"[\"”’»][*_]{0,3},? and,? (?:together|collectively|jointly) with\b")
_WORD = re.compile(r"[\w'’-]+")
_STOPS = re.compile(r"[;:—!?]\s|[.]\s+(?=[A-Z“\"‘])|\n\s*\n|\)\s*,|\|")
_LEADS = re.compile(
    r"\s*(?:[-*+•]\s+)?(?:(?:and|or|that|which|by|with|of|to|in|into|from|under|between|among|for|on|at|against|than|all|is|are"
    r"|was|were|has|have|pursuant|within|through|because|as)\s+)+",
    re.IGNORECASE,
)
_COMPANY = re.compile(
    r"\b(?:inc|ltd|limited|plc|llc|llp|gmbh|ag|corp|corporation|co|company|s\.a|n\.v|b\.v)\.?$", re.IGNORECASE
)
_COMMA = re.compile(r", (?!(?:inc|ltd|llc|l\.l\.c|as amended)\b)", re.IGNORECASE)
# An article that begins the phrase rather than being inside it ("the free flow of data within the Union").
_NOUN_PHRASE = re.compile(
    r"(?<!\bof )(?<!\bin )(?<!\bto )(?<!\bfor )(?<!\bfrom )(?<!\bon )(?<!\bat )(?<!\bunder )(?<!\bwithin )"
    r"\b(?:an?|the)\s"
    r"|\brelating to (?:an?|the)\s"
)
_SMALL = frozenset("of the and for & in on de la du der und et y to".split())
_LEADING_WORD = re.compile(
    r"(?:The|An?|Under|In|By|For|On|At|From|With|This|Each|Der|Die|Das|Le|La|Les|El|Los)\s+(?:the\s+)?"
)
MAX_PHRASE = 300
_FAR = 50_000


@dataclass(frozen=True, slots=True)
class Bracket:
    """The names that a bracket gives, the span of the phrase they stand for, and the bracket's end."""

    terms: tuple[str, ...]
    start: int
    end: int
    close: int
    sure: float


def named_in_bracket(text: str, unit: Unit, opening: int, glossary: bool) -> Bracket | None:
    """Return the names in a bracket, if it names what precedes it."""
    close = closing_bracket(text, opening, unit.end, 240)
    if close < 0:
        return None
    content = text[opening + 1 : close - 1]
    terms = [clean_term(match.group()) for match in _NAMED.finditer(content)]
    if not terms or not all(terms) or any(len(term.split()) > 7 for term in terms):
        return None
    rest = [word for word in _WORD.findall(_NAMED.sub(" ", content).lower()) if word not in _JOINTS]
    given = any(word in _GIVING for word in rest)
    plain = all(word in _GIVING or word in _NEUTRAL for word in rest) or bool(_TOGETHER.search(content))
    if not plain or (rest and not given):
        return None
    if not rest and "*" in content and not any(mark in content for mark in "\"“‘«„'"):
        return None
    end = _trimmed(text, unit.body, opening)
    end = _before_bracket(text, unit, end)
    if end <= unit.body or not (text[end - 1].isalnum() or text[end - 1] in ".*_)%"):
        return None
    closing = not rest and _closes_item(text, unit, close)
    begin = unit.body if closing and not glossary else _phrase_start(text, unit, end, terms[0], bare=not rest)
    phrase = text[begin:end]
    if not any(map(str.isalpha, phrase)) or "<" in phrase or "`" in phrase:
        return None
    fits = bool(rest) or glossary or _fits(phrase, terms, closing)
    if not fits and not all(_is_used(text, term, close) for term in terms):
        return None
    return Bracket(tuple(dict.fromkeys(terms)), begin, end, close, 0.9 if rest else 0.8 if fits else 0.75)


def _is_used(text: str, term: str, close: int) -> bool:
    """Whether the document goes on to use a name: spelled the same, outside the bracket, and not in quotes."""
    name = term.removeprefix("the ").removeprefix("The ")
    if name[:1].islower() or not any(map(str.isupper, name)) or len(name) < 2:
        return False
    used = rf"(?<![\w\"“‘']){re.escape(name)}(?!\w)"
    return re.search(used, text[close : close + _FAR]) is not None


def _trimmed(text: str, floor: int, end: int) -> int:
    return floor + len(text[floor:end].rstrip(", \t\r\n\u00a0"))


def _before_bracket(text: str, unit: Unit, end: int) -> int:
    """Skip a bracket between a name and its short form: "… Act (41 U.S.C. 15) (the "Act")"."""
    if text[end - 1] != ")":
        return end
    depth = 0
    for at in range(end - 1, max(unit.body, end - 600), -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return _trimmed(text, unit.body, at)
    return end


def _closes_item(text: str, unit: Unit, close: int) -> bool:
    """Whether the bracket ends a numbered item, as where a statute names its principles."""
    return bool(unit.places) and unit.end - close <= 1 and text[close : unit.end] in ("", ";", ".", ",")


def _fits(phrase: str, terms: list[str], closing: bool) -> bool:
    """Whether a bare bracket names the phrase: its initials, its own words, or a company's short name."""
    if closing and " " in phrase:
        return True
    words = [word.lower() for word in _WORD.findall(phrase)]
    if len(words) < 2:
        return False
    for term in terms:
        parts = [word.lower() for word in _WORD.findall(term)]
        letters = "".join(char for char in term.lower() if char.isalnum())
        if len(parts) == 1 and len(letters) > 1 and _spelled(letters, words) is not None:
            return True
        named = len(parts) > 1 or term[:1].isupper() or _COMPANY.search(phrase)
        if named and all(part in words for part in parts):
            return True
    return bool(_COMPANY.search(phrase)) and terms[0][:1].isupper()


def _phrase_start(text: str, unit: Unit, end: int, term: str, bare: bool) -> int:
    """Return where the name before a bracket begins.

    The shortest valid reading wins: the words whose initials make up the term, else a capitalised name, else the
    clause.
    """
    floor = max(unit.body, end - MAX_PHRASE)
    if floor > unit.body:
        space = text.find(" ", floor, end)
        floor = space + 1 if space >= 0 else floor
    for stop in _STOPS.finditer(text, floor, end):
        floor = stop.end()
    window = text[floor:end]
    letters = "".join(char for char in term.lower() if char.isalnum())
    spans = list(_WORD.finditer(window))
    if " " not in term and 2 <= len(letters) <= 10:
        first = _spelled(letters, [span.group().lower() for span in spans])
        if first is not None:
            return floor + spans[first].start()
    if floor == unit.body and _opens_with_name(window):
        return floor
    name = _capitalised(window, spans)
    if name is not None:
        return floor + name
    if bare:
        opening = _WORD.findall(term.lower())[:1]
        own = [span.start() for span in spans if span.group().lower() in opening]
        if own:
            return floor + own[-1]
    article = max((m.end() for m in _NOUN_PHRASE.finditer(window)), default=-1)
    if article >= 0 and " " in window[article:].strip():
        return floor + article
    comma = max((m.end() for m in _COMMA.finditer(window)), default=0)
    begin = comma if len(window) - comma > 23 else 0
    lead = _LEADS.match(window, begin)
    return floor + (lead.end() if lead and lead.end() < len(window) else begin)


def _spelled(letters: str, words: list[str]) -> int | None:
    """Return the word at which a term spelled by initials begins, skipping small words if necessary."""
    at = len(words) - 1
    while at > 0 and _COMPANY.fullmatch(words[at]) and words[at][0] != letters[-1]:
        at -= 1
    for letter in reversed(letters):
        while at >= 0 and words[at][0] != letter and words[at] in _SMALL:
            at -= 1
        if at < 0 or words[at][0] != letter:
            return None
        at -= 1
    return at + 1


def _opens_with_name(window: str) -> bool:
    """Whether a paragraph begins with a party's name and particulars: "Acme Limited, a company …"."""
    head = window.split(",")[0].strip("*_ ")
    words = head.split()
    return (
        0 < len(words) <= 8
        and all(w[:1].isupper() or w.lower() in _SMALL or _COMPANY.search(w) for w in words)
        and "," in window
    )


def _capitalised(window: str, spans: list[re.Match[str]]) -> int | None:
    """Return where a run of at least two capitalised words at the end of the window begins."""
    count, begin = 0, None
    for at in range(len(spans) - 1, -1, -1):
        word = spans[at].group()
        between = window[spans[at].end() : spans[at + 1].start()] if at + 1 < len(spans) else ""
        if between.strip(" .&*_-–") and between.strip() != ",":
            break
        if word[:1].isupper() or (word[:1].isdigit() and count):
            count, begin = count + 1, spans[at].start()
        elif word.lower() not in _SMALL or not count:
            break
    while count > 2 and begin is not None and (lead := _LEADING_WORD.match(window, begin)):
        count, begin = count - 1, lead.end()
    return begin if count >= 2 else None
