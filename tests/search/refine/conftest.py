from __future__ import annotations

from collections.abc import Iterator

import pytest

from loccit import Library
from loccit.index.folder.index import EmbeddedIndex


@pytest.fixture
def opened(small: Library) -> Iterator[EmbeddedIndex]:
    """The index of the small library, opened a second time."""
    index = EmbeddedIndex(small.path, create=False)
    yield index
    index.close()
