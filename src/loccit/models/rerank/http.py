"""Reranking through a service with a ``/rerank`` endpoint: Cohere, Jina, TEI and compatible ones."""

from __future__ import annotations

import json
import math
import random
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from time import sleep
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import urlsplit, urlunsplit

from loccit.errors import UsageError
from loccit.models.llm.service import retry_after
from loccit.models.rerank.registry import RerankError
from loccit.version import __version__

Form: TypeAlias = Literal["cohere", "jina", "tei"]

# A text-embeddings-inference server refuses more than 32 texts in one request by default.
_BATCH_SIZES: Mapping[Form, int] = {"cohere": 100, "jina": 100, "tei": 32}


class HttpReranker:
    """Asks a service for scores.

    ``form`` is its request format: ``cohere`` (also vLLM, llama.cpp, Infinity, LiteLLM), ``jina`` or ``tei``. Temporary
    failures (429, 5xx, a broken connection) are retried, all within ``timeout`` seconds.
    """

    def __init__(
        self,
        url: str,
        *,
        form: Form = "cohere",
        model: str = "",
        api_key: str | None = None,
        timeout: float = 5.0,
        max_retries: int = 2,
        batch_size: int | None = None,
        name: str | None = None,
    ) -> None:
        if form not in get_args(Form):
            raise UsageError(f"form must be one of {', '.join(get_args(Form))}, not {form!r}.")
        if not timeout > 0 or max_retries < 0 or (batch_size is not None and batch_size < 1):
            raise UsageError("timeout and batch_size must be above 0, and max_retries not below.")
        self.form: Form = form
        self.model = model
        self._batch_size = batch_size or _BATCH_SIZES[form]
        self._client = JsonClient(rerank_url(url), api_key=api_key, timeout=timeout, max_retries=max_retries)
        self._name = name or model or self._client.where

    @property
    def name(self) -> str:
        """Identity of the model, or the address of a service with only one model."""
        return self._name

    @property
    def url(self) -> str:
        """The address of requests."""
        return self._client.url

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the service's score for each text."""
        scores: list[float] = []
        for start in range(0, len(texts), self._batch_size):
            # Services refuse empty strings; a space is the closest they accept.
            batch = [text if text.strip() else " " for text in texts[start : start + self._batch_size]]
            answer = self._client.post(self._request(query, batch))
            try:
                scores += read_scores(answer, self.form, len(batch))
            except ValueError as error:
                raise RerankError(f"{self._client.where} gave an unusable answer: {error}.") from error
        return scores

    def __repr__(self) -> str:
        """Describe the reranker without its key."""
        return f"{type(self).__name__}({self._client.where!r}, form={self.form!r}, model={self.model!r})"

    def _request(self, query: str, texts: list[str]) -> dict[str, Any]:
        if self.form == "tei":
            return {"query": query, "texts": texts, "truncate": True}
        request: dict[str, Any] = {"query": query, "documents": texts, "top_n": len(texts)}
        if self.model:
            request["model"] = self.model
        if self.form == "jina":
            request["return_documents"] = False
        return request


def rerank_url(url: str) -> str:
    """Return the address of the endpoint, given that of the server or of the endpoint itself."""
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(
            f"{url!r} is not the address of a service. It looks like http://localhost:8080/rerank."
        )
    if "@" in parts.netloc:
        raise UsageError("Give the key of a reranking service as api_key, not inside its address.")
    path = parts.path.rstrip("/")
    if not path.endswith("/rerank"):
        path += "/rerank"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def read_scores(answer: Any, form: Form, count: int) -> list[float]:
    """Return the scores in the order of the texts; raise ``ValueError`` unless each has exactly one."""
    if form == "tei":
        rows, key = answer, "score"
    else:
        rows, key = answer.get("results") if isinstance(answer, dict) else None, "relevance_score"
    if not isinstance(rows, list):
        raise ValueError("it has no list of results")
    scores: dict[int, float] = {}
    for row in rows:
        index, score = (row.get("index"), row.get(key)) if isinstance(row, dict) else (None, None)
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count:
            raise ValueError(f"a result has the index {_short(index)}, with {count} texts asked about")
        if index in scores:
            raise ValueError(f"there are two results for text {index}")
        if isinstance(score, bool) or not isinstance(score, int | float) or not _is_finite(score):
            raise ValueError(f"text {index} has the {key} {_short(score)}")
        scores[index] = float(score)
    if len(scores) < count:
        raise ValueError(f"it has {len(scores)} results for {count} texts")
    return [scores[index] for index in range(count)]


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number of hundreds of digits
        return False


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"


_PASSING = frozenset({408, 429, 500, 502, 503, 504, 529})
_FIRST_PAUSE = 0.25
# An answer has some tens of bytes per text. Anything larger is something else.
_MOST_BYTES = 8_000_000
_MOST_CHARACTERS = 200


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class JsonClient:
    """Posts JSON to one address. Connections are reused, and it can be shared between threads.

    The key goes to that address only: redirects are not followed, and neither the environment nor a ``.netrc`` adds
    another. Proxies and certificates from the environment are respected.
    """

    def __init__(self, url: str, *, api_key: str | None, timeout: float, max_retries: int) -> None:
        parts = urlsplit(url)
        self.url = url
        self.where: str = (
            f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
        )
        self.timeout = timeout
        self._api_key = api_key
        self._max_retries = max_retries
        self._lock = threading.Lock()
        self._session: Any = None

    def post(self, content: Mapping[str, Any]) -> Any:
        """Return the parsed answer to ``content``; raise `RerankError` if there is none."""
        deadline = time.monotonic() + self.timeout
        for attempt in range(self._max_retries + 1):
            last = attempt == self._max_retries
            answer = self._try(content, deadline, again=attempt == 0 and not last)
            if answer is None:
                continue
            if answer.status not in _PASSING or last:
                break
            # With jitter, so that several clients do not come back all at once.
            own = _FIRST_PAUSE * 2**attempt * random.uniform(0.75, 1.25)
            wait = retry_after(answer.headers) or own
            if time.monotonic() + wait >= deadline:
                break
            sleep(wait)
        if answer is None or answer.status != 200:
            raise self._refusal(answer)
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            page = "a web page" if answer.body.lstrip()[:1] == b"<" else "something that is not JSON"
            raise RerankError(f"{self.where} answered with {page}. Is the address right?") from error

    def _try(self, content: Mapping[str, Any], deadline: float, *, again: bool) -> _Answer | None:
        """Return one answer, whatever it is; None if the connection broke and there is another attempt."""
        import requests

        left = deadline - time.monotonic()
        try:
            if left <= 0:
                raise requests.Timeout
            with self._connect().post(
                self.url,
                json=content,
                auth=self._authorise,
                timeout=left,
                allow_redirects=False,
                stream=True,
            ) as response:
                return _Answer(response.status_code, response.headers, _read(response, deadline))
        except requests.Timeout as error:
            raise RerankError(f"{self.where} did not answer within {self.timeout:g} s.") from error
        except requests.exceptions.SSLError as error:
            raise RerankError(f"{self.where} has no certificate that can be trusted.") from error
        except requests.ConnectionError as error:
            if again:
                return None
            raise RerankError(f"{self.where} cannot be reached. Is the service running?") from error
        except (requests.RequestException, ValueError) as error:
            raise RerankError(self._redact(f"{self.where} cannot be asked: {error}")) from error

    def _connect(self) -> Any:
        import requests

        with self._lock:
            if self._session is None:
                self._session = requests.Session()
                self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
                self._session.headers.update(
                    {"Accept": "application/json", "User-Agent": f"loccit/{__version__}"}
                )
            return self._session

    def _authorise(self, request: Any) -> Any:
        if self._api_key:
            request.headers["Authorization"] = f"Bearer {self._api_key}"
        return request

    def _refusal(self, answer: _Answer | None) -> RerankError:
        if answer is None:
            return RerankError(f"{self.where} cannot be reached. Is the service running?")
        if answer.status in (401, 403):
            return RerankError(f"{self.where} refused the API key. Check api_key and its permissions.")
        if answer.status == 404:
            return RerankError(
                f"{self.where} is not there, or has no such model. Check the address and the name."
            )
        if answer.status == 429:
            return RerankError(f"{self.where} refuses more requests for now. Wait, or check the quota.")
        if 300 <= answer.status < 400:
            return RerankError(f"{self.where} redirects elsewhere. Give the address that it leads to.")
        said = _message(answer.body)
        return RerankError(
            self._redact(f"{self.where} answered {answer.status}{': ' if said else '.'}{said}")
        )

    def _redact(self, message: str) -> str:
        # Some services take the key as part of the address.
        for secret in (self._api_key, urlsplit(self.url).query):
            message = message.replace(secret, "***") if secret else message
        return message


def _read(response: Any, deadline: float) -> bytes:
    """Read an answer that may be slow or endless."""
    import requests
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    # What has arrived so far, not a full piece, which could take for ever. Not available before urllib3 2.1.
    read = getattr(response.raw, "read1", response.raw.read)
    body = bytearray()
    while True:
        try:
            piece = read(65_536, decode_content=True)
        except ReadTimeoutError as error:
            raise requests.Timeout from error
        except (HTTPError, OSError) as error:
            raise requests.ConnectionError from error
        if not piece:
            return bytes(body)
        body += piece
        if len(body) > _MOST_BYTES:
            raise ValueError(f"the answer is larger than {_MOST_BYTES:,} bytes")
        if time.monotonic() > deadline:
            raise requests.Timeout


def _message(body: bytes) -> str:
    """Return a service's error message in one short line."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for name in ("message", "error", "detail"):
        found = content.get(name) if isinstance(content, dict) else None
        if isinstance(found, dict):
            found = found.get("message")
        if isinstance(found, str) and found.strip():
            return " ".join(found.split())[:_MOST_CHARACTERS]
    return ""
