"""The connection to an Azure Cosmos DB account: address, one client for all threads, error translation."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import urlsplit

from azure.core.exceptions import AzureError, ServiceRequestError, ServiceResponseError
from azure.cosmos import CosmosClient
from azure.cosmos.exceptions import CosmosClientTimeoutError, CosmosHttpResponseError

from loccit.errors import (
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreUnavailableError,
    UsageError,
)
from loccit.stores.providers.link import LONGEST_REASON, Link
from loccit.stores.settings import DatabaseSettings

EXAMPLE = "AccountEndpoint=https://ann.documents.azure.com:443/;AccountKey=…;"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PASSING = (408, 410, 429, 449)


@dataclass(frozen=True)
class Account:
    """The address of an account, and its secret key."""

    endpoint: str
    host: str
    key: str = field(repr=False)


def read_account(settings: DatabaseSettings) -> Account:
    """Parse a connection string, or an address alone with the key in api_key."""
    text, key = settings.connection_string, settings.api_key
    start = f"The connection_string of the database provider {settings.provider} "
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
        raise UsageError(f"{start}has an invalid AccountKey: copy all of it.{like}") from None
    if endpoint.scheme == "http" and settings.option("tls", True) and host not in _LOOPBACK:
        raise UsageError(
            f"{start}would connect to {host} unencrypted. Write https://, or set the option tls to false if that is "
            "what you want."
        )
    return Account(found["accountendpoint"], host, secret)


class CosmosLink(Link[CosmosClient]):
    """A client with a connection pool, which waits itself when throttled."""

    errors: ClassVar[tuple[type[BaseException], ...]] = (AzureError, ValueError)
    traced = False

    def __init__(self, settings: DatabaseSettings, database: str) -> None:
        super().__init__(settings)
        self._account = read_account(settings)
        self.name: str = database
        self._verify: bool = settings.option("verify", True)
        if not self._verify and self._account.host not in _LOOPBACK:
            raise UsageError(
                f"The option verify of the database provider {self.provider} may be false only for the emulator on "
                "this machine."
            )

    def _connect(self) -> CosmosClient:
        """Create the client, which asks the service for its regions."""
        seconds = max(1, round(self.settings.timeout))
        return CosmosClient(
            self._account.endpoint,
            credential=self._account.key,
            connection_timeout=seconds,
            read_timeout=seconds,
            # Retries are done here, once for all providers; throttling is handled better by the client.
            retry_connect=0,
            retry_read=0,
            retry_status=0,
            retry_total=1,
            retry_throttle_total=9,
            retry_throttle_backoff_max=max(5, seconds),
            connection_verify=self._verify,
            enable_endpoint_discovery=self._account.host not in _LOOPBACK,
            enable_compact_utf8_item_writes=True,
            user_agent_suffix="loccit",
        )

    def _translated(self, error: Exception) -> BaseException:
        """Translate an error. Those that callers decide by (404, 409, 412) are passed on unchanged."""
        start = f"The database provider {self.provider} "
        where = f"the account at {self._account.host}"
        text = _told(error)
        if isinstance(error, (ServiceRequestError, ServiceResponseError, CosmosClientTimeoutError)):
            return StoreUnavailableError(
                f"{start}does not reach {where}, or it does not answer in time: {text} Check AccountEndpoint in "
                "connection_string, and timeout."
            )
        status = error.status_code if isinstance(error, CosmosHttpResponseError) else None
        if status in (401, 403):
            return StoreAccessError(
                f"{start}was refused by {where}: {text} Check the AccountKey in connection_string (a read-only key "
                "is not enough), and the account's firewall."
            )
        if status is not None and (status in _PASSING or status >= 500):
            return StoreUnavailableError(
                f"{start}was throttled by {where} ({status}): {text} If this persists, give the containers more "
                "throughput (option throughput)."
            )
        if status in (404, 409, 412):
            return error
        if status == 413:
            return StoreError(f"{start}sent a larger request than {where} accepts: {text}")
        if re.search(r"vector|embedding", text, re.IGNORECASE) and re.search(
            r"capability|enable", text, re.IGNORECASE
        ):
            return StoreError(
                f"{start}needs the feature Vector Search, which is not enabled for {where} (Features in the portal, or "
                f"the capability EnableNoSQLVectorSearch): {text}"
            )
        if re.search(r"full.?text", text, re.IGNORECASE):
            return StoreError(
                f"{start}has no full text index there: {text} Enable Full Text Search for {where} and index again, "
                "or set native to none, so that Loccit does the keyword search."
            )
        if re.search(r"dimension", text, re.IGNORECASE):
            return StoreSchemaError(f"{start}got a vector of another length than its container has: {text}")
        return StoreError(f"{start}could not complete the request: {text}")


def _told(error: Exception) -> str:
    """Return the first words of an error; they never contain the key, but signatures are removed too."""
    text = getattr(error, "http_error_message", None) or getattr(error, "message", None) or str(error)
    text = " ".join(str(text).replace('\\"', '"').split())
    found = re.search(r'"message": ?"([^"]+)', text) or re.search(r"Errors\W+([^\"\]]+)", text)
    plain = found.group(1) if found else text
    plain = re.split(r"Server used the following payload|ActivityId", plain)[0].replace("\\r\\n", " ")
    return plain.strip(" ,.")[:LONGEST_REASON] + "."
