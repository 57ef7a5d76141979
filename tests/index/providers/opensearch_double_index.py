"""One index of the double: what its mapping allows, its documents, and which of them a search sees."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.index.providers.loopback_http import RefusedError

_NAME = re.compile(r"[^A-Z\\/*?\"<>| ,#:]{1,255}")
_FIELDS = {
    "keyword": {"ignore_above", "index", "doc_values"},
    "text": {"analyzer", "index", "index_options"},
    "knn_vector": {"dimension", "method", "space_type"},
    "dense_vector": {"dims", "index", "similarity", "index_options"},
}
_SETTINGS = {"number_of_shards", "number_of_replicas", "analysis", "knn", "mapping.exclude_source_vectors"}
_LONGEST_TERM = 32_766


def error(status: int, kind: str, reason: str, **more: Any) -> RefusedError:
    """Return an error as both servers write it."""
    cause = {"type": kind, "reason": reason, **more}
    return RefusedError(status, {"error": {"root_cause": [cause], **cause}, "status": status})


@dataclass
class Stored:
    """A document, and the number of the write that made it."""

    source: dict[str, Any]
    seq_no: int


@dataclass
class Index:
    """Documents under a strict mapping. ``visible`` is what the last refresh made searchable."""

    name: str
    mappings: dict[str, Any]
    settings: dict[str, Any]
    aliases: set[str]
    hides_vectors: bool
    docs: dict[str, Stored] = field(default_factory=dict)
    visible: dict[str, dict[str, Any]] = field(default_factory=dict)
    seq_no: int = 0

    @property
    def properties(self) -> dict[str, Any]:
        found: dict[str, Any] = self.mappings["properties"]
        return found

    def refresh(self) -> None:
        self.visible = {key: doc.source for key, doc in self.docs.items()}

    def shown(self, source: dict[str, Any]) -> dict[str, Any]:
        """Return a document as the server gives it back: some leave vectors out."""
        return {k: v for k, v in source.items() if not (self.hides_vectors and k == "vector")}

    def read(self, key: str) -> dict[str, Any]:
        """Return a document as it is now, whether a search sees it yet or not."""
        if key not in self.docs:
            return {"_index": self.name, "_id": key, "found": False}
        doc = self.docs[key]
        about = {"_seq_no": doc.seq_no, "_primary_term": 1, "_version": 1}
        return {"_index": self.name, "_id": key, "found": True, "_source": self.shown(doc.source), **about}

    def write(self, key: str, source: dict[str, Any]) -> dict[str, Any]:
        if not 1 <= len(key.encode()) <= 512:
            raise error(400, "illegal_argument_exception", "id is too long, must be no longer than 512 bytes")
        for name, value in source.items():
            if name not in self.properties:
                reason = (
                    f"mapping set to strict, dynamic introduction of [{name}] within [_doc] is not allowed"
                )
                raise error(400, "strict_dynamic_mapping_exception", reason)
            self._check(name, value)
        result = "updated" if key in self.docs else "created"
        self.seq_no += 1
        self.docs[key] = Stored(source, self.seq_no)
        status = 200 if result == "updated" else 201
        return {"_id": key, "result": result, "status": status, "_seq_no": self.seq_no, "_primary_term": 1}

    def delete(self, key: str) -> dict[str, Any]:
        found = self.docs.pop(key, None)
        self.seq_no += 1
        return {
            "_id": key,
            "result": "deleted" if found else "not_found",
            "status": 200 if found else 404,
            "_seq_no": self.seq_no,
        }

    def _check(self, name: str, value: Any) -> None:
        shape = self.properties[name]
        if shape["type"] in ("knn_vector", "dense_vector"):
            wanted = shape.get("dimension") or shape.get("dims")
            if len(value) != wanted:
                reason = f"failed to parse field [{name}]; Vector dimension mismatch. Expected: {wanted}, Given: {len(value)}"
                raise error(400, "mapper_parsing_exception", reason)
            if not np.any(value):
                reason = "zero vector is not supported when space type is [cosinesimil]"
                raise error(400, "mapper_parsing_exception", reason)
            return
        if not isinstance(value, str):
            raise error(400, "mapper_parsing_exception", f"failed to parse field [{name}]")
        too_long = shape["type"] == "keyword" and "ignore_above" not in shape
        if too_long and len(value.encode()) > _LONGEST_TERM:
            reason = f'Document contains at least one immense term in field="{name}"'
            raise error(400, "illegal_argument_exception", reason)


def make_index(name: str, body: dict[str, Any], *, elastic: bool, version: str) -> Index:
    """Check what an index is to be like, as creating one does."""
    if not _NAME.fullmatch(name) or name[0] in "-_+":
        raise error(400, "invalid_index_name_exception", f"Invalid index name [{name}]")
    if unknown := body.keys() - {"settings", "mappings", "aliases"}:
        raise error(400, "parse_exception", f"unknown key {sorted(unknown)} for create index")
    settings = body.get("settings", {}).get("index", {})
    vendor = {"knn"} if elastic else {"mapping.exclude_source_vectors"}
    if elastic and version < "9.2":
        vendor = {"knn", "mapping.exclude_source_vectors"}
    if unknown := settings.keys() - (_SETTINGS - vendor):
        raise error(400, "illegal_argument_exception", f"unknown setting [index.{min(unknown)}]")
    mappings = body.get("mappings", {})
    if unknown := mappings.keys() - {"dynamic", "_meta", "properties"}:
        raise error(
            400, "mapper_parsing_exception", f"Root mapping definition has unsupported parameters: {unknown}"
        )
    analyzers = settings.get("analysis", {}).get("analyzer", {})
    for field_name, shape in mappings.get("properties", {}).items():
        _check_field(field_name, shape, analyzers, elastic=elastic, knn=bool(settings.get("knn")))
    hides = elastic and version >= "9.2" and settings.get("mapping.exclude_source_vectors", True)
    return Index(name, mappings, settings, set(body.get("aliases", {})), hides)


def _check_field(
    name: str, shape: dict[str, Any], analyzers: dict[str, Any], *, elastic: bool, knn: bool
) -> None:
    kind = shape.get("type", "object")
    if kind not in _FIELDS or kind == ("knn_vector" if elastic else "dense_vector"):
        raise error(
            400, "mapper_parsing_exception", f"No handler for type [{kind}] declared on field [{name}]"
        )
    if unknown := shape.keys() - _FIELDS[kind] - {"type"}:
        reason = f"unknown parameter {sorted(unknown)} on mapper [{name}] of type [{kind}]"
        raise error(400, "mapper_parsing_exception", reason)
    if (analyzer := shape.get("analyzer")) and analyzer not in analyzers:
        raise error(
            400, "mapper_parsing_exception", f"analyzer [{analyzer}] has not been configured in mappings"
        )
    if kind == "knn_vector":
        method = shape["method"]
        if not knn:
            raise error(400, "mapper_parsing_exception", "index.knn must be true")
        if method["engine"] not in ("lucene", "faiss", "nmslib") or not 1 <= shape["dimension"] <= 16_000:
            raise error(400, "mapper_parsing_exception", "Invalid engine or dimension")
        if method.keys() != {"name", "engine", "space_type", "parameters"}:
            raise error(400, "mapper_parsing_exception", "Invalid method")
        if method["parameters"].keys() - {"m", "ef_construction"}:
            raise error(400, "mapper_parsing_exception", 'Invalid parameter(s) for method "hnsw".')
    if kind == "dense_vector" and not 1 <= shape["dims"] <= 4096:
        raise error(
            400, "mapper_parsing_exception", "The number of dimensions should be in the range [1, 4096]"
        )
