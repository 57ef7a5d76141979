"""Points and entries as items of Azure Cosmos DB, and which of them go together."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pinakes.stores.providers.cosmos_nosql import queries
from pinakes.stores.providers.whole_words import whole_words
from pinakes.stores.store import Entry, Point

# What a transactional batch takes: operations, and bytes with room for what surrounds them.
OPERATIONS = 100
_BYTES = 1_500_000
_SHARDS = 32


def grouped(names: Sequence[str], group: Callable[[str], str]) -> dict[str, list[str]]:
    """Put names together that are in the same partition."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        groups[group(name)].append(name)
    return groups


def shard(key: str) -> str:
    """Say which shard an entry is in. The number of shards can never change."""
    return f"{hashlib.sha256(key.encode()).digest()[0] % _SHARDS:02}"


def record(entry: Entry) -> dict[str, Any]:
    """Write an entry as an item."""
    return {
        "id": entry.key,
        "shard": shard(entry.key),
        "kind": entry.kind,
        "group": entry.group,
        "value": entry.value,
    }


def item(point: Point) -> dict[str, Any]:
    """Write a point as an item; what has no vector or words has no such fields."""
    written: dict[str, Any] = {"id": point.id, "document": point.document}
    written.update((name, _sound(getattr(point, name))) for name in queries.PAYLOAD)
    if point.vector is not None:
        written["vector"] = queries.numbers(point.vector)
    if point.terms:
        written["words"] = " ".join(whole_words(point.terms))
    return written


def point(item: Mapping[str, Any]) -> Point:
    """Read a point, or what was asked of it."""
    vector = item.get("vector")
    payload = {name: item.get(name, "") for name in queries.PAYLOAD}
    return Point(
        item["id"], item["document"], None if vector is None else np.asarray(vector, np.float32), **payload
    )


def _sound(text: str) -> str:
    """Replace what is no character (half a surrogate pair, from a file name that is no Unicode)."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def batches(items: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Cut items into what a transactional batch takes."""
    batch: list[dict[str, Any]] = []
    size = 0
    for item in items:
        length = len(json.dumps(item, ensure_ascii=False).encode()) + 100
        if batch and (len(batch) == OPERATIONS or size + length > _BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += length
    if batch:
        yield batch
