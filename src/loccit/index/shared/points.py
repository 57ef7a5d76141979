"""Points: from a document in the record to what a database stores of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from loccit.grammar.text.analysis import index_terms
from loccit.index.folder.dump import dump_document
from loccit.index.folder.keyword_schema import KeywordEntry, document_entries
from loccit.index.folder.lookup import Lookup
from loccit.index.folder.record import Record
from loccit.index.shared.catalogue import Publication
from loccit.index.shared.ids import PointId, document_key, edition_of, new_version, version_of
from loccit.index.store import Point
from loccit.models.embedding.protocol import Vectors

# Enough to fill requests, little enough to lose if interrupted.
_POINTS_AT_ONCE = 1000
# A database that tokenises by spaces must be able to take a word whole.
_LONGEST_TERM = 100


def document_version(record: Record, document: int) -> str:
    """Identify the state of a document: the file's content, the settings, the texts as they were embedded."""
    row = record.database.rows(
        "SELECT content_hash, settings, source_path FROM documents WHERE id = ?", (document,)
    )[0]
    hashes = record.database.rows(
        "SELECT text_hash FROM passages WHERE document = ? ORDER BY id", (document,)
    )
    return version_of(
        [*(str(value).encode("utf-8", "surrogatepass") for value in row), *(h[0] for h in hashes)]
    )


def publication(record: Record, lookup: Lookup, document: int, dimension: int, *, terms: bool) -> Publication:
    """Build what is stored of a document; ``terms`` for databases with their own keyword search."""
    chunks = {chunk.id: chunk for chunk in lookup.chunks_of_document(document)}
    first = next(iter(chunks.values()))
    key, version = document_key(first.source_path), new_version(document_version(record, document))
    words = {entry.chunk: entry_terms(entry) for entry in document_entries(lookup, document)} if terms else {}
    file_type = str(record.database.value("SELECT file_type FROM documents WHERE id = ?", (document,)))
    # File names may contain bytes that are not valid text.
    path = first.source_path.encode("utf-8", "replace").decode()
    rows = record.database.rows(
        'SELECT p.chunk, p.start, p."end", v.vector FROM passages p JOIN vectors v ON v.text_hash = p.text_hash '
        "WHERE p.document = ? ORDER BY p.id",
        (document,),
    )
    points: list[Point] = []
    numbers: dict[int, int] = {}
    for row in rows:
        chunk = chunks[row["chunk"]]
        number = numbers.get(chunk.id, 0)
        numbers[chunk.id] = number + 1
        vector: Vectors = np.frombuffer(row["vector"], dtype=np.float32).reshape(dimension)
        points.append(
            Point(
                id=str(PointId(key, edition_of(version), chunk.chunk_index, number)),
                document=key,
                vector=vector,
                terms=words.get(chunk.id, "") if number == 0 else "",
                source_path=path,
                heading=" > ".join(chunk.parent_chain),
                language=chunk.language,
                file_type=file_type,
                text=chunk.content[row["start"] : row["end"]],
            )
        )
    return Publication(key, version, dump_document(record.database, document), points)


def publications(
    record: Record, lookup: Lookup, documents: Iterable[int], dimension: int, *, terms: bool
) -> Iterator[list[Publication]]:
    """Build what is stored of documents, in their order, in suitable batches."""
    batch: list[Publication] = []
    for document in documents:
        batch.append(publication(record, lookup, document, dimension, terms=terms))
        if sum(len(item.points) for item in batch) >= _POINTS_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def entry_terms(entry: KeywordEntry) -> str:
    """Return the words of a chunk, its title and headings in the form of the keyword index."""
    texts = (entry.title, entry.path, entry.headings, entry.context, entry.body)
    found = (term for text in texts for term, _ in index_terms(text, entry.language))
    return " ".join(term for term in found if len(term) <= _LONGEST_TERM and not any(map(str.isspace, term)))


def passage_vectors(
    hashes: list[tuple[int, bytes]], points: Mapping[tuple[int, int], Vectors]
) -> dict[bytes, Vectors]:
    """Map the positions of passages in their chunks to vectors, without those that have none."""
    numbers: dict[int, int] = {}
    found: dict[bytes, Vectors] = {}
    for chunk, text_hash in hashes:
        number = numbers.get(chunk, 0)
        numbers[chunk] = number + 1
        if (vector := points.get((chunk, number))) is not None:
            found[text_hash] = np.ascontiguousarray(vector, dtype=np.float32)
    return found
