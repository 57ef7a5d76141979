"""What this process has open, as the system lists it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

_OPEN = Path("/proc/self/fd")

needs_proc = pytest.mark.skipif(not _OPEN.is_dir(), reason="needs /proc")


def open_files() -> list[Path]:
    """Return what each descriptor leads to; another thread may close one meanwhile."""
    found = []
    for link in list(_OPEN.iterdir()):
        with suppress(FileNotFoundError):
            found.append(link.readlink())
    return found
