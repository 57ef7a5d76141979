"""Weaviate, through its own client: REST for the collections, gRPC for their content."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import grpc
import httpx
from pydantic import PrivateAttr
from weaviate import WeaviateClient
from weaviate.auth import Auth
from weaviate.classes.config import (
    Configure,
    DataType,
    Property,
    StopwordsPreset,
    Tokenization,
    VectorDistances,
)
from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter, HybridFusion, MetadataQuery
from weaviate.collections import Collection as WeaviateCollection
from weaviate.config import AdditionalConfig, GrpcConfig, Timeout
from weaviate.connect.base import ConnectionParams, ProtocolParams
from weaviate.exceptions import (
    AuthenticationFailedError,
    UnexpectedStatusCodeError,
    WeaviateBaseError,
    WeaviateClosedClientError,
    WeaviateConnectionError,
    WeaviateInsertManyAllFailedError,
    WeaviateStartUpError,
    WeaviateTimeoutError,
)

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from loccit.index.providers.link import LONGEST_REASON, Link, Result, WebAddress, read_address
from loccit.index.providers.tables import (
    Documents,
    SizeWatch,
    TableStore,
    Weights,
    batches,
    read_vector,
    text_only,
)
from loccit.index.settings import DatabaseSettings
from loccit.index.store import PAYLOAD, Capabilities, Entry, Found, Point
from loccit.models.embedding.protocol import Vectors

PROVIDER = "weaviate"
_EXAMPLE = "http://localhost:8080 or https://NAME.weaviate.cloud"
_GRPC_PORT = 50051
# A server that comes back is noticed within half a second; gRPC would wait up to two minutes.
_CHANNEL = [
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 500),
]
_PASSING = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.CANCELLED,
)
_REFUSED = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)
_AWAY = (
    WeaviateConnectionError,
    WeaviateTimeoutError,
    WeaviateStartUpError,
    WeaviateClosedClientError,
    httpx.HTTPError,
)


class TooLargeError(StoreError):
    """A message is larger than the server or its client accepts."""


class WeaviateLink(Link[WeaviateClient]):
    """REST and gRPC behind one client."""

    errors: ClassVar[tuple[type[BaseException], ...]] = (WeaviateBaseError, httpx.HTTPError)

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._address = read_address(settings, _EXAMPLE)
        self._grpc = grpc_address(settings, self._address)

    def _connect(self) -> WeaviateClient:
        key, wait = self.settings.api_key, self.settings.timeout
        client = WeaviateClient(
            connection_params=_Params.over(self._address, self._grpc, self._grpc_error),
            auth_client_secret=Auth.api_key(key) if key else None,
            additional_config=AdditionalConfig(
                timeout=Timeout(query=wait, insert=wait, init=wait),
                grpc_config=GrpcConfig(channel_options=_CHANNEL),
            ),
            # Those checks query the package index on the internet for a newer client.
            skip_init_checks=True,
        )
        try:
            client.connect()
        except BaseException:
            client.close()
            raise
        return client

    def _translated(self, error: Any) -> StoreError:
        if isinstance(error, UnexpectedStatusCodeError):
            return self._status_error(error.status_code, str(error.error or ""))
        if isinstance(error, AuthenticationFailedError):
            return _access("asks for credentials")
        if isinstance(error, WeaviateStartUpError) and error.__cause__ is None:
            return StoreError(
                f"{PROVIDER}: the server is older than its client can use; Weaviate 1.27 or newer is needed."
            )
        return _gone() if isinstance(error, _AWAY) else self.error(str(error))

    def _status_error(self, status: int, detail: str) -> StoreError:
        if status in (401, 403):
            return _access(f"refuses them with status {status}")
        if status in (408, 429) or status >= 500:
            return _gone(f" (status {status})")
        return self.error(f"status {status}: {detail}")

    def _grpc_error(self, error: Any) -> StoreError:
        code, detail = error.code(), str(error.details() or "")
        if code in _REFUSED:
            return _access(f"refuses them with {code.name}")
        if "larger than max" in detail:
            return TooLargeError(
                f"{PROVIDER}: {detail[:LONGEST_REASON]}; GRPC_MAX_MESSAGE_SIZE of the server sets it."
            )
        if code in _PASSING:
            return _gone(f" ({code.name})")
        return self.error(f"{code.name}: {detail}")

    def error(self, detail: str) -> StoreError:
        """Return an error with the server's message, without the key."""
        return StoreError(f"{PROVIDER} could not complete the request: {self.shown(detail)}")


def _gone(why: str = "") -> StoreUnavailableError:
    return StoreUnavailableError(
        f"{PROVIDER} does not answer{why}: check that the server runs, and the connection_string and the options "
        "grpc_host and grpc_port. The timeout setting says how long to wait."
    )


def _access(how: str) -> StoreAccessError:
    return StoreAccessError(
        f"{PROVIDER}: the server {how}: check api_key, and that it may read and write the collection."
    )


def grpc_address(settings: DatabaseSettings, http: WebAddress) -> WebAddress:
    """Return the gRPC address of the server: the cloud has a separate host for it."""
    cloud = http.host.endswith(".weaviate.cloud")
    host = settings.option("grpc_host", f"grpc-{http.host}" if cloud else http.host)
    port = settings.option("grpc_port", 443 if cloud else _GRPC_PORT)
    if not 0 < port < 65536:
        raise UsageError(f"The option grpc_port of the database provider {PROVIDER} cannot be {port}.")
    if (host, port) == (http.host, http.port):
        raise UsageError(
            f"The option grpc_port of the database provider {PROVIDER} is the port of the connection_string: the "
            "server speaks gRPC on another one, 50051 unless it was changed."
        )
    return WebAddress(host, port, http.secure)


class _Params(ConnectionParams):
    """Connection parameters whose gRPC calls fail with our errors.

    The client turns the status of a failed call into text, and retries an unavailable one for more than a minute,
    whatever the timeout; errors that are not gRPC's own pass through unchanged.
    """

    _translate: Callable[[Any], StoreError] = PrivateAttr()

    @classmethod
    def over(cls, http: WebAddress, rpc: WebAddress, translate: Callable[[Any], StoreError]) -> _Params:
        params = cls(
            http=ProtocolParams(host=_bracketed(http.host), port=http.port, secure=http.secure),
            grpc=ProtocolParams(host=_bracketed(rpc.host), port=rpc.port, secure=rpc.secure),
        )
        params._translate = translate
        return params

    def _grpc_channel(self, *args: Any, **kwargs: Any) -> Any:
        channel = super()._grpc_channel(*args, **kwargs)
        return grpc.intercept_channel(channel, _Interceptor(self._translate))


class _Interceptor(grpc.UnaryUnaryClientInterceptor):  # type: ignore[misc]
    def __init__(self, translate: Callable[[Any], StoreError]) -> None:
        self._translate = translate

    def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        outcome = continuation(client_call_details, request)
        if isinstance(outcome, grpc.RpcError):
            raise self._translate(outcome) from outcome
        return outcome


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


Object = DataObject[Any, Any]

POINT_FIELDS = ("document", *PAYLOAD)
# What every point has in ``kind``: a filter that all pass makes the server compare every vector.
PASSAGE = "passage"
VECTOR = "default"
_POINTS = "Loccit passages with vectors of length {}; see the collection of entries beside it."
_POINTS_OURS = re.compile(r"Loccit passages with vectors of length (\d+);")
_ENTRIES = "Loccit entries: what the library knows of its documents."


def class_names(collection: str) -> tuple[str, str]:
    """Return the names of points and entries; a hyphen becomes two underscores, so all stay distinct.

    >>> class_names("tax-law_2024")
    ('Tax__law_2024Points', 'Tax__law_2024Entries')
    """
    name = collection.replace("-", "__")
    name = name[0].upper() + name[1:]
    return f"{name}Points", f"{name}Entries"


# A server's default QUERY_MAXIMUM_RESULTS.
WINDOW = 10_000
# Objects per page, alone and with their content.
_PAGE, _FULL_PAGE = 1_000, 250
_FIRST = uuid.UUID(int=0)
_ENTRY_IDS = uuid.UUID("6a0e3f4e-9f0b-5c61-8a51-0f1c3c2d7b11")


class WeaviateStore(TableStore[str, Any]):
    """Two collections: points with vectors of our own, and entries."""

    provider = "weaviate"
    capabilities: ClassVar[Capabilities] = Capabilities(
        keyword=True, hybrid=True, max_results=WINDOW, max_filter=1_000, batch=500
    )
    known_options: ClassVar[Mapping[str, str]] = {
        "grpc_host": "Host of the gRPC endpoint, where it is not that of the connection string.",
        "grpc_port": "Port of the gRPC endpoint: 50051, or 443 for weaviate.cloud.",
        "ef": "How many candidates the HNSW index keeps while it searches, at least as many as are asked for (512).",
        "ef_construction": "How carefully the HNSW index is built (256).",
        "max_connections": "Connections of a vector in the HNSW index (32).",
        "exact_below": "Below this many passages every vector is compared; set when the collection is made (40000).",
        "replicas": "Replication factor of a new collection; the server's own by default.",
        "tls": "false allows api_key over http:// to another machine.",
    }

    # A message may have 10 MB on older servers, 100 MB on newer ones.
    entries_at_once = 500
    bytes_at_once = 6_000_000
    page = _FULL_PAGE

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._link = WeaviateLink(settings)
        self._points, self._entries = class_names(settings.collection)
        self._exact_below: int = settings.option("exact_below", 40_000)
        self._watch = SizeWatch(self.count, self._exact_below)

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors, from the description of the collection."""
        description = self._link.call(lambda client: _description(client, self._points))
        if description is None:
            return None
        if (found := _POINTS_OURS.match(description)) is None:
            raise _foreign(self._points)
        return int(found[1])

    def _has_entries(self) -> bool:
        description = self._link.call(lambda client: _description(client, self._entries))
        if description not in (None, _ENTRIES):
            raise _foreign(self._entries)
        return description is not None

    def _make(self, dimension: int) -> None:
        """Create both collections, the points last: once these exist, everything does."""
        if self.dimension() is not None:
            return
        option = self.settings.option
        if not self._has_entries():
            self._make_one(
                self._entries,
                description=_ENTRIES,
                properties=[_exact("key"), _exact("kind"), _exact("group"), _kept("value")],
                vector_config=Configure.Vectors.self_provided(name=VECTOR),
            )
        words = Property(
            name="terms",
            data_type=DataType.TEXT,
            tokenization=Tokenization.WHITESPACE,
            index_filterable=False,
            index_searchable=True,
        )
        self._make_one(
            self._points,
            description=_POINTS.format(dimension),
            properties=[
                *map(_exact, ("kind", "document", "language", "file_type")),
                *map(_kept, ("source_path", "heading", "text")),
                words,
            ],
            vector_config=Configure.Vectors.self_provided(
                name=VECTOR,
                vector_index_config=Configure.VectorIndex.hnsw(
                    distance_metric=VectorDistances.COSINE,
                    ef=option("ef", 512),
                    ef_construction=option("ef_construction", 256),
                    max_connections=option("max_connections", 32),
                    flat_search_cutoff=max(self._exact_below, 0),
                ),
            ),
            # The words are already analysed: none of them is a stop word.
            inverted_index_config=Configure.inverted_index(stopwords_preset=StopwordsPreset.NONE),
        )

    def _make_one(self, name: str, **shape: Any) -> None:
        replicas = self.settings.option("replicas", 0)
        shape["replication_config"] = Configure.replication(factor=replicas) if replicas else None

        def make(client: WeaviateClient) -> None:
            try:
                client.collections.create(name, **shape)
            except UnexpectedStatusCodeError as error:
                # Two processes create it at once: the second is refused, but has what it wanted.
                if error.status_code != 422 or _description(client, name) is None:
                    raise

        self._link.call(make)

    def drop(self) -> None:
        """Delete both collections, if they are ours."""
        if self.dimension() is not None:
            self._link.call(partial(_delete_class, name=self._points))
        if self._has_entries():
            self._link.call(partial(_delete_class, name=self._entries))
        self._watch.forget()

    def close(self) -> None:
        """Close the connections; the next call opens them again."""
        self._link.close()

    def count(self) -> int:
        """Return the number of points."""
        total = self._run(self._points, lambda table: table.aggregate.over_all(total_count=True).total_count)
        return total or 0

    # -- rows ------------------------------------------------------------------------------------------------

    def _run(self, where: str, call: Callable[[WeaviateCollection[Any, Any]], Result]) -> Result:
        return self._link.call(lambda client: call(client.collections.use(where)))

    def _write(self, where: str, rows: list[Object]) -> None:
        # The server stores the objects of a batch in parallel: of two with one id either could win.
        try:
            done = self._run(where, lambda table: table.data.insert_many(rows))
        except StoreError as error:
            if isinstance(error.__cause__, WeaviateInsertManyAllFailedError):
                raise self._refused(where, str(error.__cause__)) from error
            raise
        if done.has_errors:
            raise self._refused(where, next(iter(done.errors.values())).message)

    def _refused(self, where: str, why: str) -> StoreError:
        told = str(self._link.error(f"the collection {where} refused an object: {why}"))
        return StoreSchemaError(told) if "vector" in why and "length" in why else StoreError(told)

    def _delete(self, where: str, keys: list[str]) -> None:
        some = Filter.by_id().contains_any(keys)
        done = self._run(where, lambda table: table.data.delete_many(where=some))
        if done.failed:
            raise self._link.error(f"{done.failed} objects of {where} could not be deleted.")

    def _fields(self, where: str) -> list[str]:
        return list(POINT_FIELDS if where == self._points else Entry._fields)

    def _read(self, where: str, keys: list[str]) -> list[Any]:
        try:
            found = self._run(
                where,
                lambda table: table.query.fetch_objects(
                    filters=Filter.by_id().contains_any(keys),
                    limit=len(keys),
                    return_properties=self._fields(where),
                    include_vector=where == self._points,
                ),
            )
        except TooLargeError:
            if len(keys) == 1:
                raise
            half = len(keys) // 2
            return self._read(where, keys[:half]) + self._read(where, keys[half:])
        return list(found.objects)

    def _scan(self, where: str, wanted: Mapping[str, str], *, whole: bool) -> Iterator[list[Any]]:
        return (
            self._scan_points(wanted.get("document", ""), whole)
            if where == self._points
            else self._scan_entries(wanted)
        )

    def _scan_points(self, document: str, whole: bool) -> Iterator[list[Any]]:
        """Yield all ids in order; those of a document are contiguous."""
        after = uuid.UUID(int=max((int(document, 16) << 64) - 1, 0)) if document else _FIRST
        for page in self._walk(
            self._points, after, self._fields(self._points) if whole else [], vectors=whole
        ):
            found = [item for item in page if item.uuid.hex.startswith(document)]
            if found:
                yield found
            if len(found) < len(page):
                return

    def _scan_entries(self, wanted: Mapping[str, str]) -> Iterator[list[Any]]:
        """First find which exist, then their content."""
        some = Filter.all_of([Filter.by_property(name).equal(value) for name, value in wanted.items()])
        found = self._run(
            self._entries,
            lambda table: table.query.fetch_objects(filters=some, limit=WINDOW, return_properties=False),
        ).objects
        pages: Iterator[list[Any]] = iter([found])
        if len(found) >= WINDOW:
            # More than one answer can have, and a filter cannot be paged through: read all of them.
            pages = (
                [item for item in page if wanted.items() <= item.properties.items()]
                for page in self._walk(self._entries, _FIRST, ["kind", "group"])
            )
        for page in pages:
            for keys in batches([str(item.uuid) for item in page], _FULL_PAGE):
                if rows := self._read(self._entries, keys):
                    yield rows

    def _walk(
        self, where: str, after: uuid.UUID, fields: list[str], *, vectors: bool = False
    ) -> Iterator[list[Any]]:
        """Yield all objects after an id, in pages and in id order."""
        size = _FULL_PAGE if vectors else _PAGE
        while True:
            try:
                found = self._run(
                    where,
                    lambda table, after=after, size=size: table.query.fetch_objects(  # type: ignore[misc]
                        limit=size, after=after, return_properties=fields, include_vector=vectors
                    ),
                )
            except TooLargeError:
                if size == 1:
                    raise
                size //= 2
                continue
            page = list(found.objects)
            if page:
                yield page
            if len(page) < size:
                return
            after = page[-1].uuid

    def _row(self, point: Point) -> Object:
        # Without the field, not with an empty one: a point without terms takes no part in keyword ranking.
        kept = {name: text_only(value) for name in POINT_FIELDS if (value := getattr(point, name))}
        vector = None if point.vector is None else {VECTOR: point.vector.tolist()}
        return DataObject(properties={"kind": PASSAGE, **kept}, uuid=point.id, vector=vector)

    def _point(self, row: Any) -> Point:
        fields = {name: value for name in POINT_FIELDS if (value := row.properties.get(name))}
        # The id contains its document.
        fields.setdefault("document", row.uuid.hex[:16])
        return Point(str(row.uuid), vector=read_vector(row.vector.get(VECTOR) or None), **fields)

    def _entry_row(self, entry: Entry) -> Object:
        return DataObject(properties=entry._asdict(), uuid=self._entry_key(entry.key))

    def _entry(self, row: Any) -> Entry:
        return Entry(*(row.properties.get(field) or "" for field in Entry._fields))

    def _entry_key(self, key: str) -> str:
        """Return the id of an entry: Weaviate only accepts UUIDs."""
        return str(uuid.uuid5(_ENTRY_IDS, key))

    # -- searches --------------------------------------------------------------------------------------------

    def _nearest(self, vector: Vectors, limit: int, documents: Documents) -> list[Found]:
        """Search by vector: exhaustively below the server's cutoff, with the HNSW index beyond."""
        hits = self._query(
            "near_vector",
            limit,
            near_vector=vector.tolist(),
            filters=self._allowed(documents),
            return_metadata=MetadataQuery(distance=True),
        )
        return [Found(str(hit.uuid), 1.0 - (hit.metadata.distance or 0.0)) for hit in hits]

    def _worded(self, terms: list[str], limit: int, documents: Documents) -> list[Found]:
        """Search the terms by BM25; one of the words is enough."""
        if not (words := query_words(terms)):
            return []
        return self._scored("bm25", limit, query=words, filters=_among(documents))

    def _fused(
        self, vector: Vectors, terms: list[str], weights: Weights, limit: int, documents: Documents
    ) -> Sequence[Found]:
        """Fuse both searches by their scores relative to the best of each, which preserves the weights."""
        if not (words := query_words(terms)):
            return self.search(vector, limit, documents)
        total = sum(weights)
        return self._scored(
            "hybrid",
            limit,
            query=words,
            vector=vector.tolist(),
            alpha=weights[0] / total if total else 0.5,
            fusion_type=HybridFusion.RELATIVE_SCORE,
            filters=self._allowed(documents),
        )

    def _scored(self, method: str, limit: int, **how: Any) -> list[Found]:
        score = MetadataQuery(score=True)
        hits = self._query(method, limit, query_properties=["terms"], return_metadata=score, **how)
        return [Found(str(hit.uuid), hit.metadata.score or 0.0) for hit in hits]

    def _query(self, method: str, limit: int, **how: Any) -> Sequence[Any]:
        how |= {"limit": min(limit, WINDOW), "return_properties": False}
        found: Any = self._run(self._points, lambda table: getattr(table.query, method)(**how))
        hits: Sequence[Any] = found.objects
        return hits

    def _allowed(self, documents: Documents) -> Any:
        """Return the filter of a vector search; one that all pass makes the server compare every vector."""
        if documents is None and self._watch.small():
            return Filter.by_property("kind").equal(PASSAGE)
        return _among(documents)


def _among(documents: Documents) -> Any:
    return None if documents is None else Filter.by_property("document").contains_any(documents)


def query_words(terms: Sequence[str]) -> str:
    """Return a query of words; one with a space is none of ours, and would be read as several."""
    return " ".join(term for term in terms if len(term.split()) == 1)


def _exact(name: str) -> Property:
    return Property(
        name=name,
        data_type=DataType.TEXT,
        tokenization=Tokenization.FIELD,
        index_filterable=True,
        index_searchable=False,
    )


def _kept(name: str) -> Property:
    """Return a text property that is only stored: an index of it would take space for nothing."""
    return Property(name=name, data_type=DataType.TEXT, index_filterable=False, index_searchable=False)


def _description(client: WeaviateClient, name: str) -> str | None:
    """Return the description of a collection; None if it does not exist."""
    try:
        return client.collections.export_config(name).description or ""
    except UnexpectedStatusCodeError as error:
        if error.status_code == 404:
            return None
        raise
    except (KeyError, ValueError):
        # The client cannot read it: it has parts that we do not make.
        return ""


def _delete_class(client: WeaviateClient, name: str) -> None:
    try:
        client.collections.delete(name)
    except UnexpectedStatusCodeError as error:
        # Gone already.
        if error.status_code not in (400, 404) or _description(client, name) is not None:
            raise


def _foreign(name: str) -> StoreSchemaError:
    return StoreSchemaError(
        f"weaviate has a collection {name} that Loccit did not make: choose another name in the setting collection, "
        "or remove it."
    )
