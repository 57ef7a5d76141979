"""Models on the Hugging Face hub: found in this machine's cache, or downloaded on request.

`plan_download` returns what would be downloaded and its size; `Download.run` downloads it. Every file is compared with
the hub's checksum for it. Errors say what to do, and nothing but the cache changes.
"""

from __future__ import annotations

import errno
import hashlib
import inspect
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from loccit.errors import LoccitError
from loccit.models.embedding.families import graphs_of
from loccit.models.embedding.folder import TABLES, TOKENIZERS, is_static

HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_BLOCK = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_ANYWAY = "Nothing else was changed. To use a model downloaded elsewhere, name its folder: --model FOLDER."


@dataclass(frozen=True, slots=True)
class HubFile:
    """One file of a model; ``sha256``, or else ``git_hash``, is its expected checksum."""

    name: str
    size: int
    sha256: str
    git_hash: str


@dataclass(frozen=True, slots=True)
class Download:
    """The files to download for a model, their source and their target."""

    name: str
    files: tuple[HubFile, ...]
    source: str
    target: Path

    @property
    def size(self) -> int:
        """The total size in bytes."""
        return sum(file.size for file in self.files)

    def run(self, progress: Callable[[int, int], None] | None = None) -> Path:
        """Download the files, reporting bytes done and total, and return the model's folder."""
        self._check_space()
        done = 0
        for file in self.files:
            path = _fetch(self, file, _counter(partial(self._tell, progress, done)))
            _verify(self.name, file, path)
            done += file.size
            self._tell(progress, done, 0)
        folder = cached_folder(self.name)
        if folder is None:
            raise LoccitError(f"The files of {self.name} were downloaded, but are not in {self.target}.")
        return folder

    def _tell(self, progress: Callable[[int, int], None] | None, before: int, more: int) -> None:
        if progress is not None:
            progress(before + more, self.size)

    def _check_space(self) -> None:
        place = next(path for path in (self.target, *self.target.parents) if path.exists())
        free = shutil.disk_usage(place).free
        if free < self.size:
            raise _no_space(self, free)


def cached_folder(name: str) -> Path | None:
    """Return the folder of a model in this machine's cache; None if it is missing or incomplete."""
    from huggingface_hub import constants

    store = Path(constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}"
    try:
        commit = (store / "refs" / "main").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    folder = store / "snapshots" / commit
    return folder if folder.is_dir() and _is_whole(folder, name) else None


def _is_whole(folder: Path, name: str) -> bool:
    # The tokenizer is downloaded last: if it is present, so are the weights.
    weights = TABLES if is_static(folder) else graphs_of(name)
    return all(any((folder / file).is_file() for file in files) for files in (weights, TOKENIZERS))


def hub_folder(name: str, allow_download: bool, how: str = "") -> Path:
    """Return the folder of a model, from the cache or, if allowed, downloaded; ``how`` says how to download it."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        # Only validates the name; which of its files are present is checked below.
        try_to_load_from_cache(name, TOKENIZERS[0])
    except HFValidationError as error:
        raise LoccitError(f"{name!r} is not a valid model name.") from error
    folder = cached_folder(name)
    if folder is not None:
        return folder
    if not allow_download:
        raise not_here(name, f"Download it once with: {how or f'hf download {name}'}")
    return plan_download(name).run()


def not_here(name: str, advice: str) -> LoccitError:
    """Return the message for a model that is not on this machine."""
    return LoccitError(
        f"The model {name!r} is not on this machine, neither as a folder nor in the Hugging Face cache. {advice}"
    )


def is_offline() -> bool:
    """Whether the environment forbids reaching the hub (``HF_HUB_OFFLINE``)."""
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)


def plan_download(name: str) -> Download:
    """Ask the hub which files a model has, and return those needed."""
    from huggingface_hub import HfApi, constants

    if is_offline():
        raise not_here(name, "HF_HUB_OFFLINE is set, so it is not downloaded. Unset it, or name a folder.")
    try:
        api = HfApi()
        found = api.model_info(name, files_metadata=True)
    except Exception as error:  # network, missing repository, gated access, an answer that is none
        raise _explained(name, error) from error
    files = [_hub_file(entry) for entry in found.siblings or ()]
    static = "model2vec" in {found.library_name, *(found.tags or ()), (found.config or {}).get("model_type")}
    chosen = _choose(name, files, static)
    return Download(name, tuple(chosen), str(constants.ENDPOINT), Path(constants.HF_HUB_CACHE))


def _hub_file(entry: Any) -> HubFile:
    large = entry.lfs or {}
    sha256 = large.get("sha256") if isinstance(large, dict) else getattr(large, "sha256", "")
    return HubFile(str(entry.rfilename), int(entry.size or 0), str(sha256 or ""), str(entry.blob_id or ""))


def _choose(name: str, files: Sequence[HubFile], static: bool) -> list[HubFile]:
    """Return the files to download: weights first and the tokenizer last, so that its presence implies the rest."""
    names = {file.name: file for file in files}
    settings = [file for file in files if _is_setting(file.name)]
    tokenizers = [names[file] for file in TOKENIZERS if file in names]
    graph = next((graph for graph in graphs_of(name) if graph in names), None)
    table = next((table for table in reversed(TABLES) if table in names), None)
    if table is not None and (static or table == TABLES[1]):
        weights = [names[table]]
    elif graph is not None:
        weights = [*_beside(graph, files), names[graph]]
    else:
        raise LoccitError(
            f"The model {name} is not published in a form that Loccit can run: it has neither {graphs_of(name)[0]} "
            "nor onnx/model.onnx, and it is not a static model. Look for a converted copy (onnx-community/…, "
            f"Xenova/…), or convert it: optimum-cli export onnx --model {name} FOLDER, then --model FOLDER."
        )
    if not tokenizers:
        raise LoccitError(f"The model {name} has no tokenizer.json: Loccit needs the fast tokenizer.")
    return [*settings, *weights, tokenizers[0]]


def _is_setting(name: str) -> bool:
    folder, _, last = name.rpartition("/")
    wanted = ("config.json", "config_sentence_transformers.json", "sentence_bert_config.json", "modules.json")
    return (not folder and last in wanted) or (
        last == "config.json" and bool(re.fullmatch(r"\d+_\w+", folder))
    )


def _beside(graph: str, files: Sequence[HubFile]) -> list[HubFile]:
    """Return the weight files of a graph: named after it or, from some exporters, without a suffix."""
    folder = graph.rpartition("/")[0]
    return [
        file
        for file in files
        if file.name != graph
        and (
            file.name.startswith((f"{graph}_", f"{graph}."))
            or (folder and file.name.rpartition("/")[0] == folder and "." not in file.name)
        )
    ]


def _counter(report: Callable[[int], Any]) -> type[Any]:
    """Return a progress bar class for the hub's library that displays nothing and reports."""
    import huggingface_hub.utils as library

    bar: Any = getattr(library, "tqdm")  # noqa: B009 (exported, but not for type checkers)

    class Counter(bar):  # type: ignore[misc]
        """Counts bytes."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})
            self._bytes = int(options.get("initial") or 0)

        def update(self, n: float | None = 1) -> bool | None:
            """Count."""
            self._bytes += int(n or 0)
            report(self._bytes)
            return None

    return Counter


def _fetch(download: Download, file: HubFile, counter: type[Any]) -> Path:
    import huggingface_hub

    # Older versions of the library cannot report the progress of a file.
    known = inspect.signature(huggingface_hub.hf_hub_download).parameters
    options: dict[str, Any] = {"tqdm_class": counter} if "tqdm_class" in known else {}
    try:
        return Path(huggingface_hub.hf_hub_download(download.name, file.name, **options))
    except OSError as error:
        if error.errno in _FULL:
            raise _no_space(download, shutil.disk_usage(download.target).free) from error
        raise _broken(download, file, error) from error
    except Exception as error:  # the network, in the exceptions of whichever client the library uses
        raise _broken(download, file, error) from error


def _verify(name: str, file: HubFile, path: Path) -> None:
    """Compare a file with its checksum; if it differs, it is removed, so that the next attempt downloads it again."""
    digest = hashlib.sha256() if file.sha256 else hashlib.sha1(f"blob {file.size}\0".encode())
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    wanted = file.sha256 or file.git_hash
    if wanted and digest.hexdigest() != wanted:
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        raise LoccitError(
            f"{file.name} of the model {name} is damaged: its checksum differs from the hub's. It was removed; run the "
            f"command again. If that does not help, the server or a proxy alters it. {_ANYWAY}"
        )


def _no_space(download: Download, free: int) -> LoccitError:
    return LoccitError(
        f"There is not enough space for the model {download.name}: it takes {_megabytes(download.size)}, and "
        f"{_megabytes(free)} are free in {download.target}. Make room, or set HF_HOME to another folder. {_ANYWAY}"
    )


def _broken(download: Download, file: HubFile, error: Exception) -> LoccitError:
    return LoccitError(
        f"The download of {file.name} of the model {download.name} broke off: {_reason(error)}. What arrived is kept: "
        f"run the command again to resume. {_ANYWAY}"
    )


def _explained(name: str, error: Exception) -> LoccitError:
    """Explain why the hub did not provide a model."""
    from huggingface_hub import constants
    from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError

    host = constants.ENDPOINT
    if isinstance(error, GatedRepoError):
        return LoccitError(
            f"The model {name} requires accepting its terms: do so at {host}/{name}, then run: hf auth login. {_ANYWAY}"
        )
    if isinstance(error, RepositoryNotFoundError | HFValidationError):
        return LoccitError(
            f"There is no model {name} at {host}, or it is private: check the name, or run: hf auth login. {_ANYWAY}"
        )
    return LoccitError(
        f"Cannot reach {host} for the model {name}: {_reason(error)}. Check the network or the proxy; HF_ENDPOINT "
        f"names a mirror. {_ANYWAY}"
    )


def _reason(error: Exception) -> str:
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return first.rstrip(".")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size >= 1e6 else f"{size / 1e6:.1f} MB"
