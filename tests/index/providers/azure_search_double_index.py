"""An index of the double of Azure AI Search: its fields, its documents, and when they can be found."""

from __future__ import annotations

import re
import threading
import time
from typing import Any, NamedTuple

MAX_ACTIONS = 1_000
_NAME = re.compile(r"(?=.{2,128}$)[a-z0-9]+(?:-[a-z0-9]+)*")
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,127}")
_KEY = re.compile(r"(?!_)[A-Za-z0-9_\-=]{1,1024}")
_VECTORS = "Collection(Edm.Single)"
_ATTRIBUTES = {
    "name", "type", "key", "retrievable", "stored", "searchable", "filterable", "sortable", "facetable", "analyzer",
    "searchAnalyzer", "indexAnalyzer", "normalizer", "dimensions", "vectorSearchProfile", "synonymMaps",
}  # fmt: skip
_INDEX = {"name", "description", "fields", "similarity", "vectorSearch", "analyzers", "@odata.etag"}
_ANALYZERS = {"whitespace", "keyword", "simple", "standard.lucene", "en.lucene"}
_BOUNDS = {"m": (4, 10), "efConstruction": (100, 1000), "efSearch": (100, 1000)}


class RefusedError(Exception):
    """The service would refuse this."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Write(NamedTuple):
    visible_at: float
    key: str
    document: dict[str, Any] | None


class Index:
    """The definition and the documents. What is written can be found a little later, as with the service."""

    def __init__(self, definition: dict[str, Any], delay: float) -> None:
        self.definition = definition
        self.fields = {field["name"]: field for field in definition["fields"]}
        self.key = next(name for name, field in self.fields.items() if field.get("key"))
        self._delay = delay
        self._documents: dict[str, dict[str, Any]] = {}
        self._pending: list[_Write] = []
        self._guard = threading.Lock()

    def documents(self) -> list[dict[str, Any]]:
        """Return what can be found by now."""
        with self._guard:
            self._apply(time.monotonic())
            return list(self._documents.values())

    def settle(self) -> None:
        """Let all that was written be found."""
        with self._guard:
            self._apply(float("inf"))

    def _apply(self, now: float) -> None:
        while self._pending and self._pending[0].visible_at <= now:
            write = self._pending.pop(0)
            if write.document is None:
                self._documents.pop(write.key, None)
            else:
                self._documents[write.key] = write.document

    def write(self, actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Take a batch: all of it is looked at before any of it is stored."""
        if len(actions) > MAX_ACTIONS:
            raise RefusedError(400, f"Only {MAX_ACTIONS} indexing actions are allowed per request")
        if not actions:
            raise RefusedError(400, "The request is invalid: no indexing actions found in the request")
        writes = [self._check(dict(action)) for action in actions]
        with self._guard:
            self._pending += writes
        return [
            {"key": write.key, "status": True, "errorMessage": None, "statusCode": 200} for write in writes
        ]

    def _check(self, action: dict[str, Any]) -> _Write:
        kind = action.pop("@search.action", "upload")
        if kind not in ("upload", "delete"):
            raise RefusedError(400, f"the double knows no action {kind}")
        key = action.get(self.key)
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise RefusedError(
                400,
                f"Invalid document key: '{key}'. Keys can only contain letters, digits, '_', '-' and '='.",
            )
        for name, value in action.items():
            self._check_value(name, value)
        complete = {name: action.get(name) for name in self.fields}
        return _Write(time.monotonic() + self._delay, key, complete if kind == "upload" else None)

    def _check_value(self, name: str, value: Any) -> None:
        field = self.fields.get(name)
        if field is None:
            raise RefusedError(400, f"The property '{name}' does not exist on type 'search.documentFields'.")
        if value is None:
            return
        if field["type"] == _VECTORS:
            if len(value) != field["dimensions"]:
                raise RefusedError(
                    400,
                    f"The vector field '{name}', with dimension of '{field['dimensions']}', expects a length of "
                    f"'{field['dimensions']}'. However, the provided vector has a length of '{len(value)}'.",
                )
        elif not isinstance(value, str):
            raise RefusedError(400, f"Cannot convert the value of '{name}' to the expected type 'Edm.String'")
        elif field.get("filterable") and len(value.encode()) > 32_766:
            raise RefusedError(400, f"Field '{name}' contains a term that is too large to process.")

    def demand(self, name: str, attribute: str) -> dict[str, Any]:
        """Return a field that is to be filtered, sorted, searched or returned; refuse one that is not made for it."""
        field = self.fields.get(name)
        if field is None:
            raise RefusedError(400, f"Could not find a property named '{name}' on type 'search.document'.")
        if not field.get(attribute, attribute == "retrievable"):
            raise RefusedError(400, f"The field '{name}' is not {attribute}.")
        return dict(field)


def check_index(definition: dict[str, Any]) -> None:
    """Refuse an index that the service would not make."""
    if not _NAME.fullmatch(definition["name"]):
        raise RefusedError(
            400,
            "Invalid index name: Index name must only contain lowercase letters, digits or dashes, cannot start or end "
            "with dashes and is limited to 128 characters.",
        )
    if unknown := definition.keys() - _INDEX:
        raise RefusedError(400, f"the double knows no {sorted(unknown)} of an index")
    if sum(bool(field.get("key")) for field in definition["fields"]) != 1:
        raise RefusedError(400, "There must be exactly one key field.")
    for field in definition["fields"]:
        _check_field(field, definition.get("vectorSearch") or {})


def _check_field(field: dict[str, Any], vectors: dict[str, Any]) -> None:
    name = field["name"]
    if unknown := field.keys() - _ATTRIBUTES:
        raise RefusedError(400, f"The property '{sorted(unknown)[0]}' does not exist on a field.")
    if not _FIELD.fullmatch(name) or name.lower().startswith("azuresearch"):
        raise RefusedError(400, f"Invalid field name: '{name}'.")
    if field.get("analyzer") and (field["analyzer"] not in _ANALYZERS or not field.get("searchable")):
        raise RefusedError(400, f"The analyzer of '{name}' is unknown, or the field is not searchable.")
    if field["type"] != _VECTORS:
        if field["type"] != "Edm.String":
            raise RefusedError(400, f"the double keeps texts, not {field['type']}")
        return
    if field.get("filterable") or field.get("sortable") or field.get("facetable"):
        raise RefusedError(400, f"The vector field '{name}' cannot be filterable, sortable or facetable.")
    if not 2 <= field.get("dimensions", 0) <= 4096:
        raise RefusedError(
            400, f"The vector field '{name}' must have the property 'dimensions' set, 2 to 4096."
        )
    profiles = {profile["name"]: profile["algorithm"] for profile in vectors.get("profiles", ())}
    algorithms = {algorithm["name"]: algorithm for algorithm in vectors.get("algorithms", ())}
    algorithm = algorithms.get(profiles.get(field.get("vectorSearchProfile"), ""))
    if algorithm is None or algorithm["kind"] not in ("hnsw", "exhaustiveKnn"):
        raise RefusedError(400, f"The vector field '{name}' names a profile or algorithm that is not there.")
    for key, value in (algorithm.get("hnswParameters") or {}).items():
        low, high = _BOUNDS.get(key, (None, None))
        if low is not None and high is not None and not low <= value <= high:
            raise RefusedError(400, f"'{key}' must be between {low} and {high}.")
