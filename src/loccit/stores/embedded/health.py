"""Health: what an index contains, whether its parts agree, and how to repair it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from loccit.errors import DamagedIndexError, IndexNotFoundError, IndexStateError
from loccit.model import Check, DoctorReport, Failure, Status
from loccit.stores.embedded.decoding import bad_texts, take_out
from loccit.stores.embedded.index import EmbeddedIndex
from loccit.stores.embedded.local import BESIDE, COLUMNS, KEYWORD, TEXTS, VECTORS, LocalIndex
from loccit.stores.embedded.schema import COUNTED, recount

_LEAST_ROOM = 16 << 20


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
    """Check the record itself, then each derived index against it; ``vectors`` is the part for semantic search."""
    checks = [_integrity(index)]
    if not checks[0].ok:
        return DoctorReport(checks)
    if (lock := _lock(index, repair=repair)) is not None:
        checks.append(lock)
        if not lock.repaired:
            return DoctorReport(checks)
    index.reload()
    holder = "" if index.read_only else index.lock.holder()
    if holder:
        detail = f"being written by {holder}: the indexes can be checked when it is done"
        return DoctorReport([*checks, Check("writer", True, detail)])
    repair = repair and not index.read_only
    checks.append(_texts(index, repair=repair))
    if not checks[-1].ok and not checks[-1].repaired:
        return DoctorReport(checks)
    checks += _left_over(index, repair=repair)
    checks.append(_counters(index, repair=repair))
    checks.append(_places(index))
    checks.extend(_derived(index, part, repair=repair) for part in _text_parts(index))
    if index.model[0]:
        checks.append(_derived(index, vectors, repair=repair))
        pending = index.record.pending_count()
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


def _integrity(index: LocalIndex) -> Check:
    try:
        result = index.database.value("PRAGMA quick_check(1)")
        orphans = index.database.rows("PRAGMA foreign_key_check")
    except IndexStateError as error:
        return Check("record", False, str(error))
    if result != "ok" or orphans:
        problem = result if result != "ok" else "rows of documents that are gone"
        return Check("record", False, f"{problem}. Delete {index.folder} and index again.")
    return Check("record", True, f"{index.lookup.count('documents'):,} documents")


def _lock(index: LocalIndex, *, repair: bool) -> Check | None:
    """Whether the index can be written to; None if nothing is wrong."""
    problem = index.lock.problem()
    if not problem:
        return None
    if repair and index.lock.mend():
        return Check("lock", False, problem, "removed")
    return Check("lock", False, f"{problem}. Check what is in it, and delete it.")


def _texts(index: LocalIndex, *, repair: bool) -> Check:
    """Whether every text of the record can be read."""
    found = bad_texts(index.database)
    if not found:
        return Check("encoding", True)
    documents = {bad.document for bad in found if bad.document is not None}
    places = ", ".join(sorted({f"{bad.table}.{bad.column}" for bad in found}))
    problem = f"{len(found):,} texts are not UTF-8 ({places}), of {len(documents):,} documents"
    if not repair:
        return Check("encoding", False, problem)
    with index.lock.held(wait=True):
        if not take_out(index.database, found):
            advice = f"Delete {index.folder} and index again"
            return Check("encoding", False, f"{problem}. {advice}")
        index.catch_up_for_search()
    return Check("encoding", False, problem, "removed; run loccit index to read those documents again")


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
        waiting = index.database.value("SELECT COUNT(*) FROM unembedded")
        there = index.database.rows(COUNTED)
        return list(map(tuple, kept)) != list(map(tuple, there)) or waiting != index.record.pending_count()

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
    except DamagedIndexError as error:
        return str(error)


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
