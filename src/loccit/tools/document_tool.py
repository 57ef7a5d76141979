"""HierarchicalDocumentTool: a folder of documents as one tool of an agent, built from its configuration."""

from __future__ import annotations

import asyncio
import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from loccit.ask.arguments import shown
from loccit.ask.catalog import (
    COMPARE,
    DEFINE,
    DOCUMENTS,
    FIND_ALL,
    METHODS,
    OBLIGATIONS,
    OUTLINE,
    READ,
    REFERENCES,
    SEARCH,
    STATUS,
    VERIFY,
    AgentTool,
)
from loccit.ask.fit import Limit, Tokens
from loccit.ask.relative import absolute, relative, told_relative
from loccit.ask.render import format_error
from loccit.config.settings import TOKEN_BUDGETS
from loccit.errors import LoccitError, UsageError
from loccit.tools.loading import Loader

if TYPE_CHECKING:
    from loccit.agent import AgentConfig, HierarchicalDocumentToolConfig
    from loccit.library import Library
    from loccit.model import DefineResponse, IndexReport, Progress, SearchResponse, SectionView
    from loccit.models.embedding import Embedder

T = TypeVar("T")
# The maximum length of names in the APIs.
_LONGEST_NAME = 64
# The names of functions that return lists.
_LISTS = {
    FIND_ALL: "_find_all",
    VERIFY: "_verify_quotes",
    COMPARE: "_compare",
    OBLIGATIONS: "_obligations",
    OUTLINE: "_outline",
    REFERENCES: "_references",
    DOCUMENTS: "_documents",
    STATUS: "_status",
}


class HierarchicalDocumentTool:
    """Searches the documents that its configuration names. Safe to share between threads and tasks.

    The index is brought up to date when the tool is first used or, without ``defer_loading``, in the background from
    the start; a ``read_only`` tool uses it as it is. Awaitable methods run in threads and never block the event loop.
    """

    def __init__(
        self,
        config: HierarchicalDocumentToolConfig,
        *,
        base_dir: str | Path | None = None,
        embedder: Embedder | None = None,
        read_only: bool = False,
    ) -> None:
        self.config = config
        self._loader = Loader(config, Path(base_dir) if base_dir else None, embedder, read_only)
        if not config.defer_loading and not read_only:
            self._loader.check_source()
            self._loader.start()

    @classmethod
    def from_yaml(
        cls, path: str | Path, name: str | None = None, *, embedder: Embedder | None = None
    ) -> HierarchicalDocumentTool:
        """Build a tool from an agent file: the one with that name, or the only one."""
        from loccit.agent import load_agent

        agent = load_agent(path)
        return cls(agent.document_tool(name), base_dir=agent.base_dir, embedder=embedder)

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.config.name

    @property
    def description(self) -> str:
        """The tool's purpose."""
        return self.config.description

    @property
    def reader(self) -> Callable[[], HierarchicalDocumentTool] | None:
        """What recreates this tool in another process, read-only; None if it was given an embedder object."""
        if self._loader.embedder is not None:
            return None
        config = self.config.model_copy(update={"defer_loading": False})
        return partial(HierarchicalDocumentTool, config, base_dir=self._loader.base_dir, read_only=True)

    @property
    def functions(self) -> list[ToolFunction]:
        """The functions that a model can call: the catalogue, without what was not extracted from the documents."""
        return tool_functions(self.config)

    @property
    def function_names(self) -> dict[str, str]:
        """The names of the catalogue's tools in this tool."""
        return {function.kind: function.name for function in self.functions}

    @property
    def library(self) -> Library:
        """The tool's library, loaded on first use."""
        return self._loader.library()

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text for the configured tokenizer, which also counts budgets."""
        return self._loader.count(text)

    def close(self) -> None:
        """Stop indexing if it is in progress, and release the index."""
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
        """Bring the index up to date with the source, once for all callers.

        ``progress`` is called in this event loop.
        """
        return await asyncio.wrap_future(self._loader.start(_in_this_loop(progress)))

    def initialize_sync(self, progress: Callable[[Progress], None] | None = None) -> IndexReport:
        """Blocking version of :meth:`initialize`; ``progress`` is called in another thread."""
        return self.start(progress).result()

    def start(self, progress: Callable[[Progress], None] | None = None) -> Future[IndexReport]:
        """Start :meth:`initialize` in the background, for callers that do not wait, or not for long."""
        return self._loader.start(progress)

    @property
    def loaded(self) -> bool:
        """Whether the tool can answer immediately."""
        return self._loader.usable

    async def refresh(self, progress: Callable[[Progress], None] | None = None) -> IndexReport:
        """Read the source again; until that is done, searches see the previous state."""
        return await asyncio.wrap_future(self._loader.start(_in_this_loop(progress), again=True))

    def refresh_sync(self, progress: Callable[[Progress], None] | None = None) -> IndexReport:
        """Blocking version of :meth:`refresh`."""
        return self._loader.start(progress, again=True).result()

    def update_sync(self, progress: Callable[[Progress], None]) -> IndexReport:
        """Like :meth:`refresh_sync`, in this thread: an exception from ``progress`` ends it."""
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
        """Return how the documents define a term."""
        await self._loaded()
        return await asyncio.to_thread(self.get_definition_sync, term, document=document)

    async def get_section(self, reference: str, *, document: str | None = None) -> SectionView:
        """Return the section or clause that a reference, an id or a heading names."""
        await self._loaded()
        return await asyncio.to_thread(self.get_section_sync, reference, document=document)

    def search_sync(self, query: str, **overrides: Any) -> SearchResponse:
        """Blocking version of :meth:`search`."""
        return self.ask(lambda library: library.search(query, **overrides))

    def get_definition_sync(self, term: str, *, document: str | None = None) -> DefineResponse:
        """Blocking version of :meth:`get_definition`."""
        return self.ask(lambda library: library.define(term, document=document))

    def get_section_sync(self, reference: str, *, document: str | None = None) -> SectionView:
        """Blocking version of :meth:`get_section`."""
        return self.ask(lambda library: library.section(reference, document=document))

    async def _loaded(self) -> None:
        """Wait for the first load in the event loop: waiting threads would keep others from working."""
        if not self._loader.loaded:
            await self.initialize()

    def ask(self, question: Callable[[Library], T]) -> T:
        """Put a question to the documents that the tool may show; their library is not closed meanwhile."""
        with self._loader.reading():
            return question(self._loader.scoped())

    # -- for a model -----------------------------------------------------------------------------------------

    async def call(self, name: str, arguments: Mapping[str, object] | str | None = None) -> str:
        """Answer a model's call of one of :attr:`functions`, as text within the token budget.

        Arguments may be JSON, and may have names that models invent (``q``, ``limit``, ``file``). Invalid arguments and
        missing documents are explained in the answer: nothing is raised that the model could correct itself.
        """
        return (await self.answer(name, arguments))[0]

    def call_sync(self, name: str, arguments: Mapping[str, object] | str | None = None) -> str:
        """Blocking version of :meth:`call`."""
        return self.answer_sync(name, arguments)[0]

    async def answer(self, name: str, arguments: Mapping[str, object] | str | None = None) -> tuple[str, Any]:
        """Like :meth:`call`, with what was found beside the text: a ``SearchResponse``, a ``SectionsResponse``, …, or
        None where the text says what is wrong.
        """
        try:
            await self._loaded()
        except LoccitError as error:
            return format_error(error), None
        return await asyncio.to_thread(self.answer_sync, name, arguments)

    def answer_sync(self, name: str, arguments: Mapping[str, object] | str | None = None) -> tuple[str, Any]:
        """Blocking version of :meth:`answer`."""
        budget = self.config.token_budget
        try:
            function = find_function(self.functions, name)
            given = function.read(_parsed(arguments))
            budget = given.pop("token_budget", None) or budget
            found = self.find(function, given, budget)
            return self.write(function, found, given, budget), found
        except LoccitError as error:
            # If loading failed, there is no tokenizer to count with; such a message is short.
            count = self.count_tokens if self._loader.usable else None
            return format_error(error, budget, count, names=self.function_names), None

    def find(self, function: ToolFunction, given: Mapping[str, Any], budget: int | None) -> Any:
        """Return what a call finds, before it is written down."""
        options = {**given, "token_budget": budget} if function.tool.fits else given

        def ask(library: Library) -> Any:
            with told_relative(library):
                return function.tool.ask(library, absolute(library, options))

        return self.ask(ask)

    def write(self, function: ToolFunction, found: Any, given: Mapping[str, Any], budget: int | None) -> str:
        """Return what a call found as text within a budget."""
        found = relative(found, self.library.root)
        limit = Limit(budget or TOKEN_BUDGETS[1], Tokens(self.library.tokenizer))
        return function.tool.answer([("", found)], given, limit).text


def _in_this_loop(progress: Callable[[Progress], None] | None) -> Callable[[Progress], object] | None:
    """Return a callback for another thread that calls ``progress`` in the running event loop."""
    if progress is None:
        return None
    loop = asyncio.get_running_loop()
    return lambda step: loop.call_soon_threadsafe(progress, step)


def _parsed(arguments: Mapping[str, object] | str | None) -> Mapping[str, object]:
    """Return the arguments of a call, which APIs pass as JSON."""
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


# -- functions for a model ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolFunction:
    """One function that a model can call: a tool of the catalogue, described for a configuration."""

    name: str
    description: str
    tool: AgentTool
    parameters: dict[str, Any]

    @property
    def kind(self) -> str:
        """The name of the tool in the catalogue."""
        return self.tool.name

    def read(self, arguments: Mapping[str, object]) -> dict[str, Any]:
        """Return the arguments of a call under their proper names; a UsageError says what is wrong with them."""
        try:
            return self.tool.read(arguments)
        except UsageError as error:
            raise UsageError(str(error).replace(f"{self.kind}:", f"{self.name}:", 1)) from None


def tool_functions(config: HierarchicalDocumentToolConfig) -> list[ToolFunction]:
    """Return the functions of a tool: ``NAME`` searches, ``NAME_section`` reads, ``NAME_definition`` looks up, and
    so on; those with longer names are left out where the tool's own name leaves them no room.
    """
    described = [
        (
            SEARCH,
            "",
            f"{config.description.strip()}\n\nReturns passages with their citations, best first. Use "
            f"{config.name}_section to read a whole section that a result names.",
        ),
        (
            READ,
            "_section",
            f"Read one section or clause in full from the documents of {config.name}, by its number or heading.",
        ),
    ]
    if config.extract_definitions:
        looks_up = f"Look up what a term means in the documents of {config.name}."
        described.append((DEFINE, "_definition", looks_up))
    described += [
        (tool, suffix, f"{tool.description} In the documents of {config.name}.")
        for tool, suffix in _LISTS.items()
        if len(config.name + suffix) <= _LONGEST_NAME
        and (tool is not REFERENCES or config.extract_cross_references)
    ]
    functions = []
    for tool, suffix, description in described:
        name = config.name + suffix
        if len(name) > _LONGEST_NAME:
            raise UsageError(
                f"The tool name {config.name} is too long: with {suffix or 'nothing'} it has {len(name)} "
                f"characters, and models take names of at most {_LONGEST_NAME}."
            )
        functions.append(ToolFunction(name, description, tool, _parameters(tool, config)))
    return functions


def defaults_of(config: HierarchicalDocumentToolConfig) -> dict[str, object]:
    """Return the configured defaults for arguments that a call leaves out."""
    given = {"top_k": config.top_k, "mode": config.search_mode.value, "token_budget": config.token_budget}
    return {name: value for name, value in given.items() if value is not None}


def _parameters(tool: AgentTool, config: HierarchicalDocumentToolConfig) -> dict[str, Any]:
    """The schema of the arguments, with the configured defaults."""
    schema = tool.parameters(defaults_of(config))
    if "mode" in schema["properties"]:
        modes = [mode for mode in schema["properties"]["mode"]["enum"] if mode in config.search_modes]
        schema["properties"]["mode"]["enum"] = modes
    return schema


def find_function(functions: Sequence[ToolFunction], name: str) -> ToolFunction:
    """Return the function with a name; the general names (``search_documents``, ``get_section``) work too."""
    for function in functions:
        if name == function.name:
            return function
    for function in functions:
        if name in METHODS and METHODS[name] is function.tool:
            return function
    names = [function.name for function in functions]
    near = difflib.get_close_matches(str(name)[:_LONGEST_NAME], names, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UsageError(f"There is no function {shown(name)}; available: {', '.join(names)}.{hint}")


# -- all tools of an agent ------------------------------------------------------------------------------------


def open_tools(agent: AgentConfig) -> list[HierarchicalDocumentTool]:
    """Return the document tools of an agent; if one of them cannot be created, none is left open."""
    with ExitStack() as made:
        tools = [
            made.enter_context(HierarchicalDocumentTool(config, base_dir=agent.base_dir))
            for config in agent.document_tools
        ]
        made.pop_all()
    return tools


def close_tools(tools: list[HierarchicalDocumentTool]) -> None:
    """Close all tools, even if closing one of them fails."""
    with ExitStack() as stack:
        for tool in tools:
            stack.callback(tool.close)
