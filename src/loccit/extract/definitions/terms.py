"""Terms as printed: in quotation marks, emphasised or bare; and what a definition excludes."""

from __future__ import annotations

import re
from itertools import pairwise

from loccit.grammar.text.folding import lower
from loccit.grammar.text.sentences import sentence_ends

MAX_TERM_CHARS = 100
MAX_TERM_WORDS = 12

# Each alternative begins with a plain character and has its lookbehinds after it, so that a search skips text
# without quotation marks quickly.
QUOTED = (
    r'"(?<![\w"]")(?=[^\s",;.:)])[^"“”]{1,120}["”](?!\w)'
    r"|“[^“”\"]{1,120}[”\"]"
    r"|‘(?:[^‘’]|’(?=\w)){1,120}’(?!\w)"
    r"|'(?<![\w']')(?=\w)[^'\n]{1,80}'(?!\w)"
    r"|«[^«»]{1,120}»"
    r"|‹[^‹›]{1,120}›"
    r"|„[^„“”\"]{1,120}[“”\"]"
    r"|‚[^‚‘’]{1,120}[‘’]"
    r"|»(?<!\w»)[^«»]{1,120}«"
)
# Quotation marks may be inside the emphasis, but only around all of it: a bold paragraph that contains a
# quoted term is not one term.
_BEFORE, _AFTER = r"[\"“‘«„']?(?=[^\s*_`])", r"[\"”’»“']?"
EMPHASISED = (
    rf"\*(?<![\w*]\*)\*{{0,2}}_?{_BEFORE}[^*\"“”‘«»„\n]{{1,120}}{_AFTER}\*{{1,3}}(?!\w)"
    rf"|_(?<![\w_]_)_{{0,2}}{_BEFORE}[^_*\"“”‘«»„\n]{{1,120}}{_AFTER}_{{1,3}}(?!\w)"
    r"|`(?<![\w`]`)[^`\n]{1,80}`(?![\w`])"
)
TERM = re.compile(f"{QUOTED}|{EMPHASISED}")
QUOTES = frozenset("\"“”‘’'«»‹›„‚")

_EDGES = " \t\n*_`\"“”‘’'«»‹›„‚,.;:\\ \u00a0\u202f"
# Common words: explaining how to read them defines no term. `Shall` and the like are terms in statutes.
STOP_WORDS = frozenset(
    """
    a an and any are as at be been but by can could each either every for from had has have if in into is it its no nor
    not of on or so such than that the then these this those through thru to until upon was were which who with within
    without would
    """.split()
)
# No term begins with these, except as a name: they are what is left between two quoted terms.
_NO_START = frozenset(
    "and or but that which who whom whose shall is are was were be been on as because whereas".split()
)
_ANNOUNCED = re.compile(r"Definitions?\.\s+(?=\S)")
_SENTENCE = re.compile(r"[!?]\s|[^\W\d_]{4}\.\s+[^\W\d_]")
_INSIDE = re.compile(r"[\s*_`\"“”‘’'«»‹›„‚\\]*")
_LINK = re.compile(r"!?\[+([^\[\]]{1,200})\]+(?:\([^()\s]{0,300}\)|\[[^\[\]]{0,200}\])?")
_ENTITY = re.compile(r"&\w{2,10}(?:;|$)|[<>{}]")
_WORD = re.compile(r"[^\W_]+")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
# What a term does not include is said of it by a verb, or belongs to what it means.
_EXCEPTION = re.compile(
    r"\b(?P<verb>(?:but )?(?:does|do|shall|will) not (?:include|mean|extend to|apply to|cover|comprise)\b"
    r"|excludes?\b|(?:gilt|gelten|zählt|zählen) nicht\b|ne comprend pas\b|no incluye\b)"
    r"|\b(?:except(?:ing)?\b(?! insofar)|but not(?= (?:including|an?|the|any|those|such|in|on)\b)"
    r"|(?<!not )(?:but )?excluding\b"
    r"|other than\b|unless\b|with the exception of\b"
    r"|mit Ausnahme\b|ausgenommen\b|es sei denn\b|außer\b"
    r"|à l['’](?:exception|exclusion)\b|sauf\b"
    r"|(?:con|a) excepción de\b|excepto\b|salvo\b)",
    re.IGNORECASE,
)
# In a clause with these, an exception can be to something else than the term.
_INNER = re.compile(
    r"\b(?:who|whom|whose|which|that|where|when|if|der|die|das|wenn|qui|que|dont)\b(?!\s+(?:term|expression)\b)"
    r"|[(\s][a-z\d]{1,4}\)\s",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"(?:^|[,;:—–]|\b(?:and|but|or|it|they|und|et|y))\s*$", re.IGNORECASE)
# What the definition goes on with after an exception between commas.
_GOES_ON = re.compile(
    r",\s+(?:who|which|that|whose|through\s+which|by\s+which|and\s+(?:also\s+)?includes?)\b"
)
# Words that the meaning can have before an exception that no comma sets off.
_NEAR = 16
_NEAR_BRACKET = 8
_SOFT_END = re.compile(r";(?=\s)|\n\s*\n")
MAX_EXCEPTIONS = 20


def clean_term(raw: str) -> str:
    """Return a term without quotation marks, emphasis and links, or "" if it cannot be a term.

    >>> clean_term("“**Business Day**,”")
    'Business Day'
    """
    term = _LINK.sub(r"\1", raw) if "[" in raw else raw
    inside = _INSIDE.match(term)
    if inside and term[inside.end() : inside.end() + 1] in tuple(",;.:)"):
        return ""  # what stands between two quotations
    term = " ".join(term.replace("\\", "").split()).strip(_EDGES)
    term = _ANNOUNCED.sub("", term)
    words = term.count(" ") + 1
    if _ENTITY.search(term) or _SENTENCE.search(term) or term.partition(" ")[0] in _NO_START:
        return ""
    if words < 4 and all(word.lower() in STOP_WORDS for word in term.split()):
        return ""
    if len(term) > MAX_TERM_CHARS or words > MAX_TERM_WORDS or not any(map(str.isalpha, term)):
        return ""
    return term


def normalize_term(term: str) -> str:
    """Return the key of a term: lower case, words joined by underscores, no punctuation.

    >>> normalize_term("Force Majeure")
    'force_majeure'
    """
    return "_".join(_WORD.findall(_APOSTROPHE.sub("", lower(term))))


def exceptions_in(text: str) -> tuple[str, ...]:
    """Return what a definition excludes, as printed, where it is plainly the term that it is excluded from.

    A separate sentence ("The term does not include …") is returned whole. In the sentence that defines the term, the
    exception extends to the end of its clause.
    """
    if _EXCEPTION.search(text) is None:
        return ()
    bounds = sorted({0, len(text), *sentence_ends(text), *(m.end() for m in _SOFT_END.finditer(text))})
    found: list[str] = []
    after = 0
    for begin, end in pairwise(bounds):
        # After a semicolon or in a sub-item, the sentence that defines the term goes on.
        ended = text[:begin].rstrip()[-1:] in (".", "!", "?")
        same = not begin or not (ended or text[begin : begin + 1].isupper())
        for match in _EXCEPTION.finditer(text, begin, end):
            if match.start() < after or len(found) == MAX_EXCEPTIONS:
                continue  # already part of an exception with a list below it
            before = text[begin : match.start()]
            if not (_of_term(before, match, bool(begin)) if same else match["verb"] and _near(before)):
                continue
            start = match.start() if same else begin
            after = _stop(text, begin, end, start, match)
            found.append(text[start:after].strip().rstrip(";,").rstrip())
    return tuple(found)


def _near(before: str, most: int = _NEAR_BRACKET) -> bool:
    """Whether only a few words, and no clause or item, stand before an exception."""
    return _INNER.search(before) is None and len(before.split()) <= most


def _of_term(before: str, match: re.Match[str], own: bool) -> bool:
    """Whether an exception in the sentence that defines a term is one to the term, not to something within.

    ``before`` is what its clause says before it, ``own`` whether that is not the first one.
    """
    if match["verb"]:
        but = match["verb"].casefold().startswith("but ")
        return but or bool(_SUBJECT.search(before)) or _near(before)
    if before.count("(") > before.count(")"):
        return _near(before[: before.rfind("(")])
    if own:
        return not before.strip(" (\n\t0123456789abcdefghijklmnopqrstuvwxyz)") and len(before) < 8
    if before.rstrip().endswith(","):
        inner = _INNER.search(before)
        return inner is None or not inner.group().endswith((")", ") "))
    return _near(before, _NEAR)


def _stop(text: str, begin: int, end: int, start: int, match: re.Match[str]) -> int:
    """Return where an exception ends: with its clause, its bracket, its list, or before the definition goes on."""
    # "… does not include—" is completed by the list that follows.
    stop = len(text) if text[begin:end].rstrip().endswith((":", "—", "–", "-")) else end
    if text.count("(", begin, start) > text.count(")", begin, start):
        close = text.find(")", start, stop)
        stop = close if close >= 0 else stop
    if start > begin:
        further = (found.start() for found in _EXCEPTION.finditer(text, match.end(), stop) if found["verb"])
        stop = next(further, stop)
    goes_on = _GOES_ON.search(text, match.end(), stop) if text[:start].rstrip().endswith(",") else None
    return goes_on.start() if goes_on else stop
