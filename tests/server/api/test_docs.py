"""The page about the API names every operation and every parameter."""

from __future__ import annotations

import re
from pathlib import Path

from starlette.testclient import TestClient
from tests.server.api.conftest import get

PAGE = Path(__file__).parents[3] / "docs" / "http-api.md"


def test_every_operation_stands_in_the_table_with_its_parameters(client: TestClient) -> None:
    rows = {
        path: set(re.findall(r"`(\w+)`", params))
        for path, params in re.findall(
            r"^\| `GET`?[^|]*?(/api/\w+)` \| ([^|]*) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    for path, methods in get(client, "/api/openapi.json")["paths"].items():
        if "get" not in methods:
            assert f"`POST {path}`" in PAGE.read_text(encoding="utf-8")
            continue
        described = {item["name"] for item in methods["get"].get("parameters", [])} - {"library"}
        if path == "/api/export":
            described = {"format"}
        assert rows[path] == described, path
