"""Places for the providers that speak MongoDB's protocol, and tests that hold for all of them."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from tests.index.providers.mongo_double import MongoDouble, wait_until
from tests.index.providers.mongo_double_atlas import AtlasWarehouse

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings
from loccit.index.store import MAX_VALUE, Entry, Point, Store
from loccit.testing.places import DIMENSION, Place, make_point, unit


class MongoPlace(Place):
    """A double on this machine."""

    def __init__(self, provider: str, double: MongoDouble) -> None:
        self.provider = provider
        self.double = double

    def address(self, user: str, password: str) -> str:
        """Return a connection string."""
        return f"mongodb://{quote(user)}:{quote(password)}@127.0.0.1:{self.double.port}/texts"

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        options = {"server_selection_timeout": 0.5, **changes.pop("options", {})}
        text = changes.pop("connection_string", self.address(self.double.user, self.double.password))
        return DatabaseSettings(self.provider, text, collection, options=options, **changes)

    def wrong(self) -> DatabaseSettings:
        return self.settings(connection_string=self.address(self.double.user, "hunter2"))

    def stop(self) -> None:
        self.double.stop()

    def start(self) -> None:
        self.double.start()

    def settle(self, store: Store) -> None:
        warehouse = self.double.warehouse
        if isinstance(warehouse, AtlasWarehouse):
            wait_until(warehouse.settled)

    def sent(self, name: str) -> list[dict[str, Any]]:
        """Return the commands of a kind that the double was sent."""
        return [command for command in self.double.commands if next(iter(command)) == name]


class MongoBehaviour:
    """What is the same for every provider that speaks this protocol; a test module gives the fixtures."""

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "postgresql://ann:hunter2@db.example/x",
            "mongodb://",
            "mongodb://ann:hunter2:hunter2@127.0.0.1:1/",
            "mongodb://ann:hunter2@127.0.0.1:hunter2/",
            "mongodb+srv://ann:hunter2@db.example:27017/",
            "mongodb+srv://ann:hunter2@db.example,db2.example/",
            "mongodb://ann:hunter2@db.example/?hunter2=1",
        ],
    )
    def test_a_bad_connection_string_is_said_at_once(self, mongo: MongoPlace, text: str) -> None:
        with pytest.raises(UsageError, match="connection_string") as refused:
            load_store(mongo.settings(connection_string=text))
        assert mongo.provider in str(refused.value)
        assert "hunter2" not in str(refused.value)

    def test_a_key_needs_a_user(self, mongo: MongoPlace) -> None:
        with pytest.raises(UsageError, match="api_key"):
            load_store(mongo.settings(connection_string="mongodb://127.0.0.1/", api_key="hunter2"))

    def test_the_password_may_be_the_key(self, mongo: MongoPlace) -> None:
        text = f"mongodb://{mongo.double.user}@127.0.0.1:{mongo.double.port}/"
        good = mongo.settings(connection_string=text, api_key=mongo.double.password)
        with load_store(good) as store:
            assert store.get(["none"]) == {}
        bad = mongo.settings(connection_string=text, api_key="hunter2")
        with load_store(bad) as store, pytest.raises(StoreAccessError) as refused:
            store.get(["none"])
        assert "hunter2" not in str(refused.value)

    def test_another_dimension_is_refused(self, mongo: MongoPlace) -> None:
        with mongo.store("short-ones") as store:
            store.drop()
            store.create(DIMENSION)
            with pytest.raises(StoreSchemaError, match=rf"\b{DIMENSION}\b.*\b{DIMENSION + 1}\b"):
                store.create(DIMENSION + 1)
            assert store.dimension() == DIMENSION

    def test_vectors_that_no_index_takes_are_refused(self, mongo: MongoPlace) -> None:
        with mongo.store("long-ones") as store:
            store.drop()
            with pytest.raises(StoreSchemaError, match="20000"):
                store.create(20_000)
            assert store.dimension() is None

    def test_a_collection_of_others_is_left_alone(self, mongo: MongoPlace) -> None:
        with mongo.store("theirs") as store:
            store.drop()
            link = store.link  # type: ignore[attr-defined]
            link.handle()["theirs"].insert_one({"_id": "x", "name": "something else"})
            with pytest.raises(StoreSchemaError, match="theirs"):
                store.dimension()
            with pytest.raises(StoreSchemaError, match="theirs"):
                store.create(DIMENSION)
            assert link.handle()["theirs"].find_one() == {"_id": "x", "name": "something else"}

    def test_one_who_may_not_write_is_told(self, mongo: MongoPlace) -> None:
        with mongo.store() as store:
            store.drop()
            store.create(DIMENSION)
        text = mongo.address(mongo.double.reader, mongo.double.password)
        with load_store(mongo.settings(connection_string=text)) as store:
            assert store.count() == 0
            with pytest.raises(StoreAccessError, match="readWrite") as refused:
                store.upsert([make_point("a.md", 0, unit(1))])
            assert mongo.provider in str(refused.value)
            with pytest.raises(StoreAccessError, match="readWrite"):
                store.swap(Entry("task-1", "task", "", "x"), None)

    def test_a_server_that_is_gone_says_no_secret(self, mongo: MongoPlace) -> None:
        mongo.stop()
        try:
            text = mongo.address("ann", "hunter2")
            with load_store(mongo.settings(connection_string=text)) as store:
                with pytest.raises(StoreUnavailableError, match="connection_string") as gone:
                    store.count()
                assert "hunter2" not in str(gone.value)
                assert "127.0.0.1" in str(gone.value)
                assert gone.value.__cause__ is None
        finally:
            mongo.start()

    def test_the_database_is_that_of_the_string_or_the_option(self, mongo: MongoPlace) -> None:
        def named(**changes: Any) -> str:
            return str(load_store(mongo.settings(**changes)).link.database)  # type: ignore[attr-defined]

        assert named() == "texts"
        assert named(options={"database": "other"}) == "other"
        assert named(connection_string="mongodb://127.0.0.1") == "loccit"
        with pytest.raises(UsageError, match="database"):
            named(options={"database": "no name"})

    def test_tls_is_on_for_other_machines(self, mongo: MongoPlace) -> None:
        def secured(text: str) -> object:
            store = load_store(mongo.settings(connection_string=text))
            return store.link._arguments.get("tls")  # type: ignore[attr-defined]

        assert secured("mongodb://ann:x@db.example/") is True
        assert secured("mongodb://ann:x@127.0.0.1,db.example/") is True
        assert secured("mongodb+srv://ann:x@db.example/") is True
        assert secured("mongodb://ann:x@db.example/?tls=false") is None
        assert secured("mongodb://ann:x@127.0.0.1/") is None
        assert secured("mongodb://ann:x@[::1]:27017/") is None

    def test_what_people_see_is_under_its_own_names(self, mongo: MongoPlace) -> None:
        point = make_point("bad\udce4.md", 0, unit(1), terms="löschung ☃", text="Löschung ☃")
        with mongo.store() as store:
            store.drop()
            store.create(DIMENSION)
            store.upsert([point, make_point("b.md", 0, unit(0, 1))])
            shown = store.link.handle()["laws"].find_one({"_id": point.id})  # type: ignore[attr-defined]
            assert shown["source_path"] == "bad?.md"
            assert (shown["text"], shown["terms"], shown["language"]) == ("Löschung ☃", "löschung ☃", "en")
            (found,) = store.fetch([point.id])
            assert (found.text, found.heading, found.file_type) == (
                "Löschung ☃",
                "Part I > Scope",
                "markdown",
            )

    def test_a_point_without_a_vector_is_kept_and_not_found(self, mongo: MongoPlace) -> None:
        bare = Point(make_point("a.md", 0, unit(1)).id, make_point("a.md", 0, unit(1)).document)
        with mongo.store() as store:
            store.drop()
            store.create(DIMENSION)
            store.upsert([bare, make_point("b.md", 0, unit(1))])
            mongo.settle(store)
            assert store.fetch([bare.id])[0].vector is None
            assert [hit.id for hit in store.search(unit(1), 5)] == [make_point("b.md", 0, unit(1)).id]

    def test_many_points_go_in_batches_and_one_too_large_is_said(self, mongo: MongoPlace) -> None:
        with mongo.store() as store:
            store.drop()
            store.create(DIMENSION)
            size = store.capabilities.batch
            before = len(mongo.sent("update"))
            store.upsert([make_point("a.md", at, unit(1)) for at in range(2 * size + 1)])
            assert [len(sent["updates"]) for sent in mongo.sent("update")[before:]] == [size, size, 1]
            assert store.count() == 2 * size + 1
            with pytest.raises(StoreError, match=mongo.provider) as refused:
                store.upsert([make_point("b.md", 0, unit(1), text="x" * (17 << 20))])
            assert len(str(refused.value)) < 500
            assert store.count() == 2 * size + 1

    def test_large_pages_come_in_several_answers(self, mongo: MongoPlace) -> None:
        long = "\N{SNOWMAN}" * MAX_VALUE
        with mongo.store() as store:
            store.drop()
            store.create(DIMENSION)
            store.put([Entry(f"part-{number:03}", "part", "doc", long) for number in range(250)])
            before = len(mongo.sent("getMore"))
            pages = list(store.entries("part", "doc"))
            assert sum(len(page) for page in pages) == 250
            assert all(entry.value == long for page in pages for entry in page)
            assert len(mongo.sent("getMore")) > before

    def test_the_index_is_used_beyond_what_is_small(self, mongo: MongoPlace) -> None:
        points = [make_point("a.md", at, unit(1, at / 10)) for at in range(30)]
        with mongo.store(options={"exact_below": 0}) as store:
            store.drop()
            store.create(DIMENSION)
            store.upsert(points)
            mongo.settle(store)
            assert [hit.id for hit in store.search(unit(1), 5)] == [point.id for point in points[:5]]
            assert [hit.id for hit in store.search(unit(1), 3, [points[0].document])] == [
                point.id for point in points[:3]
            ]
            assert len(store.search(unit(1), 2500)) == 30
