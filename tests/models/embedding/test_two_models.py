"""The preset `thorough`: two models side by side in one vector."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from loccit import IndexSettings, Library, Settings
from loccit.models.embedding import Embedder, load_embedder, load_tokenizer

TEXTS = [
    "The tenant shall pay the rent on the first day of each month.",
    "Photosynthesis turns light into chemical energy.",
    "",
    "Zürich – 東京 \x00",
]


def test_similarities_lie_between_those_of_both_models(bundled: Embedder) -> None:
    both, other = load_embedder("thorough"), load_embedder("granite-embedding-30m-english")
    assert isinstance(both, Embedder)
    assert (both.dimension, both.max_tokens, both.languages) == (768, 256, frozenset({"en"}))
    query = "When must the rent be paid?"
    made = both.embed(TEXTS)
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    found = made @ both.embed_query(query)
    each = np.stack([model.embed(TEXTS) @ model.embed_query(query) for model in (bundled, other)])
    assert (found <= each.max(axis=0) + 1e-5).all()
    assert (found >= each.min(axis=0) - 1e-5).all()
    assert both.embed([]).shape == (0, 768)


def test_an_index_remembers_both(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number, text in enumerate(TEXTS[:2]):
        (docs / f"{number}.md").write_text(f"# Part {number}\n\n{text}\n", encoding="utf-8")
    with Library(tmp_path / "index", settings=Settings(IndexSettings(embedding_model="thorough"))) as library:
        library.index([docs])
    with Library(tmp_path / "index") as library:
        (first,) = library.search("how plants make energy", top_k=1).results
        assert Path(first.source_path).name == "1.md"
        assert library.embedder.name == load_embedder("thorough").name
        assert load_embedder(library.embedder.name).dimension == library.embedder.dimension
    assert load_tokenizer("thorough").offsets(TEXTS[0]) == load_tokenizer().offsets(TEXTS[0])
