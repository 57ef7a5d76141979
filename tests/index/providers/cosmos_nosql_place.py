"""Where the store for Azure Cosmos DB is tried: the double."""

from __future__ import annotations

from typing import Any

from tests.index.providers.cosmos_nosql_double import KEY, CosmosDouble
from tests.index.providers.cosmos_nosql_double_account import Container

from loccit.index.settings import DatabaseSettings
from loccit.testing.places import Place


class CosmosPlace(Place):
    """The double, over http:// on this machine."""

    def __init__(self) -> None:
        self.double = CosmosDouble()
        self.double.start()

    def address(self, key: str = KEY) -> str:
        return f"AccountEndpoint=http://127.0.0.1:{self.double.port}/;AccountKey={key};"

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        given = {"connection_string": self.address(), "native": "hybrid", "timeout": 5.0, **changes}
        return DatabaseSettings(provider="azure-cosmos-nosql", collection=collection, **given)

    def wrong(self) -> DatabaseSettings:
        return self.settings(connection_string=self.address("hunter2A"))

    def stop(self) -> None:
        self.double.stop()

    def start(self) -> None:
        self.double.start()

    def container(self, name: str) -> Container:
        return self.double.account.container("loccit", name)
