"""Conversion as a task for the sandbox: paths in, JSON out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loccit.model.document import Converted, LineStart, PageStart
from loccit.read import convert

TASK = "tests.read.task:run"


def run(payload: dict[str, Any], setup: dict[str, Any]) -> dict[str, Any]:
    """Convert ``payload["path"]``."""
    file_type, converted = convert(Path(payload["path"]))
    return {
        "file_type": file_type,
        "text": converted.text,
        "markdown": converted.markdown,
        "pages": [list(page) for page in converted.pages],
        "metadata": converted.metadata,
        "warnings": list(converted.warnings),
        "title": converted.title,
        "line_starts": [list(start) for start in converted.line_starts],
    }


def result(value: dict[str, Any]) -> tuple[str, Converted]:
    """What ``run`` gave, as ``convert`` would have."""
    converted = Converted(
        text=value["text"],
        markdown=value["markdown"],
        pages=tuple(PageStart(offset, page) for offset, page in value["pages"]),
        metadata=value["metadata"],
        warnings=tuple(value["warnings"]),
        title=value["title"],
        line_starts=tuple(LineStart(offset, line) for offset, line in value["line_starts"]),
    )
    return value["file_type"], converted
