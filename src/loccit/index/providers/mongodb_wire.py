"""What MongoDB and Cosmos DB for MongoDB share: the connection, and points and entries as documents.

The points are in the collection with the settings' name, under their ids; the entries in ``<name>.entries``. The
client's own error texts are never passed on whole: they may quote the connection string, or the documents of a batch.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, TypeAlias

from bson.errors import BSONError
from pymongo import MongoClient, ReadPreference, ReplaceOne, WriteConcern
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database
from pymongo.errors import (
    BulkWriteError,
    CollectionInvalid,
    ConfigurationError,
    ConnectionFailure,
    DuplicateKeyError,
    OperationFailure,
    PyMongoError,
)
from pymongo.uri_parser import parse_uri

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from loccit.index.providers.link import LONGEST_REASON, Link, Result, is_here
from loccit.index.providers.tables import SizeWatch, TableStore, text_only
from loccit.index.settings import DatabaseSettings
from loccit.index.store import PAYLOAD, Entry, Found, Point
from loccit.models.embedding.protocol import Vectors

DUPLICATE_KEY = 11000
ALREADY_THERE = 48
_NOT_ALLOWED = frozenset({13, 18, 33, 8000})
# Elections, timeouts, lost cursors, conflicts, and "too many requests" of Cosmos DB.
_PASSING = frozenset(
    (6, 7, 43, 50, 63, 89, 91, 112, 133, 150, 189, 234, 262, 429, 9001)
    + (10107, 11600, 11602, 13435, 13436, 16500)
)
_BUILDING = "while in state"
_NO_STAGE = 40324
_NO_SEARCH = 31082


Document: TypeAlias = dict[str, Any]

CONNECTION_OPTIONS = {
    "database": "The database that holds the collection (default: the one in the connection string, else loccit).",
    "server_selection_timeout": "Seconds to look for a server that answers before giving up (default: 10).",
}
_PLAIN, _SRV = "mongodb://", "mongodb+srv://"
_DATABASE = "loccit"
_SELECTION = 10.0


class MongoLink(Link[MongoClient[Document]]):
    """A connection pool, shared by threads. The client looks for a server for a while, and retries by itself."""

    errors: ClassVar[tuple[type[BaseException], ...]] = (PyMongoError, BSONError)
    attempts = 2
    traced = False

    def __init__(self, settings: DatabaseSettings, example: str, *, retry_writes: bool = True) -> None:
        super().__init__(settings)
        parsed = _parse(settings, example)
        self._hosts = ", ".join(f"{host}:{port}" if port else str(host) for host, port in parsed["nodelist"])
        self.database: str = str(settings.option("database", parsed["database"] or _DATABASE))
        if not self.database or any(sign in self.database for sign in '/\\. "$\0'):
            raise UsageError(
                f"The option database of {settings.provider} is not a valid name for a MongoDB database."
            )
        self._arguments = _arguments(settings, parsed, retry_writes)

    def handle(self) -> Database[Document]:
        """Return the database, read from the primary and written to a majority, whatever the string says."""
        return self.client().get_database(
            self.database, read_preference=ReadPreference.PRIMARY, write_concern=WriteConcern(w="majority")
        )

    def _connect(self) -> MongoClient[Document]:
        return MongoClient(self.settings.connection_string, **self._arguments)

    def _translated(self, error: Any) -> StoreError:
        if isinstance(error, BulkWriteError):
            return self._of_batch(error)
        if isinstance(error, OperationFailure):
            return self._of_answer(error.code, str((error.details or {}).get("errmsg", "")), error)
        if isinstance(error, ConnectionFailure):
            return self._of_connection(str(error))
        if isinstance(error, ConfigurationError):
            return StoreUnavailableError(
                f"{self.provider}: the servers of {self._hosts} cannot be looked up. Check the host name in "
                "connection_string, and that this machine can resolve it."
            )
        what = "" if isinstance(error, PyMongoError) else f" ({type(error).__name__})"
        return StoreError(f"{self.provider}: the client could not send or read this{what}.")

    def _of_connection(self, text: str) -> StoreError:
        if "SSL" in text or "certificate" in text.lower():
            hint = (
                "TLS failed: check tlsCAFile in connection_string, or write tls=false for a server without it"
            )
        else:
            hint = "check the host in connection_string, the network, and the allowed addresses; or raise timeout"
        return StoreUnavailableError(f"{self.provider}: no answer from {self._hosts}; {hint}.")

    def _of_batch(self, error: BulkWriteError) -> StoreError:
        details = error.details or {}
        failed = details.get("writeErrors") or details.get("writeConcernErrors") or [{}]
        code = failed[0].get("code")
        if code == DUPLICATE_KEY or not details.get("writeErrors"):
            # Two writers created the same document at once, or it is not on enough servers yet: a retry
            # succeeds.
            return StoreUnavailableError(
                f"{self.provider}: a batch was stored in part; it can be sent again."
            )
        return self._of_answer(code, str(failed[0].get("errmsg", "")), error)

    def _of_answer(self, code: int | None, text: str, error: OperationFailure) -> StoreError:
        if code in _NOT_ALLOWED and (code != 8000 or "auth" in text or "not allowed" in text):
            return self._refused(code, text)
        if code in _PASSING or _BUILDING in text or error.has_error_label("RetryableWriteError"):
            return StoreUnavailableError(
                f"{self.provider}: the server cannot do this now (code {code}): {_short(text)}"
            )
        if code == _NO_SEARCH or "SearchNotEnabled" in text:
            return StoreError(
                f"{self.provider}: this server has no search. Use MongoDB Atlas, or MongoDB 8.2 and later with its "
                "search process, in connection_string."
            )
        if code == _NO_STAGE:
            return StoreError(
                f"{self.provider}: this server is too old for what was asked ({_short(text)}); $rankFusion needs "
                "MongoDB 8.0. Set native to keyword or none, or upgrade the server."
            )
        if "dimensions" in text:
            return StoreSchemaError(f"{self.provider}: vectors of another length: {_short(text)}")
        return StoreError(f"{self.provider}: the server refused this (code {code}): {_short(text)}")

    def _refused(self, code: int | None, text: str) -> StoreError:
        if code == 13 or "not allowed" in text:
            return StoreAccessError(
                f"{self.provider}: the user of connection_string may not do this; give it the role readWrite on the "
                f"database {self.database}."
            )
        return StoreAccessError(
            f"{self.provider}: {self._hosts} refuses the user name or the password; check both in "
            "connection_string (a password with signs in it is written percent-encoded), or the password in api_key."
        )


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}…"


def _parse(settings: DatabaseSettings, example: str) -> dict[str, Any]:
    """Parse the connection string without network access, with errors that do not quote it."""
    text, provider = settings.connection_string, settings.provider
    if not text:
        raise UsageError(f"The database provider {provider} needs connection_string, such as {example}.")
    if not text.startswith((_PLAIN, _SRV)):
        raise UsageError(f"The connection_string of {provider} must begin as in {example}.")
    srv = text.startswith(_SRV)
    try:
        # Parsed as a plain address: the other kind would be resolved in the network at once.
        parsed: dict[str, Any] = parse_uri(_PLAIN + text[len(_SRV) :] if srv else text, default_port=None)
    except (PyMongoError, ValueError, TypeError):
        raise UsageError(
            f"The connection_string of {provider} cannot be read; a good one looks like {example}. Signs such as @ : / "
            "in the user name or password are written percent-encoded."
        ) from None
    if srv and (len(parsed["nodelist"]) != 1 or parsed["nodelist"][0][1] is not None):
        raise UsageError(
            f"The connection_string of {provider} with {_SRV} must name one host, without a port."
        )
    if settings.api_key and not parsed["username"]:
        raise UsageError(
            f"api_key is the password of {provider}, but connection_string names no user: it looks like {example}."
        )
    return parsed


def _arguments(settings: DatabaseSettings, parsed: dict[str, Any], retry_writes: bool) -> dict[str, Any]:
    selection = settings.option("server_selection_timeout", _SELECTION)
    if not 0.05 <= selection <= 3600:
        raise UsageError(
            f"The option server_selection_timeout of {settings.provider} must be 0.05 to 3600 seconds."
        )
    arguments: dict[str, Any] = {
        "appname": "loccit",
        "serverSelectionTimeoutMS": int(1000 * min(selection, settings.timeout)),
        "connectTimeoutMS": int(1000 * min(10.0, settings.timeout)),
        "socketTimeoutMS": int(1000 * settings.timeout),
        "connect": False,
    }
    named = {name.lower() for name in parsed["options"]}
    if "tls" not in named and "ssl" not in named:
        remote = any(not _is_here(str(host)) for host, _ in parsed["nodelist"])
        if remote or settings.connection_string.startswith(_SRV):
            arguments["tls"] = True
    if "retrywrites" not in named and not retry_writes:
        arguments["retryWrites"] = False
    if settings.api_key:
        arguments["username"] = parsed["username"]
        arguments["password"] = settings.api_key
    return arguments


def _is_here(host: str) -> bool:
    return is_here(host) or host.endswith(".sock")


_PAGE = 500
_SHOWN = PAYLOAD[1:]
_INDEXES = ([("kind", 1), ("_id", 1)], [("kind", 1), ("group", 1), ("_id", 1)])


class MongoWireStore(TableStore[str, Document]):
    """Reading and writing points and entries; indexes and searches are specific to each provider."""

    bytes_at_once = 30_000_000
    page = _PAGE
    most_dimensions: int = 0

    def __init__(self, settings: DatabaseSettings, example: str, *, retry_writes: bool = True) -> None:
        super().__init__(settings)
        self.link: MongoLink = MongoLink(settings, example, retry_writes=retry_writes)
        self._points, self._entries = settings.collection, f"{settings.collection}.entries"
        exact_below: int = settings.option("exact_below", 10_000)
        self._watch = SizeWatch(self._about, exact_below + 1)

    @abstractmethod
    def pack(self, vector: Vectors) -> Any:
        """Return a vector in the form that the database stores."""

    @abstractmethod
    def unpack(self, value: Any) -> Vectors:
        """Return a vector from the form that the database stores."""

    @abstractmethod
    def indexed_dimension(self) -> int | None:
        """Return the dimension of our vector index; None if there is none."""

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the dimension that the vector index was created for."""
        found = self.indexed_dimension()
        if found is None and self.on_points(lambda held: held.find_one({}, {"_id": 1})) is not None:
            raise StoreSchemaError(
                f"{self.provider}: the collection {self.settings.collection} of the database {self.link.database} "
                "holds documents but no vector index of Loccit. Name another in collection, or drop that one."
            )
        return found

    def create(self, dimension: int) -> None:
        """Create what is missing; refuse vectors that the database cannot index."""
        if (found := self.dimension()) is not None:
            self.check_dimension(found, dimension)
        if dimension > self.most_dimensions:
            raise StoreSchemaError(
                f"{self.provider} indexes vectors of up to {self.most_dimensions} dimensions, and these have "
                f"{dimension}."
            )
        super().create(dimension)

    def _make(self, dimension: int) -> None:
        """Create both collections and the ordinary indexes, as far as they are missing."""
        for name in (self._points, self._entries):
            self.link.call(lambda _, name=name: self._make_one(name))  # type: ignore[misc]
        for keys in _INDEXES:
            self._on(self._entries, lambda held, keys=keys: held.create_index(keys))  # type: ignore[misc]

    def _make_one(self, name: str) -> None:
        with suppress(CollectionInvalid):
            self.link.handle().create_collection(name)

    def drop(self) -> None:
        """Delete both collections with their indexes."""
        self._watch.forget()
        for name in (self._entries, self._points):
            self._on(name, lambda held: held.drop())

    def close(self) -> None:
        """Close the connections."""
        self.link.close()

    def _on(self, where: str, work: Callable[[MongoCollection[Document]], Result]) -> Result:
        return self.link.call(lambda _: work(self.link.handle()[where]))

    def held(self) -> MongoCollection[Document]:
        """Return the collection of the points."""
        return self.link.handle()[self._points]

    def on_points(self, work: Callable[[MongoCollection[Document]], Result]) -> Result:
        """Call a function with the collection of points."""
        return self._on(self._points, work)

    def count(self) -> int:
        """Return the number of points."""
        return self.on_points(lambda held: held.count_documents({}))

    def _about(self) -> int:
        return self.on_points(lambda held: held.estimated_document_count())

    # -- rows ------------------------------------------------------------------------------------------------

    def _write(self, where: str, rows: list[Document]) -> None:
        writes = [ReplaceOne({"_id": row["_id"]}, row, upsert=True) for row in rows]
        self._on(where, lambda held: held.bulk_write(writes, ordered=False))

    def _delete(self, where: str, keys: list[str]) -> None:
        self._on(where, lambda held: held.delete_many({"_id": {"$in": keys}}))

    def _read(self, where: str, keys: list[str]) -> list[Document]:
        return self._on(where, lambda held: held.find({"_id": {"$in": keys}}).to_list())

    def _scan(self, where: str, wanted: Mapping[str, str], *, whole: bool) -> Iterator[list[Document]]:
        """Yield all ids in order."""
        last, some = "", {**wanted}
        bound: Document = {}
        if (document := some.pop("document", "")) != "":
            # The ids of a document's points begin with its key, and then a hyphen.
            start = f"{document[:8]}-{document[8:12]}-{document[12:16]}"
            last, bound = f"{start}-", {"$lt": f"{start}."}
        fields = None if whole else {"document": 1}
        most = self._rows_at_once(where)
        while found := self._on(
            where,
            lambda held, last=last: held.find(  # type: ignore[misc]
                {**some, "_id": {"$gt": last, **bound}}, fields, sort=[("_id", 1)], limit=most
            ).to_list(),
        ):
            last = found[-1]["_id"]
            yield found

    def _row(self, point: Point) -> Document:
        row: Document = {"_id": point.id, "document": point.document}
        if point.vector is not None:
            row["vector"] = self.pack(point.vector)
        if point.terms:
            row["terms"] = text_only(point.terms)
        return row | {name: text_only(getattr(point, name)) for name in _SHOWN}

    def _point(self, row: Document) -> Point:
        vector = row.get("vector")
        shown = (row.get(name, "") for name in PAYLOAD)
        return Point(row["_id"], row["document"], None if vector is None else self.unpack(vector), *shown)

    def _entry_row(self, entry: Entry) -> Document:
        return {"_id": entry.key, "kind": entry.kind, "group": entry.group, "value": entry.value}

    def _entry(self, row: Document) -> Entry:
        return Entry(row["_id"], row["kind"], row["group"], row["value"])

    def ask(self, pipeline: list[Document], limit: int) -> list[Found]:
        """Run a search that returns ids and scores, in one answer."""
        rows = self.on_points(lambda held: held.aggregate(pipeline, batchSize=limit + 1).to_list())
        return [Found(row["_id"], float(row["score"])) for row in rows]

    # -- claims ----------------------------------------------------------------------------------------------

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Add an entry, or change it if its value is as expected, in one operation of the server."""
        tries = 0

        def attempt() -> bool:
            nonlocal tries
            tries += 1
            if self._swap(entry, expected):
                return True
            # The answer to an earlier attempt may have been lost: then the value is already ours.
            return tries > 1 and self.get([entry.key]).get(entry.key) == entry.value

        return self.link.call(lambda _: attempt())

    def _swap(self, entry: Entry, expected: str | None) -> bool:
        document, held = self._entry_row(entry), self.link.handle()[self._entries]
        if expected is None:
            try:
                held.insert_one(document)
            except DuplicateKeyError:
                return False
            return True
        found = held.replace_one({"_id": entry.key, "value": expected}, document)
        return found.matched_count == 1


def in_documents(documents: Sequence[str]) -> Document:
    """Return the filter for points of some documents."""
    return {"document": {"$in": sorted(documents)}}
