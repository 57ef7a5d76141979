"""An index of an older format is read again from its files; what costs to make again is not made again."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from loccit import Library
from loccit.cli.app import app
from loccit.errors import IndexVersionError
from loccit.index.folder.schema import SCHEMA_VERSION
from loccit.models.embedding.onnx import OnnxEmbedder

RECORD = "record.sqlite3"
ACT = (
    "# Harbour Act\n\n## Section 1. Masters\n\nA master:\n\n(a) keeps the harbour; and\n\n(b) collects the dues of "
    "Section 2.\n\n## Section 2. Fees\n\n“Pilot Boat” means a boat that leads ships.\n"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    for name, text in (("act.md", ACT), ("more/tides.md", "# Tides\n\nThe tide turns at six.\n")):
        (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / name).write_text(text)
    with Library(folder / "index") as library:
        library.index(folder / "docs")
    return folder


def make_old(index: Path, version: int) -> None:
    """Take from a record what later versions added; very old ones had no checksums, nor tables beside the texts."""
    connection = sqlite3.connect(index / RECORD, isolation_level=None)
    if version < 17:
        for column in ("numbered", "unexplained"):
            connection.execute(f"ALTER TABLE self_checks DROP COLUMN {column}")
    if version < 15:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for table in ("meta", "roots", "failures", "changes", "vectors", "contexts"):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN digest")
        for table in ("seals", "gone_places", "obligations", "suggestions", "files", "readings", "counters"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DROP INDEX places_by_place_id")
        connection.execute("ALTER TABLE places DROP COLUMN place_id")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


def answers(library: Library) -> list[Any]:
    """What a user sees, but for scores, which depend on the order in which files were read."""
    found = [[one.content for one in library.search(query, mode=mode).results] for query, mode in QUERIES]
    outlines = [outline.to_dict() for outline in library.outline(clauses=True)]
    return [
        found,
        outlines,
        library.section("Section 1(b)").to_dict(),
        library.define("pilot boat").to_dict(),
    ]


def sound(library: Library) -> bool:
    return all(check.ok for check in library.doctor(repair=False).checks if check.name != "ocr")


QUERIES = [("when does the tide turn", mode) for mode in ("hybrid", "semantic", "keyword")] + [
    ("Section 2", "exact")
]


@pytest.mark.parametrize("version", [16, 12])
def test_one_run_reads_an_older_index_again_and_embeds_nothing(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    index = Path(shutil.copytree(made / "index", tmp_path / "index"))
    with Library(index) as library:
        before = answers(library)
    make_old(index, version)
    with pytest.raises(IndexVersionError, match=rf"older version.*format {version}.*loccit index\b"):
        Library(index)
    run = CliRunner()
    refused = run.invoke(app, ["search", "tide", "--index", str(index)])
    assert refused.exit_code == 1 and "loccit index" in refused.stderr
    monkeypatch.setattr(OnnxEmbedder, "embed", None)
    # Only one of the folders at first: what the other's texts need is kept.
    part = run.invoke(app, ["index", str(made / "docs" / "more"), "--index", str(index)])
    assert part.exit_code == 0 and "older version" in part.stderr
    with Library(index) as library:
        assert [one.source_path for one in library.documents()] == [str(made / "docs" / "more" / "tides.md")]
        (waiting,) = library.status().failures
        assert waiting.path.endswith("act.md") and "loccit index" in waiting.reason
    # Without a path: the folders are those of before.
    assert run.invoke(app, ["index", "--index", str(index)]).exit_code == 0
    with Library(index) as library:
        assert answers(library) == before
        assert library.status().failures == [] and library.status().pending_passages == 0
        assert sound(library)
    connection = sqlite3.connect(index / RECORD)
    assert connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION
    connection.close()


def test_what_was_damaged_is_not_taken_over(made: Path, tmp_path: Path) -> None:
    index = Path(shutil.copytree(made / "index", tmp_path / "index"))
    connection = sqlite3.connect(index / RECORD)
    connection.execute("UPDATE vectors SET vector = zeroblob(4) WHERE rowid = 1")
    connection.commit()
    connection.close()
    make_old(index, 16)
    assert CliRunner().invoke(app, ["index", "--index", str(index)]).exit_code == 0
    with Library(index) as library:
        assert sound(library)


def test_a_record_that_cannot_be_emptied_stays_as_it_was(made: Path, tmp_path: Path) -> None:
    index = Path(shutil.copytree(made / "index", tmp_path / "index"))
    make_old(index, 16)
    connection = sqlite3.connect(index / RECORD)
    connection.execute("DROP TABLE gone_places")
    connection.execute("CREATE TABLE gone_places (digest)")
    connection.commit()
    before = list(connection.iterdump())
    run = CliRunner().invoke(app, ["index", "--index", str(index)])
    assert run.exit_code == 1 and "Traceback" not in run.output
    assert list(connection.iterdump()) == before
    connection.close()


def test_an_older_index_that_cannot_be_written_to(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Path(shutil.copytree(made / "index", tmp_path / "index"))
    make_old(index, 16)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(IndexVersionError, match="loccit index"):
        Library(index)
