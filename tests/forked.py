"""Functions in a process of their own that begins at once: it is forked from one that has imported everything already.

For tests that need many processes and are not about how a program starts. Where files are read, it is in that process.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from io import TextIOWrapper
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# What is not installed is left out.
IMPORTED = [
    *("loccit.cli.app", "loccit.library", "loccit.ingest.prepare", "loccit.ingest.pipeline", "anthropic"),
    *("tests.forked", "tests.ingest.interrupted"),
]
PATIENCE = 120


def run_forked(
    function: Callable[..., None], *args: Any, folder: Path = ROOT, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Call a function of a module; return how it ended, and what it printed."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    here = Path.cwd()
    # What is imported is looked for from there.
    os.chdir(ROOT)
    try:
        forkserver.ensure_running()
    finally:
        os.chdir(here)
    with tempfile.TemporaryDirectory() as said:
        out, err = Path(said, "out"), Path(said, "err")
        process = context.Process(
            target=_call, args=(out, err, folder, dict(os.environ if env is None else env), function, args)
        )
        process.start()
        process.join(PATIENCE)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(function.__name__, PATIENCE)
        return subprocess.CompletedProcess(
            args, process.exitcode, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8")
        )


def loccit(*args: str) -> None:
    """The command, reading files in its own process."""
    from tests.ingest.fakes import read_here

    from loccit.cli import main

    read_here()
    sys.argv = ["loccit", *args]
    main()


def _call(
    out: Path,
    err: Path,
    folder: Path,
    env: dict[str, str],
    function: Callable[..., None],
    args: tuple[Any, ...],
) -> None:
    for number, path in ((1, out), (2, err)):
        file = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    for stream in (sys.stdout, sys.stderr):
        assert isinstance(stream, TextIOWrapper)
        stream.reconfigure(encoding="utf-8")
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    function(*args)
