"""Search knows the port to an index, and nothing of what stands behind it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import loccit

PACKAGE = Path(loccit.__file__).parent


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return names | {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        ("search", ("loccit.stores", "sqlite3", "tantivy")),
        ("port", ("loccit.stores", "loccit.search", "sqlite3", "tantivy")),
        ("model", ("loccit.stores", "loccit.search", "loccit.port", "loccit.ingest")),
    ],
)
def test_a_folder_knows_only_what_it_may(folder: str, forbidden: tuple[str, ...]) -> None:
    modules = sorted((PACKAGE / folder).rglob("*.py"))
    assert modules
    known = {f"{path.relative_to(PACKAGE)}: {name}" for path in modules for name in imported(path)}
    assert not [item for item in known if item.partition(": ")[2].startswith(forbidden)]
