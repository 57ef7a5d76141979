"""A library whose vectors have a coarse copy: damage to it is noticed and mended, and searches stay right."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from loccit import Library
from loccit.index.folder import vectors
from loccit.index.folder.index import EmbeddedIndex
from loccit.index.folder.vectors import VectorIndex

ANIMALS = ("zebra", "camel", "llama", "otter", "heron")


@pytest.fixture(scope="module", autouse=True)
def _coarse_from_the_first_row() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "COARSE_ROWS", 1)
        yield


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("coarse")
    for animal in ANIMALS:
        text = f"# {animal.title()}\n\nThe {animal} sleeps.\n\n## Food\n\nThe {animal} eats at night.\n"
        (folder / f"{animal}.md").write_text(text, encoding="utf-8")
    with Library(folder / "index") as library:
        library.index(folder)
    return folder / "index"


@pytest.fixture
def index(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "index"))


def answers(library: Library) -> dict[str, list[tuple[str, float]]]:
    return {
        animal: [
            (result.chunk_id, round(result.semantic_score or 0.0, 5))
            for result in library.search(f"what does a {animal} eat", mode="semantic", top_k=3).results
        ]
        for animal in ANIMALS
    }


def matrix(library: Library) -> VectorIndex:
    assert isinstance(library._index, EmbeddedIndex)
    return library._index.vectors


def lose(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:7])


def test_answers_are_those_of_the_matrix_alone(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Library(index) as library:
        assert matrix(library).snapshot.coarse is not None
        found = answers(library)
    assert all(found.values())
    monkeypatch.setattr(vectors, "COARSE_ROWS", 10**9)
    shutil.rmtree(index / "vectors")
    with Library(index) as library:
        assert answers(library) == found
        assert matrix(library).snapshot.coarse is None


@pytest.mark.parametrize("suffix", [".i8", ".scale"])
@pytest.mark.parametrize("damage", [lose, cut])
def test_a_damaged_copy_is_made_again(index: Path, suffix: str, damage: Callable[[Path], None]) -> None:
    with Library(index) as library:
        expected = answers(library)
    (path,) = (index / "vectors").glob(f"*{suffix}")
    damage(path)
    with Library(index) as library:
        assert not library.doctor(repair=False).healthy
        assert answers(library) == expected
        assert matrix(library).verify() == ""
        assert library.doctor(repair=False).healthy


def test_a_changed_document_is_found_by_its_new_text_alone(built: Path, tmp_path: Path) -> None:
    docs = Path(shutil.copytree(built.parent, tmp_path / "docs", ignore=shutil.ignore_patterns("index")))
    with Library(tmp_path / "index") as library:
        library.index(docs)
        (docs / "otter.md").write_text("# Otter\n\nIt was never heard of again.\n", encoding="utf-8")
        (docs / "heron.md").unlink()
        library.index(docs)
        results = library.search("what does an otter eat", mode="semantic", top_k=20).results
        (otter,) = (result for result in results if Path(result.source_path).stem == "otter")
        assert "never heard of again" in otter.content
        assert {Path(result.source_path).stem for result in results} == {*ANIMALS} - {"heron"}
        assert matrix(library).verify() == ""
