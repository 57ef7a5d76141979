"""The answer to a search: a response with its results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any

from loccit.model.document import READ_FROM_IMAGE, Cells, Lines, Pages, span
from loccit.model.parsed import Definition, Reference
from loccit.model.place_ids import with_place_id
from loccit.model.quoting import Quotation

# How many times as long as the names of the sections above a text is that they are told with.
_LEAST_TEXT = 20
_GOES_ON = re.compile(r"[.-]?\w")
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Match:
    """One place in a result's content that the query names literally; offsets into ``content``."""

    start: int
    end: int
    line: int
    context: str = ""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another place with the same text as a result."""

    chunk_id: str
    source_path: str
    section: str
    lines: Lines | None = None
    pages: Pages | None = None
    place_id: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A passage that was found, and its exact place.

    ``from_image``: one of its pages was read from an image, so letters may be wrong.
    ``uncertain``: its document contradicts the numbering found in it, so it is cited by lines and pages.
    ``exact_match``: the query names it, by a number, a title or a phrase; ``as_written``: in the very words that stand
    there. ``lead_in`` is the text that introduces the list of which it is an item.
    """

    rank: int
    chunk_id: str
    content: str
    fused_score: float
    source_path: str
    parent_chain: list[str]
    section_id: str
    semantic_score: float | None = None
    keyword_score: float | None = None
    exact_match: bool = False
    as_written: bool = False
    definitions_context: list[Definition] = field(default_factory=list)
    heading: str = ""
    section_label: str = ""
    chunk_type: str = "content"
    matched_by: list[str] = field(default_factory=list)
    lines: Lines | None = None
    pages: Pages | None = None
    cross_references: list[Reference] = field(default_factory=list)
    document_title: str = ""
    matches: list[Match] = field(default_factory=list)
    also_in: list[Elsewhere] = field(default_factory=list)
    chunk_ids: list[str] = field(default_factory=list)
    left_out: list[Lines] = field(default_factory=list)
    """Lines of the section that the content does not show."""
    explanation: dict[str, Any] | None = None
    from_image: bool = False
    uncertain: bool = False
    cells: Cells | None = None
    """The cells of a notebook."""
    place_id: str = ""
    """The id of its section or clause, by which it can be read."""
    lead_in: str = ""

    @property
    def location(self) -> str:
        """Its place, as in a citation: path, then pages or lines."""
        chain = "" if self.uncertain else " > ".join(self.parent_chain)
        chain = chain or self.document_title
        where = span(self.lines, self.pages, self.source_path, self.cells)
        return f"{chain}, {where}" if where else chain

    def _citation(self, named: Mapping[str, int], above: str) -> str:
        """Where it stands, in few words: path, section with the id to read it by, and which lines of how many.

        What was said before, or is in the text, is left out; the sections above are named where they take little room
        beside the text.
        """
        chain = [] if self.uncertain else self.parent_chain
        *holders, own = chain or [""]
        holders = holders[1:] if holders[:1] == [self.document_title] else holders
        if _LEAST_TEXT * sum(map(len, holders)) > len(self.content):
            holders = []
        name = self.section_label or own
        if name:
            # A text that does not begin with its heading is told under which it stands.
            name = "" if _begins(self.content.lstrip("# \n"), name) else own or name
        elif self.source_path not in named and not _names(self.source_path, self.document_title):
            name = self.document_title
        place = with_place_id(name, self.place_id)
        if holders:
            place += f" in {' > '.join(holders)}" if place else " > ".join(holders)
        where = span(self.lines, self.pages, self.source_path, self.cells)
        if where and self.lines and self.left_out:
            first = min(self.lines.first, *(lines.first for lines in self.left_out))
            last = max(self.lines.last, *(lines.last for lines in self.left_out))
            where += f" of {first}–{last}"
        path = "" if self.source_path == above else _called(self.source_path, named)
        return ", ".join(filter(None, (path, place, where)))

    def format(self, *, named: Mapping[str, int] = MappingProxyType({}), above: str = "") -> str:
        """Return the result as text for a model to read and cite.

        ``named`` are the paths that were written before, each with the number of a result from there, and ``above`` is
        the path of the result before this one.
        """
        head = [f"[{self.rank}] {self._citation(named, above)}"]
        if self.uncertain:
            head.append("Uncertain: the document contradicts this numbering; cite by lines.")
        if self.from_image:
            head.append(READ_FROM_IMAGE)
        if self.lead_in:
            head.append(self.lead_in)
        if self.also_in:
            places = "; ".join(
                f"{_called(place.source_path, named)} {place.section}".strip() for place in self.also_in
            )
            head.append(f"Also in: {places}")
        tail = [
            definition_line(entry)
            + (f" (from {entry.location})" if entry.source_path != self.source_path else "")
            for entry in self.definitions_context
        ]
        if tail:
            tail.insert(0, "Defined terms:")
        return "\n".join([*head, self.content.strip(), *tail])

    def shows(self, definition: Definition) -> bool:
        """Whether its text contains that of a definition."""
        return definition.source_path == self.source_path and definition.definition_text in self.content

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        data = asdict(self)
        data["location"] = self.location
        if self.explanation is None:
            del data["explanation"]
        return data


def _called(path: str, named: Mapping[str, int]) -> str:
    """Return a path, or the result with which it was written before, if that is shorter."""
    return min(path, f"document of [{named[path]}]", key=len) if path in named else path


def _begins(text: str, name: str) -> bool:
    """Whether a text begins with a name, and not with a longer number: ``3.5`` does not begin with ``3``."""
    return text.startswith(name) and not _GOES_ON.match(text, len(name))


def _names(path: str, title: str) -> bool:
    """Whether a document's title says no more than the name of its file."""
    stem = path.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
    return _WORDS.findall(stem.casefold()) == _WORDS.findall(title.casefold())


def definition_line(entry: Definition) -> str:
    """Return a definition; its text may begin with the term."""
    told = " ".join(_WORDS.findall(entry.definition_text[: 3 * len(entry.term) + 20].casefold()))
    begins = told.startswith(" ".join(_WORDS.findall(entry.term.casefold())))
    return entry.definition_text if begins else f"{entry.term}: {entry.definition_text}"


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """The answer to one query."""

    query: str
    mode: str
    results: list[SearchResult]
    confidence: float
    note: str = ""
    term_conflicts: dict[str, list[str]] = field(default_factory=dict)
    """Terms of the query that documents among the results define differently, with the titles of these."""
    compression_stats: dict[str, int] = field(default_factory=dict)
    timings_ms: dict[str, float] = field(default_factory=dict)
    truncated: bool = False
    total_matches: int | None = None
    """How many passages hold what is quoted in the query; None where nothing is."""
    considered: int = 0
    """Passages that were found in any way, of which these are the best. How many answer a query nobody can count."""
    offset: int = 0
    more: bool = False
    """Whether there are results after these."""
    explanation: dict[str, Any] | None = None

    @property
    def next_offset(self) -> int | None:
        """The ``offset`` to continue the same query with; None at the end."""
        on = self.results and (self.more or self.truncated)
        return self.offset + len(self.results) if on else None

    def to_dict(self) -> dict[str, Any]:
        """Return the response as JSON values."""
        data: dict[str, Any] = {
            "query": self.query,
            "mode": self.mode,
            "confidence": self.confidence,
            "note": self.note,
            "term_conflicts": self.term_conflicts,
            "results": [result.to_dict() for result in self.results],
            "compression_stats": self.compression_stats,
            "timings_ms": self.timings_ms,
            "truncated": self.truncated,
            "considered": self.considered,
            "offset": self.offset,
            "next_offset": self.next_offset,
        }
        if self.total_matches is not None:
            data["total_matches"] = self.total_matches
        if self.explanation is not None:
            data["explanation"] = self.explanation
        return data

    def format(self) -> str:
        """Return the whole answer as text for a model to read and cite; document text is placed between markers."""
        before, blocks, after = self.format_parts()
        return "\n".join(part for part in (before, *blocks, after) if part)

    def format_parts(self) -> tuple[str, list[str], str]:
        """Return :meth:`format` in parts: the text before the results, each result, and the text after."""
        texts = list(self._texts())
        first = self.results[0].chunk_id if self.results else ""
        quotation = Quotation.around([*texts, self.note], seed=f"{self.query}\0{first}")
        count = len(texts)
        if not count and self.truncated:
            return "No result fits into the token budget. Ask again with a larger one.", [], ""
        head = f"{self.counted}, confidence {self.confidence:.2f}." if count else "No results."
        lines = [f"{head} {quotation.notice}" if texts or self.note else head]
        if self.note:
            # Notes may repeat names and values from documents.
            lines.append(f"Note: {quotation.inline(self.note)}")
        after = [quotation.closing] if texts else []
        after += ["Cut to fit the token budget: there is more than is shown."] if self.truncated else []
        after += [f"Go on with offset {self.next_offset}."] if self.next_offset is not None else []
        lines += [quotation.opening] if texts else []
        return "\n".join(lines), [quotation.item(text) for text in texts], "\n".join(after)

    def _texts(self) -> Iterator[str]:
        """Return the results as text; a path is written once, unless it is short."""
        named: dict[str, int] = {}
        above = ""
        for result in self.with_definitions_once():
            yield result.format(named=named, above=above)
            above = result.source_path
            named.setdefault(above, result.rank)

    def with_definitions_once(self) -> Iterator[SearchResult]:
        """Return the results with the definitions that no result before them has, and whose text none shows."""
        told: set[str] = set()
        for result in self.results:
            fresh = [entry for entry in result.definitions_context if entry.id not in told]
            told.update(entry.id for entry in fresh)
            fresh = [entry for entry in fresh if not any(one.shows(entry) for one in self.results)]
            if len(fresh) == len(result.definitions_context):
                yield result
            else:
                yield replace(result, definitions_context=fresh)

    @property
    def counted(self) -> str:
        """How many results these are: ``5 of 130 results`` where the query is a quotation, of which all are counted."""
        count = len(self.results)
        every = self.total_matches if self.total_matches == self.considered else None
        if every is not None and every > count:
            first = f" from {self.offset + 1} on" if self.offset else ""
            return f"{count} of {every:,} results{first}"
        return f"{count} result{'' if count == 1 else 's'}"
