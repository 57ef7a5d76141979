"""What was stored and is not as it was: it is not quoted, nothing is repaired from it, and what is lost is named."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.effort import tries
from tests.index.damages import FINE, RECORD, Made, make, try_damages
from typer.testing import CliRunner

from loccit import Library
from loccit.cli.app import app
from loccit.errors import IndexStateError, NotFoundError
from loccit.model import Check, DoctorReport


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("made"))


@pytest.fixture
def index(made: Made, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made.folder / "new", tmp_path / "index"))


def change(index: Path, statement: str, *values: object) -> None:
    """Write to the record as no part of the program does."""
    with closing(sqlite3.connect(index / RECORD)) as connection, connection:
        connection.execute(statement, values)


def replaced(index: Path, old: bytes, new: bytes) -> int:
    """Replace bytes of the record, wherever they are; return how often."""
    data = (index / RECORD).read_bytes()
    (index / RECORD).write_bytes(data.replace(old, new))
    return data.count(old)


def wrong(report: DoctorReport) -> dict[str, Check]:
    return {check.name: check for check in report.checks if not check.ok}


def lines(library: Library, pattern: str) -> list[str]:
    return [hit.text for hit in library.find_all(pattern).hits]


# -- documents ---------------------------------------------------------------------------------------------------


def test_a_changed_number_is_not_quoted_and_nothing_is_made_from_it(index: Path, made: Made) -> None:
    assert replaced(index, b"within 24 hours of an order", b"within 34 hours of an order") >= 2
    with Library(index) as library:
        for ask in (
            lambda: library.search("Goods within hours of an order"),
            lambda: library.section("2.1", document="supply.md"),
            lambda: library.find_all("hours of an order"),
            lambda: library.obligations(),
        ):
            with pytest.raises(IndexStateError, match=r"supply\.md was damaged.*loccit index"):
                ask()
        found = wrong(library.doctor(repair=False))
        assert list(found) == ["documents"] and "supply.md" in found["documents"].detail
        (repaired,) = [check for check in library.doctor().checks if check.name == "documents"]
        assert "loccit index" in repaired.left
        said = CliRunner().invoke(app, ["grep", "hours of an order", "--index", str(index)])
        assert "0 hits in 0 documents." in said.output and "taken out" in said.output
        said = CliRunner().invoke(app, ["doctor", "--index", str(index)])
        assert "Still to do: run loccit index" in said.stdout and "is healthy" not in said.stdout
        hits = library.find_all("hours of an order")
        quoted = library.verify_quotes("“within 24 hours of an order”")
        assert hits.hits == [] and not hits.complete and quoted.checks[0].status == "absent"
        for note in (hits.note, quoted.note, library.search("Goods").note, library.obligations().note):
            assert "1 document was damaged and taken out" in note and "loccit index" in note
        for absent in (lambda: library.section("Article 77"), lambda: library.define("demurrage")):
            with pytest.raises(NotFoundError, match="1 document was damaged and taken out"):
                absent()
        # Until it has been read again, it is named.
        assert "taken out" in library.status().lost
        assert "supply.md" in library.status().failures[0].path
        assert library.index(made.docs).added == [str(made.docs / "supply.md")]
        (line,) = lines(library, "hours of an order")
        assert "within 24 hours" in line and library.find_all("hours of an order").complete
        assert all(check.ok and "damaged" not in check.detail for check in library.doctor().checks)


def test_the_next_run_reads_a_damaged_document_again(index: Path, made: Made) -> None:
    replaced(index, b"pay 120 euro", b"pay 920 euro")
    with Library(index) as library:
        with pytest.raises(IndexStateError, match=r"harbour\.md"):
            library.search("euro for each night")
        assert library.index(made.docs).updated == [str(made.docs / "harbour.md")]
        assert any("pay 120 euro" in one.content for one in library.search("euro for each night").results)
        assert not wrong(library.doctor(repair=False))


def test_a_damaged_document_without_its_file_is_lost_and_named(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name in ("kept", "lost"):
        (tmp_path / "docs" / f"{name}.md").write_text(f"# {name}\n\nThe {name} ship has 24 sails.\n")
    with Library(tmp_path / "index") as library:
        library.index(tmp_path / "docs")
    (tmp_path / "docs" / "lost.md").unlink()
    assert replaced(tmp_path / "index", b"The lost ship has 24", b"The lost ship has 25")
    with Library(tmp_path / "index") as library:
        check = wrong(library.doctor())["documents"]
        assert "No longer there" in check.repaired and "lost.md" in check.repaired
        assert lines(library, "sails") == ["The kept ship has 24 sails."]


def test_a_touched_file_does_not_seal_what_was_damaged(index: Path, made: Made) -> None:
    replaced(index, b"Harbour Rules", b"Harbour Tules")
    path = made.docs / "harbour.md"
    before = path.stat().st_mtime_ns
    try:
        with Library(index) as library:
            os.utime(path, ns=(before + 10**9, before + 10**9))
            assert str(path) in library.index(made.docs).updated
            library.doctor()
            library.index(made.docs)
            assert not wrong(library.doctor(repair=False))
            assert "Tules" not in str(library.documents())
    finally:
        os.utime(path, ns=(before, before))


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM chunks WHERE id IN (SELECT MAX(id) FROM chunks)",
        "UPDATE places SET line_first = line_first + 1 WHERE label LIKE 'Article 2%'",
        "UPDATE definitions SET definition_text = 'anything'",
        "UPDATE refs SET target_section = 'sec_1'",
        "UPDATE obligations SET text = replace(text, '120', '920')",
        "UPDATE suggestions SET key = 'nothing'",
        "UPDATE documents SET title = CAST(x'4142FF43' AS TEXT) WHERE source_path LIKE '%harbour.md'",
        "UPDATE documents SET text = CAST(text AS BLOB) WHERE source_path LIKE '%harbour.md'",
        "UPDATE files SET content_hash = 'other'",
        "DELETE FROM seals",
    ],
)
def test_every_table_of_a_document_is_sealed(index: Path, made: Made, statement: str) -> None:
    change(index, statement)
    with Library(index) as library:
        assert {"record", "documents"} & wrong(library.doctor(repair=False)).keys()
        library.doctor()
        library.index(made.docs)
        assert not wrong(library.doctor(repair=False))
        assert "120 euro" in str(library.obligations())


def test_a_lost_row_of_a_document_is_named(index: Path, made: Made) -> None:
    with closing(sqlite3.connect(index / RECORD)) as connection, connection:
        (row,) = connection.execute("SELECT * FROM files WHERE source_path LIKE '%harbour.md'").fetchall()
        connection.execute("DELETE FROM documents WHERE id = ?", (row[1],))
        connection.execute("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    with Library(index) as library:
        assert "harbour.md" in str(wrong(library.doctor()))
        library.index(made.docs)
        assert not wrong(library.doctor(repair=False))


# -- rows that belong to no document -----------------------------------------------------------------------------


def test_a_changed_vector_is_made_again_and_not_used(index: Path, made: Made) -> None:
    with closing(sqlite3.connect(index / RECORD)) as connection, connection:
        name, vector = connection.execute("SELECT text_hash, vector FROM vectors LIMIT 1").fetchone()
        other = np.frombuffer(vector, np.float32).copy()
        other[7] = -other[7]
        connection.execute("UPDATE vectors SET vector = ? WHERE text_hash = ?", (other.tobytes(), name))
    shutil.rmtree(index / "vectors")
    with Library(index) as library:
        library.search("harbour", mode="semantic")
        assert library.status().pending_passages == 1
        assert library.index(made.docs).embedded == 1
        assert library._index.record.vectors_of([name])[name].tobytes() == vector
        assert not wrong(library.doctor(repair=False))


def test_damaged_entries_of_shared_tables_are_named(index: Path, made: Made) -> None:
    change(index, "UPDATE roots SET path = path || 'x'")
    change(index, "UPDATE changes SET kind = 'addee'")
    change(index, "UPDATE gone_places SET text = 'anything'")
    with Library(index) as library:
        detail = wrong(library.doctor())["rows"].detail
        assert (
            "folders that are indexed" in detail
            and "change log" in detail
            and "places that are gone" in detail
        )
        assert library.index(made.docs).unchanged == len(list(made.docs.iterdir()))
        assert not wrong(library.doctor(repair=False))


def test_damaged_settings_are_not_guessed(index: Path) -> None:
    change(index, "UPDATE meta SET value = replace(value, 'mini', 'maxi') WHERE key = 'model'")
    change(index, "UPDATE meta SET value = value || ' ' WHERE key = 'model'")
    with Library(index) as library:
        assert "index again" in wrong(library.doctor())["settings"].detail
        with pytest.raises(IndexStateError, match="settings of the index"):
            library.search("harbour")


# -- losses ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("searched", [False, True])
def test_an_emptied_record_is_a_loss(index: Path, made: Made, searched: bool) -> None:
    (index / RECORD).write_bytes(b"")
    with Library(index) as library:
        if searched:
            assert "documents may be missing" in library.search("harbour").note
        report = library.doctor()
        assert not report.healthy
        assert "loccit index" in wrong(report)["losses"].detail
        # Having been examined does not bring anything back.
        assert not library.doctor().healthy
        assert any("documents may be missing" in warning for warning in library.index(made.docs).warnings)
        assert library.doctor().healthy


# -- derived files -----------------------------------------------------------------------------------------------


def test_a_bad_count_takes_no_memory(index: Path, made: Made, tmp_path: Path) -> None:
    path = index / "columns" / "documents.bin"
    data = np.fromfile(path, np.int64)
    data[1::3] |= 1 << 32
    data.tofile(path)
    with Library(index) as library:
        assert library.search("harbour").results
        assert library.doctor().healthy
    data.tofile(path)
    docs = Path(shutil.copytree(made.docs, tmp_path / "docs"))
    with Library(index) as library:
        library.forget(made.docs)
        library.index(docs)
        assert library.search("harbour").results
        assert library.doctor().healthy


@pytest.mark.parametrize("name", ["folded.bin", "written.bin"])
def test_find_all_counts_what_the_documents_have(index: Path, name: str) -> None:
    with Library(index) as library:
        right = [library.find_all("hours").total, library.find_all("[0-9]+ hours", kind="regex").total]
    path = index / "texts" / name
    path.write_bytes(re.sub(rb"(?i)hours", b"hourz", path.read_bytes()))
    with Library(index) as library:
        for _ in range(2):
            found = [library.find_all("hours"), library.find_all("[0-9]+ hours", kind="regex")]
            assert [one.total for one in found] == right and all(one.complete for one in found)
        assert library.doctor().healthy


@pytest.mark.parametrize("suffix", ["pos", "idx", "term", "fast", "fieldnorm", "store"])
@pytest.mark.parametrize("lost", [False, True])
def test_a_damaged_or_missing_file_of_the_keyword_index(
    index: Path, made: Made, suffix: str, lost: bool
) -> None:
    path = max(index.glob(f"keyword/*.{suffix}"), key=lambda one: one.stat().st_size)
    if lost:
        path.unlink()
    else:
        data = bytearray(path.read_bytes())
        data[len(data) // 3] ^= 4
        path.write_bytes(data)
    with Library(index) as library:
        assert "keyword" in wrong(library.doctor(repair=False))
        results = library.search("crane", mode="keyword").results
        assert [Path(one.source_path).name for one in results] == ["notes.txt"]
        assert not wrong(library.doctor(repair=False))


@pytest.mark.parametrize("suffix", ["pos", "idx", "term", "fast", "fieldnorm", "store"])
def test_a_file_of_another_segment_is_noticed(index: Path, suffix: str) -> None:
    # Each is sound in itself.
    by_size = sorted(index.glob(f"keyword/*.{suffix}"), key=lambda one: one.stat().st_size)
    shutil.copy(by_size[0], by_size[-1])
    with Library(index) as library:
        assert by_size[-1].name in wrong(library.doctor(repair=False))["keyword"].detail
        results = library.search("crane", mode="keyword").results
        assert [Path(one.source_path).name for one in results] == ["notes.txt"]
        assert not wrong(library.doctor(repair=False))


def test_a_change_does_not_make_a_file_of_another_segment_the_right_one(
    index: Path, made: Made, tmp_path: Path
) -> None:
    by_size = sorted(index.glob("keyword/*.pos"), key=lambda one: one.stat().st_size)
    docs = Path(shutil.copytree(made.docs, tmp_path / "docs"))
    with Library(index) as library:
        library.index(docs)
        Path(shutil.copy(by_size[0], tmp_path)).replace(by_size[-1])
        (docs / "one more.md").write_text("# Ropes\n\nEach rope is 40 metres long.\n")
        library.index(docs)
    with Library(index) as library:
        assert by_size[-1].name in wrong(library.doctor(repair=False))["keyword"].detail


@pytest.mark.parametrize("suffix", ["f32", "rows", "chunks", "documents"])
def test_a_damaged_matrix_is_not_searched(index: Path, made: Made, suffix: str) -> None:
    (path,) = index.glob(f"vectors/*.{suffix}")
    data = bytearray(path.read_bytes())
    # Beginning with what the newest document has there.
    for place in range(len(data) // 2, len(data), 7):
        data[place] ^= 64
    path.write_bytes(data)
    with Library(made.folder / "new") as library:
        right = [one.fused_score for one in library.search("buoy", mode="semantic").results]
    with Library(index) as library:
        assert [one.fused_score for one in library.search("buoy", mode="semantic").results] == right
        assert library.doctor().healthy


# -- losses ------------------------------------------------------------------------------------------------------


def empty(index: Path, *kept: str) -> None:
    """Delete the rows of all tables but some."""
    with closing(sqlite3.connect(index / RECORD)) as connection, connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            if table not in kept:
                connection.execute(f"DELETE FROM {table}")


@pytest.mark.parametrize(
    "kept",
    [
        (),
        ("meta",),
        ("sqlite_sequence",),
        ("meta", "sqlite_sequence", "files", "roots"),
        ("changes", "sqlite_sequence"),
        ("changes", "meta", "sqlite_sequence"),
        ("changes", "meta", "seals", "counters", "files", "sqlite_sequence"),
    ],
)
def test_an_emptied_record_is_a_loss_whatever_is_left_of_it(index: Path, kept: tuple[str, ...]) -> None:
    empty(index, *kept)
    with Library(index) as library:
        assert not library.doctor(repair=False).healthy
        report = library.doctor()
        assert not report.healthy and "loccit index" in wrong(report)["losses"].detail
        # What is left is sound, and answers say that there was more.
        assert list(wrong(library.doctor(repair=False))) == ["losses"]
        assert "loccit index" in library.search("buoy").note


def test_answers_of_a_record_that_is_behind_do_not_say_that_there_is_nothing(index: Path) -> None:
    empty(index)
    with Library(index) as library:
        for _ in range(2):
            found = library.find_all("hours")
            assert found.total == 0 and not found.complete and "loccit index" in found.note
            assert "loccit index" in library.verify_quotes("“The Seller shall deliver”").note
            assert "loccit index" in library.obligations().note


def test_a_byte_that_is_no_text_is_damage(index: Path, made: Made) -> None:
    assert replaced(index, b"Harbour Rules", b"Harbour \xffules")
    with Library(index) as library:
        with pytest.raises(IndexStateError, match=r"is damaged .*loccit doctor"):
            library.documents()
        library.doctor()
        library.index(made.docs)
        assert not wrong(library.doctor(repair=False))


def test_lost_counts_are_damage(index: Path) -> None:
    change(index, "DELETE FROM counters")
    with Library(index) as library:
        for ask in (lambda: library.search("buoy"), library.status):
            with pytest.raises(IndexStateError, match=r"counts .* were damaged.*loccit doctor"):
                ask()
        assert wrong(library.doctor())["counters"].repaired
        assert library.search("buoy").results and not wrong(library.doctor(repair=False))


# -- chance ------------------------------------------------------------------------------------------------------


@pytest.mark.randomised
@pytest.mark.parametrize("part", range(4))
def test_no_damage_leads_to_a_wrong_answer(made: Made, tmp_path: Path, part: int) -> None:
    each = tries(12, 250)
    outcomes = list(try_damages(made, tmp_path, range(part * each, (part + 1) * each)))
    assert [outcome for outcome in outcomes if outcome.verdict not in FINE] == []
    assert len(Counter(outcome.verdict for outcome in outcomes)) > 1


# -- the former name ---------------------------------------------------------------------------------------------


def test_an_index_of_the_former_name_is_recognised(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LOCCIT_INDEX", raising=False)
    theirs = tmp_path / ".pinakes"
    theirs.mkdir()
    with closing(sqlite3.connect(theirs / RECORD)) as connection, connection:
        connection.execute("CREATE TABLE documents (id)")
    said = " ".join(CliRunner().invoke(app, ["doctor"]).output.split())
    assert "former name" not in said and "There is no index" in said
    shutil.rmtree(theirs)
    shutil.copytree(made.folder / "new", theirs)
    done = CliRunner().invoke(app, ["doctor"])
    said = " ".join(done.output.split())
    assert done.exit_code != 0
    assert "former name" in said and "mv " in said and ".loccit" in said
    theirs.rename(tmp_path / ".loccit")
    assert CliRunner().invoke(app, ["doctor"]).exit_code == 0
