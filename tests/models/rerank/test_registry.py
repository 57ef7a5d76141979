from __future__ import annotations

import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from loccit.errors import LoccitError, UsageError
from loccit.models.rerank import load_reranker
from loccit.models.rerank.http import HttpReranker
from loccit.models.rerank.onnx import OnnxReranker


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty Hugging Face cache."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def test_folder(tiny: Path) -> None:
    for spec in (tiny, str(tiny)):
        reranker = load_reranker(spec, threads=1)
        assert isinstance(reranker, OnnxReranker)
        assert (reranker.name, reranker.time_limit_ms) == ("tiny-overlap-reranker", 1500)


def test_hub_model_in_the_cache(tiny: Path, hub_cache: Path) -> None:
    snapshot = hub_cache / "models--some-org--some-reranker" / "snapshots" / "abc"
    shutil.copytree(tiny, snapshot)
    reference = snapshot.parents[1] / "refs" / "main"
    reference.parent.mkdir()
    reference.write_text("abc", encoding="utf-8")
    reranker = load_reranker("some-org/some-reranker")
    assert reranker.name == "some-org/some-reranker"
    assert len(reranker.rerank("query", ["text"])) == 1


def test_hub_model_is_not_downloaded_unasked(hub_cache: Path) -> None:
    with pytest.raises(LoccitError, match="hf download some-org/absent-reranker"):
        load_reranker("some-org/absent-reranker")


@pytest.mark.parametrize(
    "spec", ["", "nonsense", "cohere:", "jina:", "tei:", "llm:", "a/b/c", "what is this", "bad..name/--x"]
)
def test_unknown_lists_the_known_forms(spec: str, hub_cache: Path) -> None:
    with pytest.raises(UsageError, match="Unknown reranker") as caught:
        load_reranker(spec)
    assert "cohere:MODEL" in str(caught.value)


@pytest.mark.parametrize("spec", ["llm:nobody:model", "llm:model", "http://", "tei:localhost:8080"])
def test_forms_that_are_incomplete(spec: str) -> None:
    with pytest.raises(UsageError):
        load_reranker(spec)


def test_absent_folder() -> None:
    with pytest.raises(LoccitError, match="no model folder"):
        load_reranker("./absent")


def test_services() -> None:
    cohere = load_reranker("cohere:rerank-v3.5", api_key="k")
    jina = load_reranker("jina:jina-reranker-v2-base-multilingual", api_key="k")
    tei = load_reranker("TEI:http://localhost:8080")
    other = load_reranker("http://localhost:8000/v1")
    for reranker, name, form, url in (
        (cohere, "cohere:rerank-v3.5", "cohere", "https://api.cohere.com/v2/rerank"),
        (jina, "jina:jina-reranker-v2-base-multilingual", "jina", "https://api.jina.ai/v1/rerank"),
        (tei, "http://localhost:8080/rerank", "tei", "http://localhost:8080/rerank"),
        (other, "http://localhost:8000/v1/rerank", "cohere", "http://localhost:8000/v1/rerank"),
    ):
        assert isinstance(reranker, HttpReranker)
        assert (reranker.name, reranker.form, reranker.url) == (name, form, url)


def test_one_timeout_for_all_kinds(tiny: Path) -> None:
    local = load_reranker(tiny, timeout=2.0)
    assert isinstance(local, OnnxReranker)
    assert local.time_limit_ms == pytest.approx(1600), "it stops by itself before it is given up"
    chosen = load_reranker(tiny, timeout=2.0, time_limit_ms=100)
    assert isinstance(chosen, OnnxReranker)
    assert chosen.time_limit_ms == 100
    remote = load_reranker("tei:http://localhost", timeout=2.0)
    assert isinstance(remote, HttpReranker)
    assert remote._client.timeout == 2.0


def test_registered_by_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine:
        name = "mine"

        def rerank(self, query: str, texts: list[str]) -> list[float]:
            return [0.0] * len(texts)

    class Point:
        name, value = "mine", "package.module:factory"

        @staticmethod
        def load() -> Any:
            return lambda good=True: Mine() if good else object()

    def entry_points(*, group: str, name: str | None = None) -> list[Any]:
        return [Point] if group == "loccit.rerankers" and name in (None, "mine") else []

    monkeypatch.setattr(metadata, "entry_points", entry_points)
    assert isinstance(load_reranker("mine", timeout=3.0), Mine)
    with pytest.raises(LoccitError, match="lacks members"):
        load_reranker("mine", good=False)
    with pytest.raises(UsageError, match="Registered here: mine"):
        load_reranker("yours")


def test_naming_one_imports_nothing_slow() -> None:
    code = (
        "import sys; from loccit.models.rerank import load_reranker; load_reranker('tei:http://localhost'); "
        "print([name for name in ('onnxruntime', 'requests', 'openai', 'anthropic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
