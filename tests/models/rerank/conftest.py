from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.models.rerank.service import Service, running


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small cross-encoder that scores what words a query and a text share."""
    pytest.importorskip("onnx")
    from scripts.build_tiny_reranker import build

    return build(tmp_path_factory.mktemp("tiny-reranker"))


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A reranking service on the loopback address."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with running() as server:
        yield server
