from __future__ import annotations

import pytest

from loccit.models.embedding import Embedder, load_embedder


@pytest.fixture(scope="session")
def bundled() -> Embedder:
    return load_embedder()
