"""A small library that every test here may read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from loccit import Library

ACT = """# Harbour Act

Made for the safety of the harbour.

## Section 1. Arrival

The master of a vessel reports her arrival to the harbour office within one hour.

## Section 2. Lights

(a) A vessel at anchor shows a white light from dusk to dawn.

(b) A vessel under tow shows two.
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with documents and their index."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "docs").mkdir()
    (folder / "docs" / "act.md").write_text(ACT, encoding="utf-8")
    (folder / "docs" / "old").mkdir()
    for name in ("notes.md", "old/notes.md"):
        (folder / "docs" / name).write_text(f"# {name}\n\nNotes on vessels.\n", encoding="utf-8")
    for number in range(8):
        text = f"Vessel {number} lies at anchor in the outer harbour and waits for the tide to turn. " * 12
        (folder / "docs" / f"log-{number}.md").write_text(f"# Log {number}\n\n{text}\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def library(folder: Path) -> Iterator[Library]:
    """The library of that folder."""
    with Library(folder / ".loccit") as library:
        library.index(folder / "docs")
        yield library
