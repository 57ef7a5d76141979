"""A run that stops before its first vector until a file appears: ``held.py INDEX DOCS GO``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.ingest.fakes import WordEmbedder, read_here

from loccit import Library
from loccit.ingest import pipeline


def main() -> None:
    index, docs, go = sys.argv[1:]

    def wait() -> None:
        while not Path(go).exists():
            time.sleep(0.01)

    pipeline._EMBED_WINDOW = 4
    pipeline._KEYWORD_SECONDS = pipeline._VECTOR_SECONDS = 0.0
    read_here()
    with Library(index, embedder=WordEmbedder(before=wait)) as library:
        library.index(docs)


if __name__ == "__main__":
    main()
