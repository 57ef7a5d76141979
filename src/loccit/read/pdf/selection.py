"""Selection: which candidates are headings; a look used for something else shows over the whole document.

Lines between the title and the text are authors, addresses and dates. Labels may run into their paragraph: `Section 12.
Powers. The Board may ...` in body type.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TypeAlias

from loccit.read.pdf.candidates import (
    NEAR,
    Body,
    Candidate,
    Label,
    find_label,
    is_full,
    is_lettered,
    is_strong,
    look_of,
    normal,
    starts_paragraph,
)
from loccit.read.pdf.page import Heading, Item, Line, Span, Table

_Group: TypeAlias = tuple[object, ...]
_NAMES = re.compile(r"[,;@\d*∗†‡§¶]|\[\^")
_FEWEST_WORDS = 4
"""In larger type, more words than these introduce a part, not what is on their line."""
_MOST_COVERS = 4
_EARLY = 3
"""In the first part of this many, leaders are those of a contents list; later, those of forms."""
_PROVEN = (2, 0.3)
"""A look is that of headings if this many, and this share, of its lines are on the contents page."""
_USUAL = 3
"""A look that recurs this often on later pages is that of headings."""
_TIGHT, _LOOSE = 1.12, 1.7
"""Of the usual distance between lines: within a paragraph at most, and around something else at least."""
_INSET, _AMISS = 12.0, 6.0
"""How far a centred line is from the edge of its column, at least, and from the middle, at most."""
_LEAST = 3
_SHARE_OF_TERMS = 0.33
"""If more lines of a look end in a colon, it is that of terms."""
_SHORT = 0.3
_MOST_WORDS = 12
_PLAIN_NUMBER = re.compile(r"(?P<number>\d{1,3})(?P<mark>[.)]?)\s")
_AFTER = re.compile(r"\s*[.:—–-]+\s*|\s+(?=\()")
_TITLE = re.compile(r"([A-Z][^.;:—]{1,80}?)(?:\.—|\.–|\.|—)\s*(?=[A-Z(“\"])")
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


@dataclass(slots=True)
class _Around:
    """The surroundings of a candidate."""

    words: int = 0
    """Words of text up to the next one of the same group, including those under other headings."""
    table: bool = False
    """A table follows directly."""
    twin: bool = False
    """Another one of the same look follows directly."""
    empty: bool = False
    """A larger one follows directly, or one on the next page, so that it would head nothing."""
    under: bool = False
    """It directly follows a candidate of another look."""


def select(found: list[Candidate], flow: Sequence[Item | Heading], body: Body, pages: int) -> list[Candidate]:
    """The candidates that are headings."""
    found = _without_repeats(found, pages)
    beside, closing = _numbers(flow), _closing(found, flow, body)
    found = [c for c in found if c.listed or (_follows_another(c, beside) and normal(c.text) not in closing)]
    around = _surroundings(found, flow)
    groups: dict[_Group, list[Candidate]] = defaultdict(list)
    for candidate in found:
        groups[_group(candidate)].append(candidate)
    kept: list[Candidate] = []
    weak: list[Candidate] = []
    for members in groups.values():
        listed = sum(c.listed for c in members)
        proven = listed >= max(_PROVEN[0], _PROVEN[1] * len(members))
        if proven or not _serves_else(members, around, body):
            for c in members:
                here = body.at(c.page)
                hollow = around[c.first].empty and c.label is None and c.look.size < here.size + NEAR
                if c.listed or not (hollow or _is_term(c, here)):
                    (weak if _is_weak(c) and not c.listed else kept).append(c)
        else:
            kept.extend(c for c in members if c.listed)
    # Capitals in body type are headings only if there is nothing better.
    if len(kept) < pages / 3:
        kept.extend(weak)
    kept.sort(key=lambda c: c.first)
    return kept


def _numbers(flow: Sequence[Item | Heading]) -> set[tuple[str, int]]:
    """The plain numbers that lines begin with, and the mark after them."""
    matches = (_PLAIN_NUMBER.match(item.text) for item in flow if not isinstance(item, Table))
    return {(match["mark"], int(match["number"])) for match in matches if match}


def _follows_another(candidate: Candidate, beside: set[tuple[str, int]]) -> bool:
    """Whether a line in the type of the text that begins with a plain number has the number before or after it.

    A single number may be that of a house, of a day or of a street.
    """
    match = None if candidate.big or candidate.look.bold else _PLAIN_NUMBER.match(candidate.text)
    if match is None:
        return True
    mark, number = match["mark"], int(match["number"])
    return (mark, number + 1) in beside or (number > 1 and (mark, number - 1) in beside)


def _without_repeats(found: list[Candidate], pages: int) -> list[Candidate]:
    """Drop words that recur again and again, such as the same small heading in every section."""
    texts = Counter((normal(c.text), c.look) for c in found if c.label is None and not c.listed)
    most = max(6, pages / 12)
    return [c for c in found if c.label is not None or c.listed or texts[normal(c.text), c.look] < most]


def _group(candidate: Candidate) -> _Group:
    label = candidate.label
    if label is None:
        return (
            "look",
            candidate.look,
            candidate.lines[0].style.colour,
            _is_centred(candidate),
            is_lettered(candidate.text),
        )
    if _is_plain(candidate):
        # Only centred, italic or in another font: these are judged separately from stronger ones.
        return ("apart", candidate.look)
    return ("label", label.kind, candidate.big, candidate.look.size if not candidate.big else 0)


def _is_centred(candidate: Candidate) -> bool:
    """Whether all of its lines are in the middle of their column, with room beside them."""
    return all(
        line.x0 > line.left + _INSET and abs(line.x0 + line.x1 - line.left - line.right) < 2 * _AMISS
        for line in candidate.lines
    )


def _is_plain(candidate: Candidate) -> bool:
    """Whether it has a simple number and is neither larger nor bolder than the text."""
    label, look = candidate.label, candidate.look
    simple = label is not None and not is_strong(label) and label.depth == 1
    return simple and not (candidate.big or look.bold or look.caps)


def _is_weak(candidate: Candidate) -> bool:
    return not candidate.big and not candidate.look.bold and candidate.label is None


def _is_term(candidate: Candidate, body: Body) -> bool:
    """Whether it introduces what follows on the same line, as `Submitter:` does."""
    numbered = candidate.label is not None and (candidate.label.kind != "#" or candidate.label.depth > 1)
    if numbered or not candidate.text.endswith(":"):
        return False
    if candidate.label is None and candidate.look.size >= body.size + NEAR:
        return candidate.text.count(" ") < _FEWEST_WORDS and candidate.look.size < body.size + 3
    return True


def _closing(found: Sequence[Candidate], flow: Sequence[Item | Heading], body: Body) -> set[str]:
    """What ends paragraphs: a decision, a signature."""
    return {
        normal(candidate.text)
        for before, candidate in zip([None, *found], found, strict=False)
        if candidate.label is None
        and (before is None or before.last != candidate.first - 1)
        and _closes(candidate, flow, body)
    }


def _closes(candidate: Candidate, flow: Sequence[Item | Heading], body: Body) -> bool:
    """Whether a line is as near to the one above it as lines of a paragraph are, and far from what is below."""
    first, last = candidate.lines[0], candidate.lines[-1]
    above = flow[candidate.first - 1] if candidate.first else None
    below = flow[candidate.last + 1] if candidate.last + 1 < len(flow) else None
    if (
        not isinstance(above, Line)
        or above.page != first.page
        or above.block != first.block
        or above.contents
    ):
        return False
    pitch = body.pitch * max(first.size, above.size)
    if not 0 < first.base - above.base <= _TIGHT * pitch or above.text.endswith(":"):
        return False
    if not isinstance(below, Line) or below.page != last.page:
        return below is None
    return below.base <= last.base or below.base - last.base > _LOOSE * pitch


def _surroundings(found: Sequence[Candidate], flow: Sequence[Item | Heading]) -> dict[int, _Around]:
    words = [0]
    for item in flow:
        words.append(words[-1] + _count(item))
    result: dict[int, _Around] = {}
    next_of: dict[_Group, int] = {}
    ends: dict[int, int] = {}
    for candidate in reversed(found):
        group = _group(candidate)
        ends[candidate.first] = next_of.get(group, len(flow))
        next_of[group] = candidate.first
    later: Candidate | None = None
    for n, candidate in reversed([*enumerate(found)]):
        here = _Around(words[ends[candidate.first]] - words[candidate.last + 1])
        following = flow[candidate.last + 1] if candidate.last + 1 < len(flow) else None
        here.table = isinstance(following, Table)
        if later is not None and later.first == candidate.last + 1:
            here.twin = later.look == candidate.look
            hollow = later.label is None and result[later.first].empty
            here.empty = hollow or later.look.size > candidate.look.size + NEAR or later.page > candidate.page
        elif isinstance(following, Heading):
            here.empty = following.page > candidate.page
        if n and found[n - 1].last == candidate.first - 1:
            here.under = found[n - 1].look != candidate.look
        result[candidate.first] = here
        later = candidate
    return result


def _count(item: Item | Heading) -> int:
    """Words of text; a table counts, since a heading may have nothing else below it."""
    if isinstance(item, Table):
        return sum(cell.count(" ") + 1 for row in item.rows for cell in row if cell)
    return item.text.count(" ") + 1 if isinstance(item, Line) else 0


def _serves_else(members: list[Candidate], around: dict[int, _Around], body: Body) -> bool:
    """Whether a look is that of captions, terms, list entries, subtitles or emphasised paragraphs."""
    count = len(members)
    first = members[0]
    body = body.at(first.page)
    labelled = first.label is not None
    if labelled and is_strong(first.label):
        return False
    if sum(len(c.text) for c in members) > 0.2 * body.letters > 400:
        return True
    near = first.look.size < body.size + NEAR
    if not labelled and count < _LEAST and is_lettered(first.text):
        return True
    if _is_plain(first):
        # Sections are numbered once; the steps of instructions begin again and again.
        numbers = [c.label.number for c in members if c.label is not None and c.label.number.isdigit()]
        if len(set(numbers)) < 0.8 * len(numbers):
            return True
    if not labelled:
        if count < _USUAL and all(c.text[0].islower() for c in members):
            # In lower case, a word of a figure or a line of code.
            return True
        if first.look.size < body.size - (1.6 if first.look.bold else 0.6):
            return True
        if count >= 3 and not first.look.bold and _share(members, around, "under") > 0.85:
            return True
    if not near or count < 3:
        return False
    if not labelled and sum(c.text.endswith(":") for c in members) > _SHARE_OF_TERMS * count:
        return True
    if _share(members, around, "table") > 0.6:
        return True
    if not labelled and _share(members, around, "twin") + _share(members, around, "empty") > 0.3:
        return True
    return median(around[c.first].words for c in members) < 12


def _share(members: list[Candidate], around: dict[int, _Around], name: str) -> float:
    return sum(bool(getattr(around[c.first], name)) for c in members) / len(members)


def without_front(found: Sequence[Candidate], flow: Sequence[Item | Heading], body: Body) -> list[Candidate]:
    """The candidates, without those between the title and the text, be it on the first page or on title pages.

    The last of them stays if it is a plain word right above the text, such as `Abstract`. What precedes a list of
    contents, and is not on it, is front matter, but for the title.
    """
    covers, first = front_pages(flow)
    gone: set[int] = set()
    early = flow[: len(flow) // _EARLY]
    contents = next((n for n, item in enumerate(early) if isinstance(item, Line) and item.contents), 0)
    before = [c for c in found if c.first < contents and not c.listed]
    if not any(isinstance(item, Heading) and item.page == flow[0].page for item in flow[:contents]):
        title = max((c for c in before if c.page == flow[0].page), key=lambda c: c.look.size, default=None)
        before = [c for c in before if c is not title]
    gone.update(c.first for c in before)
    for page in covers:
        front = [c for c in found if c.page == page and c.label is None and not c.listed]
        largest = max((c.look.size for c in front if c.big), default=0.0)
        stated = any(isinstance(item, Heading) and item.page == page for item in flow)
        gone.update(c.first for c in front if stated or c.look.size < largest - 0.6)
    gone.update(_beside_title([c for c in found if c.page == first and c.label is None], found, flow, first))
    return [c for c in found if c.first not in gone]


def front_pages(flow: Sequence[Item | Heading]) -> tuple[list[int], int]:
    """The title pages, which have no text, and the first page that does; none and the first if there are many."""
    pages = sorted({item.page for item in flow})
    for count, page in enumerate(pages[: _MOST_COVERS + 1]):
        if _text(flow, page) is not None:
            return pages[:count], page
    return [], next(iter(pages), 0)


def _beside_title(
    front: list[Candidate], found: Sequence[Candidate], flow: Sequence[Item | Heading], page: int
) -> set[int]:
    """Where the candidates between the title and the text of a page are."""
    if len(front) < 2 or any(isinstance(item, Heading) for item in flow):
        return set()
    title = max(front, key=lambda c: c.look.size)
    if not title.big:
        return set()
    start = _text(flow, page)
    later = Counter(c.look for c in found if c.page > page and c.label is None)
    gone: set[int] = set()
    for candidate in front:
        line = candidate.lines[-1]
        if (
            candidate is title
            or candidate.listed
            or candidate.look.size > title.look.size - 0.6
            or later[candidate.look] >= _USUAL
        ):
            continue
        if start is None:
            gone.add(candidate.first)
        elif title.lines[-1].base < line.base < start.base:
            above = start.base - line.base <= 2.6 * max(line.size, start.size) and line.x0 < start.right
            if not above or len(candidate.lines) > 1 or _NAMES.search(candidate.text):
                gone.add(candidate.first)
    return gone


def _text(flow: Sequence[Item | Heading], page: int) -> Line | None:
    """The first line of body text on a page: three full lines one below the other. None on a cover."""
    lines = [i for i in flow if isinstance(i, Line) and i.page == page]
    starts = [
        a
        for a, b, c in zip(lines, lines[1:], lines[2:], strict=False)
        if a.block == b.block == c.block
        and abs(b.x0 - c.x0) < 2
        and not b.contents
        and is_full(a)
        and is_full(b)
    ]
    return min(starts, key=lambda line: line.base, default=None)


def find_run_ins(flow: Sequence[Item | Heading], body: Body, found: Sequence[Candidate]) -> list[Candidate]:
    """Labels at the start of paragraphs that count up, as in a statute."""
    taken = {n for c in found for n in range(c.first, c.last + 1)}
    kinds: dict[str, list[tuple[int, Line, Label]]] = defaultdict(list)
    styled: list[tuple[int, Line, Label, int]] = []
    # Where headings have decimal numbers, a plain one counts steps.
    labels = [*(c.label for c in found), *(find_label(i.text) for i in flow if isinstance(i, Heading))]
    least = 2 if any(label is not None and label.kind == "#" and label.depth > 1 for label in labels) else 1
    for position, line in enumerate(flow):
        if not isinstance(line, Line) or position in taken or line.contents:
            continue
        label = find_label(line.text)
        if label is None or not starts_paragraph(flow, position, body):
            continue
        if is_strong(label):
            if _AFTER.match(line.text, label.length):
                kinds[label.kind].append((position, line, label))
        elif label.kind == "#" and label.depth >= least and (end := _styled_end(line, label)):
            styled.append((position, line, label, end))
    result: list[Candidate] = []
    for entries in kinds.values():
        if len(entries) >= _LEAST and counts_up([label.number for _, _, label in entries]):
            result.extend(_split(*entry, body) for entry in entries)
    if len(styled) >= _LEAST and counts_up([label.number for _, _, label, _ in styled]):
        result.extend(_cut(*entry, body) for entry in styled)
    return result


def _styled_end(line: Line, label: Label) -> int:
    """Where a numbered run-in title ends: it is bold or italic, and the rest is not; or 0."""
    rest = line.spans[-1].style
    if rest.bold or rest.italic:
        return 0
    last = max((n for n, s in enumerate(line.spans) if s.style.bold or s.style.italic), default=-1)
    end = len(" ".join(s.text for s in line.spans[: last + 1]))
    title = line.text[label.length : end].strip()
    if last < 0 or not title or not title[0].isupper() or len(title.split()) > _MOST_WORDS:
        return 0
    if line.text[end:].lstrip()[:1].islower():
        # A defined word in its sentence.
        return 0
    if label.depth == 1 and (title[-1] not in ".:—–" or not label.number.isdigit()):
        # A step may begin with an emphasised word.
        return 0
    return end if all(s.style.bold or s.style.italic for s in line.spans[1 : last + 1]) else 0


def counts_up(numbers: Sequence[str]) -> bool:
    """Whether label numbers mostly rise, as those of headings do and those of references do not."""
    values = [_value(n) for n in numbers]
    rising = sum(1 for a, b in pairwise(values) if b > a)
    return rising >= 0.7 * (len(values) - 1)


def count(number: str) -> int:
    """The first number of a label."""
    return _value(number)[0]


def _value(number: str) -> tuple[int, ...]:
    if re.fullmatch(r"[IVXLCDM]+", number):
        total = 0
        for a, b in zip(number, number[1:] + " ", strict=True):
            total += -_ROMAN[a] if _ROMAN.get(b, 0) > _ROMAN[a] else _ROMAN[a]
        return (total,)
    return tuple(int(n) for n in re.findall(r"\d+", number)) or (ord(number[0]),)


def _split(position: int, line: Line, label: Label, body: Body) -> Candidate:
    """Split the label, and a title after it, off the line."""
    after = _AFTER.match(line.text, label.length)
    end = after.end() if after else label.length
    if 0 < line.text.count(" ", end) < _MOST_WORDS and line.x1 < line.right - _SHORT * (
        line.right - line.left
    ):
        return _cut(position, line, label, len(line.text), body)
    title = _TITLE.match(line.text, end)
    if title and len(title[1].split()) <= 12:
        end = title.end()
    return _cut(position, line, label, end, body)


def _cut(position: int, line: Line, label: Label, end: int, body: Body) -> Candidate:
    """The heading that ends at a position of its line, with the rest of the line after it."""
    text = line.text[:end].rstrip(" —–-")
    rest = line.text[end:].strip()
    tail = None
    if rest:
        share = end / len(line.text)
        start = line.x0 + share * (line.x1 - line.x0)
        span = Span(rest, start, line.x1, line.style, line.spans[-1].mcid)
        tail = Line(line.page, start, line.x1, line.base, [span], line.order)
        tail.settle()
        tail.block, tail.left, tail.right = line.block, line.left, line.right
    look = look_of([line])
    return Candidate(position, position, [line], text, look, label, look.size >= body.size + 0.9, tail)
