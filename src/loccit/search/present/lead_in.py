"""The text that introduces a list, which each of its items continues: `The fee is due where:`, then (a), (b), (c)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from loccit.index.port.records import Records
from loccit.model import Place

# What is shown of it at most, and what may be printed before the number of the first item.
_LONGEST, _SIGN = 600, 12
_COMPLETE = re.compile(r"[.;!?。][”“»\"')\]*_]{0,3}\Z")


def lead_in(records: Records, document: int, clause: Place, places: Sequence[Place]) -> str:
    """Return the text that introduces the list of which a clause is an item; "" if none does.

    ``places`` are those of its document, or of its section.
    """
    above = next((place for place in places if place.ordinal == clause.parent), None)
    if clause.is_heading or above is None:
        return ""
    text = records.document_text(document, above.body, clause.start)
    begin, first = above.body, clause.start
    earlier = (place for place in places if place.parent == clause.parent and place.start < clause.start)
    for place in sorted(earlier, key=lambda place: -place.start):
        if place.is_heading or len(text[place.end - above.body : first - above.body].strip()) > _SIGN:
            begin = place.end
            break
        first = place.start
    words = text[begin - above.body : first - above.body]
    line, _, sign = words.rpartition("\n")
    words = (line if len(sign) <= _SIGN else words).strip().rpartition("\n\n")[2]
    return "" if _COMPLETE.search(words) else words[-_LONGEST:]
