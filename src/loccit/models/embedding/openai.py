"""Embedding through any service with the OpenAI protocol: OpenAI, Azure, Ollama, vLLM, TEI."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from loccit.errors import LoccitError, MissingExtraError
from loccit.models.embedding.onnx import normalise
from loccit.models.embedding.protocol import Vectors

# Lengths of the vectors of OpenAI's models, so that asking for one needs no request. Shorter ones can be had, except of
# the oldest.
DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
_ONE_LENGTH = "text-embedding-ada-002"
_DEFAULT_MAX_TOKENS = 8191


class OpenAICompatibleEmbedder:
    """Asks a service for vectors. The client is created when the first text is embedded.

    Without ``api_key`` the SDK reads ``OPENAI_API_KEY`` (``AZURE_OPENAI_API_KEY`` for Azure), but not if ``base_url``
    is given: a key for OpenAI must not go to another address. A local server without a key needs none. The SDK retries
    refused and failed requests with increasing delays.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        dimensions: int | None = None,
        batch_size: int = 64,
        concurrency: int = 4,
        timeout: float = 60.0,
        *,
        max_retries: int = 4,
        max_tokens: int = _DEFAULT_MAX_TOKENS,
        azure_endpoint: str | None = None,
        api_version: str | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
    ) -> None:
        if not model:
            raise LoccitError("Name the embedding model, as in openai:text-embedding-3-small.")
        if batch_size < 1 or concurrency < 1:
            raise LoccitError("batch_size and concurrency must be at least 1.")
        longest = None if base_url or azure_endpoint else DIMENSIONS.get(model)
        fixed = model == _ONE_LENGTH
        if longest and dimensions and (dimensions > longest or (fixed and dimensions != longest)):
            most = "" if fixed else "at most "
            raise LoccitError(f"{model} produces vectors of {most}{longest} dimensions, not {dimensions}.")
        self.model = model
        self.base_url = base_url
        self.azure_endpoint = azure_endpoint
        self._api_key = api_key
        self._requested = dimensions
        self._dimension = dimensions or (None if base_url else DIMENSIONS.get(model))
        self._batch_size = batch_size
        self._concurrency = concurrency
        self._timeout = timeout
        self._max_retries = max_retries
        self._max_tokens = max_tokens
        self._api_version = api_version
        self._prefixes = query_prefix, document_prefix
        self._lock = threading.Lock()
        self._client: Any = None

    @property
    def name(self) -> str:
        """Identity of the model. The address is not part of it: the same model may move."""
        return f"{self.model}@{self._requested}" if self._requested else self.model

    @property
    def dimension(self) -> int:
        """Length of a vector; determined with one request if unknown."""
        if self._dimension is None:
            self.embed_query("dimension")
        assert self._dimension is not None
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """The maximum number of tokens that the model reads."""
        return self._max_tokens

    @property
    def languages(self) -> frozenset[str] | None:
        """Unknown."""
        return None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each text, in the order given."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        inputs = [self._prefixes[1] + text for text in texts]
        batches = [inputs[at : at + self._batch_size] for at in range(0, len(inputs), self._batch_size)]
        if len(batches) == 1:
            return self._request(batches[0])
        with ThreadPoolExecutor(min(self._concurrency, len(batches))) as pool:
            return np.concatenate(list(pool.map(self._request, batches)))

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query."""
        return np.asarray(self._request([self._prefixes[0] + text])[0], np.float32)

    def missing_key(self) -> str:
        """Say which key is missing; empty when one is there or none is needed. Nothing is sent."""
        try:
            self._connect()
        except LoccitError as error:
            return str(error)
        return ""

    def __repr__(self) -> str:
        """Describe the embedder without its key."""
        return f"{type(self).__name__}(model={self.model!r}, base_url={self.base_url!r})"

    def _request(self, inputs: list[str]) -> Vectors:
        # Services refuse empty strings; a space is the closest they accept.
        arguments: dict[str, Any] = {
            "model": self.model,
            "input": [text if text.strip() else " " for text in inputs],
            "encoding_format": "float",
        }
        if self._requested:
            arguments["dimensions"] = self._requested
        client = self._connect()
        try:
            response = client.embeddings.create(**arguments)
        except Exception as error:
            raise self._explain(error) from error
        rows = sorted(response.data, key=lambda row: row.index)
        if len(rows) != len(inputs):
            raise LoccitError(f"{self._where} returned {len(rows)} vectors for {len(inputs)} texts.")
        lengths = {len(row.embedding) for row in rows}
        if self._dimension is None and len(lengths) == 1:
            self._dimension = next(iter(lengths))
        if lengths != {self._dimension}:
            found = ", ".join(str(length) for length in sorted(lengths))
            raise LoccitError(
                f"{self._where} returned vectors of {found} dimensions for {self.model}, expected "
                f"{self._dimension}. Set dimensions to what the model produces."
            )
        return normalise(np.array([row.embedding for row in rows], np.float32))

    @property
    def _where(self) -> str:
        return self.azure_endpoint or self.base_url or "The OpenAI service"

    def _connect(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = self._make_client()
            return self._client

    def _make_client(self) -> Any:
        try:
            import openai
        except ImportError as error:
            raise MissingExtraError("Embedding through an OpenAI-compatible service", "openai") from error
        common: dict[str, Any] = {"timeout": self._timeout, "max_retries": self._max_retries}
        try:
            if self.azure_endpoint or self._api_version:
                if self.azure_endpoint:
                    common["azure_endpoint"] = self.azure_endpoint
                version = self._api_version or "2024-10-21"
                return openai.AzureOpenAI(api_version=version, api_key=self._api_key, **common)
            # The SDK insists on a key, and without one here would send OpenAI's to whatever the address is.
            key = self._api_key or ("none" if self.base_url else None)
            return openai.OpenAI(base_url=self.base_url, api_key=key, **common)
        except (openai.OpenAIError, ValueError) as error:
            raise LoccitError(
                "The embedding service needs an API key or address: pass api_key (azure_endpoint for Azure), "
                "or set OPENAI_API_KEY (AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT)."
            ) from error

    def _explain(self, error: Exception) -> LoccitError:
        """Say what went wrong and what to do, without the key that some services print in their answer."""
        import openai

        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            return LoccitError(f"{self._where} refused the API key. Check api_key and its permissions.")
        if isinstance(error, openai.NotFoundError):
            return LoccitError(
                f"{self._where} has no model {self.model!r}. Check its name, or pull it first."
            )
        if isinstance(error, openai.RateLimitError):
            return LoccitError(
                f"{self._where} accepts no more requests for now. Wait, lower concurrency, or check the quota."
            )
        if isinstance(error, openai.APITimeoutError):
            return LoccitError(f"{self._where} did not answer within {self._timeout:g} s. Raise timeout.")
        if isinstance(error, openai.APIConnectionError):
            return LoccitError(f"Cannot reach {self._where}. Is the server running, and is base_url right?")
        if isinstance(error, openai.APIStatusError):
            return LoccitError(self._redact(f"{self._where} answered {error.status_code}: {error.message}"))
        return LoccitError(self._redact(f"{self._where} returned an unreadable answer: {error}"))

    def _redact(self, message: str) -> str:
        return message.replace(self._api_key, "***") if self._api_key else message
