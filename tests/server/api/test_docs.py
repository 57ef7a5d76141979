"""The page about the API names every operation and every parameter."""

from __future__ import annotations

import re
from pathlib import Path

from starlette.testclient import TestClient
from tests.server.api.conftest import get

PAGE = Path(__file__).parents[3] / "docs" / "http-api.md"


ROW = re.compile(r"^\| `((?:GET|POST)`?, `)?(GET|POST) (/api/[\w.]+)` \| ([^|]*) \|", re.MULTILINE)
# The description of the API is not told of within itself, and a file is made of what a search takes.
ELSEWHERE = {"/api/openapi.json"}
OWN = {"/api/export": {"format"}}


def test_every_operation_stands_in_the_table_with_its_parameters(client: TestClient) -> None:
    rows = {
        (method, path): set(re.findall(r"`(\w+)`", params))
        for first, last, path, params in ROW.findall(PAGE.read_text(encoding="utf-8"))
        for method in {last.lower(), *re.findall(r"get|post", first.lower())}
    }
    described = {}
    description = get(client, "/api/openapi.json")
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            names = {item["name"] for item in operation.get("parameters", [])}
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            schema = body.get("schema", {}).get("$ref", "").rpartition("/")[2]
            names |= set(description["components"]["schemas"][schema]["properties"] if schema else ())
            described[method, path] = OWN.get(path, names - {"library"})
    assert rows == {key: names for key, names in described.items() if key[1] not in ELSEWHERE}
