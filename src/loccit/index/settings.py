"""Database settings: which database holds a library, and how to reach it. Secrets are neither printed nor stored."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from loccit.errors import UsageError

EMBEDDED = "embedded"
PROVIDER_VARIABLE = "LOCCIT_DATABASE"
CONNECTION_VARIABLE = "LOCCIT_CONNECTION_STRING"
API_KEY_VARIABLE = "LOCCIT_DATABASE_API_KEY"
UNNAMED = "loccit"  # what a collection is called when nobody gives it a name
NATIVE = ("none", "keyword", "hybrid")
# What every one of the databases takes as a name.
_COLLECTION = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_CREDENTIALS = re.compile(r"(?<=//)[^/@]*@")


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """A provider, how to reach it, and the collection that holds the library.

    ``native`` says what the database does itself beyond vectors: nothing, its keyword search, or its own fusion of
    both. ``timeout`` is for one request, in seconds; ``patience`` is how long a writer waits for a server that
    disappeared while writing. ``connection_env`` names the environment variable with the connection string, if it is
    not given.
    """

    provider: str = EMBEDDED
    connection_string: str = field(default="", repr=False)
    collection: str = UNNAMED
    api_key: str = field(default="", repr=False)
    native: str = "none"
    timeout: float = 30.0
    patience: float = 300.0
    connection_env: str = CONNECTION_VARIABLE
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.native not in NATIVE:
            raise UsageError(f"native must be one of {', '.join(NATIVE)}, not {self.native!r}.")
        if not _COLLECTION.fullmatch(self.collection) or not 3 <= len(self.collection) <= 48:
            raise UsageError(
                f"{self.collection!r} is not a valid name for a collection: use 3 to 48 lower-case letters, "
                "digits, and single hyphens or underscores between them."
            )
        if isinstance(self.timeout, bool) or not 0.1 <= self.timeout <= 3600:
            raise UsageError(f"timeout must be between 0.1 and 3600 seconds, not {self.timeout!r}.")
        if isinstance(self.patience, bool) or not 0 <= self.patience <= 86_400:
            raise UsageError(f"patience must be between 0 and 86400 seconds, not {self.patience!r}.")

    def with_environment(self) -> DatabaseSettings:
        """Return these settings with missing values taken from the environment."""
        return replace(
            self,
            connection_string=self.connection_string or os.environ.get(self.connection_env, ""),
            api_key=self.api_key or os.environ.get(API_KEY_VARIABLE, ""),
        )

    def option(self, name: str, default: Any) -> Any:
        """Return an option, which must have the type of its default."""
        value = self.options.get(name, default)
        kind = type(default)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if default is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            wanted = _KINDS.get(kind, kind.__name__)
            raise UsageError(
                f"The option {name} of the database provider {self.provider} must be a {wanted}, not {value!r}."
            )
        return value

    def number(self, name: str, default: int, least: int = 1, most: int | None = None) -> int:
        """Return an integer option within bounds."""
        value: int = self.option(name, default)
        if value < least or (most is not None and value > most):
            wanted = f"at least {least}" if most is None else f"{least} to {most}"
            raise UsageError(
                f"The option {name} of the database provider {self.provider} must be {wanted}, not {value}."
            )
        return value

    def choice(self, name: str, known: Sequence[str]) -> str:
        """Return an option with a fixed set of values, the first of which is the default."""
        value: str = self.option(name, known[0])
        if value not in known:
            raise UsageError(
                f"The option {name} of the database provider {self.provider} must be one of "
                f"{', '.join(filter(None, known))}, not {value!r}."
            )
        return value

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the secrets, to be stored."""
        return {
            "provider": self.provider,
            "collection": self.collection,
            "native": self.native,
            "timeout": self.timeout,
            "patience": self.patience,
            "connection_env": self.connection_env,
            "options": dict(self.options),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DatabaseSettings:
        """Read what ``to_dict`` wrote."""
        return cls(**data)


_KINDS = {int: "whole number", float: "number", str: "text", bool: "switch (true or false)"}


def without_credentials(text: str) -> str:
    """Return an address without user name and password, fit for a message.

    >>> without_credentials("postgresql://ann:secret@db.example/laws")
    'postgresql://db.example/laws'
    """
    return _CREDENTIALS.sub("", text)
