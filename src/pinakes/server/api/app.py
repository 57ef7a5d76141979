"""The whole of the API: every operation, and the routes that lead to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.routing import BaseRoute

from pinakes.server.api import mapping, reading, searching, state, taking
from pinakes.server.api.endpoints import Endpoints
from pinakes.server.api.indexing import Indexing
from pinakes.server.api.openapi import describe
from pinakes.server.api.operations import Call, Operation, Reply
from pinakes.server.api.pictures import Pictures
from pinakes.server.api.workers import Workers
from pinakes.server.crew import Crew, Setup

if TYPE_CHECKING:
    from pinakes.server.desk import Desk

# What only reads from the index, and so can be answered by any process that has it open.
SHARED = (
    *searching.OPERATIONS,
    *reading.OPERATIONS,
    *mapping.OPERATIONS,
    *taking.OPERATIONS,
)
OPERATIONS = (*SHARED, *state.OPERATIONS)


class Api:
    """The API of one server, with the threads and processes it works in."""

    def __init__(
        self,
        desk: Desk,
        *,
        token: bool = False,
        workers: Workers | None = None,
        processes: int = 1,
    ) -> None:
        # Two answer here, so that a long answer does not keep a short one waiting; one waits for each further process.
        # The queue before them is served in order; a lock within would let some wait for ever.
        self.workers = workers or Workers(max(3, processes + 1))
        self.crew = Crew(lambda: setup_of(desk), processes - 1)
        self._pictures = Pictures()
        self._indexing = Indexing(desk)
        answered = (*OPERATIONS, *self._pictures.operations())
        description = describe((*answered, *self._indexing.operations()), token=token)
        self.routes: list[BaseRoute] = [
            *Endpoints(desk, self.workers, self.crew, {operation.name for operation in SHARED}).routes(
                (*answered, _describing(description))
            ),
            self._indexing.route,
        ]

    def close(self) -> None:
        """Begin nothing new, and end what runs in processes of its own."""
        self._indexing.close()
        self._pictures.close()
        self.crew.close()
        self.workers.close()


def setup_of(desk: Desk) -> Setup | None:
    """Return what another process opens; tools of an agent file read documents themselves and are not shared."""
    from pinakes.server.shelf import IndexShelf

    shelf = next(iter(desk.shelves.values()))
    path = shelf.path if isinstance(shelf, IndexShelf) and not desk.several else None
    return Setup(str(path.absolute()), desk.mark) if path is not None else None


def _describing(description: dict[str, Any]) -> Operation:
    def answer(_: Call) -> Reply:
        return Reply(description)

    return Operation("GET", "/api/openapi.json", "describe", "This description.", (), answer, {}, may=())
