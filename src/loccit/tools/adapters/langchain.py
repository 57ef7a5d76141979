"""LangChain: a document tool as a retriever, and its functions as tools."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from loccit.errors import MissingExtraError
from loccit.tools.adapters import citation_metadata

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool, StructuredTool
except ImportError as error:
    raise MissingExtraError("The LangChain adapter", "langchain") from error

from loccit.tools.document_tool import HierarchicalDocumentTool

if TYPE_CHECKING:
    from loccit.model import SearchResponse


class LoccitRetriever(BaseRetriever):
    """Finds passages with a document tool; ``options`` are those of ``tool.search``, such as ``top_k``."""

    tool: HierarchicalDocumentTool
    options: dict[str, Any] = {}  # noqa: RUF012 - a Pydantic field, copied for each instance

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return _documents(self.tool.search_sync(query, **self.options))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return _documents(await self.tool.search(query, **self.options))


def langchain_retriever(tool: HierarchicalDocumentTool, **options: Any) -> LoccitRetriever:
    """Return a retriever; ``options`` are those of ``tool.search``."""
    return LoccitRetriever(tool=tool, options=options)


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
