"""Chroma: a server, or a database in a folder on this machine.

Points are records of a collection with the library's name; entries are records of a second one beside it.

Several processes may share a folder, which Chroma itself does not support: each keeps the vector index in memory and
trims the common log, so that the others miss points or corrupt the files. Here every operation holds a lock on the
folder, and a process that finds the files changed by another reopens the database.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import httpx
import numpy as np
from chromadb.api import ServerAPI
from chromadb.api.fastapi import FastAPI
from chromadb.api.models.Collection import Collection as ChromaCollection
from chromadb.api.rust import RustBindingsAPI
from chromadb.config import DEFAULT_DATABASE, DEFAULT_TENANT, Settings, System
from chromadb.errors import (
    AuthorizationError,
    ChromaAuthError,
    ChromaError,
    InvalidDimensionException,
    NotFoundError,
    RateLimitError,
)
from chromadb.types import Collection as CollectionModel
from filelock import FileLock, Timeout

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from loccit.index.providers.link import LONGEST_REASON, Result, split_address, without_secrets
from loccit.index.providers.tables import Documents, TableStore, batches
from loccit.index.retry import retrying
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.ids import PointId
from loccit.index.store import PAYLOAD, Capabilities, Entry, Found, Point
from loccit.models.embedding.protocol import Vectors


def quiet_system(**values: Any) -> System:
    """Return Chroma's system of components with settings that ignore .env files and telemetry."""
    fixed: dict[str, Any] = {
        "_env_file": None,
        "anonymized_telemetry": False,
        "chroma_client_auth_provider": None,
    }
    return System(Settings(**fixed, **values))


_DENIED = (401, 403)
_LATER = (408, 425, 429)


def check_status(response: httpx.Response) -> None:
    """Raise for an answer that is not Chroma's own, such as that of a proxy; the client loses the status."""
    if response.status_code in _DENIED:
        raise StoreAccessError(
            f"chromadb: the server refuses access (status {response.status_code}); check api_key, and the option "
            "token_header where the server wants the key in another header."
        )
    if response.status_code in _LATER or response.status_code >= 500:
        raise StoreUnavailableError(
            f"chromadb: the server answers with status {response.status_code}; see its log, or try again later."
        )


@contextmanager
def chroma_errors(settings: DatabaseSettings) -> Iterator[None]:
    """Turn the errors of the client into those of a store."""
    try:
        yield
    except StoreError:
        raise
    except httpx.TimeoutException as error:
        raise StoreUnavailableError(
            f"chromadb: the server did not answer within {settings.timeout:g} seconds; see timeout."
        ) from error
    except httpx.HTTPError as error:
        raise StoreUnavailableError(
            f"chromadb: the server in connection_string cannot be reached ({type(error).__name__}); is it running?"
        ) from error
    except RateLimitError as error:
        raise StoreUnavailableError("chromadb: the server asks to slow down; try again later.") from error
    except (ChromaAuthError, AuthorizationError) as error:
        raise StoreAccessError("chromadb: the server refuses access; check api_key.") from error
    except BaseException as error:
        # The client raises plain exceptions for unknown answers. A panic in Chroma's Rust code is not an
        # Exception, but must still be seen as a store's error.
        known = isinstance(error, ChromaError | ValueError | TypeError | RuntimeError)
        if not known and type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        raise _translated(error, settings) from error


def _translated(error: BaseException, settings: DatabaseSettings) -> StoreError:
    text = without_secrets(str(error), settings.connection_string, settings.api_key)[:LONGEST_REASON]
    if isinstance(error, InvalidDimensionException) or "dimension" in text:
        return StoreSchemaError(f"chromadb, collection {settings.collection}: {text}")
    if isinstance(error, NotFoundError):
        return StoreSchemaError(f"chromadb: {text}; check collection, and the options tenant and database.")
    if "database is locked" in text:
        return StoreUnavailableError(
            "chromadb: another process is writing to the folder in connection_string."
        )
    if any(reason in text for reason in ("readonly", "read-only", "ermission denied", "unable to open")):
        return StoreAccessError(
            f"chromadb: the folder in connection_string cannot be used; check its permissions. ({text})"
        )
    if "not a database" in text or "malformed" in text:
        return StoreSchemaError(
            f"chromadb: the folder in connection_string holds something else, or is damaged. ({text})"
        )
    return StoreError(f"chromadb, collection {settings.collection}: {text}")


_GOOD = "with an address, such as https://chroma.example:8000, or a folder on this machine, such as ./chroma"
_HEADERS = ("Authorization", "X-Chroma-Token")


class ServerConnection:
    """A server over HTTP or HTTPS; one pool of connections for all threads."""

    def __init__(self, settings: DatabaseSettings) -> None:
        parts = split_address(settings, _GOOD, "the server's token")
        self._url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._headers = _checked_headers(settings, self._url)
        self._timeout = settings.timeout
        self._verify = _certificates(settings)
        self._guard = threading.Lock()
        self._opened: FastAPI | None = None

    def exists(self) -> bool:
        """Whether there is a database: with a server, always."""
        return True

    @contextmanager
    def api(self) -> Iterator[ServerAPI]:
        """Give the client, which threads share."""
        with self._guard:
            if self._opened is None:
                self._opened = self._open()
            opened = self._opened
        yield opened

    def _open(self) -> FastAPI:
        # The package's own client first sends three requests, without any time limit.
        system = quiet_system(
            chroma_server_host=self._url,
            chroma_server_http_port=urlsplit(self._url).port or 443,
            chroma_server_ssl_enabled=self._url.startswith("https:"),
            chroma_server_ssl_verify=self._verify,
            chroma_server_headers=dict(self._headers),
        )
        client = system.instance(FastAPI)
        client._session.timeout = httpx.Timeout(self._timeout)
        client._session.event_hooks = {"response": [check_status]}
        system.start()
        return client

    def close(self) -> None:
        """Close the pool."""
        with self._guard:
            if self._opened is not None:
                self._opened._session.close()
            self._opened = None


def _checked_headers(settings: DatabaseSettings, url: str) -> dict[str, str]:
    cloud = (urlsplit(url).hostname or "").endswith("trychroma.com")
    header = settings.choice("token_header", _HEADERS[::-1] if cloud else _HEADERS)
    if not settings.api_key:
        return {}
    if not settings.api_key.isascii() or not settings.api_key.isprintable() or " " in settings.api_key:
        raise UsageError(
            "The api_key of the database provider chromadb has characters that a token cannot have; "
            "letters, digits and punctuation are allowed."
        )
    return {header: f"Bearer {settings.api_key}" if header == _HEADERS[0] else settings.api_key}


def _certificates(settings: DatabaseSettings) -> str | None:
    path: str = settings.option("ca_file", "")
    if path and not Path(path).is_file():
        raise UsageError(f"The option ca_file of the database provider chromadb is not a file: {path}.")
    return path or None


_DATABASE = "chroma.sqlite3"
# Where in the head of a SQLite file the number is that grows with every change.
_CHANGES = slice(24, 28)

Signature = tuple[object, ...]


class _Folder:
    """What all stores of this process on a folder share."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.guard = threading.RLock()
        self.users = 0
        self.system: System | None = None
        self.process = 0
        self.seen: Signature = ()

    def current(self) -> ServerAPI:
        """Return Chroma's interface to the current files; the lock is held."""
        if self.system is not None and self.process != os.getpid():
            raise StoreError(
                "chromadb: this process was forked from one that had the folder in connection_string open, and "
                "Chroma does not work on in such a process; start processes with spawn, or use a server."
            )
        if self.system is not None and self.seen != self.signature():
            self.close()
        if self.system is None:
            system = quiet_system(is_persistent=True, persist_directory=str(self.path))
            system.instance(RustBindingsAPI)
            system.start()
            self.system, self.process = system, os.getpid()
        return self.system.instance(RustBindingsAPI)

    def signature(self) -> Signature:
        """Return a value that changes with the files."""
        facts: list[object] = []
        with suppress(OSError):
            for path in [self.path / _DATABASE, *sorted(self.path.glob("*/*.*"))]:
                status = path.stat()
                facts.append((path.name, status.st_ino, status.st_size, status.st_mtime_ns))
            with (self.path / _DATABASE).open("rb") as file:
                facts.append(file.read(_CHANGES.stop)[_CHANGES])
        return tuple(facts)

    def close(self) -> None:
        """Stop Chroma."""
        system, self.system = self.system, None
        if system is not None:
            system.stop()


_folders: dict[Path, _Folder] = {}
_guard = threading.Lock()


class FolderConnection:
    """A folder; threads and processes take turns."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._folder: _Folder | None = None

    def exists(self) -> bool:
        """Whether there is a database in the folder: checking must not create one under a wrong name."""
        return (self._path / _DATABASE).exists()

    @contextmanager
    def api(self) -> Iterator[ServerAPI]:
        """Yield the interface while nobody else works on the folder."""
        folder = self._shared()
        with folder.guard:
            lock = self._lock()
            try:
                yield folder.current()
                folder.seen = folder.signature()
            except BaseException:
                # What is in memory may be inconsistent: read it again.
                if folder.process == os.getpid():
                    folder.close()
                raise
            finally:
                lock.release()

    def _lock(self) -> FileLock:
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(str(self._path / "loccit.lock"))
            lock.acquire(timeout=self._timeout)
        except Timeout as error:
            raise StoreUnavailableError(
                "chromadb: another process has been using the folder in connection_string for longer than timeout; "
                "for many at once, start a server (chroma run --path …) and give its address."
            ) from error
        except OSError as error:
            raise StoreAccessError(
                f"chromadb: the folder in connection_string cannot be used: {error.strerror or 'no lock on it'}."
            ) from error
        return lock

    def _shared(self) -> _Folder:
        with _guard:
            if self._folder is None:
                path = self._path.resolve()
                self._folder = _folders.setdefault(path, _Folder(path))
                self._folder.users += 1
            return self._folder

    def close(self) -> None:
        """Release the folder; the last user closes it."""
        with _guard:
            folder, self._folder = self._folder, None
            if folder is None:
                return
            folder.users -= 1
            if folder.users:
                return
            _folders.pop(folder.path, None)
        with folder.guard:
            folder.close()


Connection: TypeAlias = FolderConnection | ServerConnection

# A host and port without http:// would be a valid folder name, but is never meant as one.
_LOOKS_LIKE_A_HOST = re.compile(r"[\w.-]+:\d+")


def connect(settings: DatabaseSettings) -> Connection:
    """Return the connection that the settings describe, after checking them; nothing is opened yet."""
    address = settings.connection_string.strip()
    if not address or _LOOKS_LIKE_A_HOST.fullmatch(address):
        raise UsageError(f"The database provider chromadb needs a connection_string {_GOOD}.")
    if "://" in address:
        return ServerConnection(settings)
    folder = Path(address).expanduser()
    if folder.exists() and not folder.is_dir():
        raise UsageError(
            "The connection_string of the database provider chromadb is a file; it must be a folder."
        )
    return FolderConnection(folder, settings.timeout)


# How many ids are asked for at once.
_PAGE = 20_000
_HNSW = {"ef_search": 1000, "ef_construction": 128, "max_neighbors": 32}
_KINDS = ("points", "entries")


class Record(NamedTuple):
    """A Chroma record."""

    id: str
    vector: Vectors | None
    fields: Mapping[str, Any]


class ChromaStore(TableStore[str, Record]):
    """Two collections, marked with their purpose, so that no other is mistaken for one of them."""

    provider = "chromadb"
    capabilities: ClassVar[Capabilities] = Capabilities(max_filter=1000, batch=1000)
    known_options: ClassVar[Mapping[str, str]] = {
        "tenant": "The tenant on the server (default_tenant).",
        "database": "The database of the tenant (default_database).",
        "token_header": "The header that carries api_key: Authorization (as Bearer) or X-Chroma-Token.",
        "tls": "Set to false to send api_key over plain http:// to another machine.",
        "ca_file": "A file with the certificates to trust for https:// instead of the usual ones.",
        "ef_search": "How many candidates a search looks at, at least; for new collections (1000).",
        "ef_construction": "How many candidates are looked at when a point is stored; for new collections (128).",
        "max_neighbors": "How many neighbours a point has in the graph; for new collections (32).",
    }

    # A server takes requests of 40 MB unless told otherwise.
    page = 1_000

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._connection = connect(settings)
        # A dot is in no library's name, so this is never the name of another.
        self._points, self._entries = settings.collection, f"{settings.collection}.entries"
        self._place: dict[str, Any] = {
            "tenant": settings.option("tenant", DEFAULT_TENANT),
            "database": settings.option("database", DEFAULT_DATABASE),
        }
        self._hnsw = {name: settings.number(name, default, 2) for name, default in _HNSW.items()}
        self._guard = threading.Lock()
        self._known: dict[str, CollectionModel] = {}

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors, which Chroma knows only after the first one; None without any."""
        if not self._connection.exists():
            return None
        found = self._run(lambda api: self._find(api, self._points))
        return int((found.metadata or {})["dimension"]) if found else None

    def _make(self, dimension: int) -> None:
        """Create both collections, the points last: once these exist, everything does."""
        self._run(lambda api: self._make_one(api, self._entries, 2))
        self._run(lambda api: self._make_one(api, self._points, dimension))

    def _make_one(self, api: ServerAPI, name: str, dimension: int) -> None:
        if self._find(api, name) is None:
            configuration: Any = {"hnsw": {"space": "cosine", **self._hnsw}, "embedding_function": None}
            facts = {"loccit": self._kind(name), "dimension": dimension}
            try:
                api.create_collection(name, configuration=configuration, metadata=facts, **self._place)
            except ChromaError:
                # Another process may have been faster; if that is not the cause, the caller gets the error.
                if self._find(api, name) is None:
                    raise
            if self._find(api, name) is None:
                raise StoreSchemaError(f"chromadb: the collection {name} is being dropped.")

    def drop(self) -> None:
        """Delete both collections, the points last: until then there is something to drop."""
        for name in (self._entries, self._points) if self._connection.exists() else ():
            self._run(lambda api, name=name: self._drop(api, name))  # type: ignore[misc]

    def _drop(self, api: ServerAPI, name: str) -> None:
        try:
            if self._find(api, name):
                api.delete_collection(name, **self._place)
        except NotFoundError:
            pass
        with self._guard:
            self._known.pop(name, None)

    def close(self) -> None:
        """Disconnect from the server or the folder."""
        self._connection.close()

    def _kind(self, name: str) -> str:
        return _KINDS[name == self._entries]

    def _find(self, api: ServerAPI, name: str) -> CollectionModel | None:
        """Look up a collection, and check that it is ours."""
        try:
            found = api.get_collection(name, **self._place)
        except NotFoundError:
            return None
        facts = found.metadata or {}
        if facts.get("loccit") != self._kind(name) or not isinstance(facts.get("dimension"), int):
            raise StoreSchemaError(
                f"chromadb: there is a collection {name} that is not a Loccit library; choose another name in "
                "collection."
            )
        with self._guard:
            self._known[name] = found
        return found

    def _run(self, work: Callable[[ServerAPI], Result]) -> Result:
        def attempt() -> Result:
            with chroma_errors(self.settings), self._connection.api() as api:
                return work(api)

        return retrying(attempt)

    def _on(self, where: str, work: Callable[[ChromaCollection], Result]) -> Result:
        """Work on a collection; look it up again if it was recreated since it was last seen."""

        def attempt(api: ServerAPI) -> Result:
            if (known := self._known.get(where)) is not None:
                try:
                    return work(ChromaCollection(api, known, embedding_function=None))
                except NotFoundError:
                    pass
            found = self._find(api, where)
            if found is None:
                raise StoreSchemaError(f"chromadb: there is no collection {where}; create it.")
            return work(ChromaCollection(api, found, embedding_function=None))

        return self._run(attempt)

    def count(self) -> int:
        """Return the number of points."""
        return int(self._on(self._points, lambda collection: collection.count()))

    # -- rows ------------------------------------------------------------------------------------------------

    def _write(self, where: str, rows: list[Record]) -> None:
        most = max(1, self._run(lambda api: api.get_max_batch_size()))
        for some in batches(rows, most):
            ids, vectors, fields = zip(*some, strict=True)
            matrix: Any = np.stack(vectors)
            self._on(
                where,
                lambda collection, ids=ids, matrix=matrix, fields=fields: collection.upsert(  # type: ignore[misc]
                    list(ids), matrix, list(fields)
                ),
            )

    def _delete(self, where: str, keys: list[str]) -> None:
        self._on(where, lambda collection: collection.delete(ids=keys))

    def _read(self, where: str, keys: list[str]) -> list[Record]:
        return self._on(where, lambda collection: _records(collection, keys, where == self._points))

    def _scan(self, where: str, wanted: Mapping[str, str], *, whole: bool) -> Iterator[list[Record]]:
        """List the ids first, so that nothing shifts when something is deleted."""
        each = [{name: value} for name, value in wanted.items()]
        names = self._ids(where, {"$and": each} if len(each) > 1 else each[0] if each else None)
        for some in batches(names, self._rows_at_once(where)):
            yield self._read(where, some) if whole else [Record(name, None, {}) for name in some]

    def _ids(self, where: str, chosen: Any) -> list[str]:
        """Return all matching ids, without duplicates."""
        found: dict[str, None] = {}
        while True:
            page = self._on(
                where,
                lambda collection: collection.get(where=chosen, limit=_PAGE, offset=len(found), include=[])[
                    "ids"
                ],
            )
            found.update(dict.fromkeys(page))
            if len(page) < _PAGE:
                return list(found)

    def _row(self, point: Point) -> Record:
        """Return a point as a record. All fields are always set, because Chroma keeps those that are left out."""
        if point.vector is None:
            # Chroma would try to embed it.
            raise self.without_vector(point)
        fields = {"document": point.document, **{name: getattr(point, name) for name in PAYLOAD}}
        return Record(point.id, np.asarray(point.vector, np.float32), fields)

    def _point(self, row: Record) -> Point:
        document = row.fields.get("document") or PointId.parse(row.id).document
        return Point(row.id, str(document), row.vector, *(str(row.fields.get(name, "")) for name in PAYLOAD))

    def _entry_row(self, entry: Entry) -> Record:
        """Return an entry as a record; as Chroma's document, the value would be indexed by trigrams.

        Everything needs a vector: a different one for each, or the index graph falls apart.
        """
        angle = int.from_bytes(hashlib.sha256(entry.key.encode()).digest()[:4], "big") / 2**32 * 2 * math.pi
        vector = np.array([math.cos(angle), math.sin(angle)], np.float32)
        return Record(entry.key, vector, {"kind": entry.kind, "group": entry.group, "value": entry.value})

    def _entry(self, row: Record) -> Entry:
        return Entry(row.id, *(str(row.fields[name]) for name in Entry._fields[1:]))

    # -- searches --------------------------------------------------------------------------------------------

    def _nearest(self, vector: Vectors, limit: int, documents: Documents) -> list[Found]:
        """Search Chroma's index; if it returns too few points, compare the missing ones here."""
        query: Any = [np.asarray(vector, np.float32)]
        where: Any = None if documents is None else {"document": {"$in": documents}}

        def work(collection: ChromaCollection) -> list[Found]:
            answer = collection.query(query, n_results=limit, where=where, include=["distances"])
            distances = answer["distances"] or [[]]
            pairs = zip(answer["ids"][0], distances[0], strict=True)
            return [Found(name, 1.0 - float(far)) for name, far in pairs]

        found = self._on(self._points, work)
        if len(found) < limit and (where is not None or len(found) < self.count()):
            found = self._completed(found, query[0], where)[:limit]
        return found

    def _completed(self, found: list[Found], query: Vectors, where: Any) -> list[Found]:
        """Add what the index does not reach: many identical points make disconnected parts in its graph."""
        reached = {hit.id for hit in found}
        missing = [name for name in self._ids(self._points, where) if name not in reached]
        more = [
            Found(record.id, float(record.vector @ query) / (float(np.linalg.norm(record.vector)) or 1.0))
            for record in self._read_all(self._points, missing)
            if record.vector is not None
        ]
        return sorted([*found, *more], key=lambda hit: -hit.score)


def _records(collection: ChromaCollection, ids: list[str], vectors: bool) -> list[Record]:
    got = collection.get(ids=ids, include=["metadatas", "embeddings"] if vectors else ["metadatas"])
    matrix = got["embeddings"] if vectors else None
    fields = got["metadatas"] or [{}] * len(got["ids"])
    return [
        Record(name, None if matrix is None else np.asarray(matrix[at], np.float32), known or {})
        for at, (name, known) in enumerate(zip(got["ids"], fields, strict=True))
    ]
