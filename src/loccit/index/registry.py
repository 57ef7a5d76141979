"""Registry: from the name of a provider to its store. Packages add others by the entry point ``loccit.stores``."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points

from loccit.errors import MissingExtraError, UsageError
from loccit.index.settings import EMBEDDED, DatabaseSettings
from loccit.index.store import Store

GROUP = "loccit.stores"
# Where each is, and the extra that brings its client.
PROVIDERS = {
    "in-memory": ("loccit.index.providers.memory:MemoryStore", ""),
    "postgres": ("loccit.index.providers.postgres:PostgresStore", "postgres"),
    "qdrant": ("loccit.index.providers.qdrant:QdrantStore", "qdrant"),
    "weaviate": ("loccit.index.providers.weaviate:WeaviateStore", "weaviate"),
    "chromadb": ("loccit.index.providers.chroma:ChromaStore", "chromadb"),
    "faiss": ("loccit.index.providers.faiss:FaissStore", "faiss"),
    "pinecone": ("loccit.index.providers.pinecone:PineconeStore", "pinecone"),
    "azure-ai-search": ("loccit.index.providers.azure_search:AzureSearchStore", "azure-ai-search"),
    "mongodb": ("loccit.index.providers.mongodb:MongoStore", "mongodb"),
    "azure-cosmos-mongo": ("loccit.index.providers.cosmos_mongo:CosmosMongoStore", "mongodb"),
    "azure-cosmos-nosql": ("loccit.index.providers.cosmos_nosql:CosmosNoSqlStore", "azure-cosmos-nosql"),
    "sql-server": ("loccit.index.providers.sql_server:SqlServerStore", "sql-server"),
    "opensearch": ("loccit.index.providers.opensearch:OpenSearchStore", "opensearch"),
    "milvus": ("loccit.index.providers.milvus:MilvusStore", "milvus"),
}


def known_providers() -> list[str]:
    """Return the available names of providers."""
    added = [found.name for found in entry_points(group=GROUP)]
    return [EMBEDDED, *PROVIDERS, *(name for name in added if name not in PROVIDERS)]


def load_store(settings: DatabaseSettings) -> Store:
    """Create the store that the settings name. It connects on first use."""
    return _find(settings.provider)(settings.with_environment())


def _find(provider: str) -> type[Store]:
    if provider in PROVIDERS:
        place, extra = PROVIDERS[provider]
        module, _, name = place.partition(":")
        try:
            found: type[Store] = getattr(import_module(module), name)
        except ModuleNotFoundError as error:
            if not extra or (error.name or "").startswith("loccit"):
                raise
            raise MissingExtraError(f"The database provider {provider}", extra) from error
        return found
    for entry in entry_points(group=GROUP):
        if entry.name == provider:
            loaded: type[Store] = entry.load()
            return loaded
    known = ", ".join(known_providers())
    raise UsageError(f"There is no database provider {provider!r}; available: {known}.")
