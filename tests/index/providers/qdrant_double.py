"""A double of a Qdrant server on loopback: the REST calls that the store makes, from the vendor's API reference.

It is no server: what a call does is done by the local mode of the vendor's client, in memory. What is ours is the
protocol around it: addresses and methods, keys and what a read-only one may not do, bodies checked against the
vendor's own models (which forbid unknown fields), the largest body, and the words in which the server refuses. It has
no HNSW index, no shards or replicas, and no delays.
"""

from __future__ import annotations

import json
import re
import threading
import warnings
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import BaseModel, TypeAdapter, ValidationError
from qdrant_client import QdrantClient, models

MAX_BODY = 32 * 1024 * 1024
_PARAMETERS = {"wait", "ordering", "timeout", "consistency"}
_COLLECTION = re.compile(r"/collections/([^/]+)(/.*)?")

Model = TypeVar("Model", bound=BaseModel)


class RefusedError(Exception):
    """An answer that is an error: its status and what the body says."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class QdrantDouble:
    """Listens on a free port; keeps its data and its port when stopped and started again."""

    def __init__(self, api_key: str = "", read_only_key: str = "") -> None:
        self.api_key = api_key
        self.read_only_key = read_only_key
        self.version = "1.17.1"
        # Answers to give before any other, for trouble on the way: a status and a body.
        self.trouble: list[tuple[int, str]] = []
        # What was asked, as method and path with its body, for tests to look at.
        self.asked: list[tuple[str, Any]] = []
        self.engine = QdrantClient(location=":memory:")
        self.guard = threading.RLock()
        self.port = 0
        self._server: ThreadingHTTPServer | None = None
        self.start()

    @property
    def url(self) -> str:
        """The address for connection_string."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen, on the same port as before."""
        if self._server is None:
            double = self

            class Handler(_Handler):
                owner = double

            self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
            self._server.daemon_threads = True
            self.port = self._server.server_address[1]
            threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Refuse connections."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def answer(self, method: str, path: str, parameters: set[str], body: Any) -> Any:
        """Return the result of a call."""
        if method == "GET" and path == "/":
            return None
        if unknown := parameters - _PARAMETERS:
            raise RefusedError(400, f"Unknown query parameter {', '.join(sorted(unknown))}")
        found = _COLLECTION.fullmatch(path)
        call = _CALLS.get((method, (found[2] or "") if found else path))
        if found is None or call is None:
            raise RefusedError(404, "")
        name = unquote(found[1])
        with self.guard, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return call(self.engine, name, body)
            except ValidationError as error:
                raise RefusedError(400, f"Format error in JSON body: {error.errors()[0]['msg']}") from error
            except ValueError as error:
                raise _refusal(name, error) from error


class _Handler(BaseHTTPRequestHandler):
    owner: QdrantDouble
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        """Answer, unless the client has gone."""
        try:
            super().handle_one_request()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def log_message(self, format: str, *arguments: Any) -> None:
        return

    def _handle(self) -> None:
        address = urlsplit(self.path)
        size = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(size)
        if self.owner.trouble:
            self._send(*self.owner.trouble.pop(0))
            return
        if refused := self._refuse_key(address.path):
            self._send(*refused)
            return
        try:
            if size > MAX_BODY:
                raise RefusedError(
                    413,
                    f"Payload error: JSON payload ({size} bytes) is larger than allowed (limit: {MAX_BODY})",
                )
            body = json.loads(text) if text else None
            self.owner.asked.append((f"{self.command} {address.path}", body))
            result = self.owner.answer(self.command, address.path, set(parse_qs(address.query)), body)
        except RefusedError as error:
            status = {"error": error.message}
            self._send(error.status, json.dumps({"status": status, "time": 0.0}))
            return
        if address.path == "/":
            about = {"title": "qdrant - vector search engine", "version": self.owner.version, "commit": "0"}
            self._send(200, json.dumps(about))
            return
        self._send(200, json.dumps({"result": result, "status": "ok", "time": 0.001}))

    do_GET = do_PUT = do_POST = do_DELETE = _handle  # noqa: N815

    def _refuse_key(self, path: str) -> tuple[int, str] | None:
        given, owner = self.headers.get("api-key", ""), self.owner
        if not owner.api_key:
            return None
        if not given:
            return 401, "Must provide an API key or an Authorization bearer token"
        if given == owner.read_only_key and given:
            reads = self.command == "GET" or path.endswith(("/points", "/scroll", "/count", "/query"))
            writes = self.command in ("PUT", "DELETE")
            if writes or not reads:
                return 403, json.dumps({"status": {"error": "Forbidden: Global manage access is required"}})
            return None
        return None if given == owner.api_key else (401, "Invalid API key or JWT")

    def _send(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _refusal(name: str, error: ValueError) -> RefusedError:
    text = str(error)
    if "not found" in text and "Collection" in text:
        return RefusedError(404, f"Not found: Collection `{name}` doesn't exist!")
    if "already exists" in text:
        return RefusedError(409, f"Wrong input: Collection `{name}` already exists!")
    return RefusedError(400, f"Wrong input: {text}")


def _create(engine: QdrantClient, name: str, body: Any) -> Any:
    wanted = models.CreateCollection(**body)
    if wanted.shard_number == 0 or wanted.replication_factor == 0:
        raise RefusedError(422, "Validation error in JSON body: value 0 invalid, must be 1 or larger")
    return engine.create_collection(
        name, vectors_config=wanted.vectors, sparse_vectors_config=wanted.sparse_vectors
    )


def _info(engine: QdrantClient, name: str, body: Any) -> Any:
    return _plain(engine.get_collection(name))


def _exists(engine: QdrantClient, name: str, body: Any) -> Any:
    return {"exists": engine.collection_exists(name)}


def _drop(engine: QdrantClient, name: str, body: Any) -> Any:
    return engine.delete_collection(name)


def _index(engine: QdrantClient, name: str, body: Any) -> Any:
    engine.get_collection(name)
    models.CreateFieldIndex(**body)
    return {"operation_id": 0, "status": "completed"}


def _upsert(engine: QdrantClient, name: str, body: Any) -> Any:
    wanted = models.PointsList(**body)
    engine.upsert(name, wanted.points, update_filter=wanted.update_filter, update_mode=wanted.update_mode)
    return {"operation_id": 1, "status": "completed"}


def _delete(engine: QdrantClient, name: str, body: Any) -> Any:
    engine.delete(name, models.PointIdsList(**body))
    return {"operation_id": 2, "status": "completed"}


def _retrieve(engine: QdrantClient, name: str, body: Any) -> Any:
    wanted = models.PointRequest(**body)
    found = engine.retrieve(
        name,
        wanted.ids,
        with_payload=_or(wanted.with_payload, True),
        with_vectors=wanted.with_vector or False,
    )
    return _plain(found)


def _scroll(engine: QdrantClient, name: str, body: Any) -> Any:
    wanted = models.ScrollRequest(**body)
    found, following = engine.scroll(
        name,
        wanted.filter,
        limit=wanted.limit or 10,
        offset=wanted.offset,
        with_payload=_or(wanted.with_payload, True),
        with_vectors=wanted.with_vector or False,
    )
    return {"points": _plain(found), "next_page_offset": following}


def _count(engine: QdrantClient, name: str, body: Any) -> Any:
    return _plain(engine.count(name, models.CountRequest(**body).filter))


def _query(engine: QdrantClient, name: str, body: Any) -> Any:
    wanted = models.QueryRequest(**body)
    legs = (
        wanted.prefetch if isinstance(wanted.prefetch, list) else [wanted.prefetch] if wanted.prefetch else []
    )
    found = engine.query_points(
        name,
        query=wanted.query,
        using=wanted.using,
        prefetch=legs or None,
        query_filter=wanted.filter,
        limit=wanted.limit or 10,
        with_payload=_or(wanted.with_payload, False),
        with_vectors=wanted.with_vector or False,
    )
    return _plain(found)


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _plain(value: Any) -> Any:
    return TypeAdapter(type(value)).dump_python(value, mode="json", exclude_none=True)


_CALLS: dict[tuple[str, str], Callable[[QdrantClient, str, Any], Any]] = {
    ("PUT", ""): _create,
    ("GET", ""): _info,
    ("GET", "/exists"): _exists,
    ("DELETE", ""): _drop,
    ("PUT", "/index"): _index,
    ("PUT", "/points"): _upsert,
    ("POST", "/points"): _retrieve,
    ("POST", "/points/delete"): _delete,
    ("POST", "/points/scroll"): _scroll,
    ("POST", "/points/count"): _count,
    ("POST", "/points/query"): _query,
}
