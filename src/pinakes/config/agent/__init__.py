"""agent.yaml: an agent, its model and its tools, read from a file and validated."""

from pinakes.config.agent.agent import AgentConfig, Instructions, OtherToolConfig, agent_schema
from pinakes.config.agent.check import Checked, check_agent, load_agent
from pinakes.config.agent.database import DatabaseConfig, DatabaseProvider
from pinakes.config.agent.document_tool import HierarchicalDocumentToolConfig, RankingConfig
from pinakes.config.agent.faults import ConfigError, Fault
from pinakes.config.agent.services import (
    EmbeddingConfig,
    EmbeddingProvider,
    ModelConfig,
    ModelProvider,
    RerankerConfig,
    RerankerProvider,
)
from pinakes.config.settings import ChunkingStrategy, SearchMode

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
