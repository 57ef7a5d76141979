"""What a folder with an ONNX model says about itself.

Reads our own ``model.json`` and the files that sentence-transformers models carry, in that order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinakes.embedding.pooling import Pooling
from pinakes.errors import PinakesError

_GRAPHS = ("model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx", "onnx/model_int8.onnx")
_DEFAULT_MAX_TOKENS = 512


@dataclass(frozen=True)
class ModelFolder:
    """The files and settings of a model."""

    graph: Path
    tokenizer: Path
    name: str
    dimension: int | None
    max_tokens: int
    languages: frozenset[str] | None
    pooling: Pooling
    query_prefix: str
    document_prefix: str


def read_folder(path: str | Path, *, name: str | None = None) -> ModelFolder:
    """Find the graph, the tokenizer and the settings in ``path``."""
    folder = Path(path)
    if not folder.is_dir():
        raise PinakesError(f"There is no model folder {folder}.")
    graph = next((folder / file for file in _GRAPHS if (folder / file).is_file()), None)
    if graph is None:
        raise PinakesError(f"{folder} has no ONNX model: expected one of {', '.join(_GRAPHS)} in it.")
    tokenizer = tokenizer_file(folder)
    own = _read(folder / "model.json")
    config = _read(folder / "config.json")
    sentence = _read(folder / "sentence_bert_config.json")
    prompts = _prompts(own, _read(folder / "config_sentence_transformers.json"))
    dimension = own.get("dimension") or config.get("hidden_size")
    languages = own.get("languages")
    return ModelFolder(
        graph=graph,
        tokenizer=tokenizer,
        name=str(name or own.get("name") or folder.resolve().name),
        dimension=int(dimension) if dimension else None,
        max_tokens=_max_tokens(own, sentence, config),
        languages=frozenset(languages) if languages else None,
        pooling=_pooling(own, _read(folder / "1_Pooling" / "config.json")),
        query_prefix=prompts[0],
        document_prefix=prompts[1],
    )


def tokenizer_file(folder: Path) -> Path:
    """Return the ``tokenizer.json`` of a model folder."""
    for file in (folder / "tokenizer.json", folder / "onnx" / "tokenizer.json"):
        if file.is_file():
            return file
    raise PinakesError(f"{folder} has no tokenizer.json: Pinakes needs the fast tokenizer of the model.")


def _read(file: Path) -> Mapping[str, Any]:
    if not file.is_file():
        return {}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise PinakesError(f"Cannot read {file}: {error}") from error
    return content if isinstance(content, dict) else {}


def _max_tokens(own: Mapping[str, Any], sentence: Mapping[str, Any], config: Mapping[str, Any]) -> int:
    found = own.get("max_tokens") or sentence.get("max_seq_length") or config.get("max_position_embeddings")
    return int(found or _DEFAULT_MAX_TOKENS)


def _pooling(own: Mapping[str, Any], config: Mapping[str, Any]) -> Pooling:
    chosen = own.get("pooling")
    mode = chosen.get("mode") if isinstance(chosen, dict) else chosen
    mode = mode or config.get("pooling_mode")
    if mode == "cls" or (mode is None and config.get("pooling_mode_cls_token")):
        return "cls"
    if mode == "max" or (mode is None and config.get("pooling_mode_max_tokens")):
        return "max"
    if mode in (None, "mean"):
        return "mean"
    raise PinakesError(f"Pooling {mode!r} is not supported; use mean, cls or max.")


def _prompts(own: Mapping[str, Any], config: Mapping[str, Any]) -> tuple[str, str]:
    prompts = config.get("prompts") or {}
    query = own.get("query_prefix", prompts.get("query", ""))
    document = own.get("document_prefix", prompts.get("document", prompts.get("passage", "")))
    return str(query or ""), str(document or "")
