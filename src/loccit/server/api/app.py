"""The complete API: every operation, the state of the server, and the routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.routing import BaseRoute

from loccit.errors import IndexNotFoundError, LoccitError
from loccit.server.api import citing, reading, searching, verbatim
from loccit.server.api.endpoints import Endpoints
from loccit.server.api.indexing import Indexing
from loccit.server.api.operations import LIBRARY, Call, Operation, Reply, digest
from loccit.server.api.pictures import Pictures
from loccit.server.api.problems import as_problem
from loccit.server.api.schemas import STATE, STATUS, describe
from loccit.server.services import RECORD, NotReadyError
from loccit.version import __version__

if TYPE_CHECKING:
    from loccit.library import Library
    from loccit.server.services import LibraryRegistry
    from loccit.server.workers import Workers

# A library that is being read says so at once.
_WAIT_SECONDS = 0.5


def status(call: Call) -> Reply:
    """Answer with the state of each library; one that cannot be opened does not hide the others."""
    libraries: list[dict[str, Any]] = []
    for service in call.registry.services.values():
        entry: dict[str, Any] = {"name": service.name, "description": service.description, "problem": ""}
        try:
            entry |= service.ask(lambda library: library.status(), _WAIT_SECONDS).to_dict()
        except Exception as error:
            entry |= {
                "problem": as_problem(error).detail,
                "missing": isinstance(error, IndexNotFoundError),
            }
        libraries.append(entry)
    registry = call.registry
    return Reply(
        {
            "libraries": libraries,
            "version": __version__,
            "write": registry.write,
            "folders": _folders(registry),
        }
    )


def _folders(registry: LibraryRegistry) -> list[str]:
    """Return the folders from which a client may have files indexed."""
    if not registry.write or registry.configured:
        return []
    try:
        return [str(root) for service in registry.services.values() for root in service.roots()]
    except LoccitError:
        return []


def state(call: Call) -> Reply:
    """Answer with a value that identifies the state of a library, also across restarts of the server."""

    def ask(library: Library) -> str:
        # The numbering of a recreated record restarts.
        record = (library.path / RECORD).stat()
        return digest(f"{record.st_dev} {record.st_ino} {library.generation}".encode())

    try:
        return Reply({"state": call.service.ask(ask, 0.0)})
    except (IndexNotFoundError, NotReadyError, FileNotFoundError):
        return Reply({"state": ""})


STATUS_OPERATION = Operation(
    "GET",
    "/api/status",
    "readStatus",
    "The libraries: their size, when they were updated, and what could not be read.",
    (),
    status,
    {"application/json": STATUS},
    may=(),
)


STATE_OPERATION = Operation(
    "GET",
    "/api/state",
    "readState",
    "A value that changes whenever the library does: poll it to know when to refresh the rest.",
    (LIBRARY,),
    state,
    {"application/json": STATE},
)


# What only reads from the index can be answered by any process that has it open.
SHARED = (
    *searching.OPERATIONS,
    *reading.OPERATIONS,
    *citing.OPERATIONS,
    *verbatim.OPERATIONS,
)
OPERATIONS = (*SHARED, STATUS_OPERATION, STATE_OPERATION)


class Api:
    """The API of one server."""

    def __init__(self, registry: LibraryRegistry, workers: Workers, *, token: bool = False) -> None:
        self._pictures = Pictures()
        self._indexing = Indexing(registry)
        answered = (*OPERATIONS, *self._pictures.operations())
        description = describe((*answered, *self._indexing.operations()), token=token)
        self.routes: list[BaseRoute] = [
            *Endpoints(registry, workers, {operation.name for operation in SHARED}).routes(
                (*answered, _describing(description))
            ),
            self._indexing.route,
        ]

    def close(self) -> None:
        """Accept nothing new, and stop what runs in other processes."""
        self._indexing.close()
        self._pictures.close()


def _describing(description: dict[str, Any]) -> Operation:
    def answer(_: Call) -> Reply:
        return Reply(description)

    return Operation("GET", "/api/openapi.json", "describe", "This description.", (), answer, {}, may=())
