"""A library that is quick to fill."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ingest.fakes import InlineSandbox, WordEmbedder

from loccit import Library


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files in this process."""
    monkeypatch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


@pytest.fixture
def library(tmp_path: Path, quick: None) -> Iterator[Library]:
    with Library(tmp_path / "index", embedder=WordEmbedder()) as opened:
        yield opened
