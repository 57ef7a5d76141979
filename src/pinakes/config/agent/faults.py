"""What is wrong with an agent file, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from pinakes.errors import UsageError

Place: TypeAlias = tuple[str | int, ...]
"""The way to a value in the file: ``("tools", 0, "top_k")``."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, or, as a warning, that is likely not meant."""

    file: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.line else f"{self.file}: "
        return where + (f"{self.field}: " if self.field else "") + self.message

    def to_dict(self) -> dict[str, Any]:
        """Return the fault as JSON values."""
        return asdict(self)


class ConfigError(UsageError):
    """An agent file cannot be used; one line for each fault."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = list(faults)


def field_name(place: Place) -> str:
    """Write a place as people do: ``tools[0].top_k``."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
