"""The concept vocabulary: which terms it has, that it follows the record, and that nothing harms a search."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.ingest.fakes import InlineSandbox, WordEmbedder

from loccit import Library
from loccit.index.folder import concepts
from loccit.index.folder.concepts import ConceptIndex, corpus_terms

TEXTS = {
    "tides.md": "# High Water\n\nThe harbour master warns ships. Ships wait for the harbour master.",
    "dues.md": "# Harbour Dues\n\n“Vessel” means any craft.\n\nEvery vessel pays the harbour master.",
    "watch.md": "The harbour master sleeps.",
    "garden.md": "# Garten\n\nDie Größe der Gärten ist für die Tomaten wichtig, und die Tomaten brauchen Wasser.",
}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def library(tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    monkeypatch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)
    with Library(tmp_path / "index", embedder=WordEmbedder()) as opened:
        opened.index([docs])
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "concepts"


def words() -> WordEmbedder:
    """A model with room for every word to have a direction of its own."""
    return WordEmbedder(dimension=4096)


def opened(folder: Path, embedder: WordEmbedder | None = None) -> ConceptIndex:
    model = embedder or words()
    return ConceptIndex(folder, model.name, model.dimension)


def update(index: ConceptIndex, library: Library, embedder: WordEmbedder | None = None) -> int:
    record = library._index.record
    return index.update(record, embedder or words(), record.generation())


# -- terms ---------------------------------------------------------------------------------------------------


def test_terms_are_words_pairs_headings_and_defined_terms(library: Library) -> None:
    terms = corpus_terms(library._index.record, 1000)
    assert {"high water", "harbour dues", "vessel"} <= set(terms)
    assert {"ships", "craft", "pays", "tomaten", "wasser", "größe"} <= set(terms)
    assert "harbour master" in terms  # met three times
    assert "master warns" not in terms
    assert not {"the", "for", "any", "die", "ist", "und", "für"} & set(terms)
    assert len(terms) == len(set(terms))


def test_forms_of_a_word_are_one_term(library: Library, docs: Path) -> None:
    (docs / "more.md").write_text("Ship by ship, shipping ships. Ships!", encoding="utf-8")
    library.index([docs])
    terms = corpus_terms(library._index.record, 1000)
    assert [term for term in terms if term in {"ship", "ships"}] == ["ships"]


def test_the_most_frequent_terms_are_kept(library: Library) -> None:
    few = corpus_terms(library._index.record, 8)
    assert len(few) == 8
    assert "harbour" in few
    assert "patience" not in few


def test_the_same_documents_give_the_same_terms(library: Library) -> None:
    record = library._index.record
    assert corpus_terms(record, 50) == corpus_terms(record, 50)


def test_scripts_without_spaces_and_identifiers_are_no_terms(library: Library, docs: Path) -> None:
    (docs / "odd.md").write_text("港口管理局收取费用 max_pressure_kpa E1001 x1 well-known", encoding="utf-8")
    library.index([docs])
    terms = corpus_terms(library._index.record, 1000)
    assert not [term for term in terms if not term.replace(" ", "").replace("-", "").isalpha()]
    assert not [term for term in terms if "港" in term or "kpa" in term]


def test_a_large_library_is_sampled(library: Library, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        (docs / f"n{number}.md").write_text(
            f"A note about everyday{chr(97 + number)} things.", encoding="utf-8"
        )
    library.index([docs])
    everything = set(corpus_terms(library._index.record, 1000))
    monkeypatch.setattr(concepts, "MAX_CHUNKS", 6)
    some = set(corpus_terms(library._index.record, 1000))
    assert some < everything
    assert "things" in some


# -- following the record ------------------------------------------------------------------------------------


def test_only_new_terms_are_embedded(library: Library, docs: Path, folder: Path) -> None:
    index, embedder = opened(folder), words()
    assert update(index, library, embedder) == len(index.terms) == len(embedder.texts)
    embedder.texts.clear()
    (docs / "news.md").write_text("Ships and lighthouses.", encoding="utf-8")
    library.index([docs])
    assert update(index, library, embedder) == 1
    assert embedder.texts == ["lighthouses"]
    assert index.nearest(embedder.embed_query("lighthouses"), 1)[0][0] == "lighthouses"
    assert index.nearest(embedder.embed_query("vessel"), 1)[0][0] == "vessel"


def test_terms_of_removed_documents_go(library: Library, docs: Path, folder: Path) -> None:
    index = opened(folder)
    update(index, library)
    assert "tomaten" in index.terms
    (docs / "garden.md").unlink()
    library.index([docs])
    update(index, library)
    assert "tomaten" not in index.terms
    assert sorted(index.terms) == sorted(corpus_terms(library._index.record, 10_000))


def test_nothing_is_done_when_nothing_changed(library: Library, folder: Path) -> None:
    index, embedder = opened(folder), words()
    update(index, library, embedder)
    before = sorted(path.name for path in folder.iterdir())
    embedder.texts.clear()
    assert update(index, library, embedder) == 0
    assert not embedder.texts
    assert sorted(path.name for path in folder.iterdir()) == before


def test_what_was_written_is_read_again(library: Library, folder: Path) -> None:
    first, second = opened(folder), opened(folder)
    assert second.terms == ()
    update(first, library)
    second.reload()
    assert (second.terms, second.generation) == (first.terms, library._index.record.generation())
    query = words().embed_query("vessel")
    assert second.nearest(query, 5) == first.nearest(query, 5)
    assert len(list(folder.iterdir())) == 3


def test_progress_is_told(library: Library, folder: Path) -> None:
    told: list[tuple[int, int]] = []
    record = library._index.record
    index = opened(folder)
    index.update(record, words(), record.generation(), lambda done, total: told.append((done, total)))
    assert told == [(len(index.terms), len(index.terms))]


def test_nearest_is_in_order_and_bounded(library: Library, folder: Path) -> None:
    index = opened(folder)
    update(index, library)
    found = index.nearest(words().embed_query("harbour master"), 4)
    assert found[0][0] == "harbour master"
    assert found[0][1] == pytest.approx(1.0, abs=1e-4)
    assert len(found) == 4
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert len(index.nearest(words().embed_query("x"), 10_000)) == len(index.terms)
    assert index.nearest(words().embed_query("x"), 0) == []
    assert opened(folder / "none").nearest(words().embed_query("x"), 5) == []


# -- bad state -----------------------------------------------------------------------------------------------


def test_an_interrupted_update_leaves_the_old_terms(library: Library, docs: Path, folder: Path) -> None:
    index = opened(folder)
    update(index, library)
    before = index.terms
    (docs / "news.md").write_text("Lighthouses.", encoding="utf-8")
    library.index([docs])

    def fail() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        update(index, library, WordEmbedder(dimension=4096, before=fail))
    assert opened(folder).terms == before
    assert update(opened(folder), library) == 1


@pytest.mark.parametrize("kind", ["manifest", "terms", "matrix", "cut", "rows", "text", "numbers"])
def test_a_damaged_vocabulary_is_empty_and_made_again(
    library: Library, folder: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    update(opened(folder), library)
    names = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    if kind == "manifest":
        (folder / "manifest.json").write_text("{", encoding="utf-8")
    elif kind in ("terms", "matrix"):
        (folder / names[kind]).unlink()
    elif kind == "cut":
        (folder / names["matrix"]).write_bytes((folder / names["matrix"]).read_bytes()[:-40])
    elif kind == "rows":
        (folder / names["terms"]).write_text('["one"]', encoding="utf-8")
    elif kind == "text":
        (folder / names["terms"]).write_text("{]", encoding="utf-8")
    else:
        (folder / names["terms"]).write_text("[1]", encoding="utf-8")
        np.zeros((1, 4096), dtype=np.float32).tofile(folder / names["matrix"])
    index = opened(folder)
    assert index.terms == ()
    assert index.nearest(words().embed_query("vessel"), 3) == []
    assert "is rebuilt" in caplog.text
    assert update(index, library) == len(index.terms) > 0
    assert opened(folder).terms == index.terms


def test_numbers_that_are_none_match_nothing(library: Library, folder: Path) -> None:
    update(opened(folder), library)
    names = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    matrix = np.fromfile(folder / names["matrix"], dtype=np.float32)
    matrix[:4096] = np.nan
    matrix.tofile(folder / names["matrix"])
    found = opened(folder).nearest(words().embed_query("vessel"), 3)
    assert all(np.isfinite(score) for _, score in found)


def test_vectors_of_another_model_are_not_used(library: Library, folder: Path) -> None:
    update(opened(folder), library)
    other = WordEmbedder("other", 16)
    index = opened(folder, other)
    assert index.terms == ()
    record = library._index.record
    assert index.update(record, other, record.generation()) == len(index.terms) > 0
    assert index.nearest(other.embed_query("vessel"), 1)[0][0] == "vessel"


def test_an_empty_library_has_an_empty_vocabulary(tmp_path: Path, folder: Path) -> None:
    with Library(tmp_path / "index", embedder=WordEmbedder()) as library:
        index = opened(folder)
        assert update(index, library) == 0
        assert index.terms == ()
