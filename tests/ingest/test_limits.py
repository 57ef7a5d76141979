"""Files that would take all time or memory are given up on, one by one, and a run's own memory has a bound."""

from __future__ import annotations

import gc
import sys
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from tests.ingest.fakes import WordEmbedder, found

from pinakes import Library
from pinakes.ingest import pipeline
from pinakes.ingest.sandbox import Limits
from pinakes.model import IndexReport, Progress


def run(library: Library, docs: Path, limits: Limits) -> IndexReport:
    work = pipeline.Pipeline(
        library._index, library.index_settings, library.embedder, workers=1, limits=limits
    )
    with library._index.lock.held(wait=True):
        library._index.record.set_meta({"model": library.embedder.name, "dimension": "32"})
        return work.run([docs])


def bomb(path: Path) -> None:
    """A Word file whose text is a thousand times its size."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", "<Types/>")
        file.writestr("word/document.xml", "<w>" + "A" * (400 << 20) + "</w>")


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits that only Linux keeps")
def test_time_and_memory_have_limits(tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "c"):
        (docs / f"{name}.md").write_text(f"# {name}\n\nThe zebra.\n")
    bomb(docs / "b.docx")
    with Library(tmp_path / "index", embedder=WordEmbedder()) as library:
        report = run(library, docs, Limits(seconds=60, memory_mb=700))
        assert [failure.path for failure in report.failed] == [str(docs / "b.docx")]
        assert report.failed[0].reason
        assert len(found(library, "zebra")) == 2
        (docs / "b.docx").unlink()
        (docs / "slow.md").write_text("# Slow\n\n" + "Word " * 4_000_000)
        report = run(library, docs, Limits(seconds=0.5))
        assert [(failure.path, failure.reason) for failure in report.failed] == [
            (str(docs / "slow.md"), "took longer than 0.5 seconds to read")
        ]
        assert report.unchanged == 2


def test_a_worker_that_dies_is_one_bad_file(
    tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        (docs / f"{number}.md").write_text(f"# {number}\n\nThe zebra.\n")
    (docs / "big.md").write_text("# Big\n\n" + "A long word or two. " * 100_000)
    with Library(tmp_path / "index", embedder=WordEmbedder()) as library:
        report = run(library, docs, Limits(seconds=60, result_mb=1))
        assert [(failure.path, failure.reason) for failure in report.failed] == [
            (str(docs / "big.md"), "gives more than 1 MB")
        ]
        assert len(report.added) == 4


def _collect(_: Progress) -> None:
    """What is only waiting to be collected is not kept."""
    gc.collect(1)


def test_memory_does_not_grow_with_the_number_of_documents(
    tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "_EMBED_WINDOW", 16)
    monkeypatch.setattr(
        WordEmbedder, "texts", property(lambda self: [], lambda self, value: None), raising=False
    )
    paragraph = "Some words that take room in memory. " * 300
    peaks = []
    # The first run fills caches.
    for run, count in enumerate((10, 10, 90)):
        docs = tmp_path / f"docs{run}"
        docs.mkdir()
        for number in range(count):
            (docs / f"{number}.md").write_text(f"# {number}\n\n{paragraph} {number}\n")
        with Library(tmp_path / f"index{run}", embedder=WordEmbedder()) as library:
            gc.collect()
            tracemalloc.start()
            library.index(docs, progress=_collect)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    # What grows are ids of passages and names of files, 4.6 kB a document of 11 kB: no text is kept.
    assert peaks[2] - peaks[1] < 80 * len(paragraph) / 2


def test_memory_does_not_grow_with_the_number_of_runs(tmp_path: Path, docs: Path) -> None:
    paragraph = "Some words that take room in memory. " * 300
    held = []
    embedder = WordEmbedder()
    with Library(tmp_path / "index", embedder=embedder) as library:
        for turn in range(7):
            for number in range(20):
                (docs / f"{number}.md").write_text(f"# {number}\n\n{paragraph} {turn}\n")
            assert not library.index(docs).failed
            embedder.texts.clear()
            gc.collect()
            if turn == 1:
                tracemalloc.start()
            held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
    # Three runs read 660 kB.
    assert held[-1] - held[3] < 50_000


def test_memory_does_not_grow_with_the_number_of_searches(tmp_path: Path, docs: Path) -> None:
    for number in range(20):
        (docs / f"{number}.md").write_text(f"# {number}\n\n" + "Some words that take room in memory. " * 100)
    held = []
    embedder = WordEmbedder()
    with Library(tmp_path / "index", embedder=embedder) as library:
        library.index(docs)
        for turn in range(6):
            for number in range(30):
                assert library.search(f"words of number {number}").results
            embedder.texts.clear()
            gc.collect()
            if turn == 1:
                tracemalloc.start()
            held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
    assert held[-1] - held[3] < 50_000
