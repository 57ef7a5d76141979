"""ToolIndex: finds the few tools out of hundreds that matter for a request.

A model that is shown every tool pays for all of them in every call, and chooses worse. The keyword, vector and fusion
code that finds passages finds tools here, by their names, descriptions and parameters, in memory.

>>> index = ToolIndex([{"name": "send_email", "description": "Send a message to somebody's mailbox."},
...                    {"name": "list_files", "description": "List the files of a folder."}], mode="bm25")
>>> [match.name for match in index.search("which files are in here?")]
['list_files']
"""

from __future__ import annotations

import asyncio
import difflib
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tantivy

from loccit.config.bounds import LONGEST_TEXT
from loccit.errors import LoccitError, UsageError
from loccit.grammar.text.analysis import query_terms
from loccit.grammar.text.compounds import LUMP
from loccit.grammar.text.language import detect_language
from loccit.index.folder.keyword_query import Counts, idfs, terms_query
from loccit.index.folder.keyword_schema import CHUNK, KeywordEntry, build_schema, write_entry
from loccit.index.folder.nearest import ordered
from loccit.models.embedding import Embedder
from loccit.models.embedding.protocol import Vectors
from loccit.search.candidates import KEYWORD, SEMANTIC, Candidate, RankedList
from loccit.search.rank.fuse import fuse
from loccit.search.select.calibrate import calibrate
from loccit.tools.tool_sources import Tool, read_tools

MODES = ("hybrid", "semantic", "bm25")
TOP_K = 5
THRESHOLD = 0.0
_WEIGHTS = {
    "hybrid": {SEMANTIC: 0.6, KEYWORD: 0.4},
    "semantic": {SEMANTIC: 1.0},
    "bm25": {KEYWORD: 1.0},
}
_RRF_K = 60
_HEAP_BYTES = 15_000_000
# With fewer tools, all may be similar to a request: then the farthest one does not show how unrelated tools
# score.
_FEW = 20
# A word of the name says more about a tool than one of the description, and that more than a parameter.
_BOOSTS = {"title": 3.0, "body": 1.0, "context": 0.5}
# Words of a name: between underscores and the like, and at capitals.
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\dA-Z_]+|[A-Z]+|\d+|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class ToolMatch:
    """A tool that fits a request; ``score`` is the confidence from 0 to 1, and ``tool`` what was given to the index.

    ``always`` marks a tool that is always included; its ``score`` is 0 if the request does not find it.
    """

    name: str
    tool: Any
    score: float
    matched_by: tuple[str, ...] = ()
    semantic_score: float | None = None
    keyword_score: float | None = None
    always: bool = False


@dataclass(frozen=True, slots=True)
class KeywordSearch:
    """Finds tools by keyword. Rebuilt when the list changes, so that it does not depend on the list's history."""

    schema: tantivy.Schema
    searcher: tantivy.Searcher
    languages: tuple[str, ...]

    @classmethod
    def of(cls, tools: Sequence[Tool]) -> KeywordSearch:
        """Index tools by their position in the list."""
        schema = build_schema()
        index = tantivy.Index(schema)
        writer = index.writer(_HEAP_BYTES, 1)
        languages = _languages(tools)
        for place, tool in enumerate(tools):
            parameters = "\n".join(f"{name} {spoken_name(name)} {text}" for name, text in tool.parameters)
            write_entry(
                writer,
                KeywordEntry(
                    document=place,
                    chunk=place,
                    language=languages[0],
                    title=f"{tool.name} {spoken_name(tool.name)}",
                    headings="",
                    body=tool.description,
                    context=parameters,
                ),
            )
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return cls(schema, index.searcher(), languages)

    def leg(self, query: str) -> RankedList:
        """Return the tools that contain words of a request, best first."""
        terms = query_terms(query, self.languages)
        counts = Counts(self.searcher)
        if not terms or not counts.total:
            return RankedList.of(KEYWORD, [])
        built = terms_query(self.schema, counts, terms, _BOOSTS)
        hits = self.searcher.search(built, limit=counts.total, count=False).hits
        places = self.searcher.fast_field_values(CHUNK, [address for _, address in hits])
        chunks = np.array([place or 0 for place in places], dtype=np.int64)
        scores = np.array([score for score, _ in hits], dtype=np.float64)
        order = np.lexsort((chunks, -scores))
        full = sum(term.count * value for term, value in zip(terms, idfs(counts, terms), strict=True))
        return RankedList(KEYWORD, chunks[order], scores[order], full=full)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The tools ordered by name, with their indexes; vectors are computed on first use."""

    tools: tuple[Tool, ...]
    keyword: KeywordSearch
    matrix: Vectors | None = None


class ToolIndex:
    """Finds tools for requests. Safe to share between threads; the same tools always give the same answers."""

    def __init__(
        self,
        tools: Any = (),
        *,
        mode: str = "hybrid",
        top_k: int = TOP_K,
        threshold: float = THRESHOLD,
        always: Iterable[str] = (),
        embedder: Embedder | None = None,
    ) -> None:
        _check(mode, top_k, threshold)
        self._mode, self._top_k, self._threshold = mode, top_k, threshold
        self._always = _names(always)
        self._embedder = embedder
        self._tools: dict[str, Tool] = {}
        self._vectors: dict[str, Vectors] = {}
        self._snapshot: _Snapshot | None = None
        self._guard = threading.RLock()
        if self.add(tools):
            self._require(self._always)

    # -- the list ----------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._tools))

    def add(self, tools: Any, *, replace: bool = False) -> list[str]:
        """Add tools in any format and return their names; replacing an existing one requires ``replace``.

        Either all are added or, if one of them is invalid, none.
        """
        found = read_tools(tools)
        with self._guard:
            new: dict[str, Tool] = {}
            for tool in found:
                if tool.name in new or (tool.name in self._tools and not replace):
                    raise UsageError(f"The tool name {tool.name} is used twice; names must differ.")
                new[tool.name] = tool
            self._tools.update(new)
            if new:
                self._snapshot = None
        return list(new)

    def remove(self, names: str | Iterable[str]) -> None:
        """Remove tools from the index; an unknown name is an error, and then none is removed."""
        gone = _names(names)
        with self._guard:
            self._require(gone)
            for name in gone:
                del self._tools[name]
            self._snapshot = None

    # -- searching ---------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        mode: str | None = None,
        top_k: int | None = None,
        threshold: float | None = None,
        always: Iterable[str] | None = None,
    ) -> list[ToolMatch]:
        """Return the tools that fit a request, best first, then those of ``always`` that it did not find.

        ``top_k`` counts the tools besides those always included. Tools that score below ``threshold`` are left out.
        """
        mode, top_k = self._mode if mode is None else mode, self._top_k if top_k is None else top_k
        threshold = self._threshold if threshold is None else threshold
        _check(mode, top_k, threshold)
        if not isinstance(query, str) or not has_words(query):
            raise UsageError("The request is empty: say in words what is to be done.")
        if len(query) > LONGEST_TEXT:
            raise UsageError(f"The request has {len(query):,} characters; at most {LONGEST_TEXT:,} are read.")
        if always is not None:
            self._require(_names(always))
        snapshot = self._current(vectors=mode != "bm25")
        kept = [name for name in (self._always if always is None else _names(always)) if name in self._tools]
        found = self._ranked(query, snapshot, mode)
        ranked = {
            snapshot.tools[candidate.chunk].name: candidate for candidate in found if candidate.score > 0
        }
        best = [name for name in ranked if name not in kept and ranked[name].score >= threshold][:top_k]
        shown = [
            name for name in ranked if name in best or (name in kept and ranked[name].score >= threshold)
        ]
        by_name = {tool.name: tool for tool in snapshot.tools}
        matches = [_match(by_name[name], ranked[name], name in kept) for name in shown]
        rest = [name for name in kept if name not in shown and name in by_name]
        return matches + [_match(by_name[name], None, True) for name in rest]

    def select(self, query: str, **options: Any) -> list[Any]:
        """Return the tools that :meth:`search` finds, as they were given to the index: a list to pass to a model."""
        return [match.tool for match in self.search(query, **options)]

    async def asearch(self, query: str, **options: Any) -> list[ToolMatch]:
        """Like :meth:`search`, without blocking the event loop."""
        return await asyncio.to_thread(self.search, query, **options)

    async def aselect(self, query: str, **options: Any) -> list[Any]:
        """Like :meth:`select`, without blocking the event loop."""
        return await asyncio.to_thread(self.select, query, **options)

    def _ranked(self, query: str, snapshot: _Snapshot, mode: str) -> list[Candidate]:
        weights = _WEIGHTS[mode]
        legs: list[RankedList] = []
        if KEYWORD in weights:
            legs.append(snapshot.keyword.leg(query))
        if SEMANTIC in weights and snapshot.matrix is not None and len(snapshot.matrix):
            legs.append(semantic_leg(snapshot.matrix, self._model().embed_query(query)))
        fused = fuse(legs, weights, method="scores", rrf_k=_RRF_K)
        candidates = fused.top(len(fused.chunks))
        calibrate(candidates, fused.lists)
        return candidates

    # -- what is searched --------------------------------------------------------------------------------------

    def _current(self, *, vectors: bool) -> _Snapshot:
        with self._guard:
            snapshot = self._snapshot
            if snapshot is None:
                tools = tuple(self._tools[name] for name in sorted(self._tools))
                snapshot = _Snapshot(tools, KeywordSearch.of(tools))
            if vectors and snapshot.matrix is None:
                snapshot = _Snapshot(snapshot.tools, snapshot.keyword, self._matrix(snapshot.tools))
            self._snapshot = snapshot
            return snapshot

    def _matrix(self, tools: Sequence[Tool]) -> Vectors:
        """One row per tool; only new texts are embedded."""
        texts = [meaning_text(tool) for tool in tools]
        new = sorted({text for text in texts if text not in self._vectors})
        known = {text: self._vectors[text] for text in texts if text in self._vectors}
        model = self._model()
        if new:
            rows: Vectors = np.asarray(model.embed(new), dtype=np.float32)
            if rows.shape != (len(new), model.dimension) or not np.isfinite(rows).all():
                raise LoccitError(
                    f"The embedding model {model.name} returned unusable vectors for {len(new)} tools."
                )
            known.update(zip(new, rows, strict=True))
        self._vectors = known
        return (
            np.stack([known[text] for text in texts]) if texts else np.zeros((0, model.dimension), np.float32)
        )

    def _model(self) -> Embedder:
        with self._guard:
            if self._embedder is None:
                from loccit.models.embedding import load_embedder

                self._embedder = load_embedder()
            return self._embedder

    def _require(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in self._tools:
                near = difflib.get_close_matches(name, self._tools, n=1)
                hint = f"; did you mean {near[0]}?" if near else "."
                raise UsageError(f"There is no tool {name!r}{hint}")


def _match(tool: Tool, found: Candidate | None, always: bool) -> ToolMatch:
    if found is None:
        return ToolMatch(tool.name, tool.original, 0.0, always=True)
    return ToolMatch(
        tool.name,
        tool.original,
        round(found.score, 6),
        tuple("bm25" if leg == KEYWORD else leg for leg in found.scores),
        found.scores.get(SEMANTIC),
        found.scores.get(KEYWORD),
        always,
    )


def _names(given: str | Iterable[str]) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f"Tools are named by text, not by {name!r}.")
    return tuple(dict.fromkeys(names))


def _check(mode: str, top_k: int, threshold: float) -> None:
    if mode not in MODES:
        raise UsageError(f"mode must be one of {', '.join(MODES)}, not {mode!r}.")
    if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1:
        raise UsageError(f"top_k must be a whole number of at least 1, not {top_k!r}.")
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise UsageError(f"threshold must be between 0 and 1, not {threshold!r}.")


def spoken_name(name: str) -> str:
    """Return a name as words.

    >>> spoken_name("mcp__github__createPullRequest")
    'mcp github create pull request'
    """
    return " ".join(part.lower() for part in _PART.findall(name))


def meaning_text(tool: Tool) -> str:
    """Return the text to embed for a tool: its name and what it does."""
    said = tool.description or ", ".join(name for name, _ in tool.parameters)
    return f"{spoken_name(tool.name)}: {said}" if said else spoken_name(tool.name)


def _languages(tools: Sequence[Tool]) -> tuple[str, ...]:
    """The language of all descriptions together: each alone is too short to tell."""
    return (detect_language("\n".join(tool.description for tool in tools)) or "en",)


def semantic_leg(matrix: Vectors, query: Vectors) -> RankedList:
    """Return the tools nearest in meaning, best first."""
    found = ordered(matrix, query)
    floor = found.floor if len(matrix) >= _FEW else min(0.0, found.floor)
    return RankedList(SEMANTIC, found.chunks, found.scores, floor)


def has_words(query: str) -> bool:
    """Whether a request contains anything to search for."""
    return LUMP.search(query) is not None
