"""The title and the headings: from bookmarks, then tags, then typography, then labels.

Programs put file names, templates and titles of other documents into a file's properties, so a title that is not
printed counts less than one that is.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import TypeAlias

from loccit.read.pdf.candidates import (
    Body,
    Candidate,
    Label,
    find_candidates,
    find_label,
    is_caption,
    is_lettered,
    is_strong,
    join_heading,
    normal,
)
from loccit.read.pdf.layout import is_contents
from loccit.read.pdf.listed import find_listed
from loccit.read.pdf.outline import Bookmark, headings_from_tags, is_useful, match_bookmark, printed_title
from loccit.read.pdf.page import Flow, Heading, Item, Line, PageText, Table
from loccit.read.pdf.selection import count, counts_up, find_run_ins, front_pages, select, without_front

_SPARSE = 6
"""With fewer bookmarks than one per this many pages, headings between them are looked for."""
_LETTERED = 9
"""The depth of `a) Title`, below all numbers."""
_LEAST_LABELS = 3
_LONG = 5
"""A sentence has more words than these."""
_MISSED = 0.5
_Kind: TypeAlias = tuple[str, int, float, bool, bool, bool]
_WORD = re.compile(r"[^\W\d_]{3,}")
_NUMERALS = frozenset("IVXLC")
_NO_TITLE = re.compile(
    r"\W*(?:(?:anonymous|unknown|untitled|no title|none|document|title|slide|microsoft (?:word|powerpoint)"
    r"|powerpoint presentation|print(?:ing)?)\b\W*\d*\W*$|microsoft (?:word|powerpoint|excel) - )|\S+\.[a-z]\w{1,4}$",
    re.I,
)
_READ = 3
"""Pages on which a title may be confirmed."""
_SHARE = 0.6
_LARGER = 1.12
_LONGEST = 300
_LETTERS = 0.7


def mark_headings(
    flow: Sequence[Item], pages: Sequence[PageText], marks: Sequence[Bookmark], body: Body
) -> Flow:
    """The flow with its heading lines replaced by headings."""
    marked = _with_labels_above(_mark(flow, pages, marks, body))
    return _without_others(_without_repeated_titles(marked, pages))


def _without_others(flow: Flow) -> Flow:
    """What is right above a list of contents is no heading: the list is none of the parts that it names.

    Nor is a note, or a sentence unless such headings recur.
    """
    sentences = Counter(item.style for item in flow if isinstance(item, Heading) and _is_sentence(item.text))
    return [
        item.as_line()
        if isinstance(item, Heading)
        and (
            (isinstance(below, Line) and below.contents and is_contents(item.text))
            or (_is_sentence(item.text) and sentences[item.style] < _LEAST_LABELS)
            or item.text.startswith("*")
        )
        else item
        for item, below in zip(flow, [*flow[1:], None], strict=True)
    ]


def _is_sentence(text: str) -> bool:
    return text[-1:] == "." and text.count(" ") >= _LONG and find_label(text) is None


def _mark(flow: Sequence[Item], pages: Sequence[PageText], marks: Sequence[Bookmark], body: Body) -> Flow:
    marked = _from_outline(flow, marks) if is_useful(marks) else None
    if marked is not None:
        return _add(marked, body, len(pages), sparse=len(marks) < len(pages) / _SPARSE)
    tagged = headings_from_tags(flow, pages, body.letters)
    found = _by_look(flow, body, len(pages))
    if tagged is not None and not _misses(tagged, found):
        return _add(tagged, body, len(pages), sparse=False)
    return _replace(flow, found, assign_levels(found))


def _misses(tagged: Flow, found: Sequence[Candidate]) -> bool:
    """Whether the tags leave out much of what is numbered or on a contents page: some programs tag a few pages."""
    titles = {normal(item.text) for item in tagged if isinstance(item, Heading)}
    sure = [normal(c.text) for c in found if c.listed or c.label is not None]
    missed = sum(text not in titles for text in sure)
    return missed >= _LEAST_LABELS and missed > _MISSED * len(sure)


def _by_look(flow: Sequence[Item | Heading], body: Body, pages: int) -> list[Candidate]:
    candidates = find_candidates(flow, body, find_listed(flow))
    found = select(without_front(candidates, flow, body), flow, body, pages)
    return sorted(found + find_run_ins(flow, body, found), key=lambda c: c.first)


def _add(flow: Flow, body: Body, pages: int, sparse: bool) -> Flow:
    """Headings missing from bookmarks or tags.

    Any if those are sparse; else what a contents page lists, what is set like the others, and Articles and Sections
    that count up.
    """
    found = _by_look(flow, body, pages)
    looks = _levels_of_looks(flow, body)
    if not sparse:
        numbers: dict[str, list[str]] = defaultdict(list)
        for c in found:
            if c.label is not None and is_strong(c.label):
                numbers[c.label.kind].append(c.label.number)
        kinds = {k for k, n in numbers.items() if len(n) >= _LEAST_LABELS and counts_up(n)}
        found = [
            c
            for c in found
            if c.listed
            or c.tail is not None
            or c.look[:2] in looks
            or (c.label is not None and is_strong(c.label) and c.label.kind in kinds)
        ]
    if not found:
        return flow
    known = _levels_of_labels(flow)
    outer, level = {}, 0
    for position, item in enumerate(flow):
        if isinstance(item, Heading):
            level = item.level
        outer[position] = level
    levels = []
    for candidate, inner in zip(found, assign_levels(found), strict=True):
        kind = candidate.label.kind if candidate.label is not None else ""
        # What runs into its text has no type of its own.
        look = looks.get(candidate.look[:2]) if candidate.tail is None else None
        alike = look or outer[candidate.first] + inner
        levels.append(known.get(kind, alike))
    return _replace(flow, found, levels)


def _levels_of_looks(flow: Flow, body: Body) -> dict[tuple[float, bool], int]:
    """The level of the headings of each size and weight that is not that of the text, if there are several."""
    seen: dict[tuple[float, bool], Counter[int]] = defaultdict(Counter)
    for item in flow:
        if isinstance(item, Heading) and (item.style.size >= body.size + 0.9 or item.style.bold > body.bold):
            seen[item.style.size, item.style.bold][item.level] += 1
    return {look: levels.most_common(1)[0][0] for look, levels in seen.items()}


def _with_labels_above(flow: Flow) -> Flow:
    """Give each heading the label on the line above it: `CHAPTER ONE`, and below it `INTRODUCTION`."""
    result: Flow = []
    for item in flow:
        above = result[-1] if result else None
        if (
            isinstance(item, Heading)
            and isinstance(above, Line | Heading)
            and above.page == item.page
            and find_label(item.text) is None
            and is_strong(label := find_label(above.text))
            and label is not None
            and not above.text[label.length :].strip(" .:—–-")
        ):
            item.text = f"{above.text} {item.text}"
            result.pop()
        result.append(item)
    return result


def _without_repeated_titles(flow: Flow, pages: Sequence[PageText]) -> Flow:
    """The title once: what stands on the first page is no heading on further title pages and above the text."""
    covers, first = front_pages(flow)
    if not covers:
        return flow
    cover = [item for item in flow if item.page == covers[0] and not isinstance(item, Table)]
    titles = {normal(item.text) for item in cover if isinstance(item, Heading) or not item.contents}
    titles.update(map(normal, pages[covers[0]].aside))
    return [
        item.as_line()
        if isinstance(item, Heading) and covers[0] < item.page <= first and normal(item.text) in titles
        else item
        for item in flow
    ]


def _levels_of_labels(flow: Flow) -> dict[str, int]:
    """The level that headings with each kind of label already have."""
    seen: dict[str, Counter[int]] = defaultdict(Counter)
    for item in flow:
        if isinstance(item, Heading) and is_strong(label := find_label(item.text)) and label is not None:
            seen[label.kind][item.level] += 1
    return {kind: levels.most_common(1)[0][0] for kind, levels in seen.items()}


def _replace(flow: Sequence[Item | Heading], found: Sequence[Candidate], levels: Sequence[int]) -> Flow:
    starts = {c.first: (c, level) for c, level in zip(found, levels, strict=True)}
    result: Flow = []
    position = 0
    while position < len(flow):
        if position in starts:
            candidate, level = starts[position]
            style = candidate.lines[0].style
            result.append(Heading(candidate.page, candidate.text, level, style))
            if candidate.tail is not None:
                result.append(candidate.tail)
            position = candidate.last + 1
        else:
            result.append(flow[position])
            position += 1
    return result


def _from_outline(flow: Sequence[Item], marks: Sequence[Bookmark]) -> Flow | None:
    """Bookmarks matched to lines; those whose words are not on the page are placed where they point.

    None if these are most of them: names of the files that were put together.

    A table's cell without a number is no heading, even if a style made it a bookmark, nor is a caption among headings.
    """
    captions = sum(is_caption(mark.title) for mark in marks)
    if captions <= _MISSED * len(marks):
        marks = [mark for mark in marks if not is_caption(mark.title)]
    by_page: dict[int, list[int]] = defaultdict(list)
    cells: dict[int, list[str]] = defaultdict(list)
    for n, item in enumerate(flow):
        if isinstance(item, Line):
            by_page[item.page].append(n)
        else:
            # A cell of the header may be in two rows.
            cells[item.page].extend(normal("".join(column)) for column in zip(*item.rows, strict=True))
    taken: dict[int, set[int]] = defaultdict(set)
    starts: dict[int, tuple[int, Heading]] = {}
    inserted: dict[int, list[Heading]] = defaultdict(list)
    used = sorted({m.level for m in marks})
    for mark in marks:
        level = used.index(mark.level) + 1
        # One that points at the end of a page means the top of the next.
        for page in (mark.page, mark.page + 1):
            positions = by_page.get(page, [])
            lines = [item for item in (flow[n] for n in positions) if isinstance(item, Line)]
            match = match_bookmark(mark if page == mark.page else mark._replace(y=0.0), lines, taken[page])
            if match is not None:
                first, last = match
                taken[page].update(range(first, last + 1))
                title = printed_title(mark, lines[first - 1] if first else None, lines[first : last + 1])
                starts[positions[first]] = (positions[last], Heading(page, title, level, lines[first].style))
                break
        else:
            if find_label(mark.title) or not any(normal(mark.title) in cell for cell in cells[mark.page]):
                place = _place(mark, flow, by_page.get(mark.page, []))
                inserted[place].append(Heading(mark.page, mark.title, level))
    if sum(map(len, inserted.values())) > _MISSED * len(marks):
        return None
    result: Flow = []
    position = 0
    while position < len(flow):
        result.extend(inserted.get(position, []))
        if position in starts:
            position, heading = starts[position]
            result.append(heading)
        else:
            result.append(flow[position])
        position += 1
    result.extend(inserted.get(len(flow), []))
    return result


def _place(mark: Bookmark, flow: Sequence[Item], positions: list[int]) -> int:
    """Where in the flow a bookmark points."""
    if not positions:
        return next((n for n, item in enumerate(flow) if item.page > mark.page), len(flow))
    if mark.y is None:
        return positions[0]
    for n in positions:
        if flow[n].bottom > mark.y:
            return n
    return positions[-1] + 1


def assign_levels(found: Sequence[Candidate]) -> list[int]:
    """A level for each heading.

    Headings of one kind share a level. Kinds are ordered by size, then weight and capitals; a decimal number is below
    the shorter number it extends, a Chapter below a Part, and a series that begins anew between two numbers of another
    one, below that. What has no label is on the level of labelled headings that look the same.
    """
    sections_hold_articles = _directly(found, "section", "article") > _directly(found, "article", "section")
    inner = _nesting(found)
    kinds = [_kind(c, sections_hold_articles, inner[n]) for n, c in enumerate(found)]
    members: dict[_Kind, list[Candidate]] = defaultdict(list)
    for kind, candidate in zip(kinds, found, strict=True):
        members[kind].append(candidate)
    sizes = {kind: float(median(c.look.size for c in found)) for kind, found in members.items()}
    order = sorted(members, key=lambda k: _sort_key(k, sizes[k], members[k]))
    looks = {k: Counter(c.look for c in members[k]).most_common(1)[0][0] for k in order if k[0] != "style"}
    # What is above all of them is their title.
    like = {
        k: next((o for o in looks if looks[o] == k[2:] and members[o][0].first < members[k][-1].first), k)
        for k in order
        if k not in looks
    }
    groups: list[list[_Kind]] = []
    for kind in (kind for kind in order if like.get(kind, kind) == kind):
        if groups and _equal(groups[-1][-1], kind, sizes):
            groups[-1].append(kind)
        else:
            groups.append([kind])
    level_of = {kind: level for level, group in enumerate(groups, 1) for kind in group}
    return [level_of[like.get(k, k)] for k in kinds]


def _nesting(found: Sequence[Candidate]) -> list[int]:
    """How deep each plain number, numeral or letter is in the others: I. holds A. if II. comes after letters."""
    kinds = _series([c.label for c in found])
    holds: Counter[tuple[str, str]] = Counter()
    for kind in set(kinds) - {""}:
        of_kind = [n for n, other in enumerate(kinds) if other == kind]
        for a, b in pairwise(of_kind):
            if _counted(found[b], kind) == _counted(found[a], kind) + 1:
                holds.update((kind, inner) for inner in set(kinds[a + 1 : b]) - {"", kind})
    depth: dict[str, int] = {"": 0}
    for kind in sorted(set(kinds) - {""}, key=kinds.index):
        outer = [depth[other] for other in depth if other and holds[other, kind] > holds[kind, other]]
        depth[kind] = max(outer, default=-1) + 1
    return [depth[kind] for kind in kinds]


def _series(labels: Sequence[Label | None]) -> list[str]:
    """Whether each plain label is a digit, a numeral or a letter; H. makes the I. after it a letter."""
    plain = [label.number if label and not is_strong(label) and label.depth == 1 else "" for label in labels]
    kinds: list[str] = []
    letter = ""
    for number in plain:
        if number.isdigit() or not number:
            kinds.append("digit" if number else "")
        elif len(number) > 1 or (number in _NUMERALS and ord(number) != ord(letter or "A") + 1):
            kinds.append("numeral")
        else:
            kinds.append("letter")
            letter = number
    return kinds


def _counted(candidate: Candidate, kind: str) -> int:
    number = candidate.label.number if candidate.label is not None else ""
    return count(number) if kind != "letter" else ord(number)


def _directly(found: Sequence[Candidate], outer: str, inner: str) -> int:
    """How often a label of one kind directly follows one of the other."""
    count = 0
    for a, b in pairwise(found):
        if a.label is not None and b.label is not None and (a.label.kind, b.label.kind) == (outer, inner):
            count += b.first == a.last + 1
    return count


def _kind(candidate: Candidate, sections_hold_articles: bool, inner: int) -> _Kind:
    label, look = candidate.label, candidate.look
    if label is not None and is_strong(label):
        rank = label.rank * 10
        if sections_hold_articles and label.kind == "section":
            # European acts have Articles in Sections, American ones Sections in Articles.
            rank -= 15
        return ("label", rank + label.depth, 0.0, False, False, False)
    if label is not None:
        return ("number", label.depth + inner, look.size, False, False, False)
    if is_lettered(candidate.text):
        return ("number", _LETTERED, look.size, False, False, False)
    return ("style", 0, look.size, look.bold, look.italic, look.caps)


def _sort_key(kind: _Kind, size: float, members: list[Candidate]) -> tuple[float, ...]:
    bold = sum(c.look.bold for c in members) / len(members)
    caps = sum(c.look.caps for c in members) / len(members)
    italic = sum(c.look.italic for c in members) / len(members)
    rank = float(kind[1]) if kind[0] != "style" else 0.0
    if kind[0] == "style":
        return (-size, 0.0, -bold, -caps, italic)
    return (-size, rank, -bold, -caps, italic)


def _equal(a: _Kind, b: _Kind, sizes: dict[_Kind, float]) -> bool:
    """Whether two adjacent kinds are one level."""
    if abs(sizes[a] - sizes[b]) > 0.6:
        return a[0] == b[0] == "number" and a[1] == b[1] and abs(sizes[a] - sizes[b]) < 1.1
    if a[0] == "number" and b[0] == "number":
        return a[1] == b[1]
    if {a[0], b[0]} == {"number", "style"}:
        return max(a[1], b[1]) <= 1
    return False


def find_title(stated: str | None, flow: Sequence[Item], body: Body) -> str | None:
    """The title of a document, given the one it states; None if nothing indicates one."""
    if stated and _NO_TITLE.match(stated):
        stated = None
    if stated and _is_printed(stated, flow):
        return stated
    return _largest(flow, body) or stated


def _is_printed(title: str, flow: Sequence[Item]) -> bool:
    wanted = {word.lower() for word in _WORD.findall(title)}
    printed: set[str] = set()
    for item in flow:
        if item.page >= _READ:
            break
        if isinstance(item, Line):
            printed.update(word.lower() for word in _WORD.findall(item.text))
    return len(wanted & printed) >= _SHARE * max(len(wanted), 1)


def _largest(flow: Sequence[Item], body: Body) -> str | None:
    """The first run of lines in the largest type of the first page with text, if larger than the body text."""
    first = next((item.page for item in flow if isinstance(item, Line)), 0)
    lines = [i for i in flow if isinstance(i, Line) and i.page == first and len(_WORD.findall(i.text)) >= 1]
    size = max((line.size for line in lines), default=0.0)
    if size < _LARGER * body.size:
        return None
    run: list[Line] = []
    for line in lines:
        if abs(line.size - size) <= 0.6 and not (run and line.base - run[-1].base > 2.2 * size):
            run.append(line)
        elif run:
            break
    text = join_heading(run).strip(" :.,;·*")
    letters = sum(map(str.isalpha, text))
    plain = letters >= _LETTERS * len(text.replace(" ", ""))
    return text if plain and len(text) <= _LONGEST and not is_caption(text) else None
