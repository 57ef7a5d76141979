"""A double of a MongoDB server: it speaks the wire protocol to the unmodified client, and keeps all in memory.

It is not a MongoDB: written from the documentation of the protocol and of the services, it knows the commands,
operators and stages that a document store with search needs, and refuses everything else with the codes of the real
ones. Passwords are really checked (SCRAM-SHA-256). What the services do about search is in ``mongo_double_atlas``
and ``mongo_double_cosmos``.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import struct
import threading
import time
from typing import Any

import bson
from tests.index.providers.mongo_double_auth import ScramServer
from tests.index.providers.mongo_double_data import Warehouse
from tests.index.providers.mongo_double_table import LARGEST_DOCUMENT, RefusalError

_MSG, _QUERY, _REPLY = 2013, 2004, 1
_WRITES = frozenset(
    {
        "insert",
        "update",
        "delete",
        "create",
        "drop",
        "createindexes",
        "createsearchindexes",
        "dropsearchindex",
    }
)
LARGEST_MESSAGE = 48_000_000
LARGEST_BATCH = 100_000


class MongoDouble:
    """A server in threads on a free port of this machine, with two users: one may write, one may only read."""

    def __init__(self, warehouse: Warehouse, *, retryable_writes: bool = True) -> None:
        self.warehouse = warehouse
        self.user, self.password = "ann", "s3cret of Ann"
        self.reader = "ben"
        self.commands: list[dict[str, Any]] = []
        self._scram = ScramServer({self.user: self.password, self.reader: self.password})
        self._retryable_writes = retryable_writes
        # The answers to writes that may be sent again, by session and number.
        self._answered: dict[tuple[bytes, int], dict[str, Any]] = {}
        self._numbers = itertools.count(1)
        self._guard = threading.RLock()
        self._open: set[socket.socket] = set()
        self._listener: socket.socket | None = None
        self.port = 0
        self.start()

    def start(self) -> None:
        """Listen, on the same port as before."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(64)
        self.port = listener.getsockname()[1]
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def stop(self) -> None:
        """Break all connections and refuse new ones; what is stored stays."""
        with self._guard:
            listener, self._listener = self._listener, None
            broken, self._open = self._open, set()
        for one in ([listener] if listener else []) + list(broken):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._guard:
                self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        session = _Session()
        with contextlib.suppress(OSError, EOFError), connection:
            while True:
                number, code, body = _read(connection)
                if code == _QUERY:
                    answer = self._answer(session, _query_document(body))
                    connection.sendall(_reply(next(self._numbers), number, answer))
                elif code == _MSG:
                    flags, command = _message_document(body)
                    answer = self._answer(session, command)
                    if not flags & 2:
                        connection.sendall(_message(next(self._numbers), number, answer))
                else:
                    return
        with self._guard:
            self._open.discard(connection)

    # -- commands --------------------------------------------------------------------------------------------

    def _answer(self, session: _Session, command: dict[str, Any]) -> dict[str, Any]:
        name = next(iter(command)).lower()
        try:
            with self._guard:
                return {**self._run(session, name, command), "ok": 1.0}
        except RefusalError as refusal:
            return refusal.answer()

    def _run(self, session: _Session, name: str, command: dict[str, Any]) -> dict[str, Any]:
        if name in ("hello", "ismaster"):
            return self._hello(session, command)
        if name == "saslstart":
            return self._scram.start(session.login, command)
        if name == "saslcontinue":
            return self._scram.go_on(session.login, command)
        if name in ("ping", "endsessions"):
            return {}
        if name == "buildinfo":
            return {"version": "8.2.0", "versionArray": [8, 2, 0, 0], "maxBsonObjectSize": LARGEST_DOCUMENT}
        user = session.login.get("user")
        if not session.login.get("done"):
            raise RefusalError(13, "Unauthorized", f"Command {name} requires authentication")
        if user == self.reader and name in _WRITES:
            raise RefusalError(
                13, "Unauthorized", f"not authorized on {command['$db']} to execute command {name}"
            )
        self.commands.append(command)
        return self._once(name, command)

    def _once(self, name: str, command: dict[str, Any]) -> dict[str, Any]:
        if "txnNumber" not in command:
            return self.warehouse.run(name, command)
        if not self._retryable_writes:
            raise RefusalError(
                20, "IllegalOperation", "Retryable writes are not supported; use retryWrites=false"
            )
        key = bytes(command["lsid"]["id"]), int(command["txnNumber"])
        if key not in self._answered:
            self._answered[key] = self.warehouse.run(name, command)
        return self._answered[key]

    def _hello(self, session: _Session, command: dict[str, Any]) -> dict[str, Any]:
        me = f"127.0.0.1:{self.port}"
        answer: dict[str, Any] = {
            "helloOk": True,
            "ismaster": True,
            "isWritablePrimary": True,
            "secondary": False,
            "setName": "double",
            "setVersion": 1,
            "hosts": [me],
            "primary": me,
            "me": me,
            "maxBsonObjectSize": LARGEST_DOCUMENT,
            "maxMessageSizeBytes": LARGEST_MESSAGE,
            "maxWriteBatchSize": LARGEST_BATCH,
            "logicalSessionTimeoutMinutes": 30,
            "minWireVersion": 0,
            "maxWireVersion": 27,
            "readOnly": False,
            "connectionId": session.number,
        }
        if "saslSupportedMechs" in command:
            answer["saslSupportedMechs"] = ["SCRAM-SHA-256"]
        if (early := command.get("speculativeAuthenticate")) and early.get("mechanism") == "SCRAM-SHA-256":
            with contextlib.suppress(RefusalError):
                answer["speculativeAuthenticate"] = self._scram.start(session.login, early)
        return answer


class _Session:
    """What is known about one connection."""

    _count = itertools.count(1)

    def __init__(self) -> None:
        self.number = next(self._count)
        self.login: dict[str, Any] = {}


# -- the wire ------------------------------------------------------------------------------------------------


def _read(connection: socket.socket) -> tuple[int, int, bytes]:
    length, number, _, code = struct.unpack("<iiii", _exactly(connection, 16))
    if not 16 <= length <= LARGEST_MESSAGE:
        raise EOFError
    return number, code, _exactly(connection, length - 16)


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts, left = [], size
    while left:
        part = connection.recv(min(left, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _query_document(body: bytes) -> dict[str, Any]:
    end = body.index(b"\0", 4)
    database = body[4:end].decode().split(".")[0]
    return {**bson.decode(body[end + 9 :]), "$db": database}


def _message_document(body: bytes) -> tuple[int, dict[str, Any]]:
    """Return the flags and the command of a message; sequences of documents are put where they belong."""
    (flags,) = struct.unpack_from("<I", body)
    at, end = 4, len(body) - (4 if flags & 1 else 0)
    command: dict[str, Any] = {}
    added: dict[str, Any] = {}
    while at < end:
        kind = body[at]
        (size,) = struct.unpack_from("<i", body, at + 1)
        section = body[at + 1 : at + 1 + size]
        if kind == 0:
            command = bson.decode(section)
        else:
            stop = section.index(b"\0", 4)
            added[section[4:stop].decode()] = bson.decode_all(section[stop + 1 :])
        at += 1 + size
    return flags, {**command, **added}


def _message(number: int, to: int, answer: dict[str, Any]) -> bytes:
    body = struct.pack("<I", 0) + b"\0" + bson.encode(answer)
    return struct.pack("<iiii", 16 + len(body), number, to, _MSG) + body


def _reply(number: int, to: int, answer: dict[str, Any]) -> bytes:
    body = struct.pack("<iqii", 8, 0, 0, 1) + bson.encode(answer)
    return struct.pack("<iiii", 16 + len(body), number, to, _REPLY) + body


def wait_until(reached: Any, seconds: float = 20.0) -> None:
    """Wait for something to become true."""
    until = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)
