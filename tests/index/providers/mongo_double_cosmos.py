"""What Azure Cosmos DB for MongoDB vCore adds: vector indexes by ``createIndexes``, and ``cosmosSearch``.

After its documentation and the published source of the engine behind it (DocumentDB): names, ranges, messages and
codes are those. An hnsw or diskann index returns no more than its candidates, and filters after finding them.
"""

from __future__ import annotations

from typing import Any

from tests.index.providers.mongo_double_data import Warehouse
from tests.index.providers.mongo_double_match import matches
from tests.index.providers.mongo_double_table import Document, RefusalError, Table, bad
from tests.index.providers.mongo_double_vectors import VectorTable, vector_of

_KINDS: dict[str, dict[str, tuple[int, int]]] = {
    "vector-hnsw": {"m": (2, 100), "efConstruction": (4, 1000)},
    "vector-ivf": {"numLists": (1, 32_768)},
    "vector-diskann": {"maxDegree": (20, 2048), "lBuild": (10, 500)},
}
_MOST_DIMENSIONS = {"vector-hnsw": 2000, "vector-ivf": 2000, "vector-diskann": 16_000}
_KNOBS = {"vector-hnsw": ("efSearch", 1, 1000), "vector-diskann": ("lSearch", 10, 1000)}
_PROBES = ("nProbes", 1, 32_768)


class CosmosWarehouse(Warehouse):
    """A cluster; a small one has no hnsw."""

    def __init__(self, *, small: bool = False) -> None:
        super().__init__()
        self.small = small

    def check_index(self, index: Document) -> None:
        """Refuse a vector index that cannot be."""
        options = index.get("cosmosSearchOptions")
        if options is None:
            return super().check_index(index)
        kind = options.get("kind", "")
        if index.keys() - {"name", "key", "cosmosSearchOptions"} or set(index["key"].values()) != {
            "cosmosSearch"
        }:
            raise _cannot("Error in specification of a vector index")
        if kind not in _KINDS:
            raise _cannot(f"Invalid search index kind {kind}")
        if kind == "vector-hnsw" and self.small:
            raise RefusalError(
                115, "CommandNotSupported", "hnsw index is not supported for this cluster tier"
            )
        if options.keys() - {"kind", "similarity", "dimensions", *_KINDS[kind]}:
            raise _cannot("Invalid search index options")
        if options.get("similarity") not in ("COS", "IP", "L2"):
            raise _cannot(f"Invalid similarity {options.get('similarity')}")
        if not 1 < options.get("dimensions", 0) <= _MOST_DIMENSIONS[kind]:
            raise _cannot(f"field cannot have more than {_MOST_DIMENSIONS[kind]} dimensions for vector index")
        for name, (least, most) in _KINDS[kind].items():
            if name in options and not least <= options[name] <= most:
                raise _cannot(f"{name} must be between {least} and {most} not {options[name]}")
        if kind == "vector-hnsw" and options.get("efConstruction", 64) < 2 * options.get("m", 16):
            raise _cannot("efConstruction must be greater than or equal to 2 * m for vector-hnsw indexes")
        return None

    def first_stage(self, table: Table, name: str, spec: Any) -> list[tuple[Document, Document]] | None:
        """Search by ``cosmosSearch``; MongoDB's own text search is not there."""
        if name != "$search":
            return None
        if spec.keys() - {"cosmosSearch", "returnStoredSource"} or "cosmosSearch" not in spec:
            raise RefusalError(
                9, "FailedToParse", "Invalid search spec provided with one or more unsupported options"
            )
        return self._search(table, spec["cosmosSearch"])

    def _search(self, table: Table, wanted: Document) -> list[tuple[Document, Document]]:
        for field in ("path", "vector", "k"):
            if field not in wanted:
                raise bad(f"${field} is required field for using a vector index.")
        if not isinstance(wanted["vector"], list) or (query := vector_of(wanted["vector"])) is None:
            raise bad("$vector must be an array of numbers.")
        if isinstance(wanted["k"], bool) or not isinstance(wanted["k"], int) or wanted["k"] < 1:
            raise bad("$k must be a positive integer.")
        options = self._options(table, wanted["path"])
        if len(query) != options["dimensions"]:
            raise bad(f"expected {options['dimensions']} dimensions, not {len(query)}")
        self._check_filter(table, wanted.get("filter", {}))
        held: VectorTable = table.beside.setdefault("vectors", VectorTable())
        ranked = held.nearest(table.documents, table.version, query, wanted["path"])
        if not wanted.get("exact"):
            ranked = ranked[: self._candidates(options, wanted)]
        chosen = [row for row in ranked if matches(row[0], wanted.get("filter", {}))]
        return [(document, {"searchScore": score}) for document, score in chosen[: wanted["k"]]]

    def _options(self, table: Table, path: str) -> Document:
        for index in table.indexes:
            if index["key"].get(path) == "cosmosSearch":
                options: Document = index["cosmosSearchOptions"]
                return options
        raise bad("Similarity index was not found for a vector similarity search query.")

    def _check_filter(self, table: Table, query: Document) -> None:
        indexed = {name for index in table.indexes for name in index["key"]}
        for path in query:
            if path not in indexed:
                text = f"The index for filter path '{path}' was not found, please check whether the index is created."
                raise bad(text)

    def _candidates(self, options: Document, wanted: Document) -> int | None:
        kind = options["kind"]
        knob, least, most = _KNOBS.get(kind, _PROBES)
        allowed = {"path", "vector", "k", "filter", "exact", "score", knob}
        if unknown := sorted(wanted.keys() - allowed):
            raise bad(f"${unknown[0]} is no option of a search of {kind}")
        if knob in wanted and not least <= wanted[knob] <= most:
            raise bad(f"${knob} must be less than or equal to {most}.")
        if kind == "vector-ivf":
            return None
        found: int = wanted.get(knob, 40)
        return found


def _cannot(text: str) -> RefusalError:
    return RefusalError(67, "CannotCreateIndex", text)
