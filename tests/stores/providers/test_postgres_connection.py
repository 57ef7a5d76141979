"""How the store in PostgreSQL is reached, and what it says when it is not."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import psycopg
import pytest
from tests.stores.providers.postgres_place import PostgresPlace, fresh, running_server
from tests.stores.providers.postgres_server import PostgresServer

from loccit.errors import StoreAccessError, StoreError, StoreUnavailableError
from loccit.stores.providers.postgres import PostgresStore
from loccit.stores.providers.postgres_link import connection_parameters
from loccit.stores.settings import DatabaseSettings
from loccit.testing.places import make_point, unit


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_server() as started:
        yield started


@pytest.fixture
def place(server: PostgresServer) -> PostgresPlace:
    return PostgresPlace(server)


@pytest.fixture
def store(place: PostgresPlace) -> Iterator[PostgresStore]:
    with fresh(place) as made:
        yield made


# -- how to reach it -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("postgresql://ann@db.example.org/laws", "require"),
        ("postgresql://ann@10.0.0.7/laws", "require"),
        ("postgresql://ann@127.0.0.1,db.example.org/laws", "require"),
        ("host=localhost hostaddr=10.0.0.7 dbname=laws", "require"),
        ("service=laws", "require"),
        ("postgresql://ann@db.example.org/laws?sslmode=disable", "disable"),
        ("postgresql://ann@db.example.org/laws?sslmode=verify-full", "verify-full"),
        ("postgresql://ann@localhost/laws", None),
        ("postgresql://ann@127.0.0.1:5433/laws", None),
        ("postgresql://ann@[::1]/laws", None),
        ("postgresql:///laws?host=/var/run/postgresql", None),
        ("dbname=laws", None),
    ],
)
def test_beyond_this_machine_connections_are_encrypted(
    text: str, mode: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGSSLMODE", raising=False)
    monkeypatch.delenv("PGHOST", raising=False)
    settings = DatabaseSettings(provider="postgres", connection_string=text)
    assert connection_parameters(settings).get("sslmode") == mode


def test_what_the_environment_says_about_encryption_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGHOST", "db.example.org")
    settings = DatabaseSettings(provider="postgres", connection_string="dbname=laws")
    monkeypatch.delenv("PGSSLMODE", raising=False)
    assert connection_parameters(settings)["sslmode"] == "require"
    monkeypatch.setenv("PGSSLMODE", "verify-full")
    assert "sslmode" not in connection_parameters(settings)


def test_a_server_without_encryption_is_not_spoken_to_where_it_is_wanted(place: PostgresPlace) -> None:
    url = f"{place.server.url}?sslmode=require"
    with pytest.raises(StoreAccessError, match=r"encrypted.*sslmode"):
        place.store(connection_string=url).count()


def test_it_is_reached_over_a_socket(place: PostgresPlace, store: PostgresStore) -> None:
    store.upsert([make_point("a.md", 0, unit(1))])
    with place.store(connection_string=place.server.socket_url) as near:
        assert near.count() == 1


def test_a_password_in_the_wrong_place_is_not_repeated(place: PostgresPlace) -> None:
    # The client takes what comes after the @ of the password for the name of the host, and says so.
    url = f"postgresql://ann:first@hunter2.invalid:{place.server.port}/laws?hostaddr=127.0.0.1"
    for text in (url, url.replace("ann", "nobody%20here"), f"{place.server.url_for(database='hunter2')}"):
        with pytest.raises(StoreError, match="connection_string") as refused:
            place.store(connection_string=text).count()
        assert "hunter2" not in str(refused.value)
        assert "hunter2" not in repr(refused.value.__cause__)


def test_a_server_that_stops_answering_is_given_up(place: PostgresPlace, store: PostgresStore) -> None:
    impatient = place.store(timeout=0.3)
    assert impatient.count() == 0
    assert isinstance(impatient, PostgresStore)
    with impatient._pool.connection() as connection:
        backend = connection.info.backend_pid
    os.kill(backend, signal.SIGSTOP)
    try:
        # The first try waits for the one that is stopped; the next has a connection of its own.
        assert impatient.count() == 0
    finally:
        os.kill(backend, signal.SIGCONT)
    impatient.close()


def test_a_statement_that_takes_too_long_is_said(place: PostgresPlace, store: PostgresStore) -> None:
    hasty = place.store(timeout=0.2)
    with psycopg.connect(place.server.url) as holder:
        holder.execute("LOCK TABLE laws IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StoreUnavailableError, match="in time"):
            hasty.count()
    assert hasty.count() == 0
