"""Azure Cosmos DB for NoSQL: points in a container with a vector index, entries in another.

Points are partitioned by document: a document is written in transactional batches, deleted and listed within its
partition, and a container grows with the number of documents. Searches go to all physical partitions; the client merges
the answers. Entries are spread over a fixed number of shards by a hash of their key, so that the key alone determines
where an entry is, and many entries still fit into one request.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import urlsplit

from azure.core import MatchConditions
from azure.core.exceptions import AzureError, ServiceRequestError, ServiceResponseError
from azure.cosmos import ContainerProxy, CosmosClient, DatabaseProxy, PartitionKey, ThroughputProperties
from azure.cosmos.exceptions import (
    CosmosAccessConditionFailedError,
    CosmosBatchOperationError,
    CosmosClientTimeoutError,
    CosmosHttpResponseError,
    CosmosResourceExistsError,
    CosmosResourceNotFoundError,
)

from loccit.errors import (
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreUnavailableError,
    UsageError,
)
from loccit.index.providers.link import LONGEST_REASON, Link, Result
from loccit.index.providers.tables import (
    Documents,
    TableStore,
    Weights,
    batches,
    read_vector,
    side_by_side,
    sized_batches,
    wide_text,
)
from loccit.index.providers.whole_words import whole_words
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.ids import PointId
from loccit.index.store import PAYLOAD, Capabilities, Entry, Found, Point
from loccit.models.embedding.protocol import Vectors

EXAMPLE = "AccountEndpoint=https://ann.documents.azure.com:443/;AccountKey=…;"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PASSING = (408, 410, 429, 449)


@dataclass(frozen=True)
class Account:
    """The address of an account, and its secret key."""

    endpoint: str
    host: str
    key: str = field(repr=False)


def read_account(settings: DatabaseSettings) -> Account:
    """Parse a connection string, or an address alone with the key in api_key."""
    text, key = settings.connection_string, settings.api_key
    start = f"The connection_string of the database provider {settings.provider} "
    like = f" It looks like {EXAMPLE} (the key may also be given as api_key)."
    if not text.strip():
        raise UsageError(f"{start}is missing.{like}")
    found = {"accountendpoint": text.strip()} if re.match(r"https?://", text.strip()) else {}
    for part in [] if found else text.split(";"):
        name, equals, value = part.strip().partition("=")
        if name and not equals:
            raise UsageError(f"{start}is not made of name=value pairs with ; between them.{like}")
        found[name.strip().lower()] = value.strip()
    endpoint = urlsplit(found.get("accountendpoint", ""))
    host = endpoint.hostname or ""
    if endpoint.scheme not in ("http", "https") or not host:
        raise UsageError(f"{start}has no AccountEndpoint that is an address.{like}")
    secret = found.get("accountkey") or key
    if not secret:
        raise UsageError(f"{start}has no AccountKey, and api_key is not set.{like}")
    try:
        base64.b64decode(secret, validate=True)
    except (binascii.Error, ValueError):
        raise UsageError(f"{start}has an invalid AccountKey: copy all of it.{like}") from None
    if endpoint.scheme == "http" and settings.option("tls", True) and host not in _LOOPBACK:
        raise UsageError(
            f"{start}would connect to {host} unencrypted. Write https://, or set the option tls to false if that is "
            "what you want."
        )
    return Account(found["accountendpoint"], host, secret)


class CosmosLink(Link[CosmosClient]):
    """A client with a connection pool, which waits itself when throttled."""

    errors: ClassVar[tuple[type[BaseException], ...]] = (AzureError, ValueError)
    traced = False

    def __init__(self, settings: DatabaseSettings, database: str) -> None:
        super().__init__(settings)
        self._account = read_account(settings)
        self.name: str = database
        self._verify: bool = settings.option("verify", True)
        if not self._verify and self._account.host not in _LOOPBACK:
            raise UsageError(
                f"The option verify of the database provider {self.provider} may be false only for the emulator on "
                "this machine."
            )

    def _connect(self) -> CosmosClient:
        """Create the client, which asks the service for its regions."""
        seconds = max(1, round(self.settings.timeout))
        return CosmosClient(
            self._account.endpoint,
            credential=self._account.key,
            connection_timeout=seconds,
            read_timeout=seconds,
            # Retries are done here, once for all providers; throttling is handled better by the client.
            retry_connect=0,
            retry_read=0,
            retry_status=0,
            retry_total=1,
            retry_throttle_total=9,
            retry_throttle_backoff_max=max(5, seconds),
            connection_verify=self._verify,
            enable_endpoint_discovery=self._account.host not in _LOOPBACK,
            enable_compact_utf8_item_writes=True,
            user_agent_suffix="loccit",
        )

    def _translated(self, error: Exception) -> BaseException:
        """Translate an error. Those that callers decide by (404, 409, 412) are passed on unchanged."""
        start = f"The database provider {self.provider} "
        where = f"the account at {self._account.host}"
        text = _told(error)
        if isinstance(error, (ServiceRequestError, ServiceResponseError, CosmosClientTimeoutError)):
            return StoreUnavailableError(
                f"{start}does not reach {where}, or it does not answer in time: {text} Check AccountEndpoint in "
                "connection_string, and timeout."
            )
        status = error.status_code if isinstance(error, CosmosHttpResponseError) else None
        if status in (401, 403):
            return StoreAccessError(
                f"{start}was refused by {where}: {text} Check the AccountKey in connection_string (a read-only key "
                "is not enough), and the account's firewall."
            )
        if status is not None and (status in _PASSING or status >= 500):
            return StoreUnavailableError(
                f"{start}was throttled by {where} ({status}): {text} If this persists, give the containers more "
                "throughput (option throughput)."
            )
        if status in (404, 409, 412):
            return error
        if status == 413:
            return StoreError(f"{start}sent a larger request than {where} accepts: {text}")
        if re.search(r"vector|embedding", text, re.IGNORECASE) and re.search(
            r"capability|enable", text, re.IGNORECASE
        ):
            return StoreError(
                f"{start}needs the feature Vector Search, which is not enabled for {where} (Features in the portal, or "
                f"the capability EnableNoSQLVectorSearch): {text}"
            )
        if re.search(r"full.?text", text, re.IGNORECASE):
            return StoreError(
                f"{start}has no full text index there: {text} Enable Full Text Search for {where} and index again, "
                "or set native to none, so that Loccit does the keyword search."
            )
        if re.search(r"dimension", text, re.IGNORECASE):
            return StoreSchemaError(f"{start}got a vector of another length than its container has: {text}")
        return StoreError(f"{start}could not complete the request: {text}")


def _told(error: Exception) -> str:
    """Return the first words of an error; they never contain the key, but signatures are removed too."""
    text = getattr(error, "http_error_message", None) or getattr(error, "message", None) or str(error)
    text = " ".join(str(text).replace('\\"', '"').split())
    found = re.search(r'"message": ?"([^"]+)', text) or re.search(r"Errors\W+([^\"\]]+)", text)
    plain = found.group(1) if found else text
    plain = re.split(r"Server used the following payload|ActivityId", plain)[0].replace("\\r\\n", " ")
    return plain.strip(" ,.")[:LONGEST_REASON] + "."


def vector_policy(dimension: int) -> dict[str, Any]:
    """Define where the vectors are; it cannot be changed later."""
    return {
        "vectorEmbeddings": [
            {"path": "/vector", "dataType": "float32", "dimensions": dimension, "distanceFunction": "cosine"}
        ]
    }


def full_text_policy() -> dict[str, Any]:
    """Define where the words are. A language must be named; the words are encoded so that it does not matter."""
    return {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/words", "language": "en-US"}]}


def point_indexes(kind: str, *, words: bool) -> dict[str, Any]:
    """Index the vectors, the document, and the words if wanted; everything else is only stored."""
    policy: dict[str, Any] = {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": "/document/?"}],
        "excludedPaths": [{"path": "/*"}, {"path": "/vector/*"}],
        "vectorIndexes": [{"path": "/vector", "type": kind}],
    }
    if words:
        policy["fullTextIndexes"] = [{"path": "/words"}]
    return policy


def entry_indexes() -> dict[str, Any]:
    """Index the fields that entries are looked up by."""
    return {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": "/shard/?"}, {"path": "/kind/?"}, {"path": "/group/?"}],
        "excludedPaths": [{"path": "/*"}],
    }


def vector_query(limit: int, documents: list[str] | None, *, exact: bool, knobs: Mapping[str, int]) -> str:
    """Query the points nearest to @vector; the service puts the most similar first."""
    distance = f"VectorDistance(c.vector, @vector{_manner(exact=exact, knobs=knobs)})"
    return f"SELECT TOP {limit} c.id, {distance} AS score FROM c{where_all(_within(documents))} ORDER BY {distance}"


def keyword_query(words: Sequence[str], limit: int, documents: list[str] | None) -> str:
    """Query the points with any of some words, best first by BM25. Words are letters and need no quoting."""
    listed = ", ".join(f'"{word}"' for word in words)
    conditions = (f"FullTextContainsAny(c.words, {listed})", _within(documents))
    return f"SELECT TOP {limit} c.id FROM c{where_all(*conditions)} ORDER BY RANK FullTextScore(c.words, {listed})"


def hybrid_query(
    vector: Vectors,
    words: Sequence[str],
    weights: tuple[float, float],
    limit: int,
    documents: list[str] | None,
    *,
    exact: bool,
    knobs: Mapping[str, int],
) -> str:
    """Query the fusion of both. Values are inlined: the client sends the parts separately."""
    listed = ", ".join(f'"{word}"' for word in words)
    distance = f"VectorDistance(c.vector, {json.dumps(digits(vector))}{_manner(exact=exact, knobs=knobs)})"
    fusion = f"RRF({distance}, FullTextScore(c.words, {listed}), [{weights[0]:.6g}, {weights[1]:.6g}])"
    return f"SELECT TOP {limit} c.id FROM c{where_all(_within(documents))} ORDER BY RANK {fusion}"


def digits(vector: Vectors) -> list[float]:
    """Return a vector with as many digits as distinguish all single precision numbers, and no more."""
    return [float(f"{number:.9g}") for number in vector.tolist()]


def _manner(*, exact: bool, knobs: Mapping[str, int]) -> str:
    if exact:
        return ", true"
    return f", false, {json.dumps(dict(knobs))}" if knobs else ""


def _within(documents: list[str] | None) -> str:
    # Written out, so that the service can see which partitions are meant.
    return "" if documents is None else f"c.document IN ({', '.join(json.dumps(name) for name in documents)})"


def where_all(*conditions: str) -> str:
    """Return the WHERE clause for all conditions, ignoring empty ones."""
    wanted = [condition for condition in conditions if condition]
    return f" WHERE {' AND '.join(wanted)}" if wanted else ""


Item = dict[str, Any]

INDEXES = ("diskANN", "quantizedFlat", "flat")
_MOST = {"diskANN": 4096, "quantizedFlat": 4096, "flat": 505}
# The limits of a transactional batch: operations, and bytes with room for the envelope.
OPERATIONS = 100
_BYTES = 1_500_000
_SHARDS = 32
_PAGE = 1_000
# The client refuses larger answers to a keyword search (AZURE_COSMOS_HYBRID_SEARCH_MAX_ITEMS), and queries
# have a maximum length.
_MAX_RANKED, _MAX_WORDS = 1_000, 100
# As in rank fusion; the service does not return its scores.
_RANK = 60


class CosmosNoSqlStore(TableStore[str, Item]):
    """Two containers, ``<collection>-points`` and ``<collection>-entries``."""

    provider = "azure-cosmos-nosql"
    # With session consistency, the default of an account, another client may see a write a little later.
    capabilities: ClassVar[Capabilities] = Capabilities(
        keyword=True, hybrid=True, claims=True, eventual=True, max_filter=1_000, batch=10_000
    )
    known_options: ClassVar[Mapping[str, str]] = {
        "database": "The database in the account; made when it is missing (loccit).",
        "vector_index": "diskANN, quantizedFlat or flat; decided when the collection is made (diskANN).",
        "exact": "true: compare with every vector instead of using the index, at a higher charge (false).",
        "search_list_multiplier": "1 to 100: how many candidates the index looks at for each result; 0 leaves it "
        "to the service (0).",
        "throughput": "The most request units a second that the points may use (autoscale, from 1000 on); 0 for "
        "serverless accounts or shared throughput (0).",
        "parallel": "How many requests are sent at once when many points or entries are written (8).",
        "tls": "false: allow http:// to another machine (true).",
        "verify": "false: accept the certificate of the emulator on this machine (true).",
    }

    # Everything written, deleted or read is grouped by partition, and then cut into batches.
    entries_at_once = keys_at_once = page = 10_000
    bytes_at_once = 100_000_000

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        database = settings.option("database", "loccit")
        self._index = settings.choice("vector_index", INDEXES)
        self._exact = settings.option("exact", False)
        self._throughput = settings.option("throughput", 0)
        self._side_by_side = settings.number("parallel", 8, 1, 64)
        breadth = settings.number("search_list_multiplier", 0, 0, 100)
        self._check(
            bool(database) and not set(database) & set("/\\?#"), "database", "a name without / \\ ? #"
        )
        self._check(self._throughput == 0 or self._throughput >= 1000, "throughput", "0, or 1000 and more")
        knob = "searchListSizeMultiplier" if self._index == "diskANN" else "quantizedVectorListMultiplier"
        self._knobs = {knob: breadth} if breadth else {}
        self._link = CosmosLink(settings, database)
        self._points, self._entries = f"{settings.collection}-points", f"{settings.collection}-entries"
        self._keys = {self._points: "document", self._entries: "shard"}
        # Whether words are to be indexed.
        self._words = settings.native != "none"
        self._dimension: int | None = None

    def _check(self, good: bool, option: str, wanted: str) -> None:
        if not good:
            raise UsageError(
                f"The option {option} of the database provider {self.provider} must be {wanted}."
            )

    # -- the collection --------------------------------------------------------------------------------------

    def _call(self, work: Callable[[DatabaseProxy], Result]) -> Result:
        return self._link.call(lambda client: work(client.get_database_client(self._link.name)))

    def dimension(self) -> int | None:
        """Read it from the container's policy; a foreign container of that name is an error."""
        found = self._described(self._points)
        self._dimension = None if found is None else self._length(found)
        return self._dimension

    def _length(self, container: Mapping[str, Any]) -> int:
        vectors = (container.get("vectorEmbeddingPolicy") or {}).get("vectorEmbeddings") or []
        for vector in vectors:
            if vector.get("path") == "/vector":
                return int(vector["dimensions"])
        raise self._foreign(self._points)

    def _described(self, name: str) -> Mapping[str, Any] | None:
        try:
            found: Mapping[str, Any] = self._call(lambda database: _container(database, name).read())
        except CosmosResourceNotFoundError:
            return None
        if found["partitionKey"]["paths"] != [f"/{self._keys[name]}"]:
            raise self._foreign(name)
        return found

    def _foreign(self, name: str) -> StoreSchemaError:
        return StoreSchemaError(
            f"The database provider {self.provider} finds a container {name} that is not Loccit'. Use another "
            "collection, or the option database."
        )

    def _missing(self) -> StoreSchemaError:
        return StoreSchemaError(
            f"The database provider {self.provider} is missing a container of the collection "
            f"{self.settings.collection}: it was dropped, or collection or the option database is another one. "
            "Index again."
        )

    def create(self, dimension: int) -> None:
        """Create the database and the containers, as far as they are missing."""
        most = _MOST[self._index]
        if not 0 < dimension <= most:
            raise StoreError(
                f"The database provider {self.provider} takes vectors of up to {most:,} numbers with the "
                f"vector_index {self._index}, not {dimension:,}. Use a smaller model or another index."
            )
        super().create(dimension)

    def _make(self, dimension: int) -> None:
        found = self._described(self._points)
        if found is None:
            with contextlib.suppress(CosmosResourceExistsError):
                self._link.call(self._make_database)
            more: dict[str, Any] = {"full_text_policy": full_text_policy()} if self._words else {}
            if self._throughput:
                more["offer_throughput"] = ThroughputProperties(auto_scale_max_throughput=self._throughput)
            more["vector_embedding_policy"] = vector_policy(dimension)
            self._make_one(self._points, point_indexes(self._index, words=self._words), **more)
            found = self._described(self._points)
            if found is None:
                raise self._missing()
        if self._words and not found["indexingPolicy"].get("fullTextIndexes"):
            self._add_words(found)
        if self._described(self._entries) is None:
            self._make_one(self._entries, entry_indexes())

    def _make_database(self, client: CosmosClient) -> None:
        client.create_database_if_not_exists(self._link.name)

    def _make_one(self, name: str, indexes: dict[str, Any], **more: Any) -> None:
        def work(database: DatabaseProxy) -> None:
            key = PartitionKey(f"/{self._keys[name]}")
            database.create_container(name, key, indexing_policy=indexes, **more)

        # Another may have been faster.
        with contextlib.suppress(CosmosResourceExistsError):
            self._call(work)

    def _add_words(self, found: Mapping[str, Any]) -> None:
        """Add a full-text index to a container that was created without."""
        policy = {**found["indexingPolicy"], "fullTextIndexes": [{"path": "/words"}]}
        self._call(
            lambda database: database.replace_container(
                self._points,
                PartitionKey(f"/{self._keys[self._points]}"),
                indexing_policy=policy,
                vector_embedding_policy=found["vectorEmbeddingPolicy"],
                full_text_policy=full_text_policy(),
            )
        )

    def drop(self) -> None:
        """Delete both containers, unless they are foreign; the database stays."""
        there = {
            self._points: self.dimension() is not None,
            self._entries: self._described(self._entries) is not None,
        }
        for name in (name for name, found in there.items() if found):
            with contextlib.suppress(CosmosResourceNotFoundError):
                self._call(lambda database, name=name: database.delete_container(name))  # type: ignore[misc]
        self._dimension = None

    def close(self) -> None:
        """Close the connections."""
        self._link.close()

    def count(self) -> int:
        """Add up the counts of all partitions."""
        return int(sum(self._all(self._points, "SELECT VALUE COUNT(1) FROM c", {})))

    # -- rows ------------------------------------------------------------------------------------------------

    def upsert(self, points: Sequence[Point]) -> None:
        """Store points, those of a document together."""
        if not points:
            return
        length = self._dimension or self.dimension()
        if length is None:
            raise self._missing()
        for point in points:
            # The service would store another vector, and never find it.
            if point.vector is not None:
                self.check_dimension(length, len(point.vector))
        super().upsert(points)

    def _write(self, where: str, rows: list[Item]) -> None:
        groups: dict[str, list[Item]] = defaultdict(list)
        for row in rows:
            groups[row[self._keys[where]]].append(row)
        tasks = [
            (group, [("upsert", (row,)) for row in batch])
            for group, found in groups.items()
            for batch in sized_batches(found, _length_of, most=OPERATIONS, total=_BYTES)
        ]
        side_by_side(lambda task: self._batch(where, *task), tasks, self._at_once(tasks))

    def _at_once(self, tasks: Sequence[Any]) -> int:
        return max(1, min(self._side_by_side, len(tasks)))

    def _grouped(self, where: str, keys: list[str]) -> list[tuple[str, list[str]]]:
        """Group keys by partition."""
        groups: dict[str, list[str]] = defaultdict(list)
        for key in dict.fromkeys(keys):
            groups[PointId.parse(key).document if where == self._points else shard(key)].append(key)
        return list(groups.items())

    def _delete(self, where: str, keys: list[str]) -> None:
        """Delete what exists: a batch with an unknown id would fail as a whole."""
        there = "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(@ids, c.id)"

        def work(task: tuple[str, list[str]]) -> None:
            group, ids = task
            for batch in batches(self._all(where, there, {"@ids": ids}, group), OPERATIONS):
                self._delete_some(where, group, batch)

        tasks = self._grouped(where, keys)
        side_by_side(work, tasks, self._at_once(tasks))

    def _delete_some(self, where: str, group: str, batch: list[str]) -> None:
        try:
            self._batch(where, group, [("delete", (found,)) for found in batch])
        except CosmosBatchOperationError:
            # Another process deleted some of them meanwhile.
            for found in batch:
                self._delete_one(where, group, found)

    def _delete_one(self, where: str, group: str, found: str) -> None:
        with contextlib.suppress(CosmosResourceNotFoundError):
            self._call(lambda database: _container(database, where).delete_item(found, partition_key=group))

    def _batch(self, where: str, group: str, operations: list[tuple[str, tuple[Any, ...]]]) -> None:
        try:
            self._call(
                lambda database: _container(database, where).execute_item_batch(
                    operations, partition_key=group
                )
            )
        except CosmosResourceNotFoundError:
            raise self._missing() from None

    def _read(self, where: str, keys: list[str]) -> list[Item]:
        query = f"{self._select(where)} WHERE ARRAY_CONTAINS(@ids, c.id)"
        tasks = self._grouped(where, keys)
        found = side_by_side(
            lambda task: self._all(where, query, {"@ids": task[1]}, task[0]), tasks, self._at_once(tasks)
        )
        return [item for some in found for item in some]

    def _select(self, where: str) -> str:
        names = (
            ("id", "document", "vector", *PAYLOAD) if where == self._points else ("id", *Entry._fields[1:])
        )
        return f"SELECT {', '.join(_field(name) for name in names)} FROM c"

    def _scan(self, where: str, wanted: Mapping[str, str], *, whole: bool) -> Iterator[list[Item]]:
        """Yield the pages of a query; each page is retried separately."""
        query = self._select(where) if whole else "SELECT c.id, c.document FROM c"
        some = {name: value for name, value in wanted.items() if name != "document"}
        query += where_all(*(f"{_field(name)} = @{name}" for name in some))
        values = {f"@{name}": value for name, value in some.items()}
        try:
            pages = self._call(
                lambda database: _ask(database, where, query, values, wanted.get("document"), _PAGE).by_page()
            )
            while (page := self._call(lambda _: next(pages, None))) is not None:
                if found := list(page):
                    yield found
        except CosmosResourceNotFoundError:
            raise self._missing() from None

    def _all(
        self,
        where: str,
        query: str,
        values: Mapping[str, Any],
        partition: str | None = None,
        size: int = _PAGE,
    ) -> list[Any]:
        """Return all answers to a query, which is retried as a whole."""
        try:
            return self._call(lambda database: list(_ask(database, where, query, values, partition, size)))
        except CosmosResourceNotFoundError:
            raise self._missing() from None

    def _row(self, point: Point) -> Item:
        """Return a point as an item; missing vectors or words are left out."""
        row: Item = {"id": point.id, "document": point.document}
        row |= {name: wide_text(getattr(point, name)) for name in PAYLOAD}
        if point.vector is not None:
            row["vector"] = digits(point.vector)
        if point.terms:
            row["words"] = " ".join(whole_words(point.terms))
        return row

    def _point(self, row: Item) -> Point:
        vector = read_vector(row.get("vector"))
        return Point(row["id"], row["document"], vector, *(row.get(name, "") for name in PAYLOAD))

    def _entry_row(self, entry: Entry) -> Item:
        key, kind, group, value = entry
        return {"id": key, "shard": shard(key), "kind": kind, "group": group, "value": value}

    def _entry(self, row: Item) -> Entry:
        return Entry(row["id"], row["kind"], row["group"], row["value"])

    # -- searches --------------------------------------------------------------------------------------------

    def _nearest(self, vector: Vectors, limit: int, documents: Documents) -> list[Found]:
        """Ask every partition for its nearest points; their similarity is the cosine."""
        query = vector_query(limit, documents, exact=self._exact, knobs=self._knobs)
        rows = self._all(self._points, query, {"@vector": digits(vector)}, size=limit)
        return [Found(row["id"], float(row["score"])) for row in rows if "score" in row]

    def _worded(self, terms: list[str], limit: int, documents: Documents) -> list[Found]:
        """Full-text search: at most a thousand points; only the first of very many words."""
        words = _words(terms)
        return self._ranked(keyword_query(words, min(limit, _MAX_RANKED), documents), limit) if words else []

    def _fused(
        self, vector: Vectors, terms: list[str], weights: Weights, limit: int, documents: Documents
    ) -> list[Found]:
        """Weighted rank fusion: at most a thousand points."""
        words = _words(terms)
        if not words:
            return self._nearest(vector, limit, documents)
        most = min(limit, _MAX_RANKED)
        query = hybrid_query(vector, words, weights, most, documents, exact=self._exact, knobs=self._knobs)
        return self._ranked(query, limit)

    def _ranked(self, query: str, limit: int) -> list[Found]:
        """Return points in order, with a score computed from their rank: the service returns none."""
        # The client only merges the first page of each partition, so it must contain all.
        rows = self._all(self._points, query, {}, size=min(limit, _MAX_RANKED))
        return [Found(row["id"], 1.0 / (_RANK + rank)) for rank, row in enumerate(rows, 1)]

    # -- claims ----------------------------------------------------------------------------------------------

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Create the entry, or replace it if it has not changed since it was read."""
        item = self._entry_row(entry)

        def work(database: DatabaseProxy) -> bool:
            entries = _container(database, self._entries)
            if expected is None:
                entries.create_item(item)
                return True
            found = entries.read_item(entry.key, partition_key=item["shard"])
            if found["value"] != expected:
                return False
            entries.replace_item(
                entry.key, item, etag=found["_etag"], match_condition=MatchConditions.IfNotModified
            )
            return True

        try:
            return self._call(work)
        except (CosmosResourceExistsError, CosmosAccessConditionFailedError):
            return False
        except CosmosResourceNotFoundError:
            if self._described(self._entries) is None:
                raise self._missing() from None
            return False


def shard(key: str) -> str:
    """Return the shard of an entry. The number of shards can never change."""
    return f"{hashlib.sha256(key.encode()).digest()[0] % _SHARDS:02}"


def _words(terms: list[str]) -> list[str]:
    return list(dict.fromkeys(whole_words(terms)))[:_MAX_WORDS]


def _field(name: str) -> str:
    # Words of the query language are written so.
    return f'c["{name}"]' if name in ("group", "value") else f"c.{name}"


def _length_of(item: Item) -> int:
    return len(json.dumps(item, ensure_ascii=False).encode()) + 100


def _container(database: DatabaseProxy, name: str) -> ContainerProxy:
    return database.get_container_client(name)


def _ask(
    database: DatabaseProxy,
    name: str,
    query: str,
    values: Mapping[str, Any],
    partition: str | None,
    size: int,
) -> Any:
    where: dict[str, Any] = (
        {"enable_cross_partition_query": True} if partition is None else {"partition_key": partition}
    )
    if values:
        where["parameters"] = [{"name": key, "value": value} for key, value in values.items()]
    return _container(database, name).query_items(query, max_item_count=size, **where)
