"""The bytes of TDS 7.4 as a server writes and reads them: packets, the login, parameters of calls, results.

Written from the published protocol description [MS-TDS]. Only what a client of today needs for statements with text
and number parameters: no bulk load, no transactions of the client, no several result sets at once on a connection.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

BATCH, RPC, REPLY, ATTENTION, TRANSACTION, LOGIN, PRELOGIN = 1, 3, 4, 6, 14, 16, 18
ENCRYPT_OFF, ENCRYPT_ON, ENCRYPT_NOT_SUP, ENCRYPT_REQ = 0, 1, 2, 3
DONE_MORE, DONE_ERROR, DONE_COUNT, DONE_ATTENTION = 1, 2, 0x10, 0x20
SP_EXECUTESQL, SP_PREPARE, SP_EXECUTE, SP_PREPEXEC, SP_UNPREPARE = 10, 11, 12, 13, 15
PACKET = 4096
# Latin1_General_CI_AS, as the server announces it.
COLLATION = bytes([0x09, 0x04, 0xD0, 0x00, 0x34])
_NULL_LONG = 0xFFFFFFFFFFFFFFFF


class ServerError(Exception):
    """An error as the server reports it: number, class (severity) and text."""

    def __init__(self, number: int, text: str, severity: int = 16) -> None:
        super().__init__(text)
        self.number, self.text, self.severity = number, text, severity


def packets(kind: int, data: bytes, size: int = PACKET) -> bytes:
    """Cut a message into packets with their headers."""
    room = size - 8
    pieces = [data[at : at + room] for at in range(0, len(data), room)] or [b""]
    written = []
    for number, piece in enumerate(pieces, 1):
        last = 1 if number == len(pieces) else 0
        written.append(struct.pack(">BBHHBB", kind, last, len(piece) + 8, 51, number % 256, 0) + piece)
    return b"".join(written)


def prelogin_options(data: bytes) -> dict[int, bytes]:
    """Read the options of a first message."""
    options, at = {}, 0
    while data[at] != 0xFF:
        token, start, length = struct.unpack_from(">BHH", data, at)
        options[token] = data[start : start + length]
        at += 5
    return options


def prelogin_reply(encryption: int) -> bytes:
    """Say which version this is, and whether the connection is to be encrypted."""
    options = {0: bytes([17, 0, 0x03, 0xE8, 0, 0]), 1: bytes([encryption]), 2: b"\0", 3: b"", 4: b"\0"}
    start = 5 * len(options) + 1
    head, body = b"", b""
    for token, value in options.items():
        head += struct.pack(">BHH", token, start + len(body), len(value))
        body += value
    return head + b"\xff" + body


@dataclass(frozen=True)
class Login:
    """Who wants in."""

    user: str
    password: str
    database: str
    features: bool


def read_login(data: bytes) -> Login:
    """Read a LOGIN7 message; the password is veiled by swapping and flipping bits."""

    def text(at: int, *, veiled: bool = False) -> str:
        start, length = struct.unpack_from("<HH", data, at)
        raw = data[start : start + 2 * length]
        if veiled:
            plain = (byte ^ 0xA5 for byte in raw)
            raw = bytes((byte >> 4 | byte << 4) & 0xFF for byte in plain)
        return raw.decode("utf-16-le")

    return Login(text(40), text(44, veiled=True), text(68), bool(data[27] & 0x10))


# -- what the server says --------------------------------------------------------------------------------------


def _short(text: str) -> bytes:
    return bytes([len(text)]) + text.encode("utf-16-le")


def _long(text: str) -> bytes:
    raw = text.encode("utf-16-le")
    return struct.pack("<H", len(raw) // 2) + raw


def _token(kind: int, body: bytes) -> bytes:
    return struct.pack("<BH", kind, len(body)) + body


def changed(kind: int, new: str, old: str) -> bytes:
    """Report a change of the session: 1 the database, 2 the language, 4 the size of packets."""
    return _token(0xE3, bytes([kind]) + _short(new) + _short(old))


def login_accepted(database: str, *, features: bool) -> bytes:
    """Welcome a client."""
    acknowledged = (
        b"\x01" + bytes([0x74, 0, 0, 4]) + _short("Microsoft SQL Server") + bytes([17, 0, 0x03, 0xE8])
    )
    return b"".join(
        [
            changed(1, database, "master"),
            _token(0xE3, b"\x07" + bytes([5]) + COLLATION + b"\0"),
            changed(2, "us_english", ""),
            _token(0xAD, acknowledged),
            changed(4, str(PACKET), str(PACKET)),
            b"\xae\xff" if features else b"",
            done(0),
        ]
    )


def error(failure: ServerError) -> bytes:
    """Report an error."""
    body = struct.pack("<IBB", failure.number, 1, failure.severity) + _long(failure.text)
    return _token(0xAA, body + _short("double") + _short("") + struct.pack("<I", 1))


def done(status: int, count: int = 0, kind: int = 0xFD) -> bytes:
    """End a statement (FD), a statement within a call (FF), or a call (FE)."""
    return struct.pack("<BHHQ", kind, status, 0xC1 if status & DONE_COUNT else 0, count)


def return_status(value: int = 0) -> bytes:
    """Say how a call ended."""
    return struct.pack("<Bi", 0x79, value)


def return_handle(handle: int) -> bytes:
    """Hand back the number of a prepared statement."""
    return struct.pack("<BHBBIHBBBi", 0xAC, 0, 0, 1, 0, 0, 0x26, 4, 4, handle)


@dataclass(frozen=True)
class Answer:
    """What a statement gave: rows with named columns of a kind (text, long, int, float), or a number of rows."""

    columns: Sequence[tuple[str, str]] = ()
    rows: Sequence[Sequence[Any]] = ()
    count: int = 0


def written(answer: Answer, *, last: bool) -> bytes:
    """Write an answer; within a call more follows."""
    count = len(answer.rows) if answer.columns else answer.count
    end = done(DONE_COUNT | (0 if last else DONE_MORE), count, 0xFD if last else 0xFF)
    return (_result(answer.columns, answer.rows) if answer.columns else b"") + end


def _result(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]]) -> bytes:
    written = [struct.pack("<BH", 0x81, len(columns))]
    for name, kind in columns:
        written.append(struct.pack("<IH", 0, 0x0009) + _TYPES[kind] + _short(name))
    for row in rows:
        written.append(b"\xd1")
        written.extend(_value(kind, value) for (_, kind), value in zip(columns, row, strict=True))
    return b"".join(written)


_TYPES = {
    "text": struct.pack("<BH", 0xE7, 8000) + COLLATION,
    "long": struct.pack("<BH", 0xE7, 0xFFFF) + COLLATION,
    "int": bytes([0x26, 8]),
    "float": bytes([0x6D, 8]),
}


def _value(kind: str, value: Any) -> bytes:
    if kind == "int":
        return b"\0" if value is None else struct.pack("<Bq", 8, value)
    if kind == "float":
        return b"\0" if value is None else struct.pack("<Bd", 8, value)
    if value is None:
        return struct.pack("<Q", _NULL_LONG) if kind == "long" else b"\xff\xff"
    raw = str(value).encode("utf-16-le")
    if kind == "text":
        return struct.pack("<H", len(raw)) + raw
    chunk = struct.pack("<I", len(raw)) + raw if raw else b""
    return struct.pack("<Q", len(raw)) + chunk + struct.pack("<I", 0)


# -- what the client asks --------------------------------------------------------------------------------------


class Reader:
    """Reads the parts of a call one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, layout: str) -> tuple[Any, ...]:
        """Read numbers."""
        found = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return found

    def raw(self, length: int) -> bytes:
        """Read bytes."""
        self.at += length
        return self.data[self.at - length : self.at]

    def skip_headers(self) -> None:
        """Pass over the headers that begin every request."""
        (length,) = struct.unpack_from("<I", self.data, self.at)
        self.at += length

    def chunks(self) -> bytes | None:
        """Read a value of any length, which comes in chunks."""
        (length,) = self.take("Q")
        if length == _NULL_LONG:
            return None
        pieces: list[bytes] = []
        while True:
            (size,) = self.take("I")
            if not size:
                return b"".join(pieces)
            pieces.append(self.raw(size))


def read_batch(data: bytes) -> str:
    """Read a statement without parameters."""
    reader = Reader(data)
    reader.skip_headers()
    return data[reader.at :].decode("utf-16-le")


def read_call(data: bytes) -> tuple[int | str, list[tuple[str, Any]]]:
    """Read a call: the procedure by number or name, and its parameters with their names."""
    reader = Reader(data)
    reader.skip_headers()
    (length,) = reader.take("H")
    procedure = reader.take("H")[0] if length == 0xFFFF else reader.raw(2 * length).decode("utf-16-le")
    reader.take("H")
    parameters = []
    while reader.at < len(data):
        (length,) = reader.take("B")
        name = reader.raw(2 * length).decode("utf-16-le")
        reader.take("B")
        parameters.append((name, _parameter(reader)))
    return procedure, parameters


def _parameter(reader: Reader) -> Any:
    (kind,) = reader.take("B")
    if kind in (0x26, 0x6D, 0x68):  # a whole number, a float, a bit
        reader.take("B")
        (length,) = reader.take("B")
        if not length:
            return None
        layout = {0x6D: {4: "f", 8: "d"}}.get(kind, {1: "B", 2: "h", 4: "i", 8: "q"})[length]
        return reader.take(layout)[0]
    if kind in (0xE7, 0xA7, 0xEF, 0xAF):  # text, wide or narrow
        (size,) = reader.take("H")
        reader.raw(5)
        if size == 0xFFFF:
            raw = reader.chunks()
        else:
            (length,) = reader.take("H")
            raw = None if length == 0xFFFF else reader.raw(length)
        return None if raw is None else raw.decode("utf-16-le" if kind in (0xE7, 0xEF) else "latin-1")
    if kind == 0x63:  # ntext, as older calls send long text
        reader.take("I")
        reader.raw(5)
        (length,) = reader.take("i")
        return None if length < 0 else reader.raw(length).decode("utf-16-le")
    raise ServerError(8009, f"The incoming TDS RPC protocol stream is incorrect: unknown type {kind:#x}.")
