"""Counters are kept with every change, and always say what counting would."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.ingest.fakes import InlineSandbox, WordEmbedder

from loccit import Library
from loccit.index.folder.local import LocalIndex
from loccit.index.folder.schema import COUNTED

TEXTS = (
    "# Tides\n\nThe tide turns at six.\n",
    "# Gezeiten\n\nDie Flut kommt am Morgen, und der Hafen wird dann für alle Schiffe geöffnet und bewacht.\n",
    "# Tides\n\nThe tide turns at six.\n\n## Moon\n\nThe moon pulls.\n",
    "The moon pulls.\n",
)
NAMES = ("a.md", "b.md", "c.txt")


def check_counters(index: LocalIndex) -> None:
    kept = index.database.rows("SELECT kind, name, count FROM counters ORDER BY 1, 2")
    assert [tuple(row) for row in kept] == [tuple(row) for row in index.database.rows(COUNTED)]
    waiting = index.database.rows("SELECT text_hash FROM unembedded ORDER BY 1")
    without = "SELECT DISTINCT text_hash FROM passages WHERE text_hash NOT IN (SELECT text_hash FROM vectors) ORDER BY 1"
    assert [row[0] for row in waiting] == [row[0] for row in index.database.rows(without)]


@pytest.fixture(autouse=True)
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(NAMES), st.sampled_from((None, *range(len(TEXTS)))), st.booleans()),
        min_size=1,
        max_size=6,
    )
)
def test_counters_hold_after_any_history(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, int | None, bool]]
) -> None:
    folder = tmp_path_factory.mktemp("history")
    docs = folder / "docs"
    docs.mkdir()
    with Library(folder / "index", embedder=WordEmbedder()) as library:
        for name, text, embed in history:
            if text is None:
                (docs / name).unlink(missing_ok=True)
            else:
                (docs / name).write_text(TEXTS[text])
            library.index(docs, embed=embed, workers=1)
            check_counters(library._index)
        library.index(docs, workers=1)
        check_counters(library._index)
        assert library.status().pending_passages == 0
        left = library._index.database.value(
            "SELECT COUNT(*) FROM vectors WHERE text_hash NOT IN (SELECT text_hash FROM passages)"
        )
        assert left == 0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "docs").mkdir()
    for name, text in zip(NAMES, TEXTS, strict=False):
        (folder / "docs" / name).write_text(text)
    with Library(folder / "index", embedder=WordEmbedder()) as library:
        library.index(folder / "docs")
    return folder


def test_doctor_counts_anew(made: Path, tmp_path: Path) -> None:
    index = Path(shutil.copytree(made / "index", tmp_path / "index"))
    connection = sqlite3.connect(index / "record.sqlite3")
    connection.execute("UPDATE counters SET count = 77 WHERE kind = 'chunks'")
    connection.commit()
    connection.close()
    with Library(index, embedder=WordEmbedder()) as library:
        (found,) = (check for check in library.doctor(repair=False).checks if check.name == "counters")
        assert not found.ok and not found.repaired
        (found,) = (check for check in library.doctor().checks if check.name == "counters")
        assert found.repaired == "recounted"
        assert library.doctor().healthy
        check_counters(library._index)
