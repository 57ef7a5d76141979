"""A double of Azure Cosmos DB for NoSQL: an HTTP server in this process that Microsoft's own, unmodified client speaks to.

It is no Cosmos DB. It checks the signature of every request, keeps items in two physical partitions in memory, and
knows of the query language what the store asks (see the query module); the rest it refuses.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import socket
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.index.providers.cosmos_nosql_double_account import RANGES, Account, Container, RefusedError, bad
from tests.index.providers.cosmos_nosql_double_plan import plan
from tests.index.providers.cosmos_nosql_double_query import BadQueryError, answer, parse

KEY = base64.b64encode(b"the key of the double, which nobody else has").decode()
_FEATURES = ("NonStreamingOrderBy", "HybridSearch", "WeightedRankFusion", "Aggregate")
Reply = tuple[int, Any, dict[str, str]]


class CosmosDouble:
    """Listens on loopback; ``stop`` breaks connections and keeps the data, ``start`` listens again."""

    def __init__(self) -> None:
        self.account = Account()
        self.port = 0
        # What came: method, path without names of items, and the size of the body.
        self.requests: list[tuple[str, str, int]] = []
        # How many of the next requests are told to slow down.
        self.throttled = 0
        # Called with method and path before a request is answered; a test may raise here.
        self.fault: Callable[[str, str], None] = lambda method, path: None
        self._server: ThreadingHTTPServer | None = None
        self.lines: set[socket.socket] = set()

    def start(self) -> None:
        """Listen, on the port of before if there was one."""
        double = self

        class Handler(_Handler):
            pass

        Handler.double = double
        server = _Server(("127.0.0.1", self.port), Handler)
        server.daemon_threads = True
        self.port = server.server_port
        self._server = server
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        """Close everything."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
        for line in list(self.lines):
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    # -- requests --------------------------------------------------------------------------------------------

    def reply(self, method: str, path: str, headers: Any, body: bytes) -> Reply:
        """Answer a request."""
        parts = [unquote(part) for part in path.strip("/").split("/") if part]
        try:
            self._check_signature(method, parts, headers)
            self.fault(method, path)
            if self.throttled and parts:
                self.throttled -= 1
                raise RefusedError(429, "TooManyRequests", "Request rate is large.", 3200)
            with self.account.guard:
                return self._route(method, parts, headers, body)
        except BadQueryError as refusal:
            return self._refused(bad(f'Message: {{"errors":[{{"message":"{refusal}"}}]}}'))
        except RefusedError as refusal:
            return self._refused(refusal)

    @staticmethod
    def _refused(refusal: RefusedError) -> Reply:
        headers = {"x-ms-substatus": str(refusal.finer)} if refusal.finer else {}
        if refusal.status == 429:
            headers["x-ms-retry-after-ms"] = "5"
        return refusal.status, {"code": refusal.code, "message": refusal.message}, headers

    @staticmethod
    def _check_signature(method: str, parts: list[str], headers: Any) -> None:
        kind, link = "", ""
        if parts:
            named = len(parts) % 2 == 0
            kind, link = (parts[-2], "/".join(parts)) if named else (parts[-1], "/".join(parts[:-1]))
        text = f"{method.lower()}\n{kind}\n{link}\n{headers.get('x-ms-date', '').lower()}\n\n"
        digest = hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()
        wanted = f"type=master&ver=1.0&sig={base64.b64encode(digest).decode()}"
        if unquote(headers.get("authorization", "")) != wanted:
            raise RefusedError(
                401,
                "Unauthorized",
                "The input authorization token can't serve the request. The wrong key is being used or the expected "
                f"payload is not built as per the protocol. Server used the following payload to sign: '{text}'",
            )

    def _route(self, method: str, parts: list[str], headers: Any, body: bytes) -> Reply:
        given = json.loads(body) if body else {}
        account = self.account
        match (method, *parts):
            case ("GET",):
                return 200, self._description(), {}
            case ("POST", "dbs"):
                if given["id"] in account.databases:
                    raise RefusedError(409, "Conflict", "Resource with specified id already exists.")
                account.databases[given["id"]] = {}
                return 201, {**given, "_rid": "db", "_self": "dbs/db/"}, {}
            case ("GET", "dbs", name):
                account.database(name)
                return 200, {"id": name, "_rid": "db", "_self": "dbs/db/"}, {}
            case ("POST", "dbs", name, "colls"):
                containers = account.database(name)
                if given["id"] in containers:
                    raise RefusedError(409, "Conflict", "Resource with specified id already exists.")
                made = containers[given["id"]] = Container(given, features=account.features)
                return 201, made.written(), {}
            case ("GET", "dbs", name, "colls", container):
                return 200, account.container(name, container).written(), {}
            case ("PUT", "dbs", name, "colls", container):
                account.container(name, container).replace(given)
                return 200, account.container(name, container).written(), {}
            case ("DELETE", "dbs", name, "colls", container):
                account.container(name, container)
                del account.databases[name][container]
                return 204, None, {}
            case ("GET", "dbs", name, "colls", container, "pkranges"):
                return self._ranges(account.container(name, container), headers)
            case (_, "dbs", name, "colls", container, "docs", *rest):
                found = account.container(name, container)
                self._check_intended(found, headers)
                return self._items(method, found, rest, headers, given, len(body))
        raise bad(f"The double does not know {method} {'/'.join(parts)}.")

    def _description(self) -> dict[str, Any]:
        place = {"name": "Here", "databaseAccountEndpoint": f"http://127.0.0.1:{self.port}/"}
        return {
            "id": "double",
            "_rid": "double",
            "_self": "",
            "writableLocations": [place],
            "readableLocations": [place],
            "enableMultipleWriteLocations": False,
            "userConsistencyPolicy": {"defaultConsistencyLevel": "Session"},
            "queryEngineConfiguration": "{}",
        }

    @staticmethod
    def _ranges(container: Container, headers: Any) -> Reply:
        if headers.get("if-none-match") == '"1"':
            return 304, None, {"etag": '"1"'}
        ranges = [
            {"id": name, "minInclusive": low, "maxExclusive": high, "_rid": container.rid, "parents": []}
            for name, low, high in RANGES
        ]
        return (
            200,
            {"_rid": container.rid, "PartitionKeyRanges": ranges, "_count": len(ranges)},
            {"etag": '"1"'},
        )

    @staticmethod
    def _check_intended(container: Container, headers: Any) -> None:
        intended = headers.get("x-ms-cosmos-intended-collection-rid")
        if intended and intended != container.rid:
            raise bad("The container was made anew: its resource id is another one.", 1024)

    def _items(
        self, method: str, container: Container, rest: list[str], headers: Any, given: Any, size: int
    ) -> Reply:
        if size > 2 * 1024 * 1024 + 4096:
            raise RefusedError(413, "RequestEntityTooLarge", "Request size is too large.")
        keys = json.loads(headers.get("x-ms-documentdb-partitionkey", "[]"))
        if headers.get("x-ms-cosmos-is-query-plan-request", "").lower() == "true":
            return self._plan(given, headers)
        if headers.get("x-ms-documentdb-isquery", "").lower() == "true":
            return self._query(container, given, headers, keys[0] if keys else None)
        if not keys:
            raise bad("PartitionKey value must be supplied for this operation.")
        if headers.get("x-ms-cosmos-is-batch-request", "").lower() == "true":
            status, results = container.batch(keys[0], given)
            return status, results, {}
        match = headers.get("if-match")
        match (method, *rest):
            case ("POST",):
                upsert = headers.get("x-ms-documentdb-is-upsert", "").lower() == "true"
                return 201, container.put(keys[0], given, "upsert" if upsert else "create"), {}
            case ("GET", name):
                return 200, container.find(keys[0], name), {}
            case ("PUT", name):
                container.find(keys[0], name)
                return 200, container.put(keys[0], given, "replace", match), {}
            case ("DELETE", name):
                container.find(keys[0], name)
                del container.items[keys[0], name]
                return 204, None, {}
        raise bad("The double does not know this.")

    @staticmethod
    def _plan(given: dict[str, Any], headers: Any) -> Reply:
        offered = headers.get("x-ms-cosmos-supported-query-features", "")
        if lacking := [feature for feature in _FEATURES if feature not in offered]:
            raise bad(f"The client does not support {lacking}.")
        return 200, plan(parse(given["query"], _parameters(given))), {}

    @staticmethod
    def _query(container: Container, given: dict[str, Any], headers: Any, key: str | None) -> Reply:
        query = parse(given["query"], _parameters(given))
        if "FullText" in query.text and not container.definition["indexingPolicy"].get("fullTextIndexes"):
            raise bad("Full text functions need a full text index on the path.")
        part = headers.get("x-ms-documentdb-partitionkeyrangeid")
        if key is None and part is None:
            if headers.get("x-ms-documentdb-query-enablecrosspartition", "").lower() != "true":
                raise bad("Cross partition query is required but disabled.")
            if query.needs_plan:
                raise bad(
                    "The provided cross partition query can not be directly served by the gateway.", 1004
                )
        items = container.of_range(part)
        if key is not None:
            items = [item for item in items if item[container.key] == key]
        found = answer(query, items)
        start = int(headers.get("x-ms-continuation") or 0)
        end = start + int(headers.get("x-ms-max-item-count") or 100)
        more = {"x-ms-continuation": str(end)} if end < len(found) else {}
        return (
            200,
            {"_rid": container.rid, "Documents": found[start:end], "_count": len(found[start:end])},
            more,
        )


def _parameters(given: dict[str, Any]) -> dict[str, Any]:
    return {one["name"]: one["value"] for one in given.get("parameters", [])}


class _Server(ThreadingHTTPServer):
    """A server that says nothing of connections that were broken, which tests do."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Reads requests and writes replies; connections stay open."""

    double: CosmosDouble
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.double.lines.add(self.connection)

    def finish(self) -> None:
        self.double.lines.discard(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        return

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = urlsplit(self.path).path
        self.double.requests.append((self.command, "/".join(path.strip("/").split("/")[:5]), len(body)))
        status, reply, headers = self.double.reply(self.command, path, self.headers, body)
        data = b"" if reply is None else json.dumps(reply).encode()
        self.send_response(status)
        for name, value in {"x-ms-request-charge": "1", "x-ms-activity-id": "0", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815
