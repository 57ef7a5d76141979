"""Keyword and phrase search over chunks: a tantivy index, derived from the record and rebuilt at will."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import tantivy
from numpy.typing import NDArray

from loccit.errors import DamagedIndexError, IndexNotFoundError, IndexStateError, UsageError
from loccit.grammar.text.analysis import QueryTerm, phrase_terms, query_terms
from loccit.grammar.text.code_languages import code_language
from loccit.grammar.text.code_terms import query_code
from loccit.grammar.text.decompound import COMPOUNDING, CompoundWords
from loccit.grammar.text.folding import fold, lower
from loccit.index.folder.keyword_files import (
    KeywordWriter,
    Manifest,
    check_segments,
    damage_reported,
    manifest_mark,
    read_manifest,
    verify_files,
)
from loccit.index.folder.keyword_query import (
    Counts,
    any_of,
    code_query,
    holding_query,
    idfs,
    phrase_query,
    similar_words,
    terms_query,
    within,
)
from loccit.index.folder.keyword_schema import (
    CHUNK,
    CODE_LANGUAGE,
    COMPOUND,
    DEFAULT_BOOSTS,
    DOCUMENT,
    EXACT,
    KeywordEntry,
    build_schema,
)
from loccit.index.port.filters import Passing, among

__all__ = ["DEFAULT_BOOSTS", "DamagedIndexError", "KeywordEntry", "KeywordIndex", "KeywordWriter"]

_FEW_DOCUMENTS = 1000  # up to here the index filters; beyond, looking through more hits is cheaper
_SPARE_HITS = 2000
_FIRST_HITS = 20_000
_NOTHING = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))


class KeywordIndex:
    """Finds chunks by their words. Safe to share between threads; see ``reload`` for other processes' writes."""

    def __init__(
        self,
        folder: Path,
        index: tantivy.Index,
        schema: tantivy.Schema,
        manifest: Manifest,
        checked: set[str],
    ) -> None:
        self._folder = folder
        self._schema = schema
        self._lock = threading.Lock()
        self._index: tantivy.Index | None = index
        self._manifest = manifest
        self._checked = checked
        self._searcher = index.searcher()
        self._counts = Counts(self._searcher)
        self._compounds: tuple[tuple[tantivy.Searcher, tuple[str, ...]], CompoundWords] | None = None

    @classmethod
    def open(cls, folder: Path, *, create: bool = True) -> KeywordIndex:
        """Open the index in a folder, or create an empty one.

        Raises ``DamagedIndexError`` if it cannot be read or was made by other rules: delete the folder then.
        """
        manifest = read_manifest(folder)
        with damage_reported(folder):
            exists = folder.is_dir() and tantivy.Index.exists(str(folder))
        if not exists:
            if manifest.mark is not None:
                raise DamagedIndexError(f"The keyword index in {folder} has lost its files")
            if not create:
                raise IndexNotFoundError(f"There is no keyword index in {folder}")
            folder.mkdir(parents=True, exist_ok=True)
        checked: set[str] = set()
        with damage_reported(folder):
            # First: tantivy may panic over what it was not given by itself.
            check_segments(folder, checked)
            schema = build_schema()
            index = tantivy.Index(schema, path=str(folder), reuse=True)
            index.config_reader("manual")  # the default polls the disk from a thread of its own
            index.reload()
            return cls(folder, index, schema, manifest, checked)

    @property
    def generation(self) -> int:
        """The generation of the record that this index reflects; 0 if it is new."""
        return self._manifest.generation

    def writer(self, *, timeout: float = 60.0) -> KeywordWriter:
        """A writer, to be used in a ``with`` statement; waits for its turn up to ``timeout`` seconds."""
        return KeywordWriter(self._opened(), self._folder, timeout, self.reload)

    def reload(self) -> None:
        """Notice commits of any process. Costs one ``stat`` if there are none."""
        index = self._opened()
        if manifest_mark(self._folder) == self._manifest.mark:
            return
        with self._lock, damage_reported(self._folder):
            manifest = read_manifest(self._folder)  # first: what is loaded after it is at least as new
            check_segments(self._folder, self._checked)
            index.reload()
            self._searcher = index.searcher()
            self._counts = Counts(self._searcher)
            self._manifest = manifest

    def search(
        self,
        query: str,
        *,
        languages: Sequence[str],
        limit: int,
        documents: Collection[int] | None = None,
        boosts: Mapping[str, float] | None = None,
    ) -> list[tuple[int, float]]:
        """Chunks with some of the query's words, best first, as (chunk, score).

        ``languages`` are those of the indexed texts, most important first. ``documents`` restricts the search to these;
        ``boosts`` overrides the weights of fields (0 ignores a field).
        """
        found = self.search_arrays(
            query, languages=languages, limit=limit, documents=documents, boosts=boosts
        )
        return list(zip(found[0].tolist(), found[1].tolist(), strict=True))

    def search_arrays(
        self,
        query: str,
        *,
        languages: Sequence[str],
        limit: int,
        documents: Collection[int] | None = None,
        boosts: Mapping[str, float] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Like ``search``, as two arrays, for thousands of chunks."""
        weights = {**DEFAULT_BOOSTS, **(boosts or {})}
        if unknown := weights.keys() - DEFAULT_BOOSTS.keys():
            raise UsageError(
                f"Unknown search fields: {', '.join(sorted(unknown))}; available: {', '.join(DEFAULT_BOOSTS)}."
            )
        self._opened()
        terms = self._terms(query, languages)
        if not terms or limit < 1 or max(weights.values()) <= 0:
            return _NOTHING
        with damage_reported(self._folder):
            built = terms_query(self._schema, self._counts, terms, weights)
        return self._find(built, limit, documents)

    def idf(self, query: str, languages: Sequence[str]) -> list[tuple[QueryTerm, float]]:
        """The terms of a query with their IDF."""
        self._opened()
        terms = self._terms(query, languages)
        with damage_reported(self._folder):
            return list(zip(terms, idfs(self._counts, terms), strict=True))

    def _terms(self, query: str, languages: Sequence[str]) -> list[QueryTerm]:
        """The terms of a query, with the parts of compounds if texts are in languages that have such."""
        terms = query_terms(query, languages)
        if COMPOUNDING.isdisjoint(languages):
            return terms
        key = (self._searcher, tuple(languages))
        if self._compounds is None or self._compounds[0] != key:
            with damage_reported(self._folder):
                words = dict(self._searcher.terms_with_prefix(COMPOUND, ""))
            self._compounds = (key, CompoundWords(words, languages))
        return self._compounds[1].widen(terms, query)

    def search_code(
        self, query: str, *, limit: int, documents: Collection[int] | None = None, language: str | None = None
    ) -> list[tuple[int, float]]:
        """Chunks whose code contains the identifiers in a question, best first, as (chunk, score).

        Identifiers are words written as in a program: ``getUser``, ``get_user``, ``std::vector``, ``open()``,
        ``--flag``, anything in backticks. A question without any finds nothing. ``language`` is that of the code.
        """
        self._opened()
        asked = query_code(query)
        if not asked.names or limit < 1:
            return []
        with damage_reported(self._folder):
            built = code_query(self._schema, self._counts, asked, code_language(language or ""))
        chunks, scores = self._find(built, limit, documents)
        return list(zip(chunks.tolist(), scores.tolist(), strict=True))

    def documents_with_code(self, languages: Sequence[str]) -> set[int]:
        """The documents with code in any of these languages, under any of their names."""
        self._opened()
        names = [name for language in languages if (name := code_language(language))]
        if not names:
            return set()
        with damage_reported(self._folder):
            query = tantivy.Query.term_set_query(self._schema, CODE_LANGUAGE, names)
            return self._values(DOCUMENT, query)

    def code_languages(self) -> dict[str, int]:
        """The languages that code is in, with the number of chunks, most frequent first."""
        self._opened()
        with damage_reported(self._folder):
            return dict(self._searcher.terms_with_prefix(CODE_LANGUAGE, ""))

    def phrase(
        self, phrase: str, *, limit: int, documents: Collection[int] | None = None
    ) -> tuple[list[tuple[int, float]], int]:
        """Chunks whose text contains exactly these words in this order, and their number."""
        self._opened()
        words = phrase_terms(phrase)
        if not words:
            return [], 0
        query = phrase_query(self._schema, words)
        if isinstance(documents, Passing):
            return self._phrase_among(query, limit, documents)
        if documents is not None:
            query = within(self._schema, query, documents)
        with damage_reported(self._folder):
            searcher = self._searcher
            found = searcher.search(query, limit=max(limit, 1), count=True)
            chunks, scores = self._chunks(searcher, found.hits[: max(limit, 0)])
            hits = list(zip(chunks.tolist(), scores.tolist(), strict=True))
            return hits, int(found.count)  # type: ignore[attr-defined]  # missing from tantivy's stub

    def _phrase_among(
        self, query: tantivy.Query, limit: int, documents: Passing
    ) -> tuple[list[tuple[int, float]], int]:
        """Check the best hits only; the rest is assumed to pass at the same rate."""
        with damage_reported(self._folder):
            searcher = self._searcher
            found = searcher.search(query, limit=max(limit, _SPARE_HITS), count=True)
            owners = searcher.fast_field_values(DOCUMENT, [address for _, address in found.hits])
            allowed = documents.among(int(owner) for owner in owners if owner is not None)
            kept = [hit for hit, owner in zip(found.hits, owners, strict=True) if owner in allowed]
            chunks, scores = self._chunks(searcher, kept[: max(limit, 0)])
            total = int(found.count) * len(kept) // max(1, len(found.hits))  # type: ignore[attr-defined]
            return list(zip(chunks.tolist(), scores.tolist(), strict=True)), max(total, len(kept))

    def suggest(self, prefix: str, limit: int = 10) -> list[str]:
        """Words of the texts with a prefix, most frequent first."""
        self._opened()
        start = fold(lower(prefix.strip()))
        if not start or limit < 1:
            return []
        with damage_reported(self._folder):
            return [word for word, _ in self._searcher.terms_with_prefix(EXACT, start, limit=limit)]

    def similar(self, word: str, limit: int) -> list[tuple[str, int]]:
        """Words of the texts with similar spelling, closest first, with the number of chunks that contain them.

        One edit away, or two for words of eight letters and more; a transposition is one edit.
        """
        self._opened()
        with damage_reported(self._folder):
            return similar_words(self._searcher, fold(lower(word.strip())), limit)

    def frequency(self, word: str, languages: Sequence[str]) -> int:
        """How many chunks contain a word, in any of its forms, in their text, title or headings."""
        self._opened()
        query = holding_query(self._schema, word, languages)
        if query is None:
            return 0
        with damage_reported(self._folder):
            return int(self._searcher.search(query, limit=1, count=True).count)  # type: ignore[attr-defined]

    def holding(
        self, words: Sequence[str], languages: Sequence[str], documents: Collection[int] | None = None
    ) -> set[int]:
        """The chunks (of some documents) that contain any of some words, in any form, or phrases, as written."""
        self._opened()
        queries = [query for word in words if (query := holding_query(self._schema, word, languages))]
        if not queries:
            return set()
        with damage_reported(self._folder):
            return self._chunks_with(any_of(queries), documents)

    def with_code(self, languages: Sequence[str], documents: Collection[int]) -> set[int]:
        """The chunks of some documents with code in any of these languages, under any of their names."""
        self._opened()
        names = [name for language in languages if (name := code_language(language))]
        if not names:
            return set()
        with damage_reported(self._folder):
            return self._chunks_with(
                tantivy.Query.term_set_query(self._schema, CODE_LANGUAGE, names), documents
            )

    def _chunks_with(self, query: tantivy.Query, documents: Collection[int] | None) -> set[int]:
        return self._values(CHUNK, query if documents is None else within(self._schema, query, documents))

    def chunk_count(self) -> int:
        """The number of chunks in the index."""
        self._opened()
        return int(self._searcher.num_docs)

    def documents(self) -> set[int]:
        """The documents that have entries. Reads every entry."""
        self._opened()
        with damage_reported(self._folder):
            return self._values(DOCUMENT, tantivy.Query.all_query())

    def verify(self) -> list[str]:
        """Names of damaged files. Reads the whole index; opening it only does so if that is small."""
        return verify_files(self._folder)

    def close(self) -> None:
        """Close the files."""
        self._index = None
        if hasattr(self, "_searcher"):
            del self._searcher, self._counts

    def _opened(self) -> tantivy.Index:
        if self._index is None:
            raise IndexStateError("The keyword index has been closed")
        return self._index

    def _values(self, name: str, query: tantivy.Query) -> set[int]:
        """The values of a numeric field in all hits of a query."""
        searcher = self._searcher
        if not searcher.num_docs:
            return set()
        # Memory is allocated for as many as are requested, in every segment: usually these are few.
        limit = min(_FIRST_HITS, searcher.num_docs)
        hits = searcher.search(query, limit=limit, count=False).hits
        if len(hits) == limit < searcher.num_docs:
            hits = searcher.search(query, limit=searcher.num_docs, count=False).hits
        values = searcher.fast_field_values(name, [address for _, address in hits])
        return {int(value) for value in values if value is not None}

    def _find(
        self, query: tantivy.Query, limit: int, documents: Collection[int] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        with damage_reported(self._folder):
            searcher = self._searcher
            if documents is not None and len(documents) > _FEW_DOCUMENTS:
                wanted = 4 * limit + _SPARE_HITS
                hits = searcher.search(query, limit=wanted, count=False).hits
                owners = searcher.fast_field_values(DOCUMENT, [address for _, address in hits])
                allowed = among((int(owner) for owner in owners if owner is not None), documents)
                kept = [hit for hit, owner in zip(hits, owners, strict=True) if owner in allowed]
                if len(kept) >= limit or len(hits) < wanted:
                    return self._chunks(searcher, kept[:limit])
            if documents is not None:
                query = within(self._schema, query, documents)
            return self._chunks(searcher, searcher.search(query, limit=limit, count=False).hits)

    def _chunks(
        self, searcher: tantivy.Searcher, hits: Sequence[tuple[float, tantivy.DocAddress]]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Row ids of hits; ties in order of row, since tantivy's own order changes with merges."""
        values = searcher.fast_field_values(CHUNK, [address for _, address in hits])
        chunks = np.fromiter(
            (value or 0 for value in values) if None in values else values, np.int64, len(values)
        )
        scores = np.fromiter((score for score, _ in hits), np.float32, len(hits))
        order = np.lexsort((chunks, -scores))
        return chunks[order], scores[order]
