"""Health: what an index holds, whether its parts agree, and how to make them agree again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from pinakes.errors import DamagedIndexError
from pinakes.model import Check, DoctorReport, Failure, Status
from pinakes.stores.embedded.index import EmbeddedIndex


def status(index: EmbeddedIndex, settings: dict[str, Any]) -> Status:
    """Count what is in the index."""
    record, lookup = index.record, index.lookup
    updated = index.database.connection.execute("SELECT MAX(ingested_at) FROM documents").fetchone()[0]
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
        updated_at=updated or "",
        generation=record.generation(),
        settings=settings,
        writer="" if index.read_only else index.lock.holder(),
    )


def examine(index: EmbeddedIndex, *, repair: bool) -> DoctorReport:
    """Check the record itself, then each derived index against it."""
    checks = [_integrity(index)]
    holder = index.lock.holder()
    if holder:
        checks.append(Check("writer", True, f"being written by {holder}: the indexes may be a little behind"))
        repair = False
    repair = repair and not index.read_only
    if checks[0].ok:
        checks.append(_derived(index, "keyword", _compare_keyword, repair=repair))
        if index.model[0]:
            checks.append(_derived(index, "vectors", _compare_vectors, repair=repair))
            pending = index.record.pending_count()
            detail = f"{pending:,} passages wait for their vectors: run pinakes index" if pending else ""
            checks.append(Check("embedding", True, detail))
    return DoctorReport(checks)


def _integrity(index: EmbeddedIndex) -> Check:
    try:
        connection = index.database.connection
        result = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        orphans = connection.execute("PRAGMA foreign_key_check").fetchone()
    except sqlite3.DatabaseError as error:
        return Check("record", False, f"{error}. Delete {index.folder} and index again.")
    if result != "ok" or orphans:
        return Check("record", False, f"{result}. Delete {index.folder} and index again.")
    return Check("record", True, f"{index.lookup.count('documents'):,} documents")


def _derived(
    index: EmbeddedIndex, name: str, compare: Callable[[EmbeddedIndex], str], *, repair: bool
) -> Check:
    try:
        problem = compare(index)
    except DamagedIndexError as error:
        problem = str(error)
    if not problem:
        return Check(name, True)
    if not repair:
        return Check(name, False, problem)
    with index.lock.held(wait=True):
        index.discard_derived(name)
        index.catch_up_keyword()
        index.catch_up_vectors()
    left = compare(index)
    return Check(name, False, problem, "" if left else "rebuilt from the record")


def _compare_keyword(index: EmbeddedIndex) -> str:
    index.keyword.reload()
    recorded, indexed = set(index.record.document_ids()), index.keyword.documents()
    if recorded != indexed:
        return _difference(recorded, indexed)
    chunks, found = index.lookup.count("chunks"), index.keyword.chunk_count()
    return "" if chunks == found else f"{found:,} chunks where the record has {chunks:,}"


def _compare_vectors(index: EmbeddedIndex) -> str:
    index.vectors.reload()
    recorded = {document for document in index.record.document_ids() if index.record.is_embedded(document)}
    rows = index.vectors.snapshot.rows
    indexed = {int(document) for document in rows[:, 0] if document >= 0}
    if recorded != indexed:
        return _difference(recorded, indexed)
    wanted = index.record.embedded_passages()
    found = index.vectors.snapshot.live
    return "" if wanted == found else f"{found:,} vectors where the record has {wanted:,}"


def _difference(recorded: set[int], indexed: set[int]) -> str:
    missing, extra = len(recorded - indexed), len(indexed - recorded)
    return f"{missing:,} documents are missing and {extra:,} should not be there"
