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
_AFTER = re.compile(r"\s*[.:—–-]+\s*|\s+(?=\()")
_TITLE = re.compile(r"([A-Z][^.;:—]{1,80}?)(?:\.—|\.–|\.|—)\s*(?=[A-Z(“\"])")
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def find_run_ins(flow: Sequence[Item | Heading], body: Body, found: Sequence[Candidate]) -> list[Candidate]:
    """Labels at the start of paragraphs that count up, as those of a statute do."""
    taken = {n for c in found for n in range(c.first, c.last + 1)}
    kinds: dict[str, list[tuple[int, Line, Label]]] = defaultdict(list)
    for position, line in enumerate(flow):
        if not isinstance(line, Line) or position in taken or line.contents:
            continue
        label = find_label(line.text)
        if label is None or not is_strong(label) or not _AFTER.match(line.text, label.length):
            continue
        if starts_paragraph(flow, position, body):
            kinds[label.kind].append((position, line, label))
    result: list[Candidate] = []
    for entries in kinds.values():
        if len(entries) >= _LEAST and counts_up([label.number for _, _, label in entries]):
            result.extend(_split(*entry, body) for entry in entries)
    return result


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
