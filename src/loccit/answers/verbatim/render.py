"""Render: verbatim results as lines of plain text."""

from __future__ import annotations

from collections.abc import Callable

from loccit.answers.verbatim.words import changes_text
from loccit.model.comparison import KINDS, Comparison, Difference
from loccit.model.place_ids import with_place_id
from loccit.model.quotes import ABSENT, ELSEWHERE, NOT_SAID, RIGHT, QuoteCheck
from loccit.model.verbatim import FoundAll, TextHit

_CITED = {
    RIGHT: "in the cited place",
    ELSEWHERE: "not in the cited place",
    NOT_SAID: "cited place not checked",
}


def hit_line(hit: TextHit, shown_path: str = "") -> str:
    """Return a hit as one line: ``act.md:12: Section 2(a) [k7q2m9xt]: the line itself``."""
    label = with_place_id(hit.section_label or hit.heading, hit.place_id)
    where = f"{hit.pages.first}p" if hit.pages else str(hit.line)
    return ": ".join(filter(None, (f"{shown_path or hit.source_path}:{where}", label, hit.text)))


def count_line(found: FoundAll) -> str:
    """Return the number of hits and of those shown: ``2 of 130 hits in 7 documents``, ``2 of 10,000+ hits …``."""
    # Of none, a note says why there may be some.
    counted = found.complete or not found.total
    hits, documents = (
        f"1 {what}" if number == 1 and counted else f"{number:,}{'' if counted else '+'} {what}s"
        for number, what in ((found.total, "hit"), (found.documents, "document"))
    )
    shown = "" if len(found.hits) == found.total and counted else f"{len(found.hits):,} of "
    return f"{shown}{hits} in {documents}."


def found_lines(found: FoundAll, show_path: Callable[[str], str] = str) -> list[str]:
    """Return hits, one per line, their number, and what was left out."""
    lines = [hit_line(hit, show_path(hit.source_path)) for hit in found.hits]
    return [*lines, " ".join(filter(None, (count_line(found), found.note)))]


def quote_lines(check: QuoteCheck, show_path: Callable[[str], str] = str) -> list[str]:
    """Return a quotation with its status, whether it stands where it is cited from, its places, and what differs."""
    lines = [f"{check.status}: “{check.quotation}”"]
    if check.changes:
        lines.append(changes_text(check.changes))
    if check.status != ABSENT:
        lines.append(_cited_line(check))
    lines += [f"{show_path(place.source_path)}, {place.address}" for place in check.places]
    if check.more:
        lines.append(f"and {check.more} more")
    return lines


def _cited_line(check: QuoteCheck) -> str:
    said = _CITED[check.cited_place] if check.cited else "no place cited"
    whole = f"{said}: {check.cited}" if check.cited else said
    return f"{whole} ({check.cited_note.rstrip('.')})" if check.cited_note else whole


def difference_lines(difference: Difference) -> list[str]:
    """Return a difference: what happened to which place, then the words that changed, or were added or removed."""
    old, new = (place.address if place else "" for place in (difference.old, difference.new))
    where = old or new if not (old and new) or old == new else f"{old} → {new}"
    lines = [f"{difference.kind}: {where}"]
    if difference.changes:
        lines.append(changes_text(difference.changes))
    elif difference.old is None or difference.new is None:
        only = difference.old or difference.new
        lines.append(f"{'+' if difference.new else '-'} {' '.join(only.text.split()) if only else ''}")
    return lines


def comparison_lines(comparison: Comparison) -> list[str]:
    """Return all differences, and their number by kind."""
    lines = [line for item in comparison.differences for line in difference_lines(item)]
    return [*lines, difference_counts(comparison)]


def difference_counts(comparison: Comparison) -> str:
    """Return the number of differences by kind: ``1 changed, 2 added; 40 places are the same.``"""
    counts = [f"{comparison.count(kind)} {kind}" for kind in KINDS if comparison.count(kind)]
    return f"{', '.join(counts) or 'No differences'}; {comparison.same} places have the same wording."
