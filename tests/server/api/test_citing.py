"""Citing with a fingerprint: the lines are those where the words stand now, and words that are gone are not cited."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.server.api.conftest import detail, get
from tests.server.conftest import ACT, index_registry

from loccit import Library
from loccit.server.api.fingerprints import find_text, fingerprint
from loccit.server.http import build_app

EXAMPLES = Path(__file__).parents[3] / "examples"
PASSAGE = "(a) The Authority shall appoint a Harbour Master for each harbour."


@pytest.fixture
def library(tmp_path: Path) -> Iterator[tuple[TestClient, Callable[[str], None]]]:
    """A server, and what changes its act."""
    (tmp_path / "docs").mkdir()

    def write(text: str) -> None:
        (tmp_path / "docs" / "act.md").write_text(text, encoding="utf-8")
        with Library(tmp_path / ".loccit") as library:
            assert not library.index(tmp_path / "docs").failed

    write(ACT)
    with TestClient(build_app(index_registry(tmp_path)), base_url="http://127.0.0.1") as client:
        yield client, write


def _doc(client: TestClient) -> str:
    return str(get(client, "/api/documents")["documents"][0]["id"])


def test_it_follows_the_words(library: tuple[TestClient, Callable[[str], None]]) -> None:
    client, write = library
    asked: dict[str, Any] = {
        "doc": _doc(client),
        "section_id": "sec_11",
        "lines": "13",
        "text": fingerprint(PASSAGE),
    }
    assert get(client, "/api/cite", **asked)["citation"] == "Harbour Act, Section 11(a), line 13"
    write(ACT.replace("## CHAPTER 1", "New.\n\nLines.\n\n## CHAPTER 1"))
    found = get(client, "/api/cite", **asked)
    assert found["citation"] == "Harbour Act, Section 11(a), line 17"
    address = urlsplit(found["address"])
    assert address.path == "/read"
    parts = {name: value for name, (value,) in parse_qs(address.query).items()}
    assert (parts["doc"], parts["lines"], parts["text"]) == (asked["doc"], "17-17", asked["text"])
    assert get(client, "/api/section", ref=parts["place"])["section_id"] == "sec_11_a"
    # The words are in another section now, and are cited from there.
    write(
        ACT.replace(PASSAGE, "(a) Nothing.").replace(
            "### Section 22. Closure\n", f"### Section 22. Closure\n\n{PASSAGE}\n"
        )
    )
    assert get(client, "/api/cite", **asked)["citation"] == "Harbour Act, Section 22(a), line 27"
    write(ACT.replace("each harbour", "every harbour"))
    assert "no longer in the document" in detail(client.get("/api/cite", params=asked), 409)


def test_lines_of_another_section_are_refused(library: tuple[TestClient, Callable[[str], None]]) -> None:
    client, _ = library
    asked = {"doc": _doc(client), "section_id": "sec_11", "lines": "19-23"}
    said = detail(client.get("/api/cite", params=asked), 409)
    assert said == "Lines 19–23: not in Section 11, which has lines 11–15 now. Read it again."


def test_paragraphs_of_a_word_document(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    shutil.copy(EXAMPLES / "service-agreement.docx", tmp_path / "docs")
    with Library(tmp_path / ".loccit") as library:
        assert not library.index(tmp_path / "docs").failed
    with TestClient(build_app(index_registry(tmp_path)), base_url="http://127.0.0.1") as client:
        result = get(client, "/api/search", q="clause 4.2(a)", top_k=1)["results"][0]
        first, last = result["lines"]
        asked = {
            "doc": result["doc"],
            "section_id": result["section_id"],
            "lines": "1",
            "text": fingerprint(result["content"]),
        }
        assert first == last
        assert get(client, "/api/cite", **asked)["citation"].endswith(f"paragraph {first}")


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), max_size=30),
    st.data(),
)
def test_what_is_fingerprinted_is_found(parts: list[str], data: st.DataObject) -> None:
    text = " ".join(parts)
    start = data.draw(st.integers(0, len(parts)))
    piece = " ".join(parts[start : data.draw(st.integers(start, len(parts)))])
    mark = fingerprint(piece)
    if mark:
        assert any(fingerprint(text[at:end]) == mark for at, end in find_text(text, mark))
        assert find_text(text, fingerprint(piece + " unheard")) == []


def test_a_selection_is_quoted_with_its_range(library: tuple[TestClient, Callable[[str], None]]) -> None:
    client, write = library
    text = ACT.replace("## CHAPTER 1", "😀\n\n## CHAPTER 1")
    write(text)
    doc = _doc(client)
    generation = get(client, "/api/document", doc=doc)["generation"]
    start = text.index("appoint a")
    end = text.index("\n", text.index("(b)"))
    found = get(client, "/api/cite", doc=doc, start=start, end=end, generation=generation)
    assert found["quotation"].startswith("“appoint a Harbour Master for each harbour.\n(b) ")
    assert found["citation"].startswith("Harbour Act, Section 11(a)–(b), lines 15–17")
    # JavaScript counts the picture twice.
    assert get(client, "/api/cite", doc=doc, start=start + 1, end=end + 1, offsets="utf16") == found
    address = {name: value for name, (value,) in parse_qs(urlsplit(found["address"]).query).items()}
    assert (
        get(client, "/api/cite", doc=doc, text=address["text"], lines=address["lines"])["citation"]
        == found["citation"]
    )
    copy = f"{found['quotation']}\n{found['citation']}\nhttp://127.0.0.1{found['address']}"
    report = client.post("/api/verify_quotes", json={"text": copy}).json()
    assert report["ok"] and [check["cited_place"] for check in report["checks"]] == ["right"]
    # The library has changed since: the words are cited from where they are now, or not at all.
    write("New.\n\n" + text)
    asked: dict[str, Any] = {"doc": doc, "start": start, "end": end, "generation": generation}
    again = get(client, "/api/cite", **asked, text=fingerprint(text[start:end]))
    assert again["quotation"].rstrip(".”") == found["quotation"].rstrip(".”") and again[
        "citation"
    ].startswith("Harbour Act, Section 11(a)–(b), lines 17–")
    assert "changed" in detail(client.get("/api/cite", params=asked), 409)


@pytest.mark.parametrize(("start", "end"), [(5, None), (None, 5), (9, 9), (9, 3)])
def test_half_a_selection_is_refused(
    library: tuple[TestClient, Callable[[str], None]], start: int | None, end: int | None
) -> None:
    client, _ = library
    given = {name: value for name, value in (("start", start), ("end", end)) if value is not None}
    assert "start and end" in detail(client.get("/api/cite", params={"doc": _doc(client), **given}), 422)
