"""Query classes: what the user seems to want, and which leg should therefore weigh more.

Somebody who writes ``getUserById`` knows the word that must occur; somebody who asks for "the auth section of the
guide" knows a place; somebody who asks "how does caching work" knows neither. The classes only shift weights, so a
wrong guess costs little, and every rule looks for something that is rare in other queries.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from loccit.expressions import expression
from loccit.labels.lexicon import load, one_of
from loccit.search.candidates import DOCUMENT, GRAPH, KEYWORD
from loccit.search.query.understand import Query
from loccit.text.folding import fold, lower

Kind: TypeAlias = Literal["factual", "navigational", "exploratory"]

MULTIPLIERS: Mapping[Kind, Mapping[str, float]] = {
    "factual": {KEYWORD: 1.5, DOCUMENT: 3.0},
    "navigational": {GRAPH: 1.5},
    "exploratory": {},
}
"""Factors on the weights of the legs, by class.

More weight for meaning in exploratory queries was measured to hurt (docs/decisions/0016-query-classes.md). An
identifier usually occurs all over its file, so there the document's evidence counts more.
"""

# -- factual: words meant exactly as written -----------------------------------------------------------------

# Every pattern below needs one of these, and most queries have none.
_HINT = expression(r"[\d_`]|[a-z][A-Z]|::|\(\)|--|\w\.\w")
_FACTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("code in backticks", re.compile(r"`[^`]+`")),
    # getUserById, HttpClient; not McDonald, PhD, GmbH or iPhone, whose humps are too short to be words.
    (
        "a name in camel case",
        re.compile(
            r"(?<![\w-])(?!Ma?c[A-Z][a-z]+\b)[A-Za-z]?[a-z]{2,}\d*(?:[A-Z][a-z]{2,}\d*|[A-Z]{2,}(?!\w))\w*"
        ),
    ),
    ("a name with underscores", re.compile(r"(?<!\w)_{0,2}[A-Za-z][A-Za-z0-9]*_\w*[A-Za-z0-9]")),
    (
        "a call or a qualified name",
        re.compile(r"(?<![\w.])(?:[A-Za-z_]\w*(?:\.\w+)*(?:\(\)|::\w)|(?:[a-z_]\w+\.){2,}\w)"),
    ),
    ("an option of a command", re.compile(r"(?<!\S)--[a-z][\w-]+")),
    (
        "a file name",
        re.compile(
            r"(?<![\w@-])[\w-]+\.(?:md|ya?ml|json|toml|ini|conf|cfg|txt|pdf|docx|py|js|ts|go|rs|java|sh|sql|xml)\b"
        ),
    ),
    (
        "a version",
        re.compile(r"(?<![\w.§$])(?:v\d+(?:\.\d+){0,3}|\d+\.\d+\.\d+)(?:-[a-z0-9.]+)?(?![\w.]*\d)", re.I),
    ),
    (
        "a code with digits",
        re.compile(
            # One capital before two digits is a code (E17); several, as in COVID-19, are not.
            r"(?<!\w)(?:0x[0-9a-f]{2,}|[A-Z]{1,5}-?\d{3,6}|(?-i:[A-Z]\d{2})"
            r"|(?:HTTP|error|errno|exit|code|status|fault|alarm)\s+(?:code\s+)?(?:(?-i:[A-Z])|-)?\d{1,5})\b",
            re.I,
        ),
    ),
)
_WITH_UNIT = expression(
    r"(?<![\w.])\d+(?:[.,]\d+)*\s?(?:%|‰|°[CF]?|€|\$|£|[kmgt]i?b|bytes?|ms|sec(?:onds?)?|min(?:utes?)?|hours?|days?|weeks?"
    r"|months?|years?|[km]?m|km/h|kg|mg|[kmg]?hz|[kmg]?wh?|volts?|v|kpa|bar|psi|usd|eur(?:os?)?|dollars?|percent"
    r"|tage?n?|monaten?|jahren?|stunden?|jours?|mois|ans?|d[ií]as?|meses|a[ñn]os?|giorni|mesi|anni|dagen|maanden|jaar"
    r"|dias|anos)(?!\w)",
    re.I,
)

# -- navigational: places ------------------------------------------------------------------------------------

# Kinds that people also name without a number, and words for documents and their parts; `cross section` is no
# place.
_PLACE = r"(?<!cross )(?<!cross-)" + one_of(
    {
        fold(word)
        for word in (
            *load().asked,
            *(
                form.word
                for forms in (load().forms, load().parts)
                for form in forms.values()
                if load().kinds[form.kind].get("asked") and not (form.stop or form.only_text or form.plural)
            ),
        )
        if word.isalpha() or " " in word
    }
)
# Left out: words that mean something else in English, such as the Portuguese `do` and `no`.
_PREPOSITION = (
    "of|in|on|about|for|from|within|under|zu|zum|zur|von|vom|uber|im|sur|du|de|des|dans|del|di|sul|sobre|da|van"
    "|over"
)
_ANY_PLACE = expression(rf"\b(?:{_PLACE})s?\b")
_WIKILINK = expression(r"\[\[[^\[\]]+\]\]")
_IN_A_PLACE = expression(
    rf"\b(?:in|from|under|within|see|im|aus|dans|en|nel|nella|na)\s+(?:[\w-]+\s+){{0,4}}(?:{_PLACE})s?\b"
)
_PLACE_OF = expression(rf"\b(?:{_PLACE})s?\s+(?:{_PREPOSITION})\s+\w")
_ENDS_WITH_PLACE = expression(rf"\b(?:{_PLACE})s?\Z")
_FEW_WORDS = 4
# In a longer sentence a measure is a minor detail.
_MANY_WORDS = 8

# -- exploratory: questions ----------------------------------------------------------------------------------

_QUESTION_WORDS = frozenset(
    "what how why when where who whom whose which "
    "was wie warum weshalb wieso wann wo wer wen wem welche welcher welches welchen wozu womit wofur "
    "quoi comment pourquoi quand qui quel quelle quels quelles combien qu "
    "que como porque cuando donde quien quienes cual cuales cuanto cuantos "
    "che cosa come perche quando dove chi quale quali quanto "
    "wat hoe waarom wanneer waar wie welk "
    "qual quais quem onde quanto".split()
)
_ASKING = frozenset(
    "explain describe compare overview introduction difference differences is are can could does do should may must "
    "erklare beschreibe unterschied ist sind kann darf muss expliquer difference explica explicar diferencia spiega "
    "differenza leg verschil explique diferenca".split()
)
# Question words wherever they occur, which mean nothing else in another language.
_ALWAYS_ASKING = frozenset("what how why warum weshalb pourquoi comment hoe waarom perche".split())
_WORD = expression(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class QueryClass:
    """The class of a query, and the evidence for it."""

    kind: Kind
    reasons: tuple[str, ...]

    @property
    def multipliers(self) -> Mapping[str, float]:
        """The factors on the weights of the legs."""
        return MULTIPLIERS[self.kind]


def classify(query: Query) -> QueryClass:
    """Classify a query: does it want a word, a place or an answer?

    >>> from loccit.search.query.understand import understand
    >>> classify(understand("how does getUserById work"))
    QueryClass(kind='factual', reasons=('a name in camel case',))
    """
    text = query.text
    facts = ["a quoted phrase"] if query.phrases else []
    if _HINT.search(text):
        facts += [reason for reason, pattern in _FACTS if pattern.search(text)]
    if facts:
        return QueryClass("factual", tuple(facts))
    plain = fold(lower(text))
    words = _WORD.findall(plain)
    asking = _asks(text, words)
    places = _places(query, plain, len(words), asking=bool(asking))
    if places:
        return QueryClass("navigational", places)
    if not asking and len(words) <= _MANY_WORDS and _WITH_UNIT.search(text):
        return QueryClass("factual", ("a number with its unit",))
    return QueryClass("exploratory", (asking or "nothing that names a word or a place",))


def _places(query: Query, plain: str, words: int, *, asking: bool) -> tuple[str, ...]:
    found = []
    if any(label.kind for label in query.references) or (query.references and not query.rest):
        found.append("a reference")
    if _WIKILINK.search(query.text):
        found.append("a wikilink")
    if not _ANY_PLACE.search(plain):
        return tuple(found)
    if _IN_A_PLACE.search(plain) or _PLACE_OF.search(plain):
        found.append("a part of a document")
    elif not asking and 1 < words <= _FEW_WORDS and _ENDS_WITH_PLACE.search(plain):
        found.append("a kind of document")
    return tuple(found)


def _asks(text: str, words: list[str]) -> str:
    """The evidence that a query is a question, or ""."""
    if text.endswith("?"):
        return "a question mark"
    if words and words[0] in _ASKING:
        return f"it begins with “{words[0]}”"
    # `o que é`, `in which case`
    for word in words[: 2 if words and len(words[0]) <= 2 else 1]:
        if word in _QUESTION_WORDS:
            return f"it begins with “{word}”"
    asked = next((word for word in words if word in _ALWAYS_ASKING), "")
    return f"the word “{asked}”" if asked else ""
