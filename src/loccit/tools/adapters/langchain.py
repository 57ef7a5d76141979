"""LangChain: a document tool as a retriever, and its functions as tools."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from loccit.errors import MissingExtraError
from loccit.tools.adapters import citation_metadata, search_options

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool, StructuredTool
    from pydantic import ConfigDict
except ImportError as _error:
    raise MissingExtraError("The LangChain adapter", "langchain") from _error

from loccit.tools.document_tool import HierarchicalDocumentTool

if TYPE_CHECKING:
    from loccit.model import SearchResponse


class LoccitRetriever(BaseRetriever):
    """Finds passages with a document tool.

    The arguments of ``search_documents`` (``top_k``, ``mode``, ``filters``, …) hold for every query if they are given
    here, and for one query if they are given to ``invoke``.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    tool: HierarchicalDocumentTool

    def model_post_init(self, context: Any, /) -> None:
        """Refuse unknown and wrong arguments before the first query."""
        super().model_post_init(context)
        search_options(self.model_extra)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **given: Any
    ) -> list[Document]:
        return _documents(self.tool.search_sync(query, **search_options(self.model_extra, given)))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **given: Any
    ) -> list[Document]:
        return _documents(await self.tool.search(query, **search_options(self.model_extra, given)))


def langchain_retriever(tool: HierarchicalDocumentTool, **arguments: Any) -> LoccitRetriever:
    """Return a retriever; ``arguments`` are those of ``search_documents``."""
    return LoccitRetriever(tool=tool, **arguments)


def langchain_tools(tool: HierarchicalDocumentTool) -> list[BaseTool]:
    """Return the functions of a tool, to bind to a model or pass to an agent.

    The message's artifact has the result for programs: a ``SearchResponse``, a ``SectionsResponse``, ….
    """
    return [
        StructuredTool(
            name=function.name,
            description=function.description,
            args_schema=function.parameters,
            func=partial(_call, tool, function.name),
            coroutine=partial(_acall, tool, function.name),
            response_format="content_and_artifact",
        )
        for function in tool.functions
    ]


def _call(tool: HierarchicalDocumentTool, name: str, /, **arguments: Any) -> tuple[str, Any]:
    return tool.answer_sync(name, arguments)


async def _acall(tool: HierarchicalDocumentTool, name: str, /, **arguments: Any) -> tuple[str, Any]:
    return await tool.answer(name, arguments)


def _documents(response: SearchResponse) -> list[Document]:
    return [
        Document(id=result.chunk_id, page_content=result.content, metadata=citation_metadata(result))
        for result in response.results
    ]
