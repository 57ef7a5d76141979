"""Draw: a page of a PDF as an image. Runs in a separate process, since the file cannot be trusted."""

from __future__ import annotations

import base64
import hashlib
import struct
import zlib
from pathlib import Path
from typing import Any

# No screen shows more pixels than this, but a page may claim to be miles long.
_MAX_HEIGHT = 6000


def draw_page(payload: dict[str, Any], setup: dict[str, Any]) -> dict[str, Any]:
    """Return a page of a file as a base64 PNG, or a status: the file has changed, or has no such page."""
    import pypdfium2

    data = Path(payload["path"]).read_bytes()
    if hashlib.sha256(data).hexdigest() != payload["hash"]:
        return {"problem": "changed"}
    document = pypdfium2.PdfDocument(data)
    try:
        if not 1 <= payload["page"] <= len(document):
            return {"problem": "missing"}
        page = document[payload["page"] - 1]
        width, height = page.get_size()
        scale = payload["width"] / max(width, 1.0)
        scale = min(scale, _MAX_HEIGHT / max(height, 1.0))
        bitmap = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False)
        return {"png": base64.b64encode(_png(bitmap)).decode()}
    finally:
        document.close()


def _png(bitmap: Any) -> bytes:
    """Return a bitmap as PNG: its rows, each preceded by the filter type "none"."""
    pixels = bitmap.to_numpy()
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    height, width, channels = pixels.shape
    kind = {1: 0, 3: 2, 4: 6}[channels]
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
