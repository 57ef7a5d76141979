"""What a model is shown of results: where each stands, in few words."""

from __future__ import annotations

import re
from pathlib import Path

from tests.search.asking import write

from loccit import Library
from loccit.model import Elsewhere, SearchResponse, SearchResult


def heads(response: SearchResponse) -> list[str]:
    """The lines that say where passages stand."""
    return re.findall(r"^\w{4,}(\[\d[\d ]*\] .*)$", response.format(), re.MULTILINE)


def test_a_document_that_was_named_above_is_not_named_again(small: Library, tmp_path: Path) -> None:
    filler = "Nobody swims here at night. " * 20
    texts = {
        "rules-of-the-harbour-and-its-ferries.md": f"# Rules\n\n## Lantern of the lantern\n\nThe lantern burns.\n\n"
        f"## Night\n\n{filler}\n\n## Keys\n\n{filler} A lantern has a key.\n",
        "orders-of-the-harbour-and-its-ferries.md": "# Orders\n\n## Lantern\n\nClean the lantern each and every day.\n",
    }
    write(tmp_path / "docs", texts)
    small.index([tmp_path / "docs"], embed=False)
    found = small.search("lantern", mode="keyword", top_k=3)
    assert [Path(result.source_path).name[:5] for result in found.results] == ["rules", "order", "rules"]
    first, second, third = heads(found)
    assert first.startswith(f"[1] {found.results[0].source_path}, ")
    assert second.startswith(f"[2] {found.results[1].source_path}, ")
    assert third.startswith("[3] document of [1], ")


def test_the_same_text_elsewhere_is_given_by_a_document_that_was_named() -> None:
    long, other = "orders-for-the-whole-of-the-harbour.md", "rules-for-the-whole-of-the-harbour.md"
    first = SearchResult(1, f"{long}#1", "Oil the chains.", 1.0, long, [], "")
    second = SearchResult(
        2,
        f"{other}#1",
        "Drop the anchor.",
        1.0,
        other,
        [],
        "",
        also_in=[Elsewhere(f"{long}#2", long, "Anchors")],
    )
    assert (
        "Also in: document of [1] Anchors\n" in SearchResponse("q", "hybrid", [first, second], 0.5).format()
    )
    assert f"Also in: {long} Anchors\n" in SearchResponse("q", "hybrid", [second, first], 0.5).format()
    assert f"Also in: {long} Anchors\n" in second.format()
