"""The data plane of the double: records in namespaces, seen a little later than they are written."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.index.providers.loopback_http import RefusedError, Request

_MAX_BODY = 2 * 1024 * 1024
_MAX_METADATA = 40 * 1024
_MAX_RECORDS = 1_000
_MAX_FILTER = 10_000
_MAX_ADDRESS = 8_000
_BODIES = {
    "upsert": {"vectors", "namespace"},
    "query": {"topK", "includeValues", "includeMetadata", "namespace", "vector", "filter"},
    "delete": {"ids", "namespace"},
    "fetch_by_metadata": {"filter", "namespace", "limit", "paginationToken"},
    "describe_index_stats": set(),
}
Records = dict[str, dict[str, Any]]


def grpc_error(code: int, message: str) -> dict[str, Any]:
    """Return an error as the data plane writes it."""
    return {"code": code, "message": message, "details": []}


def refused(message: str, code: int = 3, status: int = 400) -> RefusedError:
    """Return a refusal of the data plane."""
    return RefusedError(status, grpc_error(code, message))


class Namespaces:
    """What is written is put on a list with a time, and done when that time has come."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._spaces: dict[str, Records] = {}
        self._later: list[tuple[float, Callable[[], None]]] = []
        self.known: set[str] = set()

    def write(self, namespace: str, change: Callable[[Records], None]) -> None:
        def run() -> None:
            change(self._spaces.setdefault(namespace, {}))

        self._later.append((time.monotonic() + self._delay, run))

    def pending(self) -> bool:
        return bool(self._later) and not self._catch_up()

    def _catch_up(self) -> bool:
        while self._later and self._later[0][0] <= time.monotonic():
            self._later.pop(0)[1]()
        return not self._later

    def read(self, namespace: str) -> Records:
        self._catch_up()
        return self._spaces.get(namespace, {})

    def counts(self) -> dict[str, Any]:
        self._catch_up()
        return {
            name or "__default__": {"vectorCount": len(held)} for name, held in self._spaces.items() if held
        }


class DataPlane:
    """The calls of one index."""

    def __init__(self, spaces: Namespaces, dimension: int) -> None:
        self._spaces = spaces
        self._dimension = dimension

    def answer(self, request: Request) -> Any:
        if len(request.raw_path) > _MAX_ADDRESS:
            raise RefusedError(414, None)
        if len(request.body) > _MAX_BODY:
            raise refused(
                f"Error, message length too large: found {len(request.body)} bytes, limit {_MAX_BODY}", 11
            )
        action = request.path[-1]
        body = request.json() if request.method == "POST" else {}
        if request.method == "POST" and (unknown := body.keys() - _BODIES[action]):
            raise refused(f"{sorted(unknown)}: Cannot find field.")
        match (request.method, *request.path[2:]):
            case ("POST", "vectors", "upsert"):
                return self._upsert(body)
            case ("POST", "vectors", "delete"):
                return self._delete(body)
            case ("POST", "vectors", "fetch_by_metadata"):
                return self._fetch_by_metadata(body)
            case ("GET", "vectors", "fetch"):
                return self._fetch(request)
            case ("GET", "vectors", "list"):
                return self._list(request.params)
            case ("POST", "query"):
                return self._query(body)
            case ("POST", "describe_index_stats"):
                counts = self._spaces.counts()
                total = sum(space["vectorCount"] for space in counts.values())
                return {"namespaces": counts, "dimension": self._dimension, "totalVectorCount": total}
        raise refused("Not found", 5, 404)

    # -- writing ---------------------------------------------------------------------------------------------

    def _upsert(self, body: dict[str, Any]) -> Any:
        records = body["vectors"]
        if not 1 <= len(records) <= _MAX_RECORDS:
            raise refused(f"The number of vectors must be between 1 and {_MAX_RECORDS}: {len(records)}")
        if len({record["id"] for record in records}) != len(records):
            raise refused("Duplicate IDs in one request")
        for record in records:
            self._check(record)
        namespace = body.get("namespace", "")
        self._spaces.known.add(namespace)
        self._spaces.write(namespace, lambda held: held.update({record["id"]: record for record in records}))
        return {"upsertedCount": len(records)}

    def _check(self, record: dict[str, Any]) -> None:
        if unknown := record.keys() - {"id", "values", "metadata"}:
            raise refused(f"vectors: Cannot find field {sorted(unknown)}.")
        name, values, metadata = record["id"], record["values"], record.get("metadata", {})
        if not (isinstance(name, str) and name.isascii() and 1 <= len(name) <= 512):
            raise refused("Vector ID must be ASCII and at most 512 characters")
        if len(values) != self._dimension:
            raise refused(
                f"Vector dimension {len(values)} does not match the dimension of the index {self._dimension}"
            )
        if not any(values):
            raise refused(
                f"Dense vectors must contain at least one non-zero value. Vector ID {name} contains none."
            )
        for key, value in metadata.items():
            texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
            if not (isinstance(value, (str, int, float, bool)) or texts):
                raise refused(
                    f"Metadata value must be a string, number, boolean or list of strings, got {key}"
                )
        size = len(json.dumps(metadata, ensure_ascii=False, separators=(",", ":")).encode())
        if size > _MAX_METADATA:
            raise refused(
                f"Metadata size is {size} bytes, which exceeds the limit of {_MAX_METADATA} bytes per vector"
            )

    def _delete(self, body: dict[str, Any]) -> Any:
        ids, namespace = body["ids"], body.get("namespace", "")
        if not 1 <= len(ids) <= _MAX_RECORDS:
            raise refused(f"Too many IDs to delete: {len(ids)}, the limit is {_MAX_RECORDS}")
        if namespace not in self._spaces.known:
            raise refused("Namespace not found", 5, 404)

        def forget(held: Records) -> None:
            for name in ids:
                held.pop(name, None)

        self._spaces.write(namespace, forget)
        return {}

    # -- reading ---------------------------------------------------------------------------------------------

    def _fetch(self, request: Request) -> Any:
        ids, namespace = request.repeated["ids"], request.params.get("namespace", "")
        if len(ids) > _MAX_RECORDS:
            raise refused("Too many IDs to fetch")
        held = self._spaces.read(namespace)
        return {"vectors": {name: held[name] for name in ids if name in held}, "namespace": namespace}

    def _list(self, params: dict[str, str]) -> Any:
        limit = int(params.get("limit", 100))
        if not 1 <= limit <= 100:
            raise refused("limit must be between 1 and 100")
        if unknown := params.keys() - {"prefix", "limit", "paginationToken", "namespace"}:
            raise refused(f"unknown parameter {sorted(unknown)}")
        names = sorted(self._spaces.read(params.get("namespace", "")))
        after = params.get("paginationToken", "")
        names = [name for name in names if name.startswith(params.get("prefix", "")) and name > after]
        return {"vectors": [{"id": name} for name in names[:limit]], **_more(names, limit)}

    def _fetch_by_metadata(self, body: dict[str, Any]) -> Any:
        limit = body.get("limit", 100)
        if not 1 <= limit <= 10_000 or not body["filter"]:
            raise refused("limit must be between 1 and 10000, and filter may not be empty")
        held = self._spaces.read(body.get("namespace", ""))
        after = body.get("paginationToken", "")
        names = sorted(name for name in held if name > after and _fits(held[name], body["filter"]))
        return {"vectors": {name: held[name] for name in names[:limit]}, **_more(names, limit)}

    def _query(self, body: dict[str, Any]) -> Any:
        heavy = body["includeValues"] or body["includeMetadata"]
        if not 1 <= body["topK"] <= (1_000 if heavy else 10_000):
            raise refused("topK is out of range")
        asked = np.asarray(body["vector"], np.float32)
        if len(asked) != self._dimension:
            raise refused(
                f"Vector dimension {len(asked)} does not match the dimension of the index {self._dimension}"
            )
        held = self._spaces.read(body.get("namespace", ""))
        some = [record for record in held.values() if _fits(record, body.get("filter") or {})]
        if not some:
            return {"matches": [], "namespace": body.get("namespace", "")}
        matrix = np.asarray([record["values"] for record in some], np.float32)
        scores = matrix @ asked / (np.linalg.norm(matrix, axis=1) * np.linalg.norm(asked))
        best = np.argsort(-scores, kind="stable")[: body["topK"]]
        matches = [{"id": some[at]["id"], "score": float(scores[at]), "values": []} for at in best]
        return {"matches": matches, "namespace": body.get("namespace", "")}


def _more(names: list[str], limit: int) -> dict[str, Any]:
    return {"pagination": {"next": names[limit - 1]}} if len(names) > limit else {}


def _fits(record: dict[str, Any], wanted: dict[str, Any]) -> bool:
    metadata = record.get("metadata", {})
    for name, condition in wanted.items():
        ((operator, value),) = condition.items()
        if operator == "$in":
            if not 1 <= len(value) <= _MAX_FILTER:
                raise refused("$in must have between 1 and 10000 values")
            if metadata.get(name) not in value:
                return False
        elif operator == "$eq":
            if metadata.get(name) != value:
                return False
        else:
            raise refused(f"{operator} is not a valid operator")
    return True
