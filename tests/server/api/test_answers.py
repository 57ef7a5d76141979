"""Every operation answers with the fields of the Python results, and ids in place of paths."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.server.api.conftest import get
from tests.server.conftest import index_registry, served

from loccit import Library
from loccit.model import DocumentInfo
from loccit.server.api.citing import cite_place


def test_a_search_answers_as_the_library_does(
    client: TestClient, docs: dict[str, str], api_index: Path
) -> None:
    found = get(client, "/api/search", q="report a collision", top_k=3, explain=1)
    with Library(api_index / ".loccit", create=False) as library:
        expected = library.search("report a collision", top_k=3, explain=True).to_dict()
    first = found["results"][0]
    assert first["doc"] == docs["act.md"]
    assert first["section_id"] == "sec_21"
    assert set(first) == {*expected["results"][0], "doc"}
    assert set(found) == set(expected)
    assert [item["chunk_id"] for item in found["results"]] == [
        item["chunk_id"] for item in expected["results"]
    ]
    posted = client.post("/api/search", json={"q": "report a collision", "top_k": 3, "explain": True}).json()
    assert posted["results"] == found["results"]


def test_a_search_in_one_document_or_with_filters(client: TestClient, docs: dict[str, str]) -> None:
    inside = get(client, "/api/search", q="vessel", doc=docs["notes.md"])
    assert {item["doc"] for item in inside["results"]} == {docs["notes.md"]}
    filtered = get(client, "/api/search", q="vessel", filters=json.dumps({"type": "pdf"}))
    assert {item["doc"] for item in filtered["results"]} <= {docs["report.pdf"]}


def test_the_reader_gets_a_document_whole(client: TestClient, docs: dict[str, str]) -> None:
    act = get(client, "/api/document", doc=docs["act.md"])
    text = act["text"]
    assert text.startswith("# Harbour Act")
    sections = {item["section_id"]: item for item in act["sections"]}
    assert text[sections["sec_21"]["start"] :].startswith("### Section 21. Duty")
    assert sections["sec_21"]["parent"] == "chapter_2"
    assert [item["label"] for item in act["clauses"]][:2] == ["Section 11(a)", "Section 11(b)"]
    (reference, *_) = act["references"]
    assert text[reference["start"] : reference["end"]] == "section 11(b)"
    assert (reference["doc"], reference["target_section"]) == (docs["act.md"], "sec_11_b")
    assert reference["target_label"] == "Section 11(b)"
    back = {
        (item["from_doc"], item["from_section"], item["target_section"]) for item in act["back_references"]
    }
    assert (docs["act.md"], "sec_21_b", "sec_11_b") in back
    assert (docs["notes.md"], "reports", "sec_21") in back
    meanings = act["definitions"]
    terms = [item for item in act["terms"] if meanings[item["definition"]]["term"] == "vessel"]
    assert terms and all(text[item["start"] : item["end"]].lower() == "vessel" for item in terms)
    (number,) = {item["definition"] for item in terms}
    assert meanings[number]["conflict"]
    assert (meanings[number]["source_doc"], meanings[number]["source_section"]) == (docs["act.md"], "sec_10")
    first, last = meanings[number]["lines"]
    assert meanings[number]["definition"] in "\n".join(text.split("\n")[first - 1 : last])


def test_offsets_can_be_counted_as_javascript_does(client: TestClient, docs: dict[str, str]) -> None:
    plain = get(client, "/api/document", doc=docs["notes.md"])
    wide = get(client, "/api/document", doc=docs["notes.md"], offsets="utf16")
    units = plain["text"].encode("utf-16-le")
    pairs = list(zip(plain["references"], wide["references"], strict=True))
    assert any(one["start"] != other["start"] for one, other in pairs)
    for one, other in pairs:
        assert plain["text"][one["start"] : one["end"]] == one["text"]
        assert units[2 * other["start"] : 2 * other["end"]].decode("utf-16-le") == one["text"]


@pytest.mark.parametrize("offsets", ["characters", "utf16"])
def test_terms_can_be_asked_for_after_the_text(
    client: TestClient, docs: dict[str, str], offsets: str
) -> None:
    for name in ("act.md", "notes.md"):
        whole = get(client, "/api/document", doc=docs[name], offsets=offsets)
        text = get(client, "/api/document", doc=docs[name], offsets=offsets, without_terms="1")
        terms = get(client, "/api/terms", doc=docs[name], offsets=offsets)
        assert "terms" not in text and "definitions" not in text
        assert text["generation"] == terms["generation"]
        assert whole == {**text, **terms}
        # Each definition is given once.
        said = [(item["source_doc"], item["term"], *item["lines"]) for item in terms["definitions"]]
        assert len(said) == len(set(said)) == len({item["definition"] for item in terms["terms"]})


def test_a_document_that_the_client_has_is_not_sent_again(client: TestClient, docs: dict[str, str]) -> None:
    for path, params in (
        ("/api/document", {"doc": docs["act.md"]}),
        ("/api/terms", {"doc": docs["act.md"]}),
        ("/api/documents", {}),
        ("/api/map", {}),
        ("/api/outline", {"doc": docs["act.md"]}),
        ("/api/page_image", {"doc": docs["report.pdf"], "page": "1"}),
    ):
        etag = client.get(path, params=params).headers["etag"]
        again = client.get(path, params=params, headers={"If-None-Match": f'"other", {etag}'})
        assert (again.status_code, again.content) == (304, b"")
    other = client.get("/api/document", params={"doc": docs["notes.md"]}, headers={"If-None-Match": etag})
    assert other.status_code == 200


def test_sections_terms_outlines_and_references(client: TestClient, docs: dict[str, str]) -> None:
    section = get(client, "/api/section", ref="Section 21(b)", doc=docs["act.md"])
    assert section["section_id"] == "sec_21_b" and section["doc"] == docs["act.md"]
    meaning = get(client, "/api/define", term="vessel")
    assert meaning["conflict"]
    assert {item["definition"]["doc"] for item in meaning["definitions"]} == {
        docs["act.md"],
        docs["notes.md"],
    }
    (outline,) = get(client, "/api/outline", doc=docs["act.md"], clauses=1)["outlines"]
    assert outline["doc"] == docs["act.md"] and outline["nodes"][0]["heading"] == "Harbour Act"
    assert len(get(client, "/api/outline")["outlines"]) == 3
    followed = get(client, "/api/references", ref="sec_21", doc=docs["act.md"])
    assert followed["doc"] == docs["act.md"]
    assert {item["doc"] for item in followed["cited_by"]} == {docs["act.md"], docs["notes.md"]}
    assert followed["cites"][0]["reference"]["doc"] == docs["act.md"]
    ids = [followed["section"]["place_id"], section["place_id"]]
    both = get(client, "/api/references", ref=" ".join(ids))
    (other,) = both.pop("also")
    assert both == get(client, "/api/references", ref=ids[0])
    assert other == get(client, "/api/references", ref=ids[1])


def test_suggestions_as_one_types(client: TestClient, docs: dict[str, str]) -> None:
    def kinds(typed: str) -> list[tuple[str, str]]:
        found = get(client, "/api/suggest", q=typed)["suggestions"]
        assert all(set(item) == {"text", "kind", "doc", "section_id", "detail"} for item in found)
        return [(item["text"], item["kind"]) for item in found]

    assert ("vessel", "term") in kinds("VES")
    assert ("Harbour Act", "title") in kinds("harb")
    assert ("Section 21", "label") in kinds("section 2")
    assert ("Duty to report occurrences", "label") in kinds("occurr")
    assert kinds("xyzzy") == []
    assert len(get(client, "/api/suggest", q="s", limit=2)["suggestions"]) == 2


def test_the_map_of_the_library_and_of_a_document(client: TestClient, docs: dict[str, str]) -> None:
    whole = get(client, "/api/map")
    assert {item["doc"] for item in whole["documents"]} == set(docs.values())
    assert {"from": docs["notes.md"], "to": docs["act.md"], "count": 2} in whole["links"]
    inside = get(client, "/api/map", doc=docs["act.md"])
    assert {"from_section": "sec_22", "to_doc": docs["act.md"], "to_section": "sec_21", "count": 1} in inside[
        "links"
    ]
    assert [item["parent"] for item in inside["sections"]][:3] == [None, "harbour_act", "chapter_1"]


def test_citations(client: TestClient, docs: dict[str, str]) -> None:
    def cite(**params: str) -> str:
        return str(get(client, "/api/cite", **params)["citation"])

    assert (
        cite(doc=docs["act.md"], section_id="sec_21_b", lines="23") == "Harbour Act, Section 21(b), line 23"
    )
    # The heading is a sentence; its full stop is not one of the citation.
    info = DocumentInfo("a.md", "Rules", "md", "en", "", 1, 0, 9, "", "")
    assert cite_place(info, "1.1 Fees are due.", "lines 3–4", "plain") == "Rules, 1.1 Fees are due, lines 3–4"
    assert cite_place(info, "1.1 Fees are due.", "", "plain") == "Rules, 1.1 Fees are due."
    assert cite(doc=docs["report.pdf"], pages="3", style="markdown").endswith("2025*, p. 3")
    assert cite(doc=docs["notes.md"]) == "A. Ferrer, Harbour notes (2024)"
    entry = cite(doc=docs["notes.md"], section_id="reports", style="bibtex")
    assert entry.startswith("@misc{Ferrer2024,\n")
    assert "  author = {A. Ferrer}," in entry and "  year = {2024}," in entry
    assert client.get("/api/cite", params={"doc": docs["act.md"], "section_id": "nothing"}).status_code == 404


def test_results_as_files(client: TestClient, docs: dict[str, str]) -> None:
    def export(kind: str) -> tuple[str, str]:
        answer = client.get("/api/export", params={"q": "=vessel", "format": kind, "top_k": 2})
        assert answer.status_code == 200
        return answer.headers["content-disposition"], answer.content.decode("utf-8-sig")

    name, table = export("csv")
    assert name == 'attachment; filename="vessel.csv"'
    rows = list(csv.DictReader(io.StringIO(table)))
    assert rows[0]["doc"] in docs.values() and not any(row["content"].startswith("=") for row in rows)
    assert json.loads(export("json")[1])["results"][0]["doc"] in docs.values()
    assert export("markdown")[1].startswith("# =vessel\n")


def test_a_page_of_a_pdf_as_a_picture(client: TestClient, docs: dict[str, str]) -> None:
    answer = client.get("/api/page_image", params={"doc": docs["report.pdf"], "page": 2, "width": 300})
    assert answer.headers["content-type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG") and answer.content[16:20] == (300).to_bytes(4, "big")
    for params in ({"doc": docs["report.pdf"], "page": "99"}, {"doc": docs["act.md"], "page": "1"}):
        assert client.get("/api/page_image", params=params).status_code == 404


def test_a_file_that_has_changed_has_no_pictures(api_index: Path, docs: dict[str, str]) -> None:
    path = api_index / "documents" / "report.pdf"
    before = path.read_bytes()
    question = {"doc": docs["report.pdf"], "page": "1"}
    with served(index_registry(api_index)) as address:
        import httpx

        try:
            path.write_bytes(before[:-1] + b"x")
            assert httpx.get(f"{address}/api/page_image", params=question, timeout=60).status_code == 409
            path.unlink()
            assert httpx.get(f"{address}/api/page_image", params=question, timeout=60).status_code == 409
        finally:
            path.write_bytes(before)
        assert httpx.get(f"{address}/api/page_image", params=question, timeout=60).status_code == 200


def test_status_health_and_readiness(client: TestClient) -> None:
    status = get(client, "/api/status")
    (library,) = status["libraries"]
    assert library["name"] == "library" and library["documents"] == 3 and not library["problem"]
    assert library["generation"] > 0 and status["write"] is False
    get(client, "/api/search", q="vessel")
    assert get(client, "/ready")["status"] == "ready"
    assert get(client, "/health")["status"] == "ok"


@pytest.mark.parametrize("path", ["/api/search", "/api/status", "/api/documents"])
def test_without_an_index_the_server_says_so(tmp_path: Path, path: str) -> None:
    from loccit.server.http import build_app

    registry = index_registry(tmp_path)
    with TestClient(build_app(registry), base_url="http://127.0.0.1") as client:
        assert client.get("/ready").status_code == 503
        answer = client.get(path, params={"q": "x"} if path == "/api/search" else {})
        if path == "/api/status":
            assert "no index" in answer.json()["libraries"][0]["problem"]
        else:
            assert answer.status_code == 503 and str(tmp_path) not in answer.text
    registry.close()


def test_long_answers_are_packed(client: TestClient, docs: dict[str, str]) -> None:
    packed: Any = client.get(
        "/api/document", params={"doc": docs["report.pdf"]}, headers={"Accept-Encoding": "gzip"}
    )
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < len(packed.content)
    plain = client.get(
        "/api/document", params={"doc": docs["report.pdf"]}, headers={"Accept-Encoding": "identity"}
    )
    assert "content-encoding" not in plain.headers and plain.json() == packed.json()
