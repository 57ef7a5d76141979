"""A double of a Weaviate server: no Weaviate, but what its client sees of one, over loopback.

It speaks the REST of collections and the gRPC of objects to the vendor's own client, with the messages that the
client carries, and refuses what a server refuses: wrong keys, unknown fields, other lengths of vectors, too many
results, filters on fields without an index, a cursor with a filter. It keeps everything in memory, compares every
vector where a server would use HNSW, and has one node.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import numpy as np
from tests.index.providers.weaviate_azure_http import Answer, HttpDouble, Request
from tests.index.providers.weaviate_double_data import (
    MAX_RESULTS,
    RefusedError,
    Stored,
    Table,
    check_class,
    fused,
)
from weaviate.proto.v1 import (
    aggregate_pb2,
    base_pb2,
    base_search_pb2,
    batch_delete_pb2,
    batch_pb2,
    properties_pb2,
    search_get_pb2,
    weaviate_pb2_grpc,
)

KEY = "a-key-that-works"
READER = "a-key-that-may-only-read"
# What older servers take in a message.
MESSAGE_BYTES = 10_485_760


class WeaviateDouble:
    """Both servers, with what they keep."""

    def __init__(self, version: str = "1.36.0") -> None:
        self.version = version
        self.keys = {KEY, READER}
        self.tables: dict[str, Table] = {}
        self.requests: list[Any] = []
        self._http = HttpDouble(self._rest)
        self._rpc: Any = None
        self.grpc_port = 0
        self._start_rpc()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.port}"

    def start(self) -> None:
        """Come back with what was kept."""
        self._http.start()
        self._start_rpc()

    def stop(self) -> None:
        """Go away."""
        self._http.stop()
        self._rpc.stop(0).wait()

    def _start_rpc(self) -> None:
        options = [
            ("grpc.max_receive_message_length", MESSAGE_BYTES),
            ("grpc.max_send_message_length", MESSAGE_BYTES),
        ]
        self._rpc = grpc.server(ThreadPoolExecutor(8), options=options)
        weaviate_pb2_grpc.add_WeaviateServicer_to_server(_Rpc(self), self._rpc)  # type: ignore[no-untyped-call]
        self.grpc_port = self._rpc.add_insecure_port(f"127.0.0.1:{self.grpc_port}")
        self._rpc.start()

    # -- REST ------------------------------------------------------------------------------------------------

    def _rest(self, request: Request) -> Answer:
        path = request.target.partition("?")[0]
        if path in ("/v1/.well-known/ready", "/v1/.well-known/live"):
            return Answer(200)
        if path == "/v1/.well-known/openid-configuration":
            return Answer(404)
        key = request.headers.get("authorization", "")
        if key.removeprefix("Bearer ") not in self.keys:
            return Answer(401, {"code": 401, "message": "unauthorized: invalid api key"})
        if request.method != "GET" and key == f"Bearer {READER}":
            return Answer(
                403, {"error": [{"message": "authorization, forbidden action: insufficient permissions"}]}
            )
        if path == "/v1/meta":
            meta = {"hostname": self.url, "version": self.version, "grpcMaxMessageSize": MESSAGE_BYTES}
            return Answer(200, {**meta, "modules": {}})
        if path == "/v1/schema" and request.method == "POST":
            return self._create(request.json())
        if path.startswith("/v1/schema/"):
            name = path.removeprefix("/v1/schema/")
            if request.method == "DELETE":
                self.tables.pop(name, None)
                return Answer(200)
            return Answer(200, self.tables[name].config) if name in self.tables else Answer(404)
        return Answer(404, {"code": 404, "message": f"path {path} was not found"})

    def _create(self, config: dict[str, Any]) -> Answer:
        try:
            check_class(config)
        except RefusedError as refusal:
            return Answer(422, {"error": [{"message": str(refusal)}]})
        for vectors in config["vectorConfig"].values():
            vectors["vectorIndexConfig"] = {**_HNSW, **(vectors.get("vectorIndexConfig") or {})}
        kept = {**_SERVER_SIDE, **config, "invertedIndexConfig": _inverted(config)}
        if self.tables.setdefault(config["class"], table := Table(kept)) is not table:
            return Answer(422, {"error": [{"message": f"class name {config['class']} already exists"}]})
        return Answer(200, kept)


# What a server adds to the description of a collection, and the client reads.
_SERVER_SIDE: dict[str, Any] = {
    "multiTenancyConfig": {"enabled": False, "autoTenantCreation": False, "autoTenantActivation": False},
    "replicationConfig": {"factor": 1, "asyncEnabled": False, "deletionStrategy": "NoAutomatedResolution"},
    "shardingConfig": {
        "actualCount": 1,
        "actualVirtualCount": 128,
        "desiredCount": 1,
        "desiredVirtualCount": 128,
        "function": "murmur3",
        "key": "_id",
        "strategy": "hash",
        "virtualPerPhysical": 128,
    },
}

_HNSW: dict[str, Any] = {
    "cleanupIntervalSeconds": 300,
    "distance": "cosine",
    "dynamicEfFactor": 8,
    "dynamicEfMax": 500,
    "dynamicEfMin": 100,
    "ef": -1,
    "efConstruction": 128,
    "flatSearchCutoff": 40_000,
    "maxConnections": 32,
    "skip": False,
    "vectorCacheMaxObjects": 1_000_000_000_000,
}


def _inverted(config: dict[str, Any]) -> dict[str, Any]:
    given = config.get("invertedIndexConfig", {})
    return {
        "bm25": {"b": 0.75, "k1": 1.2},
        "cleanupIntervalSeconds": 60,
        **given,
        "stopwords": {"preset": "en", "additions": None, "removals": None, **given.get("stopwords", {})},
    }


class _Rpc(weaviate_pb2_grpc.WeaviateServicer):
    """The gRPC half."""

    def __init__(self, double: WeaviateDouble) -> None:
        self._double = double

    def Search(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._admit(request, context)
        try:
            table = self._table(request.collection)
            return search_get_pb2.SearchReply(results=_search(table, request))
        except RefusedError as refusal:
            context.abort(grpc.StatusCode.UNKNOWN, str(refusal))

    def BatchObjects(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._admit(request, context, writes=True)
        reply = batch_pb2.BatchObjectsReply()
        for at, item in enumerate(request.objects):
            if why := self._insert(item):
                reply.errors.append(batch_pb2.BatchObjectsReply.BatchError(index=at, error=why))
        return reply

    def _insert(self, item: Any) -> str:
        properties = dict(item.properties.non_ref_properties.items())
        vectors = {held.name: _numbers(held.vector_bytes) for held in item.vectors}
        try:
            self._table(item.collection).insert(item.uuid, properties, vectors)
        except RefusedError as refusal:
            return str(refusal)
        return ""

    def BatchDelete(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._admit(request, context, writes=True)
        try:
            table = self._table(request.collection)
            found = table.passing(request.filters)[:MAX_RESULTS]
        except RefusedError as refusal:
            context.abort(grpc.StatusCode.UNKNOWN, str(refusal))
        for item in found:
            table.objects.pop(item.id, None)
        return batch_delete_pb2.BatchDeleteReply(matches=len(found), successful=len(found))

    def Aggregate(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._admit(request, context)
        try:
            total = len(self._table(request.collection).objects)
        except RefusedError as refusal:
            context.abort(grpc.StatusCode.UNKNOWN, str(refusal))
        return aggregate_pb2.AggregateReply(
            single_result=aggregate_pb2.AggregateReply.Single(objects_count=total)
        )

    def _admit(self, request: Any, context: Any, *, writes: bool = False) -> None:
        self._double.requests.append(request)
        key = dict(context.invocation_metadata()).get("authorization", "")
        if key.removeprefix("Bearer ") not in self._double.keys:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "unauthorized: invalid api key")
        if writes and key == f"Bearer {READER}":
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "authorization, forbidden action")

    def _table(self, name: str) -> Table:
        if name not in self._double.tables:
            raise RefusedError(f"could not find class {name} in schema")
        return self._double.tables[name]


def _search(table: Table, request: Any) -> list[Any]:
    if request.limit + request.offset > MAX_RESULTS:
        raise RefusedError("query maximum results exceeded: invalid pagination params")
    wanted = request.filters if request.HasField("filters") else None
    for name in request.properties.non_ref_properties:
        table.property_config(name)
    found = table.passing(wanted)
    limit = request.limit or 10
    if request.after:
        if wanted is not None:
            raise RefusedError(
                "cursor api: invalid 'after' parameter: where cannot be set with after and limit parameters"
            )
        later = sorted(
            (item for item in found if str(item.id) > request.after), key=lambda item: str(item.id)
        )
        return [_result(item, request) for item in later[:limit]]
    if request.HasField("near_vector"):
        table.filtered = wanted is not None
        near = table.nearest(_query_vector(request.near_vector), found)
        return [_result(item, request, distance=far) for far, item in near[:limit]]
    if request.HasField("bm25_search"):
        hits = table.ranked(request.bm25_search.query, list(request.bm25_search.properties), found)
        return [_result(item, request, score=score) for score, item in hits[:limit]]
    if request.HasField("hybrid_search"):
        asked = request.hybrid_search
        if asked.fusion_type != base_search_pb2.Hybrid.FUSION_TYPE_RELATIVE_SCORE:
            raise RefusedError("the double fuses by relative scores only")
        alpha = asked.alpha_param if asked.use_alpha_param else asked.alpha
        near = table.nearest(_query_vector(asked), found)[: max(limit, 100)]
        hits = table.ranked(asked.query, list(asked.properties), found)[: max(limit, 100)]
        return [_result(item, request, score=score) for score, item in fused(near, hits, alpha)[:limit]]
    return [_result(item, request) for item in found[request.offset : request.offset + limit]]


def _query_vector(asked: Any) -> Any:
    """Return the vector of a query; servers before 1.29 are given it in another field."""
    return _numbers(asked.vectors[0].vector_bytes if asked.vectors else asked.vector_bytes)


def _numbers(packed: bytes) -> Any:
    return np.frombuffer(packed, "<f4")


def _result(item: Stored, request: Any, *, distance: float | None = None, score: float | None = None) -> Any:
    metadata = search_get_pb2.MetadataResult(
        id=str(item.id),
        id_as_bytes=item.id.bytes,
        distance=distance,
        distance_present=request.metadata.distance and distance is not None,
        score=score,
        score_present=request.metadata.score and score is not None,
    )
    if request.metadata.vector and item.vector is not None:
        metadata.vectors.append(
            base_pb2.Vectors(
                name="default",
                vector_bytes=item.vector.astype("<f4").tobytes(),
                type=base_pb2.Vectors.VECTOR_TYPE_SINGLE_FP32,
            )
        )
    fields = {
        name: properties_pb2.Value(text_value=item.properties[name])
        if name in item.properties
        else properties_pb2.Value(null_value=0)
        for name in request.properties.non_ref_properties
    }
    properties = search_get_pb2.PropertiesResult(non_ref_props=properties_pb2.Properties(fields=fields))
    return search_get_pb2.SearchResult(metadata=metadata, properties=properties)
