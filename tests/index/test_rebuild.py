"""An index that is made anew: until it is whole, the old one answers, whatever ends the run."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from loccit import Library, Settings
from loccit.config import IndexSettings
from loccit.errors import LoccitError, ModelMismatchError
from loccit.index.folder.local import BESIDE
from loccit.models.embedding.protocol import Vectors
from loccit.testing.libraries import HashEmbedder, write_documents

ROOT = Path(__file__).parents[2]


class Failing(HashEmbedder):
    """Ends a run at its second batch of texts."""

    calls = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.calls > 1:
            raise KeyboardInterrupt
        return super().embed(texts)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = write_documents(tmp_path / "docs")
    for number in range(30):
        parts = "".join(f"## Part {part}\n\nMatter {part} of house {number}.\n\n" for part in range(30))
        (folder / f"house{number}.md").write_text(f"# House {number}\n\n{parts}", encoding="utf-8")
    return folder


@pytest.fixture
def index(tmp_path: Path, documents: Path) -> Path:
    with Library(tmp_path / "index", embedder=HashEmbedder()) as library:
        library.index([documents], workers=1)
    return tmp_path / "index"


def best(library: Library, query: str = "waste oil") -> list[str]:
    return [result.chunk_id for result in library.search(query, top_k=3).results]


def test_a_model_that_is_not_there_leaves_the_old_index(index: Path) -> None:
    settings = Settings(index=IndexSettings(embedding_model=str(index / "no-such-model")))
    with Library(index, settings=settings) as library, pytest.raises(LoccitError, match="no-such-model"):
        library.index(rebuild=True)
    with Library(index, embedder=HashEmbedder()) as library:
        assert best(library)
        assert library.doctor(repair=False).healthy


def test_a_run_that_ends_early_leaves_the_old_index_and_the_next_goes_on(index: Path) -> None:
    with Library(index, embedder=HashEmbedder()) as library:
        before, passages = best(library), library.status().passages
    with Library(index, embedder=Failing()) as library, pytest.raises(KeyboardInterrupt):
        library.index(rebuild=True, workers=1)
    with Library(index, embedder=HashEmbedder()) as library:
        assert best(library) == before
        assert library.doctor(repair=False).healthy
        report = library.index(rebuild=True, workers=1)
        # What the first run had read and embedded is there still.
        assert 0 < report.embedded < passages
        assert best(library) == before
        assert library.doctor(repair=False).healthy
    assert not (index / BESIDE).exists()


def test_another_model_takes_over_and_readers_see_it(index: Path) -> None:
    with (
        Library(index, embedder=HashEmbedder(32, "other")) as writer,
        Library(index, embedder=HashEmbedder()) as reader,
    ):
        assert best(reader)
        reports = writer.index(rebuild=True, workers=1)
        assert len(reports.added) == 33
        assert writer.search("waste oil", mode="semantic").results
        assert reader.search("waste", mode="keyword").results
        with pytest.raises(ModelMismatchError, match="other"):
            best(reader)
        assert writer.doctor(repair=False).healthy
        assert writer.status().model == "other"


KILLED = """
import sys
from loccit.testing.libraries import HashEmbedder
from loccit import Library
class Slow(HashEmbedder):
    def embed(self, texts):
        print("embedding", flush=True)
        import time; time.sleep(0.3)
        return super().embed(texts)
with Library(sys.argv[1], embedder=Slow()) as library:
    library.index(rebuild=True, workers=1)
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_kill_leaves_the_old_index(index: Path) -> None:
    with Library(index, embedder=HashEmbedder()) as library:
        before = best(library)
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(index)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"embedding\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with Library(index, embedder=HashEmbedder()) as library:
        assert best(library) == before
        report = library.doctor()
        assert report.healthy
        assert {check.name: check.repaired for check in report.checks}[BESIDE] == "deleted"
    assert not (index / BESIDE).exists()


@pytest.mark.skipif(os.name == "nt", reason="rights are of another kind there")
def test_files_have_the_rights_of_their_folder(index: Path, documents: Path) -> None:
    def modes() -> set[int]:
        return {stat.S_IMODE(path.stat().st_mode) for path in index.rglob("*") if path.is_file()}

    assert (stat.S_IMODE(index.stat().st_mode), modes()) == (0o700, {0o600})
    with Library(index, embedder=HashEmbedder()) as library:
        library.share_with_group()
        (documents / "new.md").write_text("# New\n\nSomething new.\n", encoding="utf-8")
        library.index(workers=1)
    assert (stat.S_IMODE(index.stat().st_mode), modes()) == (0o2770, {0o660})
    index.chmod(0o755)
    (documents / "new.md").write_text("# New\n\nSomething newer.\n", encoding="utf-8")
    with Library(index, embedder=HashEmbedder()) as library:
        library.index(workers=1)
    assert modes() == {0o644}


def test_the_doctor_finds_and_takes_out_what_is_no_text(index: Path) -> None:
    with Library(index, embedder=HashEmbedder()) as library:
        with library._index.database.transaction() as connection:
            connection.execute(
                "UPDATE documents SET title = CAST(x'4142FF43' AS TEXT) WHERE source_path LIKE '%lease.md'"
            )
        report = library.doctor(repair=False)
        assert not report.healthy
        (check,) = [check for check in report.checks if check.name == "documents"]
        assert "lease.md" in check.detail
        assert library.doctor().healthy
        assert library.status().documents == 32
        assert library.index(workers=1).added == [str(index.parent / "docs" / "lease.md")]
        assert library.doctor(repair=False).healthy


def test_a_lock_that_is_a_folder(index: Path, documents: Path) -> None:
    (index / "writer.lock").unlink()
    (index / "writer.lock").mkdir()
    (documents / "new.md").write_text("# New\n\nSomething new.\n", encoding="utf-8")
    with Library(index, embedder=HashEmbedder()) as library:
        assert best(library)
        with pytest.raises(LoccitError, match=r"writer.lock is a folder.*loccit doctor"):
            library.index(workers=1)
        assert not library.doctor(repair=False).healthy
        (index / "writer.lock" / "something").touch()
        blocked = library.doctor()
        assert not blocked.healthy
        assert ["delete it" in check.detail for check in blocked.checks if not check.ok] == [True]
        (index / "writer.lock" / "something").unlink()
        assert library.doctor().healthy
        assert len(library.index(workers=1).added) == 1


def test_a_folder_that_others_open_meanwhile_is_replaced(
    index: Path, documents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that opens the old index puts a lock back while it is being removed."""
    remove, keyword, left = shutil.rmtree, index / "keyword", iter(range(3))

    def removed(folder: Path, *rest: Any, **options: Any) -> None:
        remove(folder, *rest, **options)
        if Path(folder) == keyword and next(left, None) is not None:
            keyword.mkdir()
            (keyword / ".tantivy-meta.lock").touch()

    monkeypatch.setattr(shutil, "rmtree", removed)
    with Library(index, embedder=HashEmbedder()) as library:
        assert not library.index([documents], workers=1, rebuild=True).failed
        assert next(left, None) is None, "it was in the way"
        assert library.doctor(repair=False).healthy
