"""Terms as printed: in quotation marks, emphasised or bare; and what a definition excludes."""

from __future__ import annotations

import re
from itertools import pairwise

from loccit.text.folding import lower
from loccit.text.sentences import sentence_ends

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
    rf"\*(?<![\w*]\*)\*{{0,2}}{_BEFORE}[^*\"“”‘«»„\n]{{1,120}}{_AFTER}\*{{1,3}}(?!\w)"
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
_EXCEPTION = re.compile(
    r"\b(?:except(?:ing)?\b(?! insofar)|(?:but )?(?:does|do|shall|will) not (?:include|mean|extend to|apply to)\b"
    r"|but does not\b|but do not\b|but not\b|excluding\b|excludes?\b|other than\b|unless\b|with the exception of\b"
    r"|mit Ausnahme\b|ausgenommen\b|nicht als\b|es sei denn\b|außer\b"
    r"|à l['’](?:exception|exclusion)\b|sauf\b|ne comprend pas\b"
    r"|(?:con|a) excepción de\b|excepto\b|salvo\b|no incluye\b)",
    re.IGNORECASE,
)
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
    """Return what a definition excludes, as printed.

    A separate sentence ("The term does not include …") is returned whole. In the sentence that defines the term, the
    exception extends to the end of its clause.
    """
    first = _EXCEPTION.search(text)
    if first is None:
        return ()
    bounds = sorted({0, len(text), *sentence_ends(text), *(m.end() for m in _SOFT_END.finditer(text))})
    found: list[str] = []
    after = 0
    for begin, end in pairwise(bounds):
        if begin < after:
            continue  # already part of an exception with a list below it
        match = _EXCEPTION.search(text, begin, end)
        if match is None:
            continue
        start = match.start() if begin == 0 or _continues(text, begin) else begin
        # "… does not include—" is completed by the list that follows.
        stop = len(text) if text[begin:end].rstrip().endswith((":", "—", "–", "-")) else end
        if start > begin or begin == 0:
            stop = min(stop, _bracket_end(text, begin, start, stop))
        found.append(text[start:stop].strip().rstrip(";").rstrip())
        after = stop
        if len(found) == MAX_EXCEPTIONS:
            break
    return tuple(found)


def _continues(text: str, begin: int) -> bool:
    """Whether the clause continues the previous sentence, after a semicolon or in a sub-item."""
    return not text[begin : begin + 1].isupper() and text[:begin].rstrip()[-1:] not in (".", "!", "?")


def _bracket_end(text: str, begin: int, start: int, stop: int) -> int:
    """Return where the bracket around an exception closes, or ``stop``."""
    if text.count("(", begin, start) <= text.count(")", begin, start):
        return stop
    close = text.find(")", start, stop)
    return close if close >= 0 else stop
