"""The configurations that docs/holodeck.md shows, by the comment in their first line."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/holodeck"


def shown(beginning: str) -> str:
    """Return the block whose first line is a comment that begins so."""
    page = (ROOT / "docs/holodeck.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if block.startswith(f"# {beginning}")]
    return str(block)
