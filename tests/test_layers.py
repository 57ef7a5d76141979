"""The folders in an order in which each imports only what stands before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import loccit

PACKAGE = Path(loccit.__file__).parent
LAYERS = (
    *("version errors expressions loopback processes", "model text telemetry", "labels config embedding llm"),
    *("rerank port", "stores search", "ingest", "comparing library library_base scoped"),
    *("agent watch", "ask tools", "chat server evaluation", "testing", "cli"),
)


def imported(path: Path) -> Iterator[str]:
    """What a module imports when it runs, also late; not what only its types name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typed = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if node in typed:
            continue
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def edges() -> set[tuple[str, str, str]]:
    """Each module with its folder, and a folder it imports."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        for name in imported(path):
            if name.startswith("loccit."):
                found.add(("/".join(parts), parts[0], name.split(".")[1]))
    return found


def test_a_folder_imports_only_what_stands_before_it() -> None:
    order = {name: at for at, layer in enumerate(LAYERS) for name in layer.split()}
    up = [edge for edge in edges() if edge[1] != edge[2] and {edge[1], edge[2]} <= order.keys()]
    wrong = {edge for edge in up if order[edge[1]] < order[edge[2]]}
    assert not sorted(wrong)
    missing = {folder for _, *both in edges() for folder in both} - order.keys()
    assert missing <= {"__init__", "__main__"}


def test_no_two_folders_import_each_other() -> None:
    pairs = {(one, other) for _, one, other in edges() if one != other}
    library = {"comparing", "library", "library_base", "scoped"}
    assert not {pair for pair in pairs if pair[::-1] in pairs and not set(pair) <= library}


def test_search_knows_no_database() -> None:
    known = {(path.name, name) for path in (PACKAGE / "search").rglob("*.py") for name in imported(path)}
    known |= {(path.name, name) for path in (PACKAGE / "port").rglob("*.py") for name in imported(path)}
    assert not [item for item in known if item[1].startswith(("sqlite3", "tantivy", "loccit.stores"))]
