"""Files that would take all time or memory are given up on, one by one, and a run's own memory has a bound."""

from __future__ import annotations

import gc
import json
import sys
import tracemalloc
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.forked import run_forked
from tests.ingest.fakes import WordEmbedder, found, read_here

from loccit import Library
from loccit.ingest import pipeline
from loccit.model import IndexReport, Progress
from loccit.workers.sandbox import Limits

PARAGRAPH = "Some words that take room in memory. " * 300


class ForgetfulEmbedder(WordEmbedder):
    """Does not keep what it was given."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = super().embed(texts)
        self.texts.clear()
        return vectors


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
            (str(docs / "big.md"), "converts to more than 1 MB")
        ]
        assert len(report.added) == 4


# Each of these in a process of its own: what else a process does and has done is not counted then.


def _collect(_: Progress) -> None:
    """What is only waiting to be collected is not kept, nor are freed tuples that the interpreter holds for reuse.

    A full collection gives those back. Python 3.11 and the first releases of 3.12 hold up to 2,000 of 20 items, as many
    as a row of ``chunks`` has, and never reuse them.
    """
    gc.collect(1)
    # Older objects are set aside, so that the rest stays as one collection of the young left it.
    gc.freeze()
    gc.collect()
    gc.unfreeze()


def _index_more_and_more(folder: Path) -> None:
    """Print the most memory that three runs take."""
    pipeline._EMBED_WINDOW = 16
    read_here()
    peaks = []
    # The first run fills caches, which are bounded, with every word that comes later.
    (folder / "docs0").mkdir()
    (folder / "docs0" / "words.md").write_text("".join(f"# {number}\n\n{number}\n\n" for number in range(90)))
    for run, count in enumerate((10, 10, 90)):
        docs = folder / f"docs{run}"
        docs.mkdir(exist_ok=True)
        for number in range(count):
            (docs / f"{number}.md").write_text(f"# {number}\n\n{PARAGRAPH} {number}\n")
        with Library(folder / f"index{run}", embedder=ForgetfulEmbedder()) as library:
            gc.collect()
            tracemalloc.start()
            library.index(docs, progress=_collect)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    print(json.dumps(peaks))


def _index_again_and_again(folder: Path) -> None:
    """Print the memory that is held after each run."""
    docs = folder / "docs"
    docs.mkdir()
    held = []
    with Library(folder / "index", embedder=ForgetfulEmbedder()) as library:
        for turn in range(7):
            for number in range(20):
                (docs / f"{number}.md").write_text(f"# {number}\n\n{PARAGRAPH} {turn}\n")
            assert not library.index(docs, workers=1).failed
            gc.collect()
            if turn == 1:
                tracemalloc.start()
            held.append(tracemalloc.get_traced_memory()[0])
    print(json.dumps(held))


def _search_again_and_again(folder: Path) -> None:
    """Print the memory that is held after some searches, and some more."""
    docs = folder / "docs"
    docs.mkdir()
    for number in range(20):
        (docs / f"{number}.md").write_text(f"# {number}\n\n" + "Some words that take room in memory. " * 100)
    held = []
    with Library(folder / "index", embedder=ForgetfulEmbedder()) as library:
        library.index(docs, workers=1)
        for turn in range(6):
            for number in range(30):
                assert library.search(f"words of number {number}").results
            gc.collect()
            if turn == 1:
                tracemalloc.start()
            held.append(tracemalloc.get_traced_memory()[0])
    print(json.dumps(held))


def _measured(function: Callable[[Path], None], folder: Path) -> list[int]:
    done = run_forked(function, folder)
    assert done.returncode == 0, done.stderr
    measured: list[int] = json.loads(done.stdout)
    return measured


def test_memory_does_not_grow_with_the_number_of_documents(tmp_path: Path) -> None:
    peaks = _measured(_index_more_and_more, tmp_path)
    # What grows are ids of passages, names of files and which documents were checked, 3.5 kB a document of 11 kB: no
    # text is kept.
    assert peaks[2] - peaks[1] < 80 * len(PARAGRAPH) * 0.5


def test_memory_does_not_grow_with_the_number_of_runs(tmp_path: Path) -> None:
    held = _measured(_index_again_and_again, tmp_path)
    # Three runs read 660 kB.
    assert held[-1] - held[3] < 50_000


def test_memory_does_not_grow_with_the_number_of_searches(tmp_path: Path) -> None:
    held = _measured(_search_again_and_again, tmp_path)
    assert held[-1] - held[3] < 50_000
