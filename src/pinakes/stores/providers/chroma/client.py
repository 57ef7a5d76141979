"""How Chroma's own code is set up here: from what we say alone, and without a word to anybody else."""

from __future__ import annotations

from typing import Any

from chromadb.config import Settings, System


def quiet_system(**values: Any) -> System:
    """Return Chroma's system of parts with settings that neither a file .env nor telemetry has a say in."""
    fixed: dict[str, Any] = {
        "_env_file": None,
        "anonymized_telemetry": False,
        "chroma_client_auth_provider": None,
    }
    return System(Settings(**fixed, **values))
