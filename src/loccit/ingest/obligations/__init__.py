"""Obligations: a table of who must do what, by when, for how much, unless what; made without a language model.

``units`` cuts a document into sentences, ``duties`` finds verbs and bearers, ``deadlines`` and ``amounts`` what is
counted. What is not understood stays in the table and is marked.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from loccit.ingest.obligations.amounts import BLANK, BLANKS, find_amounts
from loccit.ingest.obligations.amounts import Found as FoundAmount
from loccit.ingest.obligations.deadlines import Found as FoundDeadline
from loccit.ingest.obligations.deadlines import find_deadlines
from loccit.ingest.obligations.duties import VERBS, Duty, find_duties, leads
from loccit.ingest.obligations.lexicon import Lexicon, has_any, load
from loccit.ingest.obligations.units import sentences
from loccit.ingest.parse import Positions
from loccit.model import Place
from loccit.model.obligation import Obligation
from loccit.text.code_languages import language_of_file

__all__ = ["extract_obligations", "read_sentence"]

# What is kept of a sentence; the document has all of it.
_KEPT = 1000
# This many places before a sentence are checked for one that extends to it.
_LOOK_BACK = 500


def extract_obligations(
    source_path: str, text: str, body_start: int, places: Sequence[Place], language: str, position: Positions
) -> list[Obligation]:
    """Return the obligations, deadlines and amounts of a document, in text order; code has none."""
    if language_of_file(source_path):
        return []
    ordered = sorted(places, key=lambda place: (place.start, place.ordinal))
    found: list[Obligation] = []
    for start, end, sentence in sentences(text, body_start, ordered):
        stated = read_sentence(sentence, language)
        if not stated:
            continue
        place = _innermost(ordered, start)
        lines, pages = position.lines(start, end), position.pages(start, end)
        for kind, duty, deadlines, amounts, gaps in stated:
            found.append(
                Obligation(
                    kind=kind,
                    start=start,
                    end=end,
                    lines=lines,
                    pages=pages,
                    text=sentence[:_KEPT],
                    place=place.ordinal if place else 0,
                    bearer=duty.bearer if duty else "",
                    modal=duty.modal if duty else "",
                    action=duty.action if duty else "",
                    exception=duty.exception if duty else "",
                    deadlines=tuple(item.deadline for item in deadlines),
                    amounts=tuple(item.amount for item in amounts),
                    gaps=gaps,
                )
            )
    return found


def _innermost(places: Sequence[Place], offset: int) -> Place | None:
    """Return the innermost of a document's places, given in text order, that contains an offset."""
    last = bisect_right(places, offset, key=lambda place: place.start)
    around = reversed(places[max(0, last - _LOOK_BACK) : last])
    return next((place for place in around if place.is_heading or place.end > offset), None)


_Stated = tuple[str, Duty | None, list[FoundDeadline], list[FoundAmount], tuple[str, ...]]


def read_sentence(sentence: str, language: str) -> list[_Stated]:
    """Return the rows for a sentence: kind, verb, deadlines, amounts and gaps of each."""
    lexicon = load(language or "en")
    if lexicon is None:
        pattern = VERBS.get(language)
        verb = pattern.search(sentence) if pattern else None
        if verb is None:
            return []
        return [
            (
                "duty",
                Duty("duty", verb.start(), verb.end(), len(sentence), verb.group()),
                [],
                [],
                ("language",),
            )
        ]
    return _rows(sentence, lexicon)


def _rows(sentence: str, lexicon: Lexicon) -> list[_Stated]:
    duties = find_duties(sentence, lexicon)
    deadlines, amounts = find_deadlines(sentence, lexicon), find_amounts(sentence, lexicon)
    if not duties and not amounts and not any(item.deadline.normal for item in deadlines):
        return []
    blank = has_any(sentence, BLANKS) and BLANK.search(sentence) is not None
    if not duties:
        return [("statement", None, deadlines, amounts, _gaps(None, deadlines, blank))]
    rows: list[_Stated] = []
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
