"""Nothing is on an index yet: no line tells people to install what somebody else may put there under our name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# An extra of what is installed already needs no index; a new installation does.
FROM_AN_INDEX = re.compile(
    r"(?:(?:pip3?|pipx|tool) install|uv add|uvx)(?: -\S+)* ['\"]?loccit(?![\w\[./-])"
    r"|(?:pipx install|tool install|uv add|uvx|--from[, ]+)['\" ]*loccit\[",
)
FILES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(
        path
        for folder in ("docs", "examples", "src")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".md", ".py", ".yaml", ".toml", ".js", ".html", ".json"}
        and path.stat().st_size < 10**6
    ),
]


def test_no_line_installs_from_an_index() -> None:
    for path in FILES:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert not FROM_AN_INDEX.search(line), f"{path}:{number}: {line[:200]}"


@pytest.mark.parametrize(
    "line",
    [
        "pip install loccit",
        "uvx loccit mcp",
        "pipx install 'loccit[mcp]'",
        'uvx --from "loccit[mcp]" loccit',
        "[--from, loccit[mcp]]",
    ],
)
def test_such_lines_are_noticed(line: str) -> None:
    assert FROM_AN_INDEX.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "pip install .",
        "pip install 'loccit[mcp]'",
        'uvx --from "./../../[mcp]" loccit',
        "uvx --from /home/me/loccit[mcp] loccit",
    ],
)
def test_others_are_not(line: str) -> None:
    assert not FROM_AN_INDEX.search(line)
