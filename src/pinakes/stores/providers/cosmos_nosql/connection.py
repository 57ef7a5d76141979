"""The way to an Azure Cosmos DB account: the address, one client for all threads, and errors said in our words."""

from __future__ import annotations

import base64
import binascii
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlsplit

from azure.core.exceptions import AzureError, ServiceRequestError, ServiceResponseError
from azure.cosmos import CosmosClient, DatabaseProxy
from azure.cosmos.exceptions import CosmosClientTimeoutError, CosmosHttpResponseError

from pinakes.errors import (
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreUnavailableError,
    UsageError,
)
from pinakes.stores.retry import retrying

Result = TypeVar("Result")
EXAMPLE = "AccountEndpoint=https://ann.documents.azure.com:443/;AccountKey=…;"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PASSING = (408, 410, 429, 449)


@dataclass(frozen=True)
class Account:
    """Where an account is, and its key, which is secret."""

    endpoint: str
    host: str
    key: str = field(repr=False)


def read_account(text: str, key: str, *, provider: str, tls: bool) -> Account:
    """Understand a connection string, or an address alone with the key in api_key."""
    start = f"The connection_string of the database provider {provider} "
    like = f" It looks like {EXAMPLE} (the key may also be given as api_key)."
    if not text.strip():
        raise UsageError(f"{start}is missing.{like}")
    found = {"accountendpoint": text.strip()} if re.match(r"https?://", text.strip()) else {}
    for part in [] if found else text.split(";"):
        name, equals, value = part.strip().partition("=")
        if name and not equals:
            raise UsageError(f"{start}is not made of name=value pairs with ; between them.{like}")
        found[name.strip().lower()] = value.strip()
    endpoint = urlsplit(found.get("accountendpoint", ""))
    host = endpoint.hostname or ""
    if endpoint.scheme not in ("http", "https") or not host:
        raise UsageError(f"{start}has no AccountEndpoint that is an address.{like}")
    secret = found.get("accountkey") or key
    if not secret:
        raise UsageError(f"{start}has no AccountKey, and api_key is not set.{like}")
    try:
        base64.b64decode(secret, validate=True)
    except (binascii.Error, ValueError):
        raise UsageError(f"{start}has an AccountKey that is no key: copy it whole.{like}") from None
    if endpoint.scheme == "http" and tls and host not in _LOOPBACK:
        raise UsageError(
            f"{start}would speak to {host} in the clear. Write https://, or set the option tls to false if that is "
            "what you want."
        )
    return Account(found["accountendpoint"], host, secret)


class Link:
    """A client, made when it is first needed. It keeps connections, and waits itself when it is told to slow down."""

    def __init__(
        self, account: Account, provider: str, database: str, timeout: float, *, verify: bool
    ) -> None:
        if not verify and account.host not in _LOOPBACK:
            raise UsageError(
                f"The option verify of the database provider {provider} may be false only for the emulator on this "
                "machine."
            )
        self._account, self.provider = account, provider
        self.name, self._timeout, self._verify = database, timeout, verify
        self._guard = threading.Lock()
        self._client: CosmosClient | None = None

    def database(self) -> DatabaseProxy:
        """Return the database, whether it exists or not."""
        return self.client().get_database_client(self.name)

    def client(self) -> CosmosClient:
        """Return the client; making it asks the service about its regions."""
        with self._guard:
            if self._client is None:
                seconds = max(1, round(self._timeout))
                self._client = CosmosClient(
                    self._account.endpoint,
                    credential=self._account.key,
                    connection_timeout=seconds,
                    read_timeout=seconds,
                    # Trying again is done here, once for all providers; being throttled the client handles better.
                    retry_connect=0,
                    retry_read=0,
                    retry_status=0,
                    retry_total=1,
                    retry_throttle_total=9,
                    retry_throttle_backoff_max=max(5, seconds),
                    connection_verify=self._verify,
                    enable_endpoint_discovery=self._account.host not in _LOOPBACK,
                    enable_compact_utf8_item_writes=True,
                    user_agent_suffix="pinakes",
                )
            return self._client

    def call(self, work: Callable[[DatabaseProxy], Result]) -> Result:
        """Do something with the database; what failed for a passing reason is tried again."""

        def once() -> Result:
            try:
                return work(self.database())
            except (AzureError, ValueError) as error:
                raise self.translated(error) from None

        return retrying(once)

    def close(self) -> None:
        """Close the connections."""
        with self._guard:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def translated(self, error: Exception) -> Exception:
        """Say an error in our words. What callers decide by (404, 409, 412) is passed on as it is."""
        start = f"The database provider {self.provider} "
        where = f"the account at {self._account.host}"
        text = _told(error)
        if isinstance(error, (ServiceRequestError, ServiceResponseError, CosmosClientTimeoutError)):
            return StoreUnavailableError(
                f"{start}does not reach {where}, or it does not answer in time: {text} Look at AccountEndpoint in "
                "connection_string, and at timeout."
            )
        status = error.status_code if isinstance(error, CosmosHttpResponseError) else None
        if status in (401, 403):
            return StoreAccessError(
                f"{start}was refused by {where}: {text} Look at the AccountKey in connection_string (a read-only key "
                "is not enough), and at the account's firewall."
            )
        if status is not None and (status in _PASSING or status >= 500):
            return StoreUnavailableError(
                f"{start}was told by {where} to come back later ({status}): {text} If it stays so, give the "
                "containers more throughput (option throughput)."
            )
        if status in (404, 409, 412):
            return error
        if status == 413:
            return StoreError(f"{start}sent more at once than {where} takes: {text}")
        if re.search(r"vector|embedding", text, re.IGNORECASE) and re.search(
            r"capability|enable", text, re.IGNORECASE
        ):
            return StoreError(
                f"{start}needs the feature Vector Search, which is not enabled for {where} (Features in the portal, or "
                f"the capability EnableNoSQLVectorSearch): {text}"
            )
        if re.search(r"full.?text", text, re.IGNORECASE):
            return StoreError(
                f"{start}has no full text index there: {text} Enable Full Text Search for {where} and index again, or "
                "set native to none, so that the keyword search is ours."
            )
        if re.search(r"dimension", text, re.IGNORECASE):
            return StoreSchemaError(f"{start}got a vector of another length than its container has: {text}")
        return StoreError(f"{start}could not do what was asked: {text}")


def _told(error: Exception) -> str:
    """Return the first words of an error; the key is in none of them, but what was signed with it is left out too."""
    text = getattr(error, "http_error_message", None) or getattr(error, "message", None) or str(error)
    text = " ".join(str(text).replace('\\"', '"').split())
    found = re.search(r'"message": ?"([^"]+)', text) or re.search(r"Errors\W+([^\"\]]+)", text)
    plain = found.group(1) if found else text
    plain = re.split(r"Server used the following payload|ActivityId", plain)[0].replace("\\r\\n", " ")
    return plain.strip(" ,.")[:300] + "."
