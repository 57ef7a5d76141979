"""Source files: which code in a folder of documents is taken along with them.

What somebody wrote is; what tools put there is not: installed packages, build output, minified and generated files.
Settings and style sheets are no more documents than JSON and YAML are, and are left alone as these are.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path, PurePath

from pinakes.text.code_languages import language_of_file

MAX_SOURCE_BYTES = 1 << 20
"""Larger files of code are mostly generated, or data."""

_NOT_SOURCE = frozenset(("css", "ini", "toml", "diff"))
# Names of folders that tools fill.
_TOOL_FOLDERS = frozenset(
    "node_modules bower_components jspm_packages site-packages dist-packages __pycache__ __pypackages__ venv "
    "virtualenv vendor third_party thirdparty build dist out target obj deriveddata pods coverage htmlcov".split()
)
# Every virtual environment of Python has this file, whatever it is called itself.
_ENVIRONMENT = "pyvenv.cfg"
_GENERATED = (".min.", ".bundle.", ".pb.", ".generated.", ".g.", "_pb2.", "_pb2_grpc.")
_BLANK_BYTES = 64  # a file this small may have nothing but line ends in it, as many an __init__.py has


def is_source(path: str) -> bool:
    """Whether a file is source code by its name.

    >>> [is_source(name) for name in ("pump.py", "lib/pump.H", "pump.min.js", "style.css", "pump.md")]
    [True, True, False, False, False]
    """
    name = PurePath(path).name.lower()
    language = language_of_file(name) if PurePath(name).suffix else ""
    return bool(language) and language not in _NOT_SOURCE and not any(mark in name for mark in _GENERATED)


def is_filled_by_tools(folder: str, names: Collection[str]) -> bool:
    """Whether the code in a folder is nobody's own, by the folder's name or by the ``names`` in it."""
    return folder.lower() in _TOOL_FOLDERS or _ENVIRONMENT in names


def is_worth_reading(path: Path, size: int) -> bool:
    """Whether a source file has something in it, and is not too large to have been written."""
    if size > _BLANK_BYTES:
        return size <= MAX_SOURCE_BYTES
    try:
        return bool(path.read_bytes().strip())
    except OSError:
        return True  # reading it will say why it cannot be read
