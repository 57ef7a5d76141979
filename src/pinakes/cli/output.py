"""Where output goes: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from pinakes.cli.safe import json_safe, one_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

WIDEST = 120
"""Longer lines are hard to read, however wide the terminal."""

PLAIN_WIDTH = 100

recorder: Console | None = None
"""Set to make pictures of what is printed."""


def console(stderr: bool = False) -> Console:
    """Return a console for standard output, or standard error. Text from documents is never taken for markup."""
    from rich.console import Console

    if recorder is not None:
        return recorder
    made = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not made.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        made = Console(stderr=stderr, markup=False, emoji=False, highlight=False, width=PLAIN_WIDTH)
    elif made.width > WIDEST:
        made.width = WIDEST
    return made


def show(*renderables: RenderableType, to: Console | None = None) -> None:
    """Print to standard output, without trailing blanks where nobody would see why they are there."""
    target = to or console()
    if target.is_terminal:
        for item in renderables:
            target.print(item, soft_wrap=isinstance(item, str))
        return
    with target.capture() as captured:
        for item in renderables:
            target.print(item, soft_wrap=isinstance(item, str))
    target.file.write("\n".join(line.rstrip() for line in captured.get().split("\n")))


def message(text: str) -> None:
    """Print one line on standard error."""
    print(one_line(text), file=sys.stderr, flush=True)


def print_json(data: Any) -> None:
    """Print one JSON document on standard output."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    encoded = json.dumps(data, ensure_ascii=encoding != "utf8", indent=2, default=str)
    sys.stdout.write(json_safe(encoded) + "\n")
