"""The worker's side of a sandbox: calls a function with one input after another, within limits."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import queue
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import msgspec

from loccit.errors import ConversionError, LoccitError
from loccit.workers.processes import die_with, read_frame, take_pipes, write_frame


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one call: time, address space of the worker, size of the answer."""

    seconds: float = 120
    memory_mb: int = 2048
    result_mb: int = 256
    most_seconds: float = 4 * 3600
    """The hard limit, however often a call asks for more time."""


def encode(message: dict[str, Any]) -> bytes:
    """Return a message as bytes, in ASCII: lone surrogates occur in file names."""
    return json.dumps(message).encode()


def decode(data: bytes | None) -> dict[str, Any] | None:
    """Return the message in a frame, or ``None`` if there is none."""
    return None if data is None else cast("dict[str, Any]", json.loads(data))


def echo(payload: dict[str, Any], setup: dict[str, Any]) -> dict[str, Any]:
    """Return the payload: the smallest function a sandbox can run."""
    return payload


_parent: BinaryIO | None = None


def ask_for_time(seconds: float) -> None:
    """Tell the parent, if there is one, that this call is working and may take this long from now on."""
    if _parent is not None:
        write_frame(_parent, encode({"kind": "time", "seconds": seconds}))


def serve() -> None:
    """Run as a worker: answer frames until standard input ends."""
    global _parent
    parent = os.getppid()
    requests, replies = take_pipes()
    die_with(parent)
    config = decode(read_frame(requests))
    if config is None:
        return
    limits = Limits(**config["limits"])
    function: Callable[[dict[str, Any], dict[str, Any]], Any] | None = None
    try:
        _restrict(limits)
        module, _, name = config["function"].partition(":")
        function = getattr(importlib.import_module(module), name)
        answer: dict[str, Any] = {"kind": "ready"}
    except BaseException as error:
        answer = {"kind": "failed", "error": f"{type(error).__name__}: {error}"}
    write_frame(replies, encode(answer))
    _parent = replies
    inbox: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, inbox), daemon=True).start()
    while function is not None:
        for frame in _answer(function, inbox.get(), config["setup"], limits):
            write_frame(replies, frame)


def _listen(requests: BinaryIO, inbox: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Read ahead, so that the end of the parent is noticed during a call too."""
    with contextlib.suppress(BaseException):
        while (message := decode(read_frame(requests))) is not None:
            inbox.put(message)
    os._exit(0)


def _answer(
    function: Callable[[dict[str, Any], dict[str, Any]], Any],
    payload: dict[str, Any],
    setup: dict[str, Any],
    limits: Limits,
) -> tuple[bytes, ...]:
    """Return the frames of an answer: how the call ended and, if well, what it returned."""
    try:
        value = msgspec.json.encode(function(payload, setup))
        if len(value) <= limits.result_mb << 20:
            return encode({"kind": "ok"}), value
        return (encode({"kind": "failed", "error": f"converts to more than {limits.result_mb} MB"}),)
    except MemoryError:
        return (encode({"kind": "memory", "trace": traceback.format_exc(limit=-20)}),)
    except LoccitError as error:
        again = isinstance(error, ConversionError) and error.again
        trace = traceback.format_exc(limit=-20)
        return (encode({"kind": "failed", "error": str(error), "again": again, "trace": trace}),)
    except BaseException as error:
        text = " ".join(str(error).split())[:200]
        reason = f"{type(error).__name__}: {text}" if text else type(error).__name__
        return (encode({"kind": "failed", "error": reason, "trace": traceback.format_exc(limit=-20)}),)


def _restrict(limits: Limits) -> None:
    """Set the operating system's limits; Windows has none of this kind."""
    try:
        import resource
    except ImportError:
        return
    for what, size in (("RLIMIT_AS", limits.memory_mb << 20), ("RLIMIT_CORE", 0)):
        # Refused if the system has no such limit or a lower one is already in force.
        with contextlib.suppress(AttributeError, ValueError, OSError):
            resource.setrlimit(getattr(resource, what), (size, size))
