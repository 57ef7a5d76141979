"""Operations: one address and method each, with what it takes and how it is answered."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pinakes.server.api.catalog import Catalog, Catalogs
from pinakes.server.api.params import FILTERS_SCHEMA, Param, choice, text
from pinakes.server.api.problems import ProblemError
from pinakes.version import __version__

if TYPE_CHECKING:
    from pinakes.library import Library
    from pinakes.server.registry import LibraryRegistry
    from pinakes.server.services import LibraryService

T = TypeVar("T")
MAX_QUERY = 2000
# How long a question waits for a library whose documents are being read; the page would rather show how far it is.
_WAIT_SECONDS = 4.0

LIBRARY = text("library", "Name of the library, as /api/status gives it; the first when left out.")
DOC = text("doc", "Id of a document, as /api/documents gives it.")
THE_DOC = Param(DOC.name, DOC.description, DOC.schema, required=True)
FILTERS = Param(
    "filters",
    "Which documents to look at, as a JSON object of names and values; those of the command line.",
    FILTERS_SCHEMA,
)
OFFSETS = choice(
    "offsets",
    "What offsets count: characters of Unicode, or units of UTF-16 as in JavaScript.",
    ("characters", "utf16"),
    "characters",
)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a request: JSON values, or bytes of another kind."""

    content: Any = None
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    etag: str = ""
    unchanged: bool = False

    def body(self) -> bytes:
        """Return what is sent."""
        return self.content if isinstance(self.content, bytes) else to_json(self.content)


@dataclass(frozen=True, slots=True)
class Call:
    """One request: the library it is for and its arguments."""

    registry: LibraryRegistry
    catalogs: Catalogs
    arguments: Mapping[str, Any]
    known_etags: str = ""

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    @property
    def service(self) -> LibraryService:
        """The library that the request names, or the first."""
        name = self.arguments.get("library")
        services = self.registry.services
        if name is None:
            return next(iter(services.values()))
        if name not in services:
            raise ProblemError(404, f"There is no library {name!r} here; there are {', '.join(services)}.")
        return services[name]

    def ask(self, question: Callable[[Library, Catalog], T]) -> T:
        """Put a question to the library together with the ids of its documents."""
        service = self.service
        return service.ask(
            lambda library: question(library, self.catalogs.of(service.name, library)), _WAIT_SECONDS
        )

    def catalog(self) -> Catalog:
        """Return the ids of the library's documents."""
        return self.ask(lambda _, catalog: catalog)

    def conditional(self, generation: int, answer: Callable[[], Any]) -> Reply:
        """Answer unless the client has the same already: the same question to the same state of the index."""
        asked = to_json(
            [__version__, self.service.name, generation, dict(self.arguments), self.registry.mark]
        )
        etag = f'W/"{digest(asked)}"'
        if etag in (mark.strip() for mark in self.known_etags.split(",")):
            return Reply(etag=etag, unchanged=True)
        return Reply(answer(), etag=etag)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation. ``answers`` are JSON Schemas by media type; ``may`` lists statuses of problems of its own."""

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
    """Return a short name for some bytes."""
    import hashlib

    return hashlib.sha256(data).hexdigest()[:20]


def to_json(value: Any) -> bytes:
    """Return JSON; numbers that JSON does not know become null, and broken characters question marks."""
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
