"""Labels that run into their paragraph: `Section 12. Powers. The Board may ...` in the type of the text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from .candidates import Body, Candidate, look_of, starts_paragraph
from .flow import Item
from .labels import Label, find_label, is_strong
from .page import Heading, Line, Span

_LEAST = 3
_MOST_WORDS = 12
_AFTER = re.compile(r"\s*[.:—–-]+\s*|\s+(?=\()")
_TITLE = re.compile(r"([A-Z][^.;:—]{1,80}?)(?:\.—|\.–|\.|—)\s*(?=[A-Z(“\"])")
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def find_run_ins(flow: Sequence[Item | Heading], body: Body, found: Sequence[Candidate]) -> list[Candidate]:
    """Labels at the start of paragraphs that count up, as those of a statute do."""
    taken = {n for c in found for n in range(c.first, c.last + 1)}
    kinds: dict[str, list[tuple[int, Line, Label]]] = defaultdict(list)
    styled: list[tuple[int, Line, Label, int]] = []
    for position, line in enumerate(flow):
        if not isinstance(line, Line) or position in taken or line.contents:
            continue
        label = find_label(line.text)
        if label is None or not starts_paragraph(flow, position, body):
            continue
        if is_strong(label):
            if _AFTER.match(line.text, label.length):
                kinds[label.kind].append((position, line, label))
        elif label.kind == "#" and label.depth >= 2 and (end := _styled_end(line, label)):
            styled.append((position, line, label, end))
    result: list[Candidate] = []
    for entries in kinds.values():
        if len(entries) >= _LEAST and counts_up([label.number for _, _, label in entries]):
            result.extend(_split(*entry, body) for entry in entries)
    if len(styled) >= _LEAST and counts_up([label.number for _, _, label, _ in styled]):
        result.extend(_cut(*entry, body) for entry in styled)
    return result


def _styled_end(line: Line, label: Label) -> int:
    """Where a numbered title that runs into its paragraph ends: it is bold or italic, and the rest is not; or 0."""
    rest = line.spans[-1].style
    if rest.bold or rest.italic:
        return 0
    last = max((n for n, s in enumerate(line.spans) if s.style.bold or s.style.italic), default=-1)
    end = len(" ".join(s.text for s in line.spans[: last + 1]))
    title = line.text[label.length : end].strip()
    if last < 0 or not title or not title[0].isupper() or len(title.split()) > _MOST_WORDS:
        return 0
    return end if all(s.style.bold or s.style.italic for s in line.spans[1 : last + 1]) else 0


def counts_up(numbers: Sequence[str]) -> bool:
    """Whether label numbers mostly rise, as those of headings do and those of references do not."""
    values = [_value(n) for n in numbers]
    rising = sum(1 for a, b in pairwise(values) if b > a)
    return rising >= 0.7 * (len(values) - 1)


def _value(number: str) -> tuple[int, ...]:
    if re.fullmatch(r"[IVXLCDM]+", number):
        total = 0
        for a, b in zip(number, number[1:] + " ", strict=True):
            total += -_ROMAN[a] if _ROMAN.get(b, 0) > _ROMAN[a] else _ROMAN[a]
        return (total,)
    return tuple(int(n) for n in re.findall(r"\d+", number)) or (ord(number[0]),)


def _split(position: int, line: Line, label: Label, body: Body) -> Candidate:
    """Cut the label, and a title after it, off the line."""
    after = _AFTER.match(line.text, label.length)
    end = after.end() if after else label.length
    title = _TITLE.match(line.text, end)
    if title and len(title[1].split()) <= 12:
        end = title.end()
    return _cut(position, line, label, end, body)


def _cut(position: int, line: Line, label: Label, end: int, body: Body) -> Candidate:
    """The heading that ends at a place of its line, with the rest of the line after it."""
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
