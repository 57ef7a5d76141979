from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from loccit import Library
from loccit.errors import LoccitError
from loccit.models.embedding import Embedder, load_embedder, load_tokenizer
from loccit.models.embedding.onnx import OnnxEmbedder
from loccit.models.embedding.openai import OpenAICompatibleEmbedder
from loccit.models.embedding.registry import BUNDLED_MODEL


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty Hugging Face cache."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def cache_model(cache: Path, name: str) -> None:
    """Put the bundled model into the cache under another name."""
    snapshot = cache / f"models--{name.replace('/', '--')}" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    for file in ("model.onnx", "tokenizer.json"):
        (snapshot / file).symlink_to(BUNDLED_MODEL / file)
    reference = snapshot.parents[1] / "refs" / "main"
    reference.parent.mkdir()
    reference.write_text("abc", encoding="utf-8")


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (None, "all-MiniLM-L6-v2-int8"),
        ("default", "all-MiniLM-L6-v2-int8"),
        ("bundled", "all-MiniLM-L6-v2-int8"),
        ("all-MiniLM-L6-v2", "all-MiniLM-L6-v2-int8"),
        ("all-MiniLM-L6-v2-int8", "all-MiniLM-L6-v2-int8"),
        ("granite-embedding-30m-english", "granite-embedding-30m-english-int8"),
        ("fast", "minilm-l3-student-int8"),
        ("Fast", "minilm-l3-student-int8"),
        ("minilm-l3-student-int8", "minilm-l3-student-int8"),
    ],
)
def test_bundled(spec: str | None, name: str) -> None:
    embedder = load_embedder(spec)
    assert isinstance(embedder, OnnxEmbedder)
    assert embedder.name == name


@pytest.mark.parametrize("spec", [BUNDLED_MODEL, str(BUNDLED_MODEL)])
def test_folder(spec: str | Path) -> None:
    assert load_embedder(spec, threads=1).dimension == 384
    assert load_tokenizer(spec).offsets("law") == [(0, 3)]


def test_remote() -> None:
    ollama = load_embedder("ollama:nomic-embed-text:v1.5")
    assert isinstance(ollama, OpenAICompatibleEmbedder)
    assert (ollama.model, ollama.base_url) == ("nomic-embed-text:v1.5", "http://localhost:11434/v1")
    assert load_embedder("openai:text-embedding-3-large").dimension == 3072
    assert load_embedder("azure:deployment", azure_endpoint="http://127.0.0.1").name == "deployment"


def test_tokenizer_of_a_remote_model_is_the_bundled_one() -> None:
    assert load_tokenizer("openai:text-embedding-3-large").offsets("law") == [(0, 3)]


def test_hub_model_in_the_cache(hub_cache: Path) -> None:
    cache_model(hub_cache, "some-org/some-model")
    embedder = load_embedder("some-org/some-model")
    assert (embedder.name, embedder.dimension) == ("some-org/some-model", 384)
    assert load_tokenizer("some-org/some-model").offsets("law") == [(0, 3)]


def test_hub_model_is_not_downloaded_unasked(hub_cache: Path) -> None:
    for load in (load_embedder, load_tokenizer):
        with pytest.raises(LoccitError, match="hf download"):
            load("some-org/absent-model")


@pytest.mark.parametrize("spec", ["", "nonsense", "openai:", "a/b/c", "what is this", "bad..name/--x"])
def test_unknown_lists_the_known_forms(spec: str, hub_cache: Path) -> None:
    for load in (load_embedder, load_tokenizer):
        with pytest.raises(LoccitError, match="Unknown embedding model") as caught:
            load(spec)
        assert "openai:MODEL" in str(caught.value)


@pytest.mark.parametrize("spec", ["./absent", "/absent/folder", "~/absent-folder"])
def test_absent_folder(spec: str) -> None:
    with pytest.raises(LoccitError, match="no model folder"):
        load_embedder(spec)


def test_registered_by_a_package(monkeypatch: pytest.MonkeyPatch, bundled: Embedder) -> None:
    class Point:
        name, value = "third", "package.module:factory"

        @staticmethod
        def load() -> Any:
            return lambda good=True: bundled if good else object()

    def entry_points(*, group: str, name: str | None = None) -> list[Any]:
        return [Point] if group == "loccit.embedders" and name in (None, "third") else []

    monkeypatch.setattr(metadata, "entry_points", entry_points)
    assert load_embedder("third") is bundled
    assert load_tokenizer("third").offsets("law") == [(0, 3)]
    with pytest.raises(LoccitError, match="lacks members"):
        load_embedder("third", good=False)
    with pytest.raises(LoccitError, match="Registered here: third"):
        load_embedder("fourth")


def test_libraries_share_a_bundled_model(tmp_path: Path) -> None:
    with Library(tmp_path / "a") as one, Library(tmp_path / "b") as other:
        assert one.embedder is other.embedder and one.tokenizer is other.tokenizer
        assert load_embedder("fast") is not one.embedder
        # Who asks for other threads gets a model that has them.
        own = load_embedder(threads=1)
        assert own is not one.embedder and isinstance(own, OnnxEmbedder) and own.threads == 1
