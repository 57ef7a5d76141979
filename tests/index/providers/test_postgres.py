"""The store in PostgreSQL, on a real server."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import psycopg
import pytest
from tests.index.providers.postgres_place import PostgresPlace, fresh, new_database, new_role, running_server
from tests.index.providers.postgres_server import USER, PostgresServer

from loccit import Library
from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from loccit.index.providers import postgres_queries as postgres_search
from loccit.index.providers import postgres_tables as postgres_index
from loccit.index.providers.postgres import PostgresStore
from loccit.index.providers.postgres_link import Connection, connection_parameters
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.ids import document_key
from loccit.index.store import Entry
from loccit.testing.libraries import HashEmbedder, LibraryConformance, write_documents
from loccit.testing.places import DIMENSION, make_point, random_units, unit
from loccit.testing.stores import StoreConformance


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_server() as started:
        yield started


@pytest.fixture
def place(server: PostgresServer) -> PostgresPlace:
    return PostgresPlace(server)


class TestPostgres(StoreConformance):
    """It does what every store does."""


@pytest.fixture
def store(place: PostgresPlace) -> Iterator[PostgresStore]:
    with fresh(place) as made:
        yield made


# -- what is there already -------------------------------------------------------------------------------------


def test_another_dimension_is_refused(store: PostgresStore) -> None:
    with pytest.raises(StoreSchemaError, match=rf"{DIMENSION} numbers.*{DIMENSION + 1}"):
        store.create(DIMENSION + 1)
    wrong = make_point("a.md", 0, np.ones(DIMENSION + 1, np.float32))
    with pytest.raises(StoreSchemaError, match="dimensions"):
        store.upsert([make_point("b.md", 0, unit(1)), wrong])
    assert store.count() == 0


@pytest.mark.parametrize("made", ["TABLE theirs (id int)", "VIEW theirs AS SELECT 1 AS id"])
def test_a_table_of_others_is_left_alone(place: PostgresPlace, made: str) -> None:
    kind = made.split(" ")[0]
    place.server.execute(f"CREATE {made}")
    try:
        store = place.store("theirs")
        calls: list[Callable[[], object]] = [store.dimension, lambda: store.create(DIMENSION), store.drop]
        for call in calls:
            with pytest.raises(StoreSchemaError, match=r"theirs.*did not make"):
                call()
        place.server.execute("SELECT id FROM theirs")
    finally:
        place.server.execute(f"DROP {kind} theirs")


def test_a_collection_that_is_not_there_is_said(place: PostgresPlace) -> None:
    with (
        place.store("nothing-here") as store,
        pytest.raises(StoreSchemaError, match=r"nothing-here.*not there"),
    ):
        store.count()


def test_a_schema_of_its_own(place: PostgresPlace) -> None:
    place.server.execute('DROP SCHEMA IF EXISTS "team-a" CASCADE')
    with fresh(place, options={"schema": "team-a"}) as theirs, fresh(place) as ours:
        theirs.upsert([make_point("a.md", 0, unit(1), terms="apple")])
        assert (theirs.count(), ours.count()) == (1, 0)
        assert place.server.execute('SELECT terms FROM "team-a".laws') == [("apple",)]
        assert len(theirs.keyword(["apple"], 5)) == 1
    with pytest.raises(UsageError, match="schema"):
        place.store(options={"schema": 'public"; DROP TABLE laws; --'})


def test_the_extension_may_be_anywhere(place: PostgresPlace) -> None:
    url = new_database(place.server, "elsewhere")
    place.server.execute("CREATE SCHEMA extensions", "elsewhere")
    place.server.execute("CREATE EXTENSION vector WITH SCHEMA extensions", "elsewhere")
    with fresh(place, connection_string=url) as store:
        store.upsert([make_point("a.md", 0, unit(1), terms="apple")])
        assert len(store.search(unit(1), 5)) == len(store.hybrid(unit(1), ["apple"], (1, 1), 5)) == 1


def test_a_database_that_cannot_hold_all_characters_is_refused(place: PostgresPlace) -> None:
    url = new_database(place.server, "latin", "ENCODING 'LATIN1' LOCALE 'C'")
    with place.store(connection_string=url) as store, pytest.raises(StoreError, match=r"LATIN1.*UTF8"):
        store.create(DIMENSION)


# -- who may do what -------------------------------------------------------------------------------------------


def test_who_may_not_make_tables_is_told(place: PostgresPlace, store: PostgresStore) -> None:
    url = new_role(place.server, "guest")
    with (
        place.store("guests", connection_string=url) as theirs,
        pytest.raises(
            StoreAccessError, match=r"postgres.*permission denied for schema public.*Grant"
        ) as refused,
    ):
        theirs.create(DIMENSION)
    assert "hunter2" not in str(refused.value)
    with place.store(connection_string=url) as theirs:
        assert theirs.dimension() == DIMENSION
        with pytest.raises(StoreAccessError, match="permission denied"):
            theirs.count()


def test_who_may_write_needs_no_right_to_make_tables(place: PostgresPlace, store: PostgresStore) -> None:
    url = new_role(place.server, "writer", "SELECT, INSERT, UPDATE, DELETE ON laws, laws__entries")
    with place.store(connection_string=url, options={"exact_below": 1}) as theirs:
        theirs.create(DIMENSION)
        # They own no table, so that they cannot index it: what they write is stored and found all the same.
        theirs.upsert([make_point("a.md", at, unit(1)) for at in range(3)])
        theirs.put([Entry("head-1", "head", "", "x")])
        assert len(theirs.search(unit(1), 10)) == 3


def test_without_the_extension_and_the_right_to_add_it(place: PostgresPlace) -> None:
    new_database(place.server, "bare")
    new_role(place.server, "guest")
    place.server.execute("GRANT CREATE ON SCHEMA public TO guest", "bare")
    place.server.execute("ALTER DATABASE bare OWNER TO loccit")
    url = place.server.url_for("guest", "hunter2", "bare")
    with (
        place.store(connection_string=url) as store,
        pytest.raises(StoreAccessError, match=r"pgvector.*CREATE EXTENSION vector"),
    ):
        store.create(DIMENSION)
    place.server.execute("DROP DATABASE bare WITH (FORCE)")


def test_a_server_that_takes_no_writes(place: PostgresPlace, store: PostgresStore) -> None:
    url = f"{place.server.url}?options=-c%20default_transaction_read_only%3Don"
    with place.store(connection_string=url) as reader:
        assert reader.count() == 0
        with pytest.raises(StoreAccessError, match="takes no writes"):
            reader.upsert([make_point("a.md", 0, unit(1))])


# -- many at once ----------------------------------------------------------------------------------------------


def test_many_make_it_at_once_in_a_newnew_database(place: PostgresPlace) -> None:
    url = new_database(place.server, "crowded")
    stores = [place.store(connection_string=url, options={"schema": "shared"}) for _ in range(6)]
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda store: store.create(DIMENSION), stores))
        batch = [make_point("a.md", at, unit(1), terms="apple") for at in range(300)]
        list(threads.map(lambda store: store.upsert(batch), stores))
        # In opposite orders: who locks the first row last must not wait for ever.
        list(threads.map(lambda at: stores[at].upsert(batch[:: 1 if at % 2 else -1]), range(6)))
    assert {store.count() for store in stores} == {300}
    for store in stores:
        store.close()


def test_no_more_connections_than_allowed(place: PostgresPlace, store: PostgresStore) -> None:
    with place.store(options={"connections": 2}) as few, ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda _: few.count(), range(40))) == [0] * 40
        (open_now,) = place.server.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'loccit' AND pid <> pg_backend_pid()"
        )
        assert open_now[0] in range(1, 4)  # those of the fixture's store besides
    with pytest.raises(UsageError, match="connections"):
        place.store(options={"connections": 0})


def test_a_claim_is_never_repeated_by_itself(
    place: PostgresPlace, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to a claim gets lost: who made it must not be told that somebody else has it."""
    ask = PostgresStore.swap_once

    def lose_the_answer(
        held: PostgresStore, connection: Connection, entry: Entry, expected: str | None
    ) -> bool:
        ask(held, connection, entry, expected)
        connection.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(PostgresStore, "swap_once", lose_the_answer)
    with pytest.raises(StoreUnavailableError):
        store.swap(Entry("task-1", "task", "", "ann"), None)
    assert store.get(["task-1"]) == {"task-1": "ann"}


def test_a_claim_finds_a_good_connection_after_a_restart(place: PostgresPlace, store: PostgresStore) -> None:
    assert store.swap(Entry("task-1", "task", "", "ann"), None)
    place.stop()
    place.start()
    assert store.swap(Entry("task-1", "task", "", "bob"), "ann")


# -- what is stored --------------------------------------------------------------------------------------------


def test_what_people_see_in_the_table(place: PostgresPlace, store: PostgresStore) -> None:
    point = make_point("a.md", 0, unit(1), terms="apple pear", text="Apples and pears")
    store.upsert([point])
    rows = place.server.execute(
        "SELECT id::text, document, source_path, heading, language, file_type, text, terms FROM laws"
    )
    assert rows == [
        (
            point.id,
            point.document,
            "a.md",
            "Part I > Scope",
            "en",
            "markdown",
            "Apples and pears",
            "apple pear",
        )
    ]
    (found,) = store.fetch([point.id])
    assert replace(found, vector=None) == replace(point, vector=None)


def test_text_that_postgres_cannot_hold(store: PostgresStore) -> None:
    odd = "a\x00b\ud800c\x1a\x1a0000d"
    store.put([Entry("odd", "head", "", odd)])
    assert store.get(["odd"]) == {"odd": odd}
    assert not store.swap(Entry("odd", "head", "", "x"), odd.replace("\x00", ""))
    assert store.swap(Entry("odd", "head", "", "x"), odd)
    point = make_point("a.md", 0, unit(1), terms="app\x00le \ud800 pear", text=odd)
    store.upsert([point])
    (found,) = store.fetch([point.id])
    assert found.text == "a\ufffdb\ufffdc\ufffd\ufffd0000d"
    assert len(store.keyword(["app\x00le"], 5)) == len(store.keyword(["pear"], 5)) == 1


def test_words_are_taken_as_they_are(store: PostgresStore) -> None:
    words = ["c++", "'s", "a:b", "\\x", "art.5", "e-mail", "&|!()", "5", "☃", "the", "w" * 3000, "n_1:*"]
    points = [make_point("a.md", at, unit(1), terms=f"filler {word} end") for at, word in enumerate(words)]
    store.upsert(points)
    for point, word in zip(points, words, strict=True):
        assert [hit.id for hit in store.keyword([word], 20)] == [point.id], word
    assert list(store.keyword(["art", "e", "n_1"], 20)) == []


def test_a_very_long_text(store: PostgresStore) -> None:
    long = " ".join(f"word{number}" for number in range(60_000)) + " plum" * 60_000
    point = make_point("a.md", 0, unit(1), terms=long)
    store.upsert([point])
    assert [hit.id for hit in store.keyword(["word7"], 5)] == [point.id]


def test_rare_words_count_for_more(store: PostgresStore) -> None:
    common = [make_point("a.md", at, unit(1), terms="law law law article") for at in range(40)]
    rare = make_point("b.md", 0, unit(1), terms="law quince filler filler filler filler filler")
    store.upsert([*common, rare])
    found = store.keyword(["law", "article", "quince"], 50)
    assert found[0].id == rare.id
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_of_a_chunk_the_fusion_returns_one_point(store: PostgresStore) -> None:
    first = make_point("a.md", 0, unit(0, 1), terms="apple")
    second = make_point("a.md", 0, unit(1), passage=1)
    other = make_point("b.md", 0, unit(1, 0.2), terms="pear")
    store.upsert([first, second, other])
    found = store.hybrid(unit(1), ["apple"], (0.5, 0.5), 10)
    assert [hit.id for hit in found] == [second.id, other.id]
    assert found[0].score == pytest.approx(1.0, abs=1e-5)
    assert len(store.hybrid(unit(1), [], (0.5, 0.5), 10)) == 2
    assert len(store.hybrid(unit(1), ["nowhere"], (0.5, 0.5), 1)) == 1


def test_points_without_vectors_are_not_found_by_vector(store: PostgresStore) -> None:
    bare = replace(make_point("a.md", 0, unit(1), terms="apple"), vector=None)
    store.upsert([bare, make_point("b.md", 0, unit(1))])
    assert len(store.search(unit(1), 10)) == 1
    assert [hit.id for hit in store.keyword(["apple"], 10)] == [bare.id]
    assert store.fetch([bare.id])[0].vector is None


@pytest.mark.parametrize("dimension", [1, 63, 64, 400, 1536, 3800, 3801, 16_000])
def test_vectors_of_any_length(place: PostgresPlace, dimension: int) -> None:
    with place.store("long-ones") as store:
        store.drop()
        store.create(dimension)
        assert store.dimension() == dimension
        vector = np.zeros(dimension, np.float32)
        vector[-1] = 1
        store.upsert([make_point("a.md", 0, vector, terms="apple " * 3000, text="long " * 3000)])
        (found,) = store.search(vector, 5)
        assert found.score == pytest.approx(1.0, abs=1e-4)
        assert np.array_equal(store.fetch([found.id])[0].vector, vector)  # type: ignore[arg-type]
        store.drop()


def test_more_dimensions_than_there_can_be(place: PostgresPlace) -> None:
    with place.store("too-long") as store, pytest.raises(StoreSchemaError, match=r"16001.*16,?000"):
        store.create(16_001)


class TestPostgresLibrary(LibraryConformance):
    """A library in it does what every library does."""


# -- what a search says when the database does not answer ------------------------------------------------------


def test_a_search_answers_from_the_copy_and_says_what_is_missing(
    place: PostgresPlace, tmp_path: Path
) -> None:
    documents = write_documents(tmp_path / "docs")
    settings = place.settings("denied", native="none")
    with place.store("denied") as store:
        store.drop()
    with Library(tmp_path / "index", database=settings, embedder=HashEmbedder()) as library:
        library.index([documents], workers=1)
        assert "without search by meaning" not in library.search("waste oil").note
    guest = new_role(place.server, "reader")
    refusals = {
        guest: "permission denied",
        place.server.url_for(USER, "wrong"): "the user or the password is wrong",
    }
    for url, words in refusals.items():
        wrong = replace(settings, connection_string=url)
        with Library(tmp_path / "index", database=wrong, embedder=HashEmbedder()) as library:
            found = library.search("waste oil")
            assert found.results
            assert words in found.note
            assert "without search by meaning" in found.note
            assert "hunter2" not in found.note
            with pytest.raises(StoreAccessError, match=words):
                library.search("waste oil", mode="semantic")
    with place.store("denied") as store:
        store.drop()
    with Library(tmp_path / "index", database=settings, embedder=HashEmbedder()) as library:
        found = library.search("waste oil")
        assert found.results
        assert "not there" in found.note


# -- the index over the vectors --------------------------------------------------------------------------------


def _indexed(place: PostgresPlace) -> list[object]:
    return [
        row[0]
        for row in place.server.execute(
            "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'many__vectors'"
        )
    ]


def _scans(place: PostgresPlace, store: PostgresStore) -> int:
    """Return how often the index over the vectors was used."""
    store.close()  # A session tells what it did at the latest when it ends.
    for _ in range(200):
        if not place.server.execute("SELECT 1 FROM pg_stat_activity WHERE application_name = 'loccit'"):
            break
        time.sleep(0.01)
    (count,) = _indexed(place)
    assert isinstance(count, int)
    return count


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_index, "_LOOK_EVERY", 50)


def _never(*_: object) -> str:
    raise AssertionError("all points were compared")


def test_beyond_a_size_there_is_an_index_that_finds_all_that_is_asked_for(
    place: PostgresPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = random_units(3000, seed=3)
    points = [make_point(f"{at % 60}.md", at // 60, vector) for at, vector in enumerate(vectors)]
    with fresh(place, "many", options={"exact_below": 500, "ef_search": 40}) as store:
        store.upsert(points[:400])
        assert _indexed(place) == []
        for start in range(400, 3000, 100):
            store.upsert(points[start : start + 100])
        assert _scans(place, store) == 0
        query = unit(0.3, -0.2, 0.5, 0.1)
        scores = vectors @ query
        for limit in (10, 50, 1500, 2900):
            best = {points[at].id for at in np.argsort(-scores)[:limit]}
            with monkeypatch.context() as only_index:
                only_index.setattr(postgres_search.Searches, "_exact", _never)
                found = store.search(query, limit)
            assert len(found) == limit
            assert len(best & {hit.id for hit in found}) >= 0.98 * limit
            assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
        used = _scans(place, store)
        assert used >= 4
        # Half of the documents, more than are compared one by one: through the index, and all fifty of fifty.
        half = [document_key(f"{number}.md") for number in range(30)]
        allowed = [at for at in range(3000) if at % 60 < 30]
        best = {points[at].id for at in sorted(allowed, key=lambda at: -scores[at])[:50]}
        with monkeypatch.context() as only_index:
            only_index.setattr(postgres_search.Searches, "_exact", _never)
            found = store.search(query, 50, half)
        assert len(found) == 50
        assert len(best & {hit.id for hit in found}) >= 49
        assert _scans(place, store) > used
        # A few documents: compared one by one, exactly.
        used = _scans(place, store)
        few = half[:3]
        found = store.search(query, 50, few)
        allowed = [at for at in range(3000) if at % 60 < 3]
        assert [hit.id for hit in found] == [
            points[at].id for at in sorted(allowed, key=lambda at: -scores[at])[:50]
        ]
        assert _scans(place, store) == used
        assert len(store.hybrid(query, ["nowhere"], (1, 0), 50)) == 50
        assert _scans(place, store) > used
        store.drop()


def test_a_filter_that_the_index_hardly_meets_loses_nothing(
    place: PostgresPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_search, "_PASSED", 1)
    monkeypatch.setattr(postgres_search, "_PASSED_FOR_ONE", 1)
    vectors = random_units(2000, seed=4)
    # The rare document is on the far side of where the query looks.
    vectors[:, 0] = np.abs(vectors[:, 0])
    vectors[::10, 0] *= -1
    points = [make_point("rare.md" if at % 10 == 0 else "b.md", at, v) for at, v in enumerate(vectors)]
    with fresh(place, "many", options={"exact_below": 100, "ef_search": 10}) as store:
        store.upsert(points)
        found = store.search(unit(1), 50, [document_key("rare.md")])
        assert len(found) == 50
        store.drop()


def test_a_broken_off_index_is_made_again(place: PostgresPlace) -> None:
    points = [make_point("a.md", at, vector) for at, vector in enumerate(random_units(300))]
    with fresh(place, "many", options={"exact_below": 200}) as store:
        store.upsert(points)
        place.server.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'many__vectors'::regclass"
        )
        with place.store("many", options={"exact_below": 200}) as another:
            assert len(another.search(unit(1), 50)) == 50
            another.upsert(points[:1])
        valid = place.server.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = 'many__vectors'::regclass"
        )
        assert valid == [(True,)]
        store.drop()


def test_many_who_write_make_one_index(place: PostgresPlace) -> None:
    points = [make_point(f"{at % 8}.md", at, vector) for at, vector in enumerate(random_units(2400))]
    with fresh(place, "many", options={"exact_below": 600}):
        stores = [place.store("many", options={"exact_below": 600}) for _ in range(4)]
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda at: stores[at % 4].upsert(points[at * 100 : at * 100 + 100]), range(24)))
        assert place.server.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = 'many__vectors'::regclass"
        ) == [(True,)]
        found = {hit.id for hit in stores[0].search(unit(1), 2000)}
        assert len(found) == 2000
        for store in stores:
            store.close()


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
