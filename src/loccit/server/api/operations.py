"""Operations: one address and method each, its parameters, and how a question becomes an answer.

Documents have short ids instead of paths, so that a request can only name documents in the index. Questions and answers
are simple enough to be sent to another process.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import threading
import weakref
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.responses import Response

from loccit.ask.request import Request, arguments
from loccit.errors import NotFoundError
from loccit.server.api.params import Param, choice, text
from loccit.server.api.problems import ProblemError, as_problem
from loccit.version import __version__

if TYPE_CHECKING:
    from loccit.answers.reading import DocumentView
    from loccit.library import Library
    from loccit.server.services import LibraryRegistry, LibraryService

_FIELDS = ("start", "body", "end", "body_start")


def utf16(text: str) -> Callable[[int], int] | None:
    """Return a function that converts offsets to UTF-16, or None if they are the same."""
    # Most texts have no such characters; checking every character of a long one takes longer than encoding
    # it.
    if len(text.encode("utf-16-le", "surrogatepass")) == 2 * len(text):
        return None
    wide = [at for at, character in enumerate(text) if character > "\uffff"]
    return lambda offset: offset + bisect_left(wide, offset)


def convert(items: Iterable[dict[str, Any]], turn: Callable[[int], int]) -> None:
    """Convert the offsets of some items."""
    for item in items:
        for name in _FIELDS:
            if name in item:
                item[name] = turn(item[name])


def document_id(source_path: str) -> str:
    """Return the id of a document, which stays the same as long as its path does."""
    return hashlib.sha256(source_path.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# A document and its terms are requested one after the other, by a few people at a time.
_VIEWS = 2


@dataclass(frozen=True, slots=True)
class Catalog:
    """The documents that a library shows, in one of its states."""

    generation: int
    paths: dict[str, str]
    ids: dict[str, str]
    views: dict[str, DocumentView] = field(default_factory=dict)

    def view(self, library: Library, path: str) -> DocumentView:
        """Return a document as a reader view needs it; recently read ones are cached."""
        view = self.views.get(path)
        if view is None:
            view = library.reader(path)
            for old in list(self.views)[: 1 - _VIEWS]:
                self.views.pop(old, None)
            self.views[path] = view
        return view

    def path(self, doc: str) -> str:
        """Return the path of a document."""
        if doc not in self.paths:
            raise NotFoundError("There is no document with this id in the library.", "document")
        return self.paths[doc]

    def named(self, doc: str | None) -> str | None:
        """Return the path of a document, or None if none is given."""
        return None if doc is None else self.path(doc)

    def mark(
        self, item: dict[str, Any], path_field: str = "source_path", name: str = "doc"
    ) -> dict[str, Any]:
        """Add the id of the document that a field of an item names, or null."""
        item[name] = self.ids.get(item.get(path_field) or "")
        return item


class Catalogs:
    """Caches the catalogue of each library while its index is unchanged."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: dict[str, tuple[weakref.ref[Library], Catalog]] = {}

    def of(self, name: str, library: Library) -> Catalog:
        """Return the documents that a library currently shows."""
        generation = library.generation
        known, catalog = self._known.get(name, (None, None))
        if catalog is None or known is None or known() is not library or catalog.generation != generation:
            paths = {document_id(info.source_path): info.source_path for info in library.documents()}
            catalog = Catalog(generation, paths, {path: doc for doc, path in paths.items()})
            with self._guard:
                self._known[name] = (weakref.ref(library), catalog)
        return catalog


T = TypeVar("T")
# Arguments that are ids of documents here.
_DOCUMENTS = ("document", "old", "new")
# How long a question waits for a library that is being read; the page prefers to show the progress.
_WAIT_SECONDS = 4.0

LIBRARY = text("library", "Name of the library, as in /api/status; default: the first one.")
THE_DOC = text("doc", "Id of a document, as in /api/documents.", required=True)
OFFSETS = choice(
    "offsets",
    "The unit of offsets: Unicode characters, or UTF-16 code units as in JavaScript.",
    ("characters", "utf16"),
    "characters",
)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a request: JSON values, or bytes of another media type."""

    content: Any = None
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    etag: str = ""
    unchanged: bool = False

    def body(self) -> bytes:
        """Return the bytes to send."""
        return self.content if isinstance(self.content, bytes) else to_json(self.content)


@dataclass(frozen=True, slots=True)
class Call:
    """One request: its library and its arguments."""

    registry: LibraryRegistry
    catalogs: Catalogs
    arguments: Mapping[str, Any]
    known_etags: str = ""

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def made(self, request: Callable[..., Request[T]], catalog: Catalog) -> Request[T]:
        """Return a request with the arguments of this one, and paths instead of the ids of documents."""
        values: dict[str, Any] = {}
        for one in arguments(request):
            value = self.arguments.get(one.http_name or one.name) if one.http is not None else None
            if value is not None:
                values[one.name] = catalog.path(value) if one.name in _DOCUMENTS else value
        return request(**values)

    @property
    def service(self) -> LibraryService:
        """The library that the request names, or the first one."""
        name = self.arguments.get("library")
        services = self.registry.services
        if name is None:
            return next(iter(services.values()))
        if name not in services:
            raise ProblemError(404, f"There is no library {name!r} here; available: {', '.join(services)}.")
        return services[name]

    def ask(self, question: Callable[[Library, Catalog], T]) -> T:
        """Put a question to the library, together with the ids of its documents."""
        service = self.service
        return service.ask(
            lambda library: question(library, self.catalogs.of(service.name, library)), _WAIT_SECONDS
        )

    def catalog(self) -> Catalog:
        """Return the ids of the library's documents."""
        return self.ask(lambda _, catalog: catalog)

    def conditional(self, generation: int, answer: Callable[[], Any]) -> Reply:
        """Answer unless the client already has the answer to the same question in the same state of the index."""
        asked = to_json(
            [__version__, self.service.name, generation, dict(self.arguments), self.registry.mark]
        )
        etag = f'W/"{digest(asked)}"'
        if etag in (mark.strip() for mark in self.known_etags.split(",")):
            return Reply(etag=etag, unchanged=True)
        return Reply(answer(), etag=etag)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation. ``answers`` are JSON Schemas by media type; ``may`` lists additional error statuses."""

    method: str
    path: str
    name: str
    summary: str
    params: Sequence[Param]
    handler: Callable[[Call], Reply]
    answers: Mapping[str, Mapping[str, Any]]
    in_body: bool = False
    may: Sequence[int] = (404,)


def digest(data: bytes) -> str:
    """Return a short digest of some bytes."""
    import hashlib

    return hashlib.sha256(data).hexdigest()[:20]


def to_json(value: Any) -> bytes:
    """Return JSON; numbers that JSON cannot represent become null, and broken characters question marks."""
    try:
        data = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        data = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return data.encode("utf-8", "replace")


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, (list, tuple)) else value


_WORTH_PACKING = 1024
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


@dataclass(frozen=True, slots=True)
class Question:
    """A request: its operation, its arguments, and the client's cache and encodings."""

    operation: str
    arguments: Mapping[str, Any]
    known_etags: str = ""
    packed: bool = False

    def encode(self) -> bytes:
        """Return the question as bytes."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, data: bytes) -> Question:
        """Decode a question."""
        return cls(**json.loads(data))


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent: status, headers and bytes."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    def response(self) -> Response:
        """Return it as a server response."""
        return Response(self.body, status_code=self.status, headers=dict(self.headers))

    def encode(self) -> tuple[bytes, bytes]:
        """Return the answer as two byte strings."""
        return json.dumps([self.status, dict(self.headers)]).encode(), self.body

    @classmethod
    def decode(cls, head: bytes, body: bytes) -> Answer:
        """Decode an answer from two byte strings."""
        status, headers = json.loads(head)
        return cls(status, headers, body)


def answer(operation: Operation, call: Call, packed: bool) -> Answer:
    """Answer a request, including encoding and compression. Errors are answers too."""
    try:
        return _answer(operation, call, packed)
    except Exception as error:
        refusal = as_problem(error).response()
        return Answer(refusal.status_code, dict(refusal.headers), bytes(refusal.body))


def _answer(operation: Operation, call: Call, packed: bool) -> Answer:
    reply = operation.handler(call)
    headers = {**_HEADERS, **reply.headers, **({"ETag": reply.etag} if reply.etag else {})}
    if reply.unchanged:
        return Answer(304, headers)
    body = reply.body()
    headers |= {"Content-Type": reply.media_type, "Vary": "Accept-Encoding"}
    if packed and len(body) > _WORTH_PACKING and not reply.media_type.startswith("image/"):
        body = gzip.compress(body, 4)
        headers["Content-Encoding"] = "gzip"
    return Answer(200, headers, body)
