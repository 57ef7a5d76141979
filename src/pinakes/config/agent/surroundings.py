"""What a tool takes from the file it stands in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pinakes.config.agent.database import DatabaseConfig
    from pinakes.config.agent.services import EmbeddingConfig, ModelConfig


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The folder of an agent file, and what the file says for all of its tools."""

    base_dir: Path | None = None
    model: ModelConfig | None = None
    embedding: EmbeddingConfig | None = None
    databases: Mapping[str, DatabaseConfig] = field(default_factory=dict)

    def at(self, base_dir: Path | None) -> Surroundings:
        """Return the same in another folder; None leaves it where it is."""
        return self if base_dir is None else replace(self, base_dir=Path(base_dir))

    def path(self, text: str) -> Path:
        """Return an absolute path; a relative one is meant from the folder of the file."""
        return Path(os.path.abspath((self.base_dir or Path.cwd()) / Path(text).expanduser()))
