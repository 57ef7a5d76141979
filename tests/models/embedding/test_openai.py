from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from loccit.errors import LoccitError, MissingExtraError
from loccit.models.embedding.openai import OpenAICompatibleEmbedder

KEY = "sk-right-key-1234"


class Service(ThreadingHTTPServer):
    """An embedding service on the loopback address: each text becomes (its length, its first letter, 1)."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[dict[str, Any]] = []
        self.failures = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append({"path": self.path, "headers": dict(self.headers), **body})
        if KEY not in (self.headers.get("Authorization") or self.headers.get("api-key") or ""):
            self.answer(401, {"error": {"message": f"Wrong key {self.headers.get('Authorization')}"}})
        elif self.server.failures:
            self.server.failures -= 1
            self.answer(503, {"error": {"message": "busy"}})
        elif body["model"] == "absent":
            self.answer(404, {"error": {"message": "no such model"}})
        elif any(not text for text in body["input"]):
            self.answer(400, {"error": {"message": f"empty input, key {KEY}"}})
        elif body["model"] == "leaky":
            self.answer(400, {"error": {"message": f"bad request with key {KEY}"}})
        else:
            rows = [
                {"object": "embedding", "index": index, "embedding": [len(text), ord(text[0]), 1.0]}
                for index, text in enumerate(body["input"])
            ]
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            self.answer(200, {"object": "list", "model": "m", "data": rows[::-1], "usage": usage})

    def answer(self, status: int, content: dict[str, Any]) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def service() -> Iterator[Service]:
    pytest.importorskip("openai")
    with Service() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def expected(text: str) -> np.ndarray[Any, Any]:
    vector = np.array([len(text), ord(text[0]), 1.0])
    return np.asarray(vector / np.linalg.norm(vector))


def test_vectors_in_order_over_several_requests(service: Service) -> None:
    embedder = OpenAICompatibleEmbedder("m", service.url, KEY, batch_size=3, concurrency=2)
    texts = [chr(97 + index) * (index + 1) for index in range(10)]
    np.testing.assert_allclose(embedder.embed(texts), [expected(text) for text in texts], atol=1e-6)
    assert len(service.requests) == 4
    np.testing.assert_allclose(embedder.embed_query("abc"), expected("abc"), atol=1e-6)
    assert (embedder.name, embedder.dimension, embedder.languages) == ("m", 3, None)


def test_dimension_is_asked_for_when_unknown(service: Service) -> None:
    assert OpenAICompatibleEmbedder("m", service.url, KEY).dimension == 3
    assert OpenAICompatibleEmbedder("m", service.url, KEY).embed([]).shape == (0, 3)


def test_known_dimension_needs_no_request() -> None:
    assert OpenAICompatibleEmbedder("text-embedding-3-small").dimension == 1536


def test_empty_texts_are_accepted(service: Service) -> None:
    vectors = OpenAICompatibleEmbedder("m", service.url, KEY).embed(["", "a", "\n"])
    assert np.isfinite(vectors).all()
    assert service.requests[0]["input"] == [" ", "a", " "]


def test_prefixes(service: Service) -> None:
    embedder = OpenAICompatibleEmbedder("m", service.url, KEY, query_prefix="q: ", document_prefix="d: ")
    embedder.embed(["a"])
    embedder.embed_query("a")
    assert [request["input"] for request in service.requests] == [["d: a"], ["q: a"]]


def test_requested_dimensions_are_sent_and_checked(service: Service) -> None:
    embedder = OpenAICompatibleEmbedder("m", service.url, KEY, dimensions=3)
    embedder.embed(["a"])
    assert (embedder.name, service.requests[0]["dimensions"]) == ("m@3", 3)
    with pytest.raises(LoccitError, match="vectors of 3 dimensions for m, expected 256"):
        OpenAICompatibleEmbedder("m", service.url, KEY, dimensions=256).embed(["a"])


def test_wrong_key(service: Service) -> None:
    with pytest.raises(LoccitError, match="refused the API key") as caught:
        OpenAICompatibleEmbedder("m", service.url, "sk-wrong-key").embed(["a"])
    assert "sk-wrong-key" not in str(caught.value)


def test_key_of_the_environment_stays_with_openai(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(LoccitError, match="refused the API key"):
        OpenAICompatibleEmbedder("m", service.url).embed(["a"])


def test_key_is_never_shown(service: Service) -> None:
    embedder = OpenAICompatibleEmbedder("leaky", service.url, KEY)
    assert KEY not in repr(embedder)
    with pytest.raises(LoccitError, match="answered 400") as caught:
        embedder.embed(["a"])
    assert KEY not in str(caught.value)


def test_unknown_model(service: Service) -> None:
    with pytest.raises(LoccitError, match="has no model 'absent'"):
        OpenAICompatibleEmbedder("absent", service.url, KEY).embed(["a"])


def test_passing_failure_is_retried(service: Service) -> None:
    service.failures = 2
    assert OpenAICompatibleEmbedder("m", service.url, KEY).embed(["a"]).shape == (1, 3)
    assert len(service.requests) == 3


def test_lasting_failure_is_reported(service: Service) -> None:
    service.failures = 100
    with pytest.raises(LoccitError, match="answered 503"):
        OpenAICompatibleEmbedder("m", service.url, KEY, max_retries=1).embed(["a"])


def test_azure(service: Service) -> None:
    endpoint = service.url.removesuffix("/v1")
    embedder = OpenAICompatibleEmbedder("m", api_key=KEY, azure_endpoint=endpoint, api_version="2024-10-21")
    assert embedder.embed(["a"]).shape == (1, 3)
    assert service.requests[0]["path"].startswith("/openai/deployments/m/embeddings")


def test_server_down() -> None:
    pytest.importorskip("openai")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}/v1"
    with pytest.raises(LoccitError, match="Cannot reach"):
        OpenAICompatibleEmbedder("m", url, KEY, max_retries=0).embed(["a"])


def test_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(LoccitError, match="needs an API key"):
        OpenAICompatibleEmbedder("text-embedding-3-small").embed(["a"])


def test_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtraError, match=r"loccit\[openai\]"):
        OpenAICompatibleEmbedder("m").embed(["a"])


def test_wrong_arguments() -> None:
    with pytest.raises(LoccitError, match="Name the embedding model"):
        OpenAICompatibleEmbedder("")
    with pytest.raises(LoccitError, match="batch_size"):
        OpenAICompatibleEmbedder("m", batch_size=0)
