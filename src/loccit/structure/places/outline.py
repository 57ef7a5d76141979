"""Outlines: parts numbered I, A, 1, a, alone on a line or with a title, as in court opinions.

Many lines begin with a single letter or Roman numeral, so only those between blank lines or in the middle of a line
count, and only in order: II after I, B after A, each within the part above it. A dissenting opinion restarts the
numbering.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loccit.grammar.labels import Label, roman_value
from loccit.structure.places.chain import Number, Step, best_chain, number_key
from loccit.structure.places.lines import NumberedLine, is_furniture
from loccit.structure.places.titles import QUOTES, Title, clean, is_name

_LINE = re.compile(
    r"\n[ \t\f]*(?P<label>[IVX]{1,6}|[A-Z]|\d{1,2}|[a-z])"
    r"(?:(?P<mark>[.)])(?:[ \t]{1,40}(?P<words>\S[^\n]{0,140}))?)?[ \t]*(?=\n|\Z)"
)
# Who speaks next: the numbering restarts.
_SPEAKER = re.compile(
    r"\n[^\n]{0,80}\b(?:concurring|dissenting|delivered the opinion)\b[^\n]{0,60}(?=\n)", re.IGNORECASE
)
_OUTER = frozenset({"part", "article"})
_LEVELS = ("roman", "letter", "digit", "small")
_FEWEST_LETTERS = 3
_FEWEST_DOTTED = 3
_OWN_TEXT = 400
_MOST_WORDS = 18
# So far to the right of the line above, a label in its middle is that of what follows.
_CENTRED = 12
_MOST_LINES = 3


@dataclass(slots=True)
class _Item:
    start: int
    rest: int
    label: str
    title: Title | None
    worth: float


def outline_places(text: str) -> tuple[list[NumberedLine], dict[int, Title]]:
    """Return the parts of an outline as numbered lines, and their titles; empty if there is none."""
    items = list(_items(text))
    speakers = [match.start() for match in _SPEAKER.finditer(text)] if items else []
    romans = [item for item in items if len(item.label) > 1 or item.label in "IVX"]
    romans = [item for item in romans if item.label.isalpha() and roman_value(item.label) is not None]
    top = _in_order([(item, str(roman_value(item.label))) for item in romans], speakers)
    chosen: dict[int, tuple[str, ...]] = {}
    levels: tuple[str, ...] = _LEVELS[1:]
    if len(top) > 1:
        chosen = {item.start: (number,) for item, number in top}
    else:
        letters = _in_order([(item, item.label.lower()) for item in items if _level(item) == "letter"], [])
        if len(letters) < _FEWEST_LETTERS or letters[-1][0].start - letters[0][0].start < _OWN_TEXT * len(
            letters
        ):
            return [], {}
        chosen = {item.start: (number,) for item, number in letters}
        levels = _LEVELS[2:]
    for level in levels:
        inner = [item for item in items if _level(item) == level and item.start not in chosen]
        chosen |= _below(inner, sorted(chosen.items()))
    lines = []
    for item in items:
        if item.start in chosen:
            label = Label(item.label, "part", chosen[item.start])
            lines.append(
                NumberedLine(item.start, item.rest, item.rest, label, "", True, True, worth=item.worth)
            )
    return lines, {item.start: item.title for item in items if item.start in chosen and item.title}


def with_parts(accepted: Sequence[NumberedLine], parts: Sequence[NumberedLine]) -> list[NumberedLine]:
    """Put an outline among the places made by words and numbers; of these, only what counts from 1 belongs to it.

    Opinions cite: many lines begin with `§ 757` or `133 (1st Cir.)`.
    """
    if not parts or any(line.series in _OUTER for line in accepted) or _is_named_throughout(accepted, parts):
        return list(accepted)
    numbers: dict[str, set[int]] = {}
    for line in accepted:
        numbers.setdefault(line.series, set()).add(line.number[0][1])
    counted = {series for series, found in numbers.items() if {1, 2, 3} <= found}
    dotted = sum(line.plain_paragraph for line in accepted) >= _FEWEST_DOTTED
    starts = {part.start for part in parts}
    kept = [
        line
        for line in accepted
        if (line.series in counted or (dotted and line.dotted)) and line.start not in starts
    ]
    return sorted([*parts, *kept], key=lambda line: line.start)


def _is_named_throughout(accepted: Sequence[NumberedLine], parts: Sequence[NumberedLine]) -> bool:
    """Whether sections with a word or sign (`§ 485-1`, `§ 485-2`) extend over the text; letters are lists in them."""
    families: dict[Number, list[NumberedLine]] = {}
    for line in accepted:
        if line.label.kind:
            families.setdefault(line.number[:-1], []).append(line)
    starts = [line.start for line in (*accepted, *parts)]
    return any(
        {1, 2, 3} <= {line.number[-1][1] for line in family}
        and family[-1].start - family[0].start > 0.5 * (max(starts) - min(starts))
        for family in families.values()
    )


def _level(item: _Item) -> str:
    if item.label.isdigit():
        return "digit"
    return (
        "letter" if item.label.isupper() and len(item.label) == 1 else "small" if item.label.islower() else ""
    )


def _in_order(items: Sequence[tuple[_Item, str]], limits: Sequence[int]) -> list[tuple[_Item, str]]:
    """Those that follow one another from the first on."""
    steps = [
        Step(number_key([number]), item.worth, bisect_left(limits[:99], item.start)) for item, number in items
    ]
    found = [items[index] for index in best_chain(steps)]
    return found if found and found[0][1] in {"1", "2", "a"} else []


def _below(
    items: Sequence[_Item], above: Sequence[tuple[int, tuple[str, ...]]]
) -> dict[int, tuple[str, ...]]:
    """Number the items of one level within each place above them; a single one is no numbering."""
    found: dict[int, tuple[str, ...]] = {}
    ends = [*(start for start, _ in above[1:]), None]
    position = 0
    for (start, path), end in zip(above, ends, strict=True):
        stretch = []
        while position < len(items) and (end is None or items[position].start < end):
            if items[position].start > start:
                stretch.append((items[position], items[position].label.lower()))
            position += 1
        chain = _in_order(stretch, [])
        if len(chain) > 1 and chain[0][1] != "2":
            found |= {item.start: (*path, number) for item, number in chain}
    return found


def _items(text: str) -> Iterator[_Item]:
    for match in _LINE.finditer(text):
        start, label, words = match.start() + 1, match["label"], match["words"]
        if not match["mark"] and not label.isupper():
            continue
        above = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        centred = not words and match.start("label") - start - _indent(above) >= _CENTRED
        if above.strip() and not is_furniture(above) and not centred:
            continue
        if not words:
            below = text[match.end() + 1 : match.end() + 80].split("\n", 1)[0]
            # A numeral between two lines of text is a page number.
            if label.islower() or (below.strip() and not match["mark"] and not centred):
                continue
            yield _Item(start, match.end(), label, None, 1.5 if match["mark"] or label != "I" else 1.2)
            continue
        if title := _title(text, match.start("words"), match.end()):
            worth = 1.3 if is_name(title.words.rstrip(".")) or title.words.isupper() else 0.5
            yield _Item(start, match.start("words"), label, title, worth)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _title(text: str, start: int, end: int) -> Title | None:
    """The words of a separate line, including the lines it continues on."""
    for _ in range(_MOST_LINES):
        following = text[end + 1 : end + 200].split("\n", 1)[0]
        if not following.strip():
            break
        end += 1 + len(following)
    else:
        return None
    words = clean(text[start:end])
    after = text[end : end + 200].lstrip()
    if not 0 < len(words.split()) <= _MOST_WORDS or after[:1].islower() or words[-1] in ",;":
        return None
    if not (words[0].isupper() or words[0] in QUOTES or words[0].isdigit()):
        return None
    return Title(words.rstrip("."), end)
