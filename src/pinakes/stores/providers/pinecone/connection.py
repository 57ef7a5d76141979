"""The connection to Pinecone: its control plane, one index of its data plane, and what its errors mean for a person."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import urlsplit

from pinecone import Pinecone
from pinecone.errors import (
    ApiError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PaymentRequiredError,
    PineconeConnectionError,
    PineconeError,
    PineconeTimeoutError,
    RateLimitError,
    ServiceError,
    UnauthorizedError,
)
from pinecone.index import Index
from pinecone.models.indexes.index import IndexModel

from pinakes.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from pinakes.loopback import is_loopback
from pinakes.stores.retry import retrying
from pinakes.stores.settings import DatabaseSettings

DEFAULT_HOST = "https://api.pinecone.io"
# The reserved name under which the vectors of an index are declared.
VECTOR_FIELD = "_values"
# On every index that we make, so that nobody else's is dropped.
TAG = "made-by"
TAG_VALUE = "pinakes"
_LONGEST_NAME = 45
_KEY = re.compile(r"[\x21-\x7e]+")
# The client tries again by itself, and heeds what the service says about when; once more is enough.
_ATTEMPTS = 2
_READY_WITHIN = 300.0
_REASON = 300

Result = TypeVar("Result")


class PineconeConnection:
    """One index, found through the control plane when it is first used. Threads share the pool."""

    def __init__(self, settings: DatabaseSettings) -> None:
        self._settings = settings
        self.name = _index_name(settings)
        self._host = _control_host(settings)
        self._cloud: str = settings.option("cloud", "aws")
        self._region: str = settings.option("region", "us-east-1")
        self._protected: bool = settings.option("deletion_protection", False)
        self._guard = threading.RLock()
        self._control: Pinecone | None = None
        self._data: Index | None = None

    def ask(self, call: Callable[[Index], Result]) -> Result:
        """Return what a call of the data plane returns; what failed for a passing reason is tried again."""
        return retrying(lambda: self._explained(lambda: call(self._index())), attempts=_ATTEMPTS)

    def describe(self) -> IndexModel | None:
        """Return what the control plane knows of the index; None when there is none, or it is being deleted."""
        return retrying(lambda: self._explained(self._described), attempts=_ATTEMPTS)

    def make(self, dimension: int) -> None:
        """Make the index, unless another has just done so, and wait until it can be used."""

        def create() -> None:
            field = {"type": "dense_vector", "dimension": dimension, "metric": "cosine"}
            try:
                self._controlled().indexes.create(
                    name=self.name,
                    schema={"fields": {VECTOR_FIELD: field}},
                    deployment={"deployment_type": "managed", "cloud": self._cloud, "region": self._region},
                    deletion_protection="enabled" if self._protected else "disabled",
                    tags={TAG: TAG_VALUE},
                    timeout=-1,
                )
            except ConflictError:
                return
            except NotFoundError as error:
                raise StoreError(
                    f"pinecone: no index can be made in {self._cloud} {self._region}. Check the options cloud and "
                    "region."
                ) from error

        def is_ready() -> bool:
            found = self.describe()
            if found is None:
                retrying(lambda: self._explained(create), attempts=_ATTEMPTS)
                found = self.describe()
            if found is not None and found.status.state == "InitializationFailed":
                raise StoreError(
                    f"pinecone: the index {self.name} could not be made. Look at it in Pinecone's console, and check "
                    "the options cloud and region."
                )
            return found is not None and found.status.ready

        # One that is still being deleted is in the way for a while.
        self._until(is_ready, "made")

    def remove(self) -> None:
        """Delete the index, and wait until it is gone."""

        def delete() -> None:
            try:
                self._controlled().indexes.delete(self.name, timeout=-1)
            except NotFoundError:
                return

        retrying(lambda: self._explained(delete), attempts=_ATTEMPTS)
        self._forget()
        self._until(self._gone, "deleted")

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self._forget()
        with self._guard:
            control, self._control = self._control, None
        if control is not None:
            control.close()

    # -- finding the index -----------------------------------------------------------------------------------

    def _controlled(self) -> Pinecone:
        with self._guard:
            if self._control is None:
                self._control = Pinecone(
                    self._settings.api_key,
                    host=self._host,
                    timeout=self._settings.timeout,
                    source_tag="pinakes",
                )
            return self._control

    def _described(self) -> IndexModel | None:
        try:
            found = self._controlled().indexes.describe(self.name)
        except NotFoundError:
            return None
        return None if found.status.state == "Terminating" else found

    def _gone(self) -> bool:
        def look() -> bool:
            try:
                self._controlled().indexes.describe(self.name)
            except NotFoundError:
                return True
            return False

        return retrying(lambda: self._explained(look), attempts=_ATTEMPTS)

    def _index(self) -> Index:
        if self._data is None:
            found = self._described()
            if found is None or found.host is None:
                raise StoreSchemaError(
                    f"pinecone: there is no collection {self._settings.collection} (index {self.name}). Check the "
                    "setting collection, or index your documents first."
                )
            _refuse_open(self._settings, found.host)
            with self._guard:
                self._data = self._data or self._controlled().index(host=found.host)
        return self._data

    def _forget(self) -> None:
        with self._guard:
            data, self._data = self._data, None
        if data is not None:
            data.close()

    def _until(self, reached: Callable[[], bool], what: str) -> None:
        pause, end = 0.1, time.monotonic() + _READY_WITHIN
        while not reached():
            if time.monotonic() > end:
                raise StoreUnavailableError(
                    f"pinecone: the index {self.name} was not {what} within {_READY_WITHIN:.0f} seconds. "
                    "Look at it in Pinecone's console."
                )
            time.sleep(pause)
            pause = min(2 * pause, 5.0)

    # -- errors ----------------------------------------------------------------------------------------------

    def _explained(self, call: Callable[[], Result]) -> Result:
        try:
            return call()
        except PineconeError as error:
            if isinstance(error, NotFoundError):
                # Made anew elsewhere, it may be at another address.
                self._forget()
            raise self._error(error) from error

    def _error(self, error: PineconeError) -> StoreError:
        said = str(getattr(error, "message", error))[:_REASON].replace(self._settings.api_key, "***")
        if isinstance(error, UnauthorizedError):
            return StoreAccessError(
                "pinecone: the service refuses this api_key. Check it in Pinecone's console."
            )
        if isinstance(error, ForbiddenError | PaymentRequiredError):
            return StoreAccessError(
                f"pinecone: this api_key may not do this with the index {self.name}, or the plan does not allow it "
                f"({said})."
            )
        if isinstance(error, NotFoundError):
            return StoreSchemaError(
                f"pinecone: there is no collection {self._settings.collection} (index {self.name}). Check the setting "
                "collection, or index your documents first."
            )
        if isinstance(error, PineconeTimeoutError):
            return StoreUnavailableError(
                f"pinecone: no answer within {self._settings.timeout:g} seconds. Try again later, or raise timeout."
            )
        if isinstance(error, PineconeConnectionError):
            return StoreUnavailableError(
                "pinecone: the service cannot be reached. Check the network, and connection_string where it is set."
            )
        if isinstance(error, RateLimitError | ServiceError):
            return StoreUnavailableError(
                f"pinecone: the service is too busy or not well, status {error.status_code} ({said})."
            )
        status = f"status {error.status_code}, " if isinstance(error, ApiError) else ""
        return StoreError(f"pinecone: a request for the index {self.name} was refused ({status}{said}).")


def _index_name(settings: DatabaseSettings) -> str:
    """Return the name of the index: Pinecone takes no underscores, and a collection has no double hyphens."""
    name = settings.collection.replace("_", "--")
    if len(name) > _LONGEST_NAME:
        raise UsageError(
            f"The collection {settings.collection!r} is too long for the database provider pinecone: "
            f"{_LONGEST_NAME} characters, where an underscore counts as two."
        )
    return name


def _control_host(settings: DatabaseSettings) -> str:
    """Check the key and the address of the control plane, which is Pinecone's own unless told otherwise."""
    if not _KEY.fullmatch(settings.api_key):
        wrong = "has characters that no key has" if settings.api_key else "is missing"
        raise UsageError(
            f"The database provider pinecone needs an api_key, which {wrong}: set api_key, or PINAKES_DATABASE_API_KEY "
            "in the environment, to a key such as pcsk_…"
        )
    host = settings.connection_string.strip() or DEFAULT_HOST
    try:
        parts = urlsplit(host)
        good = bool(parts.scheme in ("http", "https") and parts.hostname and not parts.username)
        good = good and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise UsageError(
            "The connection_string of the database provider pinecone is the address of its control plane, such as "
            f"{DEFAULT_HOST}; leave it out for that one."
        )
    _refuse_open(settings, host)
    return host


def _refuse_open(settings: DatabaseSettings, host: str) -> None:
    parts = urlsplit(host)
    if parts.scheme == "http" and not _is_loopback(parts.hostname or "") and settings.option("tls", True):
        raise UsageError(
            "The database provider pinecone would send its api_key in the open: write https:// in connection_string, "
            "or set the option tls to false if the network is yours."
        )


def _is_loopback(host: str) -> bool:
    return is_loopback(host) or host.endswith(".localhost")
