"""Files of derived indexes: written whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pinakes.errors import DamagedIndexError


def write_json(path: Path, data: dict[str, Any]) -> None:
    """Replace a small JSON file so that a reader sees the old or the new one, never a part."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as stream:
            json.dump(data, stream)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_json(path: Path) -> dict[str, Any] | None:
    """Read a JSON object; None when there is no such file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise DamagedIndexError(f"{path.name} is unreadable: {error}") from error
    if not isinstance(data, dict):
        raise DamagedIndexError(f"{path.name} does not hold what it should")
    return data
