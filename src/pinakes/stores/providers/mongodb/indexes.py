"""Search indexes of MongoDB: how they are defined, and waiting until they answer.

A search on an index that does not exist finds nothing and says nothing; so that an index is there is made sure
before it is used.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from pymongo.collection import Collection
from pymongo.errors import OperationFailure
from pymongo.operations import SearchIndexModel

from pinakes.errors import StoreError, StoreSchemaError, StoreUnavailableError
from pinakes.stores.providers.mongodb.connection import Document, MongoConnection

VECTORS = "pinakes_vectors"
WORDS = "pinakes_words"
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
# What the server says when the index is there already: the same name, or the same definition under way.
_THERE_ALREADY = frozenset({68, 85, 86})


def vector_definition(dimension: int, quantization: str) -> Document:
    """Define the index of the vectors, with documents to filter by."""
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
    """Define the index of the words: they are analysed already, so nothing but the spaces between them counts."""
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

    def __init__(
        self, link: MongoConnection, held: Callable[[], Collection[Document]], provider: str, patience: float
    ) -> None:
        self._link = link
        self._held = held
        self._provider = provider
        self._patience = patience
        self._guard = threading.Lock()
        self._answering: set[str] = set()

    def find(self, name: str) -> Document | None:
        """Return how the server describes an index; None where there is none."""
        found = self._link.call(lambda: self._held().list_search_indexes(name).to_list())
        return dict(found[0]) if found else None

    def dimension(self) -> int | None:
        """Return the dimension of the vector index; None where there is none."""
        if (found := self.find(VECTORS)) is None:
            return None
        for field in found.get("latestDefinition", {}).get("fields", []):
            if field.get("type") == "vector" and field.get("path") == "vector":
                return int(field["numDimensions"])
        raise StoreSchemaError(
            f"{self._provider}: the search index {VECTORS} is not one of Pinakes (no vector field named vector). Drop "
            "it, or name another collection."
        )

    def make(self, name: str, kind: str, definition: Document) -> None:
        """Make an index unless it is there; it answers some time later."""
        if self.find(name) is not None:
            return
        model = SearchIndexModel(definition=definition, name=name, type=kind)
        self._link.call(lambda: self._create(model))

    def _create(self, model: SearchIndexModel) -> None:
        try:
            self._held().create_search_indexes([model])
        except OperationFailure as error:
            if error.code not in _THERE_ALREADY:
                raise

    def make_once(self, name: str, kind: str, definition: Document) -> None:
        """Make an index unless it is known to answer, and wait for it."""
        if name not in self._answering:
            self.make(name, kind, definition)
            self.wait(name)

    def wait(self, name: str) -> None:
        """Return when an index answers; one that is missing, failed, or takes too long is an error."""
        if name in self._answering:
            return
        pause, until = _FIRST_PAUSE, time.monotonic() + self._patience
        while True:
            found = self.find(name)
            if found is None:
                raise StoreSchemaError(
                    f"{self._provider}: the search index {name} is missing. Index again, or make it anew."
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
        """Look again before the next search."""
        with self._guard:
            self._answering.clear()
