"""What the files of a model folder state; the table of families fills the gaps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loccit.errors import LoccitError
from loccit.models.embedding.families import Family, Pooling, family_of, graphs_of

_DEFAULT_MAX_TOKENS = 512
# Static models have no limit of their own; this is where model2vec truncates.
_STATIC_MAX_TOKENS = 512
# Positions in these models begin after the padding token's number, so two of them cannot be used.
_SHIFTED_POSITIONS = ("roberta", "xlm-roberta", "camembert", "mpnet")
TOKENIZERS = ("tokenizer.json", "onnx/tokenizer.json", "0_StaticEmbedding/tokenizer.json")
TABLES = ("model.safetensors", "0_StaticEmbedding/model.safetensors")
_POOLINGS: Mapping[str, Pooling] = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
}
_QUERY_PROMPTS = ("query", "retrieval.query", "search_query")
_DOCUMENT_PROMPTS = ("document", "passage", "retrieval.passage", "search_document")


@dataclass(frozen=True)
class ModelFolder:
    """The files and settings of a model.

    ``graph`` is the ONNX graph, or the table of a static model. ``pooling`` is None if unknown. ``tasks`` are the
    numbers of the query and document tasks, for a model that takes a task number. ``context_share`` is how much of a
    text's vector follows its context, if that was measured (`ingest/repeats.py`).
    """

    graph: Path
    tokenizer: Path
    name: str
    dimension: int | None
    max_tokens: int
    languages: frozenset[str] | None
    pooling: Pooling | None
    query_prefix: str
    document_prefix: str
    vocabulary: int | None = None
    projected: bool = False
    tasks: tuple[int, int] | None = None
    context_share: float = 0.0


class LocalModel:
    """An embedding model that runs on this machine, from the files of a folder."""

    def __init__(self, folder: ModelFolder) -> None:
        self.folder = folder

    @property
    def name(self) -> str:
        """Identity of the model."""
        return self.folder.name

    @property
    def max_tokens(self) -> int:
        """The maximum number of tokens that the model reads."""
        return self.folder.max_tokens

    @property
    def languages(self) -> frozenset[str] | None:
        """Languages that the model covers, or None if unknown."""
        return self.folder.languages

    @property
    def context_share(self) -> float:
        """How much of a text's vector follows the context in front of it; 0 if that was not measured."""
        return self.folder.context_share


def read_folder(path: str | Path, *, name: str | None = None) -> ModelFolder:
    """Find the graph, the tokenizer and the settings in ``path``."""
    folder = Path(path)
    if not folder.is_dir():
        raise LoccitError(f"There is no model folder {folder}.")
    own, config = _read(folder / "model.json"), _read(folder / "config.json")
    called = str(name or own.get("name") or folder.resolve().name)
    family, static = family_of(called), is_static(folder)
    modules = _modules(folder)
    query, document = _prompts(own, _read(folder / "config_sentence_transformers.json"), family)
    languages = own.get("languages") or (family.languages if family else None)
    dimension = own.get("dimension") or _dimension(folder, modules, config)
    return ModelFolder(
        graph=_table(folder) if static else _graph(folder, called),
        tokenizer=tokenizer_file(folder),
        name=called,
        dimension=int(dimension) if dimension else None,
        max_tokens=_max_tokens(folder, own, config, family, static),
        languages=frozenset(languages) if languages else None,
        pooling=_pooling(own, _read(folder / "1_Pooling" / "config.json"), family),
        query_prefix=query,
        document_prefix=document,
        vocabulary=config.get("vocab_size") if isinstance(config.get("vocab_size"), int) else None,
        projected=any(kind.endswith("Dense") for kind, _ in modules),
        tasks=_tasks(config),
        context_share=float(own.get("context_share") or 0.0),
    )


def is_static(folder: Path) -> bool:
    """Whether a folder contains a static model: a vector per token and no network (model2vec, StaticEmbedding)."""
    config = _read(folder / "config.json")
    if config.get("model_type") == "model2vec" or "StaticModel" in (config.get("architectures") or ()):
        return True
    return any(kind.endswith("StaticEmbedding") for kind, _ in _modules(folder))


def tokenizer_file(folder: Path) -> Path:
    """Return the ``tokenizer.json`` of a model folder."""
    found = _first(folder, TOKENIZERS)
    if found is None:
        raise LoccitError(f"{folder} has no tokenizer.json: Loccit needs the fast tokenizer of the model.")
    return found


def _graph(folder: Path, name: str) -> Path:
    graphs = graphs_of(name)
    found = _first(folder, graphs)
    if found is None:
        raise LoccitError(f"{folder} has no ONNX model: expected one of {', '.join(graphs)} in it.")
    return found


def _table(folder: Path) -> Path:
    found = _first(folder, TABLES)
    if found is None:
        raise LoccitError(f"{folder} has no token vectors: expected {' or '.join(TABLES)} in it.")
    return found


def _first(folder: Path, names: Sequence[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _read(file: Path) -> Mapping[str, Any]:
    content = _parsed(file)
    return content if isinstance(content, dict) else {}


def _parsed(file: Path) -> Any:
    if not file.is_file():
        return None
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LoccitError(f"Cannot read {file}: {error}") from error


def _modules(folder: Path) -> list[tuple[str, str]]:
    """Return type and folder of the modules that sentence-transformers lists."""
    listed = _parsed(folder / "modules.json")
    steps = listed if isinstance(listed, list) else []
    return [
        (str(step.get("type", "")), str(step.get("path", ""))) for step in steps if isinstance(step, dict)
    ]


def _dimension(folder: Path, modules: Sequence[tuple[str, str]], config: Mapping[str, Any]) -> Any:
    projections = [path for kind, path in modules if kind.endswith("Dense")]
    if projections:
        return _read(folder / projections[-1] / "config.json").get("out_features")
    return config.get("hidden_size") or config.get("n_embd") or config.get("hidden_dim")


def _max_tokens(
    folder: Path, own: Mapping[str, Any], config: Mapping[str, Any], family: Family | None, static: bool
) -> int:
    stated = own.get("max_tokens") or _read(folder / "sentence_bert_config.json").get("max_seq_length")
    if stated:
        return int(stated)
    if static:
        return _STATIC_MAX_TOKENS
    limits = [family.max_tokens] if family else []
    if positions := config.get("max_position_embeddings") or config.get("n_positions"):
        limits.append(int(positions) - 2 * (config.get("model_type") in _SHIFTED_POSITIONS))
    return min(limits, default=_DEFAULT_MAX_TOKENS)


def _pooling(own: Mapping[str, Any], config: Mapping[str, Any], family: Family | None) -> Pooling | None:
    chosen = own.get("pooling")
    mode = chosen.get("mode") if isinstance(chosen, dict) else chosen
    mode = mode or config.get("pooling_mode")
    if mode is None:
        modes = [name for name, value in config.items() if name.startswith("pooling_mode_") and value is True]
        mode = " and ".join(str(_POOLINGS.get(name, name.removeprefix("pooling_mode_"))) for name in modes)
    known = next((pooling for pooling in _POOLINGS.values() if pooling == mode), None)
    if mode and not known:
        raise LoccitError(f"Pooling {mode!r} is not supported; use mean, cls or max.")
    return known or (family.pooling if family else None)


def _prompts(own: Mapping[str, Any], config: Mapping[str, Any], family: Family | None) -> tuple[str, str]:
    prompts = config.get("prompts") or {}
    # Newer versions of sentence-transformers write empty prompts for every model, which means nothing.
    query = next((str(prompts[key]) for key in _QUERY_PROMPTS if prompts.get(key)), "")
    document = next((str(prompts[key]) for key in _DOCUMENT_PROMPTS if prompts.get(key)), "")
    if not query and not document and family is not None:
        query, document = family.query, family.document
    return str(own.get("query_prefix", query) or ""), str(own.get("document_prefix", document) or "")


def _tasks(config: Mapping[str, Any]) -> tuple[int, int] | None:
    names = config.get("lora_adaptations") or ()
    wanted = ("retrieval.query", "retrieval.passage")
    if not all(name in names for name in wanted):
        return None
    return names.index(wanted[0]), names.index(wanted[1])
