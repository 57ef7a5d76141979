"""A small library that every test of the command line may read, and two ways to run commands on it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from loccit.cli.app import app

SOURCE = Path(__file__).parents[2] / "src"
ENVIRONMENT = ("LOCCIT_INDEX", "LOCCIT_DEBUG", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE")

ACT = """# Harbour Act

## CHAPTER 1 — Officers

### Section 11. Harbour Masters

(a) The Authority shall appoint a **Harbour Master** for each harbour.

(b) A Harbour Master may give any direction that is reasonably necessary for safety.

## CHAPTER 2 — Emergencies

### Section 21. Duty to report occurrences

(a) The master of a vessel shall report a collision to the Harbour Master within one hour.

(b) A written account signed by the master follows within three working days.

### Section 22. Closure

The Harbour Master may close the harbour while a gale warning is in force.
"""

NOTE = """---
title: Queue runbook
tags: [runbook, queue]
date: 2025-03-01
---

# Queue runbook

When the queue grows, add a consumer before you restart the broker.
"""

EVIL = (
    "# Evil \x1b]0;owned\x07 title\n\n## Xylophones\n\n"
    "The xylophone \x1b[31mis red\x1b[0m and \x9b2Jclears \x1b]8;;http://evil.example/\x1b\\link\x1b]8;;\x1b\\ "
    "&#27;[5mblinks, &#8238;turns, [here](http://evil.example/), "
    "\u202ereversed\u202c, bell \x07 and back\x08space. Markup: [bold]stays[/bold] :smile:\n"
)


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


def write_documents(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "act.md").write_text(ACT, encoding="utf-8")
    (folder / "note.md").write_text(NOTE, encoding="utf-8")
    (folder / "evil.md").write_text(EVIL, encoding="utf-8")


def command(*args: str, folder: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    environment |= {"PYTHONPATH": str(SOURCE), "PYTHONUTF8": "1", **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "loccit", *args],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        **options,
    )


@pytest.fixture(scope="session")
def library_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``docs/`` and an index of it. Tests only read it."""
    folder = tmp_path_factory.mktemp("library")
    write_documents(folder / "docs")
    done = command("index", "docs", "--quiet", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def here(library_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in the folder of the library."""
    monkeypatch.chdir(library_folder)
    return library_folder


@pytest.fixture
def run() -> Callable[..., Any]:
    """Run a command in this process; the result has ``exit_code``, ``stdout`` and ``stderr``."""
    runner = CliRunner()
    return lambda *args, **options: runner.invoke(app, list(args), **options)


@pytest.fixture
def spawn(library_folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command in a process of its own, in the folder of the library unless another is given."""

    def start(*args: str, folder: Path = library_folder, **options: Any) -> subprocess.CompletedProcess[str]:
        return command(*args, folder=folder, **options)

    return start
