"""The database that holds the library of a tool, as an agent file describes it."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
import weakref
from enum import Enum
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr, SecretStr, model_validator
from pydantic_core import PydanticCustomError

from loccit.agent.base import NOT_A_SWITCH, Part, Text
from loccit.errors import LoccitError, MissingExtraError, UsageError
from loccit.index.settings import DatabaseSettings

_folders: weakref.WeakSet[ScratchFolder] = weakref.WeakSet()


class ScratchFolder:
    """A new folder, removed when nobody holds this any more, or when the process ends."""

    def __init__(self) -> None:
        self.path: Path = Path(tempfile.mkdtemp(prefix="loccit-"))
        self.remove: weakref.finalize[..., ScratchFolder] = weakref.finalize(
            self, shutil.rmtree, self.path, ignore_errors=True
        )
        _folders.add(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to another process as the folder alone, which stays this process's to remove."""
        return partial(SimpleNamespace, path=self.path), ()


def remove_scratch_folders() -> None:
    """Remove all of them now: for a process that ends without the usual ceremony."""
    for folder in list(_folders):
        folder.remove()


class DatabaseProvider(str, Enum):
    """Where a library is kept."""

    EMBEDDED = "embedded"
    IN_MEMORY = "in-memory"
    POSTGRES = "postgres"
    QDRANT = "qdrant"
    WEAVIATE = "weaviate"
    CHROMADB = "chromadb"
    FAISS = "faiss"
    PINECONE = "pinecone"
    AZURE_AI_SEARCH = "azure-ai-search"
    MONGODB = "mongodb"
    SQL_SERVER = "sql-server"
    AZURE_COSMOS_MONGO = "azure-cosmos-mongo"
    AZURE_COSMOS_NOSQL = "azure-cosmos-nosql"
    OPENSEARCH = "opensearch"
    MILVUS = "milvus"


# Providers for which the library is in a folder of this machine and nowhere else.
_HERE = (DatabaseProvider.EMBEDDED, DatabaseProvider.IN_MEMORY)
_LONGEST_NAME = 48


def _known_provider(value: Any) -> Any:
    """Accept the names of our providers, and of those that other packages bring."""
    from loccit.index.registry import known_providers

    if not isinstance(value, str):
        raise PydanticCustomError("string_type", "must be text")
    names = {item.value: item for item in DatabaseProvider}
    if value in names:
        return names[value]
    known = known_providers()
    if value not in known:
        raise PydanticCustomError("enum", "unknown database provider", {"known": known})
    return value


def _list_providers(schema: dict[str, Any]) -> None:
    """Let an editor offer every provider that there is on this machine."""
    from loccit.index.registry import known_providers

    schema.pop("anyOf", None)
    schema |= {"type": "string", "enum": known_providers()}


class DatabaseConfig(Part):
    """Where a library is kept."""

    provider: Annotated[DatabaseProvider | str, BeforeValidator(_known_provider)] = Field(
        default=DatabaseProvider.EMBEDDED,
        description="Where the library is kept; embedded is a folder on this machine and needs nothing else.",
        json_schema_extra=_list_providers,
    )
    connection_string: SecretStr | None = Field(
        default=None,
        description="How to reach the database; write it as ${NAME_OF_A_VARIABLE} rather than in the file. "
        "LOCCIT_CONNECTION_STRING if unset.",
    )
    path: Text | None = Field(
        default=None,
        description="Folder of the index, or of the copy of a database's record, relative to this file; the tool's "
        "name is added to it.",
    )
    url: SecretStr | None = Field(default=None, description="The same as connection_string.")
    api_key: SecretStr | None = Field(
        default=None, description="Key of the database; LOCCIT_DATABASE_API_KEY if unset."
    )
    collection: Text | None = Field(
        default=None,
        description="Name of the library in the database: lower-case letters, digits, hyphens and underscores; the "
        "tool's name if unset.",
    )
    native: Literal["none", "keyword", "hybrid"] = Field(
        default="none",
        description="What the database does itself beyond vectors: nothing, its keyword search, or its own fusion.",
    )
    timeout: Annotated[float, Field(ge=0.1, le=3600.0), NOT_A_SWITCH] = Field(
        default=30.0, description="Time limit of one request, in seconds."
    )
    patience: Annotated[float, Field(ge=0.0, le=86_400.0), NOT_A_SWITCH] = Field(
        default=300.0, description="Seconds that indexing waits for a server that stopped responding."
    )
    options: dict[str, Any] = Field(
        default_factory=dict,
        description="Options of the provider, by its own names.",
        repr=False,
    )

    _scratch: ScratchFolder | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _one_address(self) -> DatabaseConfig:
        given = {value.get_secret_value() for value in (self.connection_string, self.url) if value}
        if len(given - {""}) > 1:
            raise PydanticCustomError(
                "two_addresses", "connection_string and url mean the same: give only one"
            )
        return self

    @model_validator(mode="after")
    def _usable_name(self) -> DatabaseConfig:
        try:
            DatabaseSettings(
                collection=self.collection if self.collection and not self.is_local else "loccit"
            )
        except UsageError as error:
            context = {"why": str(error).rstrip("."), "place": ("collection",)}
            raise PydanticCustomError("collection", "{why}", context) from error
        return self

    @property
    def provider_name(self) -> str:
        """The provider as its name is written."""
        return self.provider.value if isinstance(self.provider, DatabaseProvider) else self.provider

    @property
    def is_local(self) -> bool:
        """Whether the library is in a folder on this machine and nowhere else."""
        return self.provider in _HERE

    def scratch_folder(self) -> Path:
        """Return a folder that goes away with this process, for an index that is not to be kept."""
        if self._scratch is None:
            self._scratch = ScratchFolder()
        return self._scratch.path

    def settings(self, tool: str, base_dir: Path | None = None) -> DatabaseSettings:
        """Return how to reach the library of a tool; an address that is a folder is meant from ``base_dir``."""
        from loccit.index.home import located

        address = self.connection_string or self.url
        settings = DatabaseSettings(
            provider=self.provider_name,
            connection_string=address.get_secret_value() if address else "",
            collection=self.collection or collection_name(tool),
            api_key=self.api_key.get_secret_value() if self.api_key else "",
            native=self.native,
            timeout=self.timeout,
            patience=self.patience,
            options=self.options,
        )
        return located(settings, base_dir)


def collection_name(tool: str) -> str:
    """Return a name that every database takes for the library of a tool; different tools get different names.

    >>> collection_name("company_policies"), collection_name("docs")
    ('company_policies', 'docs')
    """
    plain = re.sub(r"[^a-z0-9]+", "_", tool.lower()).strip("_")
    if not plain[:1].isalpha():
        plain = f"tool_{plain}"
    if plain == tool and 3 <= len(plain) <= _LONGEST_NAME:
        return plain
    # What had to be changed is told apart by what it was.
    mark = hashlib.sha256(tool.encode()).hexdigest()[:6]
    return f"{plain[: _LONGEST_NAME - 7].rstrip('_')}_{mark}"


def check_store(settings: DatabaseSettings, folder: Path) -> tuple[str, str]:
    """Try to make the store of some settings, without speaking to it; return the field at fault and what is wrong.

    ``folder`` is that of the index, which may know the address.
    """
    from loccit.index.home import complete, read_home
    from loccit.index.registry import load_store

    try:
        store = load_store(complete(folder, settings, read_home(folder)))
    except MissingExtraError as error:
        return "provider", str(error)
    except LoccitError as error:
        return _field_at_fault(str(error)), str(error)
    store.close()
    if store.missing:
        return (
            "native",
            f"{store.provider} has no {store.missing} of its own: leave native out, and Loccit does it",
        )
    return "", ""


def _field_at_fault(message: str) -> str:
    """Return the field that a message of a provider is about: the first one that it names."""
    fields = {"connection_string": "connection_string", "api_key": "api_key", "option": "options"}
    found = [(message.index(word), field) for word, field in fields.items() if word in message]
    return min(found)[1] if found else "provider"
