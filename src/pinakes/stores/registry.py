"""Registry: from the name of a provider to its store. Packages add others by the entry point ``pinakes.stores``."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points

from pinakes.errors import MissingExtraError, UsageError
from pinakes.stores.settings import EMBEDDED, DatabaseSettings
from pinakes.stores.store import Store

GROUP = "pinakes.stores"
# Where each is, and the extra that brings its client.
PROVIDERS = {
    "in-memory": ("pinakes.stores.providers.memory:MemoryStore", ""),
    "postgres": ("pinakes.stores.providers.postgres:PostgresStore", "postgres"),
    "qdrant": ("pinakes.stores.providers.qdrant:QdrantStore", "qdrant"),
    "weaviate": ("pinakes.stores.providers.weaviate:WeaviateStore", "weaviate"),
    "chromadb": ("pinakes.stores.providers.chroma:ChromaStore", "chromadb"),
    "faiss": ("pinakes.stores.providers.faiss:FaissStore", "faiss"),
    "pinecone": ("pinakes.stores.providers.pinecone:PineconeStore", "pinecone"),
    "azure-ai-search": ("pinakes.stores.providers.azure_search:AzureSearchStore", "azure-ai-search"),
    "mongodb": ("pinakes.stores.providers.mongodb:MongoStore", "mongodb"),
    "azure-cosmos-mongo": ("pinakes.stores.providers.cosmos_mongo:CosmosMongoStore", "mongodb"),
    "azure-cosmos-nosql": ("pinakes.stores.providers.cosmos_nosql:CosmosNoSqlStore", "azure-cosmos-nosql"),
    "sql-server": ("pinakes.stores.providers.sql_server:SqlServerStore", "sql-server"),
    "opensearch": ("pinakes.stores.providers.opensearch:OpenSearchStore", "opensearch"),
    "milvus": ("pinakes.stores.providers.milvus:MilvusStore", "milvus"),
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
            if not extra or (error.name or "").startswith("pinakes"):
                raise
            raise MissingExtraError(f"The database provider {provider}", extra) from error
        return found
    for entry in entry_points(group=GROUP):
        if entry.name == provider:
            loaded: type[Store] = entry.load()
            return loaded
    known = ", ".join(known_providers())
    raise UsageError(f"There is no database provider {provider!r}; available: {known}.")
