"""What a library must do the same, whatever database holds it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loccit import Library
from loccit.errors import ModelMismatchError, StoreError, StoreSchemaError, StoreUnavailableError
from loccit.index.settings import DatabaseSettings
from loccit.index.shared import replica
from loccit.index.shared.index import StoredIndex
from loccit.model import SearchResponse
from loccit.models.embedding.protocol import Vectors
from loccit.testing.places import Place, make_point
from loccit.workers.processes import command

ACT = """\
# Harbour Act

## Section 1 Definitions

In this Act, "vessel" means any craft used on water. "Berth" means a place where a vessel may lie.

## Section 2 Duties of the master

### 2.1 Arrival

The master shall report to the harbour office within two hours of arrival, as required by Section 3.

### 2.2 Waste

The master shall not discharge waste oil into the basin.

## Section 3 Fees

A fee of 12 crowns is due for every day at a berth. See Section 2.1.
"""
LEASE = """\
---
author: Bo
tags: [lease]
---
# Lease of a warehouse

## 1. Term

The lease runs for five years from the first of May.

## 2. Termination

Either party may end the lease with six months' notice.

## 3. Straßenreinigung

Der Mieter reinigt die Straße. 仓库的钥匙。 The café next door keeps a spare key ☃.
"""
NOTES = """\
# Notes on tides

High water comes twice a day. Spring tides follow the new moon and the full moon.
"""
QUESTIONS = (
    "when does the master report",
    "ending the lease",
    '"waste oil"',
    "Section 3",
    "tides and the moon",
    "Straße reinigen",
    "钥匙",
    "author:Bo notice",
)
MODES = ("hybrid", "semantic", "keyword", "exact")


class HashEmbedder:
    """A direction for each word: no meaning, but quick, and the same everywhere."""

    def __init__(
        self, dimension: int = 48, name: str = "hash", before: Callable[[], None] | None = None
    ) -> None:
        self.name = name
        self.dimension = dimension
        self.max_tokens = 256
        self.languages: frozenset[str] | None = None
        self._before = before

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector for each text."""
        if self._before:
            self._before()
        vectors = np.full((len(texts), self.dimension), 0.01, np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                seed = int(hashlib.md5(word.encode()).hexdigest()[:8], 16)
                row += np.random.default_rng(seed).normal(size=self.dimension).astype(np.float32)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        before, self._before = self._before, None
        vector: Vectors = self.embed([text])[0]
        self._before = before
        return vector


def write_documents(folder: Path) -> Path:
    """Write the documents that every library is tried with."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("act.md", ACT), ("lease.md", LEASE), ("notes.md", NOTES)):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def answers(library: Library) -> list[object]:
    """Return what a library says to everything it is asked, but for what depends on its machine."""
    found: list[object] = [
        _plain(library.search(question, mode=mode, top_k=8)) for question in QUESTIONS for mode in MODES
    ]
    found.append(_plain(library.search("lease", filters={"tags": "lease"})))
    found.append([item.definition.definition_text for item in library.define("vessel").definitions])
    found.append(library.section("2.1").text)
    found.append([item.reference.text for item in library.references("2.1", document="act.md").cites])
    found.append(sorted(_name(item.source_path) for item in library.documents()))
    return found


def _plain(response: SearchResponse) -> object:
    # In order of their scores; equal ones come in the order of reading, which is not the same twice.
    return sorted(
        (
            -round(result.fused_score, 3),
            _name(result.chunk_id),
            result.section_label,
            result.lines,
            sorted(result.matched_by),
        )
        for result in response.results
    )


def _name(path: str) -> str:
    """Return what a path ends with: documents lie in another folder in every test."""
    return path.rpartition("/")[2]


@cache
def embedded_answers() -> list[object]:
    """Return what the embedded default answers; it is asked once."""
    with tempfile.TemporaryDirectory() as folder:
        documents = write_documents(Path(folder) / "docs")
        with Library(Path(folder) / "index", embedder=HashEmbedder()) as library:
            library.index([documents], workers=1)
            return answers(library)


def differences(found: list[object], wanted: list[object]) -> list[tuple[object, object]]:
    """Return the answers that are not the same, beside those that were expected."""
    return [(one, other) for one, other in zip(found, wanted, strict=True) if one != other]


def ask_elsewhere(folder: Path, settings: DatabaseSettings, question: str) -> Any:
    """Ask in another process, with a folder of its own: a new machine."""
    secrets = {"connection_string": settings.connection_string, "api_key": settings.api_key}
    asked = {"folder": str(folder), "settings": {**settings.to_dict(), **secrets}, "question": question}
    done = subprocess.run(
        command(__name__, "answer_elsewhere"),
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def answer_elsewhere() -> None:
    """Answer the question on standard input, as the other process."""
    asked = json.loads(sys.stdin.read())
    database = DatabaseSettings(**asked["settings"])
    with Library(asked["folder"], database=database, embedder=HashEmbedder()) as library:
        response = library.search(asked["question"], top_k=5)
        print(json.dumps([[result.chunk_id, round(result.fused_score, 3)] for result in response.results]))


class LibraryConformance:
    """Subclass this in a provider's test module, and give it a fixture ``place``."""

    @pytest.fixture
    def documents(self, tmp_path: Path) -> Path:
        return write_documents(tmp_path / "docs")

    @pytest.fixture
    def opened(self, place: Place, tmp_path: Path) -> Iterator[Callable[..., Library]]:
        """Open the library on one machine or another; the database is empty at first."""
        with place.store("library", native="none") as store:
            store.drop()
        libraries: list[Library] = []

        def open_library(
            machine: str = "here", embedder: HashEmbedder | None = None, **settings: Any
        ) -> Library:
            library = Library(
                tmp_path / machine / ".loccit",
                database=place.settings("library", native="none", **settings),
                embedder=embedder or HashEmbedder(),
            )
            libraries.append(library)
            return library

        yield open_library
        for library in libraries:
            library.close()

    @pytest.fixture
    def embedded(self) -> list[object]:
        """What the embedded default answers."""
        return embedded_answers()

    def look(self, library: Library) -> None:
        """Have a library ask the database at once whether others changed something."""
        index = library._index
        assert isinstance(index, StoredIndex)
        index._next_look = 0.0

    def settle(self, place: Place, library: Library) -> None:
        """Wait until what was published can be found."""
        index = library._index
        assert isinstance(index, StoredIndex)
        place.settle(index.store)

    def test_the_answers_of_the_embedded_default(
        self, place: Place, opened: Callable[..., Library], documents: Path, embedded: list[object]
    ) -> None:
        library = opened()
        report = library.index([documents], workers=1)
        assert (len(report.added), report.failed) == (3, [])
        self.settle(place, library)
        assert differences(answers(library), embedded) == []
        assert library.doctor(repair=False).healthy
        again = library.index([documents], workers=1)
        assert (again.unchanged, again.added, again.updated) == (3, [], [])

    @pytest.mark.parametrize("native", ["keyword", "hybrid"])
    def test_its_own_search_is_as_sure_as_ours(
        self, place: Place, documents: Path, tmp_path: Path, native: str
    ) -> None:
        settings = place.settings("library", native=native)
        with place.store("library", native="none") as store:
            if not getattr(store.capabilities, native):
                pytest.skip(f"no {native} search of its own")
            store.drop()
        theirs = Library(tmp_path / "theirs", database=settings, embedder=HashEmbedder())
        ours = Library(tmp_path / "ours", embedder=HashEmbedder())
        with theirs, ours:
            for library in (theirs, ours):
                library.index([documents], workers=1)
            self.settle(place, theirs)
            for mode in ("hybrid", "keyword"):
                for question in ("waste oil discharged into the basin", "spring tides follow the new moon"):
                    wanted, found = (library.search(question, mode=mode) for library in (ours, theirs))
                    assert _name(found.results[0].chunk_id) == _name(wanted.results[0].chunk_id)
                    assert found.confidence == pytest.approx(wanted.confidence, abs=0.2)
                strange = theirs.search("fifty zebras juggling the moon", mode=mode)
                assert strange.confidence < 0.5 * found.confidence

    def test_a_new_machine_has_the_same_answers(
        self, place: Place, opened: Callable[..., Library], documents: Path, embedded: list[object]
    ) -> None:
        if not place.persistent:
            pytest.skip("there is no other machine")
        with opened() as library:
            library.index([documents], workers=1)
            self.settle(place, library)
        other = opened("there")
        assert differences(answers(other), embedded) == []
        assert other.doctor(repair=False).healthy

    def test_changes_arrive(self, place: Place, opened: Callable[..., Library], documents: Path) -> None:
        here = opened()
        here.index([documents], workers=1)
        self.settle(place, here)
        there = opened("there")
        assert "vessel" in there.section("Section 1").text
        (documents / "notes.md").unlink()
        (documents / "act.md").write_text(ACT.replace("12 crowns", "15 crowns"), encoding="utf-8")
        (documents / "new.md").write_text("# Ropes\n\nA rope is coiled with the sun.\n", encoding="utf-8")
        report = here.index([documents], workers=1)
        assert (len(report.added), len(report.updated), len(report.removed)) == (1, 1, 1)
        self.settle(place, here)
        for library in (here, there):
            # What is missing from a database that takes its time is gone only when it is missed twice.
            for _ in range(2):
                self.look(library)
                names = [Path(item.source_path).name for item in library.documents()]
            assert sorted(names) == ["act.md", "lease.md", "new.md"]
            for mode in ("hybrid", "semantic", "keyword"):
                found = library.search("how is a rope coiled", mode=mode, top_k=3).results
                assert found[0].source_path.endswith("new.md")
                texts = [
                    result.content for result in library.search("crowns a day at a berth", mode=mode).results
                ]
                assert "15 crowns" in texts[0]
                assert not any("12 crowns" in text for text in texts)
                assert not library.search(
                    "spring tides new moon", mode=mode, filters={"path": "**/notes.md"}
                ).results
            assert library.doctor(repair=False).healthy
        there.close()

    def test_another_process(
        self, place: Place, opened: Callable[..., Library], documents: Path, tmp_path: Path
    ) -> None:
        if not place.shared:
            pytest.skip("nobody else can see it")
        with opened() as library:
            library.index([documents], workers=1)
            self.settle(place, library)
            here = [
                [r.chunk_id, round(r.fused_score, 3)]
                for r in library.search("report to the harbour office", top_k=5).results
            ]
        assert (
            ask_elsewhere(
                tmp_path / "elsewhere",
                place.settings("library", native="none"),
                "report to the harbour office",
            )
            == here
        )

    def test_another_model_is_refused(
        self, place: Place, opened: Callable[..., Library], documents: Path
    ) -> None:
        library = opened()
        library.index([documents], workers=1)
        self.settle(place, library)
        other = opened("there", HashEmbedder(24, "smaller"))
        with pytest.raises(ModelMismatchError, match=place.settings().provider):
            other.index([documents], workers=1)
        # What was there is there still.
        assert library.search("master", mode="semantic").results

    def test_a_database_that_goes_away_while_it_is_filled(
        self, place: Place, opened: Callable[..., Library], documents: Path, embedded: list[object]
    ) -> None:
        if not place.stoppable:
            pytest.skip("it is no server")
        away: list[bool] = []

        def go_away() -> None:
            if away == [False]:
                place.stop()
                away.append(True)

        library = opened("here", HashEmbedder(before=go_away), patience=0.0)
        library.index([documents / "notes.md"], workers=1)
        away.append(False)
        try:
            with pytest.raises(StoreUnavailableError, match=place.settings().provider):
                library.index([documents], workers=1)
            assert library.search("waste", mode="keyword").results
            with pytest.raises(StoreError, match=place.settings().provider):
                library.search("waste", mode="semantic")
        finally:
            place.start()
        self.look(library)
        report = library.index([documents], workers=1)
        assert report.failed == []
        self.settle(place, library)
        assert differences(answers(library), embedded) == []
        assert library.doctor(repair=False).healthy

    def test_what_is_lost_or_left_over_is_mended(
        self, place: Place, opened: Callable[..., Library], documents: Path, embedded: list[object]
    ) -> None:
        library = opened()
        library.index([documents], workers=1)
        self.settle(place, library)
        index = library._index
        assert isinstance(index, StoredIndex)
        ids = [point.id for batch in index.store.points() for point in batch]
        index.store.delete(ids[:2])
        vector = HashEmbedder().embed_query("left behind")
        index.store.upsert([make_point("ghost.md", at, vector) for at in range(3)])
        self.settle(place, library)
        assert not library.doctor(repair=False).healthy
        library.doctor()
        self.settle(place, library)
        assert library.doctor(repair=False).healthy
        assert differences(answers(library), embedded) == []

    def test_a_library_that_was_dropped_is_put_back(
        self,
        place: Place,
        opened: Callable[..., Library],
        documents: Path,
        embedded: list[object],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        # It is waited for where what is written shows late; here nothing comes.
        monkeypatch.setattr(replica, "PATIENCE", 0.5)
        library = opened()
        library.index([documents], workers=1)
        index = library._index
        assert isinstance(index, StoredIndex)
        index.store.drop()
        with pytest.raises(StoreSchemaError, match="doctor"):
            library.index([documents], workers=1)
        library.doctor()
        self.settle(place, library)
        assert differences(answers(library), embedded) == []

    def test_made_anew(self, place: Place, opened: Callable[..., Library], documents: Path) -> None:
        with opened() as library:
            library.index([documents], workers=1)
        library = opened("here", HashEmbedder(24, "smaller"))
        library.index([documents], rebuild=True, workers=1)
        self.settle(place, library)
        assert library.search("waste oil", mode="semantic").results
        assert library.status().dimension == 24
        assert library.doctor(repair=False).healthy
