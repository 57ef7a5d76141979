"""LlamaIndex: a document tool as a retriever, and its functions as tools."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from loccit.errors import MissingExtraError
from loccit.tools.adapters import citation_metadata, open_model, search_options

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
    from llama_index.core.tools import FunctionTool, ToolMetadata
except ImportError as _error:
    raise MissingExtraError("The LlamaIndex adapter", "llamaindex") from _error

if TYPE_CHECKING:
    from loccit.model import SearchResponse
    from loccit.tools.document_tool import HierarchicalDocumentTool

# Metadata that a model should read with the text; the rest is for programs.
_FOR_MODELS = ("source", "location")


class LoccitRetriever(BaseRetriever):
    """Finds passages with a document tool; ``arguments`` are those of ``search_documents``, such as ``top_k``."""

    def __init__(self, tool: HierarchicalDocumentTool, **arguments: Any) -> None:
        self._tool = tool
        self._options = search_options(arguments)
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(self._tool.search_sync(query_bundle.query_str, **self._options))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(await self._tool.search(query_bundle.query_str, **self._options))


def llamaindex_retriever(tool: HierarchicalDocumentTool, **arguments: Any) -> LoccitRetriever:
    """Return a retriever; ``arguments`` are those of ``search_documents``."""
    return LoccitRetriever(tool, **arguments)


def llamaindex_tools(tool: HierarchicalDocumentTool) -> list[FunctionTool]:
    """Return the functions of a tool, for ``FunctionAgent(tools=…)`` and other agents."""
    return [
        FunctionTool(
            fn=partial(_call, tool, function.name),
            async_fn=partial(_acall, tool, function.name),
            metadata=ToolMetadata(
                description=function.description, name=function.name, fn_schema=open_model(function)
            ),
        )
        for function in tool.functions
    ]


def _call(tool: HierarchicalDocumentTool, name: str, /, **arguments: Any) -> str:
    return tool.call_sync(name, arguments)


async def _acall(tool: HierarchicalDocumentTool, name: str, /, **arguments: Any) -> str:
    return await tool.call(name, arguments)


def _nodes(response: SearchResponse) -> list[NodeWithScore]:
    nodes = []
    for result in response.results:
        metadata = citation_metadata(result)
        hidden = [name for name in metadata if name not in _FOR_MODELS]
        node = TextNode(
            id_=result.chunk_id,
            text=result.content,
            metadata=metadata,
            excluded_llm_metadata_keys=hidden,
            excluded_embed_metadata_keys=list(metadata),
        )
        nodes.append(NodeWithScore(node=node, score=result.fused_score))
    return nodes
