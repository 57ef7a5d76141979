"""What is in the account of the Cosmos DB double: databases, containers, items, and the rules of the service for them.

RefusedError as by the service: items over 2 MB, ids with forbidden signs, a partition key that is not the item's, batches of
more than 100 operations, policies that do not fit together, changed vector policies, conditions that fail.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import threading
from typing import Any

LARGEST = 2 * 1024 * 1024
RANGES = [("0", "", "7F"), ("1", "7F", "FF")]
_MOST = {"flat": 505, "quantizedFlat": 4096, "diskANN": 4096}
_CONTAINER = {
    "id",
    "partitionKey",
    "indexingPolicy",
    "vectorEmbeddingPolicy",
    "fullTextPolicy",
    "conflictResolutionPolicy",
    "geospatialConfig",
}
_numbers = itertools.count(1)


class RefusedError(Exception):
    """A request that the service refuses: status, code, message, and the finer status where there is one."""

    def __init__(self, status: int, code: str, message: str, finer: int = 0) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.finer = status, code, message, finer


def bad(message: str, finer: int = 0) -> RefusedError:
    """Return a refusal of something malformed."""
    return RefusedError(400, "BadRequest", message, finer)


def missing() -> RefusedError:
    """Return a refusal for what is not there."""
    return RefusedError(404, "NotFound", 'Message: {"Errors":["Resource Not Found."]}')


def _rid() -> str:
    return f"rid{next(_numbers):08}"


class Container:
    """Items by partition key and id."""

    def __init__(self, definition: dict[str, Any], *, features: set[str]) -> None:
        self.rid = _rid()
        self.features = features
        self.definition = self._checked(definition)
        self.items: dict[tuple[str, str], dict[str, Any]] = {}

    @property
    def key(self) -> str:
        """The name of the field that says the partition."""
        return str(self.definition["partitionKey"]["paths"][0][1:])

    def replace(self, definition: dict[str, Any]) -> None:
        """Change what may be changed."""
        new = self._checked(definition)
        for name in ("partitionKey", "vectorEmbeddingPolicy"):
            if new.get(name) != self.definition.get(name):
                raise bad(f"The {name} of a container cannot be changed.")
        self.definition = new

    def _checked(self, given: dict[str, Any]) -> dict[str, Any]:
        if unknown := {name for name in given if not name.startswith("_")} - _CONTAINER:
            raise bad(f"The container has properties that are not known: {sorted(unknown)}.")
        if len(given.get("partitionKey", {}).get("paths", [])) != 1:
            raise bad("A partition key path must be given.")
        policy = given.setdefault("indexingPolicy", {"includedPaths": [{"path": "/*"}], "excludedPaths": []})
        paths = [
            entry["path"] for name in ("includedPaths", "excludedPaths") for entry in policy.get(name, [])
        ]
        if "/*" not in paths:
            raise bad('The special mandatory indexing path "/" is not provided in any of the path type sets.')
        vectors = {
            one["path"]: one for one in given.get("vectorEmbeddingPolicy", {}).get("vectorEmbeddings", [])
        }
        if vectors and "vector" not in self.features:
            raise bad(
                "The Vector Embedding Policy requires the capability EnableNoSQLVectorSearch to be enabled."
            )
        for index in policy.get("vectorIndexes", []):
            if index["type"] not in _MOST or index["path"] not in vectors:
                raise bad(f"The vector index {index} does not fit the vector embedding policy.")
            if not 0 < vectors[index["path"]]["dimensions"] <= _MOST[index["type"]]:
                raise bad(f"The vector index type {index['type']} does not take so many dimensions.")
        words = [one["path"] for one in given.get("fullTextPolicy", {}).get("fullTextPaths", [])]
        if words and "text" not in self.features:
            raise bad("The Full Text Policy cannot be used: Full Text Search is not enabled for the account.")
        if any(index["path"] not in words for index in policy.get("fullTextIndexes", [])):
            raise bad("A full text index must be of a path of the full text policy.")
        return given

    def written(self) -> dict[str, Any]:
        """Return the container as the service describes it."""
        return {
            **self.definition,
            "_rid": self.rid,
            "_self": f"dbs/x/colls/{self.rid}/",
            "_etag": '"0"',
            "_ts": 1,
        }

    def of_range(self, name: str | None) -> list[dict[str, Any]]:
        """Return the items of a physical partition, or of all."""
        found = sorted(self.items.items())
        return [item for (key, _), item in found if name is None or range_of(key) == name]

    def find(self, key: str, name: str) -> dict[str, Any]:
        """Return an item."""
        if (key, name) not in self.items:
            raise missing()
        return self.items[key, name]

    def put(self, key: str, item: dict[str, Any], how: str, match: str | None = None) -> dict[str, Any]:
        """Create, upsert or replace an item."""
        name = item.get("id")
        if not isinstance(name, str) or not name or len(name) > 1023 or set(name) & set("/\\?#"):
            raise bad("The input id is invalid.")
        if item.get(self.key) != key:
            raise bad(
                "PartitionKey extracted from document doesn't match the one specified in the header.", 1001
            )
        if len(json.dumps(item, ensure_ascii=False).encode()) > LARGEST:
            raise RefusedError(413, "RequestEntityTooLarge", "Request size is too large.")
        there = self.items.get((key, name))
        if how == "create" and there is not None:
            raise RefusedError(409, "Conflict", "Entity with the specified id already exists in the system.")
        if how == "replace" and there is None:
            raise missing()
        if match is not None and (there is None or there["_etag"] != match):
            raise RefusedError(
                412, "PreconditionFailed", "Operation cannot be performed because a condition is not met."
            )
        number = next(_numbers)
        kept = {**item, "_rid": there["_rid"] if there else _rid(), "_etag": f'"{number:08}"', "_ts": number}
        self.items[key, name] = kept
        return kept

    def batch(self, key: str, operations: list[dict[str, Any]]) -> tuple[int, list[dict[str, Any]]]:
        """Carry out operations, all or none."""
        if len(operations) > 100:
            raise bad("Batch request has more operations than what is supported (100).")
        before = dict(self.items)
        results: list[dict[str, Any]] = []
        for at, operation in enumerate(operations):
            try:
                results.append(self._operation(key, operation))
            except RefusedError as refusal:  # noqa: PERF203
                self.items = before
                failed = [{"statusCode": 424, "requestCharge": 0} for _ in operations]
                failed[at] = {"statusCode": refusal.status, "requestCharge": 1}
                return 207, failed
        return 200, results

    def _operation(self, key: str, operation: dict[str, Any]) -> dict[str, Any]:
        kind = operation["operationType"]
        if kind == "Delete":
            self.find(key, operation["id"])
            del self.items[key, operation["id"]]
            return {"statusCode": 204, "requestCharge": 1}
        if kind not in ("Upsert", "Create"):
            raise bad(f"The double does not know the operation {kind}.")
        item = self.put(key, operation["resourceBody"], kind.lower())
        return {"statusCode": 201, "requestCharge": 1, "eTag": item["_etag"], "resourceBody": item}


class Account:
    """Databases with their containers; ``features`` are those that were enabled: vector and text."""

    def __init__(self) -> None:
        self.guard = threading.RLock()
        self.features = {"vector", "text"}
        self.databases: dict[str, dict[str, Container]] = {}

    def database(self, name: str) -> dict[str, Container]:
        """Return the containers of a database."""
        if name not in self.databases:
            raise missing()
        return self.databases[name]

    def container(self, database: str, name: str) -> Container:
        """Return a container."""
        containers = self.database(database)
        if name not in containers:
            raise missing()
        return containers[name]


def range_of(key: str) -> str:
    """Say in which physical partition a partition key is."""
    return RANGES[hashlib.sha256(key.encode()).digest()[0] % len(RANGES)][0]
