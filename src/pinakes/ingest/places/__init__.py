"""Places: the tree that a document's headings and numbers make, found from all evidence together.

Headings that a format marks are taken as they are. Beside them stand lines that begin with a label: the article of a
contract that was typed as plain text, the clause of a Word file, the section of an RFC. Whether such a line is a place
is decided by what it looks like, by the contents page, by the document's own mentions of the number, and above all by
the sequence: after 2.1 comes 2.2, or 2.1.1, or 3.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pinakes.ingest.parse import Heading, Parsed, tile
from pinakes.ingest.places.chain import Number, Step, best_chain
from pinakes.ingest.places.contents import Contents, Entry, listed_contents, printed_contents
from pinakes.ingest.places.lines import NumberedLine, numbered_lines, read_line
from pinakes.ingest.places.titles import Title, clean, following_title, read_title
from pinakes.labels import find_labels, parse_heading
from pinakes.labels.kinds import APART, CONTAINERS, rank
from pinakes.text.keys import title_key

# One numbering, whatever word stands before the number: `Section 2`, then `2.1`.
_MAIN = frozenset({"", "section"})
_MENTION = re.compile(r"(?:[^\W\d_]|§)\.?\s(\d{1,3}(?:\.\d{1,3})+)(?![\w.]*\w)")
_INNER = 100
_LEAST = 0.5
_LEAST_PLAIN = 0.2
_LONGEST_HEADING = 120
_LONGEST_TITLE = 250
_FEWEST_ALIKE = 6
_NO_WIDTH = 1_000_000
_MAX_PLACES = 20_000
# How far the mentions of a document are looked for where they decide about a plain list.
_MENTIONS_REACH = 300_000


def find_places(parsed: Parsed, file_type: str = "") -> Parsed:
    """Add to a document's headings the places that its numbered lines make."""
    text = parsed.text
    contents = printed_contents(text, parsed.body_start)
    headings = _shorten(_merge_titles(parsed), text)
    width = _line_width(text)
    lines = [*_labelled(headings), *numbered_lines(text, parsed.blocks, contents.lines, width)]
    if len(lines) == sum(line.heading for line in lines):
        return replace(parsed, headings=headings, contents=contents.entries)
    lines.sort(key=lambda line: line.start)
    listed = listed_contents(lines)
    contents = Contents([*contents.entries, *listed.entries], contents.lines | listed.lines)
    lines = [line for line in lines if line.heading or line.start not in listed.lines][:_MAX_PLACES]
    titles = _titles(lines, text, width)
    _weigh(lines, titles, contents, text)
    accepted = _without_clauses(_choose(lines, headings, titles, text, file_type), titles, contents)
    found = _with_levels(accepted, headings, titles, text)
    found += _listed_titles(parsed, contents, {heading.start for heading in (*found, *headings)})
    if not found:
        return replace(parsed, headings=headings, contents=contents.entries)
    every = sorted([*found, *headings], key=lambda heading: heading.start)
    every = _nest(every, accepted)
    starts = [(block.start, block.kind, block.header_end) for block in parsed.blocks]
    starts += [(heading.start, "heading", 0) for heading in found]
    starts += [(heading.body, "text", 0) for heading in found]
    blocks = tile(starts, parsed.body_start, len(text))
    return replace(parsed, headings=every, blocks=blocks, contents=contents.entries)


# -- headings that the format marks -------------------------------------------------------------------------------


def _merge_titles(parsed: Parsed) -> list[Heading]:
    """Join a heading that is only a label with the one below that names it: `Article 1`, then `Subject matter`."""
    merged: list[Heading] = []
    for heading in parsed.headings:
        above = merged[-1] if merged else None
        if (
            above is not None
            and above.level == heading.level
            and not parsed.text[above.body : heading.start].strip()
            and _only_label(above.text)
            and parse_heading(heading.text)[0] is None
        ):
            merged[-1] = replace(above, text=f"{above.text} {heading.text}", body=heading.body)
        else:
            merged.append(heading)
    return merged


def _shorten(headings: Sequence[Heading], text: str) -> list[Heading]:
    """Take the text out of headings: a clause in a heading style has a number, perhaps a title, and then words."""
    kept = []
    for heading in headings:
        if len(heading.text) <= _LONGEST_HEADING:
            kept.append(heading)
            continue
        line = read_line(text, heading.start, heading.body)
        title = read_title(text, line.rest, heading.body, _NO_WIDTH) if line else None
        if line is None or (title is None and len(heading.text) <= _LONGEST_TITLE):
            # A paragraph of prose in a heading style names nothing; a long title is one all the same.
            if line or not heading.text.endswith((".", ";", ":", ",")):
                kept.append(heading)
            continue
        words = f"{line.label.text} {title.words}" if title else line.label.text
        body = title.body if title else line.rest
        kept.append(
            Heading(heading.level, words, heading.start, body, line.label, title.words if title else "")
        )
    return kept


def _only_label(words: str) -> bool:
    label, title = parse_heading(words)
    return label is not None and bool(label.kind) and not title


def _labelled(headings: Iterable[Heading]) -> list[NumberedLine]:
    found = []
    for heading in headings:
        label, title = (heading.label, heading.title) if heading.label else parse_heading(heading.text)
        if label and not label.relative:
            line = NumberedLine(
                heading.start, heading.body, heading.body, label, title, True, True, heading=True
            )
            line.level = heading.level
            found.append(line)
    return found


# -- evidence -----------------------------------------------------------------------------------------------------


def _line_width(text: str) -> int:
    """How long the lines of a text are when they are broken by hand; large where they are not."""
    lengths = sorted(len(line) for line in text[:60_000].split("\n") if line.strip())
    return lengths[int(len(lengths) * 0.85)] if lengths else 80


def _titles(lines: Sequence[NumberedLine], text: str, width: int) -> dict[int, Title]:
    """The title of each line that has one, beside its label or below."""
    titles = {}
    for index, line in enumerate(lines):
        if line.heading:
            continue
        if line.words:
            title = read_title(text, line.rest, line.end, width)
        else:
            end = lines[index + 1].start if index + 1 < len(lines) else len(text)
            title = following_title(text, line.rest, end)
        if title:
            titles[line.start] = title
    return _without_furniture(titles)


def _without_furniture(titles: dict[int, Title]) -> dict[int, Title]:
    """Cut off a last word that ends most titles: the button of the page that a text was copied from."""
    last = Counter(title.words.rsplit(" ", 1)[-1] for title in titles.values())
    word, count = last.most_common(1)[0] if last else ("", 0)
    if count < max(_FEWEST_ALIKE, 0.5 * len(titles)):
        return titles
    cut = {
        start: Title(title.words.removesuffix(word).rstrip(), title.body) for start, title in titles.items()
    }
    return {start: title for start, title in cut.items() if title.words}


def _weigh(lines: Sequence[NumberedLine], titles: dict[int, Title], contents: Contents, text: str) -> None:
    listed = {(entry.number, _group(entry.kind)): entry for entry in contents.entries if entry.number}
    depths = {(_group(entry.kind), len(entry.number)) for entry in contents.entries if entry.number}
    mentioned = {match[1] for match in _MENTION.finditer(text)}
    for index, line in enumerate(lines):
        if line.heading:
            line.worth = 4.0
            continue
        worth = 0.5 + (0.7 if line.label.kind else 0.0)
        worth += 0.7 if line.opens else 0.2 if line.follows else -1.6
        if line.words:
            worth += -1.5 if line.words[0].islower() else 0.0 if line.words[0] in ",;)]" else 0.5
        title = titles.get(line.start)
        worth += (0.6 if title else 0.0) + (1.0 if line.ruled else 0.0)
        entry = listed.get((line.number, _group(line.label.kind)))
        if entry:
            worth += 1.5 if _agrees(entry, title, line) else 0.0 if not line.words else -0.5
        elif (_group(line.label.kind), len(line.number)) in depths and len(listed) > 4:
            worth -= 1.2
        if line.dotted and ".".join(line.label.number) in mentioned:
            worth += 0.5
        if line.plain and not _has_child(lines, index):
            worth -= 0.4 if title or not line.words else 0.8
        line.worth = worth


def _group(kind: str) -> str:
    return "" if kind in _MAIN else kind


def _agrees(entry: Entry, title: Title | None, line: NumberedLine) -> bool:
    words = title_key(title.words if title else line.words[:80])
    return not entry.title or words[:12] == entry.title[:12]


def _has_child(lines: Sequence[NumberedLine], index: int) -> bool:
    number = _outer(lines[index].number)
    return any(
        len(line.number) > len(number) and line.number[: len(number)] == number
        for line in lines[index + 1 : index + 3]
    )


# -- choosing -----------------------------------------------------------------------------------------------------


def _choose(
    lines: Sequence[NumberedLine],
    headings: Sequence[Heading],
    titles: dict[int, Title],
    text: str,
    file_type: str,
) -> list[NumberedLine]:
    """Return the lines that are places, headings included, in order."""
    accepted: list[NumberedLine] = []
    unlabelled = [heading.start for heading in headings if parse_heading(heading.text)[0] is None]
    series: dict[str, list[NumberedLine]] = {}
    for line in lines:
        series.setdefault(_group(line.label.kind), []).append(line)
    order = sorted(series, key=lambda kind: (_rank(kind), len(series[kind])))
    for kind in order:
        members = series[kind]
        if kind == "":
            members = _without_lists(members)
        # An annex begins numbering anew, and so may whatever stands under a heading of another kind.
        limits = sorted([*unlabelled, *(line.start for line in accepted)])
        chain = best_chain([Step(m.number, m.worth, bisect_right(limits, m.start)) for m in members])
        chosen = [members[index] for index in chain]
        numbering = kind != "" or _is_numbering(chosen, members, titles, unlabelled, text, file_type)
        if not (numbering and _is_series(kind, chosen)):
            chosen = [line for line in chosen if line.heading]
        else:
            chosen += _strays(chosen, members, titles)
        taken = {line.start for line in chosen}
        accepted += chosen
        accepted += [line for line in members if line.heading and line.start not in taken]
    return sorted(accepted, key=lambda line: line.start)


def _strays(
    chosen: Sequence[NumberedLine], members: Sequence[NumberedLine], titles: dict[int, Title]
) -> list[NumberedLine]:
    """Places outside the sequence that nothing else can be: an amendment quotes `9.6 Proceeds.` of its agreement."""
    numbers = {line.number for line in chosen}
    strong = (line for line in members if not line.plain and line.opens and line.worth > 2)
    first = {line.number: line for line in reversed([*strong]) if line.start in titles}
    return [line for number, line in first.items() if number not in numbers]


def _is_series(kind: str, chosen: Sequence[NumberedLine]) -> bool:
    """One article alone is no structure; one annex may well be."""
    if len(chosen) == 1 and not chosen[0].heading:
        return kind in APART and chosen[0].opens and chosen[0].worth > 1.5
    return sum(line.worth for line in chosen) >= (_LEAST if kind else _LEAST_PLAIN) * len(chosen)


def _rank(kind: str) -> int:
    if kind in APART:
        return -1
    return rank(kind) if kind in CONTAINERS else _INNER


def _without_lists(members: list[NumberedLine]) -> list[NumberedLine]:
    """Where sections have names (`Section 2`, `§ 3`), a plain `2.` numbers a list."""
    named = [line for line in members if line.label.kind == "section" and not line.dotted and line.worth > 1]
    plain = [line for line in members if line.plain and line.worth > 1]
    if len({line.number for line in named}) < max(2, 0.3 * len({line.number for line in plain})):
        return members
    return [line for line in members if line.heading or not line.plain]


def _is_numbering(
    chosen: Sequence[NumberedLine],
    members: Sequence[NumberedLine],
    titles: dict[int, Title],
    unlabelled: Sequence[int],
    text: str,
    file_type: str,
) -> bool:
    """Tell the numbering of a document from the lists in it, which begin anew and which nobody refers to."""
    found = [line for line in chosen if not line.heading]
    if not found or sum(line.worth for line in found) < _LEAST_PLAIN * len(found):
        return False
    if sum(not line.plain for line in found) > 1:
        return True
    if any(line.heading for line in chosen) or len(found) < 2:
        return False
    if file_type == ".docx":
        return True
    return _is_mentioned(found, text) or _reads_like_sections(found, members, titles, unlabelled, len(text))


def _is_mentioned(found: Sequence[NumberedLine], text: str) -> bool:
    """Whether the document refers to its numbers: `see paragraph 12`."""
    mentioned = {
        item.label.number[0]
        for item in find_labels(text[:_MENTIONS_REACH])
        if item.label.kind in ("section", "clause", "paragraph", "article") and item.label.number
    }
    borne_out = sum(line.label.number[0] in mentioned for line in found)
    return borne_out > 0.15 * len(found)


def _reads_like_sections(
    found: Sequence[NumberedLine],
    members: Sequence[NumberedLine],
    titles: dict[int, Title],
    unlabelled: Sequence[int],
    size: int,
) -> bool:
    """Whether plain numbers have titles and text like sections, or run through the whole of a document."""
    extent = found[-1].start - found[0].start
    length = extent / (len(found) - 1)
    crossed = bisect_right(unlabelled, found[-1].start) - bisect_right(unlabelled, found[0].start)
    whole = extent > 0.5 * size
    unbroken = all(later.number[0][1] - line.number[0][1] == 1 for line, later in pairwise(found))
    most = len(found) >= 0.7 * sum(line.plain for line in members)
    if crossed:
        # A list ends with its section; paragraphs of a judgment are counted through it.
        return crossed > 1 and unbroken and most and len(found) > 7
    titled = sum(line.start in titles for line in found) >= 0.6 * len(found)
    if titled and length > 250 and (most or whole):
        return True
    return unbroken and whole and most and len(found) > 7 and length > 200


def _without_clauses(
    accepted: Sequence[NumberedLine], titles: dict[int, Title], contents: Contents
) -> list[NumberedLine]:
    """Leave out numbered paragraphs that are mere clauses of the place above: `2.1 The tenant pays.` below `2. Rent`.

    Clauses have no titles, nor have those beside them; they are read with the text of their place, not apart from it.
    """
    families: dict[int, list[NumberedLine]] = {}
    holders: dict[Number, NumberedLine] = {}
    for line in accepted:
        parent = holders.get(line.number[:-1])
        if parent is not None and line.plain_paragraph:
            families.setdefault(parent.start, []).append(line)
        holders[_outer(line.number)] = line
    inner = {line.number[:-1] for line in accepted if line.heading or line.start in titles}
    inner |= {entry.number for entry in contents.entries}
    clauses = {
        line.start
        for family in families.values()
        if not any(line.start in titles or line.number in inner for line in family)
        for line in family
    }
    return [line for line in accepted if line.start not in clauses]


def _listed_titles(parsed: Parsed, contents: Contents, taken: set[int]) -> list[Heading]:
    """Lines that the contents page names without a number: `Acknowledgements`, `Authors' Addresses`."""
    wanted = {entry.title for entry in contents.entries if not entry.number and len(entry.title) > 3}
    found = []
    for block in parsed.blocks if wanted else ():
        end = parsed.text.find("\n", block.start, block.end)
        line = parsed.text[block.start : end if end >= 0 else block.end]
        if block.kind != "text" or len(line) > 160 or block.start in taken or block.start in contents.lines:
            continue
        key = title_key(line)
        if key in wanted:
            wanted.discard(key)
            found.append(Heading(0, " ".join(line.split()), block.start, block.start + len(line)))
    return found


# -- the tree -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Key:
    """Where a numbered place belongs among others: the rank of its series, then how many steps its number has."""

    rank: int
    depth: int


def _with_levels(
    accepted: Sequence[NumberedLine], headings: Sequence[Heading], titles: dict[int, Title], text: str
) -> list[Heading]:
    """Make headings of the lines that were accepted; their levels come later."""
    taken = {heading.start for heading in headings}
    starts = sorted([*taken, *(line.start for line in accepted)])
    found = []
    for line in accepted:
        if line.heading:
            continue
        later = bisect_right(starts, line.start)
        end = starts[later] if later < len(starts) else len(text)
        title = titles.get(line.start)
        words = f"{_printed(text, line)} {title.words}" if title else line.label.text
        body = min(title.body if title else line.rest, end)
        found.append(
            Heading(0, words, line.start, max(body, line.start + 1), line.label, title.words if title else "")
        )
    return found


def _printed(text: str, line: NumberedLine) -> str:
    """The label as it stands before a title, with its full stop or dash: `2.`, `ARTICLE II -`."""
    printed = clean(text[line.start : line.rest]).lstrip("#>-•●▪◦ ")
    return printed if line.label.text in printed else line.label.text


def _nest(headings: Sequence[Heading], accepted: Sequence[NumberedLine]) -> list[Heading]:
    """Give each place a level: below the heading it stands under, and below the numbers that contain it."""
    keys = _keys(accepted)
    nested: list[Heading] = []
    open_places: list[tuple[int, _Key | None]] = []
    for heading in headings:
        key = keys.get(heading.start)
        if heading.level:
            while open_places and open_places[-1][0] >= heading.level:
                open_places.pop()
            level = heading.level
        else:
            # What has no number ends all numbered places.
            rank = (key.rank, key.depth) if key else (-1, 0)
            outer = next(
                (
                    index
                    for index, (_, other) in enumerate(open_places)
                    if other is not None and (other.rank, other.depth) >= rank
                ),
                len(open_places),
            )
            del open_places[outer:]
            level = open_places[-1][0] + 1 if open_places else 1
        open_places.append((level, key))
        nested.append(replace(heading, level=level))
    return nested


def _keys(accepted: Sequence[NumberedLine]) -> dict[int, _Key]:
    counts: dict[str, int] = {}
    for line in accepted:
        counts[_group(line.label.kind)] = counts.get(_group(line.label.kind), 0) + 1
    # Among the kinds that people use for one another, the rarer contains the more frequent.
    order = sorted(counts, key=lambda kind: (_rank(kind), counts[kind]))
    ranks = {kind: 0 if kind in APART else index + 1 for index, kind in enumerate(order)}
    return {line.start: _Key(ranks[_group(line.label.kind)], len(_outer(line.number))) for line in accepted}


def _outer(number: Number) -> Number:
    """A number without a last 0: `2.0 Revisions` holds 2.1."""
    return number[:-1] if len(number) > 1 and number[-1] == (0, 0, "") else number
