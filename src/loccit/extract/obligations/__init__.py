"""Obligations: a table of who must do what, by when, for how much, unless what; made without a language model.

``units`` cuts a document into sentences, ``duties`` finds verbs and bearers, ``deadlines`` and ``amounts`` what is
counted. What is not understood stays in the table and is marked.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from loccit.extract.obligations.amounts import BLANK, BLANKS, find_amounts
from loccit.extract.obligations.deadlines import Found as FoundDeadline
from loccit.extract.obligations.deadlines import find_deadlines
from loccit.extract.obligations.duties import LONGEST_ACTION, VERBS, Duty, cut, find_duties, leads
from loccit.extract.obligations.lead_ins import LeadIn, LeadIns, Stated
from loccit.extract.obligations.lexicon import Lexicon, has_any, load
from loccit.extract.obligations.telling import is_telling
from loccit.extract.obligations.units import sentences
from loccit.grammar.text.code_languages import language_of_file
from loccit.model import Place
from loccit.model.obligation import Obligation
from loccit.structure import Positions

__all__ = ["extract_obligations", "read_sentence"]

# What is kept of a sentence; the document has all of it.
_KEPT = 1000
# This many places before a sentence are checked for one that extends to it.
_LOOK_BACK = 500
# A sentence that ends with one of these leads to a list.
_PROMISES = (":", "—", "–")
# An item whose verb begins no later has no subject of its own: `(a) shall notify`.
_AT_ONCE = 12


def extract_obligations(
    source_path: str, text: str, body_start: int, places: Sequence[Place], language: str, position: Positions
) -> list[Obligation]:
    """Return the obligations, deadlines and amounts of a document, in text order; code has none."""
    if language_of_file(source_path):
        return []
    ordered = sorted(places, key=lambda place: (place.start, place.ordinal))
    above = LeadIns(text, {place.ordinal: place for place in places})
    found: list[Obligation] = []
    for start, end, sentence in sentences(text, body_start, ordered):
        place = _innermost(ordered, start)
        stated = read_sentence(sentence, language)
        lead = above.of(start, place)
        words = sentence
        if lead is not None:
            stated, words = _inherited(stated, sentence, lead)
        if sentence.endswith(_PROMISES):
            above.add(start, place, stated, words)
        if not stated:
            continue
        lines, pages = position.lines(start, end), position.pages(start, end)
        for kind, duty, deadlines, amounts, gaps in stated:
            found.append(
                Obligation(
                    kind=kind,
                    start=start,
                    end=end,
                    lines=lines,
                    text=words[:_KEPT],
                    place=place.ordinal if place else 0,
                    bearer=duty.bearer if duty else "",
                    modal=duty.modal if duty else "",
                    action=duty.action if duty else "",
                    exception=duty.exception if duty else "",
                    deadlines=tuple(item.deadline for item in deadlines),
                    amounts=tuple(item.amount for item in amounts),
                    gaps=gaps,
                    pages=pages,
                )
            )
    return found


def _inherited(own: list[Stated], sentence: str, lead: LeadIn) -> tuple[list[Stated], str]:
    """The rows of an item with what its lead-in says, and their words: both, one after the other.

    An item without a verb has that of the lead-in, one that begins with its verb the bearer.
    """
    words = f"{lead.words} {sentence}"
    kind, duty, deadlines, amounts, gaps = lead.stated
    said = own[0] if own and own[0][1] is not None else None
    if said is None and duty is not None:
        action = cut(f"{cut(duty.action, LONGEST_ACTION // 2)}: {sentence}".strip(" :"), LONGEST_ACTION)
        joined = replace(duty, action=action)
        mine = own[0] if own else ("", None, [], [], ())
        left = tuple(name for name in dict.fromkeys((*gaps, *mine[4])) if name not in ("action", "inherited"))
        row = (kind, joined, [*deadlines, *mine[2]], [*amounts, *mine[3]], (*left, "inherited"))
        return [row], words
    bearer = duty.bearer if duty else lead.subject
    if (
        said is not None
        and said[1] is not None
        and not said[1].bearer
        and bearer
        and said[1].start < _AT_ONCE
    ):
        first = (said[0], replace(said[1], bearer=bearer), said[2], said[3])
        left = tuple(name for name in said[4] if name not in ("bearer", "inherited"))
        return [(*first, (*left, "inherited")), *own[1:]], words
    return own, sentence


def _innermost(places: Sequence[Place], offset: int) -> Place | None:
    """Return the innermost of a document's places, given in text order, that contains an offset."""
    last = bisect_right(places, offset, key=lambda place: place.start)
    around = reversed(places[max(0, last - _LOOK_BACK) : last])
    return next((place for place in around if place.is_heading or place.end > offset), None)


def read_sentence(sentence: str, language: str) -> list[Stated]:
    """Return the rows for a sentence: kind, verb, deadlines, amounts and gaps of each.

    One with a verb of duty, an amount or a period that no rule understands is of kind ``unknown``.
    """
    lexicon = load(language or "en")
    if lexicon is not None:
        rows = _rows(sentence, lexicon)
    elif verb := VERBS[language].search(sentence) if language in VERBS else None:
        rows = [
            (
                "duty",
                Duty("duty", verb.start(), verb.end(), len(sentence), verb.group()),
                [],
                [],
                ("language",),
            )
        ]
    else:
        rows = []
    if rows or not is_telling(sentence, language):
        return rows
    return [("unknown", None, [], [], () if lexicon else ("language",))]


def _rows(sentence: str, lexicon: Lexicon) -> list[Stated]:
    duties = find_duties(sentence, lexicon)
    deadlines, amounts = find_deadlines(sentence, lexicon), find_amounts(sentence, lexicon)
    if not duties and not amounts and not any(item.deadline.normal for item in deadlines):
        return []
    blank = has_any(sentence, BLANKS) and BLANK.search(sentence) is not None
    if not duties:
        return [("statement", None, deadlines, amounts, _gaps(None, deadlines, blank))]
    rows: list[Stated] = []
    stops = [duty.stop for duty in duties[:-1]]
    led = duties[0].start if len(duties) > 1 and leads(sentence, duties[0]) else 0

    def whose(offset: int) -> int:
        return 1 if offset < led else bisect_right(stops, offset)

    for number, duty in enumerate(duties):
        its_deadlines = [item for item in deadlines if whose(item.start) == number]
        its_amounts = [item for item in amounts if whose(item.start) == number]
        rows.append(
            (duty.kind, duty, its_deadlines, its_amounts, _gaps(duty, its_deadlines, blank and number == 0))
        )
    return rows


def _gaps(duty: Duty | None, deadlines: Sequence[FoundDeadline], blank: bool) -> tuple[str, ...]:
    found = {
        "bearer": duty is not None and not duty.bearer,
        "action": duty is not None and not duty.action,
        "deadline": any(not item.deadline.normal for item in deadlines),
        "amount": blank,
    }
    return tuple(name for name, missing in found.items() if missing)
