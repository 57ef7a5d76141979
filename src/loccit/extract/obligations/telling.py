"""Telling: whether a sentence has a verb of duty, an amount or a period, in any language that some word is known of.

No rule need understand it: a list of what documents fix is complete only if it says what it left out.
"""

from __future__ import annotations

import re
from functools import cache

from loccit.extract.obligations.lexicon import load

# Of languages without a lexicon.
_UNITS = {
    "fr": r"(?:jours?|semaines?|mois|ans?|années?|heures?)",
    "es": r"(?:días?|semanas?|meses|mes|años?|horas?)",
    "it": r"(?:giorn[io]|settiman[ae]|mes[ei]|ann[io]|or[ae])",
    "pt": r"(?:dias?|semanas?|meses|mês|anos?|horas?)",
    "nl": r"(?:dag(?:en)?|we(?:ek|ken)|maand(?:en)?|jaar|jaren|uur|uren)",
}
_VERBS = {"en": r"\b(?:shall|must|should)\b", "de": r"\b(?:muss|müssen|darf|dürfen)\b"}
_SUM = (
    r"(?:[€$£¥]\s?\d|\b(?:eur|usd|gbp|chf)\s?\d|\d\s?(?:€|%"
    r"|(?:eur|usd|gbp|chf|per\s?cent|prozent|euros?|dollars?)\b))"
)
_WORDS = {
    "fr": "un|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|douze|quinze|trente",
    "es": "un|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|quince|treinta",
    "it": "un|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|dodici|trenta",
    "pt": "um|dois|três|quatro|cinco|seis|sete|oito|nove|dez|doze|trinta",
    "nl": "een|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|twaalf|dertig",
}


def is_telling(sentence: str, language: str) -> bool:
    """Whether a sentence may fix something: it is no question, and has such words.

    >>> is_telling("Los libros se conservarán durante cinco años.", "es"), is_telling("Five boats sailed.", "en")
    (True, False)
    """
    form = _form(language or "en")
    # In small letters: to ignore their case in the expression takes several times as long.
    return not sentence.endswith("?") and form.search(sentence.lower()) is not None


@cache
def _form(language: str) -> re.Pattern[str]:
    lexicon, units, words = load(language), _UNITS.get(language), _WORDS.get(language)
    if lexicon is not None:
        days = "|".join([*lexicon.kinds_of_day.values(), "calendar"])
        units, words = (
            rf"(?:(?:{days})\s)?(?:{'|'.join(lexicon.units.values())})".lower(),
            "|".join(lexicon.digits),
        )
    forms = [_SUM, *filter(None, [_VERBS.get(language)])]
    if units:
        forms.append(rf"(?<![\w.])(?:\d{{1,4}}|(?:{words}))[\s-]{{1,2}}(?:\(\w+\)\s)?{units}(?!\w)")
    return re.compile("|".join(forms))
