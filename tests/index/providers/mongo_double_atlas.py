"""What MongoDB Atlas adds: search indexes, ``$vectorSearch``, ``$search`` and ``$rankFusion``.

After its documentation. An index answers only some time after it was made; what is written is found by a search a
moment later than by a query; a search on an index that does not exist finds nothing; one on an index that is being
built, or by a field that is not indexed, is refused.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

from tests.index.providers.mongo_double_data import Warehouse
from tests.index.providers.mongo_double_definitions import check_definition, filter_paths, token_paths
from tests.index.providers.mongo_double_match import matches
from tests.index.providers.mongo_double_table import Document, RefusalError, Table, bad
from tests.index.providers.mongo_double_text import bm25
from tests.index.providers.mongo_double_vectors import VectorTable, vector_of

_MOST_CANDIDATES = 10_000
_RANK_CONSTANT = 60
_SELECTING = {"$match", "$search", "$vectorSearch", "$sort", "$skip", "$limit", "$sample", "$geoNear"}
_STAGE = {"index", "path", "queryVector", "limit", "exact", "numCandidates", "filter"}
_MORE = {
    "createsearchindexes": {"createSearchIndexes", "indexes"},
    "dropsearchindex": {"dropSearchIndex", "name"},
}


class SearchTable(Table):
    """A collection whose changes reach its search indexes a moment later."""

    def __init__(self, lag: float) -> None:
        super().__init__()
        self._lag = lag
        self._under_way: deque[tuple[float, Any, Document | None]] = deque()
        self._found: dict[Any, Document] = {}
        self.found_version = 0
        self.searchable: dict[str, Document] = {}
        self.vectors = VectorTable()

    def put(self, document: Document) -> None:
        """Store a document; searches see it later."""
        super().put(document)
        self._under_way.append((time.monotonic() + self._lag, document["_id"], document))

    def remove(self, key: Any) -> None:
        """Delete a document; searches see it for a while yet."""
        super().remove(key)
        self._under_way.append((time.monotonic() + self._lag, key, None))

    def settled(self) -> bool:
        """Whether searches see everything."""
        self.found()
        return not self._under_way

    def found(self) -> dict[Any, Document]:
        """Return the documents that a search sees now."""
        while self._under_way and self._under_way[0][0] <= time.monotonic():
            _, key, document = self._under_way.popleft()
            self.found_version += 1
            if document is None:
                self._found.pop(key, None)
            else:
                self._found[key] = document
        return self._found


class AtlasWarehouse(Warehouse):
    """A cluster with search; an older one has no fusion."""

    def __init__(self, *, lag: float = 0.05, building: float = 0.1, fusion: bool = True) -> None:
        super().__init__()
        self._lag = lag
        self._building = building
        self._fusion = fusion

    def more_commands(self) -> dict[str, set[str]]:
        """Return the commands on search indexes."""
        return _MORE

    def table(self, command: Document, *, make: bool = False) -> Table:
        """Return the collection; its changes reach the search indexes later."""
        key = command["$db"], next(iter(command.values()))
        if make and key not in self.tables:
            self.tables[key] = SearchTable(self._lag)
        return self.tables.get(key) or SearchTable(self._lag)

    def settled(self) -> bool:
        """Whether searches see everything that was written."""
        return all(table.settled() for table in self.tables.values() if isinstance(table, SearchTable))

    def do_create(self, command: Document) -> Document:
        """Make a collection."""
        super().do_create(command)
        self.tables[command["$db"], command["create"]] = SearchTable(self._lag)
        return {}

    def do_createsearchindexes(self, command: Document) -> Document:
        """Begin to build search indexes."""
        table = self.tables.get((command["$db"], command["createSearchIndexes"]))
        if not isinstance(table, SearchTable):
            raise RefusalError(26, "NamespaceNotFound", "Collection does not exist.")
        made = []
        for index in command["indexes"]:
            check_definition(index)
            there = table.searchable.get(index["name"])
            if there and there["latestDefinition"] != index["definition"]:
                raise RefusalError(
                    68, "IndexAlreadyExists", f"Index {index['name']} already exists with other options"
                )
            table.searchable.setdefault(index["name"], {**_described(index), "due": self._due()})
            made.append({"id": f"id of {index['name']}", "name": index["name"]})
        return {"indexesCreated": made}

    def do_dropsearchindex(self, command: Document) -> Document:
        """Delete a search index."""
        table = self.table(command)
        if not isinstance(table, SearchTable) or table.searchable.pop(command["name"], None) is None:
            raise RefusalError(27, "IndexNotFound", "Index not found")
        return {}

    def _due(self) -> float:
        return time.monotonic() + self._building

    def first_stage(self, table: Table, name: str, spec: Any) -> list[tuple[Document, Document]] | None:
        """Search, or describe the search indexes."""
        assert isinstance(table, SearchTable)
        if name == "$listSearchIndexes":
            wanted = [
                one for one in table.searchable.values() if spec.get("name", one["name"]) == one["name"]
            ]
            return [(_state(one), {}) for one in wanted]
        if name == "$vectorSearch":
            return self._nearest(table, spec)
        if name == "$search":
            return self._text(table, spec)
        if name == "$rankFusion" and self._fusion:
            return self._fused(table, spec)
        return None

    def _index(self, table: SearchTable, name: str) -> Document | None:
        index = table.searchable.get(name)
        if index and index["due"] > time.monotonic():
            raise _search_error(f"cannot query search index {name} while in state INITIAL_SYNC")
        return index

    def _nearest(self, table: SearchTable, spec: Document) -> list[tuple[Document, Document]]:
        if unknown := sorted(spec.keys() - _STAGE):
            raise bad(f'$vectorSearch: unrecognized field "{unknown[0]}"')
        _check_amounts(spec)
        if (query := vector_of(spec.get("queryVector"))) is None:
            raise _search_error('"queryVector" must be an array of numbers or a BSON vector')
        if (index := self._index(table, spec["index"])) is None:
            return []
        length, path = _vector_field(index, spec["path"])
        if len(query) != length:
            raise _search_error(
                f"vector field is indexed with {length} dimensions but queried with {len(query)}"
            )
        chosen = spec.get("filter", {})
        for field, wanted in chosen.items():
            if field not in filter_paths(index["latestDefinition"]):
                raise _search_error(f"Path '{field}' needs to be indexed as filter")
            if wanted == {"$in": []}:
                raise _search_error(f'"filter.{field}.$in" cannot be empty')
        ranked = table.vectors.nearest(table.found(), table.found_version, query, path)
        fit = [row for row in ranked if matches(row[0], chosen)][: spec["limit"]]
        return [(document, {"vectorSearchScore": (1 + cosine) / 2}) for document, cosine in fit]

    def _text(self, table: SearchTable, spec: Document) -> list[tuple[Document, Document]]:
        if (index := self._index(table, spec.get("index", "default"))) is None:
            return []
        definition = index["latestDefinition"]
        stored = spec.get("returnStoredSource", False)
        if stored and "storedSource" not in definition:
            raise _search_error("storedSource is not configured for this index")
        operators = {name: one for name, one in spec.items() if name not in ("index", "returnStoredSource")}
        if list(operators) == ["text"]:
            text, chosen = operators["text"], None
        elif list(operators) == ["compound"] and operators["compound"].keys() == {"must", "filter"}:
            ((must,), (only,)) = operators["compound"]["must"], operators["compound"]["filter"]
            text, chosen = must["text"], only["in"]
            if chosen["path"] not in token_paths(definition):
                raise _search_error(f"Path '{chosen['path']}' needs to be indexed as token")
        else:
            raise _search_error("the double knows the operators text and compound with must and filter")
        if text.keys() != {"query", "path"} or not text["query"]:
            raise _search_error('"text.query" cannot be empty')
        rows = bm25(list(table.found().values()), text["path"], definition, text["query"])
        fit = [row for row in rows if chosen is None or row[0].get(chosen["path"]) in chosen["value"]]
        return [
            ({"_id": document["_id"]} if stored else document, {"searchScore": score})
            for document, score in fit
        ]

    def _fused(self, table: SearchTable, spec: Document) -> list[tuple[Document, Document]]:
        if spec.keys() - {"input", "combination", "scoreDetails"}:
            raise RefusalError(40415, "Location40415", "BSON field '$rankFusion' has an unknown field.")
        pipelines: dict[str, list[Document]] = spec["input"]["pipelines"]
        weights: dict[str, float] = spec.get("combination", {}).get("weights", {})
        if weights.keys() - pipelines.keys() or any(weight < 0 for weight in weights.values()):
            raise RefusalError(
                9967500, "Location9967500", "$rankFusion weights must name pipelines and not be negative"
            )
        scores: dict[Any, float] = {}
        held: dict[Any, Document] = {}
        for name, stages in pipelines.items():
            _check_selection(name, stages)
            for rank, (document, _) in enumerate(self.pipeline(table, stages), start=1):
                held[document["_id"]] = document
                gained = weights.get(name, 1.0) / (_RANK_CONSTANT + rank)
                scores[document["_id"]] = scores.get(document["_id"], 0.0) + gained
        order = sorted(scores, key=lambda key: -scores[key])
        return [(held[key], {"score": scores[key]}) for key in order]


def _check_selection(name: str, stages: list[Document]) -> None:
    for stage in stages:
        ((kind, spec),) = stage.items()
        if kind not in _SELECTING or (kind == "$search" and spec.get("returnStoredSource")):
            raise RefusalError(
                9191103, "Location9191103", f"Pipeline {name} must only select, not modify, documents"
            )
    if next(iter(stages[0])) not in ("$search", "$vectorSearch", "$geoNear"):
        raise RefusalError(9191100, "Location9191100", f"Pipeline {name} must be ranked")


def _check_amounts(spec: Document) -> None:
    limit, candidates = spec.get("limit"), spec.get("numCandidates")
    if not isinstance(limit, int) or limit < 1:
        raise bad('$vectorSearch: "limit" must be positive')
    if spec.get("exact"):
        if candidates is not None:
            raise _search_error('"numCandidates" must be omitted for exact queries')
    elif candidates is None:
        raise _search_error('"numCandidates" is required')
    elif not limit <= candidates <= _MOST_CANDIDATES:
        raise _search_error(f'"limit" <= "numCandidates" <= {_MOST_CANDIDATES} does not hold')


def _vector_field(index: Document, path: str) -> tuple[int, str]:
    for field in index["latestDefinition"].get("fields", []):
        if field["type"] == "vector" and field["path"] == path:
            return field["numDimensions"], path
    raise _search_error(f"{path} is not indexed as vector")


def _described(index: Document) -> Document:
    kind = index.get("type", "search")
    return {"name": index["name"], "type": kind, "latestVersion": 0, "latestDefinition": index["definition"]}


def _state(index: Document) -> Document:
    ready = index["due"] <= time.monotonic()
    told = {name: value for name, value in index.items() if name != "due"}
    return {
        "id": f"id of {index['name']}",
        **told,
        "status": "READY" if ready else "BUILDING",
        "queryable": ready,
    }


def _search_error(text: str) -> RefusalError:
    return RefusalError(8, "UnknownError", f"PlanExecutor error during aggregation :: caused by :: {text}")
