"""The container of older Office files: which program wrote it."""

from __future__ import annotations

import struct
from pathlib import Path

# Stream in the root folder > (kind, why it is refused).
_STREAMS = {
    "EncryptedPackage": ("", "is password protected; save a copy without a password"),
    "WordDocument": ("", "is an old Word file (.doc); open it in Word or LibreOffice and save it as .docx"),
    "PowerPoint Document": (
        "",
        "is an old PowerPoint file (.ppt); open it in PowerPoint or LibreOffice and save it as .pptx",
    ),
    "Workbook": ("xls", ""),
    "Book": ("xls", ""),
    "__properties_version1.0": ("", "is an Outlook message (.msg); save it as .eml"),
}
_UNKNOWN = ("", "is an older Office or Windows file; save it in a current format or as PDF")
_MAX_SECTORS = 1000


def ole_kind(path: Path) -> tuple[str, str]:
    """``("xls", "")`` for an old Excel workbook, otherwise ``("", reason)``."""
    try:
        names = _stream_names(path)
    except (OSError, struct.error, ValueError):
        return _UNKNOWN
    return next((found for name, found in _STREAMS.items() if name in names), _UNKNOWN)


def _stream_names(path: Path) -> set[str]:
    """Names in the directory, following its chain of sectors through the allocation table."""
    names: set[str] = set()
    with path.open("rb") as file:
        header = file.read(512)
        size = 1 << struct.unpack_from("<H", header, 30)[0]
        if not 512 <= size <= 4096:
            raise ValueError("sector size")
        tables = struct.unpack_from("<109I", header, 76)
        sector = struct.unpack_from("<I", header, 48)[0]
        for _ in range(_MAX_SECTORS):
            if sector >= 0xFFFFFFFA:
                break
            file.seek((sector + 1) * size)
            data = file.read(size)
            for offset in range(0, len(data) - 127, 128):
                length = min(struct.unpack_from("<H", data, offset + 64)[0], 64)
                names.add(data[offset : offset + max(length - 2, 0)].decode("utf-16-le", "replace"))
            table, index = divmod(sector, size // 4)
            if table >= len(tables):
                break
            file.seek((tables[table] + 1) * size + 4 * index)
            sector = struct.unpack("<I", file.read(4))[0]
    return names
