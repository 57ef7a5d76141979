"""The tables of the record, of which there is one version.

An index of another version is not read: a newer one is left alone, an older one is emptied by ``rebuild.renew`` and
read again from its files.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from loccit.errors import IndexStateError, IndexVersionError

# "Pina": tells our files from other SQLite databases.
APPLICATION_ID = 0x50696E61
SCHEMA_VERSION = 17

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, digest INTEGER NOT NULL DEFAULT 0);

-- A new version of a file is a new row: ids are never used twice, so what other indexes hold about an id
-- stays true until they are told that it is gone.
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_path TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    file_type TEXT NOT NULL,
    language TEXT NOT NULL,
    doc_summary TEXT NOT NULL,
    metadata TEXT NOT NULL,
    body_start INTEGER NOT NULL,
    pages TEXT NOT NULL,
    warnings TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL,
    size INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    settings TEXT NOT NULL,
    total_chunks INTEGER NOT NULL,
    ingested_at TEXT NOT NULL,
    text TEXT NOT NULL  -- last: a scan of the other columns does not have to read past it
);
CREATE INDEX documents_by_hash ON documents (content_hash);
CREATE INDEX documents_by_time ON documents (ingested_at);

CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    chunk_index INTEGER NOT NULL,
    section INTEGER NOT NULL,
    prefix INTEGER NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    line_first INTEGER NOT NULL, line_last INTEGER NOT NULL,
    page_first INTEGER, page_last INTEGER,
    tokens INTEGER NOT NULL,
    chunk_type TEXT NOT NULL,
    cross_references TEXT NOT NULL,
    defined_term TEXT NOT NULL,
    defined_term_normalized TEXT NOT NULL,
    context TEXT NOT NULL,
    content TEXT NOT NULL,
    clauses TEXT NOT NULL DEFAULT '[]',
    context_key BLOB,  -- which of the contexts it has; NULL for the structural one
    UNIQUE (document, chunk_index)
);
CREATE INDEX chunks_by_section ON chunks (document, section);
CREATE INDEX chunks_by_start ON chunks (document, start);
CREATE INDEX chunks_by_context ON chunks (context_key, document) WHERE context_key IS NOT NULL;

CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    text_hash BLOB NOT NULL
);
CREATE INDEX passages_by_document ON passages (document);
CREATE INDEX passages_by_chunk ON passages (chunk);
CREATE INDEX passages_by_hash ON passages (text_hash);

-- Vectors by the text they stand for: equal texts, renamed files and interrupted runs cost nothing twice.
CREATE TABLE vectors (text_hash BLOB PRIMARY KEY, vector BLOB NOT NULL, digest INTEGER NOT NULL DEFAULT 0);

CREATE TABLE definitions (
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    term TEXT NOT NULL, term_normalized TEXT NOT NULL,
    definition_text TEXT NOT NULL, source_section TEXT NOT NULL, exceptions TEXT NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    sure REAL NOT NULL DEFAULT 1
);
CREATE INDEX definitions_by_document ON definitions (document);
CREATE INDEX definitions_by_term ON definitions (term_normalized);

CREATE TABLE links (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    target TEXT NOT NULL, text TEXT NOT NULL, kind TEXT NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL
);
CREATE INDEX links_by_document ON links (document);

CREATE TABLE failures (
    source_path TEXT PRIMARY KEY,
    reason TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, failed_at TEXT NOT NULL,
    digest INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE roots (path TEXT PRIMARY KEY, digest INTEGER NOT NULL DEFAULT 0);

-- What derived indexes still have to be told, in order. Kinds: added, embedded, removed.
CREATE TABLE changes (
    generation INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL,
    kind TEXT NOT NULL,
    digest INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE refs (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    text TEXT NOT NULL, kind TEXT NOT NULL, target_section TEXT NOT NULL,
    number_kind TEXT NOT NULL, number_key TEXT NOT NULL,
    target TEXT NOT NULL, reason TEXT NOT NULL,
    target_chunk INTEGER,  -- number of the chunk, when the target is in the same document
    sure REAL NOT NULL DEFAULT 0
);
CREATE INDEX refs_by_place ON refs (document, start);
CREATE INDEX refs_by_target ON refs (document, target_section);
CREATE INDEX refs_by_number ON refs (number_key);

-- Contexts by a language model. Answers are stored by question, so that nothing is paid for twice.
CREATE TABLE contexts (
    key BLOB PRIMARY KEY, context TEXT NOT NULL, written_at TEXT NOT NULL,
    digest INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- Documents that have all their contexts, and the settings under which they got them.
CREATE TABLE contextualized (
    document INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    settings TEXT NOT NULL
);

-- What a remote database has of this record: which version of which document, and its id here.
CREATE TABLE stored (
    key TEXT PRIMARY KEY, version TEXT NOT NULL, document INTEGER NOT NULL, source_path TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX stored_by_document ON stored (document);

-- Which lines of its file the text of a document came from, if these are not simply its own: [[offset, line], ...].
CREATE TABLE source_lines (
    document INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    starts TEXT NOT NULL
);

-- How much of what a document says about its own places its tree confirms.
CREATE TABLE self_checks (
    document INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    refs INTEGER NOT NULL, refs_found INTEGER NOT NULL,
    contents INTEGER NOT NULL, contents_found INTEGER NOT NULL,
    numbered INTEGER NOT NULL DEFAULT 0, unexplained INTEGER NOT NULL DEFAULT 0
);

-- One tree: headings are numbered first, clauses after them.
CREATE TABLE places (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    parent INTEGER,
    section INTEGER NOT NULL,  -- the heading it stands under; of a heading, its own number
    level INTEGER NOT NULL,
    heading TEXT NOT NULL DEFAULT '',
    marker TEXT NOT NULL DEFAULT '',
    label TEXT NOT NULL,
    title TEXT NOT NULL DEFAULT '', title_key TEXT NOT NULL DEFAULT '',
    kind TEXT NOT NULL, number_key TEXT NOT NULL, section_id TEXT NOT NULL,
    path TEXT NOT NULL DEFAULT '[]',
    start INTEGER NOT NULL, body INTEGER NOT NULL, "end" INTEGER NOT NULL,
    line_first INTEGER NOT NULL, line_last INTEGER NOT NULL,
    page_first INTEGER, page_last INTEGER,
    place_id TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
CREATE INDEX places_by_number ON places (number_key) WHERE number_key != '';
CREATE INDEX places_by_id ON places (section_id);
CREATE INDEX places_by_title ON places (title_key) WHERE title_key != '';
CREATE INDEX places_by_start ON places (document, start);
-- Of a number that very many places have, headings come before clauses.
CREATE INDEX places_numbered ON places (number_key, (section != ordinal), kind, document, label)
    WHERE number_key != '';

-- Counts are maintained, not recomputed, and so are which texts wait for a vector and which vectors may have lost their
-- texts. Triggers do that for every write: replacing, removing (also by cascade), restoring from a database.
CREATE TABLE counters (
    kind TEXT NOT NULL,  -- documents, chunks, passages, pending, scanned; by name: language, type
    name TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID;

-- Texts that have no vector, each with the first passage that holds it.
CREATE TABLE unembedded (passage INTEGER PRIMARY KEY, text_hash BLOB NOT NULL UNIQUE);

-- Texts of passages that were removed: if no other holds them, their vectors can go.
CREATE TABLE dropped (text_hash BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TRIGGER document_added AFTER INSERT ON documents BEGIN
    UPDATE counters SET count = count + 1 WHERE kind = 'documents';
    UPDATE counters SET count = count + new.total_chunks WHERE kind = 'chunks';
    UPDATE counters SET count = count + 1 WHERE kind = 'scanned'
        AND new.pages != '[]' AND new.metadata LIKE '%"pages_from_images"%';
    INSERT INTO counters VALUES ('language', new.language, 1)
        ON CONFLICT (kind, name) DO UPDATE SET count = count + 1;
    INSERT INTO counters VALUES ('type', new.file_type, 1)
        ON CONFLICT (kind, name) DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER document_removed AFTER DELETE ON documents BEGIN
    UPDATE counters SET count = count - 1 WHERE kind = 'documents';
    UPDATE counters SET count = count - old.total_chunks WHERE kind = 'chunks';
    UPDATE counters SET count = count - 1 WHERE kind = 'scanned'
        AND old.pages != '[]' AND old.metadata LIKE '%"pages_from_images"%';
    UPDATE counters SET count = count - 1 WHERE kind = 'language' AND name = old.language;
    UPDATE counters SET count = count - 1 WHERE kind = 'type' AND name = old.file_type;
    DELETE FROM counters WHERE kind IN ('language', 'type') AND name IN (old.language, old.file_type) AND count = 0;
END;
CREATE TRIGGER passage_added AFTER INSERT ON passages BEGIN
    UPDATE counters SET count = count + 1 WHERE kind = 'passages';
    INSERT INTO unembedded SELECT new.id, new.text_hash
        WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE text_hash = new.text_hash)
        AND NOT EXISTS (SELECT 1 FROM unembedded WHERE text_hash = new.text_hash);
END;
CREATE TRIGGER passage_removed AFTER DELETE ON passages BEGIN
    UPDATE counters SET count = count - 1 WHERE kind = 'passages';
    INSERT INTO dropped SELECT old.text_hash WHERE NOT EXISTS (SELECT 1 FROM dropped WHERE text_hash = old.text_hash)
        AND EXISTS (SELECT 1 FROM vectors WHERE text_hash = old.text_hash);
    UPDATE unembedded SET passage = (SELECT MIN(id) FROM passages WHERE text_hash = old.text_hash)
        WHERE passage = old.id AND EXISTS (SELECT 1 FROM passages WHERE text_hash = old.text_hash);
    DELETE FROM unembedded WHERE passage = old.id;
END;
CREATE TRIGGER vector_added AFTER INSERT ON vectors BEGIN
    DELETE FROM unembedded WHERE text_hash = new.text_hash;
END;
CREATE TRIGGER text_waits AFTER INSERT ON unembedded BEGIN
    UPDATE counters SET count = count + 1 WHERE kind = 'pending';
END;
CREATE TRIGGER text_waits_no_more AFTER DELETE ON unembedded BEGIN
    UPDATE counters SET count = count - 1 WHERE kind = 'pending';
END;

-- The names of documents, the numbered files of works, and what may lead from a document to others, under the keys that
-- `labels.document_keys` makes. If these change, so must the version.
CREATE TABLE document_names (
    kind TEXT NOT NULL, key TEXT NOT NULL,
    folder INTEGER NOT NULL,  -- a number for the folder of the document, for whole names; else 0
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    sure REAL NOT NULL,
    PRIMARY KEY (kind, key, folder, document)
) WITHOUT ROWID;
CREATE INDEX document_names_by_document ON document_names (document, kind, key);

CREATE TABLE numbered_files (
    document INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    folder INTEGER NOT NULL, kind TEXT NOT NULL, number TEXT NOT NULL,
    name TEXT NOT NULL, above TEXT NOT NULL  -- what the folder and the one above it are called
);
CREATE INDEX numbered_files_by_number ON numbered_files (folder, kind, number);
CREATE INDEX numbered_files_by_name ON numbered_files (name, folder);
CREATE INDEX numbered_files_by_name_above ON numbered_files (above, folder);

CREATE TABLE leads (
    key TEXT NOT NULL, source TEXT NOT NULL, number TEXT NOT NULL,
    folder INTEGER NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    start INTEGER NOT NULL,
    kind TEXT NOT NULL, target TEXT NOT NULL
);
CREATE INDEX leads_by_key ON leads (key, source, number, folder, document, start);
CREATE INDEX leads_by_document ON leads (document, source, start);

-- What documents can be chosen by, as it is compared; see port/filters.py.
CREATE TABLE document_fields (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    name TEXT NOT NULL, value TEXT NOT NULL,
    number REAL, moment REAL,  -- where the value is a number or a date, this in seconds since 1970
    shown TEXT NOT NULL,
    PRIMARY KEY (document, name, value)
) WITHOUT ROWID;
CREATE INDEX fields_by_value ON document_fields (name, value);
CREATE INDEX fields_by_number ON document_fields (name, number) WHERE number IS NOT NULL;
CREATE INDEX fields_by_moment ON document_fields (name, moment) WHERE moment IS NOT NULL;

-- Definitions by the words of their terms; see text/keys.py.
CREATE TABLE definition_keys (
    key TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    definition INTEGER NOT NULL,
    PRIMARY KEY (key, document, definition)
) WITHOUT ROWID;
CREATE INDEX definition_keys_by_document ON definition_keys (document);

-- What somebody may type: titles, terms, labels and headings, from the first word and from later ones on.
CREATE TABLE suggestions (
    later INTEGER NOT NULL,  -- 0 for a whole text, 1 for what is left of it from a later word on
    key TEXT NOT NULL,
    kind INTEGER NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    item INTEGER NOT NULL,  -- the definition, or the place in the document
    PRIMARY KEY (later, key, kind, document, item)
) WITHOUT ROWID;
CREATE INDEX suggestions_by_document ON suggestions (document);

-- What a run of indexing compares with the files that it finds, side by side: rows of documents hold whole texts.
CREATE TABLE readings (id INTEGER PRIMARY KEY, settings TEXT NOT NULL UNIQUE);

CREATE TABLE files (
    source_path TEXT PRIMARY KEY,
    document INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, content_hash TEXT NOT NULL,
    reading INTEGER NOT NULL, ingested_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TRIGGER file_added AFTER INSERT ON documents BEGIN
    INSERT INTO readings (settings) SELECT new.settings
        WHERE NOT EXISTS (SELECT 1 FROM readings WHERE settings = new.settings);
    INSERT INTO files SELECT new.source_path, new.id, new.size, new.mtime_ns, new.content_hash, id, new.ingested_at
        FROM readings WHERE settings = new.settings;
END;
CREATE TRIGGER file_touched AFTER UPDATE OF mtime_ns, settings ON documents BEGIN
    INSERT INTO readings (settings) SELECT new.settings
        WHERE NOT EXISTS (SELECT 1 FROM readings WHERE settings = new.settings);
    UPDATE files SET mtime_ns = new.mtime_ns, ingested_at = new.ingested_at,
        reading = (SELECT id FROM readings WHERE settings = new.settings) WHERE source_path = new.source_path;
END;
CREATE TRIGGER file_removed AFTER DELETE ON documents BEGIN
    DELETE FROM files WHERE source_path = old.source_path;
END;

CREATE TABLE obligations (
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    line_first INTEGER NOT NULL, line_last INTEGER NOT NULL,
    page_first INTEGER, page_last INTEGER,
    place INTEGER NOT NULL,  -- the number of the innermost place that holds it
    bearer TEXT NOT NULL, modal TEXT NOT NULL, action TEXT NOT NULL, exception TEXT NOT NULL,
    deadlines TEXT NOT NULL, amounts TEXT NOT NULL,  -- JSON; empty for none
    gaps TEXT NOT NULL,  -- names with a blank before and behind each; empty for none
    text TEXT NOT NULL
);
CREATE INDEX obligations_by_document ON obligations (document, start);

-- Places that were there once: what somebody may still hold the id of.
CREATE TABLE gone_places (
    number INTEGER PRIMARY KEY,
    place_id TEXT NOT NULL UNIQUE,
    source_path TEXT NOT NULL, section_id TEXT NOT NULL,
    label TEXT NOT NULL, heading TEXT NOT NULL,
    text TEXT NOT NULL,  -- how its words began
    digest INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX gone_places_by_path ON gone_places (source_path);
CREATE UNIQUE INDEX places_by_place_id ON places (place_id) WHERE place_id != '';

-- The checksums of the rows of a document, of each table; see seals.py.
CREATE TABLE seals (
    document INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    sums BLOB NOT NULL
);
"""

# The correct values of the counters.
COUNTED = """
SELECT 'documents', '', COUNT(*) FROM documents
UNION ALL SELECT 'chunks', '', COUNT(*) FROM chunks
UNION ALL SELECT 'passages', '', COUNT(*) FROM passages
UNION ALL SELECT 'pending', '', COUNT(DISTINCT text_hash) FROM passages
    WHERE text_hash NOT IN (SELECT text_hash FROM vectors)
UNION ALL SELECT 'scanned', '', COUNT(*) FROM documents WHERE pages != '[]' AND metadata LIKE '%"pages_from_images"%'
UNION ALL SELECT 'language', language, COUNT(*) FROM documents GROUP BY language
UNION ALL SELECT 'type', file_type, COUNT(*) FROM documents GROUP BY file_type
ORDER BY 1, 2
"""
# What should be no rows: texts that wait for a vector and should not, or that do not wait and should; what was dropped.
UNCOUNTED = (
    "SELECT text_hash FROM unembedded EXCEPT SELECT text_hash FROM passages "
    "WHERE text_hash NOT IN (SELECT text_hash FROM vectors)",
    "SELECT text_hash FROM passages WHERE text_hash NOT IN (SELECT text_hash FROM vectors) "
    "EXCEPT SELECT text_hash FROM unembedded",
    "SELECT passage FROM unembedded u WHERE NOT EXISTS "
    "(SELECT 1 FROM passages p WHERE p.id = u.passage AND p.text_hash = u.text_hash)",
    "SELECT text_hash FROM dropped EXCEPT SELECT text_hash FROM vectors",
)
_RECOUNT = f"""
DELETE FROM unembedded;
INSERT INTO unembedded SELECT MIN(id), text_hash FROM passages p
    WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.text_hash = p.text_hash) GROUP BY text_hash;
DELETE FROM dropped;
INSERT INTO dropped SELECT text_hash FROM vectors
    WHERE NOT EXISTS (SELECT 1 FROM passages p WHERE p.text_hash = vectors.text_hash);
DELETE FROM counters;
INSERT INTO counters {COUNTED};
"""


def recount(connection: sqlite3.Connection) -> None:
    """Recount everything, inside a transaction."""
    _script(connection, _RECOUNT)


def _script(connection: sqlite3.Connection, script: str) -> None:
    # executescript would commit the transaction that makes the tables all or none.
    for statement in _statements(script):
        connection.execute(statement)


def _statements(script: str) -> list[str]:
    statements, lines = [], ""
    for line in script.splitlines():
        lines += line + "\n"
        if sqlite3.complete_statement(lines):
            statements.append(lines)
            lines = ""
    return statements


def _tables(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0])


def is_ours(path: Path) -> bool:
    """Whether a file is a record of ours, with our tables; it is not changed."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            names = {
                row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }
    except sqlite3.Error:
        return False
    return bool(application == APPLICATION_ID and {"documents", "chunks", "changes"} <= names)


def check_version(connection: sqlite3.Connection, where: str) -> int:
    """Return the version of a file, 0 for an empty one; refuse foreign, newer and older files."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    foreign = application != APPLICATION_ID if version else bool(_tables(connection))
    if foreign:
        raise IndexStateError(f"{where} is not a Loccit index. Choose another folder with --index.")
    if version > SCHEMA_VERSION:
        raise IndexVersionError(
            f"The index at {where} was written by a newer version of Loccit (format {version}, this one reads "
            f"{SCHEMA_VERSION}). Upgrade Loccit, or index into another folder."
        )
    if 0 < version < SCHEMA_VERSION:
        raise IndexVersionError(
            f"The index at {where} was written by an older version of Loccit (format {version}, this one reads "
            f"{SCHEMA_VERSION}). Read its files again with: loccit index. Nothing is embedded again."
        )
    return version


def ensure_tables(connection: sqlite3.Connection, where: str) -> None:
    """Make the tables in an empty file, all or none; refuse a file with others."""
    if check_version(connection, where):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been first.
        if not check_version(connection, where):
            make_tables(connection)
        connection.execute("COMMIT")
    except BaseException:
        # A full disk has already ended the transaction.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def make_tables(connection: sqlite3.Connection) -> None:
    """Make all tables, inside a transaction."""
    _script(connection, _SCHEMA)
    recount(connection)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
