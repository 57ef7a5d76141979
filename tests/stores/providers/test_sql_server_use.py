"""SQL Server: how words are found, statements put together, and connections used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.stores.providers.sql_server_double_tds import ServerError
from tests.stores.providers.sql_server_place import SqlServerPlace, make_certificate

from loccit.errors import StoreError
from loccit.stores.providers.whole_words import whole_word
from loccit.stores.store import MAX_VALUE, Entry, Store
from loccit.testing.places import DIMENSION, make_point, random_units, unit


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
