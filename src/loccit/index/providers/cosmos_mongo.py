"""Azure Cosmos DB for MongoDB (vCore, now Azure DocumentDB).

It speaks MongoDB's protocol, and has a vector index and a vector search of its own kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pymongo.errors import OperationFailure

from loccit.errors import StoreError, StoreSchemaError
from loccit.index.providers.mongodb_wire import CONNECTION_OPTIONS, Document, MongoWireStore, in_documents
from loccit.index.providers.tables import Documents
from loccit.index.settings import DatabaseSettings
from loccit.index.store import Capabilities, Found
from loccit.models.embedding.protocol import Vectors

_EXAMPLE = (
    "mongodb+srv://user:password@cluster.mongocluster.cosmos.azure.com/loccit?authMechanism=SCRAM-SHA-256"
)
_INDEX = "loccit_vectors"
# The name of the candidates option for each kind of index; for ivf the server chooses well.
_KNOBS = {"hnsw": "efSearch", "diskann": "lSearch", "ivf": ""}
# The maximum number of candidates, and so of results from a graph.
_MOST_BREADTH = 1000
_BUILDING = {"m": 16, "ef_construction": 128, "lists": 1}
_MOST_DIMENSIONS = {"hnsw": 2000, "ivf": 2000, "diskann": 16_000}
_BREADTH = 200
_NOT_SUPPORTED = 115
_MOST_RESULTS = 10_000


class CosmosMongoStore(MongoWireStore):
    """Points as documents with vectors as arrays, searched by ``cosmosSearch``."""

    provider = "azure-cosmos-mongo"
    capabilities: ClassVar[Capabilities] = Capabilities(claims=True, max_results=_MOST_RESULTS)
    known_options: ClassVar[Mapping[str, str]] = {
        **CONNECTION_OPTIONS,
        "index": "The kind of the vector index: hnsw (default), diskann, or ivf for the smallest clusters.",
        "exact_below": "Up to this many points every vector is compared (default: 10000).",
        "breadth": "Beyond that, how many candidates a search follows (efSearch, lSearch; default: 200, most 1000).",
        "m": "Connections of each vector in an hnsw index (default: 16).",
        "ef_construction": "Candidates looked at when an hnsw index is built (default: 128, at least twice m).",
        "lists": "Clusters of an ivf index (default: 1, which compares everything).",
    }

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings, _EXAMPLE, retry_writes=False)
        self._kind = settings.choice("index", tuple(_KNOBS))
        self.most_dimensions: int = _MOST_DIMENSIONS[self._kind]
        self._breadth = settings.number("breadth", _BREADTH, 10, _MOST_BREADTH)
        self._building = {name: settings.option(name, default) for name, default in _BUILDING.items()}
        self._found_kind = ""

    def pack(self, vector: Vectors) -> Any:
        """Return a vector as an array of numbers, the only form that the index reads."""
        return np.asarray(vector, np.float32).astype(float).tolist()

    def unpack(self, value: Any) -> Vectors:
        """Read a vector from an array."""
        return np.asarray(value, np.float32)

    # -- the collection --------------------------------------------------------------------------------------

    def indexed_dimension(self) -> int | None:
        """Return the dimension of the vector index."""
        if (options := self._options()) is None:
            return None
        if options.get("similarity") != "COS":
            raise StoreSchemaError(
                f"{self.provider}: the vector index of the collection {self.settings.collection} does not compare by "
                "cosine. Drop it, or name another collection."
            )
        return int(options["dimensions"])

    def _options(self) -> Document | None:
        for index in self.on_points(lambda held: held.list_indexes().to_list()):
            if index.get("key", {}).get("vector") == "cosmosSearch":
                return dict(index["cosmosSearchOptions"])
        return None

    def _make(self, dimension: int) -> None:
        if self._options() is not None:
            return
        super()._make(dimension)
        vector = {
            "name": _INDEX,
            "key": {"vector": "cosmosSearch"},
            "cosmosSearchOptions": {**self._definition(), "similarity": "COS", "dimensions": dimension},
        }
        # A field to filter by must have an index, too.
        document = {"name": "loccit_documents", "key": {"document": 1}}
        command = {"createIndexes": self.settings.collection, "indexes": [vector, document]}
        self.link.call(lambda _: self._make_indexes(command))

    def _make_indexes(self, command: Document) -> None:
        try:
            self.link.handle().command(command)
        except OperationFailure as error:
            if error.code != _NOT_SUPPORTED:
                raise
            raise StoreError(
                f"{self.provider}: this cluster has no index of the kind {self._kind}. Set the option index to "
                "another: ivf works on every cluster, diskann and hnsw on larger ones."
            ) from None

    def drop(self) -> None:
        """Delete everything."""
        self._found_kind = ""
        super().drop()

    def _definition(self) -> Document:
        definition: Document = {"kind": f"vector-{self._kind}"}
        if self._kind == "hnsw":
            definition |= {"m": self._building["m"], "efConstruction": self._building["ef_construction"]}
        elif self._kind == "ivf":
            definition["numLists"] = self._building["lists"]
        return definition

    # -- searches --------------------------------------------------------------------------------------------

    def _nearest(self, vector: Vectors, limit: int, documents: Documents) -> list[Found]:
        """Search vectors; the score of the server is the cosine."""
        limit = min(limit, _MOST_RESULTS)
        wanted: Document = {"vector": self.pack(vector), "path": "vector", "k": limit}
        if documents is None:
            wanted.update(self._how(limit))
        else:
            # A graph finds candidates before filtering by document, so that too few remain. Here the points
            # of the documents are found first, by their index, and compared one by one.
            wanted.update({"exact": True, "filter": in_documents(documents)})
        stage = {"$search": {"cosmosSearch": wanted, "returnStoredSource": True}}
        shown = {"_id": 1, "score": {"$meta": "searchScore"}}
        return self.ask([stage, {"$project": shown}], limit)

    def _how(self, limit: int) -> Document:
        """Compare exhaustively if there are few points, or more are wanted than a graph returns; else use the index."""
        knob = _KNOBS[self._kind_there()]
        if self._watch.small() or (knob and limit > _MOST_BREADTH):
            return {"exact": True}
        return {knob: min(max(self._breadth, 2 * limit), _MOST_BREADTH)} if knob else {}

    def _kind_there(self) -> str:
        """Return the kind of the existing index, which may have been created with other options."""
        if not self._found_kind:
            kind = str((self._options() or {}).get("kind", "")).removeprefix("vector-")
            self._found_kind = kind if kind in _KNOBS else self._kind
        return self._found_kind
