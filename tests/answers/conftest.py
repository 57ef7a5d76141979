"""A small library that every test here may read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from loccit import Library

ACT = """---
title: Harbour Act
tags: [law]
---

# Harbour Act

## Section 1. Arrival

The master of a vessel reports her arrival to the “harbour office” within one hour. The
harbour master may extend this period
to 48 hours, but not on Sundays.

## Section 2. Lights

(a) A vessel at anchor shows a white light from dusk to dawn – unless the harbour
master's office allows otherwise.

(b) A vessel under tow shows two lights. Whoever fails to do so pays a fine of 500 euro.
"""
NOTE = """# Notes

The **Harbour Master** may extend this period. Nobody at the vessel's owner objects.

> A vessel at anchor shows
> a white light.
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with documents and their index."""
    folder = tmp_path_factory.mktemp("verbatim")
    (folder / "docs").mkdir()
    (folder / "docs" / "act.md").write_text(ACT, encoding="utf-8")
    (folder / "docs" / "note.md").write_text(NOTE, encoding="utf-8")
    for number in range(12):
        text = f"Vessel {number} lies at anchor and waits {number} days for the tide.\n\n" * 3
        (folder / "docs" / f"log-{number:02}.md").write_text(f"# Log {number}\n\n{text}", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def library(folder: Path) -> Iterator[Library]:
    """The library of that folder."""
    with Library(folder / ".loccit") as library:
        library.index(folder / "docs", embed=False)
        yield library
