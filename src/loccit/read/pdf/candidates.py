"""Possible headings: larger, bolder, in capitals, or labelled (`Article 5`, `SEC. 203.`, `4.2.1 Title`)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeGuard

from loccit.grammar.labels.lexicon import load, lowered, one_of
from loccit.grammar.labels.model import CONTAINERS, LEAF_KINDS, depth, rank
from loccit.read.pdf.page import HYPHEN, Heading, Item, Line

# Full words for independent parts: an abbreviation, or a paragraph, may begin any line.
_KINDS = {
    word: form.kind
    for word, form in load().forms.items()
    if (form.kind in CONTAINERS or (form.kind in LEAF_KINDS and depth(form.kind) < 2))
    and (word == "sec" or (not form.stop and (len(word) > 3 or not word.isascii())))
    and not (form.plural or form.only_text)
} | {"subsection": "subsection"}
_WORDS = one_of(word for word in _KINDS if word[0] != "§")
# A number without a word ranks below all kinds.
_BARE_RANK = rank("")
_NUMBER = r"(?:\d+[A-Za-z]?(?:[.\-–]\d+[A-Za-z]?)*|[IVXLCDM]+|[A-Z])"
_LABEL = re.compile(
    rf"(?P<word>{_WORDS}|§{{1,2}})\.?\s*(?P<number>{_NUMBER}|one|two|three|four|five|six|seven|eight|nine|ten)"
    r"(?P<end>(?=[^\w])|$)",
    re.I,
)
_DECIMAL = re.compile(r"(?P<number>(?:\d{1,3}|[A-Z])(?:\s?\.\s?\d{1,4}){1,5}(?:-\d{1,3}){0,3})\s?\.?(?=\s|$)")
_SIMPLE = re.compile(r"(?P<number>\d{1,3}|[IVX]{1,6}|[A-Z])\s?[.)]\s+(?=\S)")
_GLUED = re.compile(r"(\d{1,3}(?:\.\d{1,3})*\.|[IVX]{1,6}\.)(?=[A-Z][a-z]{2})")
_BARE = re.compile(r"(?P<number>\d{1,2})\s+(?=[A-Z][a-z]|[A-Z]{2})")
_WORDED = re.compile(
    r"(?P<word>(?!(?:This|The|See|In|Under|Of|And|Or|From|To|Per)\b)[A-Z][A-Za-z]{1,14}(?: [A-Z][A-Za-z]{1,14})?)\s+"
    r"(?P<number>(?:\d{1,3}|[A-Z])(?:\s?\.\s?\d{1,3}){1,5})\s?[.:]?(?=\s|$)"
)
_CAPTION = re.compile(
    r"(?:table|figure|fig|exhibit|chart|graph|box|map|photo|plate|equation|listing|image|illustration)s?\.?\s*"
    r"(?:[A-Z]{0,2}[\d]+|[IVX]+\b|[A-Z]\b)",
    re.I,
)


class Label(NamedTuple):
    """A label at the start of a line. ``rank`` orders kinds, ``depth`` counts the parts of its number."""

    kind: str
    number: str
    depth: int
    rank: int
    length: int
    """The number of characters it takes in the line."""


def find_label(text: str) -> Label | None:
    """The label that a line starts with."""
    if text[:1].islower():
        return None
    if match := _LABEL.match(text):
        word = " ".join(lowered(match["word"]).split())
        number = match["number"]
        if len(number) == 1 and number.islower():
            return None
        kind = "section" if word[0] == "§" else _KINDS[word]
        return Label(kind, number, _depth(number), rank(kind), match.end())
    if match := _DECIMAL.match(text):
        return _numbered("#", match["number"], match.end())
    if match := _WORDED.match(text):
        return _numbered(match["word"].lower(), match["number"], match.end())
    if match := _SIMPLE.match(text) or _BARE.match(text):
        return _numbered("#", match["number"], match.end())
    return None


def _numbered(kind: str, number: str, end: int) -> Label:
    number = re.sub(r"\s", "", number)
    return Label(kind, number, _depth(number), _BARE_RANK, end)


def _depth(number: str) -> int:
    return 1 + len(re.findall(r"[.\-–]\d", number))


def is_strong(label: Label | None) -> bool:
    """Whether a label makes a heading in any type: a legal term and a number."""
    return label is not None and label.rank < _BARE_RANK


def is_caption(text: str) -> bool:
    """Whether a line captions a table or figure."""
    return bool(_CAPTION.match(text))


_LIST = re.compile(
    r"[○◦▪■□▫–—➢➤►✓✔❖-]\s+\S|[•●‣⁃∙·]\s*\S|o\s+[A-Z\d\"“]|"
    r"\((?:[a-z]{1,3}|[A-Z]|\d{1,3}|[ivx]{1,6})\)\s?|(?:\d{1,3}|[a-z]|[ivx]{2,5})[.)]\s+\S|"
    r"\d{1,2}(?:\.\d{1,2}){1,4}\.?\s+\S|\[\^\w+\]\s"
)


_LETTERED = re.compile(r"\(?(?:[a-z]|[ivx]{1,5}|\d{1,2})\)\s+[^\W\d_]")


def is_lettered(text: str) -> bool:
    """Whether a line begins with a letter or number and a bracket: an item, or where it is set off, a heading."""
    return bool(_LETTERED.match(text))


_PRIVATE = frozenset(("Co", "Cc"))
"""Categories of the codes that symbol fonts have for their bullets. Other signs may adorn a title."""


def starts_item(text: str) -> bool:
    """Whether a line starts a list item or a lettered or numbered clause."""
    return bool(_LIST.match(text)) or any(unicodedata.category(sign) in _PRIVATE for sign in text[:1])


_NOTE = re.compile(r"\[\^[^\]]*\]")
_ALPHANUMERIC = re.compile(r"[^\W_]+")


def normal(text: str) -> str:
    """Letters and digits only, in lower case: what two spellings of a title have in common."""
    text = unicodedata.normalize("NFKC", _NOTE.sub("", text.replace(HYPHEN, ""))).lower()
    return "".join(_ALPHANUMERIC.findall(text))


# -- the way lines are set -----------------------------------------------------------------------------------

_LONGEST = 260
_MOST_WORDS = 40
_MOST_LINES = 6
_NEARLY = 0.6
_TITLE = 4.0
"""Points above the text from which a colon joins a subtitle to a title."""
_MOSTLY = 0.75
_PAGE_OF_TEXT = 1000
_PARAGRAPH = 3
"""So many full lines in the usual type are the text of a page, however much it quotes in smaller type."""
_FULL, _WORDS_OF_TEXT = 0.7, 6
_FILLED, _TIGHT = 0.12, 1.2
"""The part of its column that a line of a paragraph leaves free at most, and its distance, in usual ones."""
NEAR = 1.6
"""Looks up to this many points above the body size must prove themselves."""
_STOPS = frozenset('.;:!?”"')
_NO_START = frozenset("*+-=/<>|&%,;.!?©")
_HANGING = re.compile(r"\b(?:and|or|the|of|a|an|with|by|that|which)$")
_APART = 2.4
"""Sizes between lines that are one heading even so, because the first of them ends in such a word."""
_STATEMENT = re.compile(
    r"(?:theorem|lemma|corollary|proposition|definition|remark|example|proof|claim|conjecture|axiom|algorithm)\b"
    r"(?:\s*[\dA-Z][\d.]*)?\s*[.:(]",
    re.I,
)
"""A numbered statement in a mathematical text, which is typeset like a heading but is none."""
_SENTENCES = re.compile(r"[^\W\d_]{3}[.?!]\s+[A-Z]")
"""The end of a sentence within a title: text follows."""
_WORD = re.compile(r"[^\W\d_]{3}|[^\W\d_\x00-\u2e7f]")
"""A word: three letters, or one of a script with larger ones. What has none is part of a formula or figure."""
_ADDRESS = re.compile(r"https?:/|www\.|\S+@\S+\.\w+")
_BLANK = re.compile(r"(?:[_.…]\s?){5}")
"""What is left to be filled in, in a form."""
_DATE = re.compile(
    r"(?:(?:\d{1,2}\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(?:\d{1,2},?\s+)?\d{4}"
    r"|\d{1,2}[./]\d{1,2}[./]\d{2,4})$",
    re.I,
)


class Body(NamedTuple):
    """How the body text of a document is typeset."""

    size: float
    bold: bool
    font: int
    letters: int
    """Number of letters in the document."""
    pitch: float
    """Distance between baselines, relative to the type size."""
    smaller: Mapping[int, float] = {}
    """The size of the text on pages where it is smaller, as in the conditions of a contract."""

    def at(self, page: int) -> Body:
        """The body text of a page."""
        return self._replace(size=self.smaller[page]) if page in self.smaller else self


class Look(NamedTuple):
    """What headings of one kind have in common."""

    size: float
    bold: bool
    italic: bool
    caps: bool


@dataclass(slots=True)
class Candidate:
    """A run of lines that may be a heading; ``first`` and ``last`` are positions in the flow."""

    first: int
    last: int
    lines: list[Line]
    text: str
    look: Look
    label: Label | None
    big: bool
    tail: Line | None = None
    """The text after the heading on the same line, if it is a run-in heading."""
    listed: bool = False
    """A contents page lists it."""

    @property
    def page(self) -> int:
        """Its page."""
        return self.lines[0].page


def find_body(lines: Iterable[Line]) -> Body:
    """The body text: the size of most letters."""
    sizes: Counter[float] = Counter()
    bold: Counter[float] = Counter()
    fonts: Counter[int] = Counter()
    steps: Counter[float] = Counter()
    by_page: dict[int, Counter[float]] = defaultdict(Counter)
    filled: Counter[tuple[int, float]] = Counter()
    before: Line | None = None
    for line in lines:
        if line.contents:
            continue
        by_page[line.page][line.size] += len(line.text)
        filled[line.page, line.size] += is_full(line)
        for span in line.spans:
            sizes[span.style.size] += len(span.text)
            fonts[span.style.font] += len(span.text)
            if span.style.bold:
                bold[span.style.size] += len(span.text)
        if (
            before is not None
            and before.page == line.page
            and before.block == line.block
            and before.size == line.size
        ):
            step = round((line.base - before.base) / max(line.size, 1), 1)
            if 0.9 < step < 2.5:
                steps[step] += 1
        before = line
    if not sizes:
        return Body(10.0, False, 0, 0, 1.2)
    size = max(sizes, key=lambda s: sizes[s])
    pitch = max(steps, key=lambda s: steps[s]) if steps else 1.2
    font = max(fonts, key=lambda f: fonts[f])
    smaller = {}
    for page, counts in by_page.items():
        usual, letters = counts.most_common(1)[0]
        if (
            usual < size - _NEARLY
            and letters > max(_PAGE_OF_TEXT, _MOSTLY * counts.total())
            and filled[page, size] < _PARAGRAPH
        ):
            smaller[page] = usual
    return Body(size, bold[size] > 0.6 * sizes[size], font, sum(sizes.values()), pitch, smaller)


def is_full(line: Line) -> bool:
    """Whether a line is as long as those of text."""
    wide = line.x1 - line.x0 > _FULL * (line.right - line.left)
    return wide and line.text.count(" ") + 1 >= _WORDS_OF_TEXT


def find_candidates(flow: Sequence[Item | Heading], body: Body, listed: Mapping[int, int]) -> list[Candidate]:
    """Every run of lines in the flow that is typeset like a heading or listed as one, with their lines joined."""
    found: list[Candidate] = []
    position = 0
    while position < len(flow):
        line = flow[position]
        here = body.at(line.page) if body.smaller else body
        if position in listed and starts_paragraph(flow, position, body):
            last = listed[position]
            found.append(_made(flow, position, last, here, listed=True))
            position = last + 1
        elif isinstance(line, Line) and _prominent(line, here):
            last = _end(flow, position, here)
            candidate = _candidate(flow, position, last, here)
            if candidate is not None:
                _add_title(candidate, flow, here)
                found.append(candidate)
                last = candidate.last
            position = last + 1
        else:
            position += 1
    return found


def _add_title(candidate: Candidate, flow: Sequence[Item | Heading], body: Body) -> None:
    """Join `Article 5` and the title on the line below it."""
    label = candidate.label
    if not is_strong(label) or label is None or candidate.text[label.length :].strip(" .:"):
        return
    above = candidate.lines[-1]
    position = candidate.last + 1
    line = flow[position] if position < len(flow) else None
    if not isinstance(line, Line) or line.page != above.page or line.block != above.block or line.contents:
        return
    if (
        line.base - above.base > 2.4 * max(line.size, above.size)
        or find_label(line.text)
        or starts_item(line.text)
    ):
        return
    last = _end(flow, position, body) if _prominent(line, body) else position
    lines = [i for i in flow[position : last + 1] if isinstance(i, Line)]
    middle = (above.left + above.right) / 2
    centred = all(abs((i.x0 + i.x1) / 2 - middle) < 8 and i.x0 > i.left + 12 for i in (above, *lines))
    if not (centred or _prominent(line, body) or line.style.italic):
        return
    text = join_heading(lines)
    if len(text.split()) > 25 or text[0].islower() or text[-1] in ".;,:" or is_caption(text):
        return
    candidate.lines.extend(lines)
    candidate.last = last
    candidate.text = f"{candidate.text} {text}"


def look_of(lines: Sequence[Line]) -> Look:
    """The look of a run of lines: that of most letters; capitals only if all are."""
    weight: Counter[tuple[float, bool, bool]] = Counter()
    for line in lines:
        weight[line.style.size, line.style.bold, line.style.italic] += len(line.text)
    size, bold, italic = max(weight, key=lambda k: weight[k])
    return Look(size, bold, italic, is_caps(" ".join(line.text for line in lines)))


def is_caps(text: str) -> bool:
    """Whether a line is set in capitals."""
    if not any(map(str.isupper, text[:4])) or text[-12:].islower():
        return False
    letters = sum(map(str.isalpha, text))
    return letters >= 4 and sum(map(str.isupper, text)) >= 0.9 * letters


def _bold_share(line: Line) -> float:
    total = sum(len(s.text) for s in line.spans)
    return sum(len(s.text) for s in line.spans if s.style.bold) / max(total, 1)


def _prominent(line: Line, body: Body) -> bool:
    if line.contents or not line.alone:
        return False
    if line.size >= body.size + 0.9:
        return True
    if line.style.bold and not body.bold and line.size >= body.size - 1.6 and _bold_share(line) > 0.9:
        return True
    if line.size < body.size - 0.6:
        return False
    if is_caps(line.text):
        return True
    label = find_label(line.text)
    if label is None:
        return False
    return is_strong(label) or label.depth >= 2 or _is_set_apart(line, body)


def _is_set_apart(line: Line, body: Body) -> bool:
    """Whether a numbered line of the size of the text is centred, italic or in another font, as in papers."""
    if all(s.style.font != body.font for s in line.spans):
        return True
    italic = sum(len(s.text) for s in line.spans if s.style.italic)
    if italic > 0.7 * len(line.text):
        return True
    middle = (line.left + line.right) / 2
    return abs((line.x0 + line.x1) / 2 - middle) < 8 and line.x0 > line.left + 24


def _end(flow: Sequence[Item | Heading], start: int, body: Body) -> int:
    """The last line of a heading that starts here."""
    first = flow[start]
    assert isinstance(first, Line)
    caps = is_caps(first.text)
    bold = _bold_share(first) > 0.9
    last = start
    if not bold and not caps and first.size < body.size + 0.9:
        return _end_of_paragraph(flow, start, body)
    while last + 1 < len(flow):
        line, before = flow[last + 1], flow[last]
        if not isinstance(line, Line) or not isinstance(before, Line) or not _prominent(line, body):
            break
        gap = line.base - before.base
        if (
            line.page != first.page
            or line.block != first.block
            or abs(line.size - first.size) > 0.6
            or not (
                0 < gap <= (_APART if _HANGING.search(before.text) else 1.45) * max(line.size, first.size)
                or (is_full(before) and _is_filled(before) and _is_next(before, line, body))
            )
            or is_caps(line.text) != caps
            or find_label(line.text) is not None
            or starts_item(line.text)
            or (_bold_share(line) > 0.9) != bold
            or line.spans[0].style.colour != before.spans[-1].style.colour
            or (before.text.endswith(":") and first.size < body.size + _TITLE)
        ):
            break
        last += 1
    return last


def _end_of_paragraph(flow: Sequence[Item | Heading], start: int, body: Body) -> int:
    """The last line of a labelled title in body type, which may fill lines like a paragraph."""
    last = start
    while last + 1 < len(flow) and last - start < _MOST_LINES:
        line, before = flow[last + 1], flow[last]
        if not isinstance(line, Line) or not isinstance(before, Line):
            break
        if not _is_filled(before) or not _is_next(before, line, body):
            break
        if abs(line.size - before.size) > 0.6 or find_label(line.text) or starts_item(line.text):
            break
        last += 1
    return last


def _made(
    flow: Sequence[Item | Heading], first: int, last: int, body: Body, listed: bool = False
) -> Candidate:
    lines = [i for i in flow[first : last + 1] if isinstance(i, Line)]
    text, look = join_heading(lines), look_of(lines)
    big = look.size >= body.size + 0.9
    return Candidate(first, last, lines, text, look, find_label(text), big, listed=listed)


def _candidate(flow: Sequence[Item | Heading], first: int, last: int, body: Body) -> Candidate | None:
    made = _made(flow, first, last, body)
    if not _plausible(made.text, made.label, made.look, made.big, made.lines):
        return None
    set_off = made.big or made.look.bold
    if (not set_off or made.text[0].islower()) and not starts_paragraph(flow, first, body):
        # In body type, only space or the end of a sentence sets a heading apart.
        return None
    return None if _in_paragraph(flow, made, body) else made


def _in_paragraph(flow: Sequence[Item | Heading], made: Candidate, body: Body) -> bool:
    """Whether the line above or below is of the same sentence: words emphasised in a paragraph are no title."""
    if made.look.size >= body.size + NEAR:
        return False
    above = flow[made.first - 1] if made.first else None
    below = flow[made.last + 1] if made.last + 1 < len(flow) else None
    first, last = made.lines[0], made.lines[-1]
    if _is_next(above, first, body) and _is_filled(above) and above.text[-1] not in _STOPS:
        return above.size < body.size + NEAR and not above.style.bold
    if not isinstance(below, Line) or not _is_next(last, below, body) or starts_item(below.text):
        return False
    if made.look.bold and below.spans[0].style.bold and _bold_share(below) <= 0.9:
        # The bold words of a paragraph go on in its next line.
        return _is_filled(last)
    return below.text[0].islower() and (_is_filled(last) or not (made.big or made.look.bold))


def _is_next(line: Item | Heading | None, below: Item | Heading | None, body: Body) -> TypeGuard[Line]:
    """Whether two lines are as near to each other as those of a paragraph."""
    if not isinstance(line, Line) or not isinstance(below, Line):
        return False
    if line.page != below.page or line.block != below.block or line.contents:
        return False
    return 0 < below.base - line.base <= _TIGHT * body.pitch * max(line.size, below.size)


def _is_filled(line: Line) -> bool:
    """Whether a line leaves no room for the word that follows it."""
    return line.x1 > line.right - _FILLED * (line.right - line.left)


def starts_paragraph(flow: Sequence[Item | Heading], position: int, body: Body) -> bool:
    """Whether a line begins something: there is space above it, or what is above is complete."""
    line, before = flow[position], flow[position - 1] if position else None
    if not isinstance(line, Line) or not isinstance(before, Line):
        return True
    if before.page != line.page or before.block != line.block:
        return before.text[-1:] in _STOPS or before.x1 < before.right - 0.2 * (before.right - before.left)
    if (line.base - before.base) / max(line.size, 1.0) >= 1.25 * body.pitch:
        return True
    return before.text[-1:] in _STOPS or before.x1 < before.right - 0.35 * (before.right - before.left)


def join_heading(lines: Sequence[Line]) -> str:
    """The text of a heading over several lines."""
    text = lines[0].text
    for line in lines[1:]:
        text = text[:-1] + line.text if text.endswith(HYPHEN) else f"{text} {line.text}"
    text = " ".join(text.replace(HYPHEN, "-").replace("\u00ad", "").split())
    return _GLUED.sub(r"\1 ", text, count=1) if _GLUED.match(text) else text


def _plausible(text: str, label: Label | None, look: Look, big: bool, lines: Sequence[Line]) -> bool:
    rest = text[label.length :].strip() if label else text
    letters = sum(c.isalpha() for c in rest)
    words = text.split()
    if len(text) > _LONGEST or len(words) > _MOST_WORDS:
        return False
    if (letters < 2 or letters < 0.4 * len(rest.replace(" ", ""))) and not is_strong(label):
        return False
    if text[0] in _NO_START or text[-1] in ",;" or _HANGING.search(text):
        return False
    if (
        is_caption(text)
        or _ADDRESS.search(text)
        or _BLANK.search(text)
        or _DATE.match(text)
        or _STATEMENT.match(text)
    ):
        return False
    lettered = look.bold and is_lettered(text) and text[-1] not in ".:"
    if label is None and starts_item(text) and not lettered:
        return False
    if not lettered and any(rest.endswith(end) and begin not in rest for begin, end in ("()", "[]")):
        # The end of a sentence that refers to something.
        return False
    if not (_WORD.search(rest) or is_strong(label) or (look.bold and (label or not text[0].isdigit()))):
        return False
    if text[0].islower() and not (lettered or (big and _WORD.search(text))):
        return False
    if text[0] == "[" and text[-1] == "]":
        # An editor's note.
        return False
    if (label is None or not big) and len(words) > (20 if big else 12) and _SENTENCES.search(rest):
        return False
    if len(lines) > _MOST_LINES:
        return False
    if not big and not look.bold and len(lines) > 3:
        return False
    if text[-1] in ".!?" and not text.endswith("..."):
        most = 12 if look.bold or look.caps or is_strong(label) else 0
        if label is not None and (big or look.bold):
            most = 30
        if len(rest.split()) > most and rest != ".":
            return False
    if big or look.bold or look.caps:
        return True
    return _titled(rest, is_strong(label), lines)


def _titled(rest: str, strong: bool, lines: Sequence[Line]) -> bool:
    """In body type, a label must be followed by something like a title and nothing else."""
    title = rest.strip(" .:—–")
    if not title:
        return True
    if _SENTENCES.search(title):
        return False
    if title[0].islower() or len(title.split()) > (30 if strong else 14):
        return False
    if rest[-1] in ".:;,":
        first = lines[0]
        return strong and len(lines) == 1 and first.x1 < first.right - 0.15 * (first.right - first.left)
    return strong or len(lines) == 1
