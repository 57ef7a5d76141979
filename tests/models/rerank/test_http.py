from __future__ import annotations

import gzip
import json
import logging
import math
import shutil
import socket
import ssl
import subprocess
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from tests.models.rerank.service import (
    KEY,
    Service,
    drip,
    hang_up,
    relevance,
    reply,
    running,
    silence,
    stop_halfway,
)

from loccit.errors import LoccitError, UsageError
from loccit.models.rerank import Reranker, RerankError, load_reranker
from loccit.models.rerank import http as transport_module
from loccit.models.rerank import registry as registry_module
from loccit.models.rerank.http import HttpReranker, rerank_url

QUERY = "notice period of employees"
TEXTS = [
    "The canteen opens at noon.",
    "The notice period of employees is one month.",
    "Employees wear badges.",
    "",
    "period",
]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds waited between attempts, which are not really waited."""
    waited: list[float] = []
    monkeypatch.setattr(transport_module, "sleep", waited.append)
    return waited


def make(service: Service, form: str, **options: Any) -> HttpReranker:
    """A reranker for one of the three services."""
    options = {"api_key": KEY, "timeout": 20.0, **options}
    if form == "tei":
        reranker = load_reranker(f"tei:{service.url}", **options)
    else:
        version = {"cohere": "v2", "jina": "v1"}[form]
        reranker = load_reranker(f"{form}:some-model", base_url=f"{service.url}/{version}/rerank", **options)
    assert isinstance(reranker, HttpReranker)
    return reranker


@pytest.mark.parametrize("form", ["cohere", "jina", "tei"])
def test_scores_come_back_in_the_order_of_the_texts(service: Service, form: str) -> None:
    reranker = make(service, form)
    assert isinstance(reranker, Reranker)
    assert reranker.rerank(QUERY, TEXTS) == [relevance(QUERY, text) for text in TEXTS]
    assert len(service.requests) == 1
    assert reranker.rerank(QUERY, []) == []
    assert len(service.requests) == 1, "nothing to rank needs no request"


def test_what_each_service_is_asked(service: Service) -> None:
    for form in ("cohere", "jina", "tei"):
        make(service, form).rerank("q", ["a", "b"])
    assert [(request["path"], request["body"]) for request in service.requests] == [
        ("/v2/rerank", {"model": "some-model", "query": "q", "documents": ["a", "b"], "top_n": 2}),
        (
            "/v1/rerank",
            {
                "model": "some-model",
                "query": "q",
                "documents": ["a", "b"],
                "top_n": 2,
                "return_documents": False,
            },
        ),
        ("/rerank", {"query": "q", "texts": ["a", "b"], "truncate": True}),
    ]


@pytest.mark.parametrize("form", ["cohere", "jina", "tei"])
def test_many_texts_take_several_requests(service: Service, form: str) -> None:
    texts = [f"text {number} of employees" * (number % 3) for number in range(150)]
    assert make(service, form).rerank(QUERY, texts) == [relevance(QUERY, text) for text in texts]
    assert len(service.requests) > 1


def test_address_with_a_model(service: Service) -> None:
    reranker = load_reranker(f"{service.url}/v1/rerank#BAAI/some-reranker", api_key=KEY)
    assert reranker.name == "BAAI/some-reranker"
    assert reranker.rerank(QUERY, TEXTS)[1] == 1.0
    assert service.requests[0]["body"]["model"] == "BAAI/some-reranker"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("http://host:8080", "http://host:8080/rerank"),
        ("https://host/v1/", "https://host/v1/rerank"),
        ("https://host/v2/rerank", "https://host/v2/rerank"),
        ("https://host/a/rerank/?version=2#model", "https://host/a/rerank?version=2"),
    ],
)
def test_address_of_the_endpoint(given: str, meant: str) -> None:
    assert rerank_url(given) == meant


@pytest.mark.parametrize(
    "url", ["", "localhost:8080", "ftp://host", "http://", "http://host:99999", "http://[x"]
)
def test_no_address(url: str) -> None:
    with pytest.raises(UsageError, match="not the address"):
        HttpReranker(url)


def test_key_inside_the_address_is_refused_and_not_shown() -> None:
    with pytest.raises(UsageError, match="api_key") as caught:
        HttpReranker(f"https://user:{KEY}@host/rerank")
    assert KEY not in str(caught.value)


# -- keys ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "variable"), [("cohere", "COHERE_API_KEY"), ("cohere", "CO_API_KEY"), ("jina", "JINA_API_KEY")]
)
def test_key_of_the_environment(
    service: Service, monkeypatch: pytest.MonkeyPatch, form: str, variable: str
) -> None:
    path = {"cohere": "/v2/rerank", "jina": "/v1/rerank"}[form]
    for name in ("COHERE_API_KEY", "CO_API_KEY", "JINA_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, KEY)
    known = registry_module._SERVICES[form][1]
    monkeypatch.setitem(registry_module._SERVICES, form, (service.url + path, known))
    assert load_reranker(f"{form}:some-model").rerank(QUERY, TEXTS)[1] == 1.0


def test_key_of_the_environment_stays_with_its_service(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    reranker = load_reranker("cohere:some-model", base_url=f"{service.url}/v2")
    with pytest.raises(RerankError, match="refused the API key"):
        reranker.rerank(QUERY, TEXTS)
    assert "Authorization" not in service.requests[0]["headers"]


def test_no_netrc_is_read(service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password secret\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    make(service, "tei").rerank(QUERY, TEXTS)
    with pytest.raises(RerankError):
        make(service, "tei", api_key=None).rerank(QUERY, TEXTS)
    assert service.requests[0]["headers"]["Authorization"] == f"Bearer {KEY}"
    assert "Authorization" not in service.requests[1]["headers"]


def test_missing_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COHERE_API_KEY", "CO_API_KEY", "JINA_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for spec, variable in (("cohere:m", "COHERE_API_KEY"), ("jina:m", "JINA_API_KEY")):
        with pytest.raises(LoccitError, match=variable):
            load_reranker(spec)


def test_key_is_never_shown(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    reranker = make(service, "cohere")
    service.instead = [reply(400, {"message": f"bad request with {KEY}"})]
    with pytest.raises(RerankError, match=r"answered 400: bad request with \*\*\*"):
        reranker.rerank(QUERY, TEXTS)
    with pytest.raises(RerankError, match="refused the API key") as caught:
        make(service, "cohere", api_key="key-that-is-wrong").rerank(QUERY, TEXTS)
    shown = f"{caught.value} {reranker!r} {reranker.name} {caplog.text}"
    assert KEY not in shown
    assert "key-that-is-wrong" not in shown


# -- failures that pass --------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_passing_failures_are_tried_again(service: Service, pauses: list[float], status: int) -> None:
    service.instead = [reply(status, {}), reply(status, b"<html>busy</html>")]
    assert make(service, "cohere").rerank(QUERY, TEXTS)[1] == 1.0
    assert len(service.requests) == 3
    assert 0 < pauses[0] < pauses[1] < 2, "the second pause is the longer one"


def test_retry_after_is_respected(service: Service, pauses: list[float]) -> None:
    date = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=12), usegmt=True)
    service.instead = [reply(429, {}, Retry_After="3"), reply(503, {}, Retry_After=date)]
    assert make(service, "jina").rerank(QUERY, TEXTS)[1] == 1.0
    assert pauses[0] == 3.0
    assert 3.0 < pauses[1] <= 12.0


def test_retry_after_that_is_too_long_is_not_waited_for(service: Service, pauses: list[float]) -> None:
    service.instead = [reply(429, {}, Retry_After="3600")]
    with pytest.raises(RerankError, match="refuses more requests"):
        make(service, "cohere").rerank(QUERY, TEXTS)
    assert (pauses, len(service.requests)) == ([], 1)


def test_lasting_failure_is_reported(service: Service, pauses: list[float]) -> None:
    service.instead = [reply(503, {"error": {"message": "no model is loaded"}})] * 3
    with pytest.raises(RerankError, match="answered 503: no model is loaded"):
        make(service, "tei").rerank(QUERY, TEXTS)
    assert len(service.requests) == 3


@pytest.mark.parametrize("breaking", [hang_up, stop_halfway])
def test_broken_connection_is_tried_again_once(service: Service, breaking: Any) -> None:
    service.instead = [breaking]
    assert make(service, "tei").rerank(QUERY, TEXTS)[1] == 1.0
    service.instead = [breaking, breaking]
    with pytest.raises(RerankError, match="cannot be reached"):
        make(service, "tei").rerank(QUERY, TEXTS)


def test_wrong_requests_are_not_tried_again(service: Service) -> None:
    for status, said in ((400, "answered 400"), (404, "no such model"), (413, "answered 413")):
        service.instead = [reply(status, {})]
        with pytest.raises(RerankError, match=said):
            make(service, "cohere").rerank(QUERY, TEXTS)
    assert len(service.requests) == 3


# -- failures that do not ------------------------------------------------------------------------------------


def test_service_that_is_down() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    with pytest.raises(RerankError, match="cannot be reached"):
        load_reranker(address).rerank(QUERY, TEXTS)


@pytest.mark.parametrize("slowness", [silence, drip])
def test_slow_service(service: Service, slowness: Any) -> None:
    service.instead = [slowness]
    with pytest.raises(RerankError, match=r"did not answer within 0\.2 s"):
        make(service, "tei", timeout=0.2).rerank(QUERY, TEXTS)


def test_redirects_are_not_followed(service: Service) -> None:
    with running() as other:
        service.instead = [reply(307, {}, Location=f"{other.url}/rerank")]
        with pytest.raises(RerankError, match="redirects"):
            make(service, "tei").rerank(QUERY, TEXTS)
        assert other.requests == []


def test_endless_answer(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport_module, "_MOST_BYTES", 100_000)
    service.instead = [reply(200, b"[" + b" " * 200_000 + b"]")]
    with pytest.raises(RerankError, match="larger than"):
        make(service, "tei").rerank(QUERY, TEXTS)


def test_untrusted_certificate(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl to make a certificate")
    files = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run(
        [openssl, *command.split(), "-keyout", files[0], "-out", files[1]], check=True, capture_output=True
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files[1], files[0])
    with running() as service:
        service.socket = context.wrap_socket(service.socket, server_side=True)
        with pytest.raises(RerankError, match="certificate"):
            load_reranker(service.url.replace("http:", "https:"), api_key=KEY).rerank(QUERY, TEXTS)
        assert service.requests == []


ROWS = [{"index": index, "relevance_score": 0.5, "score": 0.5} for index in range(len(TEXTS))]


def changed(**values: Any) -> list[dict[str, Any]]:
    return [*ROWS[:-1], {**ROWS[-1], **values}]


NONSENSE: dict[str, tuple[Any, str]] = {
    "index too large": (changed(index=5), "index 5"),
    "index below 0": (changed(index=-1), "index -1"),
    "index of another type": (changed(index="4"), "index '4'"),
    "index that is a truth value": (changed(index=True), "index True"),
    "no index": (changed(index=None), "index None"),
    "two of one index": (changed(index=0), "two results for text 0"),
    "missing": (ROWS[:-1], "4 results for 5 texts"),
    "none": ([], "0 results for 5 texts"),
    "more than asked for": ([*ROWS, ROWS[0]], "two results"),
    "not a number": (changed(relevance_score=math.nan, score=math.nan), "nan"),
    "infinite": (changed(relevance_score=-math.inf, score=-math.inf), "-inf"),
    "text as a score": (changed(relevance_score="0.9", score="0.9"), "'0.9'"),
    "no score": (changed(relevance_score=None, score=None), "None"),
    "very large": (changed(relevance_score=10**400, score=10**400), "text 4"),
    "not rows": ([1, 2, 3, 4, 5], "index None"),
    "nothing": (None, "no list of results"),
    "a number": (3, "no list of results"),
    "a text": ("results", "no list of results"),
}


@pytest.mark.parametrize("form", ["cohere", "jina", "tei"])
@pytest.mark.parametrize(("rows", "said"), NONSENSE.values(), ids=NONSENSE.keys())
def test_nonsense_is_refused(service: Service, form: str, rows: Any, said: str) -> None:
    service.instead = [reply(200, rows if form == "tei" else {"results": rows})]
    with pytest.raises(RerankError, match=said):
        make(service, form).rerank(QUERY, TEXTS)
    assert make(service, form).rerank(QUERY, TEXTS)[1] == 1.0, "the next answer counts again"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"<!doctype html><title>Sign in</title>", "a web page"),
        (b"[]", "no list of results"),
        (b'{"data": []}', "no list of results"),
    ],
)
def test_answers_that_are_something_else(service: Service, body: bytes, said: str) -> None:
    service.instead = [reply(200, body)]
    with pytest.raises(RerankError, match=said):
        make(service, "cohere").rerank(QUERY, TEXTS)


def test_compressed_answer(service: Service) -> None:
    rows = [{"index": index, "score": index} for index in range(len(TEXTS))]
    service.instead = [reply(200, gzip.compress(json.dumps(rows).encode()), Content_Encoding="gzip")]
    assert make(service, "tei").rerank(QUERY, TEXTS) == [0, 1, 2, 3, 4]
    service.instead = [reply(200, b"not compressed at all", Content_Encoding="gzip")] * 2
    with pytest.raises(RerankError):
        make(service, "tei").rerank(QUERY, TEXTS)


def test_wrong_settings() -> None:
    for options in ({"timeout": 0}, {"max_retries": -1}, {"batch_size": 0}, {"form": "other"}):
        with pytest.raises(UsageError):
            HttpReranker("http://127.0.0.1", **options)
