"""The vocabulary of obligations, one JSON file per language.

``digits``, ``hundreds``, ``scales`` and ``ordinals`` are words of numbers, ``months`` and ``units`` those of time, each
with the forms that it takes; ``adjectives`` are those of units joined to a number (``dreimonatig``). ``time_hints``,
``amount_hints``, ``date_hints`` and ``vague_hints`` are what every period, amount, date and vague deadline has one of
in it, casefolded, to pass over sentences that have none: looking for a word is far quicker than for an expression. All
other values are regular expressions. ``comparisons``, ``relations`` and ``date_cues`` are looked for at the end of what
stands before a number, and so are the ``not_…_before`` that rule it out; ``comparisons_behind``, ``not_after`` and
``date_of_law`` stand behind it. A comparison has the bound that it sets unless it is negated, and a kind: a ``verb``
(*exceed*), ``than`` and ``long`` (*longer than*, which can belong to a noun), a ``noun``'s (*exceeding*), one of
``time`` (*later than*), of ``money`` alone, or ``plain``, which is negated only where *not* stands before it.
``modals`` have the kind of what they state, their own hints, the form, of which the first that fits counts, and the
kind of a negation that is not in the form (*no person may*, *muss nicht*); ``infinitive`` and ``months`` can be used in
other expressions as ``{infinitive}``. Repetitions are bounded, so that no text can make them slow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from loccit.model.obligation import LANGUAGES


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The vocabulary of one language, compiled for matching."""

    language: str
    digits: Mapping[str, int]
    hundreds: frozenset[str]
    scales: Mapping[str, float]
    ordinals: Mapping[str, int]
    months: tuple[str, ...]
    units: Mapping[str, str]
    adjectives: Mapping[str, str]
    time_hints: tuple[str, ...]
    amount_hints: tuple[str, ...]
    date_hints: tuple[str, ...]
    vague_hints: tuple[str, ...]
    kinds_of_day: Mapping[str, str]
    between: str
    currencies: Mapping[str, str]
    percent: str
    comparisons: tuple[tuple[str, str, re.Pattern[str]], ...]
    comparisons_behind: tuple[tuple[str, str, re.Pattern[str]], ...]
    comparison: str
    """Any of the comparisons before a number."""
    relations: tuple[tuple[str, re.Pattern[str]], ...]
    date_cues: tuple[tuple[str, re.Pattern[str]], ...]
    dates: tuple[re.Pattern[str], ...]
    modals: tuple[tuple[str, tuple[str, ...], re.Pattern[str], str], ...]
    named_bearers_only: frozenset[str]
    forms: Mapping[str, re.Pattern[str]]
    """The single expressions, by name."""


_SINGLE = (
    "not_after",
    "not_before",
    "ordinal_after",
    "not_date_cues",
    "date_of_law",
    "events",
    "vague_deadlines",
    "not_percent",
    "not_percent_sentence",
    "between_words",
    "negation",
    "negation_at",
    "clause",
    "of_noun",
    "being",
    "negated_verb",
    "exceptions",
    "not_modal_before",
    "none",
    "passive",
    "agent",
    "subordinate",
    "relative",
)


@cache
def load(language: str) -> Lexicon | None:
    """Return the vocabulary of a language; None if it has no file."""
    if language not in LANGUAGES:
        return None
    data: dict[str, Any] = json.loads(files(__name__).joinpath(f"{language}.json").read_text("utf-8"))
    months = "|".join(data["months"])
    infinitive = data.get("infinitive", "")

    def compiled(form: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
        return re.compile(form.replace("{infinitive}", infinitive).replace("{months}", months), flags)

    forms = {name: compiled(data[name]) for name in _SINGLE}
    forms["infinitive"] = compiled(infinitive or "(?!)")
    forms["agent"] = compiled(data["agent"], 0)
    for name in ("subordinate", "relative"):
        forms[name] = compiled(rf"(?:{data[name]})\b")
    comparison = "|".join(form for _, _, form in data["comparisons"])
    # `less than five or` before another comparison
    forms["or_than"] = compiled(rf"\b(?:{comparison})\s(?:[^,;:]|,(?=\d)){{1,40}}?\s(?:or|and|oder|und)\s+$")
    forms["vague_deadlines"] = compiled(rf"\b(?:{data['vague_deadlines']})")
    return Lexicon(
        language=language,
        digits=data["digits"],
        hundreds=frozenset(data["hundreds"]),
        scales=data["scales"],
        ordinals=data["ordinals"],
        months=tuple(data["months"]),
        units=data["units"],
        adjectives=data["adjectives"],
        time_hints=tuple(data["time_hints"]),
        amount_hints=tuple(data["amount_hints"]),
        date_hints=tuple(data["date_hints"]),
        vague_hints=tuple(data["vague_hints"]),
        kinds_of_day=data["kinds_of_day"],
        between=data["between"],
        currencies=data["currencies"],
        percent=data["percent"],
        comparisons=tuple(
            (name, kind, compiled(rf"\b(?:{form})\b\s*{data['comparison_filler']}$"))
            for name, kind, form in data["comparisons"]
        ),
        comparisons_behind=tuple(
            (name, kind, compiled(form)) for name, kind, form in data["comparisons_behind"]
        ),
        comparison=comparison,
        relations=tuple((name, compiled(form)) for name, form in data["relations"]),
        date_cues=tuple((name, compiled(form)) for name, form in data["date_cues"]),
        dates=tuple(compiled(rf"(?<!\w){data[name]}\b") for name in ("day_month", "month_day") if data[name]),
        modals=tuple(
            (kind, tuple(hints), compiled(rf"\b(?:{form})"), negated)
            for kind, hints, form, negated in data["modals"]
        ),
        named_bearers_only=frozenset(data["named_bearers_only"]),
        forms=forms,
    )


def has_any(sentence: str, hints: tuple[str, ...]) -> bool:
    """Whether a sentence, casefolded where the hints are, has one of them in it."""
    return any(map(sentence.__contains__, hints))
