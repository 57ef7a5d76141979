"""Numbering: which numbered lines are places. Each kind of label is a separate sequence."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest

from loccit.grammar.labels import Label, parse_heading
from loccit.grammar.labels.model import APART, CONTAINERS, rank
from loccit.structure import Heading
from loccit.structure.places.chain import Number, Part, Step, best_chain, closeness
from loccit.structure.places.lines import NumberedLine
from loccit.structure.places.mentions import Contents, Mentions
from loccit.structure.places.titles import Title
from loccit.structure.places.view import AMENDED

_REPEATED = re.compile(
    rf"\s*[*_]{{0,3}}(?:{AMENDED})?(?P<digits>\d{{1,4}})(?P<letters>[A-Z]{{1,3}})[*_]{{0,3}}\.?[*_]{{0,3}}\s?[—–]"
)
_INNER = 100
_LEAST = 0.5
_SECOND = ((0, 2, ""),)
# In how many places a numbering without titles begins anew, and how much of it is so.
_FEWEST_ANEW, _MOST_ANEW = 2, 0.8
_FEWEST_LISTED = 3
_LEAST_PLAIN = 0.2


def printed_below(headings: Sequence[Heading], text: str) -> list[Heading]:
    """Number headings as the text below repeats it: `5. Powers` is 5A above `5A.—(1) The Board …`."""
    found = []
    for heading in headings:
        label = heading.label or parse_heading(heading.text)[0]
        again = _REPEATED.match(text, heading.body) if label and len(label.number) == 1 else None
        if label and again and label.number[0] == again["digits"]:
            number = again["digits"] + again["letters"]
            title = heading.title or parse_heading(heading.text)[1]
            label = Label(label.text.replace(again["digits"], number), label.kind, (number.lower(),))
            heading = replace(heading, label=label, title=title)
        found.append(heading)
    return found


def series_rank(kind: str) -> int:
    """The rank of a kind, outermost first: annexes apart, then titles, chapters, and what is numbered in them."""
    if kind in APART:
        return -1
    return rank(kind) if kind in CONTAINERS else _INNER


def choose(
    lines: Sequence[NumberedLine],
    headings: Sequence[Heading],
    titles: dict[int, Title],
    mentions: Mentions,
    size: int,
    file_type: str,
) -> list[NumberedLine]:
    """Return the lines that are places, including headings, in order."""
    lines = _as_listed(lines)
    accepted: list[NumberedLine] = []
    unlabelled = [heading.start for heading in headings if parse_heading(heading.text)[0] is None]
    series: dict[str, list[NumberedLine]] = {}
    for line in lines:
        series.setdefault(line.series, []).append(line)
    order = sorted(series, key=lambda kind: (series_rank(kind), len(series[kind])))
    for kind in order:
        members = series[kind]
        if kind == "":
            members = _without_lists(members)
        # An annex restarts the numbering, and so may anything under a heading of another kind.
        limits = sorted([*unlabelled, *(line.start for line in accepted)])
        chain = best_chain([Step(m.number, m.worth, bisect_right(limits, m.start)) for m in members])
        chosen = _without_restarts([members[index] for index in chain], limits)
        numbering = kind != "" or _is_numbering(
            chosen, members, titles, mentions, unlabelled, size, file_type
        )
        if not (numbering and _is_series(kind, chosen)):
            chosen = [line for line in chosen if line.heading] + _missing(chosen, members, file_type)
        else:
            if any(line.heading and line.plain for line in chosen):
                # Among marked sections, plain numbers are those of lists.
                kept = [line for line in chosen if line.heading or not line.plain]
                chosen = kept + _missing(chosen, members, file_type)
            chosen += _strays(chosen, members, titles)
        taken = {line.start for line in chosen}
        accepted += chosen
        accepted += [line for line in members if line.heading and line.start not in taken]
    return sorted(accepted, key=lambda line: line.start)


def _as_listed(lines: Sequence[NumberedLine]) -> Sequence[NumberedLine]:
    """Drop plain numbers that the contents page has elsewhere, or that go beyond its last: they are lists."""
    borne_out = {line.number for line in lines if line.listed and line.plain}
    if len(borne_out) < _FEWEST_LISTED:
        return lines
    return [
        line
        for line in lines
        if line.heading
        or line.listed
        or not line.plain
        or (line.number not in borne_out and line.number < max(borne_out))
    ]


def _without_restarts(chosen: Sequence[NumberedLine], limits: Sequence[int]) -> list[NumberedLine]:
    """Drop plain numbers that do not lie between those of several parts: `1.` between 5.1 and 5.2 is a list."""

    def nearest(lines: Iterable[NumberedLine]) -> dict[int, Part]:
        found: dict[int, Part] = {}
        last: tuple[int, Part] | None = None
        for line in lines:
            stretch = bisect_right(limits, line.start)
            if last and last[0] == stretch:
                found[line.start] = last[1]
            if line.dotted:
                last = stretch, line.number[0]
        return found

    above, below = nearest(chosen), nearest(reversed(chosen))

    kept: list[NumberedLine] = []
    dropped: NumberedLine | None = None
    for line, later in zip_longest(chosen, chosen[1:]):
        own, first, last = line.number[0], above.get(line.start), below.get(line.start)
        contains = later is not None and later.dotted and later.number[0] == own
        goes_on = dropped is not None and not contains and closeness(dropped.number, line.number) == 1
        if line.heading or line.dotted or first is None:
            fits = True
        else:
            # It lies between them, also where the last begins anew.
            lies = (own > first) + (last is None or first > last) + (last is not None and own <= last)
            fits = lies > 1 and not goes_on
        if fits:
            kept.append(line)
            dropped = None
        else:
            dropped = line
    return kept


def without_inner(
    lines: Sequence[NumberedLine], headings: Sequence[Heading], titles: dict[int, Title], text: str
) -> list[NumberedLine]:
    """Drop the lines of a numbering without titles that begins anew in the places of another, article after article.

    They are clauses: `1.`, `Stk. 2.` or `§ 2.`; the first may have no number, and stand beside that of its article.
    A heading without a number ends an article unless it is below that, and what it has is no clause.
    """
    inner: set[int] = set()
    styles = {line.start: _style(line, text) for line in lines if not (line.heading or line.dotted)}
    levels = {heading.start: heading.level for heading in headings}
    numbered = {line.start for line in lines}
    others = [heading for heading in headings if heading.start not in numbered]
    every: list[NumberedLine | Heading] = sorted([*lines, *others], key=lambda line: line.start)
    for style in {style for style in styles.values() if style[0] not in CONTAINERS}:
        families: dict[int, list[NumberedLine]] = {}
        holders: set[int] = set()
        holder: int | None = None
        for line in every:
            if isinstance(line, Heading):
                if holder is not None and line.level <= levels.get(holder, line.level):
                    holder = line.start
            elif styles.get(line.start) == style:
                if holder is not None:
                    families.setdefault(holder, []).append(line)
            elif line.label.kind not in ("", style[0], *CONTAINERS) and (line.heading or line.worth > 1):
                holder = line.start
                holders.add(holder)
        clauses = [line for start, family in families.items() if start in holders for line in family]
        begun = sum(family[0].number <= _SECOND for family in families.values())
        follow = sum(
            closeness(line.number, later.number) == 1
            for family in families.values()
            for line, later in pairwise(family)
        )
        # A mere number that begins and ends in one of several articles is no other than that of its paragraphs.
        fewest = _FEWEST_ANEW if style[0] or len(holders) < _FEWEST_ANEW else 1
        if (
            begun >= max(fewest, _MOST_ANEW * len(families))
            and follow + begun >= _MOST_ANEW * sum(map(len, families.values()))
            and _untitled(clauses, titles)
        ):
            inner |= {line.start for line in clauses}
    return [line for line in lines if line.start not in inner]


def _style(line: NumberedLine, text: str) -> tuple[str, str]:
    """What tells the numbering of a line from others: its kind, and the sign after its number."""
    return line.label.kind, text[line.start : line.rest].rstrip(" *_\t")[-1:]


def _missing(
    chosen: Sequence[NumberedLine], members: Sequence[NumberedLine], file_type: str
) -> list[NumberedLine]:
    """Plain paragraphs with numbers missing from the headings: `# 3. Grant`, `4. You represent …`, `# 5. Support`.

    A list begins with 1, so the previous number occurs again. After the last heading, only Word counts on.
    """
    found: list[NumberedLine] = []
    taken = {line.start for line in chosen}
    headed = {line.number for line in members if line.heading}
    last = max((line.start for line in chosen if line.heading), default=0)
    above: NumberedLine | None = None
    for line in chosen:
        if line.heading:
            above = line
        elif (
            above is not None
            and (line.start < last or file_type == ".docx")
            and line.plain
            and above.plain
            and line.number not in headed
            and line.number[0][1] - above.number[0][1] == 1
            and not _repeated(above, line, members, taken)
        ):
            found.append(line)
            above = line
    return found


def _repeated(
    above: NumberedLine, line: NumberedLine, members: Sequence[NumberedLine], taken: set[int]
) -> bool:
    """Whether the number of a place occurs again before the next."""
    return any(
        other.number == above.number and other.start not in taken
        for other in members
        if above.start < other.start < line.start
    )


def _strays(
    chosen: Sequence[NumberedLine], members: Sequence[NumberedLine], titles: dict[int, Title]
) -> list[NumberedLine]:
    """Places outside the sequence that can be nothing else: an amendment quotes `9.6 Proceeds.` of its agreement."""
    numbers = {line.number for line in chosen}
    strong = (line for line in members if not line.plain and line.opens and line.worth > 2)
    first = {line.number: line for line in reversed([*strong]) if line.start in titles}
    return [line for number, line in first.items() if number not in numbers]


def _is_series(kind: str, chosen: Sequence[NumberedLine]) -> bool:
    """A single article is no structure; a single annex may be."""
    if len(chosen) == 1 and not chosen[0].heading:
        return kind in APART and chosen[0].opens
    return sum(line.worth for line in chosen) >= (_LEAST if kind else _LEAST_PLAIN) * len(chosen)


def _without_lists(members: list[NumberedLine]) -> list[NumberedLine]:
    """If sections have names (`Section 2`, `§ 3-1`), a plain `2.` numbers a list, and `3-1` alone on a line a page."""
    signed = Counter(len(line.number) for line in members if line.label.kind == "section" and line.worth > 1)
    depth = max((size for size, count in signed.items() if count >= _FEWEST_LISTED), default=0)
    members = [
        line for line in members if line.heading or line.label.kind or line.words or len(line.number) > depth
    ]
    named = [line for line in members if line.label.kind == "section" and not line.dotted and line.worth > 1]
    plain = [line for line in members if line.plain and line.worth > 1]
    if len({line.number for line in named}) < max(2, 0.3 * len({line.number for line in plain})):
        return members
    return [line for line in members if line.heading or line.listed or not line.plain]


def _is_numbering(
    chosen: Sequence[NumberedLine],
    members: Sequence[NumberedLine],
    titles: dict[int, Title],
    mentions: Mentions,
    unlabelled: Sequence[int],
    size: int,
    file_type: str,
) -> bool:
    """Tell the numbering of a document from its lists, which restart and are not referred to."""
    found = [line for line in chosen if not line.heading]
    if not found or sum(line.worth for line in found) < _LEAST_PLAIN * len(found):
        return False
    if sum(not line.plain for line in found) > 1:
        return True
    mentioned = _is_mentioned(found, mentions, unlabelled)
    # Of lists in lists, the outermost decides.
    found = [line for line in found if not line.nested]
    members = [line for line in members if not line.nested]
    if any(line.heading for line in chosen) or len(found) < 2:
        return False
    if file_type == ".docx" or sum(line.listed for line in found) >= max(_FEWEST_LISTED, 0.5 * len(found)):
        return True
    return mentioned or _reads_like_sections(found, members, titles, unlabelled, size)


def _is_mentioned(found: Sequence[NumberedLine], mentions: Mentions, unlabelled: Sequence[int]) -> bool:
    """Whether the document refers to its numbers: `see paragraph 12`.

    Lists that restart below headings without a number are not meant.
    """
    outermost = [line.number for line in found if not line.nested]
    mentioned = {
        line.number[:1]
        for line in found
        if any(
            (kind, line.number) in mentions.numbers for kind in ("section", "clause", "paragraph", "article")
        )
    }
    unique = len(set(outermost))
    restarts = _crossed(found, unlabelled) and unique < 0.6 * len(outermost)
    return not restarts and len(mentioned) > 0.15 * unique


def _crossed(found: Sequence[NumberedLine], unlabelled: Sequence[int]) -> int:
    """How many headings without a number are between the first line and the last."""
    return bisect_right(unlabelled, found[-1].start) - bisect_right(unlabelled, found[0].start)


def _reads_like_sections(
    found: Sequence[NumberedLine],
    members: Sequence[NumberedLine],
    titles: dict[int, Title],
    unlabelled: Sequence[int],
    size: int,
) -> bool:
    """Whether plain numbers have titles and text like sections, or run through the whole document."""
    extent = found[-1].start - found[0].start
    length = extent / (len(found) - 1)
    crossed = _crossed(found, unlabelled)
    whole = extent > 0.5 * size
    unbroken = all(later.number[0][1] - line.number[0][1] == 1 for line, later in pairwise(found))
    most = len(found) >= 0.7 * sum(line.plain for line in members)
    if crossed:
        # A list ends with its section; paragraphs of a judgment are numbered throughout.
        return crossed > 1 and unbroken and most and len(found) > 7
    titled = sum(line.start in titles for line in found) >= 0.6 * len(found)
    if titled and length > 250 and (most or whole):
        return True
    return unbroken and whole and most and len(found) > 7 and length > 200


def without_clauses(
    accepted: Sequence[NumberedLine],
    titles: dict[int, Title],
    contents: Contents,
    learnt: Container[int] = (),
) -> list[NumberedLine]:
    """Drop numbered paragraphs that are mere clauses of the place above: `2.1 The tenant pays.` below `2. Rent`.

    Clauses have no titles, and neither do most of their siblings; they are read with the text of their place. Those of
    a ``learnt`` series are found wherever they are.
    """
    inner = {line.number[:-1] for line in accepted if line.heading or line.start in titles}
    inner |= {entry.number for entry in contents.entries}
    families, apart = _paragraphs(accepted)
    clauses = {
        line.start
        for family in families
        if not any(line.number in inner for line in family) and _untitled(family, titles)
        for line in family
        if line.start in learnt or not any(other.start in apart for other in family)
    }
    with_parent = {line.start for family in families for line in family}
    orphans = {
        line.start
        for line in accepted
        if line.plain_paragraph and line.start in learnt and line.start not in titles
    } - with_parent
    if len(orphans) < len(clauses):
        # They are what the others of their numbering are, though no place has the number before them.
        clauses |= orphans
    return [line for line in accepted if line.start not in clauses]


def _untitled(family: Sequence[NumberedLine], titles: dict[int, Title]) -> bool:
    """Whether most siblings have no title: a short sentence may look like one."""
    return 2 * sum(line.start in titles for line in family) < len(family)


def _paragraphs(accepted: Sequence[NumberedLine]) -> tuple[list[list[NumberedLine]], set[int]]:
    """Paragraphs with decimal numbers, together with those that extend the number of the same place.

    Also the starts of those that stand below another place, where they are not read with the text of theirs.
    """
    families: dict[int, list[NumberedLine]] = {}
    holders: dict[Number, NumberedLine] = {}
    apart: set[int] = set()
    above: Number = ()
    for line in accepted:
        parent = holders.get(line.number[:-1])
        # Clauses are read by their decimal numbers; `104.3e` has to be a place.
        if parent is not None and line.plain_paragraph and not line.number[-1][2]:
            families.setdefault(parent.start, []).append(line)
            if line.number[: len(above)] != above:
                apart.add(line.start)
        else:
            above = line.number
        holders[line.number] = line
    return list(families.values()), apart
