"""From the name of a model to the model."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path
from typing import Any

from pinakes.embedding.onnx import OnnxEmbedder, tokenizer_file
from pinakes.embedding.protocol import Embedder, Tokenizer
from pinakes.embedding.tokenizer import HuggingFaceTokenizer
from pinakes.errors import PinakesError

BUNDLED_MODEL = Path(__file__).parent / "models" / "all-minilm-l6-v2"
FAST_MODEL = Path(__file__).parent / "models" / "minilm-l3-student"
_BUNDLED = {
    **dict.fromkeys(("default", "bundled", "all-minilm-l6-v2", "all-minilm-l6-v2-int8"), BUNDLED_MODEL),
    **dict.fromkeys(("fast", "minilm-l3-student", "minilm-l3-student-int8"), FAST_MODEL),
}
_REMOTE = ("openai", "azure", "ollama")
_OLLAMA_URL = "http://localhost:11434/v1"
_GROUP = "pinakes.embedders"
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_HUB_FILES = [
    "*.json",
    "1_Pooling/*.json",
    "model.onnx",
    "onnx/model.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model_int8.onnx",
    "onnx/*.onnx_data",
]


def load_embedder(spec: str | Path | None = None, **options: Any) -> Embedder:
    """Return the embedder that ``spec`` names; ``options`` go to its constructor.

    Forms: nothing or ``default``; ``fast``, which takes half the time; a folder with an ONNX model;
    ``openai:MODEL``, ``azure:DEPLOYMENT``, ``ollama:MODEL``; a Hugging Face name ``org/name`` (downloaded only with
    ``allow_download=True``); a name that an installed package registered under the entry point
    ``pinakes.embedders``.
    """
    text = _text(spec)
    allow_download = bool(options.pop("allow_download", False))
    if bundled := _bundled(text):
        return OnnxEmbedder(bundled, **options)
    scheme, _, model = text.partition(":")
    if scheme in _REMOTE and model:
        return _remote(scheme, model, options)
    plugin = _plugin(text)
    if plugin is not None:
        embedder = plugin.load()(**options)
        if not isinstance(embedder, Embedder):
            raise PinakesError(f"The embedder {text!r} ({plugin.value}) does not offer what Pinakes needs.")
        return embedder
    folder = local_folder(text)
    if folder is not None:
        return OnnxEmbedder(folder, **options)
    if _HUB_NAME.fullmatch(text):
        return OnnxEmbedder(hub_folder(text, allow_download), **{"name": text, **options})
    raise _unknown(text)


def load_tokenizer(spec: str | Path | None = None, *, allow_download: bool = False) -> Tokenizer:
    """Return the tokenizer of the model that ``spec`` names, without loading the model.

    A remote or third-party model does not tell its tokens: the bundled tokenizer stands in for its own.
    """
    text = _text(spec)
    scheme, _, model = text.partition(":")
    if _bundled(text) or (scheme in _REMOTE and model) or _plugin(text) is not None:
        return HuggingFaceTokenizer(tokenizer_file(BUNDLED_MODEL))
    folder = local_folder(text)
    if folder is None and _HUB_NAME.fullmatch(text):
        folder = hub_folder(text, allow_download)
    if folder is None:
        raise _unknown(text)
    return HuggingFaceTokenizer(tokenizer_file(folder))


def _text(spec: str | Path | None) -> str:
    return "default" if spec is None else str(spec).strip()


def _bundled(text: str) -> Path | None:
    return _BUNDLED.get(text.lower())


def _remote(scheme: str, model: str, options: dict[str, Any]) -> Embedder:
    from pinakes.embedding.openai import OpenAICompatibleEmbedder

    if scheme == "ollama":
        options = {"base_url": _OLLAMA_URL, **options}
    if scheme == "azure":
        # Naming the version, even as the default, is what makes the client an Azure one.
        options = {"api_version": "2024-10-21", **options}
    return OpenAICompatibleEmbedder(model, **options)


def _plugin(name: str) -> metadata.EntryPoint | None:
    return next(iter(metadata.entry_points(group=_GROUP, name=name)), None)


def local_folder(text: str) -> Path | None:
    """Return the folder that a text names, or None when it is no path; a path that is not there is an error."""
    if not text:
        return None
    folder = Path(text).expanduser()
    if folder.is_dir():
        return folder
    looks_like_path = folder.is_absolute() or text.startswith((".", "~")) or "\\" in text
    if looks_like_path:
        raise PinakesError(f"There is no model folder {folder}.")
    return None


def hub_folder(name: str, allow_download: bool) -> Path:
    """Return the folder of a Hugging Face model, from the cache or, where allowed, downloaded."""
    import huggingface_hub
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(huggingface_hub.snapshot_download(name, local_files_only=True))
        if allow_download and not any(folder.rglob("*.onnx")):
            raise LocalEntryNotFoundError("cached without its ONNX files")
        return folder
    except HFValidationError as error:
        raise _unknown(name) from error
    except LocalEntryNotFoundError as error:
        if not allow_download:
            raise PinakesError(
                f"The model {name!r} is not on this machine: no such folder, nor in the Hugging Face cache. "
                f"Fetch it once with: hf download {name}"
            ) from error
    try:
        return Path(huggingface_hub.snapshot_download(name, allow_patterns=_HUB_FILES))
    except Exception as error:  # network, missing repository, gated access, full disk
        raise PinakesError(f"Cannot download the model {name!r}: {error}") from error


def _unknown(text: str) -> PinakesError:
    plugins = sorted(point.name for point in metadata.entry_points(group=_GROUP))
    registered = f" Registered here: {', '.join(plugins)}." if plugins else ""
    return PinakesError(
        f"Unknown embedding model {text!r}. Use: default or fast, which are bundled; a folder with model.onnx and "
        "tokenizer.json; openai:MODEL, azure:DEPLOYMENT or ollama:MODEL; a Hugging Face name org/name; or the name of "
        f"an embedder that a package registered.{registered}"
    )
