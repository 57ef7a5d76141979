"""The JSON Schema of agent files, for editors."""

from __future__ import annotations

from typing import Any

from pinakes.config.agent.agent import AgentConfig

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def agent_schema() -> dict[str, Any]:
    """Return the JSON Schema of an agent file, generated from the models."""
    schema = AgentConfig.model_json_schema()
    return {"$schema": DIALECT, **schema, "title": "Pinakes agent"}
