"""An index follows its files: what changed is read, what is gone cannot be found, the rest is left alone."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.ingest.fakes import WordEmbedder, found, holdings, texts_found

from loccit import Library
from loccit.config import IndexSettings, Settings
from loccit.errors import LoccitError, NotFoundError
from loccit.ingest.pipeline import Pipeline
from loccit.model import IndexReport

ACT = "# Harbour Act\n\n## Section 1. Masters\n\nA {word} is appointed.\n\n## Section 2. Fees\n\nFees are due.\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def age(*paths: Path) -> None:
    """Make files old enough for size and time to be believed."""
    for path in paths:
        stamp = path.stat().st_mtime - 1000
        os.utime(path, (stamp, stamp))


def embedder_of(library: Library) -> WordEmbedder:
    assert isinstance(library.embedder, WordEmbedder)
    return library.embedder


def run_remembered(library: Library) -> IndexReport:
    """Index what was given before, whatever became of it."""
    pipeline = Pipeline(library._index, library.index_settings, library.embedder)
    with library._index.lock.held(wait=True):
        return pipeline.run(library._index.record.roots())


def test_what_did_not_change_is_not_read(
    library: Library, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        age(write(docs / f"{name}.md", f"# {name}\n\nText of {name}.\n"))
    assert len(library.index(docs).added) == 3
    with monkeypatch.context() as patch:
        # Size and time tell: not a byte of them is looked at.
        patch.setattr("loccit.ingest.pipeline.hash_stream", lambda stream: pytest.fail("was read"))
        report = library.index(docs)
    assert (report.unchanged, report.added, report.updated, report.embedded) == (3, [], [], 0)


def test_a_new_time_on_the_same_content_is_no_change(library: Library, docs: Path) -> None:
    path = write(docs / "a.md", "# A\n\nText.\n")
    library.index(docs)
    age(path)
    for _ in range(2):
        report = library.index(docs)
        assert (report.unchanged, report.updated) == (1, [])


def test_the_same_size_within_the_same_moment_is_noticed(library: Library, docs: Path) -> None:
    path = write(docs / "a.md", "# A\n\nThe zebra.\n")
    before = path.stat()
    library.index(docs)
    write(path, "# A\n\nThe camel.\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert library.index(docs).updated == [str(path)]
    assert found(library, "camel") == [str(path)] and found(library, "zebra") == []


def test_nothing_of_an_old_version_is_found(library: Library, docs: Path) -> None:
    path = write(docs / "act.md", ACT.format(word="xylophonist"))
    write(docs / "other.md", "# Other\n\nSomething else.\n")
    library.index(docs)
    assert "xylophonist" in texts_found(library, "xylophonist")
    assert "xylophonist" in library.section("Section 1").text

    write(path, ACT.format(word="harbourmaster").replace("Section 2. Fees", "Section 3. Dues"))
    report = library.index(docs)
    assert (report.updated, report.added, report.removed) == ([str(path)], [], [])
    for query in ("xylophonist", '"xylophonist is appointed"', "Section 2", "Fees"):
        assert "xylophonist" not in texts_found(library, query)
    assert "harbourmaster" in library.section("Section 1").text
    with pytest.raises(NotFoundError):
        library.section("Section 2")
    with pytest.raises(NotFoundError):
        library.section("Fees")
    assert library.section("Section 3").heading == "Section 3. Dues"

    path.unlink()
    assert library.index(docs).removed == [str(path)]
    assert "harbourmaster" not in texts_found(library, "harbourmaster is appointed")
    with pytest.raises(NotFoundError):
        library.section("Section 1")
    assert [info.title for info in library.documents()] == ["Other"]
    assert library.doctor(repair=False).healthy


def test_a_renamed_file_is_not_embedded_again(library: Library, docs: Path) -> None:
    texts = {name: f"# {name}\n\nText of {name}.\n" for name in ("a", "b")}
    for name, text in texts.items():
        write(docs / f"{name}.md", text)
    write(docs / "twin.md", texts["a"])
    library.index(docs)
    given = len(embedder_of(library).texts)
    (docs / "sub").mkdir()
    for name in ("a.md", "b.md", "twin.md"):
        (docs / name).rename(docs / "sub" / name)
    report = library.index(docs)
    moved = {str(docs / name): str(docs / "sub" / name) for name in ("a.md", "b.md", "twin.md")}
    assert {old for old, _ in report.renamed} == set(moved)
    assert {new for _, new in report.renamed} == set(moved.values())
    assert (report.added, report.updated, report.removed, report.embedded) == ([], [], [], 0)
    assert len(embedder_of(library).texts) == given
    assert set(found(library, "text", "semantic")) == set(moved.values())


def test_a_file_becomes_a_folder_and_back(library: Library, docs: Path) -> None:
    path = write(docs / "a.md", "# A\n\nThe zebra.\n")
    library.index(docs)
    path.unlink()
    inner = write(path / "b.md", "# B\n\nThe camel.\n")
    report = library.index(docs)
    assert (report.removed, report.added) == ([str(path)], [str(inner)])
    assert found(library, "zebra") == [] and found(library, "camel") == [str(inner)]
    shutil.rmtree(path)
    write(path, "# A\n\nThe zebra.\n")
    report = library.index(docs)
    assert (report.removed, report.added) == ([str(inner)], [str(path)])


@pytest.mark.parametrize("nothing", ["", "\n \n"])
def test_an_emptied_file_leaves_nothing_behind(library: Library, docs: Path, nothing: str) -> None:
    path = write(docs / "a.md", "# A\n\nThe zebra.\n")
    library.index(docs)
    write(path, nothing)
    for _ in range(2):
        assert [failure.path for failure in library.index(docs).failed] == [str(path)]
        assert found(library, "zebra") == []
    write(path, "# A\n\nThe camel.\n")
    assert library.index(docs).added == [str(path)]
    assert library.status().failures == []


def test_a_file_that_fails_keeps_its_last_good_version(library: Library, docs: Path) -> None:
    path = write(docs / "a.md", "# A\n\nThe zebra.\n")
    write(docs / "b.md", "# B\n\nThe camel.\n")
    age(path)
    good, stamp = path.read_bytes(), path.stat().st_mtime_ns
    library.index(docs)

    path.write_bytes(b"PK\x03\x04 but not really")
    for _ in range(2):
        report = library.index(docs)
        assert [failure.path for failure in report.failed] == [str(path)]
        assert report.failed[0].reason
        assert found(library, "zebra") == [str(path)]
        assert [failure.path for failure in library.status().failures] == [str(path)]

    # The old file comes back, time and all, as from a backup.
    path.write_bytes(good)
    os.utime(path, ns=(stamp, stamp))
    report = library.index(docs)
    assert (report.failed, report.unchanged) == ([], 2)
    assert library.status().failures == []


def test_failures_are_tried_again_when_asked_or_changed(
    library: Library, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(docs / "a.md", "# A\n\nThe zebra.\n")
    with monkeypatch.context() as patch:
        patch.setattr(
            "loccit.ingest.prepare.parse", lambda converted: (_ for _ in ()).throw(LoccitError("is odd"))
        )
        assert library.index(docs).failed[0].reason == "is odd"
    assert library.index(docs).failed[0].reason == "is odd"
    report = library.index(docs, retry_failed=True)
    assert (report.failed, report.added) == ([], [str(path)])
    assert library.status().failures == []


def test_a_failed_file_that_is_gone_is_forgotten(library: Library, docs: Path) -> None:
    path = write(docs / "a.md", "")
    assert library.index(docs).failed
    path.unlink()
    report = library.index(docs)
    assert (report.failed, report.removed) == ([], [])
    assert library.status().failures == []


def test_permission_denied_is_tried_again(
    library: Library, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(docs / "a.md", "# A\n\nThe zebra.\n")
    access = os.access
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda name, mode: str(name) != str(path) and access(name, mode))
        assert "permission denied" in library.index(docs).failed[0].reason
    assert library.index(docs).added == [str(path)]


def test_other_settings_mean_reading_again(tmp_path: Path, docs: Path, quick: None) -> None:
    age(write(docs / "a.md", "# A\n\n" + "Many words about zebras. " * 200))
    with Library(tmp_path / "index", embedder=WordEmbedder()) as library:
        library.index(docs)
        chunks = library.status().chunks
    smaller = Settings(index=IndexSettings(max_chunk_tokens=100))
    with Library(tmp_path / "index", embedder=WordEmbedder(), settings=smaller) as library:
        assert library.index(docs).updated == [str(docs / "a.md")]
        assert library.status().chunks > chunks
        assert library.index(docs).unchanged == 1
    with Library(tmp_path / "index", embedder=WordEmbedder()) as library:
        # Opened without settings, it goes by those that it was made with.
        assert library.index(docs).unchanged == 1
        assert library.doctor(repair=False).healthy


def test_one_of_two_roots(library: Library, tmp_path: Path) -> None:
    one = write(tmp_path / "one/a.md", "# A\n\nThe zebra.\n")
    two = write(tmp_path / "two/b.md", "# B\n\nThe camel.\n")
    library.index([one.parent, two.parent])
    two.unlink()
    # Another root's files are none of this run's business.
    assert library.index(one.parent).removed == []
    assert library.index().removed == [str(two)]
    assert found(library, "zebra") == [str(one)]


def test_a_root_that_vanished_keeps_its_documents(library: Library, tmp_path: Path) -> None:
    one = write(tmp_path / "one/a.md", "# A\n\nThe zebra.\n")
    two = write(tmp_path / "two/b.md", "# B\n\nThe camel.\n")
    library.index([one.parent, two.parent])
    shutil.rmtree(two.parent)
    report = run_remembered(library)
    assert report.removed == []
    assert any(str(two.parent) in warning and "no longer there" in warning for warning in report.warnings)
    assert found(library, "camel") == [str(two)]
    write(two, "# B\n\nThe llama.\n")
    report = run_remembered(library)
    assert (report.warnings, report.updated) == ([], [str(two)])


def test_a_single_file_that_was_deleted_is_removed(library: Library, tmp_path: Path) -> None:
    one = write(tmp_path / "one.md", "# A\n\nThe zebra.\n")
    two = write(tmp_path / "two [2].md", "# B\n\nThe camel.\n")
    library.index([one, two])
    one.unlink()
    two.unlink()
    assert run_remembered(library).removed == [str(one), str(two)]
    assert found(library, "zebra") == found(library, "camel") == []


def test_an_ignored_file_leaves(library: Library, docs: Path) -> None:
    path = write(docs / "draft.md", "# A\n\nThe zebra.\n")
    library.index(docs)
    write(docs / ".gitignore", "draft*\n")
    assert library.index(docs).removed == [str(path)]
    assert found(library, "zebra") == []


def test_rebuild_begins_anew(library: Library, docs: Path) -> None:
    write(docs / "a.md", "# A\n\nThe zebra.\n")
    library.index(docs)
    expected = holdings(library, ["zebra"])
    assert found(library, '"the zebra"', "exact")
    report = library.index(rebuild=True)
    assert (len(report.added), report.embedded) == (1, 1)
    assert holdings(library, ["zebra"]) == expected


def test_searching_before_the_first_run_does_not_spoil_it(library: Library, docs: Path) -> None:
    assert texts_found(library, "zebra") == ""
    write(docs / "a.md", "# A\n\nThe zebra.\n")
    library.index(docs)
    assert found(library, "zebra", "semantic") == [str(docs / "a.md")]
    assert library.doctor(repair=False).healthy


def test_text_first_vectors_later(library: Library, docs: Path) -> None:
    path = write(docs / "a.md", ACT.format(word="zebra"))
    report = library.index(docs, embed=False)
    assert report.embedded == 0 and library.status().pending_passages > 0
    assert found(library, "zebra") and library.section("Section 1").source_path == str(path)
    assert found(library, "zebra", "semantic") == []
    assert library.index(docs).embedded > 0
    assert library.status().pending_passages == 0
    assert str(path) in found(library, "zebra", "semantic")


def test_a_model_that_fails_stops_the_run_but_not_the_next(tmp_path: Path, docs: Path, quick: None) -> None:
    path = write(docs / "a.md", "# A\n\nThe zebra.\n")

    def fail() -> None:
        raise LoccitError("the service is down")

    with Library(tmp_path / "index", embedder=WordEmbedder(before=fail)) as library:
        with pytest.raises(LoccitError, match="the service is down"):
            library.index(docs)
        assert found(library, "zebra") == [str(path)]
    with Library(tmp_path / "index", embedder=WordEmbedder()) as library:
        report = library.index(docs)
        assert (report.unchanged, report.embedded) == (1, 1)


@pytest.mark.parametrize("kind", ["shape", "nan"])
def test_what_is_not_a_vector_is_refused(
    tmp_path: Path, docs: Path, quick: None, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(docs / "a.md", "# A\n\nThe zebra.\n")
    broken = WordEmbedder()
    good = broken.embed
    monkeypatch.setattr(
        broken, "embed", lambda texts: good(texts)[:, :7] if kind == "shape" else good(texts) * float("nan")
    )
    with Library(tmp_path / "index", embedder=broken) as library:
        with pytest.raises(LoccitError, match="embedding model words"):
            library.index(docs)
        assert library.status().pending_passages == 1


def test_characters_that_no_database_takes(library: Library, docs: Path) -> None:
    cell = '{"cell_type": "markdown", "metadata": {}, "source": ["# Title\\n", "zero \\u0000 zebra \\ud800 end"]}'
    write(docs / "n.ipynb", f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}')
    write(
        docs / "f.md",
        '---\ntitle: "odd \\ud800 title"\ntags: ["\\udfff", {"\\ud800": 1}]\n---\n\n# Head\n\nThe camel.\n',
    )
    report = library.index(docs)
    assert {failure.path for failure in report.failed} <= {str(docs / "n.ipynb"), str(docs / "f.md")}
    assert library.index(docs).unchanged + len(report.failed) == 2
    for info in library.documents():
        for mode in ("keyword", "semantic"):
            assert info.source_path in found(library, "zebra camel end", mode)
    assert library.doctor(repair=False).healthy
    if str(docs / "n.ipynb") in {info.source_path for info in library.documents()}:
        assert "end" in library.section("Title").text


def test_one_bad_file_does_not_stop_the_others(library: Library, docs: Path) -> None:
    for number in range(5):
        write(docs / f"good{number}.md", f"# Good {number}\n\nThe zebra.\n")
    (docs / "empty.md").touch()
    (docs / "cut.pdf").write_bytes(b"%PDF-1.7\n1 0 obj\n<<")
    (docs / "binary.txt").write_bytes(bytes(range(256)) * 20)
    (docs / "word.docx").write_bytes(b"PK\x03\x04 but not really")
    report = library.index(docs)
    assert len(report.added) == 5
    bad = {"empty.md", "cut.pdf", "binary.txt", "word.docx"}
    assert {Path(failure.path).name for failure in report.failed} == bad
    assert all(failure.reason for failure in report.failed)
    assert len(found(library, "zebra")) == 5
    status = library.status()
    assert (status.documents, len(status.failures), status.file_types) == (5, 4, {".md": 5})
