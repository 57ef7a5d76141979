"""Folders for indexes that are not to be kept: they go away with whoever asked for them, at the latest at the end."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

_folders: weakref.WeakSet[ScratchFolder] = weakref.WeakSet()


class ScratchFolder:
    """A new folder, removed when nobody holds this any more, or when the process ends."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="pinakes-"))
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        _folders.add(self)


def remove_scratch_folders() -> None:
    """Remove all of them now: for a process that ends without the usual ceremony."""
    for folder in list(_folders):
        folder.remove()
