from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.evaluation import sets

from loccit.config import IndexSettings, Settings
from loccit.evaluation import evaluate
from loccit.evaluation.cache import RememberingEmbedder, default_folder
from loccit.models.embedding import Embedder
from loccit.models.embedding.protocol import Vectors


class Counting:
    """The bundled model, with a count of the texts it was given."""

    def __init__(self, embedder: Embedder, name: str = "") -> None:
        self._embedder = embedder
        self.name = name or embedder.name
        self.dimension, self.max_tokens = embedder.dimension, embedder.max_tokens
        self.languages = embedder.languages
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return self._embedder.embed(texts)

    def embed_query(self, text: str) -> Vectors:
        return self._embedder.embed_query(text)


@pytest.fixture
def counting(embedder: Embedder) -> Counting:
    return Counting(embedder)


def test_a_second_run_embeds_nothing_and_gives_the_same(tmp_path: Path, counting: Counting) -> None:
    folder, cache = sets.retrieval_set(tmp_path / "set"), tmp_path / "cache"
    first = evaluate([folder], cache=cache, embedder=counting)
    assert len(counting.texts) == 3
    second = evaluate([folder], cache=cache, embedder=counting)
    assert len(counting.texts) == 3
    for before, after in zip(first.sets[0].variants, second.sets[0].variants, strict=True):
        assert [query.values for query in before.queries] == [query.values for query in after.queries]


def test_only_what_is_new_is_embedded_when_a_set_or_a_setting_changes(
    tmp_path: Path, counting: Counting
) -> None:
    folder, cache = sets.retrieval_set(tmp_path / "set"), tmp_path / "cache"
    evaluate([folder], cache=cache, embedder=counting)
    with (folder / "corpus.jsonl").open("a") as file:
        file.write('{"id": "wind", "title": "", "text": "The wind turns with the sun."}\n')
    changed = evaluate([folder], cache=cache, embedder=counting)
    assert changed.sets[0].documents == 4
    assert counting.texts[3:] == ["The wind turns with the sun."]
    settings = Settings(index=IndexSettings(contextual_embeddings=False))
    evaluate([folder], cache=cache, embedder=counting, settings=settings)
    assert len(counting.texts) == 6, "two texts lose their titles, two have none"


def test_files_are_compared_one_by_one(tmp_path: Path, counting: Counting) -> None:
    folder, cache = sets.library_set(tmp_path / "set"), tmp_path / "cache"
    evaluate([folder], cache=cache, embedder=counting)
    before = len(counting.texts)
    (folder / "docs" / "sub" / "diary.md").write_text(
        "# Diary of a baker\n\nRye loaves take two hours in the oven.\n"
    )
    changed = evaluate([folder], cache=cache, embedder=counting)
    assert len(counting.texts) == before + 1
    assert "two hours" in changed.sets[0].variants[0].queries[0].found[0]


def test_another_model_has_an_index_of_its_own(
    tmp_path: Path, embedder: Embedder, counting: Counting
) -> None:
    folder, cache = sets.retrieval_set(tmp_path / "set"), tmp_path / "cache"
    evaluate([folder], cache=cache, embedder=counting)
    other = Counting(embedder, "another")
    assert evaluate([folder], cache=cache, embedder=other).model == "another"
    assert len(other.texts) == 3


def test_sets_of_one_folder_share_an_index_and_old_ones_go(tmp_path: Path, counting: Counting) -> None:
    cache = tmp_path / "cache"
    evaluate([sets.lookup_set(tmp_path / "set")], cache=cache, embedder=counting, modes=["exact"])
    [entry] = [path for path in cache.iterdir() if path.is_dir()]
    assert entry.name.startswith("set-")
    long_ago = time.time() - 30 * 86_400
    os.utime(entry / "used", (long_ago, long_ago))
    evaluate([sets.retrieval_set(tmp_path / "other")], cache=cache, embedder=counting, modes=["exact"])
    assert not entry.exists()


def test_of_many_indexes_of_one_set_the_oldest_go(tmp_path: Path, counting: Counting) -> None:
    folder, cache = sets.retrieval_set(tmp_path / "set"), tmp_path / "cache"
    for number in range(6):
        old = cache / f"set-{number}"
        old.mkdir(parents=True)
        (old / "used").touch()
        hours_ago = time.time() - (number + 2 if number else 0) * 3_600
        os.utime(old / "used", (hours_ago, hours_ago))
    evaluate([folder], cache=cache, embedder=counting, modes=["exact"])
    assert {
        path.name for path in cache.iterdir() if path.name.startswith("set-") and len(path.name) == 5
    } == {
        "set-0",
        "set-1",
        "set-2",
    }


def test_without_a_cache_nothing_stays(
    tmp_path: Path, counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    evaluate([sets.retrieval_set(tmp_path / "set")], embedder=counting, modes=["keyword"])
    assert list((tmp_path / "scratch").iterdir()) == []


def test_the_usual_place_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "loccit" / "eval"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert default_folder() == Path.home() / ".cache" / "loccit" / "eval"


def test_vectors_come_back_as_they_were_made(tmp_path: Path, embedder: Embedder, counting: Counting) -> None:
    remembering = RememberingEmbedder(counting, tmp_path / "vectors.sqlite3")
    texts = ["one", "two", "one", "three"]
    first = remembering.embed(texts)
    assert counting.texts == ["one", "two", "three"]
    again = RememberingEmbedder(counting, tmp_path / "vectors.sqlite3").embed(["three", "four", *texts])
    assert counting.texts == ["one", "two", "three", "four"]
    np.testing.assert_array_equal(again[2:], first)
    np.testing.assert_allclose(again[1], embedder.embed(["four"])[0], atol=1e-6)
    assert remembering.embed([]).shape == (0, embedder.dimension)
