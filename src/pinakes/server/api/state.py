"""State: what the server holds, and how that is."""

from __future__ import annotations

from typing import Any

from pinakes.server.api.operations import Call, Operation, Reply
from pinakes.server.api.problems import as_problem
from pinakes.server.api.schemas import STATUS
from pinakes.version import __version__

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
