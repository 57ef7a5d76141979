from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from loccit.config import HierarchicalDocumentToolConfig
from loccit.tools import HierarchicalDocumentTool

EXAMPLES = Path(__file__).parents[2] / "examples"

# To say the language spares each process that reads documents the model that tells languages apart.
ENGLISH = "---\nlanguage: en\n---\n\n"

MakeTool = Callable[..., HierarchicalDocumentTool]


@pytest.fixture(scope="session")
def examples_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the example documents, made by the first tool that opens it."""
    return tmp_path_factory.mktemp("tools") / "index"


@pytest.fixture(scope="session")
def handbook(examples_index: Path) -> Iterator[HierarchicalDocumentTool]:
    """A tool over a statute, a manual and German rules, with the defaults."""
    config = HierarchicalDocumentToolConfig(
        name="handbook",
        description="Statutes, manuals and notes.",
        source=str(EXAMPLES / "*.md"),
        index=str(examples_index),
    )
    with HierarchicalDocumentTool(config) as tool:
        tool.initialize_sync()
        yield tool


@pytest.fixture(scope="session")
def tool(handbook: HierarchicalDocumentTool) -> HierarchicalDocumentTool:
    """The same, under a name that other suites use for their own."""
    return handbook


@pytest.fixture
def make(tmp_path: Path) -> Iterator[MakeTool]:
    """Make tools over ``docs`` in a temporary folder; they are closed afterwards."""
    made: list[HierarchicalDocumentTool] = []
    (tmp_path / "docs").mkdir()

    def build(embedder: Any = None, **fields: Any) -> HierarchicalDocumentTool:
        values = {"name": "notes", "description": "Notes.", "source": "docs", **fields}
        made.append(
            HierarchicalDocumentTool(
                HierarchicalDocumentToolConfig(**values), base_dir=tmp_path, embedder=embedder
            )
        )
        return made[-1]

    yield build
    for tool in made:
        tool.close()


@pytest.fixture
def docs(tmp_path: Path, make: MakeTool) -> Path:
    """A folder with two small documents."""
    folder = tmp_path / "docs"
    (folder / "lamps.md").write_text(
        f"{ENGLISH}# Lamps\n\n## 1 Oil\n\nA lamp burns oil for nine hours.\n\n## 2 Care\n\nTrim the wick daily.\n"
    )
    (folder / "boats.md").write_text(
        f"{ENGLISH}# Boats\n\n## 1 Hulls\n\nPaint the hull every spring.\n\n"
        '## 2 Definitions\n\n"Skiff" means a small boat for one rower.\n'
    )
    return folder
