"""Ask a library with other settings than its own, and read off what came back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loccit import Library, SearchSettings, Settings
from loccit.model import SearchResponse

# Everything that looks beyond the passage itself.
SURROUNDINGS = ("hierarchy", "smoothing", "graph", "recency")


def ask(library: Library, query: str, *, options: Any = None, **settings: Any) -> SearchResponse:
    """Search with some settings; ``options`` go to ``Library.search`` itself."""
    before = library.settings
    try:
        library.settings = Settings(search=SearchSettings(**settings))
        return library.search(query, explain=True, **(options or {}))
    finally:
        library.settings = before


def files(response: SearchResponse) -> list[str]:
    """The names of the files of the results, without their endings, best first."""
    return [Path(result.source_path).stem for result in response.results]


def ids(response: SearchResponse) -> list[str]:
    """What was found, best first."""
    return [result.chunk_id for result in response.results]


def scored(response: SearchResponse) -> list[tuple[str, float]]:
    """What was found, and with which score."""
    return [(result.chunk_id, result.fused_score) for result in response.results]


def write(folder: Path, texts: dict[str, str]) -> Path:
    """Write documents and return their folder."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
