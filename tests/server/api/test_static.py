"""The page is served from the package, packed, revalidated, and locked up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.server.api.conftest import detail

from loccit.server.static import CONTENT_SECURITY_POLICY, FOLDER, Page


def test_every_view_is_the_same_page(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200 and page.headers["content-type"] == "text/html; charset=utf-8"
    for address in ("/read?doc=x&section=y", "/map", "/overview", "/?q=vessel&mode=keyword"):
        assert client.get(address).content == page.content
    assert page.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert "unsafe" not in CONTENT_SECURITY_POLICY and "default-src 'none'" in CONTENT_SECURITY_POLICY
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"


def test_what_the_page_loads_is_there(client: TestClient) -> None:
    names = re.findall(r'(?:src|href)="(/static/[^"]+)"', client.get("/").text)
    assert names
    for name in names:
        answer = client.get(name)
        assert answer.status_code == 200, name
        again = client.get(name, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_files_are_packed(client: TestClient) -> None:
    answer = client.get("/static/js/app.js", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.text == (FOLDER / "js" / "app.js").read_text(encoding="utf-8")
    assert "content-encoding" not in client.get("/", headers={"Accept-Encoding": "identity"}).headers


@pytest.mark.parametrize(
    "name",
    [
        "../static.py",
        "%2e%2e/static.py",
        "..%2fstatic.py",
        "js/%2e%2e/%2e%2e/static.py",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "js",
        "js/",
        ".hidden.js",
        "%00.js",
        "js%5c..%5capp.js",
        "nothing.js",
        "",
    ],
)
def test_nothing_else_is_served(client: TestClient, name: str) -> None:
    detail(client.get(f"/static/{name}"), 404)


def test_other_files_in_the_folder_are_not_served(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("private", encoding="utf-8")
    (tmp_path / "app.js").write_text("let a = 1;", encoding="utf-8")
    with TestClient(Starlette(routes=Page(tmp_path).routes)) as client:
        assert client.get("/static/notes.txt").status_code == 404
        first = client.get("/static/app.js")
        (tmp_path / "app.js").write_text("let a = 2; // newer", encoding="utf-8")
        second = client.get("/static/app.js")
        assert (first.text, second.text) == ("let a = 1;", "let a = 2; // newer")
        assert first.headers["etag"] != second.headers["etag"]
        assert client.get("/").status_code == 404
