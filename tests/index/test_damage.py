"""Derived indexes that are missing, damaged, late or ahead: searches stay right, and the doctor sees it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from loccit import Library
from loccit.errors import DamagedIndexError

MODES = ("hybrid", "semantic", "keyword", "exact")
RECORD = "record.sqlite3"


def write(path: Path, animal: str) -> None:
    path.write_text(
        f"# {animal.title()}\n\n## Section 1. Food\n\nThe {animal} eats grass.\n", encoding="utf-8"
    )


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index in two states, ``old`` with one document and ``new`` with two others. Tests copy them."""
    folder = tmp_path_factory.mktemp("stages")
    docs = folder / "docs"
    docs.mkdir()
    write(docs / "a.md", "zebra")
    write(docs / "b.md", "camel")
    with Library(folder / "new") as library:
        library.index(docs)
    shutil.copytree(folder / "new", folder / "old")
    (docs / "a.md").unlink()
    write(docs / "c.md", "llama")
    with Library(folder / "new") as library:
        library.index(docs)
    return folder


@pytest.fixture
def index(stages: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(stages / "new", tmp_path / "index"))


def answers(library: Library) -> dict[str, list[tuple[str, str]]]:
    queries = ("zebra", "camel", "llama", '"eats grass"', "Section 1")
    return {
        f"{mode} {query}": sorted(
            (Path(result.source_path).name, result.content)
            for result in library.search(query, mode=mode).results
        )
        for mode in MODES
        for query in queries
    }


@pytest.fixture(scope="module")
def expected(stages: Path) -> dict[str, list[tuple[str, str]]]:
    with Library(stages / "new") as library:
        right = answers(library)
    assert [name for name, _ in right["exact zebra"]] == []
    assert {name for name, _ in right['exact "eats grass"']} == {"b.md", "c.md"}
    return right


def garble(path: Path) -> None:
    """Change bytes in the middle, size and place left alone."""
    data = bytearray(path.read_bytes())
    # The end of the matrix, whose middle may belong to documents that are gone.
    place = len(data) - 64 if path.suffix == ".f32" else len(data) // 2
    data[place : place + 64] = bytes(255 - byte for byte in data[place : place + 64])
    path.write_bytes(data)


def swap(part: str) -> Callable[[Path, Path], None]:
    def damage(index: Path, old: Path) -> None:
        shutil.rmtree(index / part)
        shutil.copytree(old / part, index / part)

    return damage


def lose(pattern: str) -> Callable[[Path, Path], None]:
    def damage(index: Path, old: Path) -> None:
        for path in list(index.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return damage


def cut(pattern: str) -> Callable[[Path, Path], None]:
    def damage(index: Path, old: Path) -> None:
        for path in index.glob(pattern):
            os.truncate(path, path.stat().st_size // 2)

    return damage


def fill(name: str, content: str) -> Callable[[Path, Path], None]:
    def damage(index: Path, old: Path) -> None:
        (index / name).write_text(content)

    return damage


def only_old_manifest(index: Path, old: Path) -> None:
    shutil.copy(old / "vectors/manifest.json", index / "vectors/manifest.json")


def only_old_columns(index: Path, old: Path) -> None:
    shutil.copy(old / "columns/manifest.json", index / "columns/manifest.json")


def other_count(index: Path, old: Path) -> None:
    path = index / "vectors/manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "count": 1}))


DAMAGE: dict[str, Callable[[Path, Path], None]] = {
    "keyword folder lost": lose("keyword"),
    "keyword folder old": swap("keyword"),
    "keyword manifest lost": lose("keyword/generation.json"),
    "keyword manifest garbage": fill("keyword/generation.json", "{"),
    "keyword meta lost": lose("keyword/meta.json"),
    "keyword meta garbage": fill("keyword/meta.json", "[]"),
    "keyword segments lost": lose("keyword/*.idx"),
    "keyword segments cut": cut("keyword/*.store"),
    "columns folder lost": lose("columns"),
    "columns folder old": swap("columns"),
    "columns manifest lost": lose("columns/manifest.json"),
    "columns manifest garbage": fill("columns/manifest.json", "garbage"),
    "columns manifest half": fill("columns/manifest.json", '{"format": 1}'),
    "columns manifest old": only_old_columns,
    "columns chunks cut": cut("columns/chunks.bin"),
    "columns chunks lost": lose("columns/chunks.bin"),
    "columns documents lost": lose("columns/documents.bin"),
    "vectors folder lost": lose("vectors"),
    "vectors folder old": swap("vectors"),
    "vectors manifest old": only_old_manifest,
    "vectors manifest lost": lose("vectors/manifest.json"),
    "vectors manifest garbage": fill("vectors/manifest.json", "garbage"),
    "vectors manifest a list": fill("vectors/manifest.json", "[1]"),
    "vectors manifest half": fill("vectors/manifest.json", '{"format": 1}'),
    "vectors count wrong": other_count,
    "vectors matrix cut": cut("vectors/*.f32"),
    "vectors matrix lost": lose("vectors/*.f32"),
    "vectors rows cut": cut("vectors/*.rows"),
    "vectors rows lost": lose("vectors/*.rows"),
    "vectors chunks cut": cut("vectors/*.chunks"),
    "vectors documents lost": lose("vectors/*.documents"),
    "both lost": lambda index, old: (lose("keyword")(index, old), lose("vectors")(index, old), None)[-1],
}


@pytest.fixture(params=DAMAGE)
def damage(request: pytest.FixtureRequest, stages: Path) -> Iterator[Callable[[Path], None]]:
    yield lambda index: DAMAGE[request.param](index, stages / "old")


def test_searches_are_right_at_once(
    index: Path, damage: Callable[[Path], None], expected: dict[str, list[tuple[str, str]]]
) -> None:
    damage(index)
    with Library(index) as library:
        assert answers(library) == expected
        assert library.doctor(repair=False).healthy


def test_the_doctor_finds_and_repairs(
    index: Path, damage: Callable[[Path], None], expected: dict[str, list[tuple[str, str]]]
) -> None:
    damage(index)
    with Library(index) as library:
        first = library.doctor(repair=False)
        assert not first.healthy
        assert all(check.detail for check in first.checks if not check.ok)
        assert library.doctor(repair=False) == first
        report = library.doctor()
        assert report.healthy
        assert [check.name for check in report.checks if check.repaired] == [
            check.name for check in first.checks if not check.ok
        ]
        assert all(check.ok for check in library.doctor().checks)
        assert answers(library) == expected


@pytest.mark.parametrize("kind", [kind for kind in DAMAGE if not kind.endswith("cut")])
def test_damage_under_an_open_library(
    index: Path, stages: Path, kind: str, expected: dict[str, list[tuple[str, str]]]
) -> None:
    # Not files cut short in place: no process survives that under a file that it has mapped.
    with Library(index) as library:
        assert answers(library) == expected
        DAMAGE[kind](index, stages / "old")
        # What is open and unchanged may go on being used; what is noticed must be put right.
        assert answers(library) == expected
        assert library.doctor().healthy
        assert answers(library) == expected


@pytest.mark.parametrize(
    "pattern", ["keyword/*.store", "keyword/*.term", "keyword/*.idx", "vectors/*.f32", "columns/*.bin"]
)
def test_the_doctor_finds_changed_bytes(
    index: Path, pattern: str, expected: dict[str, list[tuple[str, str]]]
) -> None:
    for path in index.glob(pattern):
        garble(path)
    with Library(index) as library:
        assert not library.doctor(repair=False).healthy
        assert library.doctor().healthy
        assert answers(library) == expected


def test_damage_that_a_search_comes_upon_can_be_mended(
    index: Path, expected: dict[str, list[tuple[str, str]]]
) -> None:
    for path in index.glob("keyword/*.idx"):
        garble(path)
    with Library(index) as library:
        assert library._index.mend()
        assert answers(library) == expected


def test_a_search_says_that_it_builds_an_index_first(
    index: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Library(index) as library:
        shutil.rmtree(index / "keyword")
        assert library.search("llama", mode="keyword").results
    # So few changes are not worth a word.
    assert "updating it before this answer" not in caplog.text
    monkeypatch.setattr("loccit.index.folder.local._SILENT_CHANGES", 1)
    shutil.rmtree(index / "keyword")
    with Library(index) as library:
        assert library.search("llama", mode="keyword").results
    assert "updating it before this answer" in caplog.text


def test_an_older_record_under_newer_indexes(index: Path, stages: Path) -> None:
    with Library(stages / "old") as library:
        # Read from a copy: a search may write to what it finds late.
        before = answers(library)
    (index / RECORD).unlink()
    shutil.copy(stages / "old" / RECORD, index / RECORD)
    with Library(index) as library:
        assert answers(library) == before
        # It is right about what it has, but what came after is lost.
        (lost,) = [check for check in library.doctor().checks if not check.ok]
        assert lost.name == "losses" and "loccit index" in lost.detail and not lost.repaired
        assert lost.detail in library.search("camel").note
        # The note stays until the documents have been indexed again.
        assert lost.detail in library.index(stages / "docs").warnings
        assert library.doctor(repair=False).healthy


def test_an_older_record_that_overtakes_its_indexes(
    index: Path, stages: Path, expected: dict[str, list[tuple[str, str]]], tmp_path: Path
) -> None:
    (index / RECORD).unlink()
    shutil.copy(stages / "old" / RECORD, index / RECORD)
    with Library(index) as library:
        # The first thing that happens is a run, which takes the record to where the indexes seem to be.
        library.index(stages / "docs")
        assert answers(library) == expected
        assert library.doctor(repair=False).healthy


def test_a_read_only_index_that_is_damaged_says_so(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(index / "keyword")
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with Library(index) as library, pytest.raises(Exception, match="cannot be written to") as caught:
        library.search("camel", mode="keyword")
    assert not isinstance(caught.value, DamagedIndexError)


def test_status_counts(index: Path, stages: Path) -> None:
    with Library(index) as library:
        status = library.status()
        assert (status.documents, status.pending_passages, status.failures) == (2, 0, [])
        assert status.chunks == sum(info.total_chunks for info in library.documents())
        assert status.passages >= status.chunks
        assert status.file_types == {".md": 2} and sum(status.languages.values()) == 2
        assert status.roots == [str(stages / "docs")]
        assert status.dimension == 384 and status.model
        assert status.size_bytes == sum(path.stat().st_size for path in index.rglob("*") if path.is_file())
        assert status.updated_at and status.writer == ""
