"""A double of SQL Server 2025: a server in this process that speaks TDS 7.4 to Microsoft's own, unmodified client.

It is no SQL Server. It checks the login, encrypts when asked, and carries out the statements of the store and no
others (see the engine): anything else is error 102, as a real server answers what it cannot parse.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from tests.index.providers import sql_server_double_tds as tds

USER, PASSWORD = "loccit", "Str0ng;Pass}word"
DATABASE = "library"


class Engine(Protocol):
    """What carries out statements."""

    def run(self, statement: str, values: list[Any]) -> list[tds.Answer]: ...


class _Line:
    """A connection: messages in, messages out, in the clear or encrypted."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.tls: ssl.SSLObject | None = None
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()

    def receive(self) -> tuple[int, bytes]:
        """Return the next message and its kind."""
        body = []
        while True:
            head = self._exactly(8)
            length = int.from_bytes(head[2:4], "big")
            body.append(self._exactly(length - 8))
            if head[1] & 1:
                return head[0], b"".join(body)

    def send(self, data: bytes, kind: int = tds.REPLY) -> None:
        """Send a message."""
        data = tds.packets(kind, data)
        if self.tls is None:
            self.connection.sendall(data)
            return
        self.tls.write(data)
        self.connection.sendall(self._out.read())

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Shake hands for TLS; until that is done its bytes travel inside packets of their own."""
        tls = context.wrap_bio(self._in, self._out, server_side=True)
        while True:
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:  # noqa: PERF203
                if self._out.pending:
                    self.send(self._out.read(), tds.PRELOGIN)
                self._in.write(self.receive()[1])
            else:
                break
        if self._out.pending:
            self.send(self._out.read(), tds.PRELOGIN)
        self.tls = tls

    def _exactly(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            piece = self._some(length - len(data))
            if not piece:
                raise ConnectionError("closed")
            data += piece
        return data

    def _some(self, most: int) -> bytes:
        if self.tls is None:
            return self.connection.recv(most)
        while True:
            try:
                return self.tls.read(most)
            except ssl.SSLWantReadError:  # noqa: PERF203
                piece = self.connection.recv(65536)
                if not piece:
                    return b""
                self._in.write(piece)


class SqlServerDouble:
    """Listens on loopback; ``stop`` breaks connections and keeps the data, ``start`` listens again."""

    def __init__(self, engine: Engine, certificate: Path | None = None) -> None:
        self.engine = engine
        self.port = 0
        # How many logins there were, and of the statements that came: for tests of pooling and batches.
        self.logins = 0
        self.statements: list[str] = []
        # Called before each statement; a test may raise here to play a fault.
        self.fault: Callable[[str], None] = lambda statement: None
        self._lines: set[socket.socket] = set()
        self._guard = threading.Lock()
        self._listener: socket.socket | None = None
        self._context: ssl.SSLContext | None = None
        if certificate is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.maximum_version = ssl.TLSVersion.TLSv1_2
            self._context.load_cert_chain(certificate)

    def start(self) -> None:
        """Listen, on the port of before if there was one."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(64)
        self.port = listener.getsockname()[1]
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def stop(self) -> None:
        """Close everything."""
        if self._listener is not None:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        with self._guard:
            lines, self._lines = self._lines, set()
        for line in lines:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._guard:
                self._lines.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            self._converse(_Line(connection))
        except (OSError, ssl.SSLError):
            pass
        finally:
            with self._guard:
                self._lines.discard(connection)
            connection.close()

    def _converse(self, line: _Line) -> None:
        kind, data = line.receive()
        if kind != tds.PRELOGIN:
            return
        wanted = tds.prelogin_options(data)[1][0]
        encrypted = self._context is not None and wanted in (tds.ENCRYPT_ON, tds.ENCRYPT_REQ)
        if wanted in (tds.ENCRYPT_ON, tds.ENCRYPT_REQ) and self._context is None:
            line.send(tds.prelogin_reply(tds.ENCRYPT_NOT_SUP))
            return
        line.send(tds.prelogin_reply(tds.ENCRYPT_ON if encrypted else tds.ENCRYPT_NOT_SUP))
        if encrypted and self._context is not None:
            line.encrypt(self._context)
        kind, data = line.receive()
        login = tds.read_login(data)
        refused = self._refusal(login)
        if refused is not None:
            line.send(tds.error(refused) + tds.done(tds.DONE_ERROR))
            return
        self.logins += 1
        line.send(tds.login_accepted(login.database, features=login.features))
        prepared: dict[int, str] = {}
        while True:
            kind, data = line.receive()
            line.send(self._answer(kind, data, prepared))

    @staticmethod
    def _refusal(login: tds.Login) -> tds.ServerError | None:
        if (login.user, login.password) != (USER, PASSWORD):
            return tds.ServerError(18456, f"Login failed for user '{login.user}'.", 14)
        if login.database != DATABASE:
            text = f'Cannot open database "{login.database}" requested by the login. The login failed.'
            return tds.ServerError(4060, text, 11)
        return None

    def _answer(self, kind: int, data: bytes, prepared: dict[int, str]) -> bytes:
        if kind == tds.ATTENTION:
            return tds.done(tds.DONE_ATTENTION)
        call = kind == tds.RPC
        handle = None
        try:
            if call:
                statement, values, handle = self._call(data, prepared)
            elif kind == tds.BATCH:
                statement, values = tds.read_batch(data), []
            else:
                raise tds.ServerError(8009, f"The double knows no message of kind {kind}.")
            answers = self._run(statement, values) if statement else []
        except tds.ServerError as failure:
            return tds.error(failure) + tds.done(tds.DONE_ERROR, kind=0xFE if call else 0xFD)
        if not call:
            return b"".join(tds.written(answer, last=True) for answer in answers) or tds.done(0)
        written = b"".join(tds.written(answer, last=False) for answer in answers)
        returned = tds.return_handle(handle) if handle is not None else b""
        return written + tds.return_status() + returned + tds.done(0, kind=0xFE)

    def _run(self, statement: str, values: list[Any]) -> list[tds.Answer]:
        self.statements.append(statement)
        self.fault(statement)
        return self.engine.run(statement, values)

    @staticmethod
    def _call(data: bytes, prepared: dict[int, str]) -> tuple[str, list[Any], int | None]:
        """Read which statement is to be run; a statement comes once, and is known by a number from then on."""
        procedure, parameters = tds.read_call(data)
        values = [value for _, value in parameters]
        if procedure in (tds.SP_EXECUTESQL, "sp_executesql"):
            return values[0], values[2:], None
        if procedure in (tds.SP_PREPARE, tds.SP_PREPEXEC):
            handle = len(prepared) + 1
            prepared[handle] = values[2]
            return (values[2], values[3:], handle) if procedure == tds.SP_PREPEXEC else ("", [], handle)
        if procedure == tds.SP_EXECUTE:
            if values[0] not in prepared:
                raise tds.ServerError(8179, f"Could not find prepared statement with handle {values[0]}.")
            return prepared[values[0]], values[1:], None
        if procedure == tds.SP_UNPREPARE:
            return "", [], None
        raise tds.ServerError(2812, f"Could not find stored procedure '{procedure}'.")
