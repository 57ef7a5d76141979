"""Where the store in PostgreSQL is tried, and who may do what there."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.index.providers.postgres_server import USER, PostgresServer

from loccit.index.providers.postgres import PostgresStore
from loccit.index.settings import DatabaseSettings
from loccit.testing.places import DIMENSION, Place


class PostgresPlace(Place):
    def __init__(self, server: PostgresServer) -> None:
        self.server = server

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        values: dict[str, Any] = {"connection_string": self.server.url, **changes}
        return DatabaseSettings(provider="postgres", collection=collection, **values)

    def wrong(self) -> DatabaseSettings:
        return self.settings(connection_string=self.server.url_for(USER, "hunter2"))

    def stop(self) -> None:
        self.server.stop()

    def start(self) -> None:
        self.server.start()


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """Run a server in a folder of its own, which is deleted afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="loccit-postgres-"))
    with PostgresServer(folder) as started:
        yield started
    shutil.rmtree(folder)


@contextmanager
def fresh(place: PostgresPlace, collection: str = "laws", **changes: Any) -> Iterator[PostgresStore]:
    made = PostgresStore(place.settings(collection, **changes))
    made.drop()
    made.create(DIMENSION)
    yield made
    made.close()


def new_role(server: PostgresServer, name: str, *rights: str) -> str:
    """Make a user anew, who has nothing but some rights; return how they connect."""
    if server.execute(f"SELECT 1 FROM pg_roles WHERE rolname = '{name}'"):
        server.execute(f"DROP OWNED BY {name}")
        server.execute(f"DROP ROLE {name}")
    server.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'hunter2'")
    for right in rights:
        server.execute(f"GRANT {right} TO {name}")
    return server.url_for(name, "hunter2")


def new_database(server: PostgresServer, name: str, how: str = "") -> str:
    """Make an empty database; return how to connect to it."""
    server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    server.execute(f"CREATE DATABASE {name} TEMPLATE template0 {how}")
    return server.url_for(database=name)
