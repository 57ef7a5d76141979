"""Embedding with a static model: a vector per token, averaged (model2vec's potion, StaticEmbedding).

There is no network to run, so a text takes microseconds. Files: ``tokenizer.json`` and ``model.safetensors`` with the
table.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from loccit.errors import LoccitError
from loccit.models.embedding.folder import LocalModel, ModelFolder, read_folder
from loccit.models.embedding.onnx import normalise
from loccit.models.embedding.protocol import Vectors
from loccit.models.embedding.providers import PROCESSOR
from loccit.models.embedding.tokenizer import read_tokenizer

if TYPE_CHECKING:
    import tokenizers

_KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "i1", "U8": "u1"}
_TABLES = ("embeddings", "embedding.weight")
_GROUP_TEXTS = 1024
_CHARACTERS_PER_TOKEN = 64


class StaticEmbedder(LocalModel):
    """Averages the vectors of a text's tokens. Creating one reads only the settings; it can be shared."""

    def __init__(self, folder: str | Path, *, name: str | None = None) -> None:
        super().__init__(read_folder(folder, name=name))
        self._lock = threading.Lock()
        self._loaded: _Table | None = None

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self._table().vectors.shape[1])

    @property
    def provider(self) -> str:
        """Where the model runs: it is only a lookup."""
        return PROCESSOR

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each text, in the order given; a text without known tokens gets zeros."""
        return self._means(texts, self.folder.document_prefix)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query."""
        return np.asarray(self._means([text], self.folder.query_prefix)[0], np.float32)

    def _means(self, texts: Sequence[str], prefix: str) -> Vectors:
        table = self._table()
        vectors = np.zeros((len(texts), table.vectors.shape[1]), np.float32)
        limit = self.max_tokens * _CHARACTERS_PER_TOKEN
        for start in range(0, len(texts), _GROUP_TEXTS):
            group = [prefix + text[:limit] for text in texts[start : start + _GROUP_TEXTS]]
            for row, ids in enumerate(table.tokens(group, self.max_tokens), start):
                if len(ids):
                    vectors[row] = table.mean(ids)
        return normalise(vectors)

    def _table(self) -> _Table:
        with self._lock:
            if self._loaded is None:
                self._loaded = _Table(self.folder)
            return self._loaded


class _Table:
    """The tokenizer and the vectors of its tokens."""

    def __init__(self, folder: ModelFolder) -> None:
        self._tokenizer: tokenizers.Tokenizer = read_tokenizer(folder.tokenizer)
        tensors = read_tensors(folder.graph)
        name = next((known for known in _TABLES if known in tensors), None)
        if name is None or tensors[name].ndim != 2:
            raise LoccitError(f"{folder.graph} has no table of vectors ({' or '.join(_TABLES)}).")
        self.vectors = tensors[name]
        # A vocabulary may share vectors between tokens, and weight them separately.
        self._rows, self._weights = tensors.get("mapping"), tensors.get("weights")
        self._check(folder)
        # model2vec ignores unknown tokens; StaticEmbedding averages them too.
        unknown = json.loads(self._tokenizer.to_str())["model"].get("unk_token")
        drops = name == _TABLES[0] and isinstance(unknown, str)
        self._unknown = self._tokenizer.token_to_id(unknown) if drops else None

    def _check(self, folder: ModelFolder) -> None:
        tokens, rows = self._tokenizer.get_vocab_size(), len(self.vectors)
        known = min((len(part) for part in (self._rows, self._weights) if part is not None), default=rows)
        if self._rows is None:
            known = min(known, rows)
        elif self._rows.size and int(self._rows.max()) >= rows:
            known = 0
        if tokens > known:
            raise LoccitError(
                f"The tokenizer {folder.tokenizer} has {tokens:,} tokens, more than {folder.graph} has vectors for: "
                "they belong to different models. Download the model again, or check its folder."
            )
        if folder.dimension not in (None, self.vectors.shape[1]):
            raise LoccitError(
                f"{folder.graph} gives vectors of {self.vectors.shape[1]} dimensions, but the settings beside it say "
                f"{folder.dimension}."
            )

    def tokens(self, texts: Sequence[str], most: int) -> list[NDArray[np.int64]]:
        """Return the token numbers of each text, truncated."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        found = [np.array(encoding.ids, np.int64) for encoding in encodings]
        if self._unknown is not None:
            found = [ids[ids != self._unknown] for ids in found]
        return [ids[:most] for ids in found]

    def mean(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the mean of some tokens' vectors."""
        rows = ids if self._rows is None else self._rows[ids]
        vectors = self.vectors[rows].astype(np.float32)
        if self._weights is not None:
            vectors *= self._weights[ids, None].astype(np.float32)
        return np.asarray(vectors.mean(axis=0), np.float32)


def read_tensors(file: Path) -> Mapping[str, NDArray[Any]]:
    """Return the tensors of a safetensors file, mapped into memory."""
    try:
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(length))
        data = np.memmap(file, np.uint8, "r", offset=8 + length)
        tensors = {}
        for name, entry in header.items():
            if name != "__metadata__":
                first, last = entry["data_offsets"]
                kind = np.dtype(_KINDS[entry["dtype"]])
                tensors[name] = np.asarray(data[first:last]).view(kind).reshape(entry["shape"])
        return tensors
    except (OSError, ValueError, KeyError, TypeError, MemoryError) as error:
        raise LoccitError(
            f"Cannot read {file} as safetensors of plain numbers: {type(error).__name__} {error}"
        ) from error
