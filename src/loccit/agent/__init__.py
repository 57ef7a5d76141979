"""agent.yaml: an agent, its model and its tools, read from a file and validated."""

from loccit.agent.agent import AgentConfig, Instructions, OtherToolConfig, agent_schema
from loccit.agent.check import Checked, check_agent, load_agent
from loccit.agent.database import DatabaseConfig, DatabaseProvider
from loccit.agent.document_tool import HierarchicalDocumentToolConfig, RankingConfig
from loccit.agent.faults import ConfigError, Fault
from loccit.agent.services import (
    EmbeddingConfig,
    EmbeddingProvider,
    ModelConfig,
    ModelProvider,
    RerankerConfig,
    RerankerProvider,
)
from loccit.config.settings import ChunkingStrategy, SearchMode

__all__ = [
    "AgentConfig",
    "Checked",
    "ChunkingStrategy",
    "ConfigError",
    "DatabaseConfig",
    "DatabaseProvider",
    "EmbeddingConfig",
    "EmbeddingProvider",
    "Fault",
    "HierarchicalDocumentToolConfig",
    "Instructions",
    "ModelConfig",
    "ModelProvider",
    "OtherToolConfig",
    "RankingConfig",
    "RerankerConfig",
    "RerankerProvider",
    "SearchMode",
    "agent_schema",
    "check_agent",
    "load_agent",
]
