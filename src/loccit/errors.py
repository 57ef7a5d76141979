"""Errors that Loccit raises on purpose.

Each carries a message for the person at the keyboard: what is wrong and what to do about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal


class LoccitError(Exception):
    """Base of every error raised on purpose; its message can be shown to users."""


class UsageError(LoccitError):
    """Invalid input: an empty query, ``top_k=0``, an unknown mode."""


class ConversionError(LoccitError):
    """One file could not be read; the run continues. ``again``: not the file's fault, so the next run retries."""

    def __init__(self, message: str, *, again: bool = False) -> None:
        super().__init__(message)
        self.again = again


class IndexStateError(LoccitError):
    """The index cannot be used as it is: missing, locked, of another model, of a newer version."""


class IndexNotFoundError(IndexStateError):
    """There is no index where one was expected."""


class IndexLockedError(IndexStateError):
    """Another process is writing to the index."""


class IndexVersionError(IndexStateError):
    """The index was written by a newer or an older version of Loccit, in another format."""


class ModelMismatchError(IndexStateError):
    """The index was made with another embedding model."""


class IndexReadOnlyError(IndexStateError):
    """The index cannot be written to."""


class DamagedIndexError(IndexStateError):
    """A derived index is unreadable; it can be rebuilt from the record."""


class DamagedDocumentError(IndexStateError):
    """What is stored of a document is not what was read from its file."""

    def __init__(self, message: str, document: int) -> None:
        super().__init__(message)
        self.document = document


class DamagedVectorsError(IndexStateError):
    """Some stored vectors are not those that a model made."""


class MissingExtraError(LoccitError):
    """A feature needs a package that is not installed; the message names the extra."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs an optional package. Install it with: pip install 'loccit[{extra}]'"
        )
        self.extra = extra


Missing = Literal["document", "place", "term"]

# What helps, by what is missing: a tool of the catalogue, and what to say of it.
_HELP: dict[Missing, tuple[tuple[str, str], ...]] = {
    "document": (("list_documents", "{} lists the documents."),),
    "place": (
        ("list_outline", "{} shows the headings of a document."),
        ("find_all", "{} finds words in the text."),
    ),
    "term": (("find_all", "{} finds every place that uses a word, defined or not."),),
}


class NotFoundError(LoccitError):
    """No document, section or term has that name; ``missing`` says which kind."""

    def __init__(self, message: str, missing: Missing | None = None) -> None:
        super().__init__(message)
        self.missing = missing

    def where_to_look(self, names: Mapping[str, str]) -> str:
        """Say what helps; ``names`` are what tools, commands or operations are called, by the tool's own name."""
        helping = _HELP[self.missing] if self.missing else ()
        return " ".join(said.format(names[tool]) for tool, said in helping if tool in names)


class StoreError(LoccitError):
    """A database that holds a library failed; the message names its provider."""


class StoreUnavailableError(StoreError):
    """The database cannot be reached, or does not answer in time; the same may work later."""


class StoreAccessError(StoreError):
    """The database refuses these credentials, or they are not allowed to do this."""


class StoreSchemaError(StoreError):
    """The collection exists, but with another kind, dimension or version."""
