"""Evidence: what indicates that a numbered line is a place."""

from __future__ import annotations

from collections.abc import Sequence

from loccit.grammar.labels.model import APART
from loccit.grammar.text.keys import title_key
from loccit.structure.places.chain import Number, outer
from loccit.structure.places.lines import NumberedLine, series_of
from loccit.structure.places.mentions import Contents, Entry
from loccit.structure.places.titles import Title, clean, following_title, read_title, titles_below


def line_width(text: str) -> int:
    """The length of lines in a text with hard line breaks; large if there are none."""
    lengths = sorted(len(line) for line in text[:60_000].split("\n") if line.strip())
    return lengths[int(len(lengths) * 0.85)] if lengths else 80


def titles_of(lines: Sequence[NumberedLine], contents: Contents, text: str, width: int) -> dict[int, Title]:
    """The title of each line that has one, next to its label or below."""
    titles = {}
    listed = _by_number(contents)
    for index, line in enumerate(lines):
        if line.heading:
            continue
        if line.words:
            title = read_title(text, line.rest, line.end, width)
            if title is None and (entry := listed.get((line.number, line.series))):
                title = _as_listed(text, line, entry.title)
        else:
            end = lines[index + 1].start if index + 1 < len(lines) else len(text)
            title = following_title(text, line.rest, end)
        if title:
            titles[line.start] = title
    alone = [line for line in lines if line.label.kind and not line.heading and _ends_line(text, line.rest)]
    below = titles_below(text, [line.rest for line in alone])
    return titles | {line.start: below[line.rest] for line in alone if line.rest in below}


def _ends_line(text: str, position: int) -> bool:
    """Whether only blanks follow up to the end of the line."""
    return not text[position : position + 80].partition("\n")[0].strip()


def _as_listed(text: str, line: NumberedLine, wanted: str) -> Title | None:
    """A line that is verbatim on the contents page, whatever it looks like."""
    end = text.find("\n", line.rest, line.end)
    end = line.end if end < 0 else end
    words = clean(text[line.rest : end])
    return Title(words, end) if title_key(words) == wanted else None


def weigh(lines: Sequence[NumberedLine], titles: dict[int, Title], contents: Contents) -> None:
    """Give each line the sum of the evidence for it, minus the evidence against it."""
    listed = _by_number(contents)
    depths = {(series_of(entry.kind), len(entry.number)) for entry in contents.entries if entry.number}
    for index, line in enumerate(lines):
        if line.heading:
            line.worth = 4.0
            continue
        title = titles.get(line.start)
        worth = 0.5 + (0.7 if line.label.kind else 0.0)
        worth += 0.7 if line.opens else 0.2 if line.follows else -1.6
        if line.words:
            small = line.words[0].islower() and not (title and line.opens)
            worth += -1.5 if small else 0.0 if line.words[0] in ",;)]" else 0.5
        worth += (0.6 if title else 0.0) + (1.0 if line.ruled else 0.0)
        if entry := listed.get((line.number, line.series)):
            line.listed = _agrees(entry, title, line)
            worth += 1.5 if line.listed else 0.0 if not line.words else -0.5
        elif (line.series, len(line.number)) in depths and len(listed) > 4:
            worth -= 1.2
        if line.plain and not _has_child(lines, index):
            worth -= 0.4 if title or not line.words else 0.8
        line.worth = worth


def _by_number(contents: Contents) -> dict[tuple[Number, str], Entry]:
    """The entries by number and series; `Appendix A` may be printed as a plain `A`, and vice versa."""
    listed: dict[tuple[Number, str], Entry] = {}
    for entry in contents.entries:
        if not entry.number:
            continue
        listed[entry.number, series_of(entry.kind)] = entry
        if len(entry.number) == 1 and entry.number[0][0] == 1:
            listed.setdefault((entry.number, "" if entry.kind in APART else "appendix"), entry)
    return listed


def _agrees(entry: Entry, title: Title | None, line: NumberedLine) -> bool:
    words = title_key(title.words if title else line.words[:80])
    return not entry.title or words[:12] == entry.title[:12]


def _has_child(lines: Sequence[NumberedLine], index: int) -> bool:
    number = outer(lines[index].number)
    return any(
        len(line.number) > len(number) and line.number[: len(number)] == number
        for line in lines[index + 1 : index + 3]
    )
