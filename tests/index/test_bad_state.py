"""Index folders that cannot be used as they are: each says what is wrong and what to do."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from loccit import Library
from loccit.cli.app import app
from loccit.errors import (
    IndexNotFoundError,
    IndexReadOnlyError,
    IndexStateError,
    IndexVersionError,
    ModelMismatchError,
    UsageError,
)

MODES = ("hybrid", "semantic", "keyword", "exact")
RECORD = "record.sqlite3"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``docs`` and an ``index`` of it. Tests copy it."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "docs").mkdir()
    for animal in ("zebra", "camel"):
        (folder / "docs" / f"{animal}.md").write_text(f"# {animal.title()}\n\nThe {animal} eats grass.\n")
    with Library(folder / "index") as library:
        library.index(folder / "docs")
    return folder


@pytest.fixture
def index(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "index", tmp_path / "index"))


def check_usable(index: Path) -> None:
    with Library(index) as library:
        for mode in MODES:
            assert "zebra" in library.search("zebra", mode=mode).results[0].content


# -- the record ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"garbage " * 1000, b"\x00" * 8192, b"short"])
def test_a_record_that_is_not_a_database(index: Path, content: bytes) -> None:
    (index / RECORD).write_bytes(content)
    with pytest.raises(IndexStateError, match=r"damaged.*Delete the folder"):
        Library(index)


def test_a_record_that_is_cut_or_changed(index: Path) -> None:
    path = index / RECORD
    connection = sqlite3.connect(path)
    page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'documents'").fetchone()[0]
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.close()
    with path.open("r+b") as stream:
        stream.seek((page - 1) * size)
        stream.write(b"\xff" * size)
    with Library(index) as library:
        report = library.doctor()
        assert not report.healthy
        assert "index again" in next(check.detail for check in report.checks if not check.ok)
        with pytest.raises(IndexStateError, match="index again"):
            library.documents()


def test_a_database_of_somebody_else(tmp_path: Path) -> None:
    for name, version in (("one", 0), ("two", 3)):
        folder = tmp_path / name
        folder.mkdir()
        connection = sqlite3.connect(folder / RECORD)
        connection.execute("CREATE TABLE precious (value)")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()
        with pytest.raises(IndexStateError, match="is not a Loccit index"):
            Library(folder)
        assert connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0] == 1
        connection.close()


def test_an_empty_record_is_a_new_one(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / RECORD).touch()
    with Library(folder) as library:
        assert library.search("zebra").results == []


def test_the_path_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(UsageError, match="is a file"):
        Library(path)
    with pytest.raises(IndexStateError):
        Library(path / "below")


def test_there_is_no_index(tmp_path: Path) -> None:
    with pytest.raises(IndexNotFoundError, match="loccit index"):
        Library(tmp_path / "nowhere", create=False)
    assert not (tmp_path / "nowhere").exists()


# -- versions --------------------------------------------------------------------------------------------------


def test_a_newer_version_is_left_alone(index: Path) -> None:
    connection = sqlite3.connect(index / RECORD)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = (index / RECORD).read_bytes()
    with pytest.raises(IndexVersionError, match=r"newer version.*format 99.*Upgrade"):
        Library(index)
    assert (index / RECORD).read_bytes() == before


# -- models ----------------------------------------------------------------------------------------------------


class OtherModel:
    """A model that is not the one that the index was made with."""

    max_tokens = 256
    languages = None

    def __init__(self, name: str, dimension: int) -> None:
        self.name = name
        self.dimension = dimension

    def embed(self, texts: object) -> NDArray[np.float32]:
        raise AssertionError("must not be asked")

    def embed_query(self, text: str) -> NDArray[np.float32]:
        raise AssertionError("must not be asked")


@pytest.mark.parametrize(("same_name", "dimension"), [(False, 384), (True, 16)])
def test_another_model(index: Path, made: Path, same_name: bool, dimension: int) -> None:
    with Library(index) as library:
        name = library.status().model
    with Library(index, embedder=OtherModel(name if same_name else "other", dimension)) as library:
        for action in (lambda: library.search("zebra"), lambda: library.index(made / "docs")):
            with pytest.raises(ModelMismatchError, match="--rebuild"):
                action()
        assert library.search("zebra", mode="keyword").results
    check_usable(index)


# -- read-only -------------------------------------------------------------------------------------------------


def check_read_only(index: Path, docs: Path) -> None:
    check_usable(index)
    with Library(index, create=False) as library:
        assert library.status().documents == 2
        assert library.doctor().healthy
        assert library.outline("zebra.md")
        for options in ({}, {"rebuild": True}):
            with pytest.raises(IndexReadOnlyError, match=r"read-only|cannot be written"):
                library.index(docs, **options)  # type: ignore[arg-type]
    check_usable(index)


def test_read_only_by_permission(index: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(path.name for path in index.rglob("*"))
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    check_read_only(index, made / "docs")
    assert set(before) <= {path.name for path in index.rglob("*")}


def test_a_new_index_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    (tmp_path / "index").mkdir()
    with pytest.raises(IndexReadOnlyError, match="cannot be written to"):
        Library(tmp_path / "index")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """A small disk of our own, where the system lets us have one; called again with other options, it changes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = False

    def mount(options: str) -> Path:
        nonlocal mounted
        command = [
            "mount",
            "-t",
            "tmpfs",
            "-o",
            ("remount," if mounted else "") + options,
            "tmpfs",
            str(folder),
        ]
        if sys.platform != "linux" or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("no right to mount a disk")
        mounted = True
        return folder

    yield mount
    if mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_read_only_disk(made: Path, disk: Callable[[str], Path]) -> None:
    index = Path(shutil.copytree(made / "index", disk("size=64m") / "index"))
    disk("ro")
    check_read_only(index, made / "docs")


def test_read_only_while_somebody_else_writes(
    index: Path, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more/llama.md").write_text("# Llama\n\nThe llama eats grass.\n")
    with Library(index) as writer:
        with monkeypatch.context() as patch:
            patch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
            reader = Library(index)
        with reader:
            writer.index(tmp_path / "more")
            assert reader.search("llama", mode="keyword").results
            assert reader.search("llama", mode="semantic").results[0].document_title == "Llama"


# -- a full disk -----------------------------------------------------------------------------------------------


@pytest.fixture
def many(tmp_path: Path) -> Path:
    docs = tmp_path / "many"
    docs.mkdir()
    for number in range(30):
        paragraphs = "\n\n".join(f"Paragraph {line} of zebra number {number}." for line in range(60))
        (docs / f"{number}.md").write_text(f"# Document {number}\n\n{paragraphs}\n")
    return docs


def test_a_record_without_room(index: Path, many: Path) -> None:
    with Library(index) as library:
        connection = library._index.database.connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 20}")
        with pytest.raises(IndexStateError, match=r"is full\. Free some space"):
            library.index(many, embed=False)
        read = library.status().documents - 2
        assert 0 <= read < 30
        assert library.search("camel").results and library.search('"zebra number 0"').results is not None
        connection.execute("PRAGMA max_page_count = 1000000")
        report = library.index(many, embed=False)
        assert (report.unchanged, len(report.added)) == (read, 30 - read)
        assert library.doctor().healthy


@pytest.mark.parametrize("room", ["300k", "1m", "1500k"])
def test_a_full_disk(many: Path, disk: Callable[[str], Path], room: str) -> None:
    folder = disk(f"size={room}")
    library = None
    try:
        with pytest.raises(IndexStateError, match=r"is full\. Free some space"):
            library = Library(folder / "index")
            library.index(many, embed=False)
    finally:
        if library is not None:
            library.close()
    disk("size=64m")
    with Library(folder / "index") as library:
        library.index(many, embed=False)
        assert library.status().documents == 30
        assert library.doctor().healthy
        assert library.search("paragraph", mode="keyword", top_k=100).results


def _fill(disk: Path) -> None:
    with (disk / "filler").open("wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(b"\0" * 4096)


def test_a_doctor_without_room_to_repair(made: Path, disk: Callable[[str], Path]) -> None:
    folder = disk("size=4m")
    index = Path(shutil.copytree(made / "index", folder / "index"))
    shutil.rmtree(index / "texts")
    _fill(folder)
    done = CliRunner().invoke(app, ["doctor", "--index", str(index)])
    assert done.exit_code == 1
    said = " ".join(done.output.split())
    assert "Its disk is full: free some space, then run loccit doctor again." in said
    assert "--rebuild" not in said
    disk("size=64m")
    with Library(index) as library:
        library.doctor()
        assert library.doctor().healthy


def test_searching_on_a_full_disk(made: Path, disk: Callable[[str], Path]) -> None:
    folder = disk("size=4m")
    index = Path(shutil.copytree(made / "index", folder / "index"))
    _fill(folder)
    check_usable(index)
    with Library(index) as library, pytest.raises(IndexStateError, match="is full"):
        library.index(made / "docs")
