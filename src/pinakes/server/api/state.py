"""State: what the server holds, and how that is."""

from __future__ import annotations

from typing import Any

from pinakes.server.api.operations import Call, Operation, Reply
from pinakes.server.api.problems import as_problem
from pinakes.server.api.schemas import STATUS
from pinakes.version import __version__

# A library that is being read says so at once.
_PATIENCE = 0.5


def status(call: Call) -> Reply:
    """Answer with the state of each library; one that cannot be opened does not keep the others from being shown."""
    libraries: list[dict[str, Any]] = []
    for shelf in call.desk.shelves.values():
        entry: dict[str, Any] = {"name": shelf.name, "description": shelf.description, "problem": ""}
        try:
            entry |= shelf.ask(lambda scope: scope.library.status(), _PATIENCE).to_dict()
        except Exception as error:
            entry["problem"] = as_problem(error).detail
        libraries.append(entry)
    return Reply({"libraries": libraries, "version": __version__, "write": call.desk.write})


OPERATIONS = (
    Operation(
        "GET",
        "/api/status",
        "readStatus",
        "The libraries, their size, age and failures.",
        (),
        status,
        {"application/json": STATUS},
        may=(),
    ),
)
