"""The OpenAPI description is true: requests made from it are answered as it says, by schemathesis."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openapi_spec_validator
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.config import SchemathesisConfig
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from tests.server.api.conftest import get
from tests.server.conftest import index_registry

from loccit.server.api.app import OPERATIONS
from loccit.server.http import build_app
from loccit.server.services import IndexService, LibraryRegistry

_CONFIG = SchemathesisConfig.from_dict(
    {
        "headers": {"Host": "127.0.0.1"},
        # No schema can say which dates and folders there are; such requests are well formed and refused with 422.
        "checks": {
            "positive_data_acceptance": {"expected-statuses": ["2xx", "401", "403", "404", "409", "422"]},
            # What is too long for its parameter may be too long for a body.
            "negative_data_rejection": {
                "expected-statuses": [
                    "400",
                    "401",
                    "403",
                    "404",
                    "405",
                    "406",
                    "409",
                    "413",
                    "415",
                    "422",
                    "428",
                    "429",
                    "5xx",
                ]
            },
        },
    }
)
EXAMPLES = int(os.environ.get("LOCCIT_SCHEMATHESIS_EXAMPLES", "15"))


def test_every_operation_is_described(client: TestClient) -> None:
    description = get(client, "/api/openapi.json")
    assert description["openapi"] == "3.1.0"
    described = {(path, method) for path, methods in description["paths"].items() for method in methods}
    answered = {(operation.path, operation.method.lower()) for operation in OPERATIONS}
    assert answered <= described
    assert described - answered == {
        ("/api/page_image", "get"),
        ("/api/index", "get"),
        ("/api/index", "post"),
    }


def test_the_description_is_valid_and_every_object_in_it_has_a_name_that_is_used(client: TestClient) -> None:
    description = get(client, "/api/openapi.json")
    openapi_spec_validator.validate(description)
    assert description["servers"] == [{"url": "/"}]
    schemas = description["components"]["schemas"]
    assert {"SearchResponse", "SearchResult", "SectionView", "Suggestion", "VerifyQuotesRequest"} <= set(
        schemas
    )
    assert all(name.isascii() and name.isalpha() and name[0].isupper() for name in schemas)
    text = json.dumps(description)
    assert [name for name in schemas if f'#/components/schemas/{name}"' not in text] == []

    def unnamed(node: Any) -> Iterator[object]:
        if isinstance(node, dict):
            if "properties" in node:
                yield node
            node = list(node.values())
        if isinstance(node, list):
            for item in node:
                yield from unnamed(item)

    assert list(unnamed(description["paths"])) == []
    for name, named in schemas.items():
        assert list(unnamed(list(named.get("properties", {}).values()))) == [], name


def test_answers_hold_what_their_schemas_have(client: TestClient) -> None:
    """Not only what is required, which a client could not rely on if it were never there."""
    description = get(client, "/api/openapi.json")
    found = get(client, "/api/search", q="harbour")
    result = description["components"]["schemas"]["SearchResult"]["properties"]
    assert {"doc", "location"} <= set(found["results"][0]) <= set(result)
    outlines = get(client, "/api/outline")["outlines"]
    assert set(outlines[0]) <= set(description["components"]["schemas"]["Outline"]["properties"])


def test_the_token_is_described_where_one_is_wanted(api_index: Path) -> None:
    registry = index_registry(api_index)
    with TestClient(build_app(registry, token="s3cret"), base_url="http://127.0.0.1") as client:
        answer = client.get("/api/openapi.json", headers={"Authorization": "Bearer s3cret"})
        assert answer.json()["security"] == [{"token": []}]
    registry.close()


# The description is the same whatever the index holds, and is read when tests are collected.
_PLACE: list[Path] = []
_registry = LibraryRegistry([IndexService(lambda: _PLACE[-1] if _PLACE else None)])
_app = build_app(_registry)


async def answering(scope: Scope, receive: Receive, send: Send) -> None:
    """The application without its beginning and end, of which there would be one for each request."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
    else:
        await _app(scope, receive, send)


schema = schemathesis.openapi.from_asgi(
    "/api/openapi.json", answering, headers={"Host": "127.0.0.1"}, config=_CONFIG
)


@pytest.fixture(scope="module", autouse=True)
def place(api_index: Path) -> Iterator[None]:
    _PLACE.append(api_index / ".loccit")
    yield
    _registry.close()


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_requests_are_answered_as_described(case: schemathesis.Case[Any]) -> None:
    case.call_and_validate()
