"""Entries in an index of their own: read as they are at that moment, claimed by their sequence number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from pinakes.errors import StoreUnavailableError
from pinakes.stores.providers.opensearch.client import Connection
from pinakes.stores.retry import retrying
from pinakes.stores.store import Entry

# Values are up to 30,000 characters: a page stays below some ten megabytes.
_PAGE = 200
_CONFLICT = 409
_NOT_FOUND = 404


class EntryIndex:
    """The half of a store that keeps entries."""

    def __init__(self, connection: Connection, index: str, alias: str, *, wait: bool) -> None:
        self._connection = connection
        self._index = index
        self._alias = alias
        self._wait = wait

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries."""
        self._write(({"index": {"_id": entry.key}}, entry._asdict()) for entry in entries)

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries."""
        self._write(({"delete": {"_id": key}}, None) for key in keys)

    def _write(self, actions: Iterator[tuple[dict[str, Any], Any]]) -> None:
        self._connection.bulk(self._alias, actions, wait=self._wait)
        if not self._wait:
            self._connection.call("POST", f"/{self._index}/_refresh")

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of entries."""
        found: dict[str, str] = {}
        for start in range(0, len(keys), _PAGE):
            answer = self._connection.call(
                "POST",
                f"/{self._index}/_mget",
                {"ids": list(keys[start : start + _PAGE])},
                params={"_source_includes": "value"},
            )
            found.update((doc["_id"], doc["_source"]["value"]) for doc in answer["docs"] if doc.get("found"))
        return found

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Return entries in batches, by key."""
        wanted = [{"term": {"kind": {"value": kind}}}]
        if group is not None:
            wanted.append({"term": {"group": {"value": group}}})
        body: dict[str, Any] = {
            "query": {"bool": {"filter": wanted}},
            "sort": [{"key": "asc"}],
            "size": _PAGE,
            "track_total_hits": False,
        }
        while hits := self._connection.call("POST", f"/{self._index}/_search", body)["hits"]["hits"]:
            yield [Entry(**hit["_source"]) for hit in hits]
            body["search_after"] = hits[-1]["sort"]

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Store an entry where its value is as expected."""
        unsure = False

        def attempt() -> bool:
            nonlocal unsure
            try:
                return self._swap(entry, expected)
            except StoreUnavailableError:
                unsure = True
                raise

        won = retrying(attempt)
        # An answer that was lost may have been a yes: then the value that stands in the way is ours.
        return won or (unsure and self.get([entry.key]).get(entry.key) == entry.value)

    def _swap(self, entry: Entry, expected: str | None) -> bool:
        name = quote(entry.key, safe="")
        params: dict[str, Any] = {"require_alias": "true", "refresh": "wait_for" if self._wait else "true"}
        path = f"/{self._alias}/_create/{name}"
        if expected is not None:
            held = self._connection.call(
                "GET", f"/{self._index}/_doc/{name}", ignore=(_NOT_FOUND,), retry=False
            )
            if not held.get("found") or held["_source"]["value"] != expected:
                return False
            path = f"/{self._alias}/_doc/{name}"
            params |= {"if_seq_no": held["_seq_no"], "if_primary_term": held["_primary_term"]}
        answer = self._connection.call(
            "PUT", path, entry._asdict(), params=params, ignore=(_CONFLICT,), retry=False
        )
        return answer.get("result") in ("created", "updated")
