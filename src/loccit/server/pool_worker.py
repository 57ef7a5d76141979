"""A pool worker: opens libraries and answers requests from its server, until there is nothing to do."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import queue
import threading
from typing import BinaryIO

from loccit.server.api.app import OPERATIONS
from loccit.server.api.operations import Answer, Call, Catalogs, Question, answer
from loccit.server.mcp.calls import CALL_TOOL
from loccit.server.process_pool import Setup
from loccit.workers.processes import read_frame, take_pipes, write_frame


def serve() -> int:
    """Run as a worker: answer frames until standard input ends, or nothing has come for long."""
    requests, replies = take_pipes()
    first = read_frame(requests)
    if first is None:
        return 0
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, inbox), daemon=True).start()
    # When the server exits, either of the two pipes may break first.
    with contextlib.suppress(BrokenPipeError):
        _work(pickle.loads(first), inbox, replies)
    # Skips whatever libraries do at interpreter exit: there is nothing to save.
    os._exit(0)


def _work(setup: Setup, inbox: queue.SimpleQueue[bytes], replies: BinaryIO) -> None:
    """Open the libraries and answer requests."""
    registry = setup.open()
    registry.warm().join()
    # Loaded objects stay; repeatedly garbage collecting them would only take time.
    gc.freeze()
    write_frame(replies, b"ready")
    operations = {operation.name: operation for operation in (*OPERATIONS, CALL_TOOL)}
    catalogs = Catalogs()
    while (data := _next(inbox, setup.idle_seconds)) is not None:
        question = Question.decode(data)
        call = Call(registry, catalogs, question.arguments, question.known_etags)
        _send(replies, answer(operations[question.operation], call, question.packed))


def _send(replies: BinaryIO, found: Answer) -> None:
    for piece in found.encode():
        write_frame(replies, piece)


def _next(inbox: queue.SimpleQueue[bytes], seconds: float) -> bytes | None:
    with contextlib.suppress(queue.Empty):
        return inbox.get(timeout=seconds)
    return None


def _listen(requests: BinaryIO, inbox: queue.SimpleQueue[bytes]) -> None:
    """Read ahead, so that the end of the server is noticed even while an answer is computed."""
    with contextlib.suppress(BaseException):
        while (data := read_frame(requests)) is not None:
            inbox.put(data)
    os._exit(0)
