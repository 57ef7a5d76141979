"""Searches until a file appears: ``searching.py INDEX STOP``; any error ends it."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.ingest.fakes import MODES, WordEmbedder

from loccit import Library
from loccit.errors import NotFoundError


def main() -> None:
    index, stop = sys.argv[1:]
    most = searches = 0
    with Library(index, embedder=WordEmbedder()) as library:
        while True:
            last = Path(stop).exists()
            for mode in MODES:
                most = max(most, len(library.search("zebra", mode=mode, top_k=100).results))
                library.search('"the zebra"', mode=mode)
            with suppress(NotFoundError):
                library.section("Section 1")
            library.outline()
            library.status()
            searches += 1
            if last:
                break
    print(most, searches)


if __name__ == "__main__":
    main()
