"""agent.yaml: an agent, its model and its tools, read from a file and validated."""

from loccit.config.agent.agent import AgentConfig, Instructions, OtherToolConfig, agent_schema
from loccit.config.agent.check import Checked, check_agent, load_agent
from loccit.config.agent.database import DatabaseConfig, DatabaseProvider
from loccit.config.agent.document_tool import HierarchicalDocumentToolConfig, RankingConfig
from loccit.config.agent.faults import ConfigError, Fault
from loccit.config.agent.services import (
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
