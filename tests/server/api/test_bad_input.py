"""Whatever comes in, the answer is the right status and a plain sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient
from tests.server.api.conftest import detail
from tests.server.conftest import index_registry, served

from loccit.server.guard import Rate
from loccit.server.http import Limits, build_app

BAD = [
    ("/api/search", 400, "q is missing"),
    ("/api/search?q=", 400, "q is empty"),
    ("/api/search?q=%20%09", 400, "q is empty"),
    (f"/api/search?q={'x' * 10001}", 400, "at most 10000"),
    ("/api/search?q=x&q=y", 400, "more than once"),
    ("/api/search?q=x&top_k=0", 400, "between 1 and 100"),
    ("/api/search?q=x&top_k=101", 400, "between 1 and 100"),
    ("/api/search?q=x&top_k=ten", 400, "whole number"),
    ("/api/search?q=x&top_k=%D9%A3", 400, "whole number"),
    ("/api/search?q=x&mode=magic", 400, "one of hybrid"),
    ("/api/search?q=x&explain=yes", 400, "1 or 0"),
    ("/api/search?q=x&filters=%5B1", 400, "not JSON"),
    ("/api/search?q=x&filters=%5B1%5D", 400, "type object"),
    ("/api/search?q=x&filters=NaN", 400, "not JSON"),
    (f"/api/search?q=x&filters={'[' * 1500}", 400, "not JSON"),
    ("/api/search?q=x&filters=" + '{"a":' * 30 + "1" + "}" * 30, 400, "nested"),
    ('/api/search?q=x&filters={"type":[]}', 400, "each name"),
    ('/api/search?q=x&filters={"type":{"a":1}}', 400, "each name"),
    ('/api/search?q=x&filters={"date":"soon"}', 422, "not a date"),
    ("/api/status?library=x", 400, "There is no parameter 'library' here."),
    ("/api/search?q=x&colour=red", 400, "no parameter 'colour'"),
    ("/api/search?q=x&library=other", 404, "no library"),
    ("/api/search?q=x&doc=0123456789abcdef", 404, "no document"),
    ("/api/document", 400, "doc is missing"),
    ("/api/document?doc=0123456789abcdef", 404, "no document"),
    ("/api/document?doc=../../../etc/passwd", 404, "no document"),
    ("/api/document?doc=/etc/passwd", 404, "no document"),
    ("/api/document?doc=act.md", 404, "no document"),
    ("/api/document?doc=%00", 422, "doc must not contain the character NUL"),
    ("/api/document?doc=act.md", 404, "/api/documents lists the documents."),
    ("/api/section?ref=Section+999", 404, "Section 999"),
    ("/api/section?ref=Section+999", 404, "/api/outline shows the headings of a document."),
    ("/api/section?ref=x&doc=act.md", 404, "no document"),
    ("/api/define?term=unheard", 404, "unheard"),
    ("/api/references?ref=Section+999", 404, "Section 999"),
    ("/api/outline?doc=act.md", 404, "no document"),
    ("/api/map?doc=act.md", 404, "no document"),
    ("/api/cite?doc=act.md", 404, "no document"),
    ("/api/cite?doc=x&lines=3-x", 400, "malformed"),
    ("/api/cite?doc=x&style=apa", 400, "one of plain"),
    ("/api/export?q=x&format=exe", 400, "one of csv"),
    ("/api/page_image?doc=act.md&page=1", 404, "no document"),
    ("/api/page_image?doc=x&page=0", 400, "between 1"),
    ("/api/suggest", 400, "q is missing"),
    ("/api/nothing", 404, "nothing at this address"),
    ("/api/", 404, "nothing at this address"),
]


@pytest.mark.parametrize(("address", "status", "words"), BAD, ids=[item[0][:50] for item in BAD])
def test_the_answer_says_what_is_wrong(client: TestClient, address: str, status: int, words: str) -> None:
    assert words in detail(client.get(address), status)


def test_a_method_that_is_not_there(client: TestClient) -> None:
    for method, path in (
        ("DELETE", "/api/search"),
        ("POST", "/api/document"),
        ("PUT", "/"),
        ("TRACE", "/api/index"),
    ):
        answer = client.request(method, path)
        detail(answer, 405)
        assert "GET" in answer.headers["allow"]
    allowed = client.request("DELETE", "/api/search").headers["allow"]
    assert {"GET", "POST"} <= set(allowed.split(", "))


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"{", 400, "not JSON"),
        (b"[]", 400, "JSON object"),
        (b"", 400, "not JSON"),
        (b"\xff\xfe", 400, "not JSON"),
        (b"[" * 60_000, 400, "not JSON"),
        (b'{"q": 5}', 400, "type string"),
        (b'{"q": "x", "top_k": true}', 400, "type integer"),
        (b'{"q": "x", "top_k": 1.5}', 400, "type integer"),
        (b'{"q": "x", "more": 1}', 400, "no parameter"),
        (b'{"q": "' + b"x" * 270_000 + b'"}', 413, "too large"),
    ],
)
def test_a_bad_body(client: TestClient, body: bytes, status: int, words: str) -> None:
    answer = client.post("/api/search", content=body, headers={"Content-Type": "application/json"})
    assert words in detail(answer, status)


def test_a_body_must_say_that_it_is_json(client: TestClient) -> None:
    # A form of a foreign page can send other types without asking first.
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = client.post("/api/search", content=b'{"q": "x"}', headers={"Content-Type": kind})
        detail(answer, 415)
    lone = client.post(
        "/api/search", content=b'{"q": "vessel \\ud800"}', headers={"Content-Type": "application/json"}
    )
    assert "q must not contain half of a surrogate pair" in detail(lone, 422)


def test_a_body_without_a_length_is_cut_off_too(address: str) -> None:
    def endless() -> Iterator[bytes]:
        yield b'{"q": "'
        for _ in range(300):
            yield b"x" * 1024

    answer = httpx.post(
        f"{address}/api/search",
        content=endless(),
        headers={"Content-Type": "application/json"},
    )
    assert "too large" in detail(answer, 413)


def test_strangers_are_refused(api_index: Path) -> None:
    registry = index_registry(api_index, write=True)
    app = build_app(registry, host="0.0.0.0", token="s3cret", allowed_hosts=["docs.example"])
    with TestClient(app, base_url="http://docs.example") as client:
        for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic s3cret"}):
            for path in ("/api/status", "/api/openapi.json", "/api/nothing", "/mcp"):
                answer = client.get(path, headers=given)
                detail(answer, 401)
                assert answer.headers["www-authenticate"] == "Bearer"
            detail(client.post("/api/index", json={}, headers=given), 401)
        known = {"Authorization": "Bearer s3cret"}
        assert client.get("/api/status", headers=known).status_code == 200
        detail(client.get("/api/status", headers={**known, "Host": "evil.example"}), 421)
        detail(client.get("/api/status", headers={**known, "Origin": "https://evil.example"}), 403)
        for path in ("/", "/read", "/map", "/overview", "/static/js/app.js", "/health", "/ready"):
            assert client.get(path).status_code in (200, 503), path
            assert client.get(path, headers={"Host": "evil.example"}).status_code == 421
    registry.close()


def test_a_client_that_runs_wild_is_slowed_down(api_index: Path) -> None:
    registry = index_registry(api_index)
    app = build_app(registry, limits=Limits(per_second=0.01, burst=3))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert [client.get("/api/status").status_code for _ in range(3)] == [200] * 3
        answer = client.get("/api/status")
        detail(answer, 429)
        assert int(answer.headers["retry-after"]) >= 1
        assert client.get("/health").status_code == 200 and client.get("/").status_code == 200
    registry.close()


def test_the_rate_is_counted_for_each_address() -> None:
    now = [0.0]
    rate = Rate(2.0, 2, clock=lambda: now[0])
    assert [rate.wait("a"), rate.wait("a")] == [0, 0]
    assert rate.wait("a") == pytest.approx(0.5)
    assert rate.wait("b") == 0
    now[0] = 0.5
    assert rate.wait("a") == 0 and rate.wait("a") > 0
    assert Rate(0, 0).wait("a") == 0


def test_many_connections_are_all_answered(api_index: Path) -> None:
    async def ask(address: str) -> list[int]:
        limits = httpx.Limits(max_connections=200)
        async with httpx.AsyncClient(limits=limits, timeout=120) as client:
            answers = await asyncio.gather(
                *(client.get(f"{address}/api/search", params={"q": f"vessel {n % 7}"}) for n in range(120))
            )
            alive = await client.get(f"{address}/health")
        assert alive.status_code == 200
        return [answer.status_code for answer in answers]

    with served(index_registry(api_index)) as address:
        assert set(asyncio.run(ask(address))) <= {200, 503}
