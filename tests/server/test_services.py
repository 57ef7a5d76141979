"""A service follows its index: also when another one is put in its place."""

from __future__ import annotations

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.ingest.fakes import WordEmbedder
from tests.server.conftest import write_documents

from loccit import Library
from loccit.cli.mcp import make_registry
from loccit.errors import IndexNotFoundError, IndexStateError, UsageError
from loccit.server.services import IndexService, LibraryHandle, LibraryRegistry


def test_an_index_that_was_rebuilt_with_another_model_is_opened_again(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nThe quokka sleeps.\n", encoding="utf-8")
    index = tmp_path / "index"
    embedders = [WordEmbedder(), WordEmbedder("other words", 48)]
    with Library(index, embedder=embedders[0]) as library:
        library.index([tmp_path / "note.md"])
    opened = iter(embedders)
    handle = LibraryHandle(lambda: Library(index, embedder=next(opened), create=False))
    assert handle.ask(lambda library: library.search("quokka")).results
    with Library(index, embedder=embedders[1]) as library:
        library.index(rebuild=True)
    assert handle.ask(lambda library: library.search("quokka")).results
    assert next(opened, None) is None
    handle.close()


def test_a_library_that_was_replaced_is_closed_when_its_last_reader_is_done(tmp_path: Path) -> None:
    index, opened = tmp_path / "index", []

    class Watched(Library):
        closed = False

        def close(self) -> None:
            self.closed = True
            super().close()

    def open_it() -> Library:
        opened.append(Watched(index, embedder=WordEmbedder()))
        return opened[-1]

    handle = LibraryHandle(open_it)

    def replace_it(library: Library) -> None:
        shutil.rmtree(index)
        assert handle.ask(lambda other: other) is not library
        assert not opened[0].closed

    handle.ask(replace_it)
    assert [library.closed for library in opened] == [True, False]
    handle.close()
    assert opened[1].closed


def test_a_library_is_not_closed_while_somebody_reads_from_it(tmp_path: Path) -> None:
    handle = LibraryHandle(lambda: Library(tmp_path / "index", embedder=WordEmbedder()))
    inside, go_on = threading.Event(), threading.Event()

    def read(library: Library) -> int:
        inside.set()
        assert go_on.wait(60)
        return library.status().documents

    with ThreadPoolExecutor(2) as threads:
        reading = threads.submit(handle.ask, read)
        assert inside.wait(60)
        closing = threads.submit(handle.close)
        with pytest.raises(IndexStateError, match="closing"):
            while True:
                handle.ask(lambda library: None)
        assert not closing.done()
        go_on.set()
        assert reading.result(60) == 0
        closing.result(60)


def test_an_index_that_is_missing_is_looked_for_again_with_every_question(tmp_path: Path) -> None:
    places: list[Path] = []
    service = IndexService(lambda: places[-1] if places else None)
    with pytest.raises(IndexNotFoundError, match="here or in a folder above"):
        service.ask(lambda library: library.status())
    places.append(tmp_path / "index")
    with pytest.raises(IndexNotFoundError, match="loccit index PATH --index"):
        service.ask(lambda library: library.status())
    Library(tmp_path / "index", embedder=WordEmbedder()).close()
    assert service.ask(lambda library: library.status()).documents == 0
    service.close()


def test_a_registry_that_is_prepared_without_an_index_still_serves(tmp_path: Path) -> None:
    registry = LibraryRegistry([IndexService(lambda: tmp_path / "nothing")])
    registry.warm().join()
    with pytest.raises(IndexNotFoundError):
        registry.choose(None)[0].ask(lambda library: library.status())
    registry.close()


def test_a_kind_of_output_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="both, text"):
        make_registry(tmp_path, None, write=False, token_budget=None, output="xml")


def test_an_index_that_was_deleted_is_made_again_from_what_it_was_made_of(tmp_path: Path) -> None:
    write_documents(tmp_path / "docs")
    path = tmp_path / ".loccit"
    with Library(path) as library:
        library.index([tmp_path / "docs"])
    service = IndexService(lambda: path, create_at=path)
    assert service.ask(lambda library: library.status()).documents == 3
    shutil.rmtree(path)
    with pytest.raises(IndexNotFoundError):
        service.ask(lambda library: library.status())
    report = service.index(None, lambda _: None)
    assert len(report.added) == 3
    assert service.ask(lambda library: library.status()).documents == 3
    service.close()
