from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from loccit import Library

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The example documents, indexed once."""
    with Library(tmp_path_factory.mktemp("examples") / "index") as library:
        report = library.index([EXAMPLES])
        assert not report.failed
        yield library


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Library]:
    """An empty library beside an empty folder ``docs``."""
    (tmp_path / "docs").mkdir()
    with Library(tmp_path / "index") as library:
        yield library


@pytest.fixture(scope="session")
def tiny_reranker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small cross-encoder that scores what words a query and a text share."""
    pytest.importorskip("onnx")
    from scripts.build_tiny_reranker import build

    return build(tmp_path_factory.mktemp("tiny-reranker"))
