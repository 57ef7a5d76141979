"""From the name of an embedding model to the model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from loccit.errors import LoccitError
from loccit.models.embedding.folder import is_static, tokenizer_file
from loccit.models.embedding.hub import HUB_NAME, hub_folder
from loccit.models.embedding.joined import TwoModels
from loccit.models.embedding.multilingual import MultilingualEmbedder, MultilingualTokenizer
from loccit.models.embedding.onnx import OnnxEmbedder
from loccit.models.embedding.protocol import Embedder, Tokenizer
from loccit.models.embedding.static import StaticEmbedder
from loccit.models.embedding.tokenizer import HuggingFaceTokenizer

BUNDLED_MODEL = Path(__file__).parent / "models" / "all-minilm-l6-v2"
FAST_MODEL = Path(__file__).parent / "models" / "minilm-l3-student"
GRANITE_MODEL = Path(__file__).parent / "models" / "granite-embedding-30m-english"
_BUNDLED = {
    **dict.fromkeys(("default", "bundled", "all-minilm-l6-v2", "all-minilm-l6-v2-int8"), BUNDLED_MODEL),
    **dict.fromkeys(("fast", "minilm-l3-student", "minilm-l3-student-int8"), FAST_MODEL),
    **dict.fromkeys(("granite-embedding-30m-english", "granite-embedding-30m-english-int8"), GRANITE_MODEL),
}
_REMOTE = ("openai", "azure", "ollama")
_OLLAMA_URL = "http://localhost:11434/v1"
_GROUP = "loccit.embedders"
# What is added to a bundled model, and the default one with it. An index records the model's own name.
_ADDED = {"thorough": TwoModels.suffix, "multilingual": MultilingualEmbedder.suffix}
T = TypeVar("T")
# The bundled models, while in use: several libraries in one process share them.
_EMBEDDERS: WeakValueDictionary[Path, OnnxEmbedder] = WeakValueDictionary()
_TOKENIZERS: WeakValueDictionary[Path, HuggingFaceTokenizer] = WeakValueDictionary()
_SHARING = threading.Lock()


def load_embedder(spec: str | Path | None = None, **options: Any) -> Embedder:
    """Return the embedder that ``spec`` names; ``options`` go to its constructor.

    Forms: nothing or ``default``; ``fast``, which takes half the time; ``thorough``, which takes twice as long;
    ``granite-embedding-30m-english``; ``multilingual``, for sixteen languages; a folder with an ONNX or a static model;
    ``openai:MODEL``, ``azure:DEPLOYMENT``, ``ollama:MODEL``; a Hugging Face name ``org/name`` (downloaded only with
    ``allow_download=True``); a name that an installed package registered under the entry point ``loccit.embedders``.
    """
    text = _text(spec)
    allow_download = bool(options.pop("allow_download", False))
    if bundled := _bundled(text):
        base, added = _open(bundled, options), _added(text)
        if added == TwoModels.suffix:
            return TwoModels(base, _open(GRANITE_MODEL, options))
        return MultilingualEmbedder(base) if added else base
    scheme, _, model = text.partition(":")
    if scheme in _REMOTE and model:
        return _remote(scheme, model, options)
    plugin = _plugin(text)
    if plugin is not None:
        embedder = plugin.load()(**options)
        if not isinstance(embedder, Embedder):
            raise LoccitError(f"The embedder {text!r} ({plugin.value}) lacks members that Loccit needs.")
        return embedder
    folder = local_folder(text)
    if folder is not None:
        return open_folder(folder, **options)
    if name := hub_name(text):
        return open_folder(_from_hub(name, allow_download), **{"name": name, **options})
    raise _unknown(text)


def load_tokenizer(spec: str | Path | None = None, *, allow_download: bool = False) -> Tokenizer:
    """Return the tokenizer that texts for the model ``spec`` are measured with, without loading the model.

    That of the default model measures for all bundled ones, and for remote and third-party ones, which do not expose
    theirs: it counts words one by one, which is quick.
    """
    text = _text(spec)
    scheme, _, model = text.partition(":")
    if _added(text) == MultilingualEmbedder.suffix and (bundled := _bundled(text)):
        return MultilingualTokenizer(tokenizer_file(bundled))
    if _bundled(text) or (scheme in _REMOTE and model) or _plugin(text) is not None:
        return _shared(_TOKENIZERS, tokenizer_file(BUNDLED_MODEL), HuggingFaceTokenizer)
    folder = local_folder(text)
    if folder is None and (name := hub_name(text)):
        folder = _from_hub(name, allow_download)
    if folder is None:
        raise _unknown(text)
    return HuggingFaceTokenizer(tokenizer_file(folder))


def _shared(known: WeakValueDictionary[Path, T], path: Path, make: Callable[[Path], T]) -> T:
    with _SHARING:
        found = known.get(path)
        if found is None:
            found = known[path] = make(path)
        return found


def _from_hub(name: str, allow_download: bool) -> Path:
    from huggingface_hub.errors import HFValidationError

    try:
        return hub_folder(name, allow_download, f"loccit index --model {name} (or hf download {name})")
    except LoccitError as error:
        if isinstance(error.__cause__, HFValidationError):
            raise _unknown(name) from error
        raise


def _text(spec: str | Path | None) -> str:
    return "default" if spec is None else str(spec).strip()


def _bundled(text: str) -> Path | None:
    """Return the bundled model that a text names, or that it adds to."""
    name = text.lower()
    return _BUNDLED.get("default" if name in _ADDED else name.removesuffix(_added(text)))


def _added(text: str) -> str:
    """Return what a text names beside a bundled model, as it ends; empty if nothing."""
    name = text.lower()
    return _ADDED.get(name) or next((added for added in _ADDED.values() if name.endswith(added)), "")


def _open(folder: Path, options: dict[str, Any]) -> OnnxEmbedder:
    return OnnxEmbedder(folder, **options) if options else _shared(_EMBEDDERS, folder, OnnxEmbedder)


def _remote(scheme: str, model: str, options: dict[str, Any]) -> Embedder:
    from loccit.models.embedding.openai import OpenAICompatibleEmbedder

    if scheme == "ollama":
        options = {"base_url": _OLLAMA_URL, **options}
    if scheme == "azure":
        # Naming the version, even as the default, is what makes the client an Azure one.
        options = {"api_version": "2024-10-21", **options}
    return OpenAICompatibleEmbedder(model, **options)


def _plugin(name: str) -> metadata.EntryPoint | None:
    return next(iter(metadata.entry_points(group=_GROUP, name=name)), None)


def local_folder(text: str) -> Path | None:
    """Return the folder that a text names, or None if it is not a path; a missing path is an error."""
    if not text:
        return None
    folder = Path(text).expanduser()
    if folder.is_dir():
        return folder
    looks_like_path = folder.is_absolute() or text.startswith((".", "~")) or "\\" in text
    if looks_like_path:
        raise LoccitError(f"There is no model folder {folder}.")
    return None


def hub_name(spec: str | Path | None) -> str | None:
    """Return the Hugging Face name of a model; None for any other."""
    text = _text(spec)
    if _bundled(text) or _plugin(text) is not None or text.partition(":")[0] in _REMOTE or local_folder(text):
        return None
    return text if HUB_NAME.fullmatch(text) else None


def open_folder(folder: Path, **options: Any) -> Embedder:
    """Return the model in a folder: a static one, or an ONNX graph."""
    if is_static(folder):
        options.pop("threads", None)
        return StaticEmbedder(folder, **options)
    return OnnxEmbedder(folder, **options)


def _unknown(text: str) -> LoccitError:
    plugins = sorted(point.name for point in metadata.entry_points(group=_GROUP))
    registered = f" Registered here: {', '.join(plugins)}." if plugins else ""
    return LoccitError(
        f"Unknown embedding model {text!r}. Use: default, fast, thorough or granite-embedding-30m-english, which are "
        "bundled; multilingual; "
        "a folder with model.onnx and tokenizer.json; "
        "openai:MODEL, azure:DEPLOYMENT or ollama:MODEL; a Hugging Face name org/name; "
        f"or the name of an embedder that a package registered.{registered}"
    )
