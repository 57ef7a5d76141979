"""Skipped: what a folder holds besides documents, in one line with the reasons."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pinakes.ingest.convert.sniff import MANUAL_EXTENSIONS
from pinakes.text.code_languages import language_of_file

_KINDS = {
    "images; name them, or --ocr force, to read them": "png jpg jpeg tif tiff",
    "images": "gif webp svg ico icns bmp heic avif psd ai eps xcf",
    "data; name them to take them": "json jsonl ndjson yaml yml xml log toml ini cfg conf env lock plist",
    "archives": "zip gz tgz bz2 xz 7z rar tar zst jar whl deb rpm iso dmg",
    "programs": "exe dll so dylib o a lib obj class pyc pyo pyd wasm bin apk msi",
    "sound and video": "mp3 wav ogg flac m4a mp4 mov avi mkv webm",
    "fonts": "ttf otf woff woff2 eot",
    "databases": "db sqlite sqlite3 mdb parquet arrow feather pkl npy npz h5 pt onnx safetensors",
    "style sheets": "css scss sass less",
    "old Office formats": "doc ppt xlsb odp ods",
}
_REASONS = {f".{name}": kind for kind, names in _KINDS.items() for name in names.split()}
_SHOWN = 4
_SAMPLE = 8192
_MANUAL = re.compile(rb"^[.'](?:TH|Dd|Dt|Sh|SH)[ \t]", re.M)
# README, LICENSE-MIT, COPYING: text by custom. BUILD and its like are settings of tools.
_NAMED = re.compile(r"[A-Z]{3,}(?:[-_][A-Za-z0-9-]+)*|ChangeLog")
_NOT_DOCUMENTS = frozenset(
    (
        "BUILD",
        "WORKSPACE",
        "OWNERS",
        "CODEOWNERS",
        "MANIFEST",
        "VERSION",
        "HEAD",
        "PKG-INFO",
        "RECORD",
        "WHEEL",
        "METADATA",
    )
)


def is_document_by_name(name: str) -> bool:
    """Whether a file without an extension is a text that people write.

    >>> [is_document_by_name(name) for name in ("README", "LICENSE-MIT", "Makefile", "BUILD", "README.png")]
    [True, True, False, False, False]
    """
    return bool(_NAMED.fullmatch(name)) and name not in _NOT_DOCUMENTS


def is_only_numbered(path: str) -> bool:
    """Whether a file is called like a page of the manual (``ls.1``), and is none."""
    if path[path.rfind(".") :] not in MANUAL_EXTENSIONS:
        return False
    try:
        with Path(path).open("rb") as file:
            return not _MANUAL.search(file.read(_SAMPLE))
    except OSError:
        return False  # reading it will say why it cannot be read


def extension_of(name: str) -> str:
    """Return what files of this name are counted under: the extension, or nothing.

    >>> [extension_of(name) for name in ("Notes.MD", "README", "ends.", ".hidden")]
    ['.md', '', '', '']
    """
    dot = name.rfind(".")
    return name[dot:].lower() if 0 < dot < len(name) - 1 else ""


def skipped_line(skipped: Mapping[str, int]) -> str:
    """Say how many files were passed over, by extension, and why; "" when there are none.

    >>> skipped_line({".gif": 7, ".json": 3, "": 1})
    'skipped 11 files: 7 .gif (images), 3 .json (data; name them to take them), 1 without an extension'
    """
    total = sum(skipped.values())
    if not total:
        return ""
    most = sorted(skipped.items(), key=lambda item: (-item[1], item[0]))
    parts = [f"{count:,} {_described(extension)}" for extension, count in most[:_SHOWN]]
    if rest := sum(count for _, count in most[_SHOWN:]):
        parts.append(f"{rest:,} other{'s' if rest > 1 else ''}")
    return f"skipped {total:,} file{'s' if total > 1 else ''}: {', '.join(parts)}"


def _described(extension: str) -> str:
    if not extension:
        return "without an extension"
    reason = _REASONS.get(extension)
    if reason is None and language_of_file(f"a{extension}"):
        reason = "code that is generated, empty or too large"
    if reason is None:
        reason = "not pages of the manual" if extension in MANUAL_EXTENSIONS else "of no known type"
    return f"{extension} ({reason})"
