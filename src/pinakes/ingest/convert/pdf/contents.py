"""Printed tables of contents: their entries look like headings and are none."""

from __future__ import annotations

import re
from itertools import pairwise

from .page import Line, PageText

_LEADER = re.compile(r"(?:[.…·_]\s?){4,}\s*[\divxlcA-Z–-]{0,8}$")
_ENDS_IN_NUMBER = re.compile(r".*[^\d\W].*\s(\d{1,4}|[ivxlc]{1,6})$")
_TITLE = re.compile(
    r"(?:table of )?contents\b|list of (?:tables|figures|acronyms|exhibits|charts)|index$", re.I
)
_LONGEST = 300
_LONGEST_ENTRY = 3
"""Lines without a page number that may follow each other among the entries."""
_SQUEEZE = re.compile(r"\s*(?:[.…·_]\s?){4,}\s*")


def mark_contents(page: PageText, lines: list[Line], carried: bool) -> bool:
    """Mark the entries of a contents list on a page, given in reading order; return whether there was one.

    ``carried`` says that the page before ended in one.
    """
    if not lines:
        return False
    tagged = {mcid for mcid, tag in page.tags.items() if tag.kind == "contents"}
    entries = [
        n
        for n, line in enumerate(lines)
        if _LEADER.search(line.text) or (tagged and all(s.mcid in tagged for s in line.spans))
    ]
    if len(entries) < 3:
        entries = _numbered(lines, carried)
    if len(entries) < 3:
        return False
    first, last = entries[0], entries[-1]
    while (
        first > 0
        and lines[first - 1].size <= lines[first].size * 1.15
        and not _TITLE.match(lines[first - 1].text)
    ):
        # The first entry may take several lines, of which only the last has the page number.
        first -= 1
    for line in lines[first : last + 1]:
        if not _TITLE.match(line.text):
            line.contents = True
    return True


def _numbered(lines: list[Line], carried: bool) -> list[int]:
    """Entries without leaders: lines below a title that says so, most of which end in page numbers that ascend."""
    start = 0 if carried else next((n + 1 for n, line in enumerate(lines) if _TITLE.match(line.text)), -1)
    if start < 0:
        return []
    entries: list[int] = []
    numbers: list[int] = []
    for n in range(start, len(lines)):
        match = _ENDS_IN_NUMBER.match(lines[n].text[-_LONGEST:])
        if match and match[1].isdigit():
            entries.append(n)
            numbers.append(int(match[1]))
        elif n - (entries[-1] if entries else start - 1) > _LONGEST_ENTRY:
            break
    among = len(lines) if carried else entries[-1] + 1 - start if entries else 0
    if len(entries) < 4 or len(entries) < 0.4 * among:
        return []
    rising = sum(1 for a, b in pairwise(numbers) if b >= a)
    return entries if rising >= 0.8 * (len(numbers) - 1) else []


def squeeze_leaders(text: str) -> str:
    """A contents entry without its row of dots."""
    return _SQUEEZE.sub(" … ", text).strip()
