"""Links and names: Markdown and wiki links, headings named in the text, and the spans to exclude.

``see Payment Terms`` and ``pursuant to the Force Majeure clause`` are matched against the headings. Code, headings and
tables of contents contain no references.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import PurePath
from urllib.parse import unquote

from loccit.extract.references.items import S1, SEE
from loccit.extract.references.places import Places, inside
from loccit.grammar.labels.model import CONTAINERS
from loccit.grammar.text.keys import title_key
from loccit.model import Place, Reference
from loccit.structure import Parsed

_CONTENTS = frozenset(
    {"contents", "table of contents", "toc", "inhalt", "inhaltsverzeichnis", "inhaltsubersicht", "sommaire"}
    | {"table des matieres", "indice", "on this page", "list of sections"}
)
_CODE = re.compile(r"(?<!`)`[^`\n]{1,200}`(?!`)")
_TAG = re.compile(r"</?[a-z][a-z0-9]{0,10}(?:\s[^<>\n]{0,300})?>")
_LISTED = re.compile(r"(?:[-*+•–]|\(?\w{1,4}[.)])\s")
_FENCE = re.compile(r"[ \t>]*(?:```|~~~)")
_EXTERNAL = re.compile(r"[A-Za-z][\w+.-]*:|//")
_MAX_LINE = 400
_LONGEST_HEAD, _MOST_NAMED = 20_000, 100


def is_external(target: str) -> bool:
    """Whether a link leaves the library: it has a scheme or a host."""
    return bool(_EXTERNAL.match(target))


class Masks:
    """Merged spans of a text, queried by offset."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            elif start < end:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, offset: int) -> bool:
        index = bisect_right(self._starts, offset) - 1
        return index >= 0 and offset < self._ends[index]


def find_masks(parsed: Parsed, sections: Sequence[Place]) -> tuple[Masks, Masks]:
    """Return the tables of contents of a document, and all spans that are not read for references."""
    contents = list(_contents(parsed, sections))
    return Masks(contents), Masks([*contents, *_text_spans(parsed)])


_IDENTIFIER = re.compile(r"[A-Z]{2,}\d{4,}|\d{5,}")


def linked_elsewhere(parsed: Parsed) -> Masks:
    """The external links of a document that states its own identifier, without those whose address has it.

    What they name is a place of what they lead to.
    """
    own = {one for value in parsed.metadata.values() for one in _IDENTIFIER.findall(str(value)[:_MAX_LINE])}
    links = parsed.links if own else ()
    return Masks(
        (link.start, link.end)
        for link in links
        if is_external(link.target)
        and _IDENTIFIER.search(link.target)
        and not any(map(link.target.__contains__, own))
    )


def _text_spans(parsed: Parsed) -> Iterator[tuple[int, int]]:
    text = parsed.text
    yield 0, parsed.body_start
    for block in parsed.blocks:
        if block.kind == "heading" or (block.kind == "code" and _is_code(text, block.start)):
            yield block.start, block.end
    for heading in parsed.headings:
        yield heading.start, heading.body
    for link in parsed.links:
        shown = text.find("](", link.start, link.end)
        # The words of an external link are read like others: `[10 U.S.C. 3806](https://…)`.
        outside = shown > 0 and link.kind == "markdown" and is_external(link.target)
        yield (shown if outside else link.start), link.end
    if "`" in text:
        yield from (match.span() for match in _CODE.finditer(text))
    if "<" in text:
        yield from (match.span() for match in _TAG.finditer(text))


def _is_code(text: str, start: int) -> bool:
    """Whether a block of code is one: deep indentation below a list, as in statutes, continues the list."""
    if _FENCE.match(text, start):
        return True
    above = text[max(0, start - _MAX_LINE) : start].rstrip()
    line = above[above.rfind("\n") + 1 :]
    return not line[:1].isspace() and not _LISTED.match(line)


def _contents(parsed: Parsed, sections: Sequence[Place]) -> Iterator[tuple[int, int]]:
    text = parsed.text
    for section, after in zip_longest(sections, sections[1:]):
        if section.heading and title_key(section.title or section.heading) in _CONTENTS:
            yield section.start, after.start if after else section.end
    for entry in parsed.contents:
        end = text.find("\n", entry.start)
        yield parsed.position.line_start(entry.start), end if end > 0 else len(text)


# -- links ---------------------------------------------------------------------------------------------------

_KINDS = {"markdown": "link", "wiki": "wiki", "transclusion": "transclusion"}
_NOT_SLUG = re.compile(r"[^\w\- ]")
_GIVEN_ID = re.compile(r"\{[^{}\n]{0,80}#([\w:.-]{1,100})[^{}\n]{0,80}\}")
_HTML_ID = re.compile(r"<[a-zA-Z][^<>\n]{0,200}?\b(?:id|name)=[\"']?([\w:.-]{1,100})")
_BLOCK_ID = re.compile(r"(?<!\S)\^([\w-]{1,60})[ \t]*$", re.MULTILINE)


def slug_of(heading: str) -> str:
    """The anchor that GitHub gives a heading.

    >>> slug_of("What's new in 4.2?")
    'whats-new-in-42'
    """
    return _NOT_SLUG.sub("", heading.lower()).strip().replace(" ", "-")


class Anchors:
    """The anchors of a document: slugs, ids in braces or HTML, and blocks marked with ``^``."""

    def __init__(self, parsed: Parsed, places: Places) -> None:
        self._text = parsed.text
        self._places = places
        self._slugs: dict[str, Place] = {}
        self._titles: dict[str, Place] = {}
        self._ids: dict[str, int] | None = None
        counts: dict[str, int] = {}
        for section in places.headings[1:]:
            slug = slug_of(section.heading)
            count = counts.get(slug, 0)
            counts[slug] = count + 1
            self._slugs.setdefault(f"{slug}-{count}" if count else slug, section)
            if given := _GIVEN_ID.search(self._text, section.start, section.body):
                self._slugs[given[1].lower()] = section
            self._titles.setdefault(title_key(section.heading), section)

    def find(self, anchor: str, wiki: bool) -> Place | None:
        """The section of an anchor; wiki links name headings by their words."""
        name = unquote(anchor).strip()
        # `#Chapter#Part`: the last heading named is the one meant.
        if wiki and (found := self._titles.get(title_key(name.rsplit("#", 1)[-1]))):
            return found
        # Not everybody makes slugs as GitHub does: `what-s-next` is close enough to *What's next*.
        section = self._slugs.get(name.lower()) or self._titles.get(title_key(name))
        if section is not None:
            return section
        if self._ids is None:
            self._ids = {match[1]: match.start() for match in _HTML_ID.finditer(self._text)}
            self._ids.update({f"^{match[1]}": match.start() for match in _BLOCK_ID.finditer(self._text)})
        offset = self._ids.get(name)
        place = self._places.section(self._places.at(offset)) if offset is not None else None
        return place if place is not None and place.ordinal else None


def follow_links(parsed: Parsed, places: Places, masks: Masks) -> Iterator[Reference]:
    """Yield the links within the library, without images and web addresses; those in ``masks`` do not count."""
    anchors: Anchors | None = None
    for link in parsed.links:
        kind = _KINDS.get(link.kind)
        target = link.target.strip()
        if kind is None or not target.strip("#") or is_external(target) or link.start in masks:
            continue
        section, document, reason = "", target, "leads to another document"
        if target.startswith("#"):
            anchors = anchors or Anchors(parsed, places)
            place = anchors.find(target[1:], kind != "link")
            section, document = place.section_id if place else "", ""
            lost = f"no heading called {target[1:]}" if kind != "link" else f"no heading for {target}"
            reason = "" if place else lost
        words, sure = parsed.text[link.start : link.end], 1.0 if section else 0.0
        yield Reference(
            words, link.start, link.end, kind, section, document=document, reason=reason, sure=sure
        )


# -- the head of a document -------------------------------------------------------------------------------------

# What a field says of other documents, by words of its name: `requires`, `superseded-by`, `amends`.
_RELATION = re.compile(
    r"requir|supersed|replac|amend|obsolet|updat(?:es|ed_by)|depend|see|implement|extend|repeal|parent|based|refer|cites|modif(?:ies|ied_by)"
    r"|deroga|abrog|zrušuj|ersetzt|aufhebt|vervangt",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"^(?P<name>[A-Za-z][\w -]{1,40}):[^\S\n]*(?P<value>[^\n]*(?:\n[^\S\n]*-[^\n]*|\n[^\S\n]+\S[^\n]*)*)",
    re.MULTILINE,
)
_ENTRY = re.compile(r"\[\[[^\]\n]+\]\]|[^\s,;\[\]\"'][^,;\[\]\n\"']*")
_SERIES = re.compile(r"(?P<name>[A-Za-z]{2,12})[-_ ]?0*(?P<number>\d{1,6})")


def series_of(source_path: str) -> str:
    """The word that the file's name has before its number, in capitals: ``EIP`` of ``eip-7825.md``."""
    match = _SERIES.fullmatch(PurePath(source_path).stem)
    return match["name"].upper() if match else ""


def head_references(parsed: Parsed, source_path: str) -> Iterator[Reference]:
    """Yield the documents that the fields of a head name, numbers with the word of the series: ``requires: 7642``."""
    series = series_of(source_path)
    for field in _FIELD.finditer(parsed.text, 0, min(parsed.body_start, _LONGEST_HEAD)):
        if not _RELATION.search(field["name"].replace("-", "_")) or field["name"].lower() == "related":
            continue
        for entry in islice(
            _ENTRY.finditer(parsed.text, field.start("value"), field.end("value")), _MOST_NAMED
        ):
            words = entry.group().strip().lstrip("-").strip()
            name = words.strip("[]").partition("|")[0].strip()
            if name.isdecimal():
                name = f"{series}-{int(name)}" if series else ""
            if not any(map(str.isalpha, name)) or is_external(name):
                continue
            start = entry.start() + entry.group().find(words)
            yield Reference(
                words,
                start,
                start + len(words),
                "document",
                document=name,
                reason=f"names another document in the field {field['name']}",
            )


# -- headings by name -------------------------------------------------------------------------------------------


_UNDER = rf"pursuant{S1}to|in{S1}accordance{S1}with|subject{S1}to|according{S1}to|under|gemäß|nach|selon"
_INTRO = re.compile(rf"\b(?:(?P<see>{SEE})|{_UNDER}){S1}")
_REFER = re.compile(rf"refer(?:red|s)?{S1}to{S1}\Z", re.IGNORECASE)
_LEAD = re.compile(
    rf"(?P<the>the{S1})?(?P<part>(?:section|clause|chapter|part|heading|article){S1}(?:(?:called|entitled|titled|headed|named|on){S1})?)?"
)
_QUOTED = re.compile(r"[\"“„«‘'*_]{1,3}(?P<name>[^\"”“»’*_\n]{2,120})[\"”“»’*_]{1,3}")
_WORD = re.compile(r"[\w'’&/-]+")
_BREAK = re.compile(r"[.;:()!?\[\]\"“”|]|\n\s*\n")
_ABOVE = re.compile(
    rf",?{S1}(?:above|below|oben|unten|ci-dessus|ci-dessous)\b|{S1}(?:clause|section|article|chapter)\b"
)
_PART_WORD = re.compile(r"\b(?:clause|section|provision|article|chapter|paragraph|schedule|annex|appendix)\b")
_ENDS = re.compile(r"[\"”’*_]{0,3}(?:[.,;:)]|\s*$|\s+(?:for|below|above|at)\b)")
# The title that a text gives with a number: `Section 4 (Payment & Taxes)`.
_IN_BRACKETS = re.compile(r"[*_]{0,3}\s?\(\s?(?P<title>[^\W\d_a-z][^()\n]{2,90}?)\s?\)[*_]{0,3}")
_ANY = frozenset("a an any each every no such matching additional".split())
_SMALL_PARTS = frozenset({"clause", "provision", "article", "paragraph"})
_LONGEST = 14


@dataclass(frozen=True, slots=True)
class Named:
    """A heading named in running text."""

    section: Place
    start: int
    end: int
    sure: float = 0.9


class Titles:
    """The titles of a document's sections, by their words."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._sections: dict[str, list[Place]] = {}
        self._first: set[str] = set()
        for section in places.headings:
            key = title_key(section.title)
            # A document's own name is not a place in it, nor is a word of two letters.
            if len(key) > 2 and not key.isdecimal() and section.ordinal > 0:
                self._sections.setdefault(key, []).append(section)
                self._first.add(key.split(" ", 1)[0])

    def find(self, name: str, near: int, word: str = "") -> Place | None:
        """The section with a title; of several, the only one under the headings around ``near``.

        ``word`` is what the text calls it: a *clause* is not a chapter.
        """
        found = self._sections.get(title_key(name), [])
        if word in _SMALL_PARTS:
            found = [section for section in found if section.kind not in CONTAINERS]
        if len(found) < 2:
            return found[0] if found else None
        for place in self._places.around(near):
            close = [item for item in inside(found, place) if item is not place]
            if len(close) == 1:
                return close[0]
        return None

    def named(self, text: str, low: str, start: int) -> Iterator[Named]:
        """Yield the headings that a text names, unordered; ``low`` is the text in lower case."""
        if not self._sections:
            return
        for intro in _INTRO.finditer(low, start):
            if found := self._after(text, intro.end(), bool(intro["see"])):
                yield found
        for word in _PART_WORD.finditer(text, start):
            if found := self._before(text, word.start(), word.end()):
                yield found

    def _after(self, text: str, at: int, see: bool) -> Named | None:
        lead = _LEAD.match(text, at)
        begin = lead.end() if lead else at
        if quoted := _QUOTED.match(text, begin):
            section = self.find(quoted["name"], at)
            # `given in "abstract" form` is no reference to the Abstract.
            plain = quoted["name"].islower() and " " not in quoted["name"]
            return Named(section, begin, quoted.end()) if section and not plain else None
        words = self._words(text, begin, begin + 200)
        if (
            not words
            or not words[0][0][0].isupper()
            or title_key(words[0][0]).split(" ")[0] not in self._first
        ):
            return None
        for count in range(len(words), 0, -1):
            end = words[count - 1].end()
            section = self.find(text[begin:end], at)
            if section is None:
                continue
            goes_on = count < len(words) and words[count][0][0].isupper()
            if goes_on or (text[end : end + 1] == "." and text[end + 1 : end + 2].isalnum()):
                return None
            above = _ABOVE.match(text, end) is not None
            # `refer to the API server` is prose; `see the Payment Terms` is not.
            several = count > 1 and all(word[0][0].isupper() or len(word[0]) < 4 for word in words[:count])
            if not (above or several or (see and _ENDS.match(text, end))):
                return None
            # `pursuant to the Purchase Price` may mean the term rather than its clause.
            # `shall refer to the Treasurer` speaks of the person.
            ends = _ENDS.match(text, end) is not None
            meant = above or (see and ends and not _REFER.search(text, max(0, at - 14), at))
            return Named(section, begin, end, 0.9 if meant else 0.6)
        return None

    def _words(self, text: str, begin: int, end: int) -> list[re.Match[str]]:
        stop = _BREAK.search(text, begin, end)
        return list(islice(_WORD.finditer(text, begin, stop.start() if stop else end), _LONGEST))

    def _before(self, text: str, at: int, end: int) -> Named | None:
        """A capitalised name right before *clause* or *section*: the longest one that is a heading."""
        words = list(_WORD.finditer(text, max(0, at - 120), at))[-_LONGEST:]
        if not words or not words[-1][0][0].isupper() or text[words[-1].end() : at].strip(' \n"”’*_'):
            return None
        for before, word in zip([None, *words], words, strict=False):
            start, name = word.start(), text[word.start() : words[-1].end()]
            inner = before and before[0][0].isupper() and before[0].lower() not in ("the", "see")
            if before and before[0].lower() in _ANY:
                # `must have a Changelog section`: not this one.
                return None
            if inner or not word[0][0].isupper() or _BREAK.search(name):
                continue
            if section := self.find(name, at, text[at:end]):
                return Named(section, start - (text[start - 1 : start] in tuple('"“„«‘')), end)
        return None


def title_in_brackets(text: str, at: int) -> re.Match[str] | None:
    """The title in brackets right after a number, if the bracket contains one.

    >>> title_in_brackets("Section 4 (Payment & Taxes) applies", 9)["title"]
    'Payment & Taxes'
    """
    match = _IN_BRACKETS.match(text, at)
    if match is None:
        return None
    words = [word.group() for word in _WORD.finditer(match["title"])]
    capital = words and all(word[0].isupper() or len(word) < 4 or "&" in word for word in words)
    return match if capital and not words[0].isupper() and '"' not in match["title"] else None


def titles_agree(said: str, printed: str) -> bool:
    """Whether a title in brackets can be that of a place: most words of the shorter are in the longer."""
    one, other = set(title_key(said).split()), set(title_key(printed).split())
    small, large = sorted((one, other), key=len)
    return bool(small) and 2 * len(small & large) > len(small)
