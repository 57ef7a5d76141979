"""An index folder knows the database it belongs to, and nothing secret about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loccit import Library
from loccit.errors import IndexStateError, NotFoundError, UsageError
from loccit.index.home import HOME, read_home, write_home
from loccit.index.settings import DatabaseSettings
from loccit.testing.libraries import ACT, HashEmbedder


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("LOCCIT_CONNECTION_STRING", "LOCCIT_DATABASE", "LOCCIT_DATABASE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "act.md").write_text(ACT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def opened(*, connection_string: str = "", collection: str = "loccit") -> Library:
    """Open a library in FAISS."""
    settings = DatabaseSettings("faiss", connection_string, collection)
    return Library("index", database=settings, embedder=HashEmbedder())


@pytest.mark.parametrize(
    ("provider", "address", "kept"),
    [
        ("postgres", "postgresql://ann:secret@db.example/laws", False),
        ("postgres", "host=db.example password=secret", False),
        ("postgres", "postgresql://db.example/laws?password=secret", False),
        ("azure-cosmos-nosql", "AccountEndpoint=https://x;AccountKey=secret", False),
        ("pinecone", "secret", False),
        ("postgres", "postgresql://db.example/laws", True),
        ("qdrant", "https://qdrant.example:6333", True),
        ("qdrant", "/data/ann@example/vectors", True),
    ],
)
def test_an_address_is_remembered_if_it_can_hold_no_secret(
    tmp_path: Path, provider: str, address: str, kept: bool
) -> None:
    write_home(tmp_path, DatabaseSettings(provider, address, api_key="secret"))
    home = read_home(tmp_path)
    assert home.provider == provider
    assert home.connection_string == (address if kept else "")
    assert "secret" not in (tmp_path / HOME).read_text(encoding="utf-8")


def test_a_folder_is_found_from_every_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(connection_string="vectors") as library:
        library.index("docs")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    with Library(tmp_path / "index", create=False, embedder=HashEmbedder()) as library:
        assert library.search("waste oil", mode="semantic").results
    assert (tmp_path / "vectors").is_dir()


def test_what_is_said_once_stays_said(tmp_path: Path) -> None:
    with opened(connection_string=str(tmp_path / "vectors")) as library:
        library.index("docs")
    with opened() as library:
        assert library.search("waste oil", mode="semantic").results
    assert read_home(tmp_path / "index").connection_string == str(tmp_path / "vectors")


def test_files_of_faiss_lie_beside_the_record_and_move_with_it(tmp_path: Path) -> None:
    with opened() as library:
        library.index("docs")
    (tmp_path / "index").rename(tmp_path / "moved")
    with Library("moved", create=False, embedder=HashEmbedder()) as library:
        assert library.search("waste oil", mode="semantic").results


def test_an_index_does_not_change_its_home_by_being_opened() -> None:
    with opened(collection="laws") as library:
        library.index("docs")
    for other in (DatabaseSettings(), DatabaseSettings("faiss", collection="other")):
        with pytest.raises(UsageError, match=r"belongs to the database faiss \(collection laws\).*migrate"):
            Library("index", database=other)


def test_an_index_with_nothing_in_it_may(tmp_path: Path) -> None:
    """A name that was wrong at the first attempt can be put right at the second."""
    opened(collection="lawz").close()
    with opened(collection="laws") as library:
        library.index("docs")
        assert library.status().database == "faiss, collection laws"
    assert read_home(tmp_path / "index").collection == "laws"


def test_a_bad_address_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="connection_string"):
        Library("new", database=DatabaseSettings("postgres"))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"provider": "faiss", "native": "all"}', '{"colour": "red"}']
)
def test_a_home_that_cannot_be_read_is_explained(tmp_path: Path, content: str) -> None:
    opened().close()
    (tmp_path / "index" / HOME).write_text(content, encoding="utf-8")
    with pytest.raises(IndexStateError, match=r"database\.json cannot be read .*--database"):
        Library("index")


def test_passages_that_are_not_published_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from loccit.index.shared.replica import Replica

    with opened() as library:
        library.index("docs")
        assert library.status().unpublished_passages == 0
        Path("docs/note.md").write_text("# Note\n\nText.\n", encoding="utf-8")
        with monkeypatch.context() as patch:
            patch.setattr(Replica, "push", lambda replica: None)
            library.index()
        assert library.status().unpublished_passages == 1
        library.index()
        assert library.status().unpublished_passages == 0


def test_a_new_machine_takes_over_how_documents_are_read(tmp_path: Path) -> None:
    from loccit import IndexSettings, Settings

    shared = DatabaseSettings("faiss", str(tmp_path / "vectors"))
    short = Settings(index=IndexSettings(max_chunk_tokens=120))
    with Library("first", database=shared, settings=short, embedder=HashEmbedder()) as library:
        library.index("docs")
    with Library("second", database=shared, embedder=HashEmbedder()) as library:
        assert library.index("docs").unchanged == 1
        assert library.index_settings.max_chunk_tokens == 120


def test_connecting_copies_the_record_and_no_more(tmp_path: Path) -> None:
    shared = DatabaseSettings("faiss", str(tmp_path / "vectors"), "laws")
    with Library("first", database=shared, embedder=HashEmbedder()) as library:
        library.index("docs")
        before = library.status()
    steps: list[int] = []
    with Library.connect(
        "second", shared, embedder=HashEmbedder(), progress=lambda step: steps.append(step.done)
    ) as library:
        after = library.status()
        assert (after.documents, after.chunks, after.passages) == (
            before.documents,
            before.chunks,
            before.passages,
        )
        assert after.roots == []
        assert "crowns" in library.section("Section 3").text
    assert steps == [1]
    with Library.connect("second", shared, embedder=HashEmbedder()) as again:
        assert again.status().documents == 1


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        (DatabaseSettings("faiss", "nowhere"), NotFoundError),
        (DatabaseSettings(), UsageError),
        (DatabaseSettings("in-memory"), UsageError),
    ],
)
def test_connecting_to_nothing_makes_no_folder(
    tmp_path: Path, settings: DatabaseSettings, error: type[Exception]
) -> None:
    with pytest.raises(error):
        Library.connect("new", settings)
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "nowhere").exists()


def test_what_is_written_down_is_plain(tmp_path: Path) -> None:
    opened(collection="laws").close()
    assert json.loads((tmp_path / "index" / HOME).read_text(encoding="utf-8")) == {
        "provider": "faiss",
        "collection": "laws",
        "native": "none",
        "timeout": 30.0,
        "patience": 300.0,
        "connection_env": "LOCCIT_CONNECTION_STRING",
        "options": {},
    }
