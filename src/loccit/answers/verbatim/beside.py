"""Beside: the citation next to a quotation, in the forms that copies, answers and people write."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from loccit.expressions import expression
from loccit.grammar.labels.places import find_places

_LONGEST = 400
_NUMBERS = r"(?P<first>\d{1,9})(?:\s?[-‐‑–—]\s?(?P<last>\d{1,9}))?(?!\w)"
LINES = expression(
    rf"(?<![^\W_])(?P<word>lines?|ll?\.|zeilen?|z\.|lignes?|líneas?|righe|riga|строк[аи]|行|paragraphs?|cells?)\s?{_NUMBERS}",
    re.IGNORECASE,
)
"""Numbers of lines, of the paragraphs of a Word document or of the cells of a notebook: ``lines 3–5``."""
PAGES = expression(
    rf"(?<![^\W_])(?:pp?\.?|pages?|pgs?\.?|seiten?|p[áa]g(?:ina)?s?\.?|pagin[ae]|стр\.?)\s?{_NUMBERS}",
    re.IGNORECASE,
)
"""Numbers of pages: ``p. 4``, ``Seiten 3-5``."""
AFTER_FILE = expression(r"(?<=\w):(?P<first>\d{1,9})(?P<page>p)?(?:-(?P<last>\d{1,9}))?(?!\w)")
"""A line or a page after the name of a file: ``act.md:12``, ``report.pdf:3p``."""
FILE = expression(
    r"[^\s,;()\[\]“”„\"<>|*]{1,200}\.(?:md|markdown|mdx|txt|text|log|rst|adoc|org|tex|html?|xhtml|pdf|docx?|docm|"
    r"dotx|odt|rtf|epub|pptx?|odp|xlsx?|ods|csv|tsv|json|jsonl|ya?ml|toml|xml|ipynb|eml|msg|srt|vtt)(?!\w)",
    re.IGNORECASE,
)
"""The name of a file."""
ID = expression(r"\[(?P<id>[a-z][a-z0-9]{7})\]")
"""The id of a place as answers print it."""
ADDRESS = expression(r"\S{1,2000}/read\?\S{1,4000}")
"""A link to the page of a library."""

_NOTE = expression(r"[.,;:]?\s?\[\^(?P<name>[^\]\s]{1,40})\]")
_BRACKET = expression(r"\s{0,2}[.,;:]?\s{0,2}(?P<open>[(\[（【])")
_CLOSES = {"(": ")", "[": "]", "（": "）", "【": "】"}
_LINE_END = expression(r"[.,;:]?[ \t]*\n(?:[ \t]*\n)?(?P<line>[^\n]+)(?:\n(?P<next>[^\n]+))?")
_DASH = expression(r"[.,;:]?\s{0,3}(?:—|–|―|--)\s?(?P<line>[^\n]+)")
_COMMA = expression(
    r"[.,;]?\s{0,2},?\s?(?:(?:in|see|at|from|under|vgl\.|cf\.|siehe)\s)?(?=\S)", re.IGNORECASE
)
_FURTHER = expression(r"\s?,\s?|\s(?:of|in|des|der|du|de|della|del)\s(?:the\s)?", re.IGNORECASE)
_SAYS = expression(
    r"(?:\s(?:of|in)\s[^,:;.\n]{2,60}?|\s?\([^()\n]{1,80}\))?"
    r"(?:\s(?:says?|states?|provides?|reads?|requires?|stipulates?|lautet|sagt|bestimmt|dispose|prévoit|establece|dice)"
    r"(?:\s(?:as\sfollows|that|dass|que|wie\sfolgt))?[:,]?|:)\s{0,3}(?:\n\s*)?\Z",
    re.IGNORECASE,
)
_END = expression(r"[.;\s]*\Z")
_JOINING = (
    r"(?:see|cf|vgl|siehe|also|at|in|on|from|under|of|per|to|and|or|the|above|below|von|der|des|dem|den|und|bis|oder|"
    r"du|de|des|la|le|et|del|y|di|e|pp?|lines?|pages?|paragraphs?|cells?|no|nr|version|ed|emphasis)(?![^\W\d_])"
)
# Words that only a sentence has: a citation has names, numbers and what joins them.
_PROSE = expression(rf"(?!{_JOINING})[a-z]{{2,}}\s")
_PROSE_AFTER = expression(rf"\s(?!{_JOINING})[a-z]{{2,}}(?![^\W_])")
_QUOTE_MARKS = expression(r"[\s>*_—–-]*\Z")


class Beside:
    """The text around quotations, given their spans in order."""

    def __init__(self, text: str, spans: Sequence[tuple[int, int]]) -> None:
        self._text = text
        self._starts = [start for start, _ in spans]
        self._ends = sorted(end for _, end in spans)

    def cited(self, start: int, end: int, source: str = "") -> str:
        """Return what is cited beside the quotation at a span; "" if nothing is.

        It stands after it in brackets, in a footnote, on the next line, behind a dash or a comma, or before it:
        ``Section 2 says: “…”``. ``source`` is the last line of a block quote, if that names one.
        """
        if source and (found := _cited_in(source.strip(" \t\n—–-"))):
            return found
        following = self._following(end)
        return (
            self._note(following)
            or _in_brackets(following)
            or self._on_next_line(start, following)[0]
            or _after_dash(following)
            or _after_comma(following)
            or self._before(start)
        )

    def _following(self, end: int) -> str:
        number = bisect_left(self._starts, end)
        stop = self._starts[number] if number < len(self._starts) else len(self._text)
        begin = self._begin(end)
        return self._text[begin : min(stop, begin + 10 * _LONGEST)]

    def _begin(self, end: int) -> int:
        # The closing mark of a block quote is the end of its line.
        return end - 1 if self._text[end - 1 : end] == "\n" else end

    def _note(self, following: str) -> str:
        note = _NOTE.match(following)
        if note is None:
            return ""
        said = re.search(rf"^[ \t]*\[\^{re.escape(note['name'])}\]:[ \t]*([^\n]+)", self._text, re.MULTILINE)
        return _cited_in(said[1]) if said else ""

    def below(self, start: int, end: int) -> int:
        """Return where a citation on the lines below a quotation ends, or else the quotation; titles may quote too."""
        begin = self._begin(end)
        said, length = self._on_next_line(start, self._text[begin : begin + 10 * _LONGEST])
        return begin + length if said else end

    def _on_next_line(self, start: int, following: str) -> tuple[str, int]:
        """Return the line below and its end, if the quotation has lines of its own; prose does not end with a place."""
        line_start = self._text.rfind("\n", 0, start) + 1
        found = _LINE_END.match(following)
        if found is None or not _QUOTE_MARKS.match(self._text[line_start:start]):
            return "", 0
        line = found["line"].strip().lstrip("—–- ")
        address = found["next"] and ADDRESS.search(found["next"])
        if address or ADDRESS.search(line):
            return _kept(f"{line} {address[0]}" if address else line, whole=True), found.end()
        return (_cited_in(line) if _ends_with_place(line) else ""), found.end("line")

    def _before(self, start: int) -> str:
        """Return what leads up to a quotation: ``Section 2 of the act provides that``."""
        number = bisect_left(self._ends, start + 1)
        begin = max(self._ends[number - 1] if number else 0, start - _LONGEST)
        before = self._text[begin:start].rstrip("> \t")
        places = find_places(before)
        if not places or not _SAYS.match(before, places[-1].end):
            return ""
        sentence = re.split(r"[.;!?]\s|\n\s*\n", before[: places[-1].start])[-1]
        if len(places) > 1 and places[-2].start >= places[-1].start - len(sentence):
            return ""
        if re.search(
            r"\b(?:unlike|not|nor|contrary|instead|anders|nicht|contrairement)\b", sentence, re.IGNORECASE
        ):
            return ""
        return _kept(_strip_saying(before[places[-1].start :]))


def _strip_saying(said: str) -> str:
    return re.split(
        r"\s(?:says?|states?|provides?|reads?|requires?|stipulates?|lautet|sagt|bestimmt|dispose|prévoit|establece|dice)\b|:\s*$",
        said,
    )[0]


def _in_brackets(following: str) -> str:
    at = 0
    # `(emphasis added) (Section 2)`
    for _ in range(2):
        bracket = _BRACKET.match(following, at)
        if bracket is None:
            return ""
        inside = _balanced(following, bracket.end(), bracket["open"])
        if inside is None:
            return ""
        if found := _cited_in(inside):
            return found
        at = bracket.end() + len(inside) + 1
    return ""


def _balanced(text: str, at: int, mark: str) -> str | None:
    """Return what stands in brackets from a position on."""
    depth = 1
    for end in range(at, min(len(text), at + _LONGEST)):
        depth += (text[end] == mark) - (text[end] == _CLOSES[mark])
        if not depth:
            return text[at:end]
    return None


def _after_dash(following: str) -> str:
    found = _DASH.match(following)
    return _cited_in(found["line"]) if found and _ends_with_place(found["line"]) else ""


def _after_comma(following: str) -> str:
    """Return the places that follow at once: ``“…”, Section 2(a) of a.md``."""
    begin = _COMMA.match(following)
    at = begin.end() if begin else 0
    text = following.split("\n", 1)[0][: at + _LONGEST]
    end = start = at
    spans = _spans(text)
    while span := next((span for span in spans if span[0] == at), None):
        end = span[1]
        further = _FURTHER.match(text, end)
        at = further.end() if further else len(text)
    return _kept(text[start:end]) if end > start else ""


def _cited_in(text: str) -> str:
    """Return a text if it says where something stands, and nothing about it: ``as Section 2 requires`` does more."""
    text = text.strip()
    spans = _spans(text)
    first = min((start for start, _ in spans), default=0)
    prose = (first > 0 and _PROSE.match(text) and "," not in text[:first]) or any(
        _PROSE_AFTER.match(text, end) for _, end in spans
    )
    return "" if prose or not spans else _kept(text)


def _kept(text: str, *, whole: bool = False) -> str:
    flat = " ".join(text.split())
    return flat if whole or len(flat) <= _LONGEST else ""


def _spans(text: str) -> list[tuple[int, int]]:
    """Return where a text names places, lines, pages or files."""
    found = [(place.start, place.end) for place in find_places(text)]
    for pattern in (LINES, PAGES, FILE, ID):
        found += [match.span() for match in pattern.finditer(text)]
    return sorted(found, key=lambda span: (span[0], -span[1]))


def _ends_with_place(text: str) -> bool:
    text = text.strip().strip("()[]")
    return any(_END.match(text, end) or _END.match(text + "]", end) for _, end in _spans(text))
