"""The folders in an order in which each imports only what stands before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import loccit

PACKAGE = Path(loccit.__file__).parent
LAYERS = (
    *(
        "version errors expressions",
        "model config telemetry",
        "grammar workers",
        "models",
        "read",
        "structure",
        "extract",
    ),
    *("index", "search", "ingest", "answers", "library library_base scoped", "agent watch", "ask", "tools"),
    *("chat server evaluation", "testing", "cli"),
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
    library = {"library", "library_base", "scoped"}
    assert not {pair for pair in pairs if pair[::-1] in pairs and not set(pair) <= library}


def test_no_two_stages_of_a_search_import_each_other() -> None:
    stages = {
        (path.relative_to(PACKAGE / "search").parts[0], name.split(".")[2])
        for path in (PACKAGE / "search").glob("*/**/*.py")
        for name in imported(path)
        if name.startswith("loccit.search.")
    }
    assert not {pair for pair in stages if pair[0] != pair[1] and pair[::-1] in stages}


def test_search_knows_no_database() -> None:
    places = (PACKAGE / "search", PACKAGE / "index" / "port")
    known = {(path.name, name) for place in places for path in place.rglob("*.py") for name in imported(path)}
    assert len(known) > len(places)
    databases = [name for _, name in known if name.startswith("loccit.index.") and ".port" not in name]
    assert not databases
    assert not [item for item in known if item[1].startswith(("sqlite3", "tantivy"))]
