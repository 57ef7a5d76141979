"""What all parts of an agent file have in common, and what a tool takes from the file it stands in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field
from pydantic_core import PydanticCustomError

from loccit.config.settings import setting

if TYPE_CHECKING:
    from loccit.agent.database import DatabaseConfig
    from loccit.agent.services import EmbeddingConfig, ModelConfig


class Part(BaseModel):
    """A part of an agent file: names that it does not know are refused."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")


def _not_a_switch(value: Any) -> Any:
    """Refuse ``true`` and ``false`` as numbers, which Python takes for 1 and 0."""
    if isinstance(value, bool):
        raise PydanticCustomError("number_type", "must be a number")
    return value


def _a_switch(value: Any) -> Any:
    """Refuse numbers as switches: ``contextual_embeddings: 1`` is more likely a slip."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        raise PydanticCustomError("bool_type", "must be true or false")
    return value


def _text(value: Any) -> Any:
    if isinstance(value, str) and not value.strip():
        raise PydanticCustomError("empty", "must not be empty")
    return value


# Where a number has bounds and may be left out, they stand before this: else the JSON Schema loses them.
NOT_A_SWITCH = BeforeValidator(_not_a_switch)
Whole = Annotated[int, NOT_A_SWITCH]
Number = Annotated[float, NOT_A_SWITCH]
Switch = Annotated[bool, BeforeValidator(_a_switch)]
Text = Annotated[str, BeforeValidator(_text)]


def bounds(name: str) -> Any:
    """Return the bounds that a setting of the library has."""
    low, high = setting(name).bounds or (None, None)
    return Field(ge=low, le=high)


def shared(name: str, **changes: Any) -> Any:
    """Return a field that is a setting of the library: its default, bounds and description, unless changed here."""
    known = setting(name)
    if known.bounds:
        changes = dict(zip(("ge", "le"), known.bounds, strict=True)) | changes
    return Field(**{"default": known.default, "description": known.help} | changes)


def optional(name: str) -> Any:
    """Return a field that is the description of a setting; what is not set keeps the setting's default."""
    return Field(default=None, description=setting(name).help)


# Names of alternatives stand in angle brackets, so that no one takes them for fields.
BLOCK, NAME = "<block>", "<name>"


def _block_or_name(value: Any) -> str | None:
    if isinstance(value, str):
        return NAME
    return BLOCK if isinstance(value, (dict, BaseModel)) else None


BlockOrName: Discriminator = Discriminator(
    _block_or_name,
    custom_error_type="block_or_name",
    custom_error_message="must be text or a block of fields",
)


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
