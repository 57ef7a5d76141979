"""A run that ends in the middle."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.ingest.fakes import WordEmbedder, read_here

from loccit import Library
from loccit.ingest import pipeline


def children() -> list[str]:
    """The numbers of this process's children, where the system tells them."""
    task = Path(f"/proc/self/task/{os.getpid()}/children")
    numbers = []
    for listing in task.parent.parent.glob("*/children"):
        numbers += listing.read_text().split()
    return numbers


def interrupt_at(where: str, call: int, number: int) -> None:
    module_name, _, name = where.partition(":")
    owner: Any = importlib.import_module(module_name)
    *path, last = name.split(".")
    for part in path:
        owner = getattr(owner, part)
    original = getattr(owner, last)
    calls = 0

    def wrapped(*args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            print(*children(), flush=True)
            os.kill(os.getpid(), number)
        return original(*args, **options)

    setattr(owner, last, wrapped)


def index_until(index: Path, docs: Path, number: str, where: str, call: int, workers: int = 0) -> None:
    """Index in this process, which gets the signal when ``where``, a ``module:name``, is called for the ``call``-th time.

    With 0 workers, files are read here.
    """
    # A test run in the background may have inherited a deaf ear for Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not workers:
        read_here()
    pipeline._EMBED_WINDOW = 4
    pipeline._KEYWORD_SECONDS = pipeline._VECTOR_SECONDS = 0.0
    interrupt_at(where, call, int(getattr(signal, number)))
    try:
        with Library(index, embedder=WordEmbedder()) as library:
            library.index(docs, workers=workers)
    except KeyboardInterrupt:
        sys.exit(130)
