"""Reranking through a service with a ``/rerank`` endpoint: Cohere, Jina, TEI, and all that speak like one of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import urlsplit, urlunsplit

from pinakes.errors import UsageError
from pinakes.rerank.protocol import RerankError
from pinakes.rerank.transport import JsonClient

Form: TypeAlias = Literal["cohere", "jina", "tei"]

# A text-embeddings-inference server refuses more than 32 texts in one request unless it is told otherwise.
_BATCH_SIZES: Mapping[Form, int] = {"cohere": 100, "jina": 100, "tei": 32}


class HttpReranker:
    """Asks a service for scores.

    ``form`` is how it wants to be asked: ``cohere`` (also vLLM, llama.cpp, Infinity, LiteLLM), ``jina`` or ``tei``.
    Passing failures (429, 5xx, a broken connection) are tried again, all within ``timeout`` seconds.
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
        """Identity of the model, or the address of a service that has only one."""
        return self._name

    @property
    def url(self) -> str:
        """Where requests go."""
        return self._client.url

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the score that the service gives each text."""
        scores: list[float] = []
        for start in range(0, len(texts), self._batch_size):
            # Services refuse empty strings; a space is the nearest thing they take.
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
        raise UsageError(f"{url!r} is no address of a service. It looks like http://localhost:8080/rerank.")
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
