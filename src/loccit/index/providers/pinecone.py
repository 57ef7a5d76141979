"""Pinecone: a serverless index for each collection, points and entries in a namespace each.

A record has a maximum size: texts of a point are cut, and the long value of an entry is split into several records.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

from pinecone import Pinecone
from pinecone.errors import (
    ApiError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PaymentRequiredError,
    PineconeConnectionError,
    PineconeError,
    PineconeTimeoutError,
    RateLimitError,
    ServiceError,
    UnauthorizedError,
)
from pinecone.index import Index
from pinecone.models.indexes.index import IndexModel

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from loccit.index.providers.link import Link, Result, refuse_open
from loccit.index.providers.tables import (
    Documents,
    TableStore,
    numbers,
    read_vector,
    sized_batches,
    text_only,
)
from loccit.index.providers.tables import batches as cut
from loccit.index.retry import retrying
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.ids import PointId
from loccit.index.store import PAYLOAD, Capabilities, Entry, Found, Point
from loccit.models.embedding.protocol import Vectors

DEFAULT_HOST = "https://api.pinecone.io"
# The reserved name under which the vectors of an index are declared.
VECTOR_FIELD = "_values"
# On every index that we create, so that no foreign one is dropped.
TAG = "made-by"
TAG_VALUE = "loccit"
_LONGEST_NAME = 45
_KEY = re.compile(r"[\x21-\x7e]+")
_READY_WITHIN = 300.0


class PineconeLink(Link[Pinecone]):
    """One index, found through the control plane on first use. Threads share the pool."""

    errors: ClassVar[tuple[type[BaseException], ...]] = (PineconeError,)
    # The client retries by itself, and respects the service's delays; one more attempt is enough.
    attempts = 2

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self.name: str = _index_name(settings)
        self._host = _control_host(settings)
        self._cloud: str = settings.option("cloud", "aws")
        self._region: str = settings.option("region", "us-east-1")
        self._protected: bool = settings.option("deletion_protection", False)
        self._data: Index | None = None

    def ask(self, work: Callable[[Index], Result]) -> Result:
        """Return the result of a data plane call."""
        return self.call(lambda control: work(self._index(control)))

    def describe(self) -> IndexModel | None:
        """Return the control plane's description of the index; None if there is none, or it is being deleted."""
        found = self.call(self._described)
        return None if found is None or found.status.state == "Terminating" else found

    def make(self, dimension: int) -> None:
        """Create the index, unless another process just did, and wait until it is usable."""

        def create(control: Pinecone) -> None:
            field = {"type": "dense_vector", "dimension": dimension, "metric": "cosine"}
            try:
                control.indexes.create(
                    name=self.name,
                    schema={"fields": {VECTOR_FIELD: field}},
                    deployment={"deployment_type": "managed", "cloud": self._cloud, "region": self._region},
                    deletion_protection="enabled" if self._protected else "disabled",
                    tags={TAG: TAG_VALUE},
                    timeout=-1,
                )
            except ConflictError:
                return
            except NotFoundError as error:
                raise StoreError(
                    f"pinecone: no index can be made in {self._cloud} {self._region}. Check the options cloud and "
                    "region."
                ) from error

        def is_ready() -> bool:
            found = self.describe()
            if found is None:
                self.call(create)
                found = self.describe()
            if found is not None and found.status.state == "InitializationFailed":
                raise StoreError(
                    f"pinecone: the index {self.name} could not be made. Look at it in Pinecone's console, and check "
                    "the options cloud and region."
                )
            return found is not None and found.status.ready

        # One that is still being deleted blocks the name for a while.
        self._until(is_ready, "made")

    def remove(self) -> None:
        """Delete the index, and wait until it is gone."""

        def delete(control: Pinecone) -> None:
            with suppress(NotFoundError):
                control.indexes.delete(self.name, timeout=-1)

        self.call(delete)
        self._forget()
        self._until(lambda: self.call(self._described) is None, "deleted")

    # -- finding the index -----------------------------------------------------------------------------------

    def _connect(self) -> Pinecone:
        settings = self.settings
        return Pinecone(settings.api_key, host=self._host, timeout=settings.timeout, source_tag="loccit")

    def _disconnect(self, client: Pinecone) -> None:
        self._forget()
        client.close()

    def _described(self, control: Pinecone) -> IndexModel | None:
        try:
            return control.indexes.describe(self.name)
        except NotFoundError:
            return None

    def _index(self, control: Pinecone) -> Index:
        if self._data is None:
            found = self._described(control)
            if found is None or found.host is None or found.status.state == "Terminating":
                raise self._missing()
            _refuse_open(self.settings, found.host)
            with self._guard:
                self._data = self._data or control.index(host=found.host)
        return self._data

    def _forget(self) -> None:
        with self._guard:
            data, self._data = self._data, None
        if data is not None:
            data.close()

    def _until(self, reached: Callable[[], bool], what: str) -> None:
        pause, end = 0.1, time.monotonic() + _READY_WITHIN
        while not reached():
            if time.monotonic() > end:
                raise StoreUnavailableError(
                    f"pinecone: the index {self.name} was not {what} within {_READY_WITHIN:.0f} seconds. "
                    "Look at it in Pinecone's console."
                )
            time.sleep(pause)
            pause = min(2 * pause, 5.0)

    # -- errors ----------------------------------------------------------------------------------------------

    def _missing(self) -> StoreSchemaError:
        return StoreSchemaError(
            f"pinecone: there is no collection {self.settings.collection} (index {self.name}). Check the setting "
            "collection, or index your documents first."
        )

    def _translated(self, error: Any) -> StoreError:
        said = self.shown(getattr(error, "message", error))
        if isinstance(error, UnauthorizedError):
            return StoreAccessError(
                "pinecone: the service refuses this api_key. Check it in Pinecone's console."
            )
        if isinstance(error, ForbiddenError | PaymentRequiredError):
            return StoreAccessError(
                f"pinecone: this api_key may not do this with the index {self.name}, or the plan does not allow it "
                f"({said})."
            )
        if isinstance(error, NotFoundError):
            # A recreated index may have another address.
            self._forget()
            return self._missing()
        if isinstance(error, PineconeTimeoutError):
            return StoreUnavailableError(
                f"pinecone: no answer within {self.settings.timeout:g} seconds. Try again later, or raise timeout."
            )
        if isinstance(error, PineconeConnectionError):
            return StoreUnavailableError(
                "pinecone: the service cannot be reached. Check the network, and connection_string where it is set."
            )
        if isinstance(error, RateLimitError | ServiceError):
            return StoreUnavailableError(
                f"pinecone: the service is busy or unhealthy, status {error.status_code} ({said})."
            )
        status = f"status {error.status_code}, " if isinstance(error, ApiError) else ""
        return StoreError(f"pinecone: a request for the index {self.name} was refused ({status}{said}).")


def _index_name(settings: DatabaseSettings) -> str:
    """Return the name of the index: Pinecone allows no underscores, and a collection has no double hyphens."""
    name = settings.collection.replace("_", "--")
    if len(name) > _LONGEST_NAME:
        raise UsageError(
            f"The collection {settings.collection!r} is too long for the database provider pinecone: "
            f"{_LONGEST_NAME} characters, where an underscore counts as two."
        )
    return name


def _control_host(settings: DatabaseSettings) -> str:
    """Check the key and the address of the control plane, which is Pinecone's own by default."""
    if not _KEY.fullmatch(settings.api_key):
        wrong = "has characters that no key has" if settings.api_key else "is missing"
        raise UsageError(
            f"The database provider pinecone needs an api_key, which {wrong}: set api_key, or LOCCIT_DATABASE_API_KEY "
            "in the environment, to a key such as pcsk_…"
        )
    host = settings.connection_string.strip() or DEFAULT_HOST
    try:
        parts = urlsplit(host)
        good = bool(parts.scheme in ("http", "https") and parts.hostname and not parts.username)
        good = good and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise UsageError(
            "The connection_string of the database provider pinecone is the address of its control plane, such as "
            f"{DEFAULT_HOST}; leave it out for that one."
        )
    _refuse_open(settings, host)
    return host


def _refuse_open(settings: DatabaseSettings, host: str) -> None:
    parts = urlsplit(host)
    refuse_open(settings, parts.scheme, parts.hostname or "", True)


Record = dict[str, Any]

POINTS, ENTRIES = "points", "entries"
_TOP_K = 10_000
# Ids are part of the URL of a fetch; pages of a list have no more than this either.
_PAGE = 100
# A changed entry of several parts may take a moment until all of them are visible.
_TORN_ATTEMPTS = 6
# The limits are 1,000 records and 2 MB per request, and 40 KB of metadata per record; this leaves room for
# the rest.
_BATCH_RECORDS = 1_000
_BATCH_BYTES = 1_900_000
_METADATA_BYTES = 38_000
_PART_BYTES = 36_000
# A value of 30,000 characters, each at most six bytes of JSON, has no more parts than this.
MAX_PARTS = 6
# What is cut if a point's metadata is too long: these fields are not searched, they are for people.
_CUT = ("text", "terms", "heading", "source_path")


class Head(NamedTuple):
    """The first record of an entry: everything but what did not fit."""

    kind: str
    group: str
    parts: int
    stamp: str
    value: str


def point_record(point: Point) -> Record:
    """Return the record of a point."""
    if point.vector is None:
        raise StoreError("pinecone: a point without a vector cannot be stored.")
    metadata = {name: text_only(getattr(point, name)) for name in PAYLOAD if getattr(point, name)}
    metadata["document"] = point.document
    for name in _CUT:
        over = _size(metadata) - _METADATA_BYTES
        if over <= 0:
            break
        if name in metadata:
            room = max(_size(metadata[name]) - 2 - over, 0)
            metadata[name] = next(_pieces(metadata[name], room)) if room else ""
    return {"id": point.id, "values": numbers(point.vector), "metadata": metadata}


def entry_records(entry: Entry, dimension: int) -> tuple[Record, list[Record]]:
    """Return the record of an entry, and those of what does not fit into it.

    Each part carries a stamp of the whole, so that a reader notices a half-written change.
    """
    pieces = list(_pieces(entry.value, _PART_BYTES)) or [""]
    stamp = hashlib.sha256(entry.value.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    # Every record must have a vector that is not zero; nobody searches for these.
    values = [1.0, *[0.0] * (dimension - 1)]
    about = {"kind": entry.kind, "group": entry.group, "parts": len(pieces), "stamp": stamp}
    head = {"id": entry.key, "values": values, "metadata": {**about, "value": pieces[0]}}
    rest = [
        {"id": part_id(entry.key, at), "values": values, "metadata": {"stamp": stamp, "value": piece}}
        for at, piece in enumerate(pieces[1:], 1)
    ]
    return head, rest


def head_of(metadata: Mapping[str, Any]) -> Head:
    """Parse the first record of an entry; numbers come back as floats."""
    return Head(
        str(metadata["kind"]),
        str(metadata["group"]),
        int(metadata["parts"]),
        str(metadata["stamp"]),
        str(metadata["value"]),
    )


def joined(key: str, head: Head, parts: Mapping[str, Mapping[str, Any]]) -> Entry | None:
    """Return the whole entry; None if a part is missing or of another version."""
    value = head.value
    for at in range(1, head.parts):
        metadata = parts.get(part_id(key, at))
        if metadata is None or metadata["stamp"] != head.stamp:
            return None
        value += metadata["value"]
    return Entry(key, head.kind, head.group, value)


def part_id(key: str, at: int) -> str:
    """Return the id of a further part of an entry; keys do not contain this character."""
    return f"{key}#{at}"


def batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Split records into requests that the service accepts."""
    return sized_batches(records, _record_size, most=_BATCH_RECORDS, total=_BATCH_BYTES)


def _record_size(record: Record) -> int:
    # At most 14 characters a number: a sign, a digit, a point, nine decimals (or an exponent), a comma.
    return _size(record["metadata"]) + 14 * len(record["values"]) + len(record["id"]) + 60


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def _pieces(text: str, limit: int) -> Iterator[str]:
    """Split a text into pieces of a number of bytes of JSON."""
    start, used = 0, 0
    if len(text) * 6 <= limit:
        yield text
        return
    for at, character in enumerate(text):
        size = _width(character)
        if used + size > limit:
            yield text[start:at]
            start, used = at, 0
        used += size
    yield text[start:]


def _width(character: str) -> int:
    code = ord(character)
    if code < 0x20:
        return 6
    if character in '"\\':
        return 2
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


class PineconeStore(TableStore[str, Any]):
    """Points are searched by Pinecone; it has no keyword search over given words, so that part is ours.

    The row of an entry is the entry itself, because it may be several records.
    """

    provider = "pinecone"
    capabilities: ClassVar[Capabilities] = Capabilities(
        eventual=True, max_results=_TOP_K, max_filter=10_000, batch=1_000
    )
    known_options: ClassVar[Mapping[str, str]] = {
        "cloud": "Where a new index is made: aws, gcp or azure (aws).",
        "region": "The region of that cloud (us-east-1).",
        "deletion_protection": "Whether a new index is protected from being deleted (false).",
        "parallel": "How many requests write at the same time (4).",
        "tls": "false allows http:// beyond this machine.",
    }

    bytes_at_once = _BATCH_BYTES
    page = _PAGE
    _points, _entries = POINTS, ENTRIES

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._parallel = settings.number("parallel", 4, 1, 20)
        self._link = PineconeLink(settings)
        self._length: int | None = None

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors, as the control plane states it."""
        found = self._link.describe()
        if found is None:
            return None
        self._refuse_foreign(found)
        return self._shape(found)

    def _make(self, dimension: int) -> None:
        if self._link.describe() is None:
            self._link.make(dimension)

    def drop(self) -> None:
        """Delete the index, if it is ours."""
        if self.dimension() is not None:
            self._link.remove()
        self._length = None

    def close(self) -> None:
        """Close the connections."""
        self._link.close()

    def _shape(self, found: IndexModel) -> int:
        field: Any = found.schema.fields.get(VECTOR_FIELD)
        dimension, metric = getattr(field, "dimension", None), getattr(field, "metric", None)
        if len(found.schema.fields) != 1 or not dimension or metric not in ("cosine", "dotproduct"):
            raise StoreSchemaError(
                f"pinecone: the index {found.name} is not one of dense vectors compared by cosine. Name another "
                "collection, or delete that index."
            )
        self._length = int(dimension)
        return self._length

    def _refuse_foreign(self, found: IndexModel) -> None:
        """Accept an index without our tag, because somebody created it for us, only if it has nothing else in it."""
        if (found.tags or {}).get(TAG) == TAG_VALUE or not found.status.ready:
            return
        held = self._link.ask(lambda index: index.describe_index_stats().namespaces)
        others = [
            name for name, space in held.items() if space.vector_count and name not in (POINTS, ENTRIES)
        ]
        if others:
            raise StoreSchemaError(
                f"pinecone: the index {found.name} holds something else (namespace {others[0]}). Name another "
                "collection, or delete that index."
            )

    def count(self) -> int:
        """Return the number of points."""
        held = self._link.ask(lambda index: index.describe_index_stats().namespaces.get(POINTS))
        return held.vector_count if held else 0

    # -- rows ------------------------------------------------------------------------------------------------

    def _write(self, where: str, rows: list[Any]) -> None:
        if where == POINTS:
            self._send(where, rows)
            return
        length = self._length or self.dimension()
        if length is None:
            raise StoreSchemaError(
                f"pinecone: there is no collection {self.settings.collection}. Index your documents first."
            )
        records = [entry_records(entry, length) for entry in rows]
        # What does not fit into the first record of an entry is written before it.
        self._send(where, (part for _, rest in records for part in rest))
        self._send(where, (head for head, _ in records))

    def _send(self, where: str, records: Iterable[Record]) -> None:
        for batch in batches(records):
            self._link.ask(lambda index, batch=batch: index.upsert(vectors=batch, namespace=where))  # type: ignore[misc]

    def _delete(self, where: str, keys: list[str]) -> None:
        ids = keys
        if where == ENTRIES:
            # All the parts they may have.
            ids = [key if at == 0 else part_id(key, at) for key in keys for at in range(MAX_PARTS)]

        def delete(index: Index, batch: list[str]) -> None:
            # A namespace exists from its first record on.
            with suppress(NotFoundError):
                index.delete(ids=batch, namespace=where)

        for batch in cut(ids, self.keys_at_once):
            self._link.ask(lambda index, batch=batch: delete(index, batch))  # type: ignore[misc]

    def _read(self, where: str, keys: list[str]) -> list[Any]:
        if where == POINTS:
            return list(self._fetched(where, keys).items())

        def read() -> list[Entry]:
            heads = {key: head_of(held.metadata or {}) for key, held in self._fetched(where, keys).items()}
            return self._whole(heads)

        return retrying(read, attempts=_TORN_ATTEMPTS)

    def _fetched(self, where: str, keys: list[str]) -> Mapping[str, Any]:
        return self._link.ask(lambda index: index.fetch(ids=keys, namespace=where).vectors)

    def _scan(self, where: str, wanted: Mapping[str, str], *, whole: bool) -> Iterator[list[Any]]:
        if where == POINTS:
            document = wanted.get("document", "")
            # Without vectors, the list of ids is sufficient.
            prefix = document and f"{document[:8]}-{document[8:12]}-{document[12:16]}-"
            for page in self._pages(
                lambda index, token: index.list_paginated(
                    prefix=prefix, limit=_PAGE, pagination_token=token, namespace=where
                )
            ):
                if names := [item.id for item in page if item.id]:
                    yield self._read(where, names) if whole else [(name, None) for name in names]
            return
        some = {name: {"$eq": value} for name, value in wanted.items()}
        for found in self._pages(
            lambda index, token: index.fetch_by_metadata(
                filter=some, namespace=where, limit=_PAGE, pagination_token=token
            )
        ):
            heads = {key: head_of(record.metadata or {}) for key, record in found.items()}
            try:
                yield self._whole(heads)
            except StoreUnavailableError:
                # One of them is being written: it is read again.
                yield self._read(where, list(heads))

    def _pages(self, ask: Callable[[Index, str | None], Any]) -> Iterator[Any]:
        token: str | None = None
        while True:
            page = self._link.ask(lambda index, after=token: ask(index, after))  # type: ignore[misc]
            if page.vectors:
                yield page.vectors
            token = page.pagination.next if page.pagination else None
            if not token:
                return

    def _whole(self, heads: Mapping[str, Head]) -> list[Entry]:
        names = [part_id(key, at) for key, head in heads.items() for at in range(1, head.parts)]
        parts: dict[str, Mapping[str, Any]] = {}
        for batch in cut(names, _PAGE):
            fetched = self._fetched(ENTRIES, batch)
            parts.update((name, record.metadata or {}) for name, record in fetched.items())
        found = [joined(key, head, parts) for key, head in heads.items()]
        if None in found:
            torn = list(heads)[found.index(None)]
            raise StoreUnavailableError(
                f"pinecone: the entry {torn} is being written. Try again in a moment."
            )
        return [entry for entry in found if entry is not None]

    def _row(self, point: Point) -> Record:
        return point_record(point)

    def _point(self, row: tuple[str, Any]) -> Point:
        """Return a point; its id contains the document."""
        name, record = row
        metadata = (record.metadata if record else None) or {}
        shown = (str(metadata.get(field, "")) for field in PAYLOAD)
        return Point(
            name, PointId.parse(name).document, read_vector(record.values if record else None), *shown
        )

    def _entry_row(self, entry: Entry) -> Entry:
        return entry

    def _entry(self, row: Entry) -> Entry:
        return row

    def _nearest(self, vector: Vectors, limit: int, documents: Documents) -> list[Found]:
        """Query ids and scores only."""
        some = None if documents is None else {"document": {"$in": documents}}
        found = self._link.ask(
            lambda index: index.query(
                vector=numbers(vector), top_k=min(limit, _TOP_K), namespace=POINTS, filter=some
            )
        )
        return [Found(match.id, float(match.score)) for match in found.matches]
