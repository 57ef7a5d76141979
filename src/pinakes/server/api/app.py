"""The whole of the API: every operation, the state of the server, and the routes that lead to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.routing import BaseRoute

from pinakes.server.api import citing, reading, searching, verbatim
from pinakes.server.api.endpoints import Endpoints, Workers
from pinakes.server.api.indexing import Indexing
from pinakes.server.api.operations import Call, Operation, Reply
from pinakes.server.api.pictures import Pictures
from pinakes.server.api.problems import as_problem
from pinakes.server.api.schemas import STATUS, describe
from pinakes.server.process_pool import ProcessPool, Setup
from pinakes.version import __version__

if TYPE_CHECKING:
    from pinakes.server.services import LibraryRegistry

# A library that is being read says so at once.
_WAIT_SECONDS = 0.5


def status(call: Call) -> Reply:
    """Answer with the state of each library; one that cannot be opened does not keep the others from being shown."""
    libraries: list[dict[str, Any]] = []
    for service in call.registry.services.values():
        entry: dict[str, Any] = {"name": service.name, "description": service.description, "problem": ""}
        try:
            entry |= service.ask(lambda library: library.status(), _WAIT_SECONDS).to_dict()
        except Exception as error:
            entry["problem"] = as_problem(error).detail
        libraries.append(entry)
    return Reply({"libraries": libraries, "version": __version__, "write": call.registry.write})


STATUS_OPERATION = Operation(
    "GET",
    "/api/status",
    "readStatus",
    "The libraries, their size, age and failures.",
    (),
    status,
    {"application/json": STATUS},
    may=(),
)


# What only reads from the index, and so can be answered by any process that has it open.
SHARED = (
    *searching.OPERATIONS,
    *reading.OPERATIONS,
    *citing.OPERATIONS,
    *verbatim.OPERATIONS,
)
OPERATIONS = (*SHARED, STATUS_OPERATION)


class Api:
    """The API of one server, with the threads and processes it works in."""

    def __init__(
        self,
        registry: LibraryRegistry,
        *,
        token: bool = False,
        workers: Workers | None = None,
        processes: int = 1,
    ) -> None:
        # Two answer here, so that a long answer does not keep a short one waiting; one waits for each further process.
        # The queue before them is served in order; a lock within would let some wait for ever.
        self.workers = workers or Workers(max(3, processes + 1))
        self.pool = ProcessPool(lambda: setup_of(registry), processes - 1)
        self._pictures = Pictures()
        self._indexing = Indexing(registry)
        answered = (*OPERATIONS, *self._pictures.operations())
        description = describe((*answered, *self._indexing.operations()), token=token)
        self.routes: list[BaseRoute] = [
            *Endpoints(registry, self.workers, self.pool, {operation.name for operation in SHARED}).routes(
                (*answered, _describing(description))
            ),
            self._indexing.route,
        ]

    def close(self) -> None:
        """Begin nothing new, and end what runs in processes of its own."""
        self._indexing.close()
        self._pictures.close()
        self.pool.close()
        self.workers.close()


def setup_of(registry: LibraryRegistry) -> Setup | None:
    """Return what another process opens; tools of an agent file read documents themselves and are not shared."""
    from pinakes.server.services import IndexService

    service = next(iter(registry.services.values()))
    path = service.path if isinstance(service, IndexService) and not registry.several else None
    return Setup(str(path.absolute()), registry.mark) if path is not None else None


def _describing(description: dict[str, Any]) -> Operation:
    def answer(_: Call) -> Reply:
        return Reply(description)

    return Operation("GET", "/api/openapi.json", "describe", "This description.", (), answer, {}, may=())
