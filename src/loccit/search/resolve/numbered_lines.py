"""Bearing: lines with a requested number that no recognised place has.

No parser finds every place. Before reporting that there is no Section 4.1.2, the text is searched: a line that begins
with the number is very probably what was meant; a line that contains it may be. Likewise for a clause of a section, in
the text of that section.

Codes of letters and digits that standards use for their requirements (`V5.2`, `AC-2(1)`, `MASVS-CODE-4`) do not form
sequences that could be told apart from versions and part numbers, so no place is numbered by them. A heading that
begins with the requested code still counts as the place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from loccit.grammar.labels import LEAF_KINDS, Label, parse_heading
from loccit.grammar.labels.lexicon import lowered
from loccit.grammar.labels.numbers import CHINESE, chinese_value, raised_apart
from loccit.grammar.text.keys import title_key
from loccit.index.port.matching import TextSearch
from loccit.index.port.records import Records, StoredChunk, StoredPlace
from loccit.model import Lines, line_of

_MOST = 3
# `V5.2`, `R1.2a`, `AC-2(1)`, `MUST-3`, `MASVS-CODE-4`, `E2c+`
_CODE = re.compile(
    r"(?<![\w.\-/])(?=[A-Za-z])(?=[A-Za-z.\-]{1,24}\d)[A-Za-z0-9]{1,16}(?:[.\-][A-Za-z0-9]{1,16}){0,6}"
    r"(?:\([A-Za-z0-9]{1,3}\)){0,3}\+{0,2}(?![\w/])"
)

# Letters alone are a code if they are all that is asked for: `CP.par`.
_POINTED = re.compile(r"\A\s*([A-Z][A-Za-z]{0,15}(?:[._][A-Za-z]{1,16}){1,4})\s*\Z")


def find_codes(text: str) -> list[str]:
    """Return the codes in a query.

    >>> find_codes("what does V5.2 say about AC-2(1), and Section 4"), find_codes("CP.par")
    (['V5.2', 'AC-2(1)'], ['CP.par'])
    """
    alone = _POINTED.findall(text)
    return alone or list(dict.fromkeys(_CODE.findall(text)))[:_MOST]


def sections_with_code(code: str, lookup: Records, documents: Collection[int] | None) -> list[StoredPlace]:
    """Return the sections whose heading is a code, or a code followed by a title."""
    begins = re.compile(rf"\W{{0,6}}{re.escape(code)}(?![\w(+]|[.\-]\w)", re.IGNORECASE)
    found = lookup.places_by_first_words(title_key(code), documents)
    return [item for item in found if begins.match(item.place.heading)]


# -- lines of a section that begin with the number of a clause ------------------------------------------------


_LINE = re.compile(r"^.+$", re.MULTILINE)
_BEGINNING = 60  # characters of a line in which its numbers are looked for
_STYLE = re.compile(r"[*_`\\]")
_BRACKETED = re.compile(r"[(（][^()（）]{1,6}[)）]")
_COUNTED_IN_CHINESE = re.compile(rf"[\s>#|-]*[(（]?({CHINESE}{{1,4}})[)）]?[\s、.．]")
_WORD = re.compile(r"[^\W\d_]*[^\W\dA-Z_][^\W\d_]+|[^\W\d_]{4,}")


def clause_lines(label: Label, rest: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Return the lines, as spans of the text of a section, that begin with the number of one of its clauses.

    ``label`` names the section, and ``rest`` are the parts of the number that come after that of the section. Of
    several lines with the last part, those below one with the part before it are meant.
    """
    if has_points(label, rest):
        whole = replace(label, number=(*label.number, *rest))
        stands = _standing(whole, _written(whole))
        if found := [line.span() for line in _LINE.finditer(text) if _bears(line.group(), whole, stands)]:
            return found
    lines = [(line.span(), line.group()[:_BEGINNING]) for line in _LINE.finditer(text)]
    found = [span for span, line in lines if _begins_with(line, rest[-1])]
    if len(rest) > 1 and len(found) > 1 and (above := clause_lines(label, rest[:-1], text)):
        start = above[0][0]
        after = [span for span, line in lines if span[0] > start and _begins_with(line, _following(rest[-2]))]
        end = after[0][0] if after else len(text)
        found = [span for span in found if start <= span[0] < end] or found
    return found


def has_points(label: Label, rest: Sequence[str]) -> bool:
    """Whether the last part of a number is written after a point or hyphen: `4.10.1`, not `4(b)`."""
    return re.search(rf"[.\-‑–]{re.escape(rest[-1])}\W*\Z", label.text, re.IGNORECASE) is not None


def shown_line(line: str) -> str:
    """Return how a line begins, without its style."""
    plain = " ".join(_STYLE.sub("", line).lstrip(_MARKUP).split())
    return (
        plain
        if len(plain) <= _BEGINNING
        else f"{plain[:_BEGINNING].rpartition(' ')[0] or plain[:_BEGINNING]} …"
    )


def _begins_with(line: str, part: str) -> bool:
    """Whether a line begins with a number, alone or after others: `F15[(2)`, `**47.**—(1)`, `(2) (a)`."""
    plain = _STYLE.sub("", line)
    number = re.escape(part)
    for match in re.finditer(rf"[(（]\s?{number}\s?[)）]|(?<![\w.]){number}[.)](?!\d)", plain, re.IGNORECASE):
        if not _WORD.search(_BRACKETED.sub(" ", plain[: match.start()])):
            return True
    counted = _COUNTED_IN_CHINESE.match(plain)
    return counted is not None and str(chinese_value(counted[1])) == part


def _following(part: str) -> str:
    """The number after another."""
    if part.isdecimal():
        return str(int(part) + 1)
    return chr(ord(part) + 1) if len(part) == 1 and "a" <= part < "z" else part


# -- lines with a requested number that no recognised place has ----------------------------------------------


_MAX_CHUNKS = 50
# Of no more documents than this, the whole text is read for a line.
_FEW_DOCUMENTS = 5
_LATIN = r"(?:bis|ter|quater|quinquies|sexies|septies|octies|novies|decies)"
_LABELLED = re.compile(
    rf"(?P<word>§{{1,2}}|[^\W\d_]{{2,24}}\.?(?=\s))?\s{{0,3}}(?P<number>(?:[(（]?[^\W_]{{1,9}}(?:[.\-‑–/:^][^\W_]{{1,9}}|\s?[(（][^\W_]{{1,4}}[)）]"
    rf"|\s{_LATIN}(?!\w)|[⁰¹²³⁴-⁹])*[)）]?))\.?(?:\s(?P<after>[^\W\d_]{{3,24}}))?",
    re.IGNORECASE,
)
_RAISED, _RAISE = re.compile(r"\^(\d+)"), str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SIGNS = {
    ".": r"\\?\.",
    " ": r"\s?",
    "(": r"\s?[(（]\s?",
    ")": r"\s?[)）]",
    "^": "^",
    **dict.fromkeys("-‑–", "[-‑–]"),
}
_MOST_OF_ONE = 5  # lines of one chunk
# Length of the excerpt of a chunk that is shown for a line.
_SHOWN = 1500
_MARKUP = " \t>#*_|\\-"
_LABEL = 120  # characters of a line that are read for its label
_NUMBER = re.compile(r"[^\W_]*\d[\w.()\-‑–]*")
# A line of a table of contents: `4.1.2 Payment ........ 17`.
_CONTENTS = re.compile(r"(?:\.[ .]{2,}|\s{3,})\d{1,4}\s*\Z")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Line:
    """A line with a number: its span in the chunk to show; ``first``: the line begins with the number.

    ``alike``: the line has the requested word, or its document does not number places with that word.
    """

    chunk: StoredChunk
    start: int
    end: int
    lines: Lines
    first: bool
    alike: bool = True

    @property
    def contents(self) -> bool:
        """Whether it is a line of a table of contents."""
        return _CONTENTS.search(self.chunk.content[self.start : self.end].partition("\n")[0]) is not None


def lines_bearing(
    label: Label, lookup: Records, text: TextSearch, documents: Collection[int] | None
) -> tuple[list[Line], bool]:
    """Return lines that contain a label's number, those that begin with it first.

    Also returns whether all passages with that number were looked at.
    """
    if (
        documents is not None
        and len(documents) <= _FEW_DOCUMENTS
        and (begin := lines_begun(label, lookup, documents))
    ):
        return begin, True
    written = _written(label)
    asked = dict.fromkeys([label.text] if label.kind not in LEAF_KINDS else [label.text, written])
    having = [text.phrase(form, limit=_MAX_CHUNKS, documents=documents) for form in asked]
    hits = [chunk for found, _ in having for chunk, _ in found]
    all_seen = all(total <= len(found) for found, total in having)
    stored = lookup.chunks(list(dict.fromkeys(hits)))
    stands = _standing(label, written)
    # Where articles are printed as `Article 12`, a line that begins with `(120)` is not one.
    worded = (
        lookup.documents_with_kind(label.kind, {chunk.document for chunk in stored.values()})
        if label.kind
        else set()
    )
    found: list[Line] = []
    for chunk in sorted(stored.values(), key=lambda one: (one.source_path, one.start)):
        lines = _LINE.finditer(chunk.content, chunk.prefix)
        begins = [line for line in lines if _bears(line.group(), label, stands)]
        for line in begins[:_MOST_OF_ONE]:
            bare = chunk.document in worded and not _has_kind(line.group(), label)
            found.append(replace(_line(chunk, line.start(), lookup, first=True), alike=not bare))
        if begins:
            continue
        if match := stands.search(chunk.content, chunk.prefix):
            found.append(_line(chunk, chunk.content.rfind("\n", 0, match.start()) + 1, lookup, first=False))
    return sorted(found, key=lambda line: (not line.first, not line.alike, line.contents)), all_seen


def lines_begun(label: Label, lookup: Records, documents: Collection[int]) -> list[Line]:
    """Return the lines, table cells among them, of a few documents that begin with a number, as it is printed."""
    number, word = printed_number(label.text)
    weak = number.isdecimal() or (number.isalpha() and number.isascii())
    begins = _beginning(number, weak)
    spans = [
        (
            stored.document,
            text.rfind("\n", 0, match.start("number")) + 1,
            match.end("number"),
            match["word"] or "",
        )
        for stored in lookup.texts(documents)
        for text in [stored.text]
        for match in islice(begins.finditer(text, stored.body_start), _MAX_CHUNKS)
    ]
    holding = lookup.chunks_holding([span[:3] for span in spans])
    stored = lookup.chunks({chunk for held in holding.values() for chunk in held[:1]})
    worded = lookup.documents_with_kind(label.kind, documents) if label.kind else set()
    bare = sum(not said for *_, said in spans)

    def alike(document: int, said: str, line: str) -> bool:
        if said:
            printed, _ = parse_heading(line)
            same = lowered(said).rstrip(". ") == word or (
                printed is not None and printed.kind == label.kind != ""
            )
            return same or not (word or weak)
        if not word or not weak:
            # Hardly anything else is numbered `35/A`.
            return document not in worded or not (weak or number.replace(".", "").isdecimal())
        # `Goal 4` is not item 4, unless nothing else is.
        return (label.kind in LEAF_KINDS - {""} and document not in worded) or (not label.kind and bare == 1)

    lines = []
    for document, start, end, said in dict.fromkeys(spans):
        held = holding.get((document, start, end)) or []
        if held and held[0] in stored:
            line = line_at(stored[held[0]], start, lookup)
            shown = line.chunk.content[line.start : line.end].partition("\n")[0][:_LABEL].lstrip(_MARKUP)
            lines.append(replace(line, alike=alike(document, said, shown)))
    return sorted(lines, key=lambda line: (not line.alike, line.contents))


def printed_number(text: str) -> tuple[str, str]:
    """Return the number of a label as it is written there, and the word beside it, in lower case.

    >>> printed_number("Section II"), printed_number("12 straipsnis"), printed_number("Art. 220 bis")
    (('II', 'section'), ('12', 'straipsnis'), ('220 bis', 'art'))
    """
    match = _LABELLED.fullmatch(text.strip())
    if match is None:
        return text.strip(), ""
    return match["number"], lowered(match["word"] or match["after"] or "").rstrip(".")


def _beginning(number: str, weak: bool) -> re.Pattern[str]:
    """Pattern for lines that begin with a number; a plain one must be marked as a label: lines of text begin so too."""
    exactly = "".join(_SIGNS.get(sign) or re.escape(sign) for sign in raised_apart(number.rstrip(".")))
    exactly = _RAISED.sub(
        lambda match: rf"(?:\^{match[1]}\^?|<sup>\s?{match[1]}\s?</sup>|{match[1].translate(_RAISE)})",
        exactly,
    )
    marked = r"(?=[*_\s]{0,3}(?:\\?[.):：、．\]–—|-]|$)|\s+(?-i:[^\W\d_a-zß-ÿ]))" if weak else ""
    letters = number.isalpha() and number.isascii()
    if letters:
        exactly, marked = f"(?-i:{exactly})", r"(?=[*_]{0,3}\s?(?:\\?[.):：\]–—|]|$))"
    return re.compile(
        r"(?:^|\|)(?:[ \t>#*_\"“„«(（\[•·●▪◦+-]|<[^>\n]{1,200}>){0,24}"
        r"(?P<word>§{1,2}\s?|[^\W\d_]{2,24}\.?[ \t]{1,3})?"
        rf"(?P<number>{exactly})(?![^\W_]|[.\-‑–/^(:]\w|[⁰¹²³⁴-⁹]|<sup){marked}",
        re.IGNORECASE | re.MULTILINE,
    )


def line_at(chunk: StoredChunk, offset: int, lookup: Records) -> Line:
    """Return the line of a chunk that begins at an offset of its document."""
    return _line(chunk, chunk.prefix + max(0, offset - chunk.start), lookup, first=True)


def _written(label: Label) -> str:
    """The number of a label, as it was asked for."""
    number = _NUMBER.search(label.text)
    return number.group().rstrip(".") if number else label.text


def _has_kind(line: str, asked: Label) -> bool:
    """Whether a line has a word for its kind, or needs none."""
    start = line[:_LABEL].lstrip(_MARKUP)
    printed, _ = parse_heading(start)
    worded = printed is not None and bool(printed.kind) and printed.key == asked.key
    return worded or _starts_with_number(start, asked)


def _bears(line: str, asked: Label, stands: re.Pattern[str]) -> bool:
    """Whether a line begins with a label: as a heading would, or with the exact number, with or without the kind."""
    start = line[:_LABEL].lstrip(_MARKUP)
    if stands.match(start) or _starts_with_number(start, asked):
        return True
    printed, _ = parse_heading(start)
    leaves = {asked.kind, printed.kind} <= LEAF_KINDS if printed else False
    return printed is not None and printed.key == asked.key and (leaves or printed.kind == asked.kind)


def _starts_with_number(line: str, asked: Label) -> bool:
    """Whether a line begins with a number that hardly anything else has: `13AA Records`."""
    if asked.kind not in LEAF_KINDS or len(asked.number) > 1 or asked.key.isdecimal():
        return False
    return re.match(rf"{re.escape(asked.key)}(?![\w(]|[.\-‑–]\w)", line, re.IGNORECASE) is not None


def _standing(label: Label, written: str) -> re.Pattern[str]:
    """Pattern for a label as written; a number with dots, which is rarely anything else, also matches alone."""
    alone = label.kind in LEAF_KINDS and len(label.number) > 1
    text = r"\s{1,3}".join(map(re.escape, (written if alone else label.text).split()))
    return re.compile(rf"(?<![^\W_])(?<!\d[.,]){text}(?![^\W_]|[.\-‑–]?\d|%)", re.IGNORECASE)


def _line(chunk: StoredChunk, start: int, lookup: Records, *, first: bool) -> Line:
    start = max(start, chunk.prefix)
    end = min(len(chunk.content), start + _SHOWN)
    if blank := _BLANK_LINE.search(chunk.content, start + 1, end):
        end = blank.start()
    own = chunk.content[chunk.prefix :]
    lead = len(own) - len(own.lstrip())
    starts, begin = lookup.line_starts(chunk.document), chunk.start + lead
    first_line, last_line = (
        line_of(starts, own[lead:], begin, chunk.lines.first, chunk.start + at - chunk.prefix)
        for at in (start, end)
    )
    return Line(chunk, start, end, Lines(first_line, last_line), first)
