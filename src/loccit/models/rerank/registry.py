"""From the name of a reranker to the reranker, and its protocol."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from loccit.errors import LoccitError, UsageError
from loccit.models.embedding.hub import hub_folder
from loccit.models.embedding.registry import local_folder


class RerankError(LoccitError):
    """A reranker gave no usable answer: it is down, too slow, or returns nonsense. The search continues without it."""


@runtime_checkable
class Reranker(Protocol):
    """Scores how well each text answers a query. Safe to call from several threads at once."""

    @property
    def name(self) -> str:
        """Identity of the model, for display."""
        ...

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one finite score for each text, higher is better, on any scale.

        The texts come in their current order, the best first, so that a reranker with little time can start there. It
        then returns `PartialScores`. Raise `RerankError` if there is no usable answer.
        """
        ...


@runtime_checkable
class Preparable(Protocol):
    """A reranker with a slow start: the first search may go on without it, later ones do not."""

    def prepare(self) -> None:
        """Load what is needed; do nothing the second time."""
        ...


class PartialScores(list[float]):
    """Scores of which only those at ``known`` were computed; the others rank below them, in their current order."""

    def __init__(self, scores: Sequence[float | None]) -> None:
        self.known: frozenset[int] = frozenset(
            index for index, score in enumerate(scores) if score is not None
        )
        below = min((score for score in scores if score is not None), default=0.0)
        filled = []
        for score in scores:
            if score is None:
                below -= 1.0
            filled.append(below if score is None else score)
        super().__init__(filled)


_GROUP = "loccit.rerankers"
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
# The addresses of services, and the variables with their keys.
_SERVICES = {
    "cohere": ("https://api.cohere.com/v2/rerank", ("COHERE_API_KEY", "CO_API_KEY")),
    "jina": ("https://api.jina.ai/v1/rerank", ("JINA_API_KEY",)),
}
# Rerankers that come with Loccit and take a time limit.
_LANGUAGE_MODELS = ("anthropic", "openai", "azure", "ollama")
# A local model stops by itself shortly before it would be abandoned.
_SHARE_OF_TIMEOUT = 0.8


def load_reranker(spec: str | Path, *, timeout: float | None = None, **options: Any) -> Reranker:
    """Return the reranker that ``spec`` names; ``options`` go to its constructor.

    Forms: a folder with an ONNX cross-encoder; a Hugging Face name ``org/name`` (downloaded only with
    ``allow_download=True``); ``cohere:MODEL`` or ``jina:MODEL``; ``tei:URL``; the ``http(s)://`` address of any other
    service, with the model after ``#`` if it has several; ``llm:anthropic:MODEL`` or ``llm:openai:MODEL``; a name that
    an installed package registered under the entry point ``loccit.rerankers``. ``timeout`` is how many seconds an
    answer may take. Nothing is loaded or asked yet.
    """
    text = str(spec).strip()
    allow_download = bool(options.pop("allow_download", False))
    scheme, _, rest = text.partition(":")
    scheme, rest = scheme.lower(), rest.strip()
    if scheme in _SERVICES and rest:
        return _service(scheme, rest, _timed(options, timeout))
    if scheme in ("http", "https", "tei") and rest:
        return _endpoint(scheme, text, rest, _timed(options, timeout))
    if scheme == "llm" and rest:
        return _listwise(rest, timeout, options)
    plugin = next(iter(metadata.entry_points(group=_GROUP, name=text)), None)
    if plugin is not None:
        reranker = plugin.load()(**options)
        if not isinstance(reranker, Reranker):
            raise LoccitError(f"The reranker {text!r} ({plugin.value}) lacks members that Loccit needs.")
        return reranker
    return _cross_encoder(text, allow_download, timeout, options)


def _timed(options: dict[str, Any], timeout: float | None) -> dict[str, Any]:
    return options if timeout is None else {"timeout": timeout, **options}


def _service(scheme: str, model: str, options: dict[str, Any]) -> Reranker:
    from loccit.models.rerank.http import HttpReranker

    address, variables = _SERVICES[scheme]
    other = options.pop("base_url", None)
    # The key from the environment is for the service itself: it must not go to another address.
    if not other and not options.get("api_key"):
        options["api_key"] = next((os.environ[name] for name in variables if os.environ.get(name)), None)
        if not options["api_key"]:
            raise LoccitError(
                f"The reranker {scheme}:{model} needs a key: set {variables[0]} or pass api_key."
            )
    settings = {"form": scheme, "model": model, "name": f"{scheme}:{model}", **options}
    return HttpReranker(other or address, **settings)


def _endpoint(scheme: str, text: str, rest: str, options: dict[str, Any]) -> Reranker:
    from loccit.models.rerank.http import HttpReranker

    if scheme == "tei":
        return HttpReranker(rest, **{"form": "tei", **options})
    url, _, model = text.partition("#")
    return HttpReranker(url, **{"model": model, **options})


def _listwise(model: str, timeout: float | None, options: dict[str, Any]) -> Reranker:
    from loccit.models.llm import load_model
    from loccit.models.llm.service import RetryPolicy
    from loccit.models.rerank.listwise import ListwiseReranker

    if timeout is not None and model.partition(":")[0] in _LANGUAGE_MODELS:
        # A user is waiting: there is only time for a second attempt.
        retry_policy = RetryPolicy(retries=1, first_wait=0.5, longest_wait=timeout, total=timeout)
        options = {"timeout": timeout, "retry_policy": retry_policy, **options}

    own = ("window", "stride", "passage_characters", "max_tokens")
    mine = {name: options.pop(name) for name in own if name in options}
    return ListwiseReranker(load_model(model, **options), **mine)


def _cross_encoder(
    text: str, allow_download: bool, timeout: float | None, options: dict[str, Any]
) -> Reranker:
    from loccit.models.rerank.onnx import OnnxReranker

    if timeout is not None:
        options = {"time_limit_ms": timeout * 1000 * _SHARE_OF_TIMEOUT, **options}
    folder = local_folder(text)
    if folder is not None:
        return OnnxReranker(folder, **options)
    if _HUB_NAME.fullmatch(text):
        return OnnxReranker(_from_hub(text, allow_download), **{"name": text, **options})
    raise _unknown(text)


def _from_hub(name: str, allow_download: bool) -> Path:
    from huggingface_hub.errors import HFValidationError

    try:
        return hub_folder(name, allow_download)
    except LoccitError as error:
        if isinstance(error.__cause__, HFValidationError):
            raise _unknown(name) from error
        raise


def _unknown(text: str) -> UsageError:
    plugins = sorted(point.name for point in metadata.entry_points(group=_GROUP))
    registered = f" Registered here: {', '.join(plugins)}." if plugins else ""
    return UsageError(
        f"Unknown reranker {text!r}. Use: a folder with model.onnx and tokenizer.json; a Hugging Face name org/name; "
        "cohere:MODEL or jina:MODEL; tei:URL; the http(s):// address of a service; llm:anthropic:MODEL or "
        f"llm:openai:MODEL; or the name of a reranker that a package registered.{registered}"
    )
