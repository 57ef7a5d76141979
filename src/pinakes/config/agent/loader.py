"""Load an agent file."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

from pinakes.config.agent.agent import AgentConfig
from pinakes.config.agent.check import check_agent
from pinakes.config.agent.faults import ConfigError

logger = logging.getLogger("pinakes")


def load_agent(path: str | Path, *, variables: Mapping[str, str] | None = None) -> AgentConfig:
    """Read an agent file; raise ``ConfigError`` with every fault of it.

    ``${NAME}`` in values is taken from ``variables``, which is the environment if not given. Sources are looked for
    when a tool is loaded, not here: an agent may be read on a machine that does not have them.
    """
    checked = check_agent(path, variables=variables, thorough=False)
    if checked.config is None:
        raise ConfigError(checked.faults)
    for warning in checked.warnings:
        logger.warning("%s", warning)
    return checked.config
