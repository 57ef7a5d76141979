"""Complete lists, quotations and comparisons over HTTP, on a socket, with the fields of the Python results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.server.api.conftest import detail

from loccit import Library


@pytest.fixture
def http(address: str) -> httpx.Client:
    return httpx.Client(base_url=address)


def get(http: httpx.Client, path: str, **params: Any) -> Any:
    answer = http.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def without_ids(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_ids(item) for name, item in value.items() if not name.endswith("doc")}
    return [without_ids(item) for item in value] if isinstance(value, (list, tuple)) else value


def test_every_place_in_pages(http: httpx.Client, docs: dict[str, str], api_index: Path) -> None:
    with Library(api_index / ".loccit", create=False) as library:
        expected = library.find_all("vessel")
    whole = get(http, "/api/find_all", pattern="vessel")
    assert without_ids(whole) == without_ids(expected.to_dict()) and expected.total == 3
    assert {hit["doc"] for hit in whole["hits"]} <= set(docs.values())
    hits, cursor = [], ""
    while True:
        page = get(http, "/api/find_all", pattern="vessel", limit=2, **({"cursor": cursor} if cursor else {}))
        assert page["total"] == expected.total
        hits += page["hits"]
        cursor = page["cursor"]
        if not cursor:
            break
    assert hits == whole["hits"]
    inside = get(http, "/api/find_all", pattern="means a boat", doc=docs["notes.md"])
    assert [hit["doc"] for hit in inside["hits"]] == [docs["notes.md"]]
    posted = http.post("/api/find_all", json={"pattern": r"\bmeans?\b", "kind": "regex", "match_case": True})
    assert posted.status_code == 200 and posted.json()["total"]


def test_what_cannot_be_looked_for_is_refused(http: httpx.Client) -> None:
    cursor = get(http, "/api/find_all", pattern="vessel", limit=1)["cursor"]
    assert "another query" in detail(
        http.get("/api/find_all", params={"pattern": "ship", "cursor": cursor}), 422
    )
    assert "RE2" in detail(http.get("/api/find_all", params={"pattern": "(", "kind": "regex"}), 422)
    assert "quotations" in detail(http.post("/api/verify_quotes", json={}), 422)
    assert "1 to 1000 items" in detail(http.post("/api/verify_quotes", json={"quotations": []}), 400)
    detail(http.get("/api/compare", params={"old": "nothing", "new": "nothing"}), 404)
    assert "one of" in detail(http.get("/api/obligations", params={"kind": "wish"}), 400)


def test_quotations(http: httpx.Client, docs: dict[str, str]) -> None:
    line = get(http, "/api/find_all", pattern="means a boat")["hits"][0]["text"]
    answer = http.post("/api/verify_quotes", json={"quotations": [line, "zebras are fed twice a day"]})
    report = answer.json()
    assert (report["ok"], report["exact"], report["absent"]) == (False, 1, 1)
    assert report["checks"][0]["places"][0]["doc"] == docs["notes.md"]
    text = http.post("/api/verify_quotes", json={"text": f"It says “{line}”."}).json()
    assert text["ok"] and text["exact"] == 1
    cited = [f"“{line}” (notes.md)", f"“{line}” (act.md)"]
    report = http.post("/api/verify_quotes", json={"quotations": cited}).json()
    assert [check["cited_place"] for check in report["checks"]] == ["right", "elsewhere"]
    assert report["misplaced"] == 1


def test_comparisons_and_obligations(http: httpx.Client, docs: dict[str, str], api_index: Path) -> None:
    same = get(http, "/api/compare", old=docs["act.md"], new=docs["act.md"])
    assert not same["differences"] and same["same"] and same["old_doc"] == docs["act.md"]
    other = get(http, "/api/compare", old=docs["act.md"], new=docs["notes.md"])
    assert other["removed"] and {
        place["doc"] for item in other["differences"] for place in (item["old"], item["new"]) if place
    } == {docs["act.md"], docs["notes.md"]}
    with Library(api_index / ".loccit", create=False) as library:
        expected = library.obligations(limit=2)
    found = get(http, "/api/obligations", limit=2)
    assert without_ids(found) == without_ids(expected.to_dict()) and found["total"] > 2
    rest = get(http, "/api/obligations", limit=1000, offset=found["next_offset"], doc=docs["act.md"])
    assert {row["doc"] for row in rest["rows"]} == {docs["act.md"]}
