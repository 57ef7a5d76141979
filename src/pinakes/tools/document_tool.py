"""HierarchicalDocumentTool: a folder of documents as one tool of an agent, built from its configuration."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pinakes.errors import PinakesError, UsageError
from pinakes.tools.format import format_definition, format_error, format_section
from pinakes.tools.functions import ToolFunction, find_function, tool_functions
from pinakes.tools.loading import Loader

if TYPE_CHECKING:
    from pinakes.config.agent import HierarchicalDocumentToolConfig
    from pinakes.embedding import Embedder
    from pinakes.library import Library
    from pinakes.model import DefineResponse, IndexReport, Progress, SearchResponse, SectionView

T = TypeVar("T")


class HierarchicalDocumentTool:
    """Searches the documents that its configuration names. Safe to share between threads and tasks.

    The index is brought up to date when the tool is first used, or, without ``defer_loading``, from the moment it is
    made, in the background. What can be awaited runs in threads and never blocks the event loop.
    """

    def __init__(
        self,
        config: HierarchicalDocumentToolConfig,
        *,
        base_dir: str | Path | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self.config = config
        self._loader = Loader(config, Path(base_dir) if base_dir else None, embedder)
        if not config.defer_loading:
            self._loader.check_source()
            self._loader.start()

    @classmethod
    def from_yaml(
        cls, path: str | Path, name: str | None = None, *, embedder: Embedder | None = None
    ) -> HierarchicalDocumentTool:
        """Build a tool of an agent file: the one of that name, or the only one."""
        from pinakes.config.agent import load_agent

        agent = load_agent(path)
        return cls(agent.document_tool(name), base_dir=agent.base_dir, embedder=embedder)

    @property
    def name(self) -> str:
        """Name of the tool."""
        return self.config.name

    @property
    def description(self) -> str:
        """What the tool is for."""
        return self.config.description

    @property
    def functions(self) -> list[ToolFunction]:
        """What a model can call: search, read a section and, where definitions are extracted, look up a term."""
        return tool_functions(self.config)

    @property
    def library(self) -> Library:
        """The library behind the tool, loaded when it is first asked for."""
        return self._loader.library()

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has for the configured tokenizer; budgets are counted so."""
        return self._loader.count(text)

    def close(self) -> None:
        """Stop indexing if it is under way, and let go of the index."""
        self._loader.close()

    def __enter__(self) -> HierarchicalDocumentTool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> HierarchicalDocumentTool:
        await self.initialize()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    # -- loading ---------------------------------------------------------------------------------------------

    async def initialize(self, progress: Callable[[Progress], None] | None = None) -> IndexReport:
        """Bring the index up to date with the source; once, however many ask. ``progress`` is called in this loop."""
        return await asyncio.wrap_future(self._loader.start(_in_this_loop(progress)))

    def initialize_sync(self, progress: Callable[[Progress], None] | None = None) -> IndexReport:
        """Like :meth:`initialize`, for callers that wait; ``progress`` is called in another thread."""
        return self.start(progress).result()

    def start(self, progress: Callable[[Progress], None] | None = None) -> Future[IndexReport]:
        """Like :meth:`initialize`, for callers that do not wait, or not for long."""
        return self._loader.start(progress)

    @property
    def loaded(self) -> bool:
        """Whether the tool can answer at once."""
        return self._loader.usable

    async def refresh(self, progress: Callable[[Progress], None] | None = None) -> IndexReport:
        """Look at the source again; until that is done, searches see what was there before."""
        return await asyncio.wrap_future(self._loader.start(_in_this_loop(progress), again=True))

    def refresh_sync(self, progress: Callable[[Progress], None] | None = None) -> IndexReport:
        """Like :meth:`refresh`, for callers that wait."""
        return self._loader.start(progress, again=True).result()

    def update_sync(self, progress: Callable[[Progress], None]) -> IndexReport:
        """Like :meth:`refresh_sync`, in this thread: what ``progress`` raises ends it."""
        with self._loader.reading() as library:
            return self._loader.index(library, progress)

    # -- asking ----------------------------------------------------------------------------------------------

    async def search(self, query: str, **overrides: Any) -> SearchResponse:
        """Find passages. ``top_k``, ``mode``, ``document``, ``filters``, ``min_score`` and ``token_budget`` override
        the configuration for this query; the configured filters always hold.
        """
        await self._loaded()
        return await asyncio.to_thread(self.search_sync, query, **overrides)

    async def get_definition(self, term: str, *, document: str | None = None) -> DefineResponse:
        """Return what the documents say a term means."""
        await self._loaded()
        return await asyncio.to_thread(self.get_definition_sync, term, document=document)

    async def get_section(self, reference: str, *, document: str | None = None) -> SectionView:
        """Return the section or clause that a reference, an id or a heading names."""
        await self._loaded()
        return await asyncio.to_thread(self.get_section_sync, reference, document=document)

    def search_sync(
        self,
        query: str,
        *,
        top_k: int | None = None,
        mode: str | None = None,
        document: str | None = None,
        filters: Mapping[str, object] | None = None,
        min_score: float | None = None,
        token_budget: int | None = None,
        rerank: bool | None = None,
        explain: bool = False,
    ) -> SearchResponse:
        """Like :meth:`search`, for callers that wait."""
        modes = self.config.search_modes
        if mode is not None and mode not in modes:
            raise UsageError(f"mode must be one of {', '.join(modes)}, not {mode!r}.")
        return self.ask(
            lambda library: library.search(
                query,
                top_k=self._loader.configured("top_k") if top_k is None else top_k,
                mode=mode,
                filters=filters,
                document=document,
                min_score=min_score,
                token_budget=self.config.token_budget if token_budget is None else token_budget,
                rerank=rerank,
                explain=explain,
            )
        )

    def get_definition_sync(self, term: str, *, document: str | None = None) -> DefineResponse:
        """Like :meth:`get_definition`, for callers that wait."""
        return self.ask(lambda library: library.define(term, document=document))

    def get_section_sync(self, reference: str, *, document: str | None = None) -> SectionView:
        """Like :meth:`get_section`, for callers that wait."""
        return self.ask(lambda library: library.section(reference, document=document))

    async def _loaded(self) -> None:
        """Wait for the first load in the event loop: threads that only wait would keep others from working."""
        if not self._loader.loaded:
            await self.initialize()

    def ask(self, question: Callable[[Library], T]) -> T:
        """Put a question to the documents that the tool may show; nobody closes their library meanwhile."""
        with self._loader.reading():
            return question(self._loader.scoped())

    # -- for a model -----------------------------------------------------------------------------------------

    async def call(self, name: str, arguments: Mapping[str, object] | str | None = None) -> str:
        """Answer a model's call of one of :attr:`functions`, as text within the token budget.

        Arguments may come as JSON and under names that models invent (``q``, ``limit``, ``file``). What is wrong with
        them, or not found, is said in the answer: nothing is raised that the model could put right itself.
        """
        try:
            await self._loaded()
        except PinakesError as error:
            return format_error(error)
        return await asyncio.to_thread(self.call_sync, name, arguments)

    def call_sync(self, name: str, arguments: Mapping[str, object] | str | None = None) -> str:
        """Like :meth:`call`, for callers that wait."""
        budget = self.config.token_budget
        try:
            function = find_function(self.functions, name)
            given = function.read(_parsed(arguments))
            budget = given.pop("token_budget", None) or budget
            return self._answer(function, given, budget)
        except PinakesError as error:
            # When loading is what failed, there is no tokenizer to count with; such a message is short.
            return format_error(error, budget, self.count_tokens if self._loader.usable else None)

    def _answer(self, function: ToolFunction, given: dict[str, Any], budget: int | None) -> str:
        if function.kind == "search_documents":
            return self.search_sync(**given, token_budget=budget).format()
        if function.kind == "read_section":
            return format_section(self.get_section_sync(**given), budget, self.count_tokens)
        return format_definition(self.get_definition_sync(**given), budget, self.count_tokens)


def _in_this_loop(progress: Callable[[Progress], None] | None) -> Callable[[Progress], object] | None:
    """Return a callback for another thread that has ``progress`` called in the running event loop."""
    if progress is None:
        return None
    loop = asyncio.get_running_loop()
    return lambda step: loop.call_soon_threadsafe(progress, step)


def _parsed(arguments: Mapping[str, object] | str | None) -> Mapping[str, object]:
    """Return the arguments of a call, which APIs hand over as JSON."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError) as error:
            raise UsageError(f"The arguments are not valid JSON ({error}).") from error
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise UsageError(f"The arguments must be a JSON object, not {type(arguments).__name__}.")
    return arguments
