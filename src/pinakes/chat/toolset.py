"""The tools as the model holds them: each answer within a budget, each source under its number."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pinakes.chat.sources import Source, Sources
from pinakes.chat.turn import Called, Limits, Show, ToolCall, Turn
from pinakes.errors import NotFoundError, PinakesError, UsageError
from pinakes.tools.format import format_definition, format_error, format_response, format_section
from pinakes.tools.opening import close_tools

if TYPE_CHECKING:
    from pydantic_ai import Tool

    from pinakes.chat.deadline import Deadline
    from pinakes.model import Definition, Progress, SectionView
    from pinakes.tools.document_tool import HierarchicalDocumentTool
    from pinakes.tools.functions import ToolFunction

logger = logging.getLogger("pinakes")

Reporter = AbstractContextManager[Callable[["Progress"], None] | None]
Answer = Callable[["HierarchicalDocumentTool", ToolCall, dict[str, Any], int], Awaitable[str]]

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
        self._answers: dict[str, Answer] = {
            "search_documents": self._search,
            "read_section": self._read,
            "define_term": self._define,
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

    def close(self) -> None:
        """Let go of the tools."""
        close_tools(list(self._tools.values()))

    # -- one call --------------------------------------------------------------------------------------------

    def _function(self, tool: HierarchicalDocumentTool, function: ToolFunction) -> Tool[Any]:
        from pinakes.tools.adapters.pydantic_ai import open_tool

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
            return await self._answers[function.kind](tool, call, given, budget)
        except NotFoundError as error:
            call.found, call.error = 0, str(error)
            failure = format_error(error)
        except PinakesError as error:
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

    # -- the answers -----------------------------------------------------------------------------------------

    async def _search(
        self, tool: HierarchicalDocumentTool, call: ToolCall, given: dict[str, Any], budget: int
    ) -> str:
        response = await tool.search(**given, token_budget=budget)
        # What was found but did not fit was found all the same.
        call.found = len(response.results) if response.results or not response.truncated else None
        numbered = [
            replace(result, rank=self._sources.number(tool.name, result)) for result in response.results
        ]
        return format_response(replace(response, results=numbered), budget, tool.count_tokens)

    async def _read(
        self, tool: HierarchicalDocumentTool, call: ToolCall, given: dict[str, Any], budget: int
    ) -> str:
        view = await tool.get_section(**given)
        call.found = 1
        head = f"This is source [{self._sources.number(tool.name, view)}]. "
        left = budget - tool.count_tokens(head)
        return head + format_section(view, left, tool.count_tokens)

    async def _define(
        self, tool: HierarchicalDocumentTool, call: ToolCall, given: dict[str, Any], budget: int
    ) -> str:
        answer = await tool.get_definition(**given)
        call.found = len(answer.definitions)
        places = [await self._defined_in(tool, item.definition) for item in answer.definitions]
        numbers = [f"[{self._sources.number(tool.name, view)}]" if view else "" for view in places]
        known = [number for number in numbers if number]
        head = f"Cite the definitions below, in their order, as {', '.join(known)}. " if known else ""
        left = budget - tool.count_tokens(head)
        return head + format_definition(answer, left, tool.count_tokens)

    async def _defined_in(self, tool: HierarchicalDocumentTool, definition: Definition) -> SectionView | None:
        """Return the section that a definition stands in, to cite it by; None where it has none."""
        if not definition.source_section:
            return None
        try:
            return await tool.get_section(definition.source_section, document=definition.source_path)
        except PinakesError:
            return None
