"""The words that an agent file may choose from."""

from __future__ import annotations

from enum import Enum


class SearchMode(str, Enum):
    """How a tool searches."""

    SEMANTIC = "semantic"
    KEYWORD = "keyword"
    EXACT = "exact"
    HYBRID = "hybrid"


class ChunkingStrategy(str, Enum):
    """Where documents are divided: at their headings and sections, or every so many tokens."""

    STRUCTURE = "structure"
    TOKEN = "token"


class OcrMode(str, Enum):
    """Which pages are read from images: those without text, none, or all."""

    AUTO = "auto"
    OFF = "off"
    FORCE = "force"


class ModelProvider(str, Enum):
    """Who runs a language model."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    AZURE_OPENAI = "azure_openai"
    OLLAMA = "ollama"
    OPENAI_COMPATIBLE = "openai_compatible"


class EmbeddingProvider(str, Enum):
    """Who runs an embedding model; ``local`` is this machine."""

    LOCAL = "local"
    OPENAI = "openai"
    AZURE_OPENAI = "azure_openai"
    OLLAMA = "ollama"
    OPENAI_COMPATIBLE = "openai_compatible"


class RerankerProvider(str, Enum):
    """Who runs a reranker; ``llm`` asks a language model for the order."""

    LOCAL = "local"
    COHERE = "cohere"
    JINA = "jina"
    TEI = "tei"
    HTTP = "http"
    LLM = "llm"


class DatabaseProvider(str, Enum):
    """Where a library is kept."""

    EMBEDDED = "embedded"
    IN_MEMORY = "in-memory"
    POSTGRES = "postgres"
    QDRANT = "qdrant"
    WEAVIATE = "weaviate"
    CHROMADB = "chromadb"
    FAISS = "faiss"
    PINECONE = "pinecone"
    AZURE_AI_SEARCH = "azure-ai-search"
    MONGODB = "mongodb"
    SQL_SERVER = "sql-server"
    AZURE_COSMOS_MONGO = "azure-cosmos-mongo"
    AZURE_COSMOS_NOSQL = "azure-cosmos-nosql"
    OPENSEARCH = "opensearch"
    MILVUS = "milvus"
