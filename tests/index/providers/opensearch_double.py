"""A double of OpenSearch and Elasticsearch: their REST interface over loopback HTTP, as far as a store uses it.

It is no search engine. Written from the vendors' documentation, it speaks to the vendor's own client, keeps documents in
memory, ranks exactly (the graph is not imitated), and refuses what the real ones refuse: unknown fields, parameters and
settings, vectors of another length, too wide answers, writes to names that are no alias, and strangers.
"""

from __future__ import annotations

import base64
import json
import threading
from typing import Any

from tests.index.providers.loopback_http import LoopbackServer, RefusedError, Request
from tests.index.providers.opensearch_double_index import Index, error, make_index
from tests.index.providers.opensearch_double_query import search

USER, PASSWORD, API_KEY = "ann", "right-password", "aWQ6cmlnaHQta2V5"
READER, READER_PASSWORD = "reader", "reader-password"
_MAX_CONTENT = 100 * 1024 * 1024
_PARAMS = {
    "_bulk": {"require_alias", "refresh", "filter_path"},
    "_mget": {"_source_includes", "filter_path"},
    "_search": {"filter_path", "allow_partial_search_results"},
    "_create": {"require_alias", "refresh"},
    "_doc": {"require_alias", "refresh", "if_seq_no", "if_primary_term"},
}


class OpenSearchDouble(LoopbackServer):
    """One cluster of one node."""

    def __init__(self, *, elastic: bool = False, version: str = "") -> None:
        super().__init__()
        self.elastic = elastic
        self.version = version or ("9.2.1" if elastic else "3.2.0")
        self.indexes: dict[str, Index] = {}
        self._work = threading.RLock()

    def failure(self, status: int) -> Any:
        return error(status, "circuit_breaking_exception", "Data too large, try again").body

    def answer(self, request: Request) -> tuple[int, Any]:
        self._known(request)
        if len(request.body) > _MAX_CONTENT:
            raise RefusedError(413, None)
        with self._work:
            status, body = self._route(request)
        wanted = request.params.get("filter_path")
        return status, only(body, wanted.split(",")) if wanted and status < 400 else body

    def _known(self, request: Request) -> None:
        sent = request.headers.get("authorization", "")
        right = [_basic(USER, PASSWORD), f"ApiKey {API_KEY}", _basic(READER, READER_PASSWORD)]
        if sent not in right:
            reason = f"unable to authenticate user [{sent}]" if self.elastic else "Unauthorized"
            raise error(401, "security_exception", reason)
        writes = request.method in ("PUT", "DELETE") or (request.path and request.path[-1] == "_bulk")
        if sent == _basic(READER, READER_PASSWORD) and writes:
            raise error(403, "security_exception", f"no permissions for [indices:data/write] and {READER}")

    def _route(self, request: Request) -> tuple[int, Any]:
        match (request.method, *request.path):
            case ("GET",):
                return 200, self._about()
            case ("PUT", name):
                return self._make(name, request)
            case ("DELETE", name):
                del self.indexes[self._index(name).name]
                return 200, {"acknowledged": True}
            case ("GET", name, "_mapping"):
                found = self._index(name)
                return 200, {found.name: {"mappings": found.mappings}}
            case ("POST", name, "_refresh"):
                self._index(name).refresh()
                return 200, {"_shards": {"total": 2, "successful": 1, "failed": 0}}
            case ("GET", name, "_count"):
                return 200, {"count": len(self._index(name).visible)}
            case ("POST", name, "_search"):
                return 200, self._search(name, request)
            case ("POST", name, "_mget"):
                return 200, self._mget(name, request)
            case ("POST", name, "_bulk"):
                return 200, self._bulk(name, request)
            case ("GET", name, "_doc", key):
                doc = self._index(name).read(key)
                return (200 if doc["found"] else 404), doc
            case ("PUT", name, ("_doc" | "_create") as action, key):
                return self._put(name, action, key, request)
        raise error(
            400, "illegal_argument_exception", f"no handler found for {request.method} {request.raw_path}"
        )

    def _about(self) -> dict[str, Any]:
        version: dict[str, Any] = {"number": self.version, "lucene_version": "10.2.2"}
        version["build_flavor" if self.elastic else "distribution"] = (
            "default" if self.elastic else "opensearch"
        )
        return {"name": "node-1", "cluster_name": "double", "version": version}

    def _make(self, name: str, request: Request) -> tuple[int, Any]:
        if name in self.indexes:
            raise error(
                400, "resource_already_exists_exception", f"index [{name}/x] already exists", index=name
            )
        self.indexes[name] = make_index(
            name, request.json() or {}, elastic=self.elastic, version=self.version
        )
        return 200, {"acknowledged": True, "shards_acknowledged": True, "index": name}

    def _index(self, name: str) -> Index:
        found = next((i for i in self.indexes.values() if name == i.name or name in i.aliases), None)
        if found is None:
            raise error(404, "index_not_found_exception", f"no such index [{name}]", index=name)
        return found

    def _written(self, name: str, request: Request) -> Index:
        if request.params.get("require_alias") != "true":
            raise AssertionError("a write to a name that is gone would make an index by itself")
        found = next((i for i in self.indexes.values() if name in i.aliases), None)
        if found is None:
            reason = f"no such index [{name}] and [require_alias] request flag is [true] and [{name}] is not an alias"
            raise error(404, "index_not_found_exception", reason, index=name)
        return found

    def _search(self, name: str, request: Request) -> dict[str, Any]:
        _check_params(request, "_search")
        hits = search(self._index(name), request.json(), elastic=self.elastic)
        return {
            "took": 1,
            "timed_out": False,
            "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
            "hits": {"max_score": None, "hits": hits},
        }

    def _mget(self, name: str, request: Request) -> dict[str, Any]:
        _check_params(request, "_mget")
        index, body = self._index(name), request.json()
        if body.keys() != {"ids"} or not body["ids"]:
            raise error(
                400, "action_request_validation_exception", "Validation Failed: 1: no documents to get;"
            )
        docs = [index.read(key) for key in body["ids"]]
        if fields := request.params.get("_source_includes"):
            for doc in docs:
                if doc["found"]:
                    doc["_source"] = {k: v for k, v in doc["_source"].items() if k in fields.split(",")}
        return {"docs": docs}

    def _bulk(self, name: str, request: Request) -> dict[str, Any]:
        _check_params(request, "_bulk")
        if not request.body.endswith(b"\n"):
            raise error(
                400, "illegal_argument_exception", "The bulk request must be terminated by a newline [\\n]"
            )
        if "ndjson" not in request.headers["content-type"]:
            raise error(406, "media_type_header_exception", "Invalid media-type")
        lines = iter(request.body.decode("utf-8").split("\n")[:-1])
        items, touched = [], False
        for line in lines:
            ((action, target),) = json.loads(line).items()
            document = json.loads(next(lines)) if action == "index" else {}
            try:
                index = self._written(name, request)
                touched = True
                result = (
                    index.delete(target["_id"])
                    if action == "delete"
                    else index.write(target["_id"], document)
                )
                items.append({action: result})
            except RefusedError as refusal:
                items.append(
                    {action: {"_id": target["_id"], "status": refusal.status, "error": refusal.body["error"]}}
                )
        if touched and request.params.get("refresh"):
            self._written(name, request).refresh()
        return {"took": 1, "errors": any("error" in i for a in items for i in a.values()), "items": items}

    def _put(self, name: str, action: str, key: str, request: Request) -> tuple[int, Any]:
        _check_params(request, action)
        index = self._written(name, request)
        seq = request.params.get("if_seq_no")
        if action == "_create" and key in index.docs:
            raise error(409, "version_conflict_engine_exception", f"[{key}]: document already exists")
        if seq is not None and (key not in index.docs or index.docs[key].seq_no != int(seq)):
            raise error(409, "version_conflict_engine_exception", f"[{key}]: required seqNo [{seq}]")
        result = index.write(key, request.json())
        if request.params.get("refresh"):
            index.refresh()
        return result["status"], {**result, "_id": key}


def only(body: Any, paths: list[str]) -> Any:
    """Return the parts of an answer that ``filter_path`` names; what is left empty is left out."""
    found: dict[str, Any] = {}
    if not isinstance(body, dict):
        return body
    for name, value in body.items():
        rest = [p.partition(".")[2] for p in paths if p.partition(".")[0] in (name, "*")]
        if not rest:
            continue
        if "" in rest:
            found[name] = value
        elif isinstance(value, list):
            if kept := [part for part in (only(item, rest) for item in value) if part]:
                found[name] = kept
        elif kept := only(value, rest):
            found[name] = kept
    return found


def _basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def _check_params(request: Request, action: str) -> None:
    if unknown := request.params.keys() - _PARAMS[action]:
        reason = f"request [{request.raw_path}] contains unrecognized parameters: {sorted(unknown)}"
        raise error(400, "illegal_argument_exception", reason)
