"""A run that is killed or interrupted loses nothing, and the next one goes on where it was."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from pathlib import Path

import pytest
from tests.forked import run_forked
from tests.ingest.fakes import WordEmbedder, holdings
from tests.ingest.interrupted import index_until

from loccit import Library

WORDS = ("zebra", "camel", "number", "section")
STORE = "loccit.index.folder"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


@pytest.fixture
def filled(docs: Path) -> Path:
    for number in range(8):
        text = f"# Document {number}\n\n## Section 1. Zebra {number}\n\nA zebra.\n\n## Section 2\n\nNumber {number}.\n"
        (docs / f"{number}.md").write_text(text, encoding="utf-8")
    return docs


def check_complete(index: Path, docs: Path, fresh: Path) -> None:
    """Go on with an interrupted run: nothing is done twice, and the end is that of a run without a break."""
    stored = read = 0
    if (index / "record.sqlite3").exists():
        connection = sqlite3.connect(index / "record.sqlite3")
        stored = connection.execute("SELECT COUNT(*) FROM vectors").fetchone()[0]
        read = connection.execute("SELECT COUNT(*) FROM documents").fetchone()[0]
        connection.close()
    embedder = WordEmbedder()
    with Library(index, embedder=embedder) as library:
        # Searching works at once, on what there is.
        for mode in ("keyword", "semantic", "hybrid", "exact"):
            library.search("zebra", mode=mode)
        report = library.index(docs)
        assert (report.unchanged, len(report.added)) == (read, 8 - read)
        assert library.doctor(repair=False).healthy
        result = holdings(library, WORDS)
    with Library(fresh, embedder=WordEmbedder()) as library:
        library.index(docs)
        assert result == holdings(library, WORDS)
        total = library.embedder.texts  # type: ignore[attr-defined]
    assert len(embedder.texts) == len(total) - stored


@pytest.mark.parametrize(
    ("where", "call"),
    [
        (f"{STORE}.record:_insert_chunks", 1),
        (f"{STORE}.record:_insert_chunks", 5),
        (f"{STORE}.keyword_files:KeywordWriter.commit", 2),
        (f"{STORE}.keyword_files:write_manifest", 1),
        (f"{STORE}.keyword_files:write_manifest", 3),
        (f"{STORE}.record:Record.put_vectors", 3),
        (f"{STORE}.vectors:VectorIndex._publish", 1),
        (f"{STORE}.vectors:write_json", 2),
        (f"{STORE}.record:Record.trim_changes", 1),
    ],
)
def test_kill(filled: Path, tmp_path: Path, quick: None, where: str, call: int) -> None:
    done = run_forked(index_until, tmp_path / "index", filled, "SIGKILL", where, call)
    assert done.returncode == -signal.SIGKILL, done.stderr
    check_complete(tmp_path / "index", filled, tmp_path / "fresh")


@pytest.mark.parametrize(
    ("where", "call"),
    [
        (f"{STORE}.record:_insert_chunks", 4),
        (f"{STORE}.record:Record.put_vectors", 2),
    ],
)
def test_ctrl_c(filled: Path, tmp_path: Path, quick: None, where: str, call: int) -> None:
    done = run_forked(index_until, tmp_path / "index", filled, "SIGINT", where, call, 2)
    assert done.returncode == 130, done.stderr
    for number in done.stdout.split():
        assert not is_running(int(number)), "a worker was left behind"
    with Library(tmp_path / "index") as library:
        assert library.status().writer == ""
    check_complete(tmp_path / "index", filled, tmp_path / "fresh")


def test_killed_workers_go_with_the_run(filled: Path, tmp_path: Path) -> None:
    done = run_forked(
        index_until, tmp_path / "index", filled, "SIGKILL", f"{STORE}.record:_insert_chunks", 3, 2
    )
    workers = [int(number) for number in done.stdout.split()]
    for _ in range(200):
        if not any(map(is_running, workers)):
            return
        time.sleep(0.05)
    pytest.fail("workers outlived the run")


def is_running(number: int) -> bool:
    try:
        os.kill(number, 0)
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"
