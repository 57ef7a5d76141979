from __future__ import annotations

import pytest

from loccit.models.embedding import Embedder, load_embedder


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """The bundled model, loaded once."""
    return load_embedder()
