"""Results of notebooks say in which cell they stand."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from loccit import Library
from loccit.cli.app import app
from loccit.config import IndexSettings, Settings
from loccit.model.document import Cells, Lines, cells_of, span, write_cells
from loccit.server.api.schemas import SCHEMAS, SEARCH


def _cell(kind: str, *lines: str) -> dict[str, object]:
    source = [f"{line}\n" for line in lines]
    return {
        "cell_type": kind,
        "metadata": {},
        "source": source,
        **({"outputs": []} if kind == "code" else {}),
    }


def _notebook(folder: Path) -> Path:
    cells = [
        _cell("markdown", "# Pumps", "", "All about pumps."),
        _cell("code"),
        _cell("markdown", "## Starting", "", "Open the turquoise valve first."),
        _cell("code", "pump = Pump()", "pump.start(zeal=11)"),
        *(_cell("markdown", f"## Step {n}", "", " ".join(["Wait a while."] * 150)) for n in range(6)),
        _cell("markdown", "## Stopping", "", "Close the vermilion valve last."),
    ]
    path = folder / "pumps.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}, indent=1))
    return path


def test_a_result_of_a_notebook_names_its_cell(tmp_path: Path) -> None:
    path = _notebook(tmp_path)
    with Library(tmp_path / "index", settings=Settings(index=IndexSettings(max_chunk_tokens=100))) as library:
        library.index([path], embed=False)
        (found,) = library.search("vermilion", top_k=1).results
        line = next(n for n, text in enumerate(path.read_text().split("\n"), 1) if "vermilion" in text)
        assert found.cells == Cells(11, 11)
        assert found.lines is not None and found.lines.first <= line <= found.lines.last
        assert f", cell 11, {span(found.lines, None, 'pumps.ipynb')}" in found.location
        assert found.to_dict()["cells"] == (11, 11)
        (found,) = library.search("zeal", top_k=1).results
        assert found.cells is not None and found.cells.first <= 4 <= found.cells.last
    ran = CliRunner().invoke(app, ["search", "vermilion", "--index", str(tmp_path / "index")])
    assert "cell 11, line" in " ".join(ran.output.split()), ran.output


def test_the_schema_of_the_service_knows_cells() -> None:
    assert SEARCH == {"$ref": "#/components/schemas/SearchResponse"}
    assert "cells" in json.dumps(SCHEMAS["SearchResult"])


def test_a_notebook_on_one_line_names_no_cells(tmp_path: Path) -> None:
    path = _notebook(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text())))
    with Library(tmp_path / "index") as library:
        library.index([path], embed=False)
        (found,) = library.search("vermilion", top_k=1).results
        assert found.cells is None


def test_what_is_no_list_of_cells_is_passed_over() -> None:
    starts = {1: 3, 2: 9, 5: 20}
    assert cells_of(write_cells(starts), Lines(9, 30)) == (2, 5)
    assert cells_of(write_cells(starts), Lines(1, 2)) is None
    for written in ("", "x", "1", "1:", ":2", "1:2:3", f"1:{'9' * 5000}", None, 7):
        assert cells_of(written, Lines(1, 50)) is None
