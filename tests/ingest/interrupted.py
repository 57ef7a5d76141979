"""A run that ends in the middle: ``interrupted.py INDEX DOCS SIGNAL WHERE CALL WORKERS``, 0 for no processes.

``WHERE`` is ``module:name``; the process gets the signal when that is called for the ``CALL``-th time.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.ingest.fakes import InlineSandbox, WordEmbedder

from pinakes import Library
from pinakes.ingest import pipeline

# A test run in the background may have inherited a deaf ear for Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


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


def main() -> None:
    index, docs, number, where, call, workers = sys.argv[1:]
    if workers == "0":
        pipeline.Sandbox = InlineSandbox  # type: ignore[attr-defined, assignment]
    pipeline._EMBED_WINDOW = 4
    pipeline._KEYWORD_SECONDS = pipeline._VECTOR_SECONDS = 0.0
    interrupt_at(where, int(call), int(getattr(signal, number)))
    try:
        with Library(index, embedder=WordEmbedder()) as library:
            library.index(docs, workers=int(workers))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
