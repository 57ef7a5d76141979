"""SQL Server, by Microsoft's own driver, against a double of the server that speaks its protocol."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.index.providers.sql_server_double import DATABASE, PASSWORD, USER
from tests.index.providers.sql_server_double_tables import Table
from tests.index.providers.sql_server_double_tds import ServerError
from tests.index.providers.sql_server_place import SqlServerPlace, make_certificate

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, UsageError
from loccit.index.providers.sql_server import read_address
from loccit.index.providers.whole_words import whole_word
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings
from loccit.index.store import MAX_VALUE, Entry, Store
from loccit.testing.libraries import LibraryConformance
from loccit.testing.places import DIMENSION, make_point, random_units, unit
from loccit.testing.stores import StoreConformance


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("sql") / "server.pem")


@pytest.fixture
def place(certificate: Path) -> Iterator[SqlServerPlace]:
    place = SqlServerPlace(certificate)
    yield place
    place.stop()


@pytest.fixture
def store(place: SqlServerPlace) -> Iterator[Store]:
    with place.store() as store:
        store.create(DIMENSION)
        yield store


class TestSqlServer(StoreConformance):
    """It does what every store does."""


# -- where it is ---------------------------------------------------------------------------------------------------


def test_urls_and_pairs_say_the_same() -> None:
    url = "mssql://ann:p%7D%3Bw@db.example:1444/library?TrustServerCertificate=yes"
    pairs = "Data Source=tcp:db.example,1444;Initial Catalog=library;uid=ann;Pwd={p}};w};Trust Server Certificate=yes;"
    found = [read_address(text, "", provider="sql-server", tls=True) for text in (url, pairs)]
    assert [(address.host, address.port) for address in found] == [("db.example", 1444)] * 2
    for address in found:
        assert "PWD={p}};w}" in address.connection_string
        assert "Encrypt={yes}" in address.connection_string
        assert "w}" not in repr(address)


def test_the_password_may_come_apart(place: SqlServerPlace) -> None:
    text = f"mssql://{USER}@127.0.0.1:{place.double.port}/{DATABASE}?TrustServerCertificate=yes"
    with load_store(place.settings(connection_string=text, api_key=PASSWORD)) as store:
        assert store.dimension() is None


def test_a_password_does_not_leave_in_the_clear() -> None:
    plain = "Server=db.example;Database=library;User Id=ann;Password=hunter2;Encrypt=no"
    with pytest.raises(UsageError, match="tls") as refused:
        load_store(DatabaseSettings(provider="sql-server", connection_string=plain))
    assert "hunter2" not in str(refused.value)
    load_store(DatabaseSettings(provider="sql-server", connection_string=plain, options={"tls": False}))
    load_store(
        DatabaseSettings(provider="sql-server", connection_string=plain.replace("db.example", "localhost"))
    )


def test_a_certificate_that_nobody_vouches_for_is_refused(place: SqlServerPlace) -> None:
    store = load_store(place.settings(connection_string=place.address(rest="")))
    with pytest.raises(StoreAccessError, match="TrustServerCertificate"):
        store.dimension()
    assert place.double.logins == 0


def test_in_the_clear_on_this_machine(place: SqlServerPlace) -> None:
    with load_store(place.settings(connection_string=place.address(rest="Encrypt=no"))) as store:
        assert store.dimension() is None


def test_a_database_that_is_not_there(place: SqlServerPlace) -> None:
    text = place.address().replace(f"Database={DATABASE}", "Database=elsewhere")
    with pytest.raises(StoreAccessError, match="elsewhere"):
        load_store(place.settings(connection_string=text)).dimension()


# -- what is there -------------------------------------------------------------------------------------------------


def test_too_long_vectors_are_refused(place: SqlServerPlace) -> None:
    with place.store() as store, pytest.raises(StoreError, match="1,998"):
        store.create(2_000)


def test_a_vector_of_another_length_is_refused(store: Store) -> None:
    with pytest.raises(StoreSchemaError, match="another length"):
        store.upsert([make_point("a.md", 0, np.ones(3, np.float32))])
    assert store.count() == 0
    store.upsert([make_point("a.md", 0, unit(1))])
    with pytest.raises(StoreSchemaError, match="another length"):
        store.search(np.ones(3, np.float32), 1)


@pytest.mark.parametrize("name", ["laws_points", "laws_entries"])
def test_a_table_of_somebody_else_is_left_alone(place: SqlServerPlace, name: str) -> None:
    place.engine.tables[f"[dbo].[{name}]"] = theirs = Table({"id": "int", "price": "money"})
    with place.store() as store:
        with pytest.raises(StoreSchemaError, match=name):
            store.create(DIMENSION)
        with pytest.raises(StoreSchemaError, match=name):
            store.drop()
    assert place.engine.tables[f"[dbo].[{name}]"] is theirs


def test_permissions_that_are_missing(place: SqlServerPlace) -> None:
    place.engine.may_create = False
    with place.store() as store, pytest.raises(StoreAccessError, match="CREATE TABLE permission denied"):
        store.create(DIMENSION)


def test_a_schema_of_its_own(place: SqlServerPlace) -> None:
    with place.store(options={"schema": "search"}) as store, place.store() as other:
        store.create(DIMENSION)
        store.upsert([make_point("a.md", 0, unit(1))])
        assert store.count() == 1
        assert other.dimension() is None
    assert "[search].[laws_points]" in place.engine.tables
    with pytest.raises(UsageError, match="schema"):
        place.store(options={"schema": "a]; DROP"})


def test_tables_that_were_dropped_meanwhile(place: SqlServerPlace, store: Store) -> None:
    place.store().drop()
    with pytest.raises(StoreSchemaError, match="is missing a table"):
        store.count()


def test_a_server_that_is_too_old(place: SqlServerPlace) -> None:
    def no_such_column(statement: str) -> None:
        if "vector_dimensions" in statement:
            raise ServerError(207, "Invalid column name 'vector_dimensions'.")

    place.double.fault = no_such_column
    with place.store() as store, pytest.raises(StoreError, match="SQL Server 2025"):
        store.dimension()


class TestSqlServerLibrary(LibraryConformance):
    """A library in it does what every library does."""


# -- words ---------------------------------------------------------------------------------------------------------


def test_no_full_text_index_is_made_unasked(place: SqlServerPlace) -> None:
    with place.store(native="none") as store:
        store.create(DIMENSION)
        assert not any("FULLTEXT" in statement for statement in place.double.statements)
        with pytest.raises(StoreError, match="native"):
            store.keyword(["word"], 10)
    with place.store(native="keyword") as store:
        store.create(DIMENSION)
        assert list(store.keyword(["word"], 10)) == []


def test_a_server_without_full_text(place: SqlServerPlace, store: Store) -> None:
    place.engine.full_text_installed = False
    with pytest.raises(StoreError, match="native"):
        store.keyword(["word"], 10)
    with pytest.raises(StoreError, match="Full-Text Search"):
        place.store().create(DIMENSION)


def test_terms_stay_whole(place: SqlServerPlace, store: Store) -> None:
    terms = [
        "c++",
        "c",
        "c#",
        "1.5",
        "15",
        "the",
        "e-mail",
        "mail",
        "Straße",
        "strasse",
        "x" * 300,
        "x" * 301,
        "zqaaq",
    ]
    points = {term: make_point("a.md", at, unit(1), terms=term) for at, term in enumerate(terms)}
    store.upsert(list(points.values()))
    place.settle(store)
    for term, point in points.items():
        assert [hit.id for hit in store.keyword([term], 20)] == [point.id]
    (found,) = store.fetch([points["c++"].id])
    assert found.terms == "c++"


def test_words_are_letters_and_short() -> None:
    terms = ["", "a", "zq", "zqa", "a.b", "☃" * 50, "\udc80", "x" * 61]
    words = [whole_word(term) for term in terms]
    assert len(set(words)) == len(words)
    assert all(word.isascii() and word.islower() and word.isalpha() and len(word) <= 64 for word in words)
    assert all(word.endswith("q") for word in words)


def test_a_question_of_very_many_words(place: SqlServerPlace, store: Store) -> None:
    point = make_point("a.md", 0, unit(1), terms="needle")
    store.upsert([point])
    place.settle(store)
    many = ["needle", *(f"straw{number}" for number in range(2_000))]
    assert [hit.id for hit in store.keyword(many, 10)] == [point.id]


# -- how it is used ------------------------------------------------------------------------------------------------


def test_points_go_in_batches_and_come_back_whole(place: SqlServerPlace, store: Store) -> None:
    points = [
        make_point(
            "a.md", at, vector, terms=f"word{at}", text="\ud83d\ude00 text" if at else "bad \udc80 name"
        )
        for at, vector in enumerate(random_units(1_200))
    ]
    place.double.statements.clear()
    store.upsert([points[0], *points])
    merges = [statement for statement in place.double.statements if statement.startswith("MERGE")]
    assert len(merges) == 3
    (found,) = store.fetch([points[7].id])
    wanted = points[7]
    assert (found.source_path, found.heading, found.language, found.file_type, found.text, found.terms) == (
        wanted.source_path,
        wanted.heading,
        wanted.language,
        wanted.file_type,
        wanted.text.encode("utf-16", "surrogatepass").decode("utf-16"),
        wanted.terms,
    )
    assert found.vector is not None and wanted.vector is not None
    assert np.abs(found.vector - wanted.vector).max() < 1e-7


def test_large_texts_go_in_smaller_batches(place: SqlServerPlace, store: Store) -> None:
    place.double.statements.clear()
    store.put([Entry(f"part-{number:03}", "part", "", "x" * MAX_VALUE) for number in range(200)])
    assert len(place.double.statements) == 2
    assert len(store.get([f"part-{number:03}" for number in range(200)])) == 200


def test_connections_are_kept(place: SqlServerPlace, store: Store) -> None:
    for _ in range(20):
        store.count()
    assert place.double.logins == 1


def test_spaces_at_the_end_make_a_difference(store: Store) -> None:
    assert store.swap(Entry("task-1", "task", "", "ann "), None)
    assert not store.swap(Entry("task-1", "task", "", "bob"), "ann")
    assert store.swap(Entry("task-1", "task", "", "bob"), "ann ")


def test_who_loses_a_deadlock_tries_again(place: SqlServerPlace, store: Store) -> None:
    left = [2]

    def deadlock(statement: str) -> None:
        if statement.startswith("MERGE") and left[0]:
            left[0] -= 1
            raise ServerError(
                1205,
                "Transaction was deadlocked on lock resources with another process. Rerun the transaction.",
                13,
            )

    place.double.fault = deadlock
    store.upsert([make_point("a.md", 0, unit(1))])
    assert left == [0]
    assert store.count() == 1


def test_the_double_refuses_what_it_does_not_know(place: SqlServerPlace) -> None:
    with pytest.raises(ServerError, match="Incorrect syntax"):
        place.engine.run("SELECT * FROM [dbo].[laws_points]", [])
