"""The half of a library that keeps an index: it opens it, fills it from files, moves it between databases, closes it.

``Library`` adds the questions. Models, and what is derived from the index, are made when they are first needed, once,
however many threads ask.
"""

from __future__ import annotations

import glob
import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING

from loccit.config import IndexSettings, SearchSettings, Settings
from loccit.errors import IndexNotFoundError, LoccitError, ModelMismatchError, NotFoundError, UsageError
from loccit.model import Check, ContextEstimate, IndexReport, MoveReport, Progress

if TYPE_CHECKING:
    from loccit.answers.map import LibraryMaps
    from loccit.index.folder.local import LocalIndex
    from loccit.index.settings import DatabaseSettings
    from loccit.models.embedding import Embedder, Tokenizer
    from loccit.models.llm import LanguageModel
    from loccit.models.rerank import Reranker
    from loccit.search.engine import SearchEngine

INDEX_FOLDER = ".loccit"


def find_index(start: Path | None = None) -> Path | None:
    """Return the nearest ``.loccit`` folder, from ``start`` upwards."""
    here = (start or Path.cwd()).absolute()
    return next(
        (folder / INDEX_FOLDER for folder in (here, *here.parents) if (folder / INDEX_FOLDER).is_dir()), None
    )


class LibraryBase:
    """One index folder with its models and settings, and all that changes it."""

    def __init__(
        self,
        path: str | Path,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        create: bool = True,
        database: DatabaseSettings | None = None,
    ) -> None:
        """Open the library in a folder.

        ``database`` is the one that holds it, if the folder does not name it yet; one in memory keeps nothing in the
        folder either.
        """
        from loccit.index.home import open_index

        self._scratch: TemporaryDirectory[str] | None = None
        if database is not None and database.provider == "in-memory":
            self._scratch = TemporaryDirectory(prefix="loccit-", ignore_cleanup_errors=True)
            path = Path(self._scratch.name) / INDEX_FOLDER
        self.path: Path = Path(path).expanduser().absolute()
        _check_folder(self.path, create)
        self._index: LocalIndex = open_index(self.path, create=create, database=database)
        self.settings: Settings = settings or Settings()
        self.index_settings: IndexSettings = self.settings.index or self._stored_settings()
        self._models = Models(embedder, reranker)
        self._views = self._make_views()
        self._guard = threading.RLock()
        self._former: list[LocalIndex] = []

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release files and connections."""
        with self._guard:
            self._index.close()
            for former in self._former:
                former.close()
            self._former.clear()
            if self._scratch is not None:
                self._scratch.cleanup()

    def share_with_group(self) -> None:
        """Let the group of the index folder search and index; by default the folder is private to its owner."""
        from loccit.index.folder.files import GROUP, settle_modes

        with self._changing():
            self.path.chmod(GROUP)
            settle_modes(self.path)

    def _stored_settings(self) -> IndexSettings:
        stored = self._index.record.meta("settings")
        return IndexSettings.from_stored(json.loads(stored)) if stored else IndexSettings()

    # -- what is loaded when it is needed --------------------------------------------------------------------

    @property
    def embedder(self) -> Embedder:
        """The embedding model of this library, loaded when first used."""
        embedder = self._models.embedder(self.index_settings.embedding_model)
        self._check_model(embedder)
        return embedder

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that lengths are counted with."""
        return self._models.tokenizer(self.index_settings.embedding_model)

    def _check_model(self, embedder: Embedder) -> None:
        name, dimension = self._index.model
        if name and (name != embedder.name or dimension != embedder.dimension):
            raise ModelMismatchError(
                f"The index at {self._index.where} was made with the embedding model {name} ({dimension} "
                f"dimensions), not with {embedder.name} ({embedder.dimension}). Use that model, or rebuild the index "
                "with: loccit index --rebuild"
            )

    def _examine_model(self) -> list[Check]:
        """Say which model answers and where it runs, or why it does not; nothing while the index has none."""
        from loccit.models.embedding.providers import describe_embedder

        try:
            if not self._index.model[0]:
                return []
            return [Check("model", True, describe_embedder(self.embedder))]
        except LoccitError as error:
            # One that was made with a model passed in is no fault of the index.
            return [Check("model", isinstance(error, ModelMismatchError), str(error))]

    def _make_views(self) -> Views:
        return Views(self._index, lambda: self.embedder, lambda: self.tokenizer)

    # -- indexing --------------------------------------------------------------------------------------------

    def index(
        self,
        paths: Sequence[str | Path] | str | Path | None = None,
        *,
        rebuild: bool = False,
        retry_failed: bool = False,
        workers: int | None = None,
        progress: Callable[[Progress], None] | None = None,
        wait: bool = True,
        on_wait: Callable[[str], None] | None = None,
        embed: bool = True,
        language_model: LanguageModel | None = None,
        runner: str = "",
    ) -> IndexReport:
        """Update the index from files and folders; without ``paths``, from those given before.

        ``language_model`` writes the contexts instead of the one that ``context_model`` names. With a database that
        allows several writers, several ``workers`` read, embed and publish side by side; ``runner`` says where:
        ``local`` or ``ray``.
        """
        from loccit.ingest.distributed import choose_pipeline
        from loccit.ingest.pipeline import Pipeline

        if isinstance(paths, (str, Path)):
            paths = [paths]
        wanted = [str(Path(path).expanduser()) for path in paths] if paths else self._index.record.roots()
        if not wanted:
            raise UsageError("Nothing to index: give a folder, a file or a pattern.")
        for path in wanted if paths else ():
            if not os.path.lexists(path) and not glob.has_magic(path):
                raise UsageError(
                    f"{path} does not exist. Give a folder, a file or a pattern such as 'docs/**/*.md'."
                )
        with self._changing(wait=wait, on_wait=on_wait):
            self._join()
            make = choose_pipeline(
                self._index, workers, runner, own_model=self._models.given_embedder is not None, embed=embed
            )
            # Before anything changes: a model that cannot be loaded must cost nothing.
            embedder = self._models.embedder(self.index_settings.embedding_model)

            def run(index: LocalIndex) -> IndexReport:
                index.record.set_meta(
                    {
                        "model": embedder.name,
                        "dimension": str(embedder.dimension),
                        "settings": self.index_settings.fingerprint(),
                    }
                )
                pipeline = make(
                    index,
                    self.index_settings,
                    embedder,
                    workers=workers,
                    progress=progress,
                    language_model=language_model,
                )
                return pipeline.run(wanted, retry_failed=retry_failed, embed=embed)

            if not rebuild:
                self._check_model(embedder)
                return run(self._index)
            if make is Pipeline:
                return self._rebuild(embedder, run, embed=embed)
            self._forget()
            return run(self._index)

    def _rebuild(
        self, embedder: Embedder, run: Callable[[LocalIndex], IndexReport], *, embed: bool
    ) -> IndexReport:
        """Build a new index beside the old one, and replace it when the new one is complete."""
        from loccit.index.folder.rebuild import begin_rebuild, finish_rebuild

        purpose = [embedder.name, embedder.dimension, embed, self.index_settings.fingerprint()]
        built = begin_rebuild(self._index, json.dumps(purpose))
        try:
            report = run(built)
            with self._guard:
                other_model = self._index.model != built.model
                finish_rebuild(self._index, built)
                self._views = self._make_views()
                self._index.publish_anew(other_model=other_model)
        finally:
            built.close()
        return report

    @contextmanager
    def _changing(
        self, *, wait: bool = True, on_wait: Callable[[str], None] | None = None, checked: bool = True
    ) -> Iterator[None]:
        """Hold the writer's lock; unless ``checked`` is false, the index must belong to the database it did."""
        from loccit.index.folder.database import explain_errors
        from loccit.index.home import check_home, own_settings
        from loccit.index.retry import patient

        with (
            explain_errors(self._index.database.path),
            self._index.lock.held(wait=wait, on_wait=on_wait),
            patient(own_settings(self._index).patience),
        ):
            if checked:
                check_home(self._index)
            yield

    def estimate_contexts(self, settings: IndexSettings | None = None) -> ContextEstimate:
        """Estimate what contexts by the configured language model would cost; nothing is sent."""
        from loccit.ingest.llm_context import estimate_contexts

        return estimate_contexts(self._index, settings or self.index_settings)

    def forget(self, paths: Sequence[str | Path] | str | Path) -> list[str]:
        """Remove the documents below some paths from the index, and the paths from its list; return the documents."""
        from loccit.ingest.discover import is_at_or_below

        given = [paths] if isinstance(paths, (str, Path)) else list(paths)
        wanted = [str(Path(path).expanduser().absolute()) for path in given]
        with self._changing():
            record = self._index.record
            known = [*record.file_states(wanted), *record.failures()]
            gone = [path for path in known if any(is_at_or_below(path, root) for root in wanted)]
            roots = [root for root in record.roots() if root in wanted]
            if not gone and not roots:
                raise NotFoundError(f"The index contains nothing from {', '.join(map(str, given))}.")
            record.remove(gone)
            record.forget_roots(roots)
            self._index.catch_up_keyword()
            self._index.catch_up_vectors()
        return sorted(set(gone))

    def _forget(self) -> None:
        with self._guard:
            self._views = self._make_views()
            self._index.record.clear()
            self._index.record.set_meta({"model": "", "dimension": "0"})
            for name in ("columns", "keyword", "vectors", "concepts"):
                self._index.discard_derived(name)

    # -- the database ----------------------------------------------------------------------------------------

    def follow(self, *, progress: Callable[[Progress], None] | None = None) -> bool:
        """Fetch what others published in the database; return whether there was anything."""
        from loccit.index.home import follow

        with self._changing(checked=False):
            changed = follow(self._index, _steps("copy", progress))
            self._take_over_settings()
        return changed

    def migrate(
        self,
        database: DatabaseSettings,
        *,
        replace: bool = False,
        drop_old: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> MoveReport:
        """Move the library to another database or, with the provider ``embedded``, back into its folder.

        Nothing is embedded again. ``replace`` overwrites another library in the collection; ``drop_old`` deletes the
        old copy once the new one has been verified. If interrupted, the library stays where it was.
        """
        from loccit.index.moving import move

        if self._scratch is not None:
            raise UsageError(
                "A library in memory cannot be moved: index the documents into the other database."
            )
        with self._changing():
            moved, report = move(
                self._index,
                database,
                replace_other=replace,
                drop_old=drop_old,
                step=_steps("copy", progress),
            )
            with self._guard:
                # Searches in other threads finish with what they began with.
                self._former.append(self._index)
                self._index = moved
                self._views = self._make_views()
        return report

    def _join(self) -> None:
        """Take over a library that was there before this copy of it; needs the lock."""
        from loccit.index.home import follow

        if not self._index.record.meta("model"):
            follow(self._index)
            self._take_over_settings()

    def _take_over_settings(self) -> None:
        if self.settings.index is None:
            self.index_settings = self._stored_settings()

    @property
    def generation(self) -> int:
        """A number that grows with every change of the index."""
        return self._index.record.generation()

    @property
    def roots(self) -> list[str]:
        """The files, folders and patterns that the index is kept up to date with."""
        return self._index.record.roots()

    @property
    def root(self) -> str:
        """The folder that paths are told from: the one that holds the index, or else all that is indexed; or none."""
        # Of a pattern, the folder before its first wildcard.
        found = [Path(re.split(r"[*?\[]", root)[0]) for root in self.roots]
        folders = [path if path.is_dir() else path.parent for path in found]
        home = self.path.absolute().parent
        if all(home in (folder, *folder.parents) for folder in folders):
            return str(home)
        try:
            return os.path.commonpath(folders)
        except ValueError:  # on several drives
            return ""

    def below_root(self, name: str) -> str:
        """Return the path of the document that stands there below the root; any other name as it is."""
        path = str(Path(self.root, name))
        return path if self._index.names.at([path]) else name


class Models:
    """The models that a library works with: those that were given, or else by their names in the settings."""

    def __init__(self, embedder: Embedder | None, reranker: Reranker | None) -> None:
        self.given_embedder = embedder
        self._embedder = embedder
        self._tokenizer: Tokenizer | None = None
        self._given_reranker = reranker
        self._rerankers: dict[tuple[str, float], Reranker] = {}
        self._guard = threading.RLock()
        # A lock of its own: whoever needs no reranker does not wait for one that takes long to make.
        self._making_reranker = threading.Lock()

    def embedder(self, name: str) -> Embedder:
        """Return the embedding model; an empty name means the bundled one."""
        with self._guard:
            if self._embedder is None:
                from loccit.models.embedding import load_embedder

                self._embedder = load_embedder(name or None)
            return self._embedder

    def tokenizer(self, name: str) -> Tokenizer:
        """Return the tokenizer of the embedding model."""
        with self._guard:
            if self._tokenizer is None:
                from loccit.models.embedding import load_tokenizer

                self._tokenizer = load_tokenizer(name or None)
            return self._tokenizer

    def reranker(self, settings: SearchSettings) -> tuple[Reranker | None, str]:
        """Return the reranker that the settings ask for, or why there is none: that costs a note, not the search."""
        if not settings.rerank_enabled or not settings.uses("rerank"):
            return None, ""
        if self._given_reranker is not None:
            return self._given_reranker, ""
        if not settings.rerank_model:
            raise UsageError(
                "No reranker is configured: set rerank_model, or name one with --reranker (see docs/reranking.md)."
            )
        from loccit.models.rerank import load_reranker

        key = (settings.rerank_model, settings.rerank_timeout)
        with self._making_reranker:
            try:
                if key not in self._rerankers:
                    self._rerankers[key] = load_reranker(
                        settings.rerank_model, timeout=settings.rerank_timeout
                    )
                return self._rerankers[key], ""
            except UsageError:
                raise
            except LoccitError as error:
                return None, f"Results are not reranked: {error}"


class Views:
    """What is derived from one index while it is open; each part follows the index's generations itself."""

    def __init__(
        self, index: LocalIndex, embedder: Callable[[], Embedder], tokenizer: Callable[[], Tokenizer]
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._tokenizer = tokenizer
        self._guard = threading.RLock()

    def maps(self) -> LibraryMaps:
        """Return which documents refer to which."""
        with self._guard:
            return self._maps

    def engine(self) -> SearchEngine:
        """Return what searches."""
        with self._guard:
            return self._engine

    # The lock is the callers': before Python 3.12 these had one of their own for all objects together.

    @cached_property
    def _maps(self) -> LibraryMaps:
        from loccit.answers.map import LibraryMaps

        return LibraryMaps(self._index)

    @cached_property
    def _engine(self) -> SearchEngine:
        from loccit.search.engine import SearchEngine

        return SearchEngine(self._index, self._embedder, self._tokenizer)


def _check_folder(path: Path, create: bool) -> None:
    """Refuse a path that is no index, and none that one could be made in."""
    from loccit.index.folder.local import KEYWORD, RECORD

    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file; an index is a folder.")
    if (path / RECORD).exists():
        return
    if not create:
        what = (
            "There is no index at"
            if not (path / KEYWORD).is_dir()
            else f"{RECORD} is missing in the index at"
        )
        raise IndexNotFoundError(f"{what} {path}. Make one with: loccit index PATH")
    if path.is_dir() and _holds_other_files(path):
        raise UsageError(
            f"{path} contains other files; an index needs its own folder, such as {path / INDEX_FOLDER}."
        )


def _steps(stage: str, progress: Callable[[Progress], None] | None) -> Callable[[int, int], None]:
    """Report counts as steps of a stage."""

    def step(done: int, total: int) -> None:
        if progress is not None:
            progress(Progress(stage, done, total))

    return step


def _holds_other_files(folder: Path) -> bool:
    """Whether a folder is somebody's folder of documents, rather than one where an index was, or is being made."""
    ours = (
        "record.sqlite3",
        "writer.",
        "columns",
        "texts",
        "keyword",
        "vectors",
        "concepts",
        "rebuild",
        "database.json",
        ".",
    )
    return any(not path.name.startswith(ours) for path in folder.iterdir())
