"""Health: what an index contains, whether its parts agree, and how to repair it."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from loccit.errors import DamagedIndexError, DamagedVectorsError, IndexNotFoundError, IndexStateError
from loccit.index.folder.database import is_disk_full
from loccit.index.folder.index import EmbeddedIndex
from loccit.index.folder.local import BESIDE, COLUMNS, KEYWORD, TEXTS, VECTORS, LocalIndex
from loccit.index.folder.record import LOST, log_changes
from loccit.index.folder.schema import COUNTED, UNCOUNTED, ensure_tables, recount
from loccit.index.folder.seals import damaged_rows, delete_rows, path_of, unsound
from loccit.model import Check, DoctorReport, Failure, Status

_LEAST_ROOM = 16 << 20
_BLANK = re.compile(r"--[^\n]*|\s+")
# Documents that are named one by one.
_READ_AGAIN = "run loccit index, which reads the files again that were taken out."
_NAMED = 5


def status(index: LocalIndex, settings: dict[str, Any]) -> Status:
    """Count what is in the index."""
    record, lookup = index.record, index.lookup
    model, dimension = index.model
    return Status(
        path=str(index.folder),
        documents=lookup.count("documents"),
        chunks=lookup.count("chunks"),
        passages=lookup.count("passages"),
        pending_passages=record.pending_count(),
        languages=lookup.languages(),
        file_types=lookup.file_types(),
        failures=[Failure(path, reason) for path, (reason, _, _) in sorted(record.failures().items())],
        roots=record.roots(),
        model=model,
        dimension=dimension,
        size_bytes=index.size_bytes(),
        updated_at=index.database.value("SELECT MAX(ingested_at) FROM documents") or "",
        generation=record.generation(),
        settings=settings,
        writer="" if index.read_only else index.lock.holder(),
        scanned_documents=lookup.count("scanned"),
        doubtful=_doubtful(index),
    )


def _doubtful(index: LocalIndex) -> list[str]:
    """The documents whose text contradicts their places, by path."""
    doubtful = [document for document, check in index.lookup.self_checks().items() if check.doubtful]
    return sorted(index.lookup.paths(doubtful).values())


def _places(index: LocalIndex) -> Check:
    """How far documents confirm the places found in them."""
    shares = [check.share for check in index.lookup.self_checks().values() if check.share is not None]
    doubtful = len(_doubtful(index))
    if not shares:
        return Check("places", True)
    share = sum(shares) / len(shares)
    detail = f"{share:.0%} of what {len(shares):,} documents say about their own places is confirmed"
    if doubtful:
        detail += f"; {doubtful:,} contradict them and are cited by lines: see loccit status"
    return Check("places", True, detail)


class Part(NamedTuple):
    """A part to compare with the record: how to find a difference, how to catch up, how to rebuild it."""

    name: str
    compare: Callable[[], str]
    catch_up: Callable[[], None]
    rebuild: Callable[[], None]


def examine(index: LocalIndex, vectors: Part, *, repair: bool) -> DoctorReport:
    """Check the record itself, then each derived index against it; ``vectors`` is the part for semantic search.

    Nothing is derived from what was not found sound before.
    """
    checks: list[Check] = []
    if (lock := _lock(index, repair=repair)) is not None:
        checks.append(lock)
        if not lock.repaired:
            return DoctorReport(checks)
    holder = "" if index.read_only else index.lock.holder()
    if holder:
        detail = f"being written by {holder}: the indexes can be checked when it is done"
        return DoctorReport([*checks, Check("writer", True, detail)])
    repair = repair and not index.read_only
    for check in (_integrity, _settings, _rows, _documents):
        try:
            if check is _rows and repair:
                _note_loss(index)
            checks.append(check(index, repair=repair))
        except Exception as error:
            # Whatever happens while something is checked is damage of it; only the disk may be too full for it.
            if is_disk_full(error):
                raise
            checks.append(Check("record", False, f"{_first_line(error)}. {_start_over(index)}"))
        if not checks[-1].ok and not checks[-1].repaired:
            return DoctorReport(checks)
    checks.append(_losses(index))
    checks += _left_over(index, repair=repair)
    counted = _counters(index, repair=repair)
    checks += [counted, _places(index)]
    checks.extend(_derived(index, part, repair=repair) for part in _text_parts(index))
    if index.model[0]:
        checks.append(_derived(index, vectors, repair=repair))
        pending = index.record.pending_count() if counted.ok or counted.repaired else 0
        detail = f"{pending:,} passages have no vectors yet: run loccit index" if pending else ""
        checks.append(Check("embedding", True, detail))
    if not DoctorReport(checks).healthy:
        checks += _room(index)
    return DoctorReport(checks)


def _room(index: LocalIndex) -> list[Check]:
    """Whether the disk is too full to repair anything."""
    free = shutil.disk_usage(index.folder).free
    if free >= _LEAST_ROOM:
        return []
    detail = f"{free / 1e6:.1f} MB are free: free some space, then run loccit doctor again"
    return [Check("disk", False, detail)]


def _start_over(index: LocalIndex) -> str:
    """Say what to do if nothing can be repaired."""
    return f"Delete {index.folder} and index again"


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def _integrity(index: LocalIndex, *, repair: bool) -> Check:
    """Whether the database is one, with the tables it should have, and its own indexes agree with them."""
    problem = _structure(index)
    if not problem:
        # Not the stored count, which may be what is damaged.
        count = index.database.value("SELECT COUNT(*) FROM documents")
        return Check("record", True, f"{count:,} documents")
    if not repair:
        return Check("record", False, problem)
    with suppress(sqlite3.Error), index.lock.held(wait=True):
        # SQLite's own indexes have nothing of their own: whether the tables are sound is seen next.
        index.database.connection.execute("REINDEX")
        with index.database.transaction() as connection:
            orphans = _delete_orphans(connection)
        if not _structure(index):
            done = "its indexes were made again"
            if orphans:
                done += f"; {orphans:,} rows of documents that are lost were deleted: run loccit index"
            return Check("record", False, problem, done)
    return Check("record", False, f"{problem}. {_start_over(index)}")


def _structure(index: LocalIndex) -> str:
    connection = index.database.connection
    try:
        result = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
        orphans = connection.execute("PRAGMA foreign_key_check").fetchone()
        tables = _tables(connection)
    except (sqlite3.Error, ValueError, OverflowError) as error:
        return f"the record is damaged ({_first_line(error)})"
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        ensure_tables(fresh, "")
        if tables != _tables(fresh):
            return "its tables are not those that it was made with"
    # What a value should not be is seen with the row that holds it.
    if result != "ok" and "NULL value" not in result:
        return _first_line(ValueError(result))
    return "rows of documents that are gone" if orphans else ""


def _tables(connection: sqlite3.Connection) -> set[tuple[str, ...]]:
    found = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
    # However it was written: an earlier version added some columns one by one.
    return {(*row[:3], _BLANK.sub("", row[3] or "")) for row in found}


def _delete_orphans(connection: sqlite3.Connection) -> int:
    """Delete rows of documents that are gone; return how many there were."""
    found = connection.execute("PRAGMA foreign_key_check").fetchall()
    for table, row, *_ in found:
        if row is not None:
            connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        keys = connection.execute(f"PRAGMA foreign_key_list({table})").fetchall()
        for column in (key[3] for key in keys if key[2] == "documents"):
            connection.execute(f"DELETE FROM {table} WHERE {column} NOT IN (SELECT id FROM documents)")
    return len(found)


def _settings(index: LocalIndex, *, repair: bool) -> Check:
    """Whether the settings are those that were written: without them nothing else can be trusted."""
    if damaged_rows(index.database.connection, ["meta"]):
        return Check("settings", False, f"the settings of the index were damaged. {_start_over(index)}")
    return Check("settings", True)


_REMOVED = {
    "roots": "folders that are indexed: give them to loccit index again",
    "failures": "files that could not be read: loccit index tries them again",
    "changes": "entries of the change log: what is derived is compared with everything",
    "vectors": "vectors: run loccit index to make them again",
    "contexts": "contexts by a language model: loccit index asks for them again",
    "gone_places": "places that are gone: their ids lead nowhere now",
}
"""What damaged rows were, and what follows from their deletion."""


def _rows(index: LocalIndex, *, repair: bool) -> Check:
    """Whether the rows that belong to no document are those that were written."""
    damaged = damaged_rows(index.database.connection, _REMOVED)
    counts = Counter(row.table for row in damaged)
    seen = index.database.value("SELECT seq FROM sqlite_sequence WHERE name = 'changes'") or 0
    if seen != index.record.generation():
        counts["changes"] += 1
    if not counts:
        return Check("rows", True)
    problem = "; ".join(f"{count:,} damaged {_REMOVED[table]}" for table, count in counts.items())
    if not repair:
        return Check("rows", False, problem)
    with index.lock.held(wait=True), index.database.transaction() as connection:
        delete_rows(connection, damaged)
        if counts["changes"]:
            # Whatever was derived from a change that is not known any more is behind this one.
            connection.execute("DELETE FROM changes")
            log_changes(connection, [0], "checked")
        recount(connection)
    return Check("rows", False, problem, "deleted")


def _documents(index: LocalIndex, *, repair: bool) -> Check:
    """Whether every document is as it was read from its file."""
    connection = index.database.connection
    damaged = {number: unsound(connection, number) for number in index.record.document_ids()}
    damaged = {number: parts for number, parts in damaged.items() if parts}
    gone = {
        row[0]
        for row in connection.execute(
            "SELECT document FROM files WHERE document NOT IN (SELECT id FROM documents)"
        )
    }
    if not damaged and not gone:
        waiting = index.record.withdrawn()
        detail = f"{_listed(waiting)}: damaged and taken out" if waiting else ""
        return Check("documents", True, detail, left=_READ_AGAIN if waiting else "")
    paths = sorted(path_of(connection, number) for number in {*damaged, *gone})
    parts = sorted({part for names in damaged.values() for part in names})
    problem = f"what is stored of {len(paths):,} was damaged ({', '.join(parts) or 'rows are lost'}): {_listed(paths)}"
    if not repair:
        return Check("documents", False, problem)
    with index.lock.held(wait=True):
        index.record.withdraw({*damaged, *gone})
        for known in index.database.sound.values():
            known.clear()
    repaired = "taken out"
    if lost := [path for path in paths if not Path(path).exists()]:
        repaired += f". No longer there to be read, and so lost: {_listed(lost)}"
    return Check("documents", False, problem, repaired, "" if len(lost) == len(paths) else _READ_AGAIN)


def _listed(paths: Sequence[str]) -> str:
    more = len(paths) - _NAMED
    return ", ".join(paths[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _losses(index: LocalIndex) -> Check:
    """Whether the record is behind what was derived from it, or was found so before."""
    noted = _loss(index)
    return Check("losses", not noted, noted)


def _note_loss(index: LocalIndex) -> None:
    """Remember what the record lost, before a repair takes it to where it had been."""
    if (loss := _loss(index)) and loss != index.record.meta(LOST):
        with index.lock.held(wait=True):
            index.record.set_meta({LOST: loss})


def _loss(index: LocalIndex) -> str:
    """Say what the record lost, as what is derived from it shows or was noted before; "" if nothing."""
    if not isinstance(index, EmbeddedIndex):
        return index.loss
    if loss := index.loss:
        return loss
    generation = index.record.generation()
    with suppress(IndexStateError, OSError, ValueError):
        index.keyword.reload()
        if index.keyword.generation == generation:
            lost = index.keyword.documents() - set(index.record.document_ids())
            # A damaged index may list anything.
            if lost and not index.keyword.verify():
                count = "1 document that was" if len(lost) == 1 else f"{len(lost):,} documents that were"
                return f"The record has lost {count} indexed. Index again with: loccit index PATH"
    return ""


def _lock(index: LocalIndex, *, repair: bool) -> Check | None:
    """Whether the index can be written to; None if nothing is wrong."""
    problem = index.lock.problem()
    if not problem:
        return None
    if repair and index.lock.mend():
        return Check("lock", False, problem, "removed")
    return Check("lock", False, f"{problem}. Check what is in it, and delete it.")


def _left_over(index: LocalIndex, *, repair: bool) -> list[Check]:
    """The remains of an interrupted rebuild, which can be continued."""
    beside = index.folder / BESIDE
    if not beside.exists():
        return []
    detail = "a rebuild was interrupted: loccit index --rebuild continues it, or starts over if it cannot"
    if not repair:
        return [Check(BESIDE, True, detail)]
    shutil.rmtree(beside, ignore_errors=True)
    return [Check(BESIDE, False, "remains of an interrupted rebuild", "deleted")]


def _counters(index: LocalIndex, *, repair: bool) -> Check:
    """Recount everything, and compare."""

    def differ() -> bool:
        kept = index.database.rows("SELECT kind, name, count FROM counters ORDER BY 1, 2")
        there = index.database.rows(COUNTED)
        if list(map(tuple, kept)) != list(map(tuple, there)):
            return True
        return any(index.database.rows(query) for query in UNCOUNTED)

    if not differ():
        return Check("counters", True)
    problem = "the stored counts are wrong"
    if not repair:
        return Check("counters", False, problem)
    with index.lock.held(wait=True), index.database.transaction() as connection:
        recount(connection)
    return Check("counters", False, problem, "recounted")


def _derived(index: LocalIndex, part: Part, *, repair: bool) -> Check:
    problem = _problem(index, part)
    if not problem:
        return Check(part.name, True)
    if not repair:
        return Check(part.name, False, problem)
    with index.lock.held(wait=True):
        # What cannot be caught up with is rebuilt.
        with suppress(
            DamagedIndexError, ValueError, TypeError, IndexError, KeyError, OverflowError, MemoryError
        ):
            part.catch_up()
        repaired = "caught up with the record"
        if _problem(index, part):
            part.rebuild()
            repaired = "rebuilt from the record"
        left = _problem(index, part)
    return Check(part.name, False, left or problem, "" if left else repaired)


def _problem(index: LocalIndex, part: Part) -> str:
    try:
        return part.compare()
    except IndexNotFoundError as error:
        return str(error) if index.record.generation() else ""
    except DamagedVectorsError as error:
        return str(error)
    except OSError as error:
        if is_disk_full(error):
            raise
        return f"cannot be read ({error})"
    except IndexStateError as error:
        if isinstance(error, DamagedIndexError):
            return str(error)
        raise
    except Exception as error:
        # Whatever happens while something is checked is damage of it.
        return f"cannot be read ({type(error).__name__}: {_first_line(error)})"


def _compare_keyword(index: LocalIndex) -> str:
    index.keyword.reload()
    if late := _lateness(index, index.keyword.generation):
        return late
    if broken := index.keyword.verify():
        return f"damaged files: {', '.join(broken)}"
    recorded, indexed = set(index.record.document_ids()), index.keyword.documents()
    if recorded != indexed:
        return _difference(recorded, indexed)
    chunks, found = index.lookup.count("chunks"), index.keyword.chunk_count()
    return "" if chunks == found else f"{found:,} chunks where the record has {chunks:,}"


def _compare_columns(index: LocalIndex) -> str:
    index.columns.reload()
    return _lateness(index, index.columns.generation) or index.columns.verify()


def _compare_texts(index: LocalIndex) -> str:
    index.texts.reload()
    late = _lateness(index, index.texts.generation)
    return late or index.texts.verify(index.lookup.every_text(index.record.document_ids()))


def _compare_vectors(index: EmbeddedIndex) -> str:
    index.vectors.reload()
    if late := _lateness(index, index.vectors.generation):
        return late
    snapshot, dimension = index.vectors.snapshot, index.model[1]
    recorded = {document for document in index.record.document_ids() if index.record.is_embedded(document)}
    living = np.flatnonzero(snapshot.owners() >= 0)
    indexed = {int(document) for document in np.unique(snapshot.rows["document"][living])}
    # A document whose texts wait for new vectors may still be found by its old ones.
    indexed -= set(index.record.document_ids()) - recorded
    if recorded != indexed:
        return _difference(recorded, indexed)
    different = 0
    for document in recorded:
        rows = snapshot.rows_of_documents([document])
        chunks, vectors = index.record.document_vectors(document, dimension)
        different += (
            snapshot.rows["chunk"][rows].tolist() != chunks
            or not np.array_equal(snapshot.matrix[rows], vectors)
            or sorted(snapshot.rows_of_chunks(np.unique(chunks))[2].tolist()) != rows.tolist()
        )
    if different:
        return f"the vectors of {different:,} documents differ from the record's"
    return index.vectors.verify()


def _lateness(index: LocalIndex, seen: int) -> str:
    generation = index.record.generation()
    return "" if seen == generation else f"at change {seen:,} where the record is at {generation:,}"


def _difference(recorded: set[int], indexed: set[int]) -> str:
    missing, extra = len(recorded - indexed), len(indexed - recorded)
    return f"{missing:,} documents are missing and {extra:,} should not be there"


def _text_parts(index: LocalIndex) -> list[Part]:
    def rebuild(name: str) -> None:
        index.discard_derived(name)
        index.catch_up_keyword()

    return [
        Part(COLUMNS, partial(_compare_columns, index), index.catch_up_keyword, partial(rebuild, COLUMNS)),
        Part(TEXTS, partial(_compare_texts, index), index.catch_up_keyword, partial(rebuild, TEXTS)),
        Part(KEYWORD, partial(_compare_keyword, index), index.catch_up_keyword, partial(rebuild, KEYWORD)),
    ]


def matrix_part(index: EmbeddedIndex) -> Part:
    """Return the vector matrix as a part to compare with the record."""

    def rebuild() -> None:
        index.discard_vectors()
        index.catch_up_vectors()

    return Part(VECTORS, partial(_compare_vectors, index), index.catch_up_vectors, rebuild)
