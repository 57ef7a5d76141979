"""The connection to Pinecone: its control plane, one index of its data plane, and error translation."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar
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

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from loccit.stores.providers.link import Link, Result, refuse_open
from loccit.stores.settings import DatabaseSettings

DEFAULT_HOST = "https://api.pinecone.io"
# The reserved name under which the vectors of an index are declared.
VECTOR_FIELD = "_values"
# On every index that we create, so that no foreign one is dropped.
TAG = "made-by"
TAG_VALUE = "loccit"
_LONGEST_NAME = 45
_KEY = re.compile(r"[\x21-\x7e]+")
_READY_WITHIN = 300.0


class PineconeLink(Link[Pinecone]):
    """One index, found through the control plane on first use. Threads share the pool."""

    errors: ClassVar[tuple[type[BaseException], ...]] = (PineconeError,)
    # The client retries by itself, and respects the service's delays; one more attempt is enough.
    attempts = 2

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self.name: str = _index_name(settings)
        self._host = _control_host(settings)
        self._cloud: str = settings.option("cloud", "aws")
        self._region: str = settings.option("region", "us-east-1")
        self._protected: bool = settings.option("deletion_protection", False)
        self._data: Index | None = None

    def ask(self, work: Callable[[Index], Result]) -> Result:
        """Return the result of a data plane call."""
        return self.call(lambda control: work(self._index(control)))

    def describe(self) -> IndexModel | None:
        """Return the control plane's description of the index; None if there is none, or it is being deleted."""
        found = self.call(self._described)
        return None if found is None or found.status.state == "Terminating" else found

    def make(self, dimension: int) -> None:
        """Create the index, unless another process just did, and wait until it is usable."""

        def create(control: Pinecone) -> None:
            field = {"type": "dense_vector", "dimension": dimension, "metric": "cosine"}
            try:
                control.indexes.create(
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
                self.call(create)
                found = self.describe()
            if found is not None and found.status.state == "InitializationFailed":
                raise StoreError(
                    f"pinecone: the index {self.name} could not be made. Look at it in Pinecone's console, and check "
                    "the options cloud and region."
                )
            return found is not None and found.status.ready

        # One that is still being deleted blocks the name for a while.
        self._until(is_ready, "made")

    def remove(self) -> None:
        """Delete the index, and wait until it is gone."""

        def delete(control: Pinecone) -> None:
            with suppress(NotFoundError):
                control.indexes.delete(self.name, timeout=-1)

        self.call(delete)
        self._forget()
        self._until(lambda: self.call(self._described) is None, "deleted")

    # -- finding the index -----------------------------------------------------------------------------------

    def _connect(self) -> Pinecone:
        settings = self.settings
        return Pinecone(settings.api_key, host=self._host, timeout=settings.timeout, source_tag="loccit")

    def _disconnect(self, client: Pinecone) -> None:
        self._forget()
        client.close()

    def _described(self, control: Pinecone) -> IndexModel | None:
        try:
            return control.indexes.describe(self.name)
        except NotFoundError:
            return None

    def _index(self, control: Pinecone) -> Index:
        if self._data is None:
            found = self._described(control)
            if found is None or found.host is None or found.status.state == "Terminating":
                raise self._missing()
            _refuse_open(self.settings, found.host)
            with self._guard:
                self._data = self._data or control.index(host=found.host)
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

    def _missing(self) -> StoreSchemaError:
        return StoreSchemaError(
            f"pinecone: there is no collection {self.settings.collection} (index {self.name}). Check the setting "
            "collection, or index your documents first."
        )

    def _translated(self, error: Any) -> StoreError:
        said = self.shown(getattr(error, "message", error))
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
            # A recreated index may have another address.
            self._forget()
            return self._missing()
        if isinstance(error, PineconeTimeoutError):
            return StoreUnavailableError(
                f"pinecone: no answer within {self.settings.timeout:g} seconds. Try again later, or raise timeout."
            )
        if isinstance(error, PineconeConnectionError):
            return StoreUnavailableError(
                "pinecone: the service cannot be reached. Check the network, and connection_string where it is set."
            )
        if isinstance(error, RateLimitError | ServiceError):
            return StoreUnavailableError(
                f"pinecone: the service is busy or unhealthy, status {error.status_code} ({said})."
            )
        status = f"status {error.status_code}, " if isinstance(error, ApiError) else ""
        return StoreError(f"pinecone: a request for the index {self.name} was refused ({status}{said}).")


def _index_name(settings: DatabaseSettings) -> str:
    """Return the name of the index: Pinecone allows no underscores, and a collection has no double hyphens."""
    name = settings.collection.replace("_", "--")
    if len(name) > _LONGEST_NAME:
        raise UsageError(
            f"The collection {settings.collection!r} is too long for the database provider pinecone: "
            f"{_LONGEST_NAME} characters, where an underscore counts as two."
        )
    return name


def _control_host(settings: DatabaseSettings) -> str:
    """Check the key and the address of the control plane, which is Pinecone's own by default."""
    if not _KEY.fullmatch(settings.api_key):
        wrong = "has characters that no key has" if settings.api_key else "is missing"
        raise UsageError(
            f"The database provider pinecone needs an api_key, which {wrong}: set api_key, or LOCCIT_DATABASE_API_KEY "
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
    refuse_open(settings, parts.scheme, parts.hostname or "", True)
