"""Embedding with an ONNX model in a folder, on this machine."""

from __future__ import annotations

import glob
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from loccit.errors import LoccitError
from loccit.models.embedding.families import Pooling
from loccit.models.embedding.folder import LocalModel, ModelFolder, read_folder
from loccit.models.embedding.protocol import Vectors
from loccit.models.embedding.providers import PROCESSOR, providers_for
from loccit.models.embedding.tokenizer import read_tokenizer

if TYPE_CHECKING:
    import tokenizers


def pool(hidden: NDArray[Any], mask: NDArray[np.int64], mode: Pooling) -> NDArray[np.float32]:
    """Reduce (batch, token, channel) to (batch, channel), ignoring padding."""
    values = hidden.astype(np.float32, copy=False)
    present = mask[:, :, None].astype(bool)
    if mode == "cls":
        return np.asarray(values[np.arange(len(values)), mask.argmax(axis=1)])
    if mode == "max":
        return np.asarray(np.where(present, values, -np.inf).max(axis=1), np.float32)
    total = np.where(present, values, 0.0).sum(axis=1, dtype=np.float32)
    return np.asarray(total / np.maximum(present.sum(axis=1), 1), np.float32)


def normalise(vectors: NDArray[Any]) -> Vectors:
    """Scale each row to length 1; a row of zeros is unchanged."""
    rows = np.asarray(vectors, np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), np.float32)


# An accelerator takes many texts at once: limited in tokens (including padding) to bound memory, and in texts
# because more are no faster. A processor takes one, which needs no padding and a sixth less time.
_BATCH_TOKENS = 4096
_BATCH_TEXTS = 32
# Texts are tokenised in groups, so that the encodings of a long list are never all in memory.
_GROUP_TEXTS = 1024
# No tokenizer in use packs more characters than this into a token on average: the rest would be truncated
# anyway.
_CHARACTERS_PER_TOKEN = 64
# Up to this model size each core embeds a separate text: sharing one takes longer, and for the few words of a
# query nearly twice the processor time. With a larger model a query would wait too long for a single core.
_SMALL_MODEL = 128 << 20
_SENTENCE_OUTPUTS = ("embedding", "sentence_embedding", "embeddings", "sentence_embeddings")
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


class OnnxEmbedder(LocalModel):
    """Runs the model in a folder that has a graph (``model.onnx``) and a ``tokenizer.json``.

    Creating one reads only the settings; the model is loaded when the first text is embedded. It can be
    shared between threads.

    On a processor the vector of a text does not depend on other texts. In a batch it would if the model quantises
    activations dynamically, as the bundled one does: it picks one scale per batch.
    """

    def __init__(self, folder: str | Path, *, name: str | None = None, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise LoccitError("threads must be at least 1.")
        super().__init__(read_folder(folder, name=name))
        self.threads: int = threads or available_cores()
        self._lock = threading.Lock()
        self._runtime: _Runtime | None = None

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        # Read from the graph only if the settings do not state it, since that means loading it.
        return self.folder.dimension or self._load().dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each text, in the order given."""
        runtime = self._load()
        vectors = np.zeros((len(texts), runtime.dimension), np.float32)
        for start in range(0, len(texts), _GROUP_TEXTS):
            group = texts[start : start + _GROUP_TEXTS]
            vectors[start : start + len(group)] = runtime.embed(group, self.folder.document_prefix)
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query."""
        return np.asarray(self._load().embed([text], self.folder.query_prefix, query=True)[0], np.float32)

    @property
    def provider(self) -> str:
        """The onnxruntime provider that the model runs on."""
        return self._load().provider

    def _load(self) -> _Runtime:
        with self._lock:
            if self._runtime is None:
                self._runtime = _Runtime(self.folder, self.threads)
            return self._runtime


class _Runtime:
    """The loaded model: tokenizer and session. A model whose files do not match is refused."""

    def __init__(self, folder: ModelFolder, threads: int) -> None:
        self._folder = folder
        self._characters = folder.max_tokens * _CHARACTERS_PER_TOKEN
        self._tokenizer: tokenizers.Tokenizer = read_tokenizer(folder.tokenizer)
        self._tokenizer.enable_truncation(folder.max_tokens)
        # Large models keep their weights in separate files that begin with the graph's name.
        files = folder.graph.parent.glob(f"{glob.escape(folder.graph.name)}*")
        small = sum(path.stat().st_size for path in files) <= _SMALL_MODEL
        self._session = open_session(folder.graph, 1 if small else threads)
        self.provider = str(self._session.get_providers()[0])
        alone = self.provider == PROCESSOR
        self._together = 1 if alone else _BATCH_TEXTS
        self._workers = threads if small and alone else 1
        self._inputs = encoder_inputs(self._session, folder.graph)
        self._output = _choose_output(self._session)
        self.dimension: int = self._check()

    def embed(self, texts: Sequence[str], prefix: str, *, query: bool = False) -> Vectors:
        encodings = self._tokenizer.encode_batch([prefix + text[: self._characters] for text in texts])
        vectors = np.zeros((len(texts), self.dimension), np.float32)

        def embed_batch(batch: list[int]) -> None:
            vectors[batch] = normalise(self._run(pad([encodings[index] for index in batch]), query))

        todo = list(batches([len(encoding.ids) for encoding in encodings], texts=self._together))
        workers = min(self._workers, len(todo))
        if workers < 2:
            for batch in todo:
                embed_batch(batch)
        else:
            with ThreadPoolExecutor(workers) as pool:
                # Longest first, so that no core is left with a long one at the end. The results are read,
                # because that raises errors.
                list(pool.map(embed_batch, reversed(todo)))
        return vectors

    def _run(self, padded: dict[str, NDArray[np.int64]], query: bool = False) -> NDArray[Any]:
        if self._folder.tasks:
            padded["task_id"] = np.array(self._folder.tasks[0 if query else 1], np.int64)
        (output,) = self._session.run([self._output], {name: padded[name] for name in self._inputs})
        if output.ndim == 3 and self._folder.pooling:
            output = pool(output, padded["attention_mask"], self._folder.pooling)
        return np.asarray(output)

    def _check(self) -> int:
        """Return the length of a vector, determined with the first and the last token of the vocabulary."""
        folder, tokens = self._folder, self._tokenizer.get_vocab_size()
        vector = self._try(0)
        last = self._try(tokens - 1)
        if vector is None:
            raise LoccitError(f"{folder.graph} cannot be run with the inputs of a text encoder.")
        if last is None or (folder.vocabulary or tokens) < tokens:
            raise LoccitError(
                f"The tokenizer {folder.tokenizer} has {tokens:,} tokens, more than {folder.graph} has vectors for: "
                "they belong to different models. Download the model again, or check its folder."
            )
        if vector.ndim == 3:
            raise LoccitError(
                f"{folder.graph} gives a vector for each token, and no file says how to pool them. Put the model's "
                'pooling into model.json beside it: {"pooling": "mean"}, or cls or max.'
            )
        if folder.projected and self._output not in _SENTENCE_OUTPUTS:
            raise LoccitError(
                f"{folder.graph} lacks the model's last step, a projection (modules.json). Export the model with all "
                "its steps: optimum-cli export onnx --library sentence_transformers."
            )
        found = int(vector.shape[-1])
        if folder.dimension not in (None, found):
            raise LoccitError(
                f"{folder.graph} gives vectors of {found} dimensions, but the settings beside it say "
                f"{folder.dimension}."
            )
        return found

    def _try(self, token: int) -> NDArray[Any] | None:
        ids = np.array([[token]], np.int64)
        one, none = np.ones_like(ids), np.zeros_like(ids)
        inputs = {"input_ids": ids, "attention_mask": one, "token_type_ids": none, "position_ids": none}
        try:
            return self._run(inputs)
        except Exception:  # the library's exceptions share no public base
            return None


def open_session(graph: Path, threads: int) -> Any:
    """Load a graph to run on ``threads`` cores, or on an accelerator if there is one."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what fails is raised
    # Waiting threads must not burn a core that the rest of the program could use; measured to cost nothing.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    providers = providers_for(graph)
    if "DmlExecutionProvider" in providers:
        options.enable_mem_pattern = False  # DirectML cannot do with it
    # An accelerator that is installed may still lack its driver, or an operator: the processor is always there.
    if providers != [PROCESSOR]:
        with suppress(Exception):
            return onnxruntime.InferenceSession(str(graph), options, providers=providers)
    try:
        return onnxruntime.InferenceSession(str(graph), options, providers=[PROCESSOR])
    except Exception as error:  # the library's exceptions share no public base
        raise LoccitError(f"Cannot load the model {graph}: {error}") from error


def encoder_inputs(session: Any, graph: Path) -> set[str]:
    """Return the input names of a text encoder; refuse any other graph."""
    inputs = {entry.name for entry in session.get_inputs()}
    unknown = inputs - {"input_ids", "attention_mask", "token_type_ids", "position_ids", "task_id"}
    if "input_ids" not in inputs or unknown:
        raise LoccitError(f"{graph} is not a text encoder: its inputs are {sorted(inputs)}.")
    return inputs


def pad(encodings: Sequence[tokenizers.Encoding]) -> dict[str, NDArray[np.int64]]:
    """Return encodings as rows of equal length, under each name that a text encoder may ask for."""
    # At least one position: a model may add no special tokens, and then an empty text has none.
    width = max(1, *(len(encoding.ids) for encoding in encodings))
    ids = np.zeros((len(encodings), width), np.int64)
    mask, types = np.zeros_like(ids), np.zeros_like(ids)
    for row, encoding in enumerate(encodings):
        length = len(encoding.ids)
        ids[row, :length] = encoding.ids
        types[row, :length] = encoding.type_ids
        mask[row, :length] = 1
    positions = np.broadcast_to(np.arange(width), ids.shape)
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types, "position_ids": positions}


def _choose_output(session: Any) -> str:
    """Return the name of the output to read: the text's vector if there is one, or else the token vectors."""
    outputs = [str(entry.name) for entry in session.get_outputs()]
    return next((known for known in (*_SENTENCE_OUTPUTS, *_TOKEN_OUTPUTS) if known in outputs), outputs[0])


def batches(
    lengths: Sequence[int], *, tokens: int = _BATCH_TOKENS, texts: int = _BATCH_TEXTS
) -> Iterator[list[int]]:
    """Yield indices in batches of similar length, within the limits on tokens and texts."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        # Ascending, so this text is the longest: the whole batch is padded to its length.
        if batch and (len(batch) == texts or (len(batch) + 1) * lengths[index] > tokens):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
