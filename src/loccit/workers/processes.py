"""Processes of our own: started with our modules, talked to over pipes in frames, and gone when their parent is.

A frame is eight bytes of length, then that many bytes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import BinaryIO


def command(module: str, function: str = "serve") -> list[str]:
    """Return the command that calls a function of a module in a new process.

    It searches modules exactly where this process does. Not ``-m``: that would put the current folder first, where a
    file that happens to be called ``email.py`` would be imported.
    """
    boot = f"import sys; sys.path[:] = sys.argv[1:]; from {module} import {function}; sys.exit({function}())"
    return [sys.executable, "-c", boot, *(str(Path(entry).absolute()) for entry in sys.path)]


def write_frame(stream: BinaryIO, data: bytes) -> None:
    """Send a frame."""
    stream.write(len(data).to_bytes(8, "big"))
    stream.write(data)
    stream.flush()


def read_frame(stream: BinaryIO, limit: int | None = None) -> bytes | None:
    """Return the next frame, ``None`` at the end; ``ValueError`` when it is larger than ``limit``."""
    header = stream.read(8)
    if len(header) < 8:
        return None
    size = int.from_bytes(header, "big")
    if limit is not None and size > limit:
        raise ValueError("frame too large")
    data = stream.read(size)
    return data if len(data) == size else None


def take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return standard input and output for frames alone: whatever other code prints must not end up among them."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    return requests, replies


def die_with(parent: int) -> None:
    """Have Linux kill this process when the parent dies, even inside C code that lets no thread run."""
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(Exception):
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
