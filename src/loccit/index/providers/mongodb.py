"""MongoDB with its own vector and text search: Atlas, or a server of version 8.2 and later with a search process.

A search on a missing index silently finds nothing; so the existence of an index is checked before it is used.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from bson.binary import Binary, BinaryVectorDtype
from pymongo.collection import Collection as MongoCollection
from pymongo.errors import OperationFailure
from pymongo.operations import SearchIndexModel

from loccit.errors import StoreError, StoreSchemaError, StoreUnavailableError
from loccit.index.providers.mongodb_wire import CONNECTION_OPTIONS, Document, MongoWireStore, in_documents
from loccit.index.providers.tables import Documents, Weights
from loccit.index.settings import DatabaseSettings
from loccit.index.store import Capabilities, Found
from loccit.models.embedding.protocol import Vectors

VECTORS = "loccit_vectors"
WORDS = "loccit_words"
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
# What the server says if the index exists: the same name, or the same definition in progress.
_THERE_ALREADY = frozenset({68, 85, 86})


def vector_definition(dimension: int, quantization: str) -> Document:
    """Define the vector index, with documents to filter by."""
    vector: Document = {
        "type": "vector",
        "path": "vector",
        "numDimensions": dimension,
        "similarity": "cosine",
    }
    if quantization != "none":
        vector["quantization"] = quantization
    return {"fields": [vector, {"type": "filter", "path": "document"}]}


def word_definition() -> Document:
    """Define the text index: words are already analysed, so they are only split at spaces."""
    terms = {
        "type": "string",
        "analyzer": "lucene.whitespace",
        "searchAnalyzer": "lucene.whitespace",
        "indexOptions": "freqs",
        "store": False,
    }
    return {
        "mappings": {"dynamic": False, "fields": {"terms": terms, "document": {"type": "token"}}},
        # Answers are ids and scores: with this they come from the index alone.
        "storedSource": {"include": ["document"]},
    }


class SearchIndexes:
    """The search indexes of one collection."""

    def __init__(self, store: MongoWireStore, patience: float) -> None:
        self._store = store
        self._provider = store.provider
        self._patience = patience
        self._guard = threading.Lock()
        self._answering: set[str] = set()

    def find(self, name: str) -> Document | None:
        """Return the server's description of an index; None if there is none."""
        found = self._store.on_points(lambda held: held.list_search_indexes(name).to_list())
        return dict(found[0]) if found else None

    def dimension(self) -> int | None:
        """Return the dimension of the vector index; None if there is none."""
        if (found := self.find(VECTORS)) is None:
            return None
        for field in found.get("latestDefinition", {}).get("fields", []):
            if field.get("type") == "vector" and field.get("path") == "vector":
                return int(field["numDimensions"])
        raise StoreSchemaError(
            f"{self._provider}: the search index {VECTORS} was not made by Loccit (no vector field named vector). "
            "Drop it, or name another collection."
        )

    def make(self, name: str, kind: str, definition: Document) -> None:
        """Create an index unless it exists; it becomes usable some time later."""
        if self.find(name) is not None:
            return
        model = SearchIndexModel(definition=definition, name=name, type=kind)
        self._store.on_points(lambda held: self._create(held, model))

    def _create(self, held: MongoCollection[Document], model: SearchIndexModel) -> None:
        try:
            held.create_search_indexes([model])
        except OperationFailure as error:
            if error.code not in _THERE_ALREADY:
                raise

    def make_once(self, name: str, kind: str, definition: Document) -> None:
        """Create an index unless it is known to be usable, and wait for it."""
        if name not in self._answering:
            self.make(name, kind, definition)
            self.wait(name)

    def wait(self, name: str) -> None:
        """Wait until an index is usable; one that is missing, failed, or takes too long is an error."""
        if name in self._answering:
            return
        pause, until = _FIRST_PAUSE, time.monotonic() + self._patience
        while True:
            found = self.find(name)
            if found is None:
                raise StoreSchemaError(
                    f"{self._provider}: the search index {name} is missing. Index again, or recreate it."
                )
            if found.get("queryable"):
                with self._guard:
                    self._answering.add(name)
                return
            if found.get("status") == "FAILED":
                raise StoreError(f"{self._provider}: the server could not build the search index {name}.")
            if time.monotonic() > until:
                raise StoreUnavailableError(
                    f"{self._provider}: the search index {name} is still being built after {self._patience:.0f} "
                    "seconds; try again later, or raise the option ready_timeout."
                )
            time.sleep(pause)
            pause = min(1.5 * pause, _LONGEST_PAUSE)

    def forget(self) -> None:
        """Check again before the next search."""
        with self._guard:
            self._answering.clear()


_EXAMPLE = "mongodb+srv://user:password@cluster.example.mongodb.net/loccit"
_MOST_CANDIDATES = 10_000
_FEWEST_CANDIDATES = 200
# The search process refuses queries with more words than this.
_MOST_WORDS = 1_000


class MongoStore(MongoWireStore):
    """Points as documents; vectors in binary form, searched by ``$vectorSearch``; words by ``$search``."""

    provider = "mongodb"
    capabilities: ClassVar[Capabilities] = Capabilities(
        keyword=True, hybrid=True, claims=True, eventual=True, max_results=_MOST_CANDIDATES, batch=500
    )
    most_dimensions = 8192
    known_options: ClassVar[Mapping[str, str]] = {
        **CONNECTION_OPTIONS,
        "exact_below": "Up to this many points every vector is compared (default: 10000); 0 is never.",
        "candidates": "Beyond that, how many times the wanted results are looked at in the index (default: 20).",
        "quantization": "How the index keeps vectors: none (default), scalar or binary; smaller and less exact.",
        "ready_timeout": "Seconds to wait for a new search index to be built (default: 300).",
    }

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings, _EXAMPLE)
        self._candidates = settings.number("candidates", 20)
        self._quantization = settings.choice("quantization", ("none", "scalar", "binary"))
        self._indexes = SearchIndexes(self, settings.option("ready_timeout", 300.0))

    def pack(self, vector: Vectors) -> Any:
        """Return a vector in BSON's own vector type, four bytes per number."""
        return Binary.from_vector(np.asarray(vector, "<f4"), BinaryVectorDtype.FLOAT32)

    def unpack(self, value: Any) -> Vectors:
        """Read a vector from its binary form: two bytes for the type, then the numbers."""
        return np.frombuffer(value, "<f4", offset=2).astype(np.float32)

    # -- the collection --------------------------------------------------------------------------------------

    def indexed_dimension(self) -> int | None:
        """Return the dimension of the vector search index."""
        return self._indexes.dimension()

    def _make(self, dimension: int) -> None:
        """Create the collections and the search indexes, and wait until these are usable."""
        super()._make(dimension)
        self._indexes.make(VECTORS, "vectorSearch", vector_definition(dimension, self._quantization))
        if self.settings.native != "none":
            self._indexes.make(WORDS, "search", word_definition())
            self._indexes.wait(WORDS)
        self._indexes.wait(VECTORS)

    def drop(self) -> None:
        """Delete everything; the search indexes go with their collection."""
        self._indexes.forget()
        super().drop()

    # -- searches --------------------------------------------------------------------------------------------

    def _nearest(self, vector: Vectors, limit: int, documents: Documents) -> list[Found]:
        """Search vectors: exhaustively in a small collection, by the index in a larger one."""
        self._indexes.wait(VECTORS)
        shown = {"_id": 1, "score": {"$meta": "vectorSearchScore"}}
        pipeline = [self._near(vector, limit, documents), {"$project": shown}]
        # The server gives (1 + cosine) / 2.
        return self._checked([Found(hit.id, 2 * hit.score - 1) for hit in self.ask(pipeline, limit)])

    def _near(self, vector: Vectors, limit: int, documents: Documents) -> Document:
        limit = min(limit, _MOST_CANDIDATES)
        stage: Document = {
            "index": VECTORS,
            "path": "vector",
            "queryVector": self.pack(vector),
            "limit": limit,
        }
        if self._watch.small():
            stage["exact"] = True
        else:
            stage["numCandidates"] = min(
                max(self._candidates * limit, _FEWEST_CANDIDATES, limit), _MOST_CANDIDATES
            )
        if documents is not None:
            stage["filter"] = in_documents(documents)
        return {"$vectorSearch": stage}

    def _worded(self, terms: list[str], limit: int, documents: Documents) -> list[Found]:
        """Search words by BM25; the index for it is created when it is first needed."""
        self._words_ready()
        stage = {"$search": {**_worded(terms, documents), "returnStoredSource": True}}
        shown = {"_id": 1, "score": {"$meta": "searchScore"}}
        return self._checked(self.ask([stage, {"$limit": limit}, {"$project": shown}], limit))

    def _fused(
        self, vector: Vectors, terms: list[str], weights: Weights, limit: int, documents: Documents
    ) -> list[Found]:
        """Let the server fuse the ranks of both searches by weight (``$rankFusion``)."""
        if not terms:
            return self._nearest(vector, limit, documents)
        self._indexes.wait(VECTORS)
        self._words_ready()
        pipelines = {
            "vectors": [self._near(vector, limit, documents)],
            "words": [{"$search": _worded(terms, documents)}, {"$limit": limit}],
        }
        fused = {
            "input": {"pipelines": pipelines},
            "combination": {"weights": {"vectors": float(weights[0]), "words": float(weights[1])}},
        }
        shown = {"_id": 1, "score": {"$meta": "score"}}
        return self._checked(
            self.ask([{"$rankFusion": fused}, {"$limit": limit}, {"$project": shown}], limit)
        )

    def _words_ready(self) -> None:
        self._indexes.make_once(WORDS, "search", word_definition())

    def _checked(self, found: list[Found]) -> list[Found]:
        if not found:
            # A missing index answers like this, too: check whether it exists before the next search.
            self._indexes.forget()
        return found


def _worded(terms: Sequence[str], documents: Documents) -> Document:
    """Return a search for any of some words. They are joined: the analysis splits at spaces and has no syntax."""
    query = " ".join(list(dict.fromkeys(terms))[:_MOST_WORDS])
    text: Document = {"text": {"query": query, "path": "terms"}}
    if documents is not None:
        chosen = {"in": {"path": "document", "value": sorted(documents)}}
        text = {"compound": {"must": [text], "filter": [chosen]}}
    return {"index": WORDS, **text}
