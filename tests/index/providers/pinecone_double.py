"""A double of Pinecone: control plane and data plane of a serverless project over loopback HTTP, in memory.

It is not Pinecone. Written from its documentation (API 2026-07) and its client, it ranks exactly where the service
approximates, lets writes be seen a little later as the service does, and refuses what the service refuses: strangers,
other versions of the API, unknown parts of a request, vectors of another length or of zeros, metadata of other kinds or
too much of it, and batches, pages and answers beyond the limits.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from tests.index.providers.loopback_http import LoopbackServer, RefusedError, Request
from tests.index.providers.pinecone_double_data import DataPlane, Namespaces, grpc_error

API_KEY = "pcsk_right_key"
READER_KEY = "pcsk_reader_key"
_VERSION = "2026-07"
_CREATE = {"name", "schema", "deployment", "deletion_protection", "tags"}
_REGIONS = {("aws", "us-east-1"), ("aws", "eu-west-1"), ("gcp", "europe-west4"), ("azure", "eastus2")}


class PineconeDouble(LoopbackServer):
    """One project. The address of an index is a path of this server, because there is but one port."""

    def __init__(self, *, delay: float = 0.03) -> None:
        super().__init__()
        self.delay = delay
        self.indexes: dict[str, dict[str, Any]] = {}
        self.data: dict[str, Namespaces] = {}
        self._work = threading.RLock()

    def failure(self, status: int) -> Any:
        return {"code": 8, "message": "Too many requests; try again later", "details": []}

    def settle(self) -> None:
        """Wait until everything that was written can be seen."""
        while any(spaces.pending() for spaces in list(self.data.values())):
            time.sleep(0.005)

    def answer(self, request: Request) -> tuple[int, Any]:
        planes = "data" if request.path[:1] == ["svc"] else "control"
        key = request.headers.get("api-key", "")
        if key not in (API_KEY, READER_KEY):
            reason = f"Invalid API key: {key}" if key else "Unauthorized"
            body = {"error": {"code": "UNAUTHENTICATED", "message": reason}, "status": 401}
            raise RefusedError(401, body if planes == "control" else grpc_error(16, reason))
        if request.headers.get("x-pinecone-api-version") != _VERSION:
            raise RefusedError(400, _error("INVALID_ARGUMENT", 400, "Unsupported API version"))
        writes = request.method == "DELETE" or request.path[-1] in ("upsert", "delete", "update")
        if key == READER_KEY and (writes or (planes == "control" and request.method == "POST")):
            raise RefusedError(403, _error("FORBIDDEN", 403, "API key lacks the role to write"))
        with self._work:
            if planes == "data":
                return self._data(request)
            return self._control(request)

    # -- control plane ---------------------------------------------------------------------------------------

    def _control(self, request: Request) -> tuple[int, Any]:
        match (request.method, *request.path):
            case ("GET", "indexes"):
                return 200, {"indexes": list(self.indexes.values())}
            case ("POST", "indexes"):
                return 201, self._create(request.json())
            case ("GET", "indexes", name):
                return 200, self._found(name)
            case ("DELETE", "indexes", name):
                if self._found(name)["deletion_protection"] == "enabled":
                    reason = "Deletion protection is enabled for this index. Disable it before retrying."
                    raise RefusedError(403, _error("FORBIDDEN", 403, reason))
                del self.indexes[name], self.data[name]
                return 202, None
        raise RefusedError(404, _error("NOT_FOUND", 404, f"no such route {request.raw_path}"))

    def _found(self, name: str) -> dict[str, Any]:
        if name not in self.indexes:
            raise RefusedError(404, _error("NOT_FOUND", 404, f"Resource {name} not found"))
        return self.indexes[name]

    def _create(self, body: dict[str, Any]) -> dict[str, Any]:
        if unknown := body.keys() - _CREATE:
            raise RefusedError(422, _error("INVALID_ARGUMENT", 422, f"unknown field {sorted(unknown)}"))
        name, deployment = body["name"], body["deployment"]
        if name in self.indexes:
            raise RefusedError(409, _error("ALREADY_EXISTS", 409, f"Index {name} already exists"))
        if not 1 <= len(name) <= 45 or not name.replace("-", "").isalnum() or name != name.lower():
            raise RefusedError(
                400, _error("INVALID_ARGUMENT", 400, "Name must be lower case and at most 45 long")
            )
        if (deployment["cloud"], deployment["region"]) not in _REGIONS:
            reason = f"Resource cloud: {deployment['cloud']} region: {deployment['region']} not found"
            raise RefusedError(404, _error("NOT_FOUND", 404, reason))
        return self.add(name, body["schema"], tags=body.get("tags"), protection=body["deletion_protection"])

    def add(
        self,
        name: str,
        schema: dict[str, Any],
        *,
        tags: dict[str, str] | None = None,
        protection: str = "disabled",
    ) -> dict[str, Any]:
        """Make an index, as somebody else might."""
        for field in schema["fields"].values():
            if field["type"] == "dense_vector" and not 1 <= field["dimension"] <= 20_000:
                raise RefusedError(
                    400, _error("INVALID_ARGUMENT", 400, "Dimension must be between 1 and 20000")
                )
        self.indexes[name] = {
            "name": name,
            "host": f"{self.url}/svc/{name}",
            "status": {"ready": True, "state": "Ready"},
            "schema": schema,
            "deployment": {"deployment_type": "managed", "cloud": "aws", "region": "us-east-1"},
            "deletion_protection": protection,
            "tags": tags,
        }
        self.data[name] = Namespaces(self.delay)
        return self.indexes[name]

    # -- data plane ------------------------------------------------------------------------------------------

    def _data(self, request: Request) -> tuple[int, Any]:
        name = request.path[1]
        if name not in self.indexes:
            raise RefusedError(404, grpc_error(5, f"Index {name} not found"))
        field = self.indexes[name]["schema"]["fields"].get("_values")
        if field is None:
            raise RefusedError(400, grpc_error(3, "This index is served by the documents API"))
        return 200, DataPlane(self.data[name], field["dimension"]).answer(request)


def _error(code: str, status: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}, "status": status}
