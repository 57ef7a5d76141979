"""The tools as the model holds them: each answer within a budget, each source under its number."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loccit.ask.catalog import DEFINE, READ, SEARCH
from loccit.ask.render import format_error
from loccit.chat.turn import Called, Limits, Show, Source, Sources, ToolCall, Turn
from loccit.errors import LoccitError, NotFoundError, UsageError
from loccit.tools.document_tool import close_tools

if TYPE_CHECKING:
    from pydantic_ai import Tool

    from loccit.chat.conversation import Deadline
    from loccit.model import (
        DefineResponse,
        Definition,
        Progress,
        QuoteCheck,
        SearchResponse,
        SectionsResponse,
        SectionView,
    )
    from loccit.tools.document_tool import HierarchicalDocumentTool, ToolFunction

logger: logging.Logger = logging.getLogger("loccit")

Reporter = AbstractContextManager[Callable[["Progress"], None] | None]
Cite = Callable[["HierarchicalDocumentTool", ToolCall, Any], Awaitable[tuple[str, Any]]]
"""Numbers what a call found; returns what is said before it, and what is shown."""

TOKEN_BUDGET = 4000
"""The most tokens of what a tool answers, where neither the agent file nor the caller says."""


class Toolset:
    """Calls the tools for the model, one turn at a time."""

    def __init__(
        self,
        tools: Sequence[HierarchicalDocumentTool],
        sources: Sources,
        limits: Limits,
        reporter: Callable[[], Reporter] = nullcontext,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._sources = sources
        self._limits = limits
        self._reporter = reporter
        self._ready: set[str] = set()
        self._loading = asyncio.Lock()
        self._turn: Turn | None = None
        self._show: Show = lambda event: None
        self._deadline: Deadline | None = None
        self._cite: dict[str, Cite] = {
            SEARCH.name: self._cite_results,
            READ.name: self._cite_section,
            DEFINE.name: self._cite_definitions,
        }

    def begin(self, turn: Turn, show: Show, deadline: Deadline) -> None:
        """Take note of the question that the next calls are for."""
        self._turn, self._show, self._deadline = turn, show, deadline

    def functions(self) -> list[Tool[Any]]:
        """Return what the tools can do as the agent library wants it."""
        made: dict[str, Tool[Any]] = {}
        for tool in self._tools.values():
            for function in tool.functions:
                if function.name in made:
                    raise UsageError(f"Two tools have a function {function.name}: give one another name.")
                made[function.name] = self._function(tool, function)
        return list(made.values())

    async def section(self, source: Source) -> SectionView:
        """Return the section that a source stands in."""
        return await self._tools[source.tool].get_section(source.section_id, document=source.source_path)

    async def false_quotations(self, answer: str) -> list[QuoteCheck]:
        """Return the quotations of an answer that no document has word for word, or not in the place that is cited.

        Only the documents of the tools that were called are looked in.
        """
        reports = [
            await asyncio.to_thread(self._tools[name].ask, lambda library: library.verify_quotes(answer))
            for name in sorted(self._ready)
        ]
        # Every tool is asked about the same quotations; the nearest that any of them has counts.
        asked = zip(*(report.checks for report in reports), strict=True)
        best = [min(checks, key=lambda check: check.rank) for checks in asked]
        return [check for check in best if not check.ok]

    def close(self) -> None:
        """Let go of the tools."""
        close_tools(list(self._tools.values()))

    # -- one call --------------------------------------------------------------------------------------------

    def _function(self, tool: HierarchicalDocumentTool, function: ToolFunction) -> Tool[Any]:
        from loccit.tools.adapters.pydantic_ai import open_tool

        async def answer(arguments: dict[str, Any]) -> str:
            return await self._call(tool, function, ToolCall(function.name, arguments))

        return open_tool(function, answer)

    async def _call(self, tool: HierarchicalDocumentTool, function: ToolFunction, call: ToolCall) -> str:
        """Answer a call. Whatever goes wrong with it is told to the model, which may do better."""
        from pydantic_ai import ToolFailed

        assert self._turn is not None
        self._turn.tool_calls.append(call)
        self._show(Called(call, done=False))
        try:
            if len(self._turn.tool_calls) > self._limits.tool_calls:
                raise UsageError(
                    f"No more than {self._limits.tool_calls} tool calls are allowed for one question. Answer now, from "
                    "what was found so far."
                )
            await self._load(tool)
            given = function.read(call.arguments)
            budget = self._budget(tool, given.pop("token_budget", None))
            found = await asyncio.to_thread(tool.find, function, given, budget)
            cite = self._cite.get(function.kind, self._cite_list)
            head, shown = await cite(tool, call, found)
            return head + tool.write(function, shown, given, budget - tool.count_tokens(head))
        except NotFoundError as error:
            call.found, call.error = 0, str(error)
            failure = format_error(error, names=tool.function_names)
        except LoccitError as error:
            call.error = str(error)
            failure = format_error(error)
        except Exception as error:
            logger.debug("The tool %s failed", call.name, exc_info=True)
            call.error = f"The tool failed: {type(error).__name__}: {error}"
            failure = "Error: The tool failed. It may work with other arguments."
        finally:
            self._show(Called(call, done=True))
        raise ToolFailed(failure)

    async def _load(self, tool: HierarchicalDocumentTool) -> None:
        """Bring the documents of a tool up to date when it is first called; that takes as long as it takes."""
        assert self._deadline is not None
        with self._deadline.paused():
            # One after the other, where a model calls several tools at once: a terminal shows one progress at a time.
            async with self._loading:
                if tool.name in self._ready:
                    return
                with self._reporter() as progress:
                    await tool.initialize(progress)
                self._ready.add(tool.name)

    def _budget(self, tool: HierarchicalDocumentTool, asked: int | None) -> int:
        most = self._limits.token_budget or tool.config.token_budget or TOKEN_BUDGET
        return min(asked, most) if asked else most

    # -- numbers for what was found --------------------------------------------------------------------------

    async def _cite_results(
        self, tool: HierarchicalDocumentTool, call: ToolCall, found: SearchResponse
    ) -> tuple[str, SearchResponse]:
        # What was found but did not fit was found all the same.
        call.found = len(found.results) if found.results or not found.truncated else None
        numbered = [replace(result, rank=self._sources.number(tool.name, result)) for result in found.results]
        return "", replace(found, results=numbered)

    async def _cite_section(
        self, tool: HierarchicalDocumentTool, call: ToolCall, found: SectionsResponse
    ) -> tuple[str, SectionsResponse]:
        read = [*found.sections, *(item.section for item in found.cited if item.section)]
        call.found = len(read)
        numbers = [self._sources.number(tool.name, view) for view in read]
        if len(read) == 1:
            return f"This is source [{numbers[0]}]. ", found
        named = ", ".join(
            f"[{number}] is {view.place_id}" for number, view in zip(numbers, read, strict=True)
        )
        return f"These are sources: {named}. ", found

    async def _cite_definitions(
        self, tool: HierarchicalDocumentTool, call: ToolCall, found: DefineResponse
    ) -> tuple[str, DefineResponse]:
        call.found = len(found.definitions)
        places = [await self._defined_in(tool, item.definition) for item in found.definitions]
        known = [f"[{self._sources.number(tool.name, view)}]" for view in places if view]
        return f"Cite the definitions below, in their order, as {', '.join(known)}. " if known else "", found

    async def _cite_list(self, tool: HierarchicalDocumentTool, call: ToolCall, found: Any) -> tuple[str, Any]:
        """A list has its places in its lines; what is to be cited by a number is read first."""
        return "", found

    async def _defined_in(self, tool: HierarchicalDocumentTool, definition: Definition) -> SectionView | None:
        """Return the section that a definition stands in, to cite it by; None where it has none."""
        if not definition.source_section:
            return None
        try:
            return await tool.get_section(definition.source_section, document=definition.source_path)
        except LoccitError:
            return None
