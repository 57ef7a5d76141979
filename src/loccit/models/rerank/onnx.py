"""Reranking with an ONNX cross-encoder on this machine's processor.

A cross-encoder reads the query and a text together, as one sequence, and returns one number: how well they match.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from loccit.errors import LoccitError, UsageError
from loccit.models.embedding.folder import ModelFolder, read_folder
from loccit.models.embedding.onnx import available_cores, batches, encoder_inputs, open_session, pad
from loccit.models.embedding.tokenizer import read_tokenizer
from loccit.models.rerank.registry import PartialScores, RerankError

if TYPE_CHECKING:
    import tokenizers

# Models that read thousands of tokens are too slow for that without a GPU.
_DEFAULT_MAX_TOKENS = 512
_BATCH_TOKENS = 4096
# Candidates are processed in blocks of this size, in their current order, and sorted by length only within a
# block. The first few show how fast the machine is.
_FIRST_BLOCK = 2
_BLOCK = 8
_CHARACTERS_PER_TOKEN = 64


class OnnxReranker:
    """Runs the cross-encoder in a folder that has a graph (``model.onnx``) and a ``tokenizer.json``.

    Creating one reads only the settings; the model is loaded by `prepare`, or on first use. It can be shared between
    threads. Texts that do not fit into ``time_limit_ms`` after loading are not scored.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        name: str | None = None,
        threads: int | None = None,
        max_tokens: int | None = None,
        time_limit_ms: float | None = 1500.0,
        graph: str | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if threads is not None and threads < 1:
            raise UsageError("threads must be at least 1.")
        if max_tokens is not None and max_tokens < 16:
            raise UsageError("max_tokens must be at least 16: a query and a text have to fit in.")
        if time_limit_ms is not None and not time_limit_ms > 0:
            raise UsageError("time_limit_ms must be above 0, or None for no limit.")
        found = read_folder(folder, name=name)
        if graph is not None:
            found = replace(found, graph=Path(folder) / graph)
            if not found.graph.is_file():
                raise LoccitError(f"There is no model file {found.graph}.")
        self.folder: ModelFolder = found
        self.max_tokens: int = min(max_tokens or _DEFAULT_MAX_TOKENS, found.max_tokens)
        self.threads: int = threads or available_cores()
        self.time_limit_ms = time_limit_ms
        self._clock = clock
        self._lock = threading.Lock()
        self._runtime: _Runtime | None = None

    @property
    def name(self) -> str:
        """Identity of the model."""
        return self.folder.name

    def prepare(self) -> None:
        """Load the model, if it is not loaded yet."""
        self._load()

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the probability that each text answers the query; `PartialScores` if time runs out."""
        if not texts:
            return []
        runtime = self._load()
        start = self._clock()
        encodings = runtime.encode(query, texts)
        lengths = [len(encoding.ids) for encoding in encodings]
        scores: list[float | None] = [None] * len(texts)
        tokens = 0
        began = self._clock()
        for batch in _in_order(lengths):
            ahead = len(batch) * max(lengths[index] for index in batch)
            if tokens and self._is_over(start, began, ahead / tokens):
                return PartialScores(scores)
            for index, score in zip(batch, runtime.score([encodings[index] for index in batch]), strict=True):
                scores[index] = score
            tokens += ahead
        return [score for score in scores if score is not None]

    def _is_over(self, start: float, began: float, share: float) -> bool:
        """Whether work of ``share`` times what was done since ``began`` would exceed the limit."""
        if self.time_limit_ms is None:
            return False
        now = self._clock()
        return now - start + (now - began) * share > self.time_limit_ms / 1000

    def _load(self) -> _Runtime:
        with self._lock:
            if self._runtime is None:
                self._runtime = _Runtime(self.folder, self.threads, self.max_tokens)
            return self._runtime


class _Runtime:
    """The loaded model: tokenizer and session."""

    def __init__(self, folder: ModelFolder, threads: int, max_tokens: int) -> None:
        self._tokenizer: tokenizers.Tokenizer = read_tokenizer(folder.tokenizer)
        self._session = open_session(folder.graph, threads)
        self._inputs = encoder_inputs(self._session, folder.graph)
        self._output = _choose_output(self._session, folder.graph)
        self._room = max_tokens - self._tokenizer.num_special_tokens_to_add(True)

    def encode(self, query: str, texts: Sequence[str]) -> list[tokenizers.Encoding]:
        """Return each text paired with the query; the text is truncated if both are too long together."""
        limit = self._room * _CHARACTERS_PER_TOKEN
        (asked,) = self._tokenizer.encode_batch([query[:limit]], add_special_tokens=False)
        # A very long query leaves half of the space to the text.
        asked.truncate(self._room // 2)
        pairs = []
        for text in self._tokenizer.encode_batch([text[:limit] for text in texts], add_special_tokens=False):
            text.truncate(self._room - len(asked.ids))
            pairs.append(self._tokenizer.post_process(asked, text, True))
        return pairs

    def score(self, encodings: Sequence[tokenizers.Encoding]) -> list[float]:
        padded = pad(encodings)
        try:
            (output,) = self._session.run([self._output], {name: padded[name] for name in self._inputs})
        except Exception as error:  # the library's exceptions share no public base
            raise RerankError(f"the model failed: {error}") from error
        logits = _logits(np.asarray(output, np.float64))
        if logits.shape != (len(encodings),) or not np.isfinite(logits).all():
            raise RerankError("the model gave no usable scores.")
        return [float(value) for value in _sigmoid(logits)]


def _choose_output(session: Any, graph: Path) -> str:
    """Return the name of the output with the scores."""
    outputs = {entry.name: entry.shape for entry in session.get_outputs()}
    name = "logits" if "logits" in outputs else next(iter(outputs))
    shape = outputs[name]
    if len(shape) > 2 or (len(shape) == 2 and isinstance(shape[1], int) and shape[1] not in (1, 2)):
        raise LoccitError(
            f"{graph} is not a cross-encoder: it gives {name} of shape {shape}, not one score (or the logits of no "
            "and yes) for each pair."
        )
    return str(name)


def _logits(output: NDArray[np.float64]) -> NDArray[np.float64]:
    """Reduce the model's output for each pair to one number."""
    if output.ndim == 2 and output.shape[1] == 2:
        return np.asarray(output[:, 1] - output[:, 0])
    return output.reshape(-1) if output.ndim == 1 or output.shape[1] == 1 else output


def _sigmoid(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    # Written so that no exponential can overflow.
    small = np.exp(-np.abs(logits))
    return np.asarray(np.where(logits >= 0, 1.0, small) / (1.0 + small))


def _in_order(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield indices in batches: the first candidates first, and within a block grouped by length."""
    start = 0
    while start < len(lengths):
        stop = start + (_BLOCK if start else _FIRST_BLOCK)
        for batch in batches(lengths[start:stop], tokens=_BATCH_TOKENS, texts=_BLOCK):
            yield [start + index for index in batch]
        start = stop
