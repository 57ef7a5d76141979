"""Search knows the port to an index, and nothing of what stands behind it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import pinakes

PACKAGE = Path(pinakes.__file__).parent


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return names | {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        ("search", ("pinakes.stores", "sqlite3", "tantivy")),
        ("port", ("pinakes.stores", "pinakes.search", "sqlite3", "tantivy")),
        ("model", ("pinakes.stores", "pinakes.search", "pinakes.port", "pinakes.ingest")),
    ],
)
def test_a_folder_knows_only_what_it_may(folder: str, forbidden: tuple[str, ...]) -> None:
    modules = sorted((PACKAGE / folder).rglob("*.py"))
    assert modules
    known = {f"{path.relative_to(PACKAGE)}: {name}" for path in modules for name in imported(path)}
    assert not [item for item in known if item.partition(": ")[2].startswith(forbidden)]
