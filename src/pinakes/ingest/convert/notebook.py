"""Jupyter notebooks: Markdown cells as they are, code cells as fenced code, text output below them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pinakes.errors import ConversionError
from pinakes.ingest.convert.text import read_text
from pinakes.model.document import Converted

_MAX_OUTPUT = 2000


def convert_ipynb(path: Path) -> Converted:
    """Convert a notebook."""
    decoded = read_text(path)
    try:
        notebook = json.loads(decoded.text)
        cells = notebook.get("cells")
        if cells is None:
            # Before version 4 the cells stood in worksheets.
            cells = [cell for sheet in notebook.get("worksheets", []) for cell in sheet.get("cells", [])]
        metadata = notebook.get("metadata") or {}
        language = (metadata.get("language_info") or {}).get("name") or "python"
        blocks = [_cell(cell, str(language)) for cell in cells]
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise ConversionError(f"is not a valid notebook: {error}") from error
    text = "\n\n".join(block.strip("\n") for block in blocks if block.strip())
    found: dict[str, Any] = {"title": metadata["title"]} if isinstance(metadata.get("title"), str) else {}
    return Converted(text + "\n" if text else "", metadata=found, warnings=decoded.warnings)


def _cell(cell: dict[str, Any], language: str) -> str:
    kind = cell.get("cell_type")
    source = _joined(cell.get("source") or cell.get("input") or "")
    if kind == "markdown":
        return source
    if kind == "heading":
        return f"{'#' * min(int(cell.get('level', 1)), 6)} {source}"
    if not source.strip():
        return ""
    blocks = [_fenced(source, language if kind == "code" else "")]
    for output in cell.get("outputs") or []:
        data = output.get("data") or {}
        text = _joined(output.get("text") or data.get("text/plain") or "")
        if text.strip() and not text.startswith("<"):
            blocks.append(_fenced(text[:_MAX_OUTPUT], ""))
    return "\n\n".join(blocks)


def _joined(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)


def _fenced(code: str, language: str) -> str:
    mark = "```"
    while mark in code:
        mark += "`"
    return f"{mark}{language}\n{code.strip(chr(10))}\n{mark}"
